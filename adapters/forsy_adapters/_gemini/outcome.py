"""How a call ended: by its status, its error, and what the client prints below a command's output.

A command that failed has the status `success`; its exit code stands in the text. From some version
on (0.33, not 0.20) the client prints one only where it is not zero, as it tells the model.
"""

import re

from forsy_retrace.calls import Verdict
from forsy_retrace.events import Outcome
from forsy_retrace.sdk import later, number, words

from .told import Told

SHELL = "run_shell_command"
TAIL = later(
    r"(?:\nExit Code: (?P<code>-?\d{1,10}|\(none\)))?(?:\nSignal: (?P<signal>\w{1,20}|\(none\)))?"
    r"(?:\nBackground PIDs: (?:[\d, ]{1,400}|\(none\)))?\nProcess Group PGID: (?:\d{1,10}|\(none\))"
    r"\s*(?:</untrusted_context>)?\s*\Z"
)
"""What stands below a command's output."""
ENDS = later(r"(?i)exit|return[ _-]?(?:code|status)")
NO_SIGNAL = ("(none)", "0")
MOST = 800
"""Characters that it takes."""

Rows = tuple[tuple[str, re.Pattern[str], Outcome], ...]
STOPPED: Rows = (
    # What the client says in place of a command's output, or before it.
    (
        "timed-out",
        later(
            r"Command (?:was automatically cancelled because it exceeded the|timed out after \d)"
        ),
        "timed_out",
    ),
    ("aborted-by-user", later(r"Command was cancelled by user before it could"), "interrupted"),
    ("moved-to-background", later(r"Command moved to background \(PID: "), "launched"),
    ("launched-in-background", later(r"Background shell started\."), "launched"),
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
    ("denied", later(r'Tool "[^"\n]{1,200}" is denied by permission rules'), "blocked"),
    ("denied", later(r'Qwen Code requires permission to use "[^"\n]{1,200}", but'), "blocked"),
    ("denied", later(r'Tool "[^"\n]{1,200}" is a built-in tool that is disabled'), "blocked"),
    ("denied", later(r"Blocked: standalone sleep"), "blocked"),
    ("no-such-tool", later(r'Tool "[^"\n]{1,200}" not found'), "failed"),
)
PLAN: Rows = (
    # What a plan that was offered came to.
    ("sent-back", later(r"Plan rejected\."), "rejected"),
    (
        "stayed-in-plan-mode",
        later(r"User cancelled the plan approval dialog|Plan execution was not approved\."),
        "rejected",
    ),
)
QUESTION: Rows = (
    # What became of a dialog.
    (
        "nobody-answered",
        later(r"User (?:dismissed ask_user dialog|declined to answer the questions)"),
        "rejected",
    ),
)
AGENT: Rows = (
    (
        "launched-in-background",
        later(r"Background agent launched successfully\."),
        "launched",
    ),
)
BY_TOOL = {
    SHELL: STOPPED,
    "exit_plan_mode": PLAN,
    "ask_user": QUESTION,
    "ask_user_question": QUESTION,
    "agent": AGENT,
}
SUBAGENTS: dict[str, tuple[Outcome, str]] = {
    "error": ("failed", "status"),
    "failed": ("failed", "status"),
    "cancelled": ("interrupted", "aborted-by-user"),
    "running": ("launched", "still-running"),
    "background": ("launched", "still-running"),
}
RUNNING = ("validating", "scheduled", "executing", "awaiting_approval")


def verdict(told: Told) -> Verdict:
    """The verdict on a call."""
    error = words(told.answer.get("error"))
    match told.display:
        case {"type": "shell_result", "exitCode": int(code)} if number(code) is not None:
            # Qwen Code notes it since 0.24, and gives a command that failed the status `error`.
            end: Outcome = "failed" if code else "ok"
            return Verdict(end, "exit-code", f"{told.display_at}/exitCode", code)
    match told.status:
        case "cancelled":
            return _row(CANCELLED, error, told.status_at)
        case "error":
            found = _row(REFUSED, error, told.answer_at + "/error")
            return found if found.rule else Verdict("failed", "status", told.status_at)
        case _ if error:
            return Verdict("failed", "error-field", told.answer_at + "/error")
        case "success":
            return _ended(told)
    return shell_verdict(words(told.answer.get("output")), told.answer_at) or Verdict()


def shell_verdict(text: str, answer_at: str) -> Verdict | None:
    """What stands below the output of a command; None where nothing does."""
    tail = TAIL.search(text, max(0, len(text) - MOST))
    if tail is None:
        return None
    code, signal, where = tail["code"], tail["signal"], answer_at + "/output"
    if code and code != "(none)":
        # Where the command speaks of such codes too, its text is no sure place for this one.
        where = answer_at if ENDS.search(text, 0, tail.start()) else where
        return Verdict("failed" if int(code) else "ok", "exit-code", where, int(code))
    if signal and signal not in NO_SIGNAL:
        return Verdict("failed", "signal", where)
    return Verdict() if code else Verdict("ok", "no-exit-code", where)


def _ended(told: Told) -> Verdict:
    output = words(told.answer.get("output"))
    text = output.removeprefix("<untrusted_context>").lstrip("\n")
    found = _row(BY_TOOL.get(told.tool, ()), text, told.answer_at + "/output")
    if found.rule:
        return found
    if told.tool == SHELL:
        return shell_verdict(output, told.answer_at) or Verdict()
    at = told.display_at
    match told.display:
        case "Error: Invalid plan":
            return Verdict("failed", "error-text", at)
        case {"isSubagentProgress": True, "state": str(state)}:
            return _of_subagent(told, state, f"{at}/state")
        case {"type": "task_execution", "status": str(state)}:
            return _of_subagent(told, state, f"{at}/status")
    return Verdict("ok", "status", told.status_at)


def _of_subagent(told: Told, state: str, where: str) -> Verdict:
    """How a subagent ended: the call that started it always has the status `success`."""
    if state in SUBAGENTS:
        return Verdict(*SUBAGENTS[state], where)
    why = told.display.get("terminateReason", "GOAL")
    if why == "GOAL":
        return Verdict("ok", "status", told.status_at)
    late: Outcome = "timed_out" if why == "TIMEOUT" else "failed"
    return Verdict(late, "terminate-reason", f"{told.display_at}/terminateReason")


def _row(rows: Rows, text: str, where: str) -> Verdict:
    for rule, pattern, outcome in rows:
        if pattern.match(text):
            return Verdict(outcome, rule, where)
    return Verdict()
