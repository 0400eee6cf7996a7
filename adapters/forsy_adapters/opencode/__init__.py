"""OpenCode's sessions: `opencode export ID` (a JSON document), or `opencode.db`, with its `-wal`.

The database holds all sessions, a row for each, for each message and for each part of one; those of
subagents are told within the session that sent them. An export is one session, with the same
messages and parts. Kilo (7 and later) keeps the same in `kilo.db`. Learnt from OpenCode 0.5 to
1.18, and Kilo 7.7.
"""

from collections.abc import Iterator

from forsy_retrace.events import Event
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Source

from .._history.rows import has_table, is_rows
from .stored import MESSAGES, PARTS, SESSIONS, exported, is_export, stored
from .teller import told

SHOWS = Shows(
    words="yes",
    calls="yes",
    results="yes",
    exit_status="yes",
    time="yes",
    cwd="yes",
    reasoning="sometimes",
    edits="yes",
    subagents="mostly",
    harness="OpenCode",
    stores=(
        "~/.local/share/opencode/opencode.db",
        "~/.local/share/kilo/kilo.db",
        "what `opencode export` writes",
    ),
    cannot=(
        "the system prompt and the tools on offer",
        "messages that the user took back before sending others",
        "whether the user typed a message, or called a custom command that it is the text of",
    ),
    tools={
        "read": "Read",
        "write": "Write",
        "edit": "Edit",
        "multiedit": "Edit",
        "list": "LS",
        "glob": "Glob",
        "grep": "Grep",
        "webfetch": "WebFetch",
        "websearch": "WebSearch",
        "codesearch": "WebSearch",
        "todowrite": "TodoWrite",
        "task": "Task",
        "skill": "Skill",
        "question": "AskUserQuestion",
        "plan_exit": "ExitPlanMode",
        "StructuredOutput": "finish",
    },
    marks_cuts=True,
)


def sniff(source: Source) -> bool:
    """A session with its messages and their parts: in one document, or in three tables."""
    return any(is_export(record.value) for record in source.head[:1]) or (
        has_table(source, MESSAGES, "id", "session_id", "data")
        and has_table(source, PARTS, "id", "message_id", "session_id", "data")
        and has_table(source, SESSIONS, "id", "directory", "version")
    )


def read(source: Source) -> Iterator[Event]:
    """Session by session, in the order in which they began."""
    if is_rows(source):
        yield from stored(source, told)
    else:
        for record in source.records():
            yield from exported(record, told)
