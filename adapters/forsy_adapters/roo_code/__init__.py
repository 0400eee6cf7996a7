"""Tasks of Cline before 3, Roo Code and Kilo Code before 7: `tasks/<id>/ui_messages.json`.

An array of what the client showed, each with its time: words, calls as the client shows them, what
a command printed, and with each request to the model how the calls before it ended. What the calls
brought is told by `api_conversation_history.json` beside it, where that is. Nothing has an id: a
request answers the calls before it. Learnt from Cline CLI 2.18 and the types of Roo Code 1.115.
"""

from collections.abc import Iterator

from forsy_retrace.events import Event, Fact, Origin, Skipped
from forsy_retrace.sdk import Shows, pointer
from forsy_retrace.source import Source

from .reader import PLACE, Reader, is_item
from .results import TOOLS

SHOWS = Shows(
    words="yes",
    calls="yes",
    results="mostly",
    exit_status="mostly",
    time="yes",
    cwd="sometimes",
    reasoning="sometimes",
    edits="mostly",
    subagents="no",
    harness="Cline or Roo Code",
    stores=(
        "~/.cline/data/tasks/*/ui_messages.json",
        "~/.config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/*/ui_messages.json",
        "~/.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/*/ui_messages.json",
        "~/.config/Code/User/globalStorage/kilocode.kilo-code/tasks/*/ui_messages.json",
    ),
    cannot=(
        "the arguments of calls as the agent sent them: the log has what the client shows",
        PLACE,
        "the tools on offer",
    ),
    tools=TOOLS,
)

HISTORY = "api_conversation_history.json"
STATE = ("task_metadata.json", "history_item.json")
"""What the client knows of the task."""


def sniff(source: Source) -> bool:
    """What a client showed, of which the first says or asks something."""
    return bool(source.head) and all(is_item(one.value) for one in source.head[:3])


def companions(source: Source) -> Iterator[Source]:
    """What the model was sent, and what the client knows of the task."""
    yield from source.called([HISTORY, *STATE])


def read(source: Source) -> Iterator[Event]:
    """The task's items in their order; what the model was sent tells what calls brought."""
    history = [record for one in source.called([HISTORY]) for record in one.records()]
    reader = Reader(history)
    for place, record in enumerate(source.records()):
        yield from reader.item(place, record)
        if place == 0:
            yield from _state(source)
    for record in history:
        told = "what a call brought, told there" if record.here.record in reader.used else ""
        why = record.problem or told or "repeated: what the model was sent"
        yield Skipped(Origin(record.here, None, "system"), why)


def _state(source: Source) -> Iterator[Event]:
    """The version of the client, as it was when it was last noted; where the task began."""
    for record in (record for one in source.called(STATE) for record in one.records()):
        here = Origin(record.here, None, "system")
        match record.value:
            case {"environment_history": [*_, {"cline_version": str(version)}] as noted}:
                where = here.below(pointer("environment_history", len(noted) - 1, "cline_version"))
                yield Fact(where, "version", version)
            case {"workspace": str(folder)} if folder:
                yield Fact(here.below("/workspace"), "shows", PLACE)
                yield Fact(here.below("/workspace"), "cwd", folder)
            case _:
                yield Skipped(here, record.problem or "state of the task")
