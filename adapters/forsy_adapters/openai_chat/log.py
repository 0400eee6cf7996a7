"""A log as a whole: what its records are, and which of them belong together."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Event
from forsy_retrace.source import Record, Source

from .answers import streamed
from .assistants import objects, threads
from .chat import Chat, is_message
from .items import Items, is_item
from .place import Json, Place, Told, text_in
from .sessions import Sessions
from .spans import is_span, traces
from .streams import is_chunk, is_stream_event
from .talks import Talk, talks

PIECE = "a piece of a streamed reply"
STRANGER = "no conversation in it"
POLLED = "repeated history"


class Log:
    """Reads records in order; what one reply or one list was cut into is put together again."""

    def __init__(self) -> None:
        self.sessions = Sessions()
        self.lone: dict[str, list[tuple[Place, Json]]] = {}
        self.stream: list[tuple[Place, Json]] = []
        self.spans: list[tuple[Place, Json]] = []
        self.threads: list[tuple[Place, Json]] = []
        self.reasons: dict[tuple[str, int, int], tuple[Record, str]] = {}

    def take(self, record: Record) -> None:
        here = Place(record)
        value: Any = record.value
        self.reasons[record.here.record] = (record, record.problem or STRANGER)
        if record.problem:
            return
        if is_chunk(value) or is_stream_event(value):
            if self.stream and _begins(value, self.stream):
                self._end_stream()
            self.stream.append((here, value))
            self.reasons[record.here.record] = (record, PIECE)
            return
        if self.stream and not _is_error(value):
            self._end_stream()
        if self.stream:
            self.stream.append((here, value))
        elif is_span(value):
            self.spans.append((here, value))
            self.reasons[record.here.record] = (record, POLLED)
        elif found := list(objects(value, here)):
            self.threads += found
            self.reasons[record.here.record] = (record, POLLED)
        elif isinstance(value, dict) and _is_lone(value):
            self.lone.setdefault(_of(value), []).append((here, value))
        else:
            for talk in talks(value, here):
                self.sessions.add(talk, record)

    def events(self) -> Iterator[Event]:
        """Everything that was told, and for each record that told nothing why."""
        if self.stream:
            self._end_stream()
        for ident, held in self.lone.items():
            self.sessions.add(Talk(list(_together(held)), ident), held[0][0].record)
        for held, read_all in ((self.spans, traces), (self.threads, threads)):
            for talk in read_all(held):
                self.sessions.add(talk)
        told = {
            one.event.origin.evidence.record
            for session in self.sessions.all
            for one in session.told
        }
        for place, (record, reason) in self.reasons.items():
            if place not in told:
                self.sessions.skip(record, reason)
        yield from self.sessions.events()

    def _end_stream(self) -> None:
        held, self.stream = self.stream, []
        told, ident = streamed(held)
        if told:
            self.sessions.add(Talk(told, response=ident), held[0][0].record)
        used = {one.event.origin.evidence.record for one in told}
        for here, _ in held:
            if here.record.here.record not in used:
                self.sessions.skip(here.record, PIECE)


def read(source: Source) -> Iterator[Event]:
    """The events of a log, session by session."""
    log = Log()
    for record in source.records():
        log.take(record)
    yield from log.events()


def _begins(value: Json, stream: list[tuple[Place, Json]]) -> bool:
    """Whether a chunk is the first of another reply."""
    if value.get("type") == "response.created":
        return True
    ident, last = text_in(value, "id"), text_in(stream[-1][1], "id")
    return is_chunk(value) != is_chunk(stream[-1][1]) or (ident != last and bool(ident and last))


def _is_error(value: Any) -> bool:
    return isinstance(value, dict) and bool(value.get("error")) and not _is_lone(value)


def _is_lone(value: Json) -> bool:
    """A message or an item that is a record of its own; Kimi adds roles of its own."""
    match value:
        case {"messages": list()} | {"request": _}:
            return False
        case {"role": "_checkpoint" | "_usage" | "_system_prompt"}:
            return True
    return is_message(value) or is_item(value)


def _of(value: Json) -> str:
    return text_in(value, "session_id", "conversation_id", "thread_id")


def _together(held: list[tuple[Place, Json]]) -> Iterator[Told]:
    """Messages that are records, in order."""
    items = Items()
    chat: Chat = items.chat
    for here, value in held:
        yield from items.read(value, here) if is_item(value) else chat.read(value, here)
