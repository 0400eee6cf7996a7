"""Turns since 0.32: each names the message that it was asked behind, and the last of its answer."""

from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest
from typing import Any, NamedTuple

from msgspec.structs import replace

from forsy_retrace.events import Event, Fact, Message, Origin, Skipped, Thinking
from forsy_retrace.sdk import named, parsed, words
from forsy_retrace.source import Evidence

from .rows import Rows
from .shapes import Clock, Json, Node, pictures
from .teller import Result, Teller, brought, ended, shown_by

AGAIN = "history, sent again"


class Part(NamedTuple):
    """A part of a message: its row, and what the row's payload holds."""

    row: Node
    payload: Node

    @property
    def kind(self) -> str:
        return self.row.word("type")


class Piece(NamedTuple):
    """A piece of a text: a fragment's, or what stands between fragments."""

    text: str
    place: Evidence
    fragment: Node | None = None

    @property
    def is_words(self) -> bool:
        return self.fragment is None and bool(self.text.strip())


class Said(NamedTuple):
    """A message, with its parts."""

    name: str
    role: str
    parts: Sequence[Part]

    @property
    def is_pictures(self) -> bool:
        """Whether it holds nothing but attachments."""
        return bool(self.parts) and all(part.kind == "attachment" for part in self.parts)


