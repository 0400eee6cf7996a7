"""The laws of an honest reading: claimed, complete, repeatable, in order, grounded."""

import tempfile
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from forsy_retrace.adapter import Adapter, accepts
from forsy_retrace.errors import RetraceError
from forsy_retrace.events import (
    Delegation,
    Event,
    Message,
    SessionStart,
    ToolCall,
    ToolResult,
)
from forsy_retrace.registry import bundled, identify
from forsy_retrace.sdk import resolve
from forsy_retrace.source import Source
from forsy_retrace.testing.account import lost, miscounted, untold
from forsy_retrace.testing.against_log import is_borne_out
from forsy_retrace.testing.case import BrokenLaw, Case
from forsy_retrace.testing.goldens import folder, folder_of
from forsy_retrace.testing.reading import care, named, read, reading, record_of
from forsy_retrace.testing.stage import stage
from forsy_retrace.trace import Trace

FOREIGN: tuple[tuple[str, bytes], ...] = (
    ("nothing", b""),
    ("a blank line", b"\n"),
    ("an empty object", b"{}\n"),
    ("an empty list", b"[]"),
    ("a number", b"42\n"),
    ("a text", b'"user"\n'),
    ("a null", b"null\n"),
    ("prose", b"Nothing to see here.\nMove along.\n"),
    ("an app's log", b'{"level":"info","time":1732150000,"msg":"started","pid":7}\n'),
    ("a package file", b'{"name":"shop","version":"1.0.0","scripts":{"test":"node --test"}}'),
    ("bytes", bytes(range(256))),
)
"""What no adapter may take for its own."""
OF_OTHERS: tuple[tuple[str, str, bytes], ...] = (
    (
        "claude-code",
        "a line of Claude Code",
        b'{"type":"user","uuid":"0a1b2c3d-0000-4000-8000-000000000001","parentUuid":null,'
        b'"sessionId":"0a1b2c3d-0000-4000-8000-000000000000","timestamp":"2026-02-03T10:00:00.000Z",'
        b'"cwd":"/srv/shop","version":"2.1.58","message":{"role":"user","content":"Hello."}}\n',
    ),
    (
        "codex",
        "a line of Codex",
        b'{"timestamp":"2026-02-03T10:00:00.000Z","type":"session_meta","payload":{"id":'
        b'"019a0000-0000-7000-8000-000000000000","timestamp":"2026-02-03T10:00:00.000Z",'
        b'"cwd":"/srv/shop","originator":"codex_cli_rs","cli_version":"0.98.0"}}\n',
    ),
    (
        "openai-chat",
        "a chat's messages",
        b'{"messages":[{"role":"user","content":"Hello."},{"role":"assistant","content":"Hi."}]}',
    ),
)
"""Logs of bundled adapters, which are no stranger's."""


def is_claimed_by_one_adapter(adapter: Adapter | str, case: Case) -> None:
    """`sniff` says True to the log, every other adapter says no, and it says no to what is no log.

    A log that `sniff` can't tell from others' is at least accepted where it is named. A bundled
    adapter may claim the log of another package's too, which comes first where it is named.
    The foreign contents lie under the log's own name: a name alone claims nothing.
    """
    own: Any = named(adapter)
    if case.refused is None:
        if not accepts(own, Source(case.path)):
            raise BrokenLaw(f"sniff does not say True to {case.path.name}.")
        asked = identify(Source(case.path)) if case.adapter in bundled() else []
        if rivals := [one for one in asked if one != case.adapter]:
            raise BrokenLaw(f"{case.path.name} is also claimed by {' and '.join(rivals)}.")
    _leaves_foreign_files_alone(own, case.adapter, case.path.name)


@lru_cache(maxsize=256)
def _leaves_foreign_files_alone(own: Any, adapter: str, name: str) -> None:
    """An adapter is asked once for each name that logs of it have."""
    others = [(what, data) for whose, what, data in OF_OTHERS if whose != adapter]
    with tempfile.TemporaryDirectory(prefix="forsy-") as away:
        path = Path(away) / name
        for what, data in (*FOREIGN, *others):
            path.write_bytes(data)
            with care(f"sniff, given {what},"):
                claimed = own.sniff(Source(path))
            if claimed is not False:
                raise BrokenLaw(f"sniff does not say False to a file that holds {what}.")


