"""Hermes Agent's sessions: `~/.hermes/state.db`, with its `-wal`, which holds all of them.

`hermes sessions export` writes a session a line, with the same columns, or with `--format trace` a
message a line in the form of Claude Code, with the time and folder of the export. Until 0.14, and
later where a setting asks for it, the client wrote each as `sessions/session_<id>.json`, too, and
the gateway as `sessions/<id>.jsonl`. Messages are in the form of OpenAI's API. Learnt from 0.13 to
0.19 (hermes_state.py).
"""

from collections.abc import Iterator

from forsy_retrace.events import Event, Skipped
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Source

from .family import families
from .store import Stored, is_database, is_export, is_headed, is_lent, is_snapshot, stored
from .teller import told

SHOWS = Shows(
    words="yes",
    calls="yes",
    results="yes",
    exit_status="mostly",
    time="mostly",
    cwd="sometimes",
    reasoning="sometimes",
    edits="mostly",
    subagents="mostly",
    harness="Hermes Agent",
    stores=(
        "~/.hermes/state.db",
        "~/.hermes/sessions/session_*.json",
        "~/.hermes/sessions/*.jsonl",
        "what `hermes sessions export` writes",
    ),
    cannot=(
        "an error of the API that ended a turn",
        "when a call was made or words were said, but for the end of a turn, where turns were "
        "written when they had ended (until 0.15)",
        "what the client said to the agent to go on with a turn",
        "turns that the user took back before 0.16, and what was sent again",
        "the folder of commands, but for the one that the session began in",
        "which model answered, but for the last of a session",
    ),
    tools={
        "terminal": "bash",
        "execute_code": "python",
        "read_file": "Read",
        "write_file": "Write",
        "patch": "Edit",
        "search_files": "Grep",
        "process": "write_stdin",
        "web_search": "WebSearch",
        "web_extract": "WebFetch",
        "todo": "TodoWrite",
        "delegate_task": "Task",
        "skill_view": "Skill",
        "clarify": "AskUserQuestion",
        "send_message": "SendUserMessage",
    },
)


def sniff(source: Source) -> bool:
    """A session with its messages: in two tables, in an export, or as the client wrote it."""
    kinds = (is_export, is_snapshot, is_headed, is_lent)
    return any(
        is_database(one) or any(is_one(one.value) for is_one in kinds) for one in source.head
    )


def read(source: Source) -> Iterator[Event]:
    """Conversation by conversation, in the order in which they began."""
    sessions: list[Stored] = []
    for one in stored(source):
        if isinstance(one, Skipped):
            yield one
        else:
            sessions.append(one)
    for family in families(sessions):
        yield from told(family)
