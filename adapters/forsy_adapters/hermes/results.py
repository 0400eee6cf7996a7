"""How a call ended, by what its tool's answer in JSON says, and which files it changed or showed.

Tools of the client answer with an object; one that went wrong has an `error`. Behind it may stand
a note of the client (`Tool loop warning`), or words of the user (0.13 to 0.19, `tools/*.py`).
"""

import re
from collections.abc import Iterator
from typing import Any, Literal

from forsy_retrace.calls import Verdict
from forsy_retrace.events import Change, Meant, Outcome
from forsy_retrace.sdk import later, lines_of, number, packed, parsed, words

from .._patches import hunks
from .store import DELEGATE

Json = dict[str, Any]
Kind = Literal["created", "modified", "deleted"]

SHELL, CODE = "terminal", "execute_code"
BLOCKED = ("BLOCKED", "Blocked: ")
DENIED = later(r"BLOCKED: (?:User denied|\w[^.]{0,80}denied by (?:the )?user)", re.I)
STATUS: dict[str, Outcome] = {
    "blocked": "blocked",
    "pending_approval": "blocked",
    "approval_required": "blocked",
    "dispatched": "launched",
    "cancelled": "interrupted",
    "interrupted": "interrupted",
    "timeout": "timed_out",
}
"""What an answer's status says that is more than a failure."""
RULES: dict[Outcome, str] = {
    "blocked": "approval-policy",
    "launched": "launched-in-background",
    "interrupted": "interrupted-by-user",
    "timed_out": "timed-out",
}
LATE, STOPPED = "[Command timed out after ", "[Command interrupted"
"""What ends the output of a command that was ended."""
TIMED_OUT, INTERRUPTED = 124, 130
"""With which status it then ends."""
TAIL = 200
TEXTS: tuple[tuple[str, re.Pattern[str], Outcome], ...] = (
    # What the client says in a tool's place; the first row that matches counts.
    ("never-started", later(r"\[Tool execution (?:cancelled|skipped) "), "interrupted"),
    ("timed-out", later(r"Error executing tool '[^']{1,80}': timed out after "), "timed_out"),
    (
        "input-refused",
        later(
            r"Tool '[^']{1,200}' does not exist\.|Error: Invalid JSON arguments\.|Skipped: other "
        ),
        "blocked",
    ),
    ("error-text", later(r"Error executing tool\b"), "failed"),
)
DONE, UNDONE = ("completed", "success"), ("failed", "error")
"""How a subagent ended."""
IN_A_TEXT = {"exit-code": "exit-code-in-output", "no-error": "no-error-text"}
"""Rules whose word stands in a text that is more than JSON."""
NUMBERED = later(r" {0,6}(\d{1,9})\|(.*)")
CUT = "... [truncated]"
"""How a long line ends that is not shown whole."""
NAMED = later(r"(?:---|\+\+\+) (?:[ab]/)?(.+)")
NOWHERE = "/dev/null"


def answer(content: Any) -> tuple[Any, bool]:
    """What a tool answered, and whether that is all of the content."""
    if not isinstance(content, str):
        return content, True
    whole = parsed(content)
    if whole is not None or not content.startswith("{"):
        return whole, whole is not None
    end = content.find("}\n\n[")
    return (parsed(content[: end + 1]) if end > 0 else None), False


def verdict(tool: str, content: Any, base: str) -> Verdict:
    """The verdict on a call whose content stands at a pointer."""
    told, is_whole = answer(content)
    if not isinstance(told, dict):
        return _of_a_text(content, base) if isinstance(content, str) else Verdict()
    found = _of(tool, told)
    if is_whole:
        return found._replace(basis=base + found.basis) if found.rule else found
    rule = IN_A_TEXT.get(found.rule, found.rule)
    return found._replace(basis=base, rule=rule) if found.rule else found


def _of_a_text(text: str, base: str) -> Verdict:
    for rule, pattern, outcome in TEXTS:
        if pattern.match(text):
            return Verdict(outcome, rule, base)
    return Verdict()


def _of(tool: str, told: Json) -> Verdict:
    """The verdict by an answer; its basis is a pointer within."""
    error, status = told.get("error"), words(told.get("status"))
    if isinstance(error, str) and error.startswith(BLOCKED):
        if DENIED.match(error):
            return Verdict("rejected", "rejected-by-user", "/error")
        return Verdict("blocked", "approval-policy", "/error")
    if status in STATUS and tool != "process":
        return Verdict(STATUS[status], RULES[STATUS[status]], "/status")
    if tool == SHELL:
        return _of_a_shell(told)
    if tool == DELEGATE and isinstance(told.get("results"), list):
        return _of_subagents(told["results"])
    match told:
        case {"success": bool(flag)}:
            return Verdict("ok" if flag else "failed", "success-field", "/success")
        case {"exit_code": int(code)} if tool == CODE and number(code) is not None:
            return Verdict("failed" if code else "ok", "exit-code", "/exit_code", code)
        case {"status": "success" | "error"} if tool == CODE:
            return Verdict("ok" if status == "success" else "failed", "status", "/status")
        case {"error": str(text)} if text.strip():
            return Verdict("failed", "error-field", "/error")
        case {"error": dict(held)} if held:
            return Verdict("failed", "error-field", "/error")
        case {"results": [*results]} if any(_has_failed(one) for one in results):
            if all(_has_failed(one) for one in results):
                return Verdict("failed", "error-field", "/results/0/error")
            return Verdict()
    return Verdict() if tool == "process" or error else Verdict("ok", "no-error")


