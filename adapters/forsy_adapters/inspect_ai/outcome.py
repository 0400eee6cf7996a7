"""How a call ended: the error of its tool, or what the sandbox said of the one command it ran."""

from typing import Any

from forsy_retrace.calls import Verdict
from forsy_retrace.events import Outcome
from forsy_retrace.sdk import number, words

ERRORS: dict[str, Outcome] = {
    "timeout": "timed_out",
    "approval": "blocked",
    "cancelled": "interrupted",
}
"""Kinds of errors that are more than a failure."""
SHELLS = ("bash", "python", "bash_session", "exec_python", "computer")
"""Inspect's own tools that show what went wrong in a command as its output, without an error."""


def verdict(
    held: dict[str, Any], base: str, tool: str, ran: list[tuple[dict[str, Any], str]] | None = None
) -> Verdict:
    """The verdict on an event or message of a tool; `ran` are commands in the sandbox meanwhile."""
    match held.get("error"):
        case {"type": str(kind)}:
            return Verdict(ERRORS.get(kind, "failed"), "error-field", base + "/error")
        case str(error) if words(error):
            return Verdict("failed", "error-field", base + "/error")
    if held.get("failed") is True:
        return Verdict("failed", "error-field", base + "/failed")
    match ran:
        case [({"result": int() as code}, where)] if number(code) is not None and tool in SHELLS:
            return Verdict("failed" if code else "ok", "exit-code", where + "/result", code)
    if tool in SHELLS:
        return Verdict()
    return Verdict("ok", "no-error", base)
