"""Whether every record gave an event, and every event stands on a record."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from forsy_retrace.document import account, fates
from forsy_retrace.events import (
    Event,
    Fact,
    Message,
    Notice,
    Skipped,
    Thinking,
    ToolCall,
    ToolResult,
)
from forsy_retrace.evidence import Evidence
from forsy_retrace.sdk import compact, named, pointer
from forsy_retrace.source import OF_JSON, Line, Record, Source
from forsy_retrace.trace import Trace


def lost(events: tuple[Event, ...], sources: tuple[Source, ...]) -> str:
    """The first record without an event, or the first event without a record; empty if none."""
    spans: dict[str, dict[tuple[int, int], set[int]]] = {}
    for event in events:
        here = event.origin.evidence
        spans.setdefault(here.file, {}).setdefault((here.start, here.end), set()).add(here.line)
        if isinstance(event, Skipped) and not event.reason.strip():
            return f"line {here.line} of {here.file} is left out without a reason."
    if why := _quoted(events, sources):
        return why
    for index, source in enumerate(sources):
        held = spans.pop(source.name, {})
        if index == 0 or held or _is_log(source):
            why = _unaccounted(source.name, records_of(source, events), held)
            if why:
                return why
    return f"an event names {next(iter(spans))}, which is no file of this log." if spans else ""


def _quoted(events: tuple[Event, ...], sources: tuple[Source, ...]) -> str:
    """The first record that a reason for leaving it out quotes beyond a name; empty if none."""
    reasons: dict[tuple[str, int, int], list[str]] = {}
    for event in events:
        if isinstance(event, Skipped) and " " in event.reason:
            reasons.setdefault(event.origin.evidence.record, []).append(event.reason)
    for source in sources if reasons else ():
        for record in source.records():
            told = " ".join(reasons.get(record.here.record, ()))
            if told and any(text in told for text in _texts(record.value)):
                line, name = record.here.line, source.name
                return f"the reason for leaving out line {line} of {name} quotes it; see named()."
    return ""


def untold(events: tuple[Event, ...], sources: tuple[Source, ...]) -> str:
    """The first item that is passed over in a document's list of which others are told.

    Such a document is one record, however much it holds. An item is passed over where no event
    stands on it, or tells any of its words from elsewhere. Empty if there is none.
    """
    places: dict[tuple[str, int, int], set[str]] = {}
    for event in events:
        for here in _places(event):
            if not here.form:
                places.setdefault(here.record, set()).update(_above(here.pointer))
    told = "\0".join(_close(text) for event in events for text in _words(event))
    for source in sources:
        first = list(islice(source.records(), 2))
        found = places.get(first[0].here.record) if len(first) == 1 else None
        for path in _passed_over(first[0].value, "", found, told) if found else ():
            where = "/".join(map(_shown, path[1:].split("/")))
            return f"nothing is told of /{where} in {source.name}, but of others beside it."
    return ""


def _shown(part: str) -> str:
    """An index or a field's name; a key that may be somebody's data is not shown."""
    return part if part.isdecimal() or (part.isidentifier() and len(part) < 40) else "*"


def _places(event: Event) -> Iterator[Evidence]:
    here = event.origin.evidence
    yield from (here, *event.origin.pieces)
    match event:
        case Message(attachments=pictures) | ToolResult(attachments=pictures):
            yield from ((one.record or here).at(one.pointer) for one in pictures)


def _above(path: str) -> Iterator[str]:
    """A pointer, and those to what holds it."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def _words(event: Event) -> Iterator[str]:
    match event:
        case Message(text=text) | Thinking(text=text) | Notice(text=text):
            yield text
        case ToolResult(output=str(text)):
            yield text
        case ToolCall(input=value) | Fact(value=value):
            yield from (compact(value), *_texts(value))


def _passed_over(value: Any, path: str, places: set[str], told: str) -> Iterator[str]:
    """In the outermost lists; what an event takes whole has no places below."""
    if isinstance(value, dict):
        for key, one in value.items():
            if (where := path + pointer(key)) in places:
                yield from _passed_over(one, where, places, told)
    elif isinstance(value, list) and any(f"{path}/{i}" in places for i in range(len(value))):
        for index, one in enumerate(value):
            held = [_close(text) for text in _texts(one) if " " in text]
            if f"{path}/{index}" not in places and held and not any(text in told for text in held):
                yield f"{path}/{index}"


def _close(text: str) -> str:
    """Without blanks: a call's arguments are a text of JSON in one place, an object in another."""
    return "".join(text.split())


def _texts(value: Any) -> Iterator[str]:
    """The texts of a value that are no plain name: `named()` lets in those."""
    match value:
        case str():
            if len(value) >= SHORTEST and not named(value):
                yield value
        case dict():
            for item in value.values():
                yield from _texts(item)
        case list():
            for item in value:
                yield from _texts(item)


SHORTEST = 16
"""Letters of a text that no reason has by chance."""


def records_of(source: Source, events: tuple[Event, ...]) -> list[Record]:
    """A log's records; its lines, where an event says that it read its bytes as text."""
    here = (event.origin.evidence for event in events)
    forms = {one.form for one in here if one.file == source.name}
    is_text = bool(forms - OF_JSON - {""})
    return list(source.lines() if is_text else source.records())


def _is_log(source: Source) -> bool:
    """Whether a companion holds records; an output that was spilled into a file does not."""
    return any("json" in suffix for suffix in source.path.suffixes)


def _unaccounted(
    name: str, records: list[Record], spans: Mapping[tuple[int, int], set[int]]
) -> str:
    """An event stands on one record; on several only where they are no JSON objects."""
    places = {(one.here.start, one.here.end): one for one in records}
    order = sorted(places)
    covered: set[tuple[int, int]] = set()
    for start, end in spans:
        if (start, end) in places:
            continue
        first, last = (bisect_left(order, (edge, 0)) for edge in (start, end))
        inner = order[first:last]
        cut = (inner and inner[-1][1] > end) or (first and order[first - 1][1] > start)
        if not inner or cut or any(isinstance(places[one].value, dict) for one in inner):
            return f"an event names bytes {start} to {end} of {name}, which are no record."
        covered.update(inner)
    for place, record in places.items():
        lines = spans.get(place, set())
        here = record.here
        is_blank = isinstance(record.value, str) and not record.value.strip()
        if not lines and place not in covered and not (isinstance(record, Line) and is_blank):
            return f"no event comes of {name}, line {here.line} (bytes {here.start} to {here.end})."
        if lines - {here.line}:
            return f"an event calls line {here.line} of {name} by another number."
    return ""


def miscounted(traces: tuple[Trace, ...]) -> str:
    """Whether what was read is more than what was used, omitted and unreadable."""
    for trace in traces:
        count = account(fates(trace))
        if count["read"] != count["used"] + sum(count["omitted"].values()) + count["unreadable"]:
            return f"of {count['read']} records some are neither used nor omitted nor unreadable."
    return ""
