"""What a client tells piece by piece, where no record holds the whole.

In August 2025 the record of a command's end holds 5 KiB of each stream, and models with open
weights think in pieces alone. Learnt from two logs of the screen.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from msgspec.structs import replace

from forsy_retrace.dialects import text_of_bytes
from forsy_retrace.events import Event, Origin, Thinking, ToolResult
from forsy_retrace.sdk import words

from .state import State
from .units import Json, Unit

READING = "bytes-streamed"
THOUGHTS = ("agent_reasoning_delta", "agent_reasoning_raw_content_delta")
BETWEEN = ("agent_reasoning_section_break", "token_count")
"""Events that end no thought."""


class Piece(NamedTuple):
    """Some bytes that a command printed, as text."""

    stream: str
    text: str | None
    """None where a letter is cut in two."""
    here: Origin


class Streamed:
    """The pieces of what is under way."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.printed: dict[str, list[Piece]] = {}
        self.thought: list[tuple[Unit, str]] = []

    def take(self, unit: Unit, kind: str) -> Iterator[Event]:
        """Any event; a thought is told when something else comes."""
        match unit.body:
            case {"type": "exec_command_output_delta", "call_id": str(call), "chunk": chunk}:
                here = self.state.here(unit, "/chunk")
                piece = Piece(words(unit.body.get("stream")), text_of_bytes(chunk), here)
                self.printed.setdefault(call, []).append(piece)
            case {"delta": str(text)} if kind in THOUGHTS and self._has_no_whole(kind):
                self.thought.append((unit, text))
                return
        if kind not in BETWEEN:
            yield from self.told()

    def _has_no_whole(self, kind: str) -> bool:
        return kind.removesuffix("_delta") not in self.state.found.thinks

    def told(self) -> Iterator[Event]:
        """The thought that the pieces make, once it has ended."""
        pieces, self.thought = self.thought, []
        text = "".join(part for _, part in pieces)
        if text.strip():
            here = self.state.agent(pieces[0][0], "/delta")
            places = tuple(self.state.here(unit, "/delta").evidence for unit, _ in pieces)
            yield Thinking(replace(here, pieces=places), text)

    def whole(self, event: Event, ident: str, end: Json) -> Event:
        """A result with all that came of it, where the record of its end was cut."""
        pieces = self.printed.pop(ident, [])
        if not (pieces and isinstance(event, ToolResult)) or None in {one.text for one in pieces}:
            return event
        by_stream = {
            name: "".join(one.text or "" for one in some)
            for name, some in groupby(sorted(pieces, key=_stream), key=_stream)
        }
        if not all(text.startswith(words(end.get(name))) for name, text in by_stream.items()):
            return event
        if event.exit_code == 0:
            shown = "stdout" if "stdout" in by_stream else "stderr"
            pieces = [one for one in pieces if one.stream == shown]
        text = "".join(one.text or "" for one in pieces)
        if len(text) <= len(event.output or ""):
            return event
        places = tuple(one.here.evidence for one in pieces)
        return replace(
            event, output=text, origin=replace(event.origin, pieces=places, reading=READING)
        )


def _stream(piece: Piece) -> str:
    return piece.stream
