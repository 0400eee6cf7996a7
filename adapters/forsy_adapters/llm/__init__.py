"""LLM: `logs.db` of its command and library, with its `-wal`, or what `llm logs --json` prints.

A conversation is a trace. Until 0.31 a row held a prompt and its response; since 0.32 messages
stand in a tree that turns point into, beside what older versions left. Requests that failed are not
logged, nor chains of calls that met their limit; exceptions of tools since 0.27. Learnt from
0.13, 0.19, 0.26, 0.31 and 0.36 (migrations.py, logs.py).
"""

from collections.abc import Iterator

from forsy_retrace.events import Event
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Source

from .._history.rows import has_table, is_rows
from .printed import is_printed, printed
from .stored import stored

SHOWS = Shows(
    words="yes",
    calls="yes",
    results="yes",
    exit_status="mostly",
    time="yes",
    cwd="no",
    reasoning="rarely",
    edits="no",
    subagents="no",
    harness="LLM",
    stores=("~/.config/io.datasette.llm/logs.db", "what `llm logs --json` prints"),
    cannot=(
        "whether a prompt was typed, or came of a template, a program or standard input",
        "requests that failed or were interrupted, or chains of calls that met their limit",
        "whether a call did what it was for whose tool raised nothing",
        "where its tools ran, or the bytes of attachments",
    ),
    marks_people=False,
)


def sniff(source: Source) -> bool:
    """Responses or turns in their tables, or printed as a list."""
    return (
        has_table(source, "responses", "id", "model", "prompt", "response", "conversation_id")
        or has_table(source, "turns", "id", "thread_id", "parent_message_hash", "tip_message_hash")
        or any(is_printed(record.value) for record in source.head[:1])
    )


def read(source: Source) -> Iterator[Event]:
    """Conversation by conversation, in the order in which they began."""
    yield from stored(source) if is_rows(source) else printed(source)
