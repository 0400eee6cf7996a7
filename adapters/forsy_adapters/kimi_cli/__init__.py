"""Kimi CLI sessions: JSON lines in `~/.kimi/sessions/<md5 of the folder>/<session>/wire.jsonl`.

The file is what the agent told the client: turns, steps, parts of messages, calls, results; what a
subagent told is nested in it, but for one in the background, which has a file of its own. Names of
session, model and version stand nowhere in it; where the agent worked stands in the system prompt
of `context.jsonl` beside it (not before 1.20 or so). Learnt from 0.60, 1.12 and 1.52, the last.
"""

from collections.abc import Iterator

from forsy_retrace.events import Event
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Source

from .beside import PLACE, companions
from .session import Session
from .units import is_ours

__all__ = ["SHOWS", "companions", "read", "sniff"]

SHOWS = Shows(
    words="yes",
    calls="yes",
    results="yes",
    exit_status="mostly",
    time="yes",
    cwd="mostly",
    reasoning="sometimes",
    edits="mostly",
    subagents="mostly",
    harness="Kimi CLI",
    stores=("~/.kimi/sessions/*/*/wire.jsonl",),
    cannot=(
        "the model, the version of the client and the tools on offer",
        "what an error of the API said, or whether one cut off a step",
        "questions beside the work (`/btw`)",
        PLACE,
    ),
    tools={
        "Shell": "bash",
        "ReadFile": "Read",
        "ReadMediaFile": "Read",
        "WriteFile": "Write",
        "StrReplaceFile": "Edit",
        "FetchURL": "WebFetch",
        "SearchWeb": "WebSearch",
        "SetTodoList": "TodoWrite",
        "Agent": "Task",
    },
)


def sniff(source: Source) -> bool:
    """A message of the wire among the first records."""
    return any(is_ours(record.value) for record in source.head)


def read(source: Source) -> Iterator[Event]:
    """The session's events; those of an agent in the background stand where they happened."""
    return Session(source).events()
