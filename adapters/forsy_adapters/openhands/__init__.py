"""OpenHands' conversations: `~/.openhands/conversations/<id>/base_state.json`, with its `events/`.

Each event is a file of its own; the log is the folder, named by it or by `base_state.json`. Its
subagents lie in `subagents/`. Learnt from the SDK 1.0 to 1.58.
"""

from collections.abc import Iterator

from forsy_retrace.events import Event
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Source

from .files import companions, is_page, members
from .shapes import (
    OFFERED,
    is_first,
    is_instance,
    is_old_first,
    is_old_session,
    is_state,
)
from .teller import told

__all__ = ["SHOWS", "companions", "read", "sniff"]

FIRST = (is_state, is_first, is_old_session, is_old_first, is_instance)
"""What a log begins with."""

SHOWS = Shows(
    words="yes",
    calls="yes",
    results="yes",
    exit_status="yes",
    time="no",
    cwd="yes",
    reasoning="sometimes",
    edits="mostly",
    subagents="mostly",
    harness="OpenHands",
    stores=(
        "~/.openhands/conversations/*/base_state.json",
        "~/.openhands/v1_conversations/*/*.json",
        "~/.openhands/sessions/*/events/*.json",
        "~/.openhands-state/sessions/*/events/*.json",
    ),
    cannot=(
        "when things happened: its clock names no zone",
        OFFERED,
    ),
    tools={
        "terminal": "bash",
        "execute_bash": "bash",
        "run": "bash",
        "execute_ipython_cell": "python",
        "run_ipython": "python",
        "read": "Read",
        "write": "Write",
        "edit": "Edit",
        "browse": "WebFetch",
        "task_tracking": "TodoWrite",
        "file_editor": "Edit",
        "glob": "Glob",
        "grep": "Grep",
        "task_tracker": "TodoWrite",
        "task": "Task",
        "invoke_skill": "Skill",
    },
)


def sniff(source: Source) -> bool:
    """A conversation's state, the event with which one begins, or what an evaluation wrote."""
    if source.is_archive:
        return bool(members(source))
    if is_page(source):
        return False  # a copy of events that lie beside it
    first = [record.value for record in source.head[:1]]
    return any(test(value) for value in first for test in FIRST)


def read(source: Source) -> Iterator[Event]:
    """All events of the conversation, in their order."""
    yield from told(source, list(companions(source)))
