"""Crush's database: `.crush/crush.db` in the folder of a project, with its `-wal`.

It has a row for each session, each message (its parts are JSON) and each version of a file; all of
it may stand in the `-wal` alone. The results of calls are messages of their own; a subagent's
session is named for the message and the call that sent it, and is told within the session that did.
Learnt from the source of Crush of 2025 and 2026 (`internal/db`, `internal/message`,
`internal/agent`), not from runs of it.
"""

from collections.abc import Iterator

from forsy_retrace.events import Event
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Source

from .._history.rows import has_table
from .stored import MESSAGES, SESSIONS, stored
from .teller import told

SHOWS = Shows(
    words="yes",
    calls="yes",
    results="yes",
    exit_status="mostly",
    time="yes",
    cwd="sometimes",
    reasoning="sometimes",
    edits="yes",
    subagents="yes",
    harness="Crush",
    stores=("<project>/.crush/crush.db",),
    cannot=(
        "the system prompt and the tools on offer",
        "the tokens of each answer: a session keeps only those of the last",
        "whether words were typed while the agent worked",
        "messages that were deleted",
    ),
    tools={
        "view": "Read",
        "write": "Write",
        "edit": "Edit",
        "multiedit": "Edit",
        "ls": "LS",
        "glob": "Glob",
        "grep": "Grep",
        "fetch": "WebFetch",
        "web_fetch": "WebFetch",
        "web_search": "WebSearch",
        "sourcegraph": "WebSearch",
        "todos": "TodoWrite",
        "agent": "Task",
        "agentic_fetch": "Task",
        "job_output": "write_stdin",
        "job_kill": "write_stdin",
    },
)


def sniff(source: Source) -> bool:
    """Sessions that may have a parent, and messages whose parts stand in a column."""
    return has_table(source, SESSIONS, "id", "parent_session_id", "title") and has_table(
        source, MESSAGES, "id", "session_id", "role", "parts"
    )


def read(source: Source) -> Iterator[Event]:
    """Session by session, in the order in which they began."""
    yield from stored(source, told)
