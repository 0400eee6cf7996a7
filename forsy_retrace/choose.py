"""Which sessions of a log become traces."""

import hashlib
from collections.abc import Iterable, Iterator

import msgspec

from forsy_retrace.events import IDLE, Event, Session, ToolCall, sessions
from forsy_retrace.sdk import Shows, order, text_or_json

FEWEST = 3
"""Commands of a session in a shell's history; with fewer, somebody only opened a window."""


Timed = bytes
"""A digest of a session's commands and times."""


class Choice(msgspec.Struct, frozen=True):
    """What a user wants of a log that holds many sessions; empty wishes hold for any."""

    conversation: str = ""
    """The id of the session."""
    since: str = ""
    until: str = ""
    """Days on which a session begins at the earliest and at the latest."""
    title: str = ""
    """A text in its title."""
    grep: str = ""
    """A text in what one of its calls was given."""
    min_commands: int | None = None
    """The fewest calls; by default FEWEST in a shell's history, else none."""
    idle: float = IDLE
    """Minutes without an event that end a session, where the log names none."""


class Chosen:
    """The wanted sessions of a log, one at a time; what was left out is counted.

    `seen` are the sessions of other logs: macOS copies the whole history of zsh into the file of
    each window, and people keep backups.
    """

    def __init__(
        self, events: Iterable[Event], shows: Shows, choice: Choice, seen: set[Timed] | None = None
    ) -> None:
        self.events, self.choice, self.is_history = events, choice, shows.is_history
        by_default = FEWEST if shows.is_history else 0
        self.fewest = by_default if choice.min_commands is None else choice.min_commands
        self.seen = seen if seen is not None else set()
        self.short: list[int] = []
        """The calls of each session that was too short."""
        self.unwanted = 0
        """Sessions that were not asked for."""
        self.copies = 0
        """Sessions that another log has told."""

    def __iter__(self) -> Iterator[Session]:
        return filter(self._takes, sessions(self.events, self.choice.idle))

    def _takes(self, session: Session) -> bool:
        """Whether a session is wanted and not left out; counts it where it is."""
        if not session.events:
            return False
        if not _is_wanted(session, self.choice):
            self.unwanted += 1
            return False
        calls = sum(isinstance(event, ToolCall) for event in session.events)
        if calls < self.fewest:
            self.short += [calls] if calls else []
            return False
        timed = _timed(session) if self.is_history else None
        if timed in self.seen:
            self.copies += 1
            return False
        self.seen.update([timed] if timed else [])
        return True

    def told(self) -> Iterator[str]:
        """How many sessions were left out and why, a sentence for each reason."""
        if self.short:
            calls = sum(self.short)
            yield (
                f"{_sessions(len(self.short))} of fewer than {self.fewest} commands left out"
                f" ({calls} command{'s' * (calls != 1)}); --min-commands takes them"
            )
        if self.copies:
            yield f"{_sessions(self.copies)} left out that another file tells"


def _sessions(count: int) -> str:
    return f"{count} session{'s' * (count != 1)}"


def _timed(session: Session) -> Timed:
    """Commands and times, by which a session is told from any other; empty without times."""
    calls = [event for event in session.events if isinstance(event, ToolCall)]
    if not all(call.origin.at for call in calls):
        return b""
    text = "\0".join(f"{call.origin.at} {call.input}" for call in calls)
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


def _is_wanted(session: Session, choice: Choice) -> bool:
    if choice.conversation and session.id != choice.conversation:
        return False
    if choice.since or choice.until:
        times = (event.origin.at for event in session.events if event.origin.at)
        first = min(times, key=order, default="")
        if not first or first < choice.since or first[:10] > (choice.until or first)[:10]:
            return False
    if choice.title:
        title = "".join(str(fact.value) for fact in session.facts("title")[:1])
        if choice.title.lower() not in title.lower():
            return False
    return not choice.grep or any(
        choice.grep in text_or_json(call.input)
        for call in session.events
        if isinstance(call, ToolCall)
    )
