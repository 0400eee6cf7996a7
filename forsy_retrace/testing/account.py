"""Whether every record gave an event, and every event stands on a record."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import Any

from forsy_retrace.document import account, fates
from forsy_retrace.events import Event, Skipped
from forsy_retrace.sdk import named
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
