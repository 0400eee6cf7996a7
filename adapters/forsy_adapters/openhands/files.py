"""The files of a conversation, and the places where its events stand in them."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from forsy_retrace.events import Origin
from forsy_retrace.sdk import pointer, words
from forsy_retrace.source import Evidence, Record, Source

from .shapes import (
    EVENT_FILE,
    EXPORTED,
    HEX_FILE,
    OLD_FILE,
    STATE_FILE,
    Json,
    events_of,
    is_event,
    is_first,
    is_old_first,
    is_old_session,
    is_state,
    place_of,
)

BELOW = (
    "events/event-*.json",
    "events/.eventlog*",
    "TASKS.json",
    "meta.json",
    "owner_lease.json",
    ".owner_lease.lock",
    f"subagents/**/{STATE_FILE}",
    "subagents/**/events/event-*.json",
    "subagents/**/events/.eventlog*",
    "subagents/**/TASKS.json",
)
"""What belongs to a conversation, below its folder."""
OLD_BELOW = ("events/*.json", "event_cache/*.json", "agent_state.json", "conversation_stats.json")
"""What belongs to a session before the SDK, below its folder."""


class Item(NamedTuple):
    """A value of a log and where it stands: a record, or a part of one."""

    value: Json
    place: Evidence
    why: str = ""
    """Why it has no value."""

    def here(self, path: str = "", actor: str = "system") -> Origin:
        """The origin of an event at a pointer below it. Its clock names no zone: no moment."""
        where = self.place.at(self.place.pointer + path)
        return Origin(where, None, actor)

    def at(self, path: str) -> str:
        """A pointer below it, from the record's root."""
        return self.place.pointer + path


def item(record: Record, path: str = "", value: Any = None) -> Item:
    """A record, or what stands in it at a pointer."""
    held = value if path else record.value
    why = record.problem or ("" if isinstance(held, dict) else "not an event")
    return Item(held if isinstance(held, dict) else {}, record.here.at(path), why)


def companions(source: Source) -> Iterator[Source]:
    """The files that belong to a log: of a folder, all events but the one that is the log."""
    if source.is_archive:
        yield from members(source)
        return
    for record in source.head[:1]:
        if is_state(record.value):
            for pattern in BELOW:
                yield from source.beside(pattern)
        elif is_first(record.value) and not _is_listed(source):
            yield from (one for one in source.beside("*.json") if is_of_sdk(one.name))
        elif is_old_session(record.value):
            for pattern in OLD_BELOW:
                yield from source.beside(pattern)
        elif is_old_first(record.value) and not _is_listed(source):
            yield from (one for one in source.beside("*.json") if place_of(one.name, OLD_FILE) >= 0)


def _is_listed(source: Source) -> bool:
    """Whether the log is a list of events, and not one alone."""
    return len(source.head) > 1 or source.head[0].here.start > 0


def in_order(files: Iterable[Source]) -> list[Source]:
    """The files of events by their places; where their names tell none, by their times."""
    return sorted(files, key=_place)


def _place(one: Source) -> tuple[int, str]:
    place = max(place_of(one.name, pattern) for pattern in (EVENT_FILE, EXPORTED, OLD_FILE))
    if place >= 0 or place_of(one.name, HEX_FILE) < 0:
        return place, ""
    value = one.head[0].value if one.head else None
    return 0, words(value.get("timestamp")) if isinstance(value, dict) else ""


def is_of_sdk(name: str) -> bool:
    """Whether a file is named as the SDK, or the app, names those of events."""
    return any(place_of(name, pattern) >= 0 for pattern in (EVENT_FILE, EXPORTED, HEX_FILE))


def folder_of(name: str) -> str:
    """The conversation's folder of a file in it."""
    return name.rpartition("/")[0].removesuffix("events").rstrip("/")


def items(files: Iterable[Source]) -> Iterator[Item]:
    """Every value of some files."""
    for one in files:
        for record in one.records():
            yield item(record)


def listed(record: Record) -> Iterator[Item]:
    """The events that one object holds."""
    key, held = events_of(record.value)
    for at, one in enumerate(held):
        for inner, value in _both(one):
            yield item(record, pointer(key, at) + inner, value)


def _both(one: Any) -> list[tuple[str, Any]]:
    """An event; of 2024, an action and what came of it."""
    return (
        [(pointer(at), part) for at, part in enumerate(one)]
        if isinstance(one, list)
        else [("", one)]
    )


def members(source: Source) -> list[Source]:
    """The files of an archive that holds a conversation: its folder, or its events alone."""
    first = source.members(STATE_FILE)[:1] or source.members("event_*.json")[:1]
    if not any(is_state(one.value) or is_event(one.value) for file in first for one in file.head):
        return []
    return [one for one in source.inside() if isinstance(one, Source)]


def is_page(source: Source) -> bool:
    """Whether it is a copy of some events that lie beside it one by one."""
    return source.path.parent.name == "event_cache"