def accounts_for_every_record(adapter: Adapter | str, case: Case) -> None:
    """Every record of the log and of its companions gives an event, if only a Skipped.

    So does each item of a document's list whose other items do. Every file in the case's folder is
    the log's or one of its companions; what is read is used, omitted for a reason, or unreadable.
    """
    found = reading(adapter, case)
    if case.log is None:
        listed = {one.name for one in found.companions}
        missing = [name for name in case.companions() if name not in listed]
        if missing:
            raise BrokenLaw(f"{missing[0]} lies beside the log and is none of its companions.")
    files = (found.source, *found.companions)
    why = lost(found.events, files) or untold(found.events, files) or miscounted(found.traces)
    if why:
        raise BrokenLaw(why)


def reads_the_same_twice(adapter: Adapter | str, case: Case) -> None:
    """A second reading, also of a copy elsewhere, gives the same events and the same folder."""
    own, first = named(adapter), reading(adapter, case)
    again = read(own, case.adapter, Source(case.path))
    with stage(own, case) as copy:
        elsewhere = copy.events(own)
    for what, other in (("read again", again.events), ("read elsewhere", elsewhere)):
        pairs = zip(first.events, other, strict=False)
        differs = next((index for index, (old, new) in enumerate(pairs) if old != new), None)
        if differs is not None:
            line = first.events[differs].origin.evidence.line
            raise BrokenLaw(f"{what}, event {differs + 1} (line {line}) is another one.")
        if len(first.events) != len(other):
            raise BrokenLaw(f"{what}, the log gives another number of events.")
    try:
        old, new = folder(adapter, case), folder_of(own, case.adapter, again)
    except RetraceError:
        return  # another law's matter
    for name in old:
        if old[name] != new.get(name):
            raise BrokenLaw(f"read again, {name} holds other bytes.")


def answers_follow_calls(adapter: Adapter | str, case: Case) -> None:
    """A call is issued once and answered once, after it was issued, and makes exactly one step.

    A result without its call is left out by name. Whatever else names a call names one of the log.
    """
    found = reading(adapter, case)
    calls = {one.call for one in found.events if isinstance(one, ToolCall)}
    issued: dict[str, int] = {}
    answered: dict[str, int] = {}
    for event in found.events:
        line = event.origin.evidence.line
        if (meant := _call_that_it_means(event)) and meant not in calls:
            raise BrokenLaw(f"line {line} is about a call that the log does not issue.")
        if isinstance(event, SessionStart):
            issued, answered = {}, {}  # an id is unique within its session
        elif isinstance(event, ToolCall):
            if event.call in issued:
                at = issued[event.call]
                why = f"has the id of one at line {at}; see Calls"
                raise BrokenLaw(f"the call at line {line} {why}.")
            if event.call in answered:
                at = answered[event.call]
                raise BrokenLaw(f"the call at line {line} comes after its result at line {at}.")
            issued[event.call] = line
        elif isinstance(event, ToolResult):
            if event.call in answered:
                why = f"a second one, behind that of line {answered[event.call]}"
                more = "a later report is a notification, see Via"
                raise BrokenLaw(f"the result at line {line} is {why}; {more}.")
            answered[event.call] = line
    for trace in found.traces:
        _steps_and_calls(trace)


def _call_that_it_means(event: Event) -> str | None:
    match event:
        case Message(answers=call) | Delegation(call=call) | ToolCall(made_by=call):
            return call
    return None


def _steps_and_calls(trace: Trace) -> None:
    steps: dict[str, int] = {}
    for step in trace.steps:
        if step.call is not None:
            if step.call.call in steps:
                raise BrokenLaw(f"steps {steps[step.call.call]} and {step.step} are one call.")
            steps[step.call.call] = step.step
    for event in trace.session.events:
        if not isinstance(event, ToolCall | ToolResult) or event.call in steps:
            continue
        here = event.origin.evidence
        if here.record not in trace.left_out:
            what = "call" if isinstance(event, ToolCall) else "result"
            raise BrokenLaw(f"the {what} at line {here.line} is in no step, and left out unsaid.")


def every_value_has_a_ground_that_the_source_bears_out(adapter: Adapter | str, case: Case) -> None:
    """The trace keeps the strict format, and every value in it stands in the bytes it names.

    So does every picture and document that an event names.
    """
    found = reading(adapter, case)
    _judge_pictures(found.events, (found.source, *found.companions))
    is_borne_out(found, partial(folder, adapter, case))


def _judge_pictures(events: tuple[Event, ...], sources: tuple[Source, ...]) -> None:
    by_name = {one.name: one for one in sources}
    for event in events:
        here = event.origin.evidence
        for one in event.attachments if isinstance(event, Message | ToolResult) else ():
            if not one.pointer.startswith("/"):
                continue  # a file beside the log
            try:
                resolve(record_of(one.record or here, by_name), one.pointer)
            except LookupError:
                raise BrokenLaw(f"line {here.line} has no picture where one is named.") from None
