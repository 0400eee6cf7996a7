"""What SWE-agent says of a call in words: it tells no exit status."""

from typing import Any, NamedTuple

from forsy_retrace.calls import Verdict
from forsy_retrace.events import Outcome
from forsy_retrace.sdk import later


class Says(NamedTuple):
    """Words of the harness: in the mouth of which commands, and what they say of the call."""

    rule: str
    commands: tuple[str, ...]
    """Empty: whatever was run."""
    outcome: Outcome
    words: Any


HEADING = "OBSERVATION:\n"
EDITS = ("edit", "insert")
SHOWS = ("open", "goto", "scroll_down", "scroll_up", "create")
SEARCHES = ("find_file", "search_dir", "search_file")
HANDED_IN = "handed-in"
WRONG_FLAG = "wrong-flag"
TAIL = 600
TIMED_OUT = later(r"(?m)^EXECUTION TIMED OUT\b.*(?:\n.*){0,2}\s*\Z")
"""Stands behind what was printed until then."""
SAYS: tuple[Says, ...] = (
    Says(
        "not-supported",
        (),
        "blocked",
        later(r"(?:Interactive o|O)peration '[^'\n]{1,200}' is not supported by this environment"),
    ),
    Says(
        "no-output",
        (),
        "ok",
        later(r"Your command ran successfully and did not produce any output\.\s*\Z"),
    ),
    Says(
        "edit-refused",
        EDITS,
        "failed",
        later(
            r"Your proposed edit has introduced new syntax error|Your edit was not applied\b"
            r"|Your search and replace strings are the same\.|Search text must not be empty\."
        ),
    ),
    Says(
        "edit-refused",
        (),
        "failed",
        later(r"No replacement was performed\b|Invalid `[a-z_]{1,20}` parameter: "),
    ),
    Says("file-updated", EDITS, "ok", later(r"(?:Text replaced|Replaced \d+ occurrences)\.")),
    Says("file-updated", EDITS, "ok", later(r"(?s)(?:\[File: .*\n)?File updated\. Please review")),
    Says("window-shown", SHOWS, "ok", later(r"(?:Warning: .*\n){0,2}\[File: .+ lines total\)\]")),
    Says("matches-told", SEARCHES, "ok", later(r"Found \d+ matches for |No matches found for ")),
    Says(
        "refused",
        (*EDITS, *SHOWS, *SEARCHES),
        "failed",
        later(
            r"Usage: |Error: |No file open(?:ed)?\b|(?:File|Directory) .{1,400} not found\b"
            r"|More than \d+ (?:files|lines) matched for "
        ),
    ),
    Says(HANDED_IN, ("submit",), "ok", later(r"diff --git ")),
    Says(WRONG_FLAG, ("submit",), "failed", later(r"Wrong flag!")),
)
"""What stands at the beginning of an observation; the first row that holds counts."""


def told(command: str, text: str, base: str) -> Verdict:
    """What the harness says of a command's run, where it says anything."""
    text = text.lstrip("\r\n").removeprefix(HEADING).lstrip("\r\n")
    if TIMED_OUT.search(text, max(0, len(text) - TAIL)):
        return Verdict("timed_out", "timed-out", base)
    said = (row for row in SAYS if not row.commands or command in row.commands)
    row = next((row for row in said if row.words.match(text)), None)
    return Verdict(row.outcome, row.rule, base) if row else Verdict()