def _has_failed(result: Any) -> bool:
    return isinstance(result, dict) and bool(words(result.get("error")))


def _of_a_shell(told: Json) -> Verdict:
    output, code = words(told.get("output")), number(told.get("exit_code"))
    if "pid" in told and "session_id" in told:
        return Verdict("launched", "launched-in-background", "/session_id")
    if code is None:
        failed = bool(words(told.get("error")))
        return Verdict("failed", "error-field", "/error") if failed else Verdict()
    if code == TIMED_OUT and LATE in output[-TAIL:]:
        return Verdict("timed_out", "timed-out", "/output", code)
    if code == TIMED_OUT and words(told.get("error")).startswith("Command timed out"):
        return Verdict("timed_out", "timed-out", "/error", code)
    if code == INTERRUPTED and STOPPED in output[-TAIL:]:
        return Verdict("interrupted", "interrupted-by-user", "/output", code)
    if code < 0:  # there is no such status: the command was not run
        return Verdict("failed", "error-field", "/error") if told.get("error") else Verdict()
    return Verdict("failed" if code else "ok", "exit-code", "/exit_code", code)


def _of_subagents(results: list[Any]) -> Verdict:
    """The verdict on a call to one subagent, or to several that ended alike."""
    ends = {words(one.get("status")) for one in results if isinstance(one, dict)}
    end = ends.pop() if len(ends) == 1 else ""
    if end in DONE or end in UNDONE:
        return Verdict("ok" if end in DONE else "failed", "status", "/results/0/status")
    if end in STATUS:
        return Verdict(STATUS[end], RULES[STATUS[end]], "/results/0/status")
    return Verdict()


def changes(tool: str, sent: Any, content: Any, base: str) -> Iterator[Change]:
    """The files of a call that worked."""
    told, is_whole = answer(content)
    path = words(sent.get("path")) if isinstance(sent, dict) else ""
    match tool, told:
        case "patch", {"success": True, "diff": str(diff)}:
            yield from _patched(diff, base + ("/diff" if is_whole else ""))
        case "read_file", {"content": str(text), **rest} if path and text:
            total = number(rest.get("total_lines"))
            yield from _shown(path, text, total, base + ("/content" if is_whole else ""))


def unchanged(tool: str, sent: Any, content: Any) -> Meant | None:
    """The call that a replacement comes to which left its file as it was, as no diff says."""
    match tool, sent, answer(content)[0]:
        case "patch", {"path": str(path), "old_string": _}, {"success": True, **rest}:
            return None if "diff" in rest else Meant("Edit", {"file_path": path})
    return None


def _patched(diff: str, place: str) -> Iterator[Change]:
    """The files of a unified diff."""
    before, lines = "", lines_of(diff)
    starts = [at for at, one in enumerate(lines[:-1]) if _is_head(one, lines[at + 1])]
    for first, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        before, after = (_path(lines[at]) for at in (first, first + 1))
        pieces = tuple(hunks(lines[first + 2 : end]))
        if before == NOWHERE:
            text = "".join(f"{line[1:]}\n" for piece in pieces for line in piece.lines)
            yield Change(after, "created", after=text, pointer=place)
        elif after == NOWHERE:
            yield Change(before, "deleted", pointer=place)
        elif pieces:
            yield Change(after, "modified", pieces, pointer=place)


def _is_head(line: str, following: str) -> bool:
    return line.startswith("--- ") and following.startswith("+++ ")


def _path(line: str) -> str:
    found = NAMED.match(line)
    return found[1].split("\t")[0] if found else NOWHERE


def _shown(path: str, text: str, total: int | None, place: str) -> Iterator[Change]:
    """Lines of a file behind their numbers; behind the last one there may be an empty one."""
    found = [NUMBERED.fullmatch(line) for line in text.split("\n")]
    lines = [one for one in found if one is not None]
    if len(lines) < len(found) or CUT in text or not lines:
        return
    if total is not None and int(lines[-1][1]) > total and not lines[-1][2]:
        lines.pop()
    if lines:
        shown = packed("\n".join(one[2] for one in lines))
        start = int(lines[0][1])
        yield Change(
            path, "shown", shown=shown, start=start, total=total, pointer=place, trimmed=True
        )


def answered(tool: str, content: Any) -> str:
    """What the user answered to a question of the agent's."""
    told, _ = answer(content)
    return words(told.get("user_response")) if tool == "clarify" and isinstance(told, dict) else ""
