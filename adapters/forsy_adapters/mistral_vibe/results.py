"""How a call ended: by the mark around what came back, and the client's words inside it.

The client marks what failed (`tool_error`) and what the user stopped (`user_cancellation`); what
worked is written as the fields of its result, one a line, from 2.24 on also as an object beside it.
"""

import re
from typing import Any

from forsy_retrace.calls import Verdict
from forsy_retrace.events import Origin, Outcome
from forsy_retrace.sdk import later, number, words

Json = dict[str, Any]

ROWS: tuple[tuple[str, re.Pattern[str], Outcome], ...] = (
    # What the client writes in place of a result, the most telling first.
    (
        "rejected-by-user",
        later(r"<user_cancellation>(?:User cancelled the op|Tool execution skipped by)"),
        "rejected",
    ),
    (
        "interrupted-by-user",
        later(r"<user_cancellation>Tool execution interrupted by user"),
        "interrupted",
    ),
    (
        "interrupted",
        later(r"<user_cancellation>Tool execution interrupted - no response"),
        "interrupted",
    ),
    ("rejected-by-user", later(r"<user_cancellation>"), "rejected"),
    ("hook-blocked", later(r"<tool_error>Tool '[^'\n]{1,200}' was denied by hook"), "blocked"),
    (
        "denied",
        later(
            r"Tool '[^'\n]{1,200}' (?:blocked by denylist|is permanently disabled)"
            r"|Tool execution not permitted\.|Command denied: '"
        ),
        "blocked",
    ),
    ("no-such-tool", later(r"<tool_error>[^\s:]{1,200}: Unknown tool '"), "blocked"),
    ("input-refused", later(r"<tool_error>[^\s:]{1,200}: Invalid arguments: "), "blocked"),
    (
        "never-started",
        later(r"<tool_error>task failed: (?:Unknown agent: |Agent (?:'|depth limit ))"),
        "blocked",
    ),
    ("timed-out", later(r"<tool_error>\w{1,80} failed: Command timed out after "), "timed_out"),
    ("error-text", later(r"<tool_error>"), "failed"),
)
EXIT = later(
    r"<tool_error>\w{1,80} failed: Command failed: [^\n]*\nReturn code: (-?\d{1,10})(?:\n|<|\Z)"
)
"""A command that failed; the client quotes it on one line."""
CODE = later(r"\nreturncode: (-?\d{1,10})\s*\Z")
"""How the fields of a command that worked end."""
FIELDS = later(r"[a-z_]{1,40}: ")
"""How the fields of a result begin."""
UNDONE: dict[str, tuple[str, str, bool, Outcome, str]] = {
    # By tool: the field of its result that says it came to nothing, and how the client writes it.
    "exit_plan_mode": ("switched", "False", False, "rejected", "stayed-in-plan-mode"),
    "ask_user_question": ("cancelled", "True", True, "rejected", "rejected-by-user"),
    "task": ("completed", "False", False, "unknown", ""),
}
SHELLS = ("bash", "git_bash", "windows_shell")
OUTPUT = "/tool_result/output"


def verdict(tool: str, message: Json, here: Origin) -> Verdict:
    """The verdict on a call, of the message that answers it."""
    text = words(message.get("content"))
    where = here.below("/content").evidence.pointer
    if (failed := EXIT.match(text)) is not None:
        return _by_code(int(failed[1]), here)
    for rule, pattern, outcome in ROWS:
        if pattern.match(text):
            return Verdict(outcome, rule, where)
    match message.get("tool_result"):
        case {"cancelled": True}:
            flag = here.below("/tool_result/cancelled").evidence.pointer
            return Verdict("interrupted", "interrupted-flag", flag)
        case {"output": dict(output)}:
            return _structured(tool, output, here)
    if tool in SHELLS:
        worked = CODE.search(text)
        return Verdict() if worked is None else _by_code(int(worked[1]), here)
    if not FIELDS.match(text):
        return Verdict()
    if tool in UNDONE:
        field, word, _, outcome, rule = UNDONE[tool]
        if f"\n{field}: {word}\n" in f"\n{text}\n":
            return Verdict(outcome, rule, where if rule else "")
    return Verdict("ok", "said-done", where)


def _by_code(code: int, here: Origin) -> Verdict:
    """By an exit code in the text, which may hold others."""
    where = here.below("/content").evidence.pointer
    return Verdict("failed" if code else "ok", "exit-code-in-output", where, code)


def _structured(tool: str, output: Json, here: Origin) -> Verdict:
    where = here.below(OUTPUT)
    if output.get("status") == "running":
        return Verdict("launched", "still-running", where.below("/status").evidence.pointer)
    if tool in UNDONE:
        field, _, flag, outcome, rule = UNDONE[tool]
        if output.get(field) is flag:
            return Verdict(outcome, rule, where.below(f"/{field}").evidence.pointer if rule else "")
    if tool not in SHELLS:
        return Verdict("ok", "said-done", where.evidence.pointer)
    for key in ("returncode", "exit_code"):
        if (code := number(output.get(key))) is not None:
            basis = where.below(f"/{key}").evidence.pointer
            return Verdict("failed" if code else "ok", "exit-code", basis, code)
    return Verdict()
