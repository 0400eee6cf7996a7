"""What Claude Code, Codex and OpenHands said themselves, in sessions written out as a chat.

Such a chat keeps the harness's words and loses its flags: who spoke, and how a call ended, stands
in the text alone. Only openings that a harness writes, and no program, are taken for its word, and
the lines that OpenHands writes behind an output.
"""

import re
from collections.abc import Iterator

from forsy_retrace.calls import Verdict
from forsy_retrace.events import Notice, Outcome, Skipped
from forsy_retrace.sdk import later

from .place import Place, Told

CODE = later(
    r"(?:(?:Command: [^\0]{1,4000}?\n)?(?:Chunk ID: [^\n]{1,80}\n)"
    r"(?:Wall time:? [^\n]{1,80}\n)?Process exited with code"
    r"|Exit code) (-?\d{1,10})(?:\n|\Z)"
)
"""How both head what a command printed; Claude Code where it failed."""
LABELLED = later(
    r"(?i)\s*(?:exit|return)[ _-]?(?:code|status): ?(-?\d{1,10})(?: \(execution \w{1,20}\))?[ \t]*"
    r"\n(?:Wall time|std ?(?:out|err)|(?:code |execution )?output)\b"
)
"""How Codex, AutoGen, R2E-Gym and many home-made tools head it, with a label for what was printed
below."""
SAYS: tuple[tuple[str, re.Pattern[str], Outcome], ...] = (
    # Checked in order on the beginning of a result.
    ("timed-out", later(r"(?:Exit code \d{1,10}\n)?Command timed out after \d"), "timed_out"),
    ("rejected-by-user", later(r"The user doesn't want to (?:proceed|take)"), "rejected"),
    ("interrupted-by-user", later(r"\[Request interrupted by user"), "interrupted"),
    (
        "input-refused",
        later(
            r"<tool_use_error>(?:Error: )?(?:InputValidationError|No such tool available)"
            r"|Missing required parameters for function|Parameter '[^\n]{1,80}' is not allowed"
        ),
        "blocked",
    ),
    ("error-text", later(r"<tool_use_error>|exec_command failed for `"), "failed"),
    (
        "editor-error",
        later(r"\s*ERROR:\s*\n(?:No replacement was performed|Invalid |The path |Parameter )"),
        "failed",
    ),
    (
        "launched-in-background",
        later(r"Async agent launched successfully|Command running in background with ID: "),
        "launched",
    ),
    (
        "still-running",
        later(r"Chunk ID: [^\n]{1,80}\n(?:Wall time:? [^\n]{1,80}\n)?Process running with session"),
        "launched",
    ),
    (
        "said-done",
        later(r"\(Bash completed with no output\)\s*\Z|Todos have been modified successfully\."),
        "ok",
    ),
)
BEHIND = later(
    r"\[(?:(?:The )?[Cc]ommand (?:completed|finished) with exit code (?P<code>-?\d{1,10})\.?"
    r"|(?P<late>The command timed out) after [^\n]{1,600}"
    r"|(?P<on>The command has no new output) after [^\n]{1,600}"
    r"|Current working directory: (?P<cwd>[^\n]+)"
    r"|(?:(?:The )?[Cc]ommand |Python interpreter: )[^\n]*)\]\s*\Z"
)
"""What OpenHands writes behind the output of a command."""
MOST_LINES = 5
TAIL = 2000
HEAD = 4400
"""Letters in which such an opening ends."""
STOPPED = later(r"\s*\[Request interrupted by user(?: for tool use)?\]\s*")
CONTINUED = "This session is being continued from a previous conversation that ran out of context"
REFUSED = later(r"(?:Please run /login · )?API Error: (?:\d{3} )?\{\"(?:type|error)\"")
"""What Claude Code says in the model's place when no answer came."""

NOTHING = later(r"\s*<think(?:ing)?>\s*</think(?:ing)?>\s*")
"""Thoughts without their text."""


def verdict(text: str, base: str) -> Verdict:
    """How a call ended by the opening of its result."""
    head = text[:HEAD]
    for rule, pattern, outcome in SAYS:
        if pattern.match(head):
            return Verdict(outcome, rule, base)
    found = CODE.match(head) or LABELLED.match(head)
    if found is None:
        return _behind(text, base)
    return Verdict("ok" if int(found[1]) == 0 else "failed", "exit-code", base, int(found[1]))


def _behind(text: str, base: str) -> Verdict:
    """How a call ended by the lines behind its output."""
    if not text.rstrip().endswith("]"):
        return Verdict()
    said = {kind: one[kind] for one in _lines_behind(text) for kind in one.groupdict() if one[kind]}
    if "code" in said:
        code = int(said["code"])
        return Verdict("failed" if code else "ok", "exit-code", base, code)
    if "late" in said:
        return Verdict("timed_out", "timed-out", base)
    return Verdict("launched", "still-running", base) if "on" in said else Verdict()


def folder(text: str) -> str:
    """The working directory that stands behind an output; empty where none does."""
    if not text.rstrip().endswith("]"):
        return ""
    return next((one["cwd"] for one in _lines_behind(text) if one["cwd"]), "")


def _lines_behind(text: str) -> Iterator[re.Match[str]]:
    """The lines that end a text, the last first, each of them in brackets and OpenHands' own."""
    for line in reversed(text[-TAIL:].rstrip().rsplit("\n", MOST_LINES)):
        if (found := BEHIND.match(line)) is None:
            return
        yield found


def in_the_users_place(text: str, here: Place) -> Told | None:
    """What a text in the user's role is that no user wrote."""
    if STOPPED.fullmatch(text):
        return Told(("user", text.strip()), Notice(here.origin("system"), "interrupted"))
    if text.startswith(CONTINUED):
        return Told(("user", text.strip()), Notice(here.origin("system"), "compacted"))
    return None


def in_the_models_place(text: str, here: Place) -> Told | None:
    """What a text in the agent's role is that no model wrote."""
    if NOTHING.fullmatch(text):
        return Told(None, Skipped(here.origin(), "blank text"))
    if REFUSED.match(text):
        return Told(("agent", text.strip()), Notice(here.origin("system"), "model error", text))
    return None
