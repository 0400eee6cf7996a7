"""How a call ended: by its status, its error, and what the client prints below a command's output.

A command that failed has the status `success`; its exit code stands in the text. From some version
on (0.33, not 0.20) the client prints one only where it is not zero, as it tells the model.
"""

import re
from typing import Any

from forsy_retrace.calls import Verdict
from forsy_retrace.events import Outcome
from forsy_retrace.sdk import later, words

SHELL = "run_shell_command"
TAIL = later(
    r"(?:\nExit Code: (?P<code>-?\d{1,10}|\(none\)))?(?:\nSignal: (?P<signal>\w{1,20}|\(none\)))?"
    r"(?:\nBackground PIDs: (?:[\d, ]{1,400}|\(none\)))?\nProcess Group PGID: (?:\d{1,10}|\(none\))"
    r"\s*(?:</untrusted_context>)?\s*\Z"
)
"""What stands below a command's output."""
MOST = 800
"""Characters that it takes."""

Rows = tuple[tuple[str, re.Pattern[str], Outcome], ...]
STOPPED: Rows = (
    # What the client says in place of a command's output, or before it.
    (
        "timed-out",
        later(r"Command was automatically cancelled because it exceeded the timeout"),
        "timed_out",
    ),
    ("aborted-by-user", later(r"Command was cancelled by user before it could"), "interrupted"),
    ("moved-to-background", later(r"Command moved to background \(PID: "), "launched"),
)
CANCELLED: Rows = (
    # Why a call has the status `cancelled`.
    (
        "rejected-by-user",
        later(r"\[Operation Cancelled\] Reason: User (?:denied execution|did not allow tool call)"),
        "rejected",
    ),
    ("aborted-by-user", later(r""), "interrupted"),
)
REFUSED: Rows = (
    # Why a call has the status `error` though it never ran.
    ("denied", later(r'Tool execution (?:for "[^"\n]{1,200}" )?denied by policy'), "blocked"),
    ("no-such-tool", later(r'Tool "[^"\n]{1,200}" not found'), "failed"),
)
PLAN: Rows = (
    # What a plan that was offered came to.
    ("sent-back", later(r"Plan rejected\."), "rejected"),
    ("stayed-in-plan-mode", later(r"User cancelled the plan approval dialog"), "rejected"),
)
QUESTION: Rows = (
    # What became of a dialog.
    ("nobody-answered", later(r"User dismissed ask_user dialog"), "rejected"),
)
BY_TOOL = {SHELL: STOPPED, "exit_plan_mode": PLAN, "ask_user": QUESTION}
RUNNING = ("validating", "scheduled", "executing", "awaiting_approval")


def verdict(call: dict[str, Any], base: str) -> Verdict:
    """The verdict on a recorded call that stands at the pointer `base`."""
    answer, where = response(call, base)
    error = words(answer.get("error"))
    match call.get("status"):
        case "cancelled":
            return _row(CANCELLED, error, f"{base}/status")
        case "error":
            found = _row(REFUSED, error, where + "/error")
            return found if found.rule else Verdict("failed", "status", f"{base}/status")
        case "success" if error:
            return Verdict("failed", "error-field", where + "/error")
        case "success":
            return _ended(call, words(answer.get("output")), base, where)
    return Verdict()


def response(call: dict[str, Any], base: str) -> tuple[dict[str, Any], str]:
    """What was sent back to the model, and where it stands."""
    result = call.get("result")
    for index, part in enumerate(result if isinstance(result, list) else ()):
        match part:
            case {"functionResponse": {"response": dict(answer)}}:
                return answer, f"{base}/result/{index}/functionResponse/response"
    return {}, f"{base}/result"


def shell_verdict(text: str, where: str) -> Verdict | None:
    """What stands below the output of a command; None where nothing does."""
    tail = TAIL.search(text, max(0, len(text) - MOST))
    if tail is None:
        return None
    code, signal = tail["code"], tail["signal"]
    if code and code != "(none)":
        return Verdict("failed" if int(code) else "ok", "exit-code", where, int(code))
    if signal and signal != "(none)":
        return Verdict("failed", "signal", where)
    return Verdict() if code else Verdict("ok", "no-exit-code", where)


def _ended(call: dict[str, Any], output: str, base: str, where: str) -> Verdict:
    tool = words(call.get("name"))
    text = output.removeprefix("<untrusted_context>").lstrip("\n")
    found = _row(BY_TOOL.get(tool, ()), text, where + "/output")
    if found.rule:
        return found
    if tool == SHELL:
        return shell_verdict(output, where) or Verdict()
    match call.get("resultDisplay"):
        case "Error: Invalid plan":
            return Verdict("failed", "error-text", f"{base}/resultDisplay")
        case {"isSubagentProgress": True, "state": "error"}:
            return Verdict("failed", "status", f"{base}/resultDisplay/state")
        case {"isSubagentProgress": True, "state": "cancelled"}:
            return Verdict("interrupted", "aborted-by-user", f"{base}/resultDisplay/state")
        case {"isSubagentProgress": True, "terminateReason": "TIMEOUT"}:
            return Verdict("timed_out", "terminate-reason", f"{base}/resultDisplay/terminateReason")
        case {"isSubagentProgress": True, "terminateReason": str(why)} if why != "GOAL":
            return Verdict("failed", "terminate-reason", f"{base}/resultDisplay/terminateReason")
    return Verdict("ok", "status", f"{base}/status")


def _row(rows: Rows, text: str, where: str) -> Verdict:
    for rule, pattern, outcome in rows:
        if pattern.match(text):
            return Verdict(outcome, rule, where)
    return Verdict()