class Thread:
    """Tells the turns of a conversation."""

    def __init__(
        self, rows: Rows, teller: Teller, turns: Sequence[Node], head: Node, *, is_continued: bool
    ) -> None:
        self.rows, self.teller, self.turns, self.head = rows, teller, turns, head
        self.is_continued = is_continued
        """Whether something of the conversation is told already."""
        self.told = set[str]()
        """Messages, by their hashes."""

    def events(self) -> Iterator[Event]:
        """Turn by turn."""
        for turn in self.turns:
            tools = self.rows.linked("turn_tools", turn.get("id"), "tool_id", "tools")
            yield from self.teller.given(turn, tools)
            yield from self._turn(turn)
            yield from ended(turn)
            self.is_continued = True

    def _turn(self, turn: Node) -> Iterator[Event]:
        given, new = turn.get("parent_message_hash"), self._new(turn.get("tip_message_hash"))
        said = [self._said(one) for one in new]
        split = new.index(given) + 1 if given in new else 0
        answers = [at for at, one in enumerate(said[:split]) if one.role == "assistant"]
        past = answers[-1] + 1 if answers else 0
        if past:
            yield from self._history(said[:past])
        yield from self._exchange(said[past:], Clock(turn))

    def _new(self, tip: Any) -> list[str]:
        """The messages up to a turn's last one that were not told yet, oldest first."""
        found = []
        while isinstance(tip, str) and tip not in self.told:
            row = self.rows.one("messages", tip)
            if row is None:
                break
            self.told.add(tip)
            found.append(tip)
            tip = row.get("parent_hash")
        return found[::-1]

    def _said(self, name: str) -> Said:
        row = self.rows.one("messages", name)
        parts = sorted(self.rows.of("parts", name), key=_position)
        return Said(name, row.word("role") if row else "", [_part(one) for one in parts])

    def _history(self, said: Sequence[Said]) -> Iterator[Event]:
        """What a turn was given of earlier ones; no row of this conversation says when it was."""
        if self.is_continued:
            for part in (part for one in said for part in one.parts):
                yield Skipped(Origin(part.row.here, None, "system"), AGAIN)
            return
        if before := self.head.word("forked_from"):
            place = self.head.at("forked_from")
            shared = {"of": before, "records": sum(len(one.parts) for one in said)}
            yield Fact(Origin(place, None, "system"), "shared_prefix", shared)
        yield from self._exchange(said, Clock())

    def _exchange(self, said: Sequence[Said], clock: Clock) -> Iterator[Event]:
        """Messages of both sides."""
        for is_answer, run in groupby(said, key=lambda one: one.role == "assistant"):
            if is_answer:
                for one in run:
                    yield from self._answered(one, clock)
            else:
                yield from self._asked(list(run), clock)

    def _asked(self, said: Sequence[Said], clock: Clock) -> Iterator[Event]:
        """What a model was given: a system prompt, results of calls, a human's words."""
        before: Said | None = None
        for one, after in zip_longest(said, said[1:]):
            if one.role == "tool":
                shown = after.parts if after is not None and after.is_pictures else ()
                yield from self._results(one, shown, clock)
            elif one.is_pictures and before is not None and before.role == "tool":
                for part in one.parts:
                    here = clock.asked(part.row.here, "system")
                    yield Skipped(here, "what tools showed")
            elif one.role == "system":
                yield from self._system(one, clock)
            else:
                yield from self._words(one, clock)
            before = one

    def _results(self, one: Said, shown: Sequence[Part], clock: Clock) -> Iterator[Event]:
        """Results of calls, and what they showed."""
        held = [part for part in one.parts if part.kind == "tool_result"]
        own = [Result(part.payload, self._attached([part]), True) for part in held]
        for result in shown_by(own, self._attached(shown)):
            yield self.teller.result(clock, result)
        for part in one.parts:
            if part.kind != "tool_result":
                yield self._unknown(part, clock)

    def _system(self, one: Said, clock: Clock) -> Iterator[Event]:
        for part in one.parts:
            pieces = self._pieces(part)
            if part.row.word("text"):
                pieces = [Piece(part.row.word("text"), part.row.at("text"))]
            for piece in pieces:
                text = piece.text.strip()
                yield from self.teller.offered(clock, "system_prompt", text, piece.place)
            yield Skipped(clock.asked(part.row.here, "system"), "a system prompt")

    def _words(self, one: Said, clock: Clock) -> Iterator[Event]:
        """A human's words, with attachments and fragments."""
        held = [part for part in one.parts if part.kind == "attachment"]
        texts = [part for part in one.parts if part.kind == "text"]
        nodes = self._attached(held)
        for part in texts:
            yield from self._text(part, nodes, clock)
            nodes = []
        if nodes:
            place = held[0].row.here
            shown = pictures(nodes, place)
            yield Message(clock.asked(place, "user"), "user", "", attachments=shown)
        for part in one.parts:
            if part.kind == "attachment" and (texts or part is not held[0]):
                yield Skipped(clock.asked(part.row.here, "system"), "shown with the words")
            elif part.kind not in ("text", "attachment"):
                yield self._unknown(part, clock)

    def _text(self, part: Part, nodes: Sequence[Node], clock: Clock) -> Iterator[Event]:
        if part.row.get("text") is not None and not part.row.word("text") and not nodes:
            yield self._unknown(part, clock)
        elif part.row.get("text") is not None:
            place = part.row.at("text")
            here, shown = clock.asked(place, "user"), pictures(nodes, place)
            yield Message(here, "user", part.row.word("text"), attachments=shown)
        else:
            yield from self._with_fragments(part, nodes, clock)

    def _with_fragments(self, part: Part, nodes: Sequence[Node], clock: Clock) -> Iterator[Event]:
        """Words behind the fragments that were sent with them."""
        pieces = self._pieces(part)
        given = self.rows.of("turn_fragments", clock.node.get("id")) if clock.node else []
        fragments, behind = _opening(pieces, sum(one.get("kind") == "prompt" for one in given))
        text = "".join(one.text for one in behind).removeprefix("\n")
        if not behind:
            yield from self.teller.fragments(clock, fragments)
            yield Skipped(clock.asked(part.row.here, "system"), "words that fragments make")
            return
        places = tuple(one.place for one in behind)
        here, shown = clock.asked(places[0], "user"), pictures(nodes, places[0])
        here = replace(here, pieces=places if len(places) > 1 else ())
        yield Message(here, "user", text, attachments=shown, within=True)
        yield from brought(clock, fragments)

    def _pieces(self, part: Part) -> list[Piece]:
        """The pieces of a text that holds fragments."""
        held = part.payload.get("text_ref")
        found = []
        for at, piece in enumerate(held if isinstance(held, list) else ()):
            match piece:
                case {"literal": str(text)}:
                    found.append(Piece(text, part.payload.at("text_ref", at, "literal")))
                case {"fragment": int(number)} if node := self.rows.one("fragments", number):
                    found.append(Piece(node.word("content"), node.at("content"), node))
        return found

    def _attached(self, parts: Sequence[Part]) -> list[Node]:
        """The attachments that parts name."""
        names = [name for part in parts for name in _names(part.payload.value)]
        found = (self.rows.one("attachments", name) for name in names)
        return [one for one in found if one is not None]

    def _answered(self, one: Said, clock: Clock) -> Iterator[Event]:
        """A model's thoughts, words and calls; a provider may run calls itself."""
        clock = clock._replace(message=one.name)
        for part in one.parts:
            here = clock.answered(part.row.at("text"))
            match part.kind:
                case "text" if part.row.word("text"):
                    yield Message(here, "agent", part.row.word("text"))
                case "reasoning" if part.row.word("text"):
                    yield Thinking(here, part.row.word("text"))
                case "reasoning":
                    yield Skipped(clock.answered(part.row.here), "hidden reasoning")
                case "tool_call":
                    yield self.teller.call(clock, part.payload)
                case "tool_result":
                    yield self.teller.result(
                        clock, Result(part.payload, self._attached([part]), True)
                    )
                case _:
                    yield self._unknown(part, clock)

    def _unknown(self, part: Part, clock: Clock) -> Event:
        here = clock.asked(part.row.here, "system")
        return Skipped(
            here, "an empty text" if part.kind == "text" else f"unknown part{named(part.kind)}"
        )


def _opening(pieces: Sequence[Piece], count: int) -> tuple[list[Node], Sequence[Piece]]:
    """The fragments that a prompt begins with, and the words behind them.

    The words may hold a fragment's text, too, so that a turn's count of fragments ends the former.
    """
    found: list[Node] = []
    for at, one in enumerate(pieces):
        if one.is_words or (count and len(found) == count and one.fragment):
            return found, pieces[at:]
        found += [one.fragment] if one.fragment else []
    return found, ()


def _position(row: Node) -> int:
    place = row.get("position")
    return place if isinstance(place, int) else 0


def _part(row: Node) -> Part:
    held = row.get("payload")
    opened = parsed(held) if isinstance(held, str) else None
    payload: Json = opened if isinstance(opened, dict) else {}
    return Part(row, Node(payload, row.at("payload")))


def _names(payload: Json) -> Iterator[str]:
    """The ids of attachments that a part names."""
    many = payload.get("attachments")
    for one in (payload.get("attachment"), *(many if isinstance(many, list) else ())):
        if isinstance(one, dict) and words(one.get("id")):
            yield one["id"]
