"""OpenHands' conversations: `~/.openhands/conversations/<id>/base_state.json`, with its `events/`.

Each event is a file of its own; the log is the folder, named by itself or by `base_state.json`, or
by its first event where that is missing. Subagents lie in `subagents/`. Also what servers keep and
give out, lines of evaluations, and the sessions and trajectories of before the SDK. Learnt from the
SDK 1.0, 1.20 and 1.58 (EventLog, ConversationState), agent-server 1.58 and OpenHands 0.62.
"""

from collections.abc import Iterator

from forsy_retrace.events import Event
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Source

from .files import companions, is_page, members
from .shapes import (
    OFFERED,
    is_first,
    is_holder,
    is_old_event,
    is_old_first,
    is_old_session,
    is_state,
)
from .teller import told

__all__ = ["SHOWS", "companions", "read", "sniff"]

FIRST = (is_state, is_old_session, is_old_first, is_holder)
"""What a log begins with."""
BEFORE = 5
"""Events that may stand before and with the prompt: of hooks, or of the conversation's state."""

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
        "read_file": "Read",
        "view": "Read",
        "write": "Write",
        "write_file": "Write",
        "edit": "Edit",
        "edit_file": "Edit",
        "list_directory": "LS",
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
    first = [record.value for record in source.head[:BEFORE]]
    listed = len(first) > 1 and all(map(is_old_event, first))
    return (
        listed
        or any(test(value) for value in first[:1] for test in FIRST)
        or any(map(is_first, first))
    )


def read(source: Source) -> Iterator[Event]:
    """All events of the conversation, in their order."""
    yield from told(source, list(companions(source)))
