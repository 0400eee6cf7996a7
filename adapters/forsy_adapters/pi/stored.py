"""OpenClaw's database: since 2026.9 a row holds an entry, as a line of a session's file did.

`~/.openclaw/agents/<agent>/agent/openclaw-agent.sqlite`, table `transcript_events`: a session, the
entry's number in it, and its JSON as a text, or packed where that is shorter.
"""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Event, Origin, Skipped
from forsy_retrace.sdk import number, parsed
from forsy_retrace.source import Record, Source

from .._history.rows import has_table

ENTRIES = "transcript_events"
COLUMNS = ("event_json", "event_zstd")
"""Where an entry stands: the one or the other."""


def is_stored(source: Source) -> bool:
    """Whether a database holds sessions' entries."""
    return has_table(source, ENTRIES, "session_id", "seq", "event_json")


class Rows:
    """The entries of a database, session by session, as records of their own."""

    def __init__(self) -> None:
        self.sessions: dict[str, list[tuple[int, Record]]] = {}

    def read(self, source: Source) -> Iterator[Event]:
        """Keeps each entry; whatever else there is, is left out."""
        for record in source.records():
            match record.value:
                case {"table": "transcript_events", "row": {"session_id": str(name), **row}} if (
                    place := number(row.get("seq"))
                ) is not None:
                    self.sessions.setdefault(name, []).append((place, record))
                case {"database": _}:
                    yield _left(record, "the names of tables and columns")
                case {"table": str()}:
                    yield _left(record, "a row of another table")
                case _:
                    yield _left(record, record.problem or "unknown record")

    def entries(self, session: str) -> list[Record]:
        """The entries of a session in their order."""
        rows = sorted(self.sessions[session], key=lambda one: one[0])
        return [_entry(record) for _, record in rows]


def _left(record: Record, why: str) -> Skipped:
    return Skipped(Origin(record.here, None, "system"), why)


def _entry(record: Record) -> Record:
    """What a row holds, at its place."""
    row: dict[str, Any] = record.value["row"]
    for column in COLUMNS:
        match row.get(column):
            case str(text):
                return Record(record.here.at(f"/row/{column}"), parsed(text))
    return Record(record.here, row)
