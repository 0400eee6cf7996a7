"""What Cursor's command line prints with `--output-format stream-json`, one run or several.

A tool is told by the key of its call (`shellToolCall`), how it ended by the key of its result. With
`--stream-partial-output` words come in pieces, and once more whole. Learnt from streams of 2025-10
to 2026-10 as programs that read them keep them; the client itself was not run.
"""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Event
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Source

from .reader import Reader

SHOWS = Shows(
    words="yes",
    calls="yes",
    results="yes",
    exit_status="yes",
    time="mostly",
    cwd="yes",
    reasoning="sometimes",
    edits="yes",
    subagents="no",
    harness="Cursor CLI",
    stores=("what `cursor-agent -p --output-format stream-json` prints",),
    cannot=(
        "the system prompt and the tools on offer",
        "what subagents did, but for their reports",
        "whether a person or a program wrote the prompt",
    ),
    marks_people=False,
    tools={
        "shell": "bash",
        "read": "Read",
        "edit": "Edit",
        "grep": "Grep",
        "semSearch": "Grep",
        "glob": "Glob",
        "ls": "LS",
        "updateTodos": "TodoWrite",
        "todo": "TodoWrite",
        "createPlan": "TodoWrite",
        "webFetch": "WebFetch",
        "webSearch": "WebSearch",
        "task": "Task",
        "askQuestion": "AskUserQuestion",
    },
)


def sniff(source: Source) -> bool:
    """The head of a run without Claude Code's list of tools, or a call in Cursor's form."""
    return any(_is_ours(record.value) for record in source.head)


def read(source: Source) -> Iterator[Event]:
    """The run's events in the order of the file."""
    reader = Reader()
    for record in source.records():
        yield from reader.read(record)
    yield from reader.end()


def _is_ours(value: Any) -> bool:
    match value:
        case {"type": "system", "subtype": "init", "apiKeySource": str(), "session_id": str()}:
            return "tools" not in value
        case {"type": "tool_call", "subtype": str(), "tool_call": dict()}:
            return True
    return False
