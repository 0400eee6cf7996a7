"""How a call ended, and what came back, as the message that holds it tells."""

import re
from typing import Any

from forsy_retrace.calls import Verdict
from forsy_retrace.events import Outcome
from forsy_retrace.sdk import compact, later, number, pointer, words

from .._cursor import NOBODY
from .calls import EDITS, SHELLS, WRITES
from .held import Json, opened

ENDED = ("completed", "error", "cancelled")
"""The states of a call that goes on no longer."""
ERRORS: tuple[tuple[str, re.Pattern[str], Outcome], ...] = (
    # What the error of a shell's call says that is more than a failure (shellToolCallHandler); the
    # first row that matches counts.
    ("timed-out", later(r"Command (?:execution )?timed out"), "timed_out"),
    ("not-permitted", later(r"Permission denied: "), "blocked"),
)
EDIT_REJECTED = later(r"Edit rejected: ")
"""How the error of an edit begins that was turned down (editToolCallHandler)."""
REJECTED = later(r"Rejected: ?(.*)", re.S)
"""What a command has printed that was turned down, and why."""
MESSAGES = ("modelVisibleErrorMessage", "clientVisibleErrorMessage", "message")
"""Under which of these an error says what the agent was told."""
BACKGROUND = ("isRunningInBackground", "poppedOutIntoBackground", "isBackground")
CODES = ("exitCodeV2", "exitCode")
IDS = frozenset(["beforeContentId", "afterContentId", "agentId", "isBackground", "cloudAgentBcId"])
"""All that the result of an edit, or of what sends a subagent, may hold: nothing for the agent."""

WRITTEN = frozenset(["afterContentId", "diff", "isApplied"])
"""What the result of an edit has that was written."""


def result_of(call: Json) -> Any:
    """What came back, opened where it is a text of JSON."""
    held = opened(call.get("result"))
    return call.get("result") if held is None else held


def verdict(call: Json, base: str) -> Verdict:
    """How a call ended that stands at a pointer."""
    result = result_of(call)
    held: Json = result if isinstance(result, dict) else {}
    beside = call["additionalData"] if isinstance(call.get("additionalData"), dict) else {}
    tool = words(call.get("name"))
    found = _turned_down(tool, call, held, beside)
    if not found.rule and tool in SHELLS and call.get("status") != "error":
        found = _of_a_shell(call, held, beside)
    elif not found.rule:
        found = _told(tool, call, held, beside)
    return found._replace(basis=base + found.basis) if found.rule else Verdict()


def _turned_down(tool: str, call: Json, result: Json, beside: Json) -> Verdict:
    """Whether somebody turned a call down, so that it did not run.

    An edit is written before it is reviewed: one with a result that the user turned down was
    undone, and how it ended is not told.
    """
    if tool in (*EDITS, WRITES) and not WRITTEN.isdisjoint(result):
        return Verdict()
    why = REJECTED.match(words(result.get("output")))
    if result.get("rejected") is True and why and NOBODY.search(why[1]):
        return Verdict("blocked", "not-permitted", "/result/output")
    if isinstance(result.get("rejected"), dict) or result.get("rejected") is True:
        return Verdict("rejected", "rejected-by-user", "/result/rejected")
    if tool == "ask_question" and beside.get("status") == "cancelled":
        return Verdict("rejected", "rejected-by-user", "/additionalData/status")
    if call.get("userDecision") == "rejected" and _code(result) is None:
        return Verdict("rejected", "rejected-by-user", "/userDecision")
    text, path = error_of(call)
    if tool in EDITS and (why := EDIT_REJECTED.match(text)):
        by_nobody = NOBODY.search(text)
        return Verdict(
            "blocked" if by_nobody else "rejected",
            "not-permitted" if by_nobody else "rejected-by-user",
            path,
        )
    return Verdict()


def _code(result: Json) -> str | None:
    """Under which name a command's exit code stands."""
    return next((name for name in CODES if number(result.get(name)) is not None), None)


