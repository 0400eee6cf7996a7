"""The records of a run, one by one."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from forsy_retrace.calls import Calls
from forsy_retrace.dialects import arguments
from forsy_retrace.events import (
    Event,
    Fact,
    Message,
    Notice,
    Origin,
    SessionStart,
    Skipped,
    Thinking,
    ToolCall,
)
from forsy_retrace.sdk import counts, named, pointer, tells_a_limit, when, words
from forsy_retrace.source import Record

from .results import Body, Json, meant, result

FACTS = (("cwd", "cwd"), ("model", "model"), ("permissionMode", "permission_mode"))
USAGE = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "cacheReadTokens": "cache_read_input_tokens",
    "cacheWriteTokens": "cache_creation_input_tokens",
}
PIECE = "a piece of what is told whole"


class Reader:
    """Reads records one by one; what comes in pieces is told when something else comes."""

    def __init__(self) -> None:
        self.session = ""
        self.facts: dict[str, str] = {}
        self.model: Fact | None = None
        """The model that the head of the run names."""
        self.messages: set[str] = set()
        self.calls = Calls()
        self.thought: list[tuple[str, Origin]] = []
        self.words: list[tuple[str, Origin]] = []
        self.said: list[str] = []
        """What the agent said since the user's last words."""

    def read(self, record: Record) -> Iterator[Event]:
        """The events of a record, at the latest with those of a later one."""
        value = record.value if isinstance(record.value, dict) else {}
        message = words(value.get("model_call_id")) or None
        here = Origin(record.here, when(value.get("timestamp_ms")), "system", message)
        yield from self._by(message)
        if record.problem:
            yield from self.end()
            yield Skipped(here, record.problem)
            return
        match value:
            case {"type": "thinking", "subtype": "delta", "text": str(text)}:
                yield from self._spoken()
                self.thought.append((text, here.below("/text").by("agent")))
                return
            case {
                "type": "assistant",
                "message": {"content": [{"type": "text", "text": str(text)}]},
            }:
                yield from self._thought()
                place = here.below("/message/content/0/text").by("agent")
                yield from self._says(text, place, value)
                return
        yield from self.end()
        match value:
            case {"type": "system", "subtype": "init", "session_id": str(session)}:
                yield from self._begin(session, value, here)
            case {"type": "user", "message": {"content": content}}:
                self.said = []
                yield from _asked(content, here)
            case {"type": "thinking"}:
                yield Skipped(here, "end of a thought")
            case {"type": "tool_call", "subtype": str(kind), "tool_call": dict(told)}:
                yield from self._tool(kind, value, told, here)
            case {"type": "result"}:
                yield from self._result(value, here)
            case {"type": "error", "message": str(text)}:
                yield _failed(here.below("/message"), text)
            case {"type": kind}:
                yield Skipped(here, f"unknown record type{named(kind)}")
            case _:
                yield Skipped(here, "not a record of a run")

    def _by(self, message: str | None) -> Iterator[Event]:
        """The run's model, for a message that begins."""
        if message and self.model is not None and message not in self.messages:
            self.messages.add(message)
            yield replace(self.model, origin=replace(self.model.origin, message=message))

    def end(self) -> Iterator[Event]:
        """What is still in pieces."""
        yield from self._thought()
        yield from self._spoken()

    def _begin(self, session: str, value: Json, here: Origin) -> Iterator[Event]:
        if session != self.session:
            self.session, self.facts, self.model = session, {}, None
            yield SessionStart(here.below("/session_id"), session)
        for key, name in FACTS:
            text = words(value.get(key))
            if text and self.facts.get(key) != text:
                self.facts[key] = text
                fact = Fact(here.below(pointer(key)), name, text)
                self.model = fact if name == "model" else self.model
                yield fact
        yield Skipped(here, "head of a run")

    def _thought(self) -> Iterator[Event]:
        pieces, self.thought = self.thought, []
        yield from _joined(pieces, Thinking)

    def _says(self, text: str, place: Origin, value: Json) -> Iterator[Event]:
        """Words: a piece, what the pieces come to, or, without a time, all at once."""
        is_piece = place.at is not None and "model_call_id" not in value
        if self.words and text == "".join(piece for piece, _ in self.words):
            yield from (Skipped(where, PIECE) for _, where in self.words)
            self.words = [(text, place)]
        elif is_piece:
            self.words.append((text, place))
        else:
            yield from self._spoken()
            if text in (*self.said[-1:], "".join(self.said)):
                yield Skipped(place, "repeated words")
            else:
                self.words = [(text, place)]
                yield from self._spoken()

    def _spoken(self) -> Iterator[Event]:
        pieces, self.words = self.words, []
        if pieces:
            self.said.append("".join(text for text, _ in pieces))
        yield from _joined(pieces, _message)

    def _tool(self, kind: str, value: Json, told: Json, here: Origin) -> Iterator[Event]:
        body = _body(told)
        if body is None:
            yield Skipped(here, "a call that names no tool")
            return
        ident = words(value.get("call_id"), told.get("toolCallId"))
        place = here.below(body.base)
        if kind == "started":
            yield self._call(body, ident, place)
        elif kind == "completed":
            call = self.calls.answer(ident or body.key)
            if (call is None or call == ident) and ident not in self.calls.issued:
                yield self._call(body, ident, replace(place, at=None))
                call = call or self.calls.answer(ident or body.key)
            if call is None:
                yield Skipped(here, "repeated result")
            else:
                yield result(body, call, place.by("agent"))
        else:
            yield Skipped(here, f"state of a call{named(kind)}")

    def _call(self, body: Body, ident: str, place: Origin) -> Event:
        call = self.calls.issue(ident or body.key, place.evidence.start)
        assert call is not None  # no two records begin at one byte
        where = place.by("agent").below(body.path)
        return ToolCall(where, call, body.tool, body.sent, body.named, meant(body))

    def _result(self, value: Json, here: Origin) -> Iterator[Event]:
        """The end of a run: what it cost, and the last words once more."""
        if usage := counts(value.get("usage"), USAGE):
            yield Fact(here.below("/usage"), "usage", usage)
        text, place = words(value.get("result")), here.below("/result")
        if value.get("is_error") is True:
            yield _failed(place, text)
        elif text and not any(said.strip() in text for said in self.said if said.strip()):
            yield Message(place.by("agent"), "agent", text)
        else:
            yield Skipped(here, "end of the run")


