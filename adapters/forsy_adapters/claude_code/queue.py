"""Prompts that are typed while the agent works."""

from collections.abc import Iterator

from forsy_retrace.events import Event, Message, Origin, Skipped
from forsy_retrace.sdk import text_of

from .lines import Line
from .places import deeper
from .threads import Threads
from .words import pieces


class Queue:
    """Prompts that were typed while the agent worked: delivered, steered in, or taken back.

    One that was steered in stands where the agent got it: what it sent before knew nothing of it.
    """

    def __init__(self, found: Threads) -> None:
        self.said: set[str] = set()
        self.later = found.said
        self.fate: dict[int, str] = {}
        self.steers: dict[int, int] = {}
        """A `remove` to the `enqueue` whose words it brings."""
        self.held: dict[int, Message] = {}
        waiting: list[int] = []
        for line in found.lines:
            match line.operation:
                case "enqueue":
                    waiting.append(id(line))
                    self.fate[id(line)] = "kept"
                case "popAll":
                    for held in waiting:
                        self.fate[held] = "taken back"
                    waiting = []
                case "dequeue" if waiting:
                    self.fate[waiting.pop(0)] = "delivered"
                case "remove" if waiting:
                    self.steers[id(line)] = waiting[0]
                    self.fate[waiting.pop(0)] = "steered"

    def read(self, line: Line, here: Origin) -> Iterator[Event]:
        """The words of an `enqueue`, unless a later record brings them."""
        body = line.body
        text = text_of(body.get("content")).strip()
        if line.operation != "enqueue":
            held = self.held.pop(self.steers.get(id(line), 0), None)
            yield from (held,) if held is not None else ()
            yield Skipped(here, "queue")
            return
        fate = self.fate.get(id(line))
        part = next(pieces(text), None) if text else None
        if part is None or part.via is None or text.startswith("{"):
            yield Skipped(here, "queue")
        elif fate in ("taken back", "delivered") or text in self.later or part.via == "command":
            yield Skipped(here, "queue: taken back" if fate == "taken back" else "queue")
        else:
            origin = Origin(deeper(here, "content").evidence, here.at, "user", None, here.branch)
            message = Message(origin, "user", part.text, "queued", within=True)
            if fate == "steered":
                self.held[id(line)] = message
            else:
                yield message