def _of_a_shell(call: Json, result: Json, beside: Json) -> Verdict:
    """A command: while it runs its code is 0, and of one that ended well 0 is left out."""
    if call.get("status") != "completed" or beside.get("status") in ("running", "pending"):
        return Verdict()
    for name in BACKGROUND:
        if result.get(name) is True:
            return Verdict("launched", "launched-in-background", f"/result/{name}")
    if coded := _code(result):
        code = number(result[coded])
        return Verdict("failed" if code else "ok", "exit-code", f"/result/{coded}", code)
    if number(result.get("backgroundShellId")) is not None:
        return Verdict("launched", "launched-in-background", "/result/backgroundShellId")
    return _by_status(beside.get("status"), "/additionalData/status")


def _by_status(status: Any, path: str) -> Verdict:
    match status:
        case "success" | "completed":
            return Verdict("ok", "status", path)
        case "error":
            return Verdict("failed", "status", path)
    return Verdict()


def _told(tool: str, call: Json, result: Json, beside: Json) -> Verdict:
    """Any other call, or one that failed."""
    status = call.get("status")
    if status == "error":
        text, path = error_of(call)
        for rule, pattern, outcome in ERRORS if tool in SHELLS else ():
            if pattern.match(text):
                return Verdict(outcome, rule, path)
    elif status != "completed" or _is_undone(tool, call, result):
        return Verdict()
    else:
        match result:
            case {"isBackground": True}:
                return Verdict("launched", "launched-in-background", "/result/isBackground")
            case {"fileNonExistent": True}:
                return Verdict("failed", "error-text", "/result/fileNonExistent")
            case {"applyFailed": True}:
                return Verdict("failed", "error-text", "/result/applyFailed")
            case {"recoverableError": {"modelMessage": str()}}:
                return Verdict("failed", "error-text", "/result/recoverableError/modelMessage")
            case {"error": {"error": str()}}:
                return Verdict("failed", "error-text", "/result/error/error")
        answer, path = _of_a_server(result)
        if isinstance(answer, dict) and answer.get("isError") is True:
            return Verdict("failed", "error-flag", f"{path}/isError")
    return _by_status(status, "/status")


def _is_undone(tool: str, call: Json, result: Json) -> bool:
    """Whether the user turned down an edit that was written already."""
    is_rejected = call.get("userDecision") == "rejected" or result.get("rejected") is True
    return tool in (*EDITS, WRITES) and is_rejected


def _of_a_server(result: Json) -> tuple[Any, str]:
    """What an MCP server answered, and where."""
    match result:
        case {"selectedTool": str(), "result": inner} | {"toolName": str(), "result": inner}:
            held = opened(inner)
            return held if isinstance(held, (dict, list)) else inner, "/result/result"
    return None, ""


def error_of(call: Json) -> tuple[str, str]:
    """What an error says to the agent, and where."""
    held = opened(call.get("error"))
    if isinstance(held, dict):
        for name in MESSAGES:
            if text := words(held.get(name)):
                return text, f"/error/{name}"
    return words(call.get("error")), "/error"


def shown_in(call: Json) -> tuple[str | None, tuple[str, ...]]:
    """What the agent was given, and where its texts stand; None where that is not told."""
    result = result_of(call)
    text, path = error_of(call)
    if text and call.get("status") != "completed":
        return text, (path,)
    match result:
        case None:
            return None, ()
        case {"output": str(text)} if words(call.get("name")) in SHELLS:
            return text, ("/result/output",)
        case {"contents": str(text)}:
            return text, ("/result/contents",)
        case {"resultForModel": str(text)} if text.strip():
            return text, ("/result/resultForModel",)
        case {"recoverableError": {"modelMessage": str(text)}}:
            return text, ("/result/recoverableError/modelMessage",)
        case dict() if not result or result.keys() <= IDS:
            return None, ()
        case dict() if words(call.get("name")) in SHELLS:
            return None, ()
        case dict():
            answer, path = _of_a_server(result)
            if path:
                return _answered(answer, path)
    raw = call.get("result")
    return raw if isinstance(raw, str) else compact(raw), ("/result",)


def _answered(answer: Any, path: str) -> tuple[str | None, tuple[str, ...]]:
    """The texts of a server's answer; all of it where it has none."""
    if isinstance(answer, dict) and isinstance(answer.get("content"), list):
        found = [
            (one["text"], path + pointer("content", at, "text"))
            for at, one in enumerate(answer["content"])
            if isinstance(one, dict) and isinstance(one.get("text"), str)
        ]
        if found:
            return "\n".join(text for text, _ in found), tuple(place for _, place in found)
    return answer if isinstance(answer, str) else compact(answer), (path,)
