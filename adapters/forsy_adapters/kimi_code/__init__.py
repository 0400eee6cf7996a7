"""Kimi Code sessions: `~/.kimi-code/sessions/<folder>/<session>/`, by the `state.json` in each.

`state.json` names the session, its folder and its agents; what each agent did stands in
`agents/<agent>/wire.jsonl`, a log of operations in milliseconds. Such a file is read by itself too.
The client is Kimi CLI's successor, its log another. Learnt from 0.10, 0.30 and 2.1.
"""

from collections.abc import Iterator

from forsy_retrace.events import Event
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Source

from .records import is_ours, is_state
from .session import Session, companions

__all__ = ["SHOWS", "companions", "read", "sniff"]

SHOWS = Shows(
    words="yes",
    calls="yes",
    results="yes",
    exit_status="mostly",
    time="yes",
    cwd="yes",
    reasoning="sometimes",
    edits="no",
    subagents="yes",
    harness="Kimi Code",
    stores=("~/.kimi-code/sessions/*/*/state.json",),
    cannot=(
        "commands that only the client took, such as `/model`",
        "questions beside the work (`/btw`)",
        "files before and after an edit, which the client keeps apart",
    ),
    tools={
        "Bash": "bash",
        "ReadMediaFile": "Read",
        "FetchURL": "WebFetch",
        "TodoList": "TodoWrite",
        "Agent": "Task",
        "AgentSwarm": "Task",
    },
)


def sniff(source: Source) -> bool:
    """A session's state, or an operation among the first records."""
    return any(is_state(record.value) or is_ours(record.value) for record in source.head)


def read(source: Source) -> Iterator[Event]:
    """The session's events; subagents' stand where they happened."""
    return Session(source).events()
