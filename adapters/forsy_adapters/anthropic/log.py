"""The conversations of a log: what goes on from what, so that nothing is told twice."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Event, Origin, SessionStart, Skipped
from forsy_retrace.sdk import compact, pointer, words
from forsy_retrace.source import Record, Source

from .found import Exchange, exchanges, is_message
from .streams import assembled, begins, goes_on
from .talk import Talk

AGAIN = "history, sent again"
PIECE = "a piece of a streamed reply"
IDS = ("session_id", "conversation_id", "thread_id", "chat_id", "custom_id")
"""What programs call the id of a conversation, and batches that of a request."""


def told(source: Source) -> Iterator[Event]:
    """The events of each conversation; what belongs to none stands before the first."""
    log = _Log()
    for record in source.records():
        log.take(record)
    log.end_stream()
    yield from log.beside
    for talk in log.talks:
        yield from talk.events


class _Log:
    """Takes records, and gives each message to its conversation."""

    def __init__(self) -> None:
        self.talks: list[Talk] = []
        self.beside: list[Event] = []
        self.bare: Talk | None = None
        """The conversation of records that are a message each."""
        self.stream: list[Record] = []
        """The events of a reply that are a record each."""
        self.ways: dict[tuple[int, str], int] = {}
        """Every message behind all that came before it, as the nodes of a tree, whose root is 0."""
        self.known: dict[int, list[Talk]] = {}
        """Conversations by the last message that is told of them."""

    def take(self, record: Record) -> None:
        here = Origin(record.here, None, "system")
        if begins(record.value) or (self.stream and goes_on(record.value)):
            self._event(record)
        elif record.problem:
            self.beside.append(Skipped(here, record.problem))
        elif is_message(record.value) and record.value.get("type") != "message":
            self._message(record)
        elif found := list(exchanges(record.value)):
            for one in found:
                self._exchange(record, one)
        else:
            self.beside.append(Skipped(here, "no message, request or reply"))

    def _message(self, record: Record) -> None:
        """A record that is a message itself."""
        if self.bare is None:
            self.bare = self._new(record, "")
        self.bare.tell(record, record.value, "", None)

    def _event(self, record: Record) -> None:
        """A record that is an event of a streamed reply."""
        if begins(record.value):
            self.end_stream()
        self.stream.append(record)

    def end_stream(self) -> None:
        """The reply whose events came, as one."""
        held, self.stream = self.stream, []
        if not held:
            return
        before = len(self.bare.events) if self.bare else 0
        stream = assembled([record.value for record in held])
        parts = tuple(record.here for record in held)
        self._exchange(held[0], Exchange([], "", stream.reply, "", {}, "", None, stream, parts))
        talk = self.bare or self.talks[-1]
        told = {event.origin.evidence.record for event in talk.events[before:]}
        for here in parts:
            if here.record not in told:
                talk.events.append(Skipped(Origin(here, None, "system"), PIECE))

    def _exchange(self, record: Record, one: Exchange) -> None:
        if not one.given:
            talk = self.bare or self._new(record, one.reply_at)
            talk.head(record, one)
            talk.reply(record, one)
            return
        way = self._way(one.given)
        talk, count = self._continued(way) or (self._new(record, one.given_at), 0)
        talk.head(record, one)
        if count:
            place = Origin(record.here.at(one.given_at), None, "system")
            talk.events.append(Skipped(place, AGAIN))
        new = range(count, len(one.given))
        past = max((at for at in new if one.given[at]["role"] == "assistant"), default=-1)
        for at in new:
            time = one.at if at > past else None
            talk.tell(record, one.given[at], one.given_at + pointer(at), time)
        end = way[-1]
        if one.reply is not None:
            talk.reply(record, one)
            end = end if "error" in one.reply else self._behind(end, one.reply)
        self.known.setdefault(end, []).append(talk)

    def _way(self, messages: list[Any]) -> list[int]:
        """The nodes of messages, one behind the other."""
        way, node = [], 0
        for message in messages:
            node = self._behind(node, message)
            way.append(node)
        return way

    def _behind(self, node: int, message: Any) -> int:
        return self.ways.setdefault((node, key_of(message)), len(self.ways) + 1)

    def _continued(self, way: list[int]) -> tuple[Talk, int] | None:
        """The conversation that goes on with these messages, and how many of them were told."""
        for count in range(len(way), 0, -1):
            if waiting := self.known.get(way[count - 1]):
                return waiting.pop(0), count
        return None

    def _new(self, record: Record, path: str) -> Talk:
        key = next((key for key in IDS if words(_object(record.value).get(key))), "")
        ident = record.value[key] if key else ""
        place = record.here.at(pointer(key) if key else path)
        talk = Talk(SessionStart(Origin(place, None, "system"), ident))
        self.talks.append(talk)
        return talk


def _object(value: Any) -> dict[Any, Any]:
    return value if isinstance(value, dict) else {}


def key_of(message: Any) -> str:
    """What tells a message from others, however a client writes it when it sends it again."""
    content = message.get("content")
    blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
    kept = [_key(block) for block in blocks if isinstance(block, dict)]
    return compact([message.get("role"), [one for one in kept if one]])


def _key(block: Any) -> list[Any]:
    match block:
        case {"type": "text", "text": str(text)}:
            return ["text", text.strip()] if text.strip() else []
        case {"type": "thinking" | "redacted_thinking"}:
            return []  # a client may leave them out when it sends an answer again
        case {"type": "tool_result", "tool_use_id": str(call)}:
            return ["result", call]
        case {"type": str(kind), **rest} if words(rest.get("id")):
            return [kind, rest["id"]]
    return [compact({key: held for key, held in block.items() if key != "cache_control"})]
