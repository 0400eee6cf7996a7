"""What came back of a call, whether it worked, and what it did to files."""

import re
from collections.abc import Iterator
from typing import Any, Literal

from forsy_retrace.calls import Calls, Verdict
from forsy_retrace.dialects import attachments, content_text
from forsy_retrace.events import Change, Event, Origin, Outcome, Skipped, ToolCall, ToolResult
from forsy_retrace.sdk import later, lines_of, number, pointer, when, words

from .._patches import hunks

Json = dict[str, Any]

ENDS: tuple[tuple[str, re.Pattern[str], Outcome], ...] = (
    # How the end of an output that is flagged as an error says why.
    ("no-such-tool", later(r"\ATool \S{1,100} not found\Z"), "blocked"),
    ("timed-out", later(r"Command timed out after \d+ seconds?\.?\s*\Z"), "timed_out"),
    ("aborted", later(r"(?:Command|Operation) (?:was )?aborted\.?\s*\Z"), "interrupted"),
)
EXIT = later(r"(?:Command|Process) exited with code (-?\d{1,10})\.?\s*\Z")
DENIED: tuple[tuple[str, re.Pattern[str], Outcome], ...] = (
    # How OpenClaw's error says that a command never ran: who decided against it, or what did.
    ("rejected-by-user", later(r"exec denied: user-denied"), "rejected"),
    ("denied", later(r"exec denied"), "blocked"),
)
PATCHED = later(r"--- [^\n]*\n\+\+\+ ([^\n]+)\n(?=@@ )")
"""How the patch begins that stands beside the result of an edit."""


def ended(
    message: Json, output: str, here: Origin, base: str = "/message", flag: str = "/message"
) -> Verdict:
    """The outcome of a call, by what the harness says beside its output.

    In the record, `base` is where the output stands, and `flag` where the flag of an error does.
    """
    found = _ended(message, output)
    if not found.basis:
        return found
    above = flag if found.basis == "/isError" else base
    return found._replace(basis=here.below(above + found.basis).evidence.pointer)


def _ended(message: Json, output: str) -> Verdict:
    match message.get("details"):
        case {"status": "running" | "completed" | "failed", "sessionId": str()} if (
            message.get("toolName") == "process" and message.get("isError") is not True
        ):  # what it looked at may have failed, the look did not
            return Verdict("ok", "process-read", "/details/status")
        case {"status": "accepted", "childSessionKey": str()}:
            return Verdict("launched", "subagent-accepted", "/details/status")
        case {"status": "error", "error": str(error)} if denied := next(
            (row for row in DENIED if row[1].match(error)), None
        ):
            return Verdict(denied[2], denied[0], "/details/error")
        case {"status": "running"}:
            return Verdict("launched", "still-running", "/details/status")
        case {"exitCode": int(code)} if number(code) is not None:
            outcome: Outcome = "failed" if code else "ok"
            return Verdict(outcome, "exit-code", "/details/exitCode", code)
        case {"status": "error" | "failed"}:
            return Verdict("failed", "status", "/details/status")
    match message.get("isError"):
        case True:
            for rule, pattern, outcome in ENDS:
                if pattern.search(output[-200:]):
                    return Verdict(outcome, rule, "/content")
            told = EXIT.search(output[-200:])
            return Verdict("failed", "error-flag", "/isError", int(told[1]) if told else None)
        case False:
            return Verdict("ok", "error-flag", "/isError")
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


def made(message: Json, here: Origin, asked: dict[str, str], calls: Calls) -> Iterator[Event]:
    """A call that OpenClaw's `tool_call` made for the agent, as its own entry tells it."""
    match message.get("details"):
        case {
            "parentToolCallId": str(above),
            "toolCallId": str(ident),
            "toolName": str(tool),
            **rest,
        }:
            pass
        case _:
            yield Skipped(here, "injected: by an extension")
            return
    call = calls.issue(ident, here.message)
    if call is None:
        yield Skipped(here, "repeated history")
        return
    below = here.below("/message/details")
    name = below.below("/toolName").evidence.pointer
    sent, path = rest.get("input"), "/input"
    if not isinstance(sent, dict | str):
        sent, path = rest, ""
    begun = when(rest.get("startedAt"))
    place = below.below(path).evidence
    made_by = above if above in asked else ""
    issued = Origin(place, begun, "agent", asked.get(above), here.branch)
    yield ToolCall(issued, call, tool, sent, name, None, made_by)
    shown = rest.get("result")
    if not isinstance(shown, dict) or calls.answer(ident) is None:
        return
    base = "/message/details/result"
    content, output = shown.get("content"), content_text(shown.get("content"))
    flagged = {**shown, "toolName": tool, "isError": rest.get("isError")}
    end = ended(flagged, output, here, base, "/message/details")
    where = here.below(f"{base}/content").evidence
    told = Origin(where, when(rest.get("timestamp")), "agent", None, here.branch)
    pictures = attachments(content, where.pointer)
    yield ToolResult(told, call, output, *end, attachments=pictures)


def changes(message: Json, here: Origin) -> tuple[Change, ...]:
    """What an edit did to a file, as OpenClaw keeps its patch beside the result."""
    match message:
        case {"isError": False, "details": {"changed": True, "patch": str(patch), **told}}:
            if (opening := PATCHED.match(patch)) is None:
                return ()
            pieces = tuple(hunks(lines_of(patch[opening.end() :])))
            kind: Literal["created", "modified"] = (
                "created" if told.get("created") is True else "modified"
            )
            place = here.below("/message/details/patch").evidence.pointer
            return (Change(opening[1], kind, pieces, pointer=place),)
    return ()


def answer(message: Json, here: Origin) -> tuple[str | None, Origin]:
    """What came back, and where it stands: in the record as a whole where nothing did."""
    content = message.get("content")
    if content is None:
        return None, here.by("agent")
    return content_text(content), here.below("/message/content").by("agent")
