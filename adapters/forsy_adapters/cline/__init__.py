"""Cline's sessions: `~/.cline/data/sessions/<id>/<id>.messages.json`, with what lies beside it.

One JSON object with messages in Anthropic's form, of which each has its time. Beside it lie what
the client knows of the session (`<id>.json`), its last compaction, and the messages of subagents.
`roo-code` reads the tasks of Cline before 3.0 (`ui_messages.json`). Learnt from Cline CLI 3.0.65.
"""

from collections.abc import Iterator

from forsy_retrace.events import Event, Skipped
from forsy_retrace.sdk import Shows, in_time
from forsy_retrace.source import Source

from .files import Doc, is_session, of_session
from .messages import Reader
from .session import compacted, facts

SHOWS = Shows(
    words="yes",
    calls="yes",
    results="yes",
    exit_status="mostly",
    time="yes",
    cwd="mostly",
    reasoning="sometimes",
    edits="mostly",
    subagents="yes",
    harness="Cline",
    stores=("~/.cline/data/sessions/*/*.messages.json",),
    cannot=(
        "the tools on offer",
        "compactions before the last",
    ),
    tools={
        "read_files": "Read",
        "search_codebase": "Grep",
        "run_commands": "bash",
        "editor": "Edit",
        "fetch_web_content": "WebFetch",
        "ask_question": "AskUserQuestion",
        "spawn_agent": "Task",
        "skills": "Skill",
    },
)


def sniff(source: Source) -> bool:
    """A session's messages."""
    return any(is_session(record.value) for record in source.head)


def companions(source: Source) -> Iterator[Source]:
    """What the client knows of the session, its last compaction, its subagents' messages."""
    for record in source.head:
        yield from of_session(source, record.value)


def read(source: Source) -> Iterator[Event]:
    """All messages of the session in the order in which they came."""
    own = [Doc(record) for record in source.records()]
    beside = [Doc(record) for one in companions(source) for record in one.records()]
    lead = next((doc for doc in own if is_session(doc.value)), None)
    if lead is None:
        yield from (Skipped(doc.here(""), doc.why) for doc in own)
        return
    reader = Reader(lead, beside)
    yield from reader.start()
    others = []
    for doc in (*own, *beside):
        if doc is lead:
            continue
        if doc.is_agent:
            others.append(reader.agent(doc))
        elif doc.is_meta:
            yield from facts(doc)
        elif doc.is_compaction:
            others.append(compacted(doc))
        else:
            yield Skipped(doc.here(""), doc.why)
    yield from in_time(reader.messages(lead, "agent"), *others)
