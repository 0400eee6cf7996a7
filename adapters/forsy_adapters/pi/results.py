"""What came back of a call, and whether it worked."""

import re
from collections.abc import Iterator
from typing import Any

from forsy_retrace.calls import Calls, Verdict
from forsy_retrace.dialects import content_text
from forsy_retrace.events import Event, Origin, Outcome, ToolCall, ToolResult
from forsy_retrace.sdk import later, number, pointer, words

Json = dict[str, Any]

ENDS: tuple[tuple[str, re.Pattern[str], Outcome], ...] = (
    # How the end of an output that is flagged as an error says why.
    ("timed-out", later(r"Command timed out after \d+ seconds?\.?\s*\Z"), "timed_out"),
    ("aborted", later(r"(?:Command|Operation) (?:was )?aborted\.?\s*\Z"), "interrupted"),
)
EXIT = later(r"(?:Command|Process) exited with code (-?\d{1,10})\.?\s*\Z")


def ended(message: Json, output: str) -> Verdict:
    """The outcome of a call, by what the harness says beside its output."""
    match message.get("details"):
        case {"status": "running" | "completed" | "failed", "sessionId": str()} if (
            message.get("toolName") == "process" and message.get("isError") is not True
        ):  # what it looked at may have failed, the look did not
            return Verdict("ok", "process-read", "/message/details/status")
        case {"status": "running"}:
            return Verdict("launched", "still-running", "/message/details/status")
        case {"exitCode": int(code)} if number(code) is not None:
            outcome: Outcome = "failed" if code else "ok"
            return Verdict(outcome, "exit-code", "/message/details/exitCode", code)
        case {"status": "error" | "failed"}:
            return Verdict("failed", "status", "/message/details/status")
    match message.get("isError"):
        case True:
            for rule, pattern, outcome in ENDS:
                if pattern.search(output[-200:]):
                    return Verdict(outcome, rule, "/message/content")
            told = EXIT.search(output[-200:])
            return Verdict(
                "failed", "error-flag", "/message/isError", int(told[1]) if told else None
            )
        case False:
            return Verdict("ok", "error-flag", "/message/isError")
    return Verdict()


STATUSES: dict[Any, Outcome] = {"ok": "ok", "error": "failed"}
"""How a call ended that code made; an `unfinished` one is left open."""


def nested(told: Any, call: str, message: str, here: Origin, calls: Calls) -> Iterator[Event]:
    """The calls that the code of a call made; of what they showed, only errors are kept."""
    made = told.get("calls") if isinstance(told, dict) else None
    for index, one in enumerate(made if isinstance(made, list) else ()):
        match one:
            case {"id": str(ident), "name": str(tool), **rest}:
                below = here.below(pointer("message", "nestedCalls", "calls", index))
                # The record's time is that of the code's end: when each call was made, none says.
                place = Origin(below.evidence, None, "agent", message, here.branch)
                name = calls.issue(ident, here.message, index)
                if name is None:
                    continue
                sent, path = rest.get("arguments"), "/arguments"
                if not isinstance(sent, dict):  # too long to be kept
                    sent, path = one, ""
                named = place.below("/name").evidence.pointer
                yield ToolCall(place.below(path), name, tool, sent, named, None, call)
                status = STATUSES.get(rest.get("status")) if words(rest.get("status")) else None
                answered = calls.answer(ident)
                if status is not None and answered is not None:
                    error = words(rest.get("error")) or None
                    where = place.below("/error" if error else "/status")
                    basis = place.below("/status").evidence.pointer
                    yield ToolResult(where, answered, error, status, "status", basis)


def answer(message: Json, here: Origin) -> tuple[str | None, Origin]:
    """What came back, and where it stands: in the record as a whole where nothing did."""
    content = message.get("content")
    if content is None:
        return None, here.by("agent")
    return content_text(content), here.below("/message/content").by("agent")
