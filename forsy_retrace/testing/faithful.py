"""What a reading says of the log beyond the trace's own values: how often, in which order,
and whether facts and exit codes are its own.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from forsy_retrace.adapter import Adapter
from forsy_retrace.events import (
    Event,
    Fact,
    Message,
    Origin,
    SessionStart,
    Skipped,
    Thinking,
    ToolCall,
    ToolResult,
)
from forsy_retrace.redact import leaves
from forsy_retrace.sdk import compact, order, resolve
from forsy_retrace.source import Source
from forsy_retrace.testing.case import BrokenLaw, Case
from forsy_retrace.testing.reading import reading, record_of
from forsy_retrace.verify.evidence_rules import codes

OF_ITS_OWN = frozenset(["began", "beside", "ended", "flag", "harness", "operator", "shows"])
"""Facts in an adapter's words, or computed; every other text is the log's."""
BACKWARDS = 4
"""One event of so many may stand before one that the log has and dates earlier: what waited in a
queue, or came from another thread."""


def tells_each_thing_once_and_in_order(adapter: Adapter | str, case: Case) -> None:
    """No place of a record gives the same words or call twice, unless other records date them
    apart, and no log is read backwards.

    What a companion tells stands where it happened, and not behind the whole of the log.
    """
    seen: set[tuple[object, ...]] = set()
    last: dict[tuple[str, str, str], Origin] = {}
    told = backwards = 0
    for event in reading(adapter, case).events:
        here = event.origin.evidence
        if not isinstance(event, Message | Thinking | ToolCall | ToolResult):
            continue
        what = event.text if isinstance(event, Message | Thinking) else event.call
        dated = (event.origin.dated, event.origin.clock)
        one = (type(event), here, event.origin.pieces, what, dated)
        if one in seen:
            raise BrokenLaw(f"line {here.line} is told twice, from one place of it.")
        seen.add(one)
        if isinstance(event, Message | ToolCall):
            thread = (here.file, event.origin.actor, event.origin.branch)
            told, backwards = told + 1, backwards + _goes_back(last.get(thread), event.origin)
            last[thread] = event.origin
    if backwards * BACKWARDS > told:
        raise BrokenLaw(f"{backwards} of {told} words and calls come before earlier ones.")
    if late := _read_too_late(reading(adapter, case).events):
        raise BrokenLaw(f"most of {late} comes behind later words and calls of other files.")


def _goes_back(before: Origin | None, now: Origin) -> bool:
    """Whether an event comes behind one that the log has later, and dates later."""
    return (
        before is not None
        and before.evidence.start > now.evidence.start
        and None not in (before.at, now.at)
        and order(before.at) > order(now.at)
    )


def _read_too_late(events: Iterable[Event]) -> str | None:
    """A file most of whose words and calls come behind later ones of others in the session."""
    latest, whose = "", ""
    late: dict[str, list[bool]] = {}
    for event in events:
        at, file = event.origin.at, event.origin.evidence.file
        if isinstance(event, SessionStart):
            latest, whose = "", ""
        elif isinstance(event, Message | ToolCall) and at is not None:
            late.setdefault(file, []).append(order(at) < latest and file != whose)
            latest, whose = max((latest, whose), (order(at), file))
    return next((file for file, some in late.items() if sum(some) * 2 > len(some)), None)


def says_what_its_records_say(adapter: Adapter | str, case: Case) -> None:
    """A text that is a fact of the session, or names a commit, stands in its record; an exit code
    at its basis, or in its record where no code stands there; a changed file's name in the record
    of its call or result. A user's words are a user's, a report from the background a subagent's,
    and what is called unreadable can't be read.
    """
    found = reading(adapter, case)
    sources = {one.name: one for one in (found.source, *found.companions)}
    asked: dict[str, Event] = {}
    for event in found.events:
        here = event.origin.evidence
        if isinstance(event, Message) and (event.role == "user") != (event.origin.actor == "user"):
            said = f"words of the role {event.role} by another actor; see Origin.by()"
            raise BrokenLaw(f"line {here.line} has {said}.")
        if isinstance(event, Message) and _is_nobodys(event):
            raise BrokenLaw(f"line {here.line} has a notification that no subagent says; see Via.")
        if isinstance(event, Skipped) and _is_slandered(event, sources):
            raise BrokenLaw(f"line {here.line} is called unreadable, and can be read.")
        for what, text in _claimed(event):
            if not _stands_in(text, _record(event, sources)):
                raise BrokenLaw(f"line {here.line} does not say the {what}.")
        if isinstance(event, ToolResult) and event.exit_code is not None and event.rule:
            told = set(codes(_at(event.basis, _record(event, sources))))
            if told and event.exit_code not in told:
                raise BrokenLaw(f"line {here.line} has another exit code where its basis points.")
            if not told and not _stands_in(str(event.exit_code), _record(event, sources)):
                raise BrokenLaw(f"line {here.line} has no such exit code.")
        if isinstance(event, ToolCall):
            asked[event.call] = event
        elif isinstance(event, ToolResult) and event.changes:
            held = [_record(one, sources) for one in (event, asked.get(event.call, event))]
            for change in event.changes:
                name = re.split(r"[/\\]", change.path.rstrip("/\\"))[-1]
                if not any(_stands_in(name, record) for record in held):
                    raise BrokenLaw(f"line {here.line} does not name a file that it is to change.")


def _is_nobodys(event: Message) -> bool:
    """Whether a report is not by the subagent that it is of."""
    return event.via == "notification" and not event.origin.actor.startswith("subagent:")


def _is_slandered(event: Skipped, sources: dict[str, Source]) -> bool:
    """Whether a record of JSON, which reads well, is called none."""
    here = event.origin.evidence
    if not event.reason.startswith("unreadable") or here.form:
        return False
    return isinstance(_record(event, sources), (dict, list))


def _claimed(event: Event) -> Iterator[tuple[str, str]]:
    """What an event says in the log's own words, beside what its step shows."""
    match event:
        case Fact(name=name, value=value) if name not in OF_ITS_OWN:
            held = value if isinstance(value, list | tuple) else [value]
            yield from ((f"{name} that a fact tells", one) for one in held if isinstance(one, str))
        case ToolResult(commit=str(commit)):
            yield "commit that its call made", commit


def _record(event: Event, sources: dict[str, Source]) -> Any:
    here = event.origin.evidence
    try:
        return record_of(here, sources)
    except (KeyError, ValueError):
        raise BrokenLaw(f"an event names {here.file}, which is no file of this log.") from None


def _at(basis: str, record: Any) -> Any:
    try:
        return resolve(record, basis) if basis.startswith("/") else record
    except LookupError:
        return None


def _stands_in(text: str, record: Any) -> bool:
    held = [compact(record), *(one for one, _ in leaves(record, ours=False))]
    return all(any(line in one for one in held) for line in text.splitlines())
