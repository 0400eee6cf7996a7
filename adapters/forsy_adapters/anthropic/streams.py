"""Replies as their server sent them: a message in events, put together.

Programs keep such a stream as a text of `data:` lines, or as a file of them. What an event has
whole is copied from there; a text or input in pieces names each, in order (`types/raw_*_event`).
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from forsy_retrace.events import Event, ToolCall, ToolResult
from forsy_retrace.sdk import parsed, pointer, streamed, words
from forsy_retrace.source import Evidence

Json = dict[str, Any]
Places = tuple[tuple[int, str], ...]
"""Events by their number, and the place in each."""
Where = Callable[[int, str], Evidence]

EVENTS = (
    *("message_delta", "message_stop", "ping", "error"),
    *("content_block_start", "content_block_delta", "content_block_stop"),
)
DELTAS = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
"""Pieces of a block that are joined, and the field that holds them."""
INPUT = "input_json_delta"


class Stream(NamedTuple):
    """A reply that was put together, and where each part of it stands."""

    reply: Json
    places: dict[str, Places]
    """By the pointer that the part has in the reply."""
    used: tuple[tuple[Json, Places], ...]
    """Tokens, as they were counted by then."""
    is_cut: bool


def begins(value: Any) -> bool:
    """The first event of such a stream."""
    match value:
        case {"type": "message_start", "message": {"role": "assistant"}}:
            return True
    return False


def goes_on(value: Any) -> bool:
    """Another event of one that began."""
    match value:
        case {"type": str(kind)}:
            return kind in EVENTS
    return False


def is_stream(text: Any) -> bool:
    """Whether a text is a stream of this API."""
    return isinstance(text, str) and any(map(begins, streamed(text)[:5]))


def assembled(events: Sequence[Json]) -> Stream:
    """The reply that the events come to."""
    made = _Made()
    for at, event in enumerate(events):
        made.take(at, event)
    return made.whole()


class _Made:
    """Takes events in order."""

    def __init__(self) -> None:
        self.reply: Json = {"type": "message", "role": "assistant", "content": []}
        self.places: dict[str, Places] = {}
        self.blocks: dict[int, int] = {}
        """The place of each block in the reply, by the number that its events name."""
        self.pieces: dict[tuple[int, str], list[tuple[int, str, str]]] = {}
        self.used: list[tuple[Json, Places]] = []
        self.is_cut = True

    def take(self, at: int, event: Json) -> None:
        """One event; none counts behind an error, which stands in place of the reply."""
        if "content" not in self.reply:
            return
        match event:
            case {"type": "message_start", "message": dict(message)}:
                for key in ("id", "model"):
                    self._set(key, message.get(key), ((at, pointer("message", key)),))
                self._use(message.get("usage"), ((at, "/message/usage"),))
            case {"type": "content_block_start", "index": int(number), "content_block": dict(one)}:
                self.blocks[number] = len(self.reply["content"])
                self.places[pointer("content", self.blocks[number])] = ((at, "/content_block"),)
                self.reply["content"].append(dict(one))
            case {"type": "content_block_delta", "index": int(number), "delta": dict(delta)}:
                kind = words(delta.get("type"))
                field = DELTAS.get(kind, "")
                if number in self.blocks and isinstance(delta.get(field), str):
                    held = self.pieces.setdefault((self.blocks[number], kind), [])
                    held.append((at, pointer("delta", field), delta[field]))
            case {"type": "message_delta", "delta": dict(delta)}:
                place = ((at, "/delta/stop_reason"),)
                self._set("stop_reason", delta.get("stop_reason"), place)
                self._use(event.get("usage"), ((at, "/usage"),))
            case {"type": "message_stop"}:
                self.is_cut = False
            case {"type": "error", "error": {"message": str()} as error}:
                self.reply, self.is_cut = {"type": "error", "error": error}, False
                self.places = {"/error": ((at, "/error"),)}

    def whole(self) -> Stream:
        """All of it."""
        for (block, kind), held in self.pieces.items() if "content" in self.reply else ():
            text = "".join(text for _, _, text in held)
            key = "input" if kind == INPUT else DELTAS[kind]
            if text:
                value = parsed(text) if kind == INPUT else text
                self.reply["content"][block][key] = text if value is None else value
                place = tuple((at, path) for at, path, text in held if text)
                self.places[pointer("content", block, key)] = place
        return Stream(self.reply, self.places, tuple(self.used), self.is_cut)

    def _set(self, key: str, value: Any, place: Places) -> None:
        if value is not None:
            self.reply[key] = value
            self.places[pointer(key)] = place

    def _use(self, value: Any, place: Places) -> None:
        if isinstance(value, dict):
            self.used.append((value, place))


def placed(event: Event, base: str, stream: Stream, where: Where) -> Event:
    """An event of a reply that was put together at `base`, by the places that its parts have."""

    def at(path: str) -> tuple[Evidence, ...]:
        held, rest = path.removeprefix(base), ""
        while held and held not in stream.places:
            held, _, last = held.rpartition("/")
            rest = f"/{last}{rest}"
        return tuple(where(number, sub + rest) for number, sub in stream.places.get(held, ()))

    found = at(event.origin.evidence.pointer) or (where(0, ""),)
    pieces = found if len(found) > 1 else ()
    event = replace(event, origin=replace(event.origin, evidence=found[0], pieces=pieces))
    if isinstance(event, ToolCall) and event.named:
        (named,) = at(event.named)
        is_here = named.record == found[0].record
        event = replace(event, named=named.pointer if is_here else None)
    if isinstance(event, ToolResult) and event.basis:
        event = replace(event, basis=at(event.basis)[0].pointer)
    return event
