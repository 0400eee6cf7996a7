"""Cursor's agent transcripts: `agent-transcripts/<id>/<id>.jsonl`, with those of its subagents, and
the `.txt` of before 2026-02.

A transcript holds what was said and called, and nothing that came back; only the user's words have
a time, to the minute. Learnt from transcripts of 2025-12 to 2026-09 that people published, and from
what readers of others measured.
"""

from collections.abc import Iterator

from forsy_retrace.events import Event
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Source

from .._cursor import TOOLS
from .lines import Lines, is_ours
from .pages import is_page, paged

SHOWS = Shows(
    words="yes",
    calls="yes",
    results="no",
    exit_status="no",
    time="rarely",
    cwd="no",
    reasoning="rarely",
    edits="sometimes",
    subagents="mostly",
    harness="Cursor",
    stores=("~/.cursor/projects/*/agent-transcripts/*/*.jsonl",),
    cannot=(
        "what any call brought back, and whether it worked",
        "when the agent acted: only the user's words have a time, to the minute",
        "the model, the system prompt and the tools on offer",
        "where the agent worked",
        "reasoning, but where it is written as words",
    ),
    tools=TOOLS,
)


def sniff(source: Source) -> bool:
    """A record of a role and a message of blocks alone; or a page that begins with the user."""
    return any(is_ours(record.value) for record in source.head) or is_page(source)


def companions(source: Source) -> Iterator[Source]:
    """The transcripts of the subagents."""
    if not is_page(source):
        yield from source.beside("subagents/*.jsonl")


def read(source: Source) -> Iterator[Event]:
    """The transcript in its order, each subagent's behind the call that sent it."""
    if is_page(source):
        yield from paged(source)
    else:
        yield from Lines(list(companions(source))).read(source)
