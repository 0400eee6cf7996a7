"""One conversation: its messages as events, and what a request says beside them."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from msgspec.structs import replace

from forsy_retrace.calls import Calls
from forsy_retrace.dialects import texts, typed
from forsy_retrace.events import (
    Event,
    Fact,
    Meant,
    Message,
    Notice,
    Origin,
    SessionStart,
    Skipped,
    Thinking,
    ToolCall,
)
from forsy_retrace.sdk import counts, named, pointer, words
from forsy_retrace.source import Record

from .._facts import Facts
from .._reminders import is_reminder
from .found import Exchange, Json
from .results import is_result, result
from .streams import Stream, Where, placed

USED = ("tool_use", "server_tool_use", "mcp_tool_use")
OTHERS = ("container_upload", "fallback", "mcp_tool_listing")
"""Blocks of an answer that say nothing of the work."""
LIMITS = ("max_tokens", "model_context_window_exceeded")
"""Why an answer ends, where the model did not end it."""
REFUSED = "refusal"
REMINDER = "injected: reminder"
"""What Claude Code and programs like it write in the user's place."""
USAGE = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_input_tokens": "cache_read_input_tokens",
    "cache_creation_input_tokens": "cache_creation_input_tokens",
}


class Talk:
    """Tells one conversation; `events` grows with each record that belongs to it."""

    def __init__(self, start: SessionStart) -> None:
        self.events: list[Event] = [start]
        self.calls = Calls()
        self.names: dict[str, str] = {}
        """The last call of each id."""
        self.facts = Facts()
        self.count = 0

    def head(self, record: Record, one: Exchange) -> None:
        """What a request says of the model, its instructions and its tools."""
        here = Origin(record.here.at(one.head_at), None, "agent")
        self.events += self.facts.told(here.below("/model"), "model", words(one.head.get("model")))
        parts = list(texts(one.head.get("system")))
        prompt = "\n\n".join(text for _, text in parts)
        place = here.below("/system").joining([path for path, _ in parts])
        self.events += self.facts.told(place.by("system"), "system_prompt", prompt)
        names = list(_names(one.head.get("tools")))
        self.events += self.facts.told(here.below("/tools").by("system"), "tools", names)

    def tell(self, record: Record, message: Json, path: str, at: str | None) -> None:
        """A message of either role that stands at `path`."""
        self.count += 1
        here = Origin(record.here.at(path), at, "agent")
        if message["role"] == "assistant":
            self._answer(message, here, words(message.get("id")) or f"answer {self.count}")
        else:
            self._given(message, here)

    def reply(self, record: Record, one: Exchange) -> None:
        """An answer as the API gave it, or the error in its place."""
        told, self.events = self.events, []
        self._reply(record, one)
        if one.stream is not None:
            where = partial(one.where, record.here)
            self.events = [placed(e, one.reply_at, one.stream, where) for e in self.events]
            self._of_stream(record, one.stream, where)
        told += self.events
        self.events = told

    def _reply(self, record: Record, one: Exchange) -> None:
        reply = one.reply or {}
        self.count += 1
        here = Origin(record.here.at(one.reply_at), one.at, "agent")
        match reply.get("error"):
            case {"message": str(text)}:
                self.events.append(Notice(here.below("/error/message"), "model error", text))
                return
        ident = words(reply.get("id")) or f"answer {self.count}"
        self.events += self.facts.told(here.below("/model"), "model", words(reply.get("model")))
        self._answer(reply, here, ident)
        here = replace(here, message=ident)
        if used := counts(reply.get("usage"), USAGE):
            self.events.append(Fact(here.below("/usage"), "usage", used))
        match reply.get("stop_reason"):
            case str(why) if why in LIMITS:
                self.events.append(Notice(here.below("/stop_reason").by("system"), "limit", why))
            case str(why) if why == REFUSED:
                place = here.below("/stop_reason").by("system")
                self.events.append(Notice(place, "model error", why))

    def _of_stream(self, record: Record, stream: Stream, where: Where) -> None:
        """What the events of a stream tell beside the message."""
        ident = words(stream.reply.get("id")) or f"answer {self.count}"
        for held, ((number, path),) in stream.used:
            if used := counts(held, USAGE):
                here = Origin(where(number, path), None, "agent", ident)
                self.events.append(Fact(here, "usage", used))
        if stream.is_cut:
            self.events.append(Notice(Origin(where(0, ""), None, "system"), "cut"))

    def _given(self, message: Json, here: Origin) -> None:
        """What stands in the user's place: results of calls, reminders of the client, and words."""
        content = message["content"]
        blocks = content if isinstance(content, list) else []
        for index, block in enumerate(blocks):
            place = here.below(pointer("content", index))
            if is_result(block):
                self.events.append(result(self.calls, block, place))
            elif _reminds(block):
                self.events.append(Skipped(place.by("system"), REMINDER))
        if _reminds({"type": "text", "text": content}):
            self.events.append(Skipped(here.by("system"), REMINDER))
        elif not blocks or not all(map(_is_no_word, blocks)):
            held = [{} if _is_no_word(one) else one for one in blocks] if blocks else content
            event = typed(held, here.below("/content"))
            self.events.append(event or Skipped(here.by("user"), "empty message"))

    def _answer(self, message: Json, here: Origin, ident: str) -> None:
        here = replace(here, message=ident)
        content = message["content"]
        if isinstance(content, str):
            place = here.below("/content")
            is_said = bool(content.strip())
            self.events.append(
                Message(place, "agent", content) if is_said else Skipped(place, "blank text")
            )
            return
        told: list[Event] = []
        for index, (number, block) in enumerate(zip(_rounds(content), content, strict=True)):
            place = here.below(pointer("content", index))
            place = replace(place, message=f"{ident}#{number}" if number > 1 else ident)
            told.append(self._block(block, place))
        self.events += told or [Skipped(here, "empty message")]

    def _block(self, block: Any, here: Origin) -> Event:
        match block:
            case {"type": "text", "text": str(text)} if text.strip():
                return Message(here.below("/text"), "agent", text)
            case {"type": "text"}:
                return Skipped(here, "blank text")
            case {"type": "thinking", "thinking": str(text)} if text.strip():
                return Thinking(here.below("/thinking"), text)
            case {"type": "thinking" | "redacted_thinking"}:
                return Skipped(here, "hidden reasoning")
            case {"type": str(kind), "name": str(tool)} if kind in USED:
                return self._call(block, here, tool)
            case _ if is_result(block):
                return result(self.calls, block, here)
            case {"type": "compaction"}:
                return Notice(here.by("system"), "compacted", words(block.get("content")))
            case {"type": kind} if kind in OTHERS:
                return Skipped(here, f"no part of the work{named(kind)}")
            case {"type": kind}:
                return Skipped(here, f"unknown content block{named(kind)}")
        return Skipped(here, "not a block")

    def _call(self, block: Json, here: Origin, tool: str) -> Event:
        sent = block.get("input")
        ident = words(block.get("id"))
        place = here.below("/input" if "input" in block else "")
        call = self.calls.issue(ident, tool, sent)
        if call is None:
            return Skipped(place, "repeated history")
        self.names[ident] = call
        server = words(block.get("server_name"))
        meant = Meant(f"mcp__{server}__{tool}", sent) if server else None
        named = here.below("/name").evidence.pointer
        return ToolCall(place, call, tool, sent, named, meant, made_by=self._maker(block))

    def _maker(self, block: Json) -> str:
        """The call whose code made this one."""
        match block.get("caller"):
            case {"tool_id": str(ident)}:
                return self.names.get(ident, "")
        return ""


def _rounds(blocks: list[Any]) -> Iterator[int]:
    """For each block, how often the model had answered by then: behind results it does so anew."""
    count, before = 1, False
    for block in blocks:
        count += before and not is_result(block)
        before = is_result(block)
        yield count


def _reminds(block: Any) -> bool:
    """A text that is the client's own alone."""
    match block:
        case {"type": "text", "text": str(text)}:
            return is_reminder(text)
    return False


def _is_no_word(block: Any) -> bool:
    """A block in the user's place that nobody said; the others keep their places."""
    return is_result(block) or _reminds(block)


def _names(tools: Any) -> Iterator[str]:
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict) and words(tool.get("name")):
            yield tool["name"]