def _failed(place: Origin, text: str) -> Event:
    return Notice(place, "limit" if tells_a_limit(text) else "model error", text)


def _asked(content: Any, here: Origin) -> Iterator[Event]:
    said = False
    for index, block in enumerate(content if isinstance(content, list) else ()):
        match block:
            case {"type": "text", "text": str(text)} if text.strip():
                place = here.below(pointer("message", "content", index, "text"))
                yield Message(place.by("user"), "user", text)
                said = True
    if not said:
        yield Skipped(here, "empty message")


def _message(place: Origin, text: str) -> Message:
    return Message(place, "agent", text)


def _joined(pieces: list[tuple[str, Origin]], kind: Any) -> Iterator[Event]:
    """One event of all pieces; blank ones tell nothing."""
    text = "".join(piece for piece, _ in pieces)
    if not text.strip():
        yield from (Skipped(place, "empty message") for _, place in pieces)
        return
    first, *rest = [place for _, place in pieces]
    places = (first.evidence, *(place.evidence for place in rest)) if rest else ()
    yield kind(replace(first, pieces=places), text)
    yield from (Skipped(place, PIECE) for place in rest)


def _body(told: Json) -> Body | None:
    """The one call of a record, under the key that names its tool."""
    for key, held in told.items():
        if not isinstance(held, dict):
            continue
        base = pointer("tool_call", key)
        match held:
            case {"name": str(name)} if key == "function":
                sent = arguments(held.get("arguments"))
                return Body(key, name, sent, base, "/arguments", f"{base}/name", held.get("result"))
            case _ if key.endswith("ToolCall"):
                sent = held.get("args")
                tool, where = key.removesuffix("ToolCall"), None
                match sent:
                    case {"toolName": str(name)} if tool == "mcp" and name:
                        tool, where = name, f"{base}/args/toolName"
                path = "/args" if "args" in held else ""
                return Body(key, tool, sent, base, path, where, held.get("result"))
    return None
