"""Codex sessions: rollouts below `~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`.

Bare Responses items under a header (August 2025), `{timestamp, type, payload}` envelopes (from
0.39), one JSON document (the TypeScript client); also what `codex exec --json` prints, old and
new, alone or behind another program's log prefix, and the screen's own session log. A rollout
says everything twice, as items and as events; the items count. Learnt from 0.39 to 0.157.
"""

import re
from collections.abc import Iterator

from forsy_retrace.events import Event, Skipped
from forsy_retrace.sdk import Shows, later
from forsy_retrace.source import Source

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
    tools={"spawn_agent": "Task"},
    marks_cuts=True,
)

QUOTED = later(
    r'^(?:\[[^\]\n]{1,40}\] ){1,3}\{"type":"(?:thread\.started|turn\.started|item\.)', re.M
)
"""A line of `codex exec --json` behind a logger's prefix."""
MAX_TEXT = 64 << 20


def sniff(source: Source) -> bool:
    """A rollout's envelopes or header, or the events of `codex exec`, in the first records."""
    head = source.head
    if any(is_ours(record.value) for record in head):
        return True
    if not head or any(not record.problem for record in head):
        return False
    return QUOTED.search(source.text(MAX_TEXT) or "") is not None


def read(source: Source) -> Iterator[Event]:
    """The session's events in the order of the file."""
    found = survey(source)
    rollout, stream = Rollout(found), Stream(found)
    for number, record in enumerate(source.records()):
        if record.problem:
            between = found.streamed and record.problem == "unreadable: not JSON"
            reason = "between the records: not JSON" if between else record.problem
            yield Skipped(origin(record), reason)
            continue
        told = False
        for unit in units(record, number):
            reader = stream if unit.kind in STREAM else rollout
            for event in reader.read(unit):
                told = True
                yield event
        if not told:
            yield Skipped(origin(record), "nothing new in it")
    yield from rollout.reports.streamed.told()
