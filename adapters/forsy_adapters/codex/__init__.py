"""Codex sessions: rollouts below `~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`.

Bare Responses items under a header (August 2025), `{timestamp, type, payload}` envelopes (from
0.39), one JSON document (the TypeScript client); also what `codex exec --json` prints, old and
new, alone or behind another program's log prefix, and the screen's own session log. A rollout
says everything twice, as items and as events; the items count. From 0.16x on a human who goes back
to an earlier turn begins a file of its own, `rollout-<time>-<id>_<id of the file>.jsonl`. Learnt
from 0.39 to 0.171.
"""

import re
from collections.abc import Iterator
from glob import escape
from itertools import chain

from forsy_retrace.events import Event, Skipped
from forsy_retrace.sdk import Shows, later
from forsy_retrace.source import Record, Source

from .rollout import Rollout
from .stream import Stream
from .survey import survey
from .units import STREAM, is_ours, origin, units

SHOWS = Shows(
    words="yes",
    calls="yes",
    results="yes",
    exit_status="mostly",
    time="mostly",
    cwd="yes",
    reasoning="sometimes",
    edits="mostly",
    subagents="sometimes",
    harness="Codex",
    stores=(
        "~/.codex/sessions/*/*/*/rollout-*.jsonl",
        "~/.codex/sessions/*/*/*/rollout-*.jsonl.zst",
        "~/.codex/archived_sessions/*.jsonl",
        "~/.codex/archived_sessions/*.jsonl.zst",
    ),
    cannot=(
        "the tools on offer (a rollout names only those used)",
        "reasoning beyond its summaries, which the client stores encrypted",
        "what a web search brought back",
        "at which lines of a file a patch took hold",
    ),
    tools={"spawn_agent": "Task", "send_message_to_user_async": "SendUserMessage"},
    marks_cuts=True,
)

QUOTED = later(
    r'^(?:\[[^\]\n]{1,40}\] ){1,3}\{"type":"(?:thread\.started|turn\.started|item\.)', re.M
)
"""A line of `codex exec --json` behind a logger's prefix."""
MAX_TEXT = 64 << 20
IDENT = later(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
DAY = len("rollout-2026-01-31")
"""Of a file's name: those of another day lie in another folder."""


def sniff(source: Source) -> bool:
    """A rollout's envelopes or header, or the events of `codex exec`, in the first records."""
    head = source.head
    if any(is_ours(record.value) for record in head):
        return True
    if not head or any(not record.problem for record in head):
        return False
    return QUOTED.search(source.text(MAX_TEXT) or "") is not None


def companions(source: Source) -> Iterator[Source]:
    """The files of the same day in which the session goes on from an earlier turn."""
    name = source.path.name
    match source.head:
        case [Record(value={"type": "session_meta", "payload": {"id": str(ident)}}), *_] if (
            IDENT.match(ident) and f"{ident}_" not in name
        ):
            day = name[:DAY] if name.startswith("rollout-") else "rollout-"
            yield from source.beside(f"{escape(day)}*-{ident}_*.jsonl*")


def read(source: Source) -> Iterator[Event]:
    """The session's events in the order of the file, and of those that go on from it."""
    files = [source, *companions(source)]
    found = survey(files)
    rollout, stream = Rollout(found), Stream(found)
    for number, record in enumerate(chain.from_iterable(one.records() for one in files)):
        if record.problem:
            between = found.streamed and record.problem == "unreadable: not JSON"
            reason = "between the records: not JSON" if between else record.problem
            yield Skipped(origin(record), reason)
            continue
        told: list[Event] = []
        for unit in units(record, number):
            told += (stream if unit.kind in STREAM else rollout).read(unit)
        yield from told or [Skipped(origin(record), "nothing new in it")]
    yield from rollout.reports.streamed.told()
