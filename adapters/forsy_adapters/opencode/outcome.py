"""How a call ended: by its status, by the exit of its command, by the words of an error."""

import re
from typing import Any

from forsy_retrace.calls import Verdict
from forsy_retrace.events import Outcome
from forsy_retrace.sdk import later, number, words

Json = dict[str, Any]

ERRORS: tuple[tuple[str, re.Pattern[str], Outcome], ...] = (
    # What an error says that is more than a failure (`Permission`, `Question`, `SessionProcessor`
    # and `TaskTool` of OpenCode 0.5 to 1.18, behind `Error: ` until 1.2); the first row counts.
    (
        "rejected-by-user",
        later(r"(?:Error: )?The user (?:rejected permission|dismissed this question)"),
        "rejected",
    ),
    ("not-permitted", later(r"(?:Error: )?The user has specified a rule which"), "blocked"),
    ("no-such-tool", later(r"Model tried to call unavailable tool"), "blocked"),  # Kilo 7.7
    ("aborted", later(r"(?:Tool execution aborted|Cancelled|Task cancelled)\Z"), "interrupted"),
)
ENDS: tuple[tuple[str, re.Pattern[str], Outcome], ...] = (
    # What a shell's output says, at its end, of a command that has no exit status.
    (
        "timed-out",
        later(r"terminated command after exceeding timeout|\(Command timed out after"),
        "timed_out",
    ),
    ("aborted-by-user", later(r"User aborted the command|Command was aborted"), "interrupted"),
)
TAIL = 600
SHELL = "bash"
INVALID = "invalid"
"""The tool that takes the place of one that is not there, or was given what it does not take."""
SAID = later(r"(?:Error: )?The user rejected permission[^:]{1,80}with the following feedback: ")


def verdict(tool: str, state: Json, base: str) -> Verdict:
    """The verdict on a call whose state stands at a pointer; unknown where it has not ended."""
    match state:
        case {"status": "error", "error": str(text)}:
            for rule, pattern, outcome in ERRORS:
                if pattern.match(text):
                    return Verdict(outcome, rule, base + "/error")
            return Verdict("failed", "status", base + "/status")
        case {"status": "error"}:
            return Verdict("failed", "status", base + "/status")
        case {"status": "completed", "metadata": {"background": True}} if tool == "task":
            return Verdict("launched", "launched-in-background", base + "/metadata/background")
        case {"status": "completed"} if tool == INVALID:
            return Verdict("blocked", "input-refused", base + "/output")
        case {"status": "completed"} if tool == SHELL:
            return _of_a_shell(state, base)
        case {"status": "completed"}:
            return Verdict("ok", "status", base + "/status")
    return Verdict()


def _of_a_shell(state: Json, base: str) -> Verdict:
    match state.get("metadata"):
        case {"exit": int(code)} if number(code) is not None:
            outcome: Outcome = "failed" if code else "ok"
            return Verdict(outcome, "exit-code", base + "/metadata/exit", code)
    end = words(state.get("output"))[-TAIL:]
    for rule, pattern, outcome in ENDS:
        if pattern.search(end):
            return Verdict(outcome, rule, base + "/output")
    return Verdict()


def feedback(text: str) -> str:
    """What the user said with a rejection; empty where nothing."""
    found = SAID.match(text)
    return text[found.end() :] if found else ""
