"""What the model answered: words, reasoning, calls, in one record or many."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import (
    Event,
    Fact,
    Meant,
    Message,
    Notice,
    Origin,
    Skipped,
    Thinking,
    ToolCall,
    ToolResult,
)
from forsy_retrace.sdk import named, pointer, tells_a_limit, text_of

from .blocks import held_at, shown
from .known import Known, uid_of
from .lines import Json, Line
from .places import at, deeper

USAGE = (
    "input_tokens",
    "output_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
)


class Answers:
    """Reads the records of the model's messages."""

    def __init__(self, known: Known) -> None:
        self.known = known

    def read(self, line: Line, message: Json) -> Iterator[Event]:
        """A record of the model's message: what no earlier record of it gave."""
        model, uid = message.get("model"), message.get("id")
        line.message = ident = uid if isinstance(uid, str) else None
        here = self.known.origin(line, "agent", "/message", ident)
        content = message.get("content")
        blocks = content if isinstance(content, list) else []
        if isinstance(content, str) and content.strip():
            blocks = [content]
        if model == "<synthetic>" or _is_error(line.body):
            yield self._synthetic(line, here, message)
            return
        if isinstance(model, str) and ("model", ident) not in self.known.seen:
            self.known.seen.add(("model", ident))
            yield Fact(at(here, "/message/model", line), "model", model)
        fresh = False
        for index, block in enumerate(blocks):
            path = f"/message/content/{index}" if content is blocks else "/message/content"
            origin = self.known.origin(line, "agent", path, ident)
            if isinstance(block, str):
                key = (ident or uid_of(line), "text", block)
                event = self.known.once(key, Message(origin, "agent", block))
            else:
                event = self._block(line, origin, block if isinstance(block, dict) else {}, ident)
            if event is not None:
                fresh = fresh or not isinstance(event, Skipped)
                yield event
        usage = message.get("usage")
        if fresh and isinstance(usage, dict):
            told = (ident, _usage(usage, model))
            if ident is None or told != self.known.used:  # a client writes them with each block
                yield Fact(at(here, "/message/usage", line), "usage", told[1])
            self.known.used = told
        elif not blocks or not fresh:
            yield Skipped(here, "repeated history" if blocks else "empty message")

    def _block(self, line: Line, here: Origin, block: Json, ident: str | None) -> Event | None:
        """One block of an answer; None where an earlier record already gave it."""
        kind = block.get("type")
        unit = ident or uid_of(line)
        match block:
            case {"type": "text", "text": str(text)}:
                if text.strip() in ("", "(no content)"):
                    return Skipped(here, "blank text")
                if not line.lane:
                    self.known.answers.add(text.strip())
                return self.known.once(
                    (unit, "text", text), Message(deeper(here, "text"), "agent", text)
                )
            case {"type": "thinking", "thinking": str(text)} if text.strip():
                return self.known.once(
                    (unit, "thinking", text), Thinking(deeper(here, "thinking"), text)
                )
            case {"type": "thinking" | "redacted_thinking"}:
                return Skipped(here, "hidden reasoning")
            case {
                "type": "tool_use" | "server_tool_use" | "mcp_tool_use",
                "id": str(call),
                "name": str(tool),
            }:
                self.known.tools[call], self.known.messages[call] = tool, ident
                return self.known.once(("call", call), _call(line, here, block, call, tool))
            case {"type": str(), "tool_use_id": str(call)}:
                origin = held_at(here, block, "content")
                output = shown(block)
                return self.known.once(
                    ("result", call), ToolResult(origin, call, output, "ok", "server-tool-result")
                )
            case {"type": "fallback"}:
                return Skipped(here, "model fallback")
        return Skipped(here, f"unknown block{named(kind)}")

    def _synthetic(self, line: Line, here: Origin, message: Json) -> Event:
        """What the client wrote in the model's name."""
        text = text_of(message.get("content"))
        if not _is_error(line.body):
            return Skipped(here, "the client's placeholder")
        if not line.lane:
            self.known.answers.add(text.strip())  # the end of the run says it again
        where = held_at(here, message, "content")
        is_limit = line.body.get("error") == "rate_limit" or tells_a_limit(text)
        return Notice(where, "limit" if is_limit else "model error", text)


def _is_error(body: Json) -> bool:
    """Whether the client tells an error of the API; `stream-json` names it otherwise (2.1.3xx)."""
    return body.get("isApiErrorMessage") is True or body.get("is_api_error_message") is True


def _call(line: Line, here: Origin, block: Json, call: str, tool: str) -> ToolCall:
    """A call as it was sent; the client may have put other arguments in their place (2.1.267)."""
    name, kept = f"{here.evidence.pointer}/name", block.get("input")
    match line.body:
        case {"wireToolInputs": {**all_sent}} if not line.prefix:
            sent = all_sent.get(call)
            if isinstance(sent, dict) and sent != kept:
                where = at(here, pointer("wireToolInputs", call))
                return ToolCall(where, call, tool, sent, name, Meant(tool, kept))
    return ToolCall(
        held_at(here, block, "input"), call, tool, kept, "" if "input" in block else name
    )


def _usage(usage: Json, model: Any) -> Json:
    counted = {key: usage[key] for key in USAGE if isinstance(usage.get(key), int)}
    return {"model": model if isinstance(model, str) else None, **counted}
