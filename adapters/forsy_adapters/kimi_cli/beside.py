"""What lies beside a session's wire file: its state, what the model was sent, background agents."""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from forsy_retrace.events import Event, Fact, Origin, Skipped
from forsy_retrace.sdk import later, words
from forsy_retrace.source import Record, Source

from .units import is_header, is_ours

PLACE = "where the agent worked"
STATE, CONTEXT, META, WIRE = "state.json", "context.jsonl", "meta.json", "wire.jsonl"
FOLDER = later(r"The current working directory is `([^`\n]{1,4000})`\.")


def companions(source: Source) -> Iterator[Source]:
    """The files of a session beside its own; beside a subagent's, what it is."""
    yield from source.called([STATE, CONTEXT, META])
    for one in source.beside(f"subagents/*/{WIRE}"):
        if any(is_ours(record.value) or is_header(record.value) for record in one.head):
            yield one


def name_of(source: Source) -> str:
    """The last part of a file's name."""
    return PurePath(source.name).name


def agent_of(source: Source) -> str:
    """The subagent whose file it is: the folder is called by its id."""
    return PurePath(source.name).parent.name


def is_subagent(source: Source) -> bool:
    """Whether a file by itself is a subagent's, as what lies beside it says."""
    beside = source.called([META])
    return any(_kind_of(record.value) for one in beside for record in one.records())


def facts(source: Source) -> Iterator[Event]:
    """What another file than a wire's tells of the session."""
    for record in source.records():
        here = Origin(record.here, None, "system")
        found = list(_facts(record, here))
        yield from found or [Skipped(here, record.problem or _why(record.value))]


def _facts(record: Record, here: Origin) -> Iterator[Event]:
    match record.value:
        case {"role": "_system_prompt", "content": str(text)}:
            where = here.below("/content")
            yield Fact(where, "system_prompt", text)
            if found := FOLDER.search(text):
                yield Fact(where, "shows", PLACE)
                yield Fact(where, "cwd", found[1])
        case {"approval": dict(), "custom_title": str(title)} if title.strip():
            yield Fact(here.below("/custom_title"), "title", title)


def _why(value: Any) -> str:
    match value:
        case {"role": str()}:
            return "what the model was sent, told by the wire"
        case {"agent_id": str()}:
            return "state of a subagent"
        case {"approval": dict()}:
            return "state of the session"
    return "not of a session"


def _kind_of(value: Any) -> str:
    match value:
        case {"agent_id": str(), "subagent_type": str(kind)}:
            return words(kind)
    return ""
