"""GitHub Copilot CLI's sessions: `~/.copilot/session-state/<id>/events.jsonl`, older `<id>.jsonl`.

One event a line: `{type, data, id, timestamp, parentId}`, with `agentId` where a subagent acts.
What `copilot -p --output-format json` prints is read too. A rewind takes events out of the file.
Learnt from Copilot CLI 0.0.380, 1.0.10, 1.0.40 and 1.0.102, and the schema of its SDK 1.0.14.
"""

from collections.abc import Iterator

from forsy_retrace.events import Event
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Source

from .kinds import is_event
from .reader import Reader
from .survey import in_order, survey

SHOWS = Shows(
    words="yes",
    calls="yes",
    results="yes",
    exit_status="yes",
    time="yes",
    cwd="yes",
    reasoning="sometimes",
    edits="yes",
    subagents="yes",
    harness="GitHub Copilot CLI",
    stores=(
        "~/.copilot/session-state/*/events.jsonl",
        "~/.copilot/session-state/*.jsonl",
    ),
    cannot=(
        "the tools on offer",
        "what a rewind took back, which the client takes out of the log",
        "all that the agent saw of most failed calls: the log keeps a short message",
        "reasoning that its provider encrypts",
    ),
    tools={
        "view": "Read",
        "create": "Write",
        "edit": "Edit",
        "glob": "Glob",
        "grep": "Grep",
        "rg": "Grep",
        "bash": "bash",
        "powershell": "PowerShell",
        "read_bash": "write_stdin",
        "write_bash": "write_stdin",
        "read_powershell": "write_stdin",
        "write_powershell": "write_stdin",
        "web_fetch": "WebFetch",
        "web_search": "WebSearch",
        "update_todo": "TodoWrite",
        "task": "Task",
        "skill": "Skill",
        "ask_user": "AskUserQuestion",
        "exit_plan_mode": "ExitPlanMode",
        "task_complete": "finish",
    },
)


def sniff(source: Source) -> bool:
    """A session's start, or a turn in the same envelope, among the first records."""
    return any(is_event(record.value) for record in source.head)


def read(source: Source) -> Iterator[Event]:
    """The session's events in the order of the file, but where one belongs before the last."""
    found = survey(source)
    reader = Reader(found)
    for place, record in in_order(source.records()):
        yield from reader.read(place, record)
