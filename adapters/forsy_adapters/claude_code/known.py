"""What a session has told so far, and what a later copy would repeat."""

from typing import Any

from forsy_retrace.events import Event, Origin

from .lines import Json, Line
from .queue import Queue
from .threads import Threads


class Known:
    """What was read of a log up to now."""

    def __init__(self, found: Threads, queue: Queue) -> None:
        self.found, self.queue = found, queue
        self.seen: set[tuple[Any, ...]] = set()
        self.tools: dict[str, str] = {}
        """The tool of each call."""
        self.messages: dict[str, str | None] = {}
        """The message of each call."""
        self.delegated: set[str] = set()
        self.briefed = False
        self.command: str | None = None
        """The record of the last human words, where they are a command."""
        self.caveat: str | None = None
        """The record that last said that a command stands below it which the agent was not sent."""
        self.begin()

    def begin(self) -> None:
        """A session begins: nothing was told of it yet, and nothing said in it."""
        self.facts: dict[str, Any] = {}
        self.lanes: dict[str, dict[str, Any]] = {}
        """The same of each subagent."""
        self.answers: set[str] = set()
        """All words of the agent itself."""
        self.used: tuple[str | None, Json] = (None, {})
        """The last message of which figures were told, and they."""

    def once(self, key: tuple[Any, ...], event: Event) -> Event | None:
        """The event, where nothing under its key was told before."""
        if key in self.seen:
            return None
        self.seen.add(key)
        return event

    def origin(self, line: Line, role: str, path: str = "", message: str | None = None) -> Origin:
        """A place of a record, and who acts there: in a subagent's lane, that one."""
        actor = self.found.actors.get(line.lane, "agent") if line.lane else role
        if role in ("system", "user") and not line.lane:
            actor = role
        return Origin(line.here.at(line.prefix + path), line.at, actor, message, line.branch)


def uid_of(line: Line) -> Any:
    """What tells a record without a time from every other: its uuid, or its place."""
    return line.uuid if line.uuid is not None else line.here.record
