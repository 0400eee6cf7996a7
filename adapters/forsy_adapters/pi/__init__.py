"""Pi sessions below `~/.pi/agent/sessions/`, and the logs of all harnesses that keep Pi's form.

OpenClaw (`~/.openclaw/agents/*/sessions/`, with what a reset or deletion left there; since 2026.9
its database, which holds all sessions of an agent), Oh My Pi, and the session traces that Hugging
Face shows (a header with `harness`). Entries form a tree: the last one ends the visible line, the
other lines were left. Learnt from versions 1 to 4 of the form, by Pi 1.6 and OpenClaw 2026.9.
"""

import glob
from collections.abc import Iterable, Iterator

from forsy_retrace.events import Event, Origin, Skipped
from forsy_retrace.sdk import Shows, words
from forsy_retrace.source import Record, Source

from .._history.rows import is_rows
from .entries import Reader
from .stored import Rows, is_stored
from .tree import Survey, is_header, survey

SHOWS = Shows(
    words="yes",
    calls="yes",
    results="yes",
    exit_status="mostly",
    time="yes",
    cwd="yes",
    reasoning="sometimes",
    edits="mostly",
    subagents="no",
    harness="Pi",
    stores=(
        "~/.pi/agent/sessions/*/*.jsonl",
        "~/.openclaw/agents/*/agent/openclaw-agent.sqlite",
        "~/.openclaw/agents/*/sessions/*.jsonl*",
        "~/.omp/agent/sessions/*/*.jsonl",
    ),
    cannot=(
        "the system prompt and the tools on offer",
        "the work of subagents, which have sessions of their own",
        "reasoning that its provider encrypts",
    ),
    tools={
        "read": "Read",
        "write": "Write",
        "edit": "Edit",
        "grep": "Grep",
        "find": "Glob",
        "ls": "LS",
        "exec": "bash",
        "process": "write_stdin",
        "web_fetch": "WebFetch",
        "todo_write": "TodoWrite",
        "ask": "AskUserQuestion",
        "task": "Task",
        "subagent": "Task",
        "sessions_spawn": "Task",
    },
)


def sniff(source: Source) -> bool:
    """A session's header among the first records, or a table of entries."""
    return any(is_header(record.value) for record in source.head) or is_stored(source)


def companions(source: Source) -> Iterator[Source]:
    """The copies that OpenClaw made of a session: at a compaction, and before it wrote it anew."""
    name = source.path.name
    if name.endswith(".jsonl") and ".checkpoint." not in name:
        stem = glob.escape(name.removesuffix(".jsonl"))
        yield from source.beside(f"{stem}.checkpoint.*.jsonl")
        yield from source.beside(f"{stem}.jsonl.bak-*")


def read(source: Source) -> Iterator[Event]:
    """The sessions' events in the order of the file, then the copies beside it."""
    if is_rows(source):
        rows = Rows()
        yield from rows.read(source)
        for session in rows.sessions:
            entries = rows.entries(session)
            yield from _told(entries, survey(entries))
        return
    found = survey(source.records())
    yield from _told(source.records(), found)
    for copy in companions(source):
        for record in copy.records():
            yield Skipped(Origin(record.here, None, "system"), _why_copied(record, found.ids))


def _told(records: Iterable[Record], found: Survey) -> Iterator[Event]:
    reader = Reader(found)
    for place, record in enumerate(records):
        yield from reader.read(place, record)


def _why_copied(record: Record, ids: set[str]) -> str:
    if record.problem:
        return record.problem
    held = isinstance(record.value, dict) and words(record.value.get("id")) in ids
    return "repeated: a copy of the session" if held else "only in a copy of the session"
