"""What a log holds, each with its place: sessions, their messages, and the parts of these."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from forsy_retrace.events import Event, Origin, Skipped
from forsy_retrace.sdk import parsed, pointer, words
from forsy_retrace.source import Evidence, Record, Source

from .._families import families

Json = dict[str, Any]

SESSIONS, MESSAGES, PARTS = "session", "message", "part"
"""The tables that are read; `event` has their history, from which they were made."""
COLUMNS = {"parentID": "parent_id", "sessionID": "session_id"}
"""Columns of a session's row, by the names that they have in an export."""


class Node(NamedTuple):
    """An object of the log, and where it stands."""

    value: Json
    here: Evidence
    columns: Mapping[str, str] = {}
    """What its fields are called there, where otherwise."""

    def at(self, *keys: str | int) -> Evidence:
        """The place of what lies below it."""
        first, *rest = keys
        first = self.columns.get(str(first), first)
        return self.here.at(self.here.pointer + pointer(first, *rest))


class Said(NamedTuple):
    """A message: what is said of it, and its parts."""

    info: Node
    parts: tuple[Node, ...]

    @property
    def id(self) -> str:
        return words(self.info.value.get("id"))


class Stored(NamedTuple):
    """A session."""

    id: str
    head: Node
    messages: tuple[Said, ...]
    fork: Evidence | None = None
    """What says that Kilo wrote it."""

    @property
    def parent(self) -> str:
        """The session that it is a subagent's of; empty for one of its own."""
        return words(self.head.value.get("parentID"))


Told = Callable[[Stored, Mapping[str, list[Stored]]], Iterator[Event]]
"""The events of a session, with the sessions of subagents by the sessions that sent them."""


# An export.


def is_export(value: Any) -> bool:
    """Whether a value is a session with messages that have parts."""
    match value:
        case {"info": {"id": str()}, "messages": [{"info": {"role": str()}, "parts": [*_]}, *_]}:
            return True
        case {"info": {"id": str(), "projectID": str(), "version": str()}, "messages": []}:
            return True
    return False


def exported(record: Record, told: Told) -> Iterator[Event]:
    """The events of an export."""
    here = record.here
    match record.value:
        case {"info": {"id": str(name)} as info, "messages": [*messages]} if messages:
            head = Node(info, here.at("/info"))
            said = tuple(_said(one, here, index) for index, one in enumerate(messages))
            yield from told(Stored(name, head, said, _approved(said)), {})
        case {"info": {"id": str()}}:
            yield Skipped(Origin(here, None, "system"), "a session without messages")
        case _:
            yield Skipped(Origin(here, None, "system"), record.problem or "not a session")


def _said(value: Any, here: Evidence, index: int) -> Said:
    base = pointer("messages", index)
    message = _object(value)
    parts = message.get("parts")
    return Said(
        Node(_object(message.get("info")), here.at(f"{base}/info")),
        tuple(
            Node(_object(part), here.at(f"{base}/parts/{at}"))
            for at, part in enumerate(parts if isinstance(parts, list) else ())
        ),
    )


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _approved(messages: Iterable[Said]) -> Evidence | None:
    """The first call beside which Kilo noted what decided on it; OpenCode notes nothing there."""
    for said in messages:
        for part in said.parts:
            match part.value:
                case {"state": {"metadata": {"approval": {"source": str()}}}}:
                    return part.at("state", "metadata", "approval")
    return None


# A database.

OF_KILO = "kilo_"
"""How the names of tables begin that Kilo added to OpenCode's."""


class Rows:
    """The rows of a database, as they come: of a session before it is told."""

    def __init__(self) -> None:
        self.heads: dict[str, Record] = {}
        self.messages: dict[str, list[Record]] = {}
        """By session."""
        self.parts: dict[str, list[Record]] = {}
        """By message."""
        self.fork: Evidence | None = None

    def take(self, record: Record) -> str:
        """Keeps a row; why it is none to keep."""
        match record.value:
            case {"table": "session", "row": {"id": str(name)}}:
                self.heads[name] = record
            case {"table": "message", "row": {"id": str(), "session_id": str(name), "data": str()}}:
                self.messages.setdefault(name, []).append(record)
            case {"table": "part", "row": {"id": str(), "message_id": str(name), "data": str()}}:
                self.parts.setdefault(name, []).append(record)
            case {"database": held}:
                if isinstance(held, dict) and any(name.startswith(OF_KILO) for name in held):
                    self.fork = record.here
                return "the names of tables and columns"
            case {"table": str()}:
                return "a row of another table"
            case _:
                return record.problem or "unknown record"
        return ""

    def sessions(self) -> list[Stored]:
        """The sessions without their messages, in the order in which they began."""
        names = dict.fromkeys([*self.heads, *self.messages])
        found = [Stored(name, self._head(name), (), self.fork) for name in names]
        return sorted(found, key=lambda one: (_time(one.head.value.get("time_created")), one.id))

    def _head(self, name: str) -> Node:
        """A session's row; where it is not there, the first row that names the session."""
        if name in self.heads:
            record = self.heads[name]
            row = record.value["row"]
            value = {**row, "parentID": row.get("parent_id"), "revert": _opened(row.get("revert"))}
            return Node(value, record.here.at("/row"), COLUMNS)
        record = self.messages[name][0]
        return Node({"id": name, "sessionID": name}, record.here.at("/row"), {"id": "session_id"})

    def filled(self, session: Stored) -> Stored:
        """A session with its messages, which are held no longer."""
        rows = sorted(self.messages.pop(session.id, []), key=_order)
        return session._replace(messages=tuple(map(self._message, rows)))

    def all_filled(self, below: Mapping[str, list[Stored]]) -> dict[str, list[Stored]]:
        """The sessions of subagents with their messages."""
        return {name: [self.filled(one) for one in held] for name, held in below.items()}

    def _message(self, record: Record) -> Said:
        parts = self.parts.pop(record.value["row"]["id"], [])
        named = sorted(parts, key=lambda one: str(one.value["row"]["id"]))
        return Said(_node(record), tuple(map(_node, named)))


def stored(source: Source, told: Told) -> Iterator[Event]:
    """The events of a database's sessions; those of subagents come with the one that sent them."""
    rows = Rows()
    for record in source.records():
        if why := rows.take(record):
            yield Skipped(Origin(record.here, None, "system"), why)
    for one, below in families(rows.sessions()):
        yield from told(rows.filled(one), rows.all_filled(below))
    for left in rows.parts.values():
        for record in left:
            yield Skipped(Origin(record.here, None, "system"), "a part of no message")


def _node(record: Record) -> Node:
    """What a row of a message or part holds, under the id that the row gives it."""
    row = record.value["row"]
    return Node({**_object(_opened(row["data"])), "id": row["id"]}, record.here.at("/row/data"))


def _opened(value: Any) -> Any:
    return parsed(value) if isinstance(value, str) else value


def _order(record: Record) -> tuple[float, str]:
    row = record.value["row"]
    return _time(row.get("time_created")), str(row["id"])


def _time(value: Any) -> float:
    return value if isinstance(value, (int, float)) else 0
