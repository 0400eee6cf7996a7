"""What each record of a session says, as events."""

from collections.abc import Iterator

import msgspec

from forsy_retrace.events import Event, Fact, Origin, Skipped
from forsy_retrace.sdk import named, pointer

from .answers import Answers
from .kinds import BOOKKEEPING, FACTS, OF_A_LANE
from .known import Known
from .lines import Json, Line
from .notes import Notes
from .places import at
from .prompts import Prompts
from .queue import Queue
from .threads import Threads


class Reader:
    """Reads lines in order and remembers what a later copy would repeat."""

    def __init__(self, found: Threads, queue: Queue) -> None:
        self.known = Known(found, queue)
        self.answers = Answers(self.known)
        self.prompts = Prompts(self.known)
        self.notes = Notes(self.known, self.prompts)
        self.contents: dict[tuple[str, str | None], set[int]] = {}
        """What the records say that share a uuid and a time."""

    def begin(self) -> None:
        """A session begins: nothing was told of it yet."""
        self.known.begin()

    def read(self, line: Line) -> Iterator[Event]:
        """At least one event for each record."""
        here = self.known.origin(line, "user" if line.kind == "user" else "agent")
        if line.skip:
            yield Skipped(here, line.skip)
            return
        if not line.prefix and self._is_copy(line):
            yield Skipped(here, "repeated history")
            return
        if line.is_fork:
            above = line.follows.message if line.follows is not None else None
            yield Fact(at(here, pointer("parentUuid")), "follows", {"message": above})
        yield from self._session_facts(line, here)
        if line.lane and not (line.brief or line.is_meta) and line.lane not in self.known.delegated:
            yield from self.prompts.unbriefed(line, here)
        match line.body:
            case {"type": "assistant", "message": dict(message)}:
                yield from self.answers.read(line, message)
            case {"type": "user", "message": dict(message)}:
                yield from self.prompts.read(line, message)
            case {"type": "system"}:
                yield from self.notes.system(line, here)
            case {"type": "attachment", "attachment": dict(attachment)}:
                yield from self.notes.attachment(line, here, attachment)
            case {"type": "progress", "data": dict(data)}:
                yield from self.notes.progress(here, data)
            case {"type": "queue-operation"}:
                yield from self.known.queue.read(line, here)
            case {"type": "result"}:
                yield from self.notes.end(line, here)
            case {"type": "api-request-shape", "shape": {"tools": list(tools)}} if not line.lane:
                yield from self.notes.request(at(here, "/shape/tools"), tools)
            case {"type": str(kind)} if kind in BOOKKEEPING:
                yield Skipped(here, f"bookkeeping: {kind}")
            case {"type": str(kind)}:
                yield Skipped(here, f"unknown record type{named(kind)}")
            case _:
                yield Skipped(here, "not a record")

    def _is_copy(self, line: Line) -> bool:
        """Copies keep their uuid and time; one id for everything is no copy."""
        if line.uuid is None or (line.uuid, line.at) not in self.known.found.repeated:
            return False
        contents = self.contents.setdefault((line.uuid, line.at), set())
        known = len(contents)
        contents.add(_content_key(line.body))
        return len(contents) == known

    def _session_facts(self, line: Line, here: Origin) -> Iterator[Event]:
        """What a record says of the session; a subagent's, of where that one works."""
        if line.lane and line.lane not in self.known.found.actors:
            return
        known = self.known.lanes.setdefault(line.lane, {}) if line.lane else self.known.facts
        for key, name in OF_A_LANE if line.lane else FACTS:
            value = line.body.get(key)
            if isinstance(value, str) and value and known.get(name) != value:
                known[name] = value
                yield Fact(at(here, pointer(key)), name, value)


def _content_key(body: Json) -> int:
    """The kind and size of what a record says: tells copies from records that share an id."""
    message = msgspec.json.encode(body.get("message"))
    return hash((str(body.get("type")), len(message), message[:200]))
