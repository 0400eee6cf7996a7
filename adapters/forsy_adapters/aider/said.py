"""What Aider prints, and the commands that it takes: tables of its words."""

import re
from typing import NamedTuple

from forsy_retrace.sdk import later

FACTS = {
    "version": later(r"Aider v(\d\S*)"),
    "model": later(r"(?:Main model|Models?): (\S+?)(?:,? (?:with|using) .*)?"),
    "cwd": later(r"Git working dir: (.+)"),
}
"""What a run says of itself; commands run, and files are named, from the folder of Git."""
APPLIED = later(r"Applied edit to (.+)")
COMMIT = later(r"Commit ([0-9a-f]{7,40})\b.*")
LEFT = later(r"Skipping edits to (.+?)( that matches gitignore spec\.)?")
IGNORED = later(r"gitignore spec\.\Z")
DRY = later(r"Did not apply edit to (.+) \(--dry-run\)")
OF_FILE = later(
    r"(?:Applied edit to|Skipping edits to|Did not apply edit to)"
    r" (.+?)(?: that matches gitignore spec\.| \(--dry-run\))?"
)
ASKED = later(r".*\((?:Y|y)\)es/\((?:N|n)\)o.*\]:? ?(?P<reply>\w+)|.*\? (?P<old>[yn])", re.S)
"""A question of Aider's, and the answer to it; versions of 2023 put no choices in it."""
CREATED = later(r"Create new file\?.*[ya]|.*Allow creation of new file (?P<path>.+?)\?.*[ya]")
OFFERED = later(r"Run shell commands?\?.*")
RUNS = later(r"Running (.+)")
REFUSED = later(r"The LLM did not conform to the edit format\.")
PASSED = later(r"The other \d+ SEARCH/REPLACE blocks? (?:was|were) applied successfully\.")
LINTED = later(r"# Fix any errors below, if possible\..*", re.S)
LINTER = later(r"^## Running: (.+?) *$", re.M)
AFTER_LINT = later(r"Attempt to fix|Fix lint errors|Commit [0-9a-f]{7}|Tokens: ")
TESTED = later(r"Attempt to fix test errors\?.*")
STOPPED = later(r"\^C (?:again to exit|KeyboardInterrupt)")
TOKENS = later(r"Tokens: .*(?:sent|received).*")
ERRED = later(r"[\w.]*\w(?:Error|Exception)\b: .*|Empty response received from LLM.*", re.S)
LIMIT = later(r"Model \S+ has hit a token limit!.*", re.S)


class Note(NamedTuple):
    """What Aider prints that is no step, and why it is left out."""

    printed: re.Pattern[str]
    reason: str


NOTES = (
    Note(TOKENS, "counts of tokens, rounded"),
    Note(COMMIT, "a commit, which no edit's result tells"),
    Note(ASKED, "a question of Aider's and its answer"),
    Note(later(r"(?:Added|Dropping) .* (?:to|from) the chat.*"), "what was put into the chat"),
    Note(STOPPED, "an interruption of no answer"),
    Note(later(r""), "what Aider printed"),
)
"""The first that matches counts."""

COMMAND = later(r"(?:/(?P<name>[a-z-]+)|(?P<bang>!))\s*(?P<rest>.*)", re.S)
CLEARS = ("clear", "reset")
LINES = ("run", "test", "git", "lint", "commit", "undo")
"""What does something in the repository, with nothing asked of the model."""
ASKS = ("ask", "code", "architect", "context", "help", "ok")
"""What asks the model, where words follow."""
EXPANDS = ("web", "editor", "edit", "paste", "voice")
ARCHITECT = later(r"(?:Main m|M)odel: \S+ with architect edit format|/(?:chat-mode )?architect\b")
"""How a run comes by an architect."""
INJECTED = later(r"# Question: |# Fix any errors below, if possible\.")
"""How a prompt begins that Aider makes of a command."""
