"""What a database holds, each with its place: sessions, their messages, and the parts of these."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from forsy_retrace.events import Event, Origin, Skipped
from forsy_retrace.sdk import number, parsed, pointer, when, words
from forsy_retrace.source import Evidence, Record, Source

from .._families import families

Json = dict[str, Any]

SESSIONS, MESSAGES, FILES = "sessions", "messages", "files"
"""The tables that are read, and the one whose rows the results of edits tell too."""
OF_A_TITLE = "title-"
"""How the id of a session begins in which a model was asked for another's title (until 2025)."""


class Part(NamedTuple):
    """A part of a message, and where what it holds stands."""

    kind: str
    data: Json
    here: Evidence

    def at(self, *keys: str | int) -> Evidence:
        """The place of what lies below it."""
        return self.here.at(self.here.pointer + pointer(*keys))


class Said(NamedTuple):
    """A message."""

    row: Json
    here: Evidence
    parts: tuple[Part, ...]

    @property
    def id(self) -> str:
        return words(self.row.get("id"))

    @property
    def time(self) -> str | None:
        """When it was begun: the schema says milliseconds, and holds seconds."""
        return when(self.row.get("created_at"))


class Stored(NamedTuple):
    """A session."""

    id: str
    row: Json
    here: Evidence
    messages: tuple[Said, ...] = ()

    @property
    def parent(self) -> str:
        """The session that it is a subagent's of; empty for one of its own."""
        return words(self.row.get("parent_session_id"))


Told = Callable[[Stored, Mapping[str, list[Stored]]], Iterator[Event]]
"""The events of a session, with the sessions of subagents by the sessions that sent them."""


class Rows:
    """The rows of a database, as they come: of a session before it is told."""

    def __init__(self) -> None:
        self.heads: dict[str, Record] = {}
        self.messages: dict[str, list[Record]] = {}
        """By session."""

    def take(self, record: Record) -> str:
        """Keeps a row; why it is none to keep."""
        match record.value:
            case {"table": "sessions", "row": {"id": str(name)}}:
                self.heads[name] = record
            case {"table": "messages", "row": {"session_id": str(name), "parts": str()}}:
                self.messages.setdefault(name, []).append(record)
            case {"table": "files"}:
                return "a version of a file, which the call that wrote it tells"
            case {"database": _}:
                return "the names of tables and columns"
            case {"table": str()}:
                return "a row of another table"
            case _:
                return record.problem or "unknown record"
        return ""

    def sessions(self) -> list[Stored]:
        """The sessions without their messages, in the order in which they began."""
        names = dict.fromkeys([*self.heads, *self.messages])
        return sorted(map(self._head, names), key=lambda one: _time(one.row.get("created_at")))

    def _head(self, name: str) -> Stored:
        """A session's row; where it is not there, the first row that names the session."""
        if name in self.heads:
            record = self.heads[name]
            return Stored(name, record.value["row"], record.here.at("/row"))
        return Stored(name, {}, self.messages[name][0].here.at("/row/session_id"))

    def filled(self, session: Stored) -> Stored:
        """A session with its messages, which are held no longer."""
        rows = sorted(self.messages.pop(session.id, []), key=_order)
        return session._replace(messages=tuple(map(_said, rows)))

    def all_filled(self, below: Mapping[str, list[Stored]]) -> dict[str, list[Stored]]:
        """The sessions of subagents with their messages."""
        return {name: [self.filled(one) for one in held] for name, held in below.items()}


def stored(source: Source, told: Told) -> Iterator[Event]:
    """The events of a database's sessions; those of subagents come with the one that sent them."""
    rows = Rows()
    for record in source.records():
        if why := rows.take(record):
            yield Skipped(Origin(record.here, None, "system"), why)
    sessions = rows.sessions()
    for one in filter(_is_of_a_title, sessions):
        yield from _left(rows.filled(one))
    for one, below in families([one for one in sessions if not _is_of_a_title(one)]):
        yield from told(rows.filled(one), rows.all_filled(below))


def _is_of_a_title(session: Stored) -> bool:
    return session.id.startswith(OF_A_TITLE)


def _left(session: Stored) -> Iterator[Event]:
    why = "a title that a model was asked for"
    for place in (session.here, *(said.here for said in session.messages)):
        yield Skipped(Origin(place, None, "system"), why)


def _said(record: Record) -> Said:
    row = record.value["row"]
    held = parsed(row["parts"])
    here = record.here.at("/row")
    parts = (
        _part(one, record.here.at(pointer("row", "parts", at)))
        for at, one in enumerate(held if isinstance(held, list) else ())
    )
    return Said(row, here, tuple(parts))


def _part(one: Any, here: Evidence) -> Part:
    match one:
        case {"type": str(kind), "data": dict(data)}:
            return Part(kind, data, here.at(here.pointer + "/data"))
        case {"type": str(kind)}:
            return Part(kind, {}, here)
    return Part("", {}, here)


def _order(record: Record) -> tuple[float, int]:
    """Messages of one second stand as they were written."""
    value = record.value
    return _time(value["row"].get("created_at")), number(value.get("rowid")) or 0


def _time(value: Any) -> float:
    return value if isinstance(value, (int, float)) and value == value else 0
