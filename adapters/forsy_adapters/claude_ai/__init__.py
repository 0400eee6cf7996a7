"""Conversations of claude.ai: `conversations.json` of the data export, the zip as it came, and one
conversation as the web client is given it.

Messages name the one that they answer, so that what was edited or asked again stays beside what
came in its place. Learnt from conversations of 2023-12 to 2026-09, whose newest name the calls
that results answer.
"""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Event, Origin, Skipped
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Source

from .conversation import Reader

SHOWS = Shows(
    words="yes",
    calls="yes",
    results="mostly",
    exit_status="sometimes",
    time="yes",
    cwd="no",
    reasoning="sometimes",
    edits="sometimes",
    subagents="no",
    harness="Claude.ai",
    stores=("conversations.json of a data export, or its zip",),
    cannot=(
        "the system prompt, the tools on offer, and mostly the model",
        "pictures and files: an export names them and keeps the text of some",
        "what happened within a search that was handed to other agents",
    ),
    tools={
        "bash_tool": "bash",
        "create_file": "Write",
        "str_replace": "Edit",
        "view": "Read",
        "web_fetch": "WebFetch",
        "web_search": "WebSearch",
    },
)

EXPORT = "conversations.json"


def sniff(source: Source) -> bool:
    """A conversation among the first records, here or in the zip."""
    logs = source.members(EXPORT) if source.is_archive else [source]
    return any(_is_ours(record.value) for one in logs for record in one.head)


def companions(source: Source) -> Iterator[Source]:
    """The zip's conversations."""
    if source.is_archive:
        yield from source.members(EXPORT)


def read(source: Source) -> Iterator[Event]:
    """Each conversation in the order of the file, one at a time."""
    reader = Reader()
    for one in [source, *companions(source)]:
        for record in one.records():
            here = Origin(record.here, None, "system")
            if record.problem:
                yield Skipped(here, record.problem)
            elif not _is_ours(record.value):
                yield Skipped(here, "not a conversation")
            else:
                yield from reader.read(record)


def _is_ours(value: Any) -> bool:
    match value:
        case {"uuid": str(), "chat_messages": list(), "created_at": str()}:
            return True
    return False
