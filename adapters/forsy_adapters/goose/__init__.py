"""Goose's sessions: `sessions.db` with its `-wal`, `goose session export --format json`, or lines.

The database holds all sessions, and their messages as JSON; those of subagents are told within the
session that sent them. An export is one session, and so is what a run prints. Until 1.9 each
session was a file of lines: what is known of it, then its messages. A result stands in the user's
role, and has no time of its own: its message was made before the call ran. Learnt from Goose 1.37
and 1.52 (schemas 13 and 16), and from the sources of 1.0 to 1.10 (`session/storage.rs`,
`message.rs`).
"""

from collections.abc import Iterator

from forsy_retrace.events import Event
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Source

from .._history.rows import has_table, is_rows
from .results import TOOLS
from .stored import (
    MESSAGES,
    SESSIONS,
    exported,
    has_calls,
    is_export,
    is_head,
    is_message,
    is_printed,
    lines,
    stored,
)
from .teller import told

SHOWS = Shows(
    words="yes",
    calls="yes",
    results="yes",
    exit_status="mostly",
    time="mostly",
    cwd="yes",
    reasoning="sometimes",
    edits="mostly",
    subagents="mostly",
    harness="Goose",
    stores=(
        "~/.local/share/goose/sessions/sessions.db",
        "~/.local/share/goose/sessions/*.jsonl",
        "what `goose session export --format json` and `goose run --output-format json` write",
    ),
    cannot=(
        "the system prompt and the tools on offer",
        "when a call ended",
        "which calls one answer asked for, where each is a message of its own",
        "work that the user stopped, which is not kept",
        "whether the user or a setting declined a call",
        "most errors of the API",
    ),
    tools=TOOLS,
    marks_cuts=True,
)


def sniff(source: Source) -> bool:
    """Sessions and messages in two tables; a session with its messages; lines of such messages."""
    if is_rows(source):
        return has_table(source, MESSAGES, "session_id", "content_json", "created_timestamp") and (
            has_table(source, SESSIONS, "id", "working_dir")
        )
    values = [record.value for record in source.head]
    if any(is_export(value) or is_printed(value) for value in values[:1]):
        return True
    if any(map(is_head, values[:1])):
        return any(map(is_message, values[1:]))
    return any(is_message(value) and has_calls(value) for value in values)


def read(source: Source) -> Iterator[Event]:
    """Session by session, in the order of the log."""
    if is_rows(source):
        yield from stored(source, told)
    elif any(is_export(one.value) or is_printed(one.value) for one in source.head[:1]):
        for record in source.records():
            yield from exported(record, told)
    else:
        yield from lines(source, told)
