"""Qwen Code sessions: JSON lines in `~/.qwen/projects/<project>/chats/<session>.jsonl`.

The envelope is Claude Code's, the messages are Gemini's. Records form a tree: the last one ends the
visible line, what the user went back from was left. A call has an id only where its provider gives
one; its result names the tool. Since 0.24 a subagent has a log of its own, in
`subagents/<session>/` beside `chats/`. Learnt from 0.15 and 0.24 (chatRecordingService).
"""

from collections.abc import Iterator

from forsy_retrace.events import Event
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Source

from .reader import Reader
from .tree import Tree, is_ours

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
    harness="Qwen Code",
    stores=("~/.qwen/projects/*/chats/*.jsonl", "~/.qwen/projects/*/subagents/*/*.jsonl"),
    cannot=(
        "the system prompt and the tools on offer",
        "the work of subagents, but for what they report",
        "an error of the API, which the client keeps only as telemetry",
    ),
    tools={
        "read_file": "Read",
        "read_many_files": "Read",
        "write_file": "Write",
        "edit": "Edit",
        "list_directory": "LS",
        "glob": "Glob",
        "grep_search": "Grep",
        "web_fetch": "WebFetch",
        "web_search": "WebSearch",
        "todo_write": "TodoWrite",
        "ask_user_question": "AskUserQuestion",
        "exit_plan_mode": "ExitPlanMode",
        "skill": "Skill",
        "agent": "Task",
        "task": "Task",
    },
)


def sniff(source: Source) -> bool:
    """A record with the envelope and Gemini's parts among the first."""
    return any(is_ours(record.value) for record in source.head)


def read(source: Source) -> Iterator[Event]:
    """The session's events in the order of the file."""
    reader = Reader(Tree(source))
    for number, record in enumerate(source.records()):
        yield from reader.read(number, record)
