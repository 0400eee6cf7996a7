"""Streams: chat chunks merged by choice and call, and the events of a streamed response.

A value that stands whole in one chunk is copied from there. One that is spread over several names
each piece, in order: it is their texts joined, with nothing between.
"""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.dialects import arguments
from forsy_retrace.events import Origin, Skipped, Thinking, ToolCall
from forsy_retrace.sdk import words

from .ends import cut, finish
from .place import Json, Place, Told, text_in
from .speech import REASONING, beside, choice_branch, said

Piece = tuple[Place, str]
ENDS = ("response.completed", "response.failed", "response.incomplete")


def is_chunk(value: Any) -> bool:
    """A chunk of a chat stream, also where a gateway left out `object`."""
    match value:
        case {"object": "chat.completion.chunk", "choices": list()}:
            return True
        case {"choices": [{"delta": dict()}, *_]}:
            return True
    return False


def is_stream_event(value: Any) -> bool:
    """An event of a streamed response."""
    match value:
        case {"type": str(kind)} if kind.startswith("response."):
            return any(
                key in value
                for key in ("response", "item", "item_id", "delta", "part", "output_index")
            )
    return False


class Chunks:
    """One streamed reply, put together from its chunks."""

    def __init__(self) -> None:
        self.chunks: list[tuple[Place, Json]] = []
        self.first: Choice | None = None

    def add(self, chunk: Json, here: Place) -> None:
        self.chunks.append((here, chunk))

    def told(self) -> Iterator[Told]:
        """For each choice its reasoning, its words and its calls."""
        choices: dict[int, Choice] = {}
        for here, chunk in self.chunks:
            listed = chunk.get("choices")
            for index, choice in enumerate(listed if isinstance(listed, list) else ()):
                if not isinstance(choice, dict) or not isinstance(choice.get("delta"), dict):
                    continue
                number = choice.get("index")
                number = number if isinstance(number, int) else 0
                where = here.deeper("choices", index)
                branch = choice_branch(number, here)
                found = choices.setdefault(number, Choice(where._replace(branch=branch)))
                found.take(choice["delta"], where.deeper("delta"))
                if text_in(choice, "finish_reason"):
                    found.end = (where, choice)
        for number, one in sorted(choices.items(), reverse=True):
            if number:
                yield beside(one.here)
            yield from one.told(one.here.branch)
            if number and one.end:
                yield from finish(one.end[1], one.end[0]._replace(branch=one.here.branch))
        self.first = choices.get(0)

    def end(self) -> Iterator[Told]:
        """How the first choice ended; that it was cut, where no chunk says that it had ended."""
        here, last = self.chunks[-1]
        end = self.first.end if self.first else None
        if end:
            yield from finish(end[1], end[0])
        elif last.get("choices") or not isinstance(last.get("usage"), dict):
            yield cut(here)


class Choice:
    """The pieces of one choice of a stream."""

    def __init__(self, here: Place) -> None:
        self.here = here
        self.thoughts: list[Piece] = []
        self.words: list[Piece] = []
        self.refusal: list[Piece] = []
        self.calls: dict[Any, Json] = {}
        self.end: tuple[Place, Json] | None = None
        """The choice as its last chunk has it."""

    def take(self, delta: Json, here: Place) -> None:
        key = next((k for k in REASONING if isinstance(delta.get(k), str) and delta[k]), "")
        if key:
            self.thoughts.append((here.deeper(key), delta[key]))
        for key, held in (("content", self.words), ("refusal", self.refusal)):
            value = delta.get(key)
            if isinstance(value, str) and value:
                held.append((here.deeper(key), value))
        listed = delta.get("tool_calls")
        for place, call in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(call, dict):
                self._call(call, here.deeper("tool_calls", place))
        if isinstance(delta.get("function_call"), dict):
            legacy = {"index": "legacy", "function": delta["function_call"]}
            self._call(legacy, here.deeper("function_call"))

    def _call(self, call: Json, here: Place) -> None:
        number = call.get("index")
        if not isinstance(number, (int, str)):
            number = len(self.calls) if text_in(call, "id") else max(len(self.calls) - 1, 0)
        held = self.calls.setdefault(number, {"id": "", "name": "", "pieces": [], "here": here})
        held["id"] = held["id"] or text_in(call, "id")
        function = call.get("function")
        if isinstance(function, dict):
            held["name"] = held["name"] or text_in(function, "name")
            sent = function.get("arguments")
            if isinstance(sent, str) and sent:
                legacy = number == "legacy"
                path = ("arguments",) if legacy else ("function", "arguments")
                held["pieces"].append((here.deeper(*path), sent))

    def told(self, branch: str) -> Iterator[Told]:
        text = "".join(text for _, text in self.thoughts)
        if text.strip():
            yield Told(None, Thinking(_origin(self.thoughts, branch), text))
        for held in (self.words, self.refusal):
            text = "".join(text for _, text in held)
            if text.strip():
                told = said(text, _origin(held, branch))
                known = not branch and not any(call["id"] for call in self.calls.values())
                yield told if known else told._replace(key=None)
        for call in self.calls.values():
            yield _called(call, branch)


def _called(call: Json, branch: str) -> Told:
    pieces: list[Piece] = call["pieces"]
    if not call["name"]:
        return Told(None, Skipped(call["here"].origin(), "a call without a name"))
    sent = "".join(text for _, text in pieces)
    origin = _origin(pieces or [(call["here"], "")], branch)
    value = arguments(sent) if pieces else None
    event = ToolCall(origin, call["id"], call["name"], value, None)
    key = ("call", call["id"], call["name"], "" if call["id"] else sent)
    return Told(None if branch else key, event)


def _origin(pieces: list[Piece], branch: str) -> Origin:
    origin = pieces[0][0]._replace(branch=branch).origin()
    if len(pieces) < 2:
        return origin
    places = tuple(place.origin().evidence for place, _ in pieces)
    return Origin(origin.evidence, origin.at, origin.actor, origin.message, branch, places)


def whole_of(events: list[tuple[Place, Json]]) -> tuple[Place, Json] | None:
    """The event of a response's stream that carries all of it; None where the stream was cut."""
    ends = [(here, one) for here, one in events if one.get("type") in ENDS]
    for here, one in reversed(ends):
        match one.get("response"):
            case {"output": list(output)} if output or one.get("type") != ENDS[0]:
                return here, one
    return None


def items_of(events: list[tuple[Place, Json]]) -> Iterator[tuple[Place, Any]]:
    """The finished items of a cut stream, and what had come of the text that was under way."""
    deltas: dict[str, list[Piece]] = {}
    for here, one in events:
        match one:
            case {"type": "response.output_item.done", "item": dict(item)}:
                deltas.pop(words(item.get("id")), None)
                yield here.deeper("item"), item
            case {"type": "response.output_text.delta", "delta": str(text)} if text:
                pieces = deltas.setdefault(words(one.get("item_id")), [])
                pieces.append((here.deeper("delta"), text))
    for held in deltas.values():
        yield held[0][0], held


def cut_words(pieces: list[Piece]) -> Told:
    """Words that had come when a stream was cut."""
    text = "".join(text for _, text in pieces)
    if not text.strip():
        return Told(None, Skipped(pieces[0][0].origin(), "blank text"))
    return said(text, _origin(pieces, ""))
