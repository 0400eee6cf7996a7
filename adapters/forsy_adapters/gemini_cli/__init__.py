"""Gemini CLI sessions: `~/.gemini/tmp/<project>/chats/session-*.jsonl`, `.json` until early 2026.

The `.jsonl` is a log of operations: a message is written again as it grows, `$set` puts other
messages before the model without unsaying any, `$rewindTo` goes back. Subagents have files of
their own in a folder of the session's name. Learnt from 0.20, 0.33 and 0.61 (chatRecordingService),
and from a log of Bob Shell, which keeps the older form.
"""

from collections.abc import Iterator

from forsy_retrace.events import Event
from forsy_retrace.sdk import Shows, later
from forsy_retrace.source import Source

from .messages import PLACE, is_header
from .session import Session

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
    harness="Gemini CLI",
    stores=("~/.gemini/tmp/*/chats/session-*.json*",),
    cannot=(
        "the system prompt and the tools on offer",
        "commands that only the client took, such as `/stats`",
        "when a call ended that was sent together with a longer one",
        PLACE,
    ),
    tools={
        "read_file": "Read",
        "read_many_files": "Read",
        "write_file": "Write",
        "replace": "Edit",
        "list_directory": "LS",
        "list_files": "LS",
        "glob": "Glob",
        "grep_search": "Grep",
        "search_file_content": "Grep",
        "web_fetch": "WebFetch",
        "google_web_search": "WebSearch",
        "write_todos": "TodoWrite",
        "ask_user": "AskUserQuestion",
        "exit_plan_mode": "ExitPlanMode",
        "activate_skill": "Skill",
        "invoke_agent": "Task",
        "codebase_investigator": "Task",
        "complete_task": "finish",
    },
)

NAME = later(r"[\w-]+")
"""A session's, where it is the name of a folder too."""


def sniff(source: Source) -> bool:
    """A session's header among the first records."""
    return any(is_header(record.value) for record in source.head)


def companions(source: Source) -> Iterator[Source]:
    """The subagents' files, in a folder of the session's name."""
    names = (record.value["sessionId"] for record in source.head if is_header(record.value))
    for name in dict.fromkeys(names):
        if NAME.fullmatch(name):
            yield from filter(sniff, source.beside(f"{name}/*.json*"))


def read(source: Source) -> Iterator[Event]:
    """The session's events; a subagent's stand between the call that started it and its result."""
    return Session(source, list(companions(source))).events()
