"""Sessions of Continue, its command line and its editors: `~/.continue/sessions/<id>.json`.

One document: `{sessionId, title, workspaceDirectory, history}`. An item of the history holds a
message, and with it the state of each call that it asked for, which tells how that ended; editors
repeat the results as messages of their own. Nothing has a time. The command line leaves of a
history that it compacts the summary alone. Learnt from `@continuedev/cli` 1.5.47 and the types of
its core (ChatHistoryItem, ToolCallState).
"""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Event, Origin, Skipped
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Source

from .reader import Reader
from .results import TOOLS

SHOWS = Shows(
    words="yes",
    calls="yes",
    results="yes",
    exit_status="sometimes",
    time="no",
    cwd="yes",
    reasoning="sometimes",
    edits="mostly",
    subagents="no",
    harness="Continue",
    stores=("~/.continue/sessions/*.json",),
    cannot=(
        "when anything was done",
        "the work of subagents, but for what they report",
        "whether a command worked that printed no error",
        "what lay before a compaction of the command line",
        "an error of the API",
    ),
    tools=TOOLS,
)


def sniff(source: Source) -> bool:
    """A session's document."""
    return bool(source.head) and _is_session(source.head[0].value)


def _is_session(value: Any) -> bool:
    match value:
        case {"sessionId": str(), "workspaceDirectory": str(), "history": list(items)}:
            return all(isinstance(one, dict) and "message" in one for one in items[:3])
    return False


def read(source: Source) -> Iterator[Event]:
    """The session's history, in its order."""
    for record in source.records():
        if _is_session(record.value):
            yield from Reader(record).events()
        else:
            where = Origin(record.here, None, "system")
            yield Skipped(where, record.problem or "not a session of Continue")
