"""Chat sessions of VS Code: `chatSessions/<id>.jsonl` in a workspace's storage, older `<id>.json`.

What `Chat: Export Chat` writes is read too. A `.jsonl` is a log of operations on one object: its
first line holds all of it, each later one sets a value of it or cuts and extends a list; what is
told is the object that they leave, and each value stands at the line that set it. The tools of
Copilot keep what they were given and brought in the metadata of a request's result. Learnt from VS
Code 1.139 with Copilot Chat 0.67 (objectMutationLog, chatSessionOperationLog, toolCallingLoop).
"""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Event, Origin, Skipped
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Source

from .replay import Operations
from .session import Session

SHOWS = Shows(
    words="yes",
    calls="yes",
    results="mostly",
    exit_status="mostly",
    time="mostly",
    cwd="sometimes",
    reasoning="sometimes",
    edits="mostly",
    subagents="sometimes",
    harness="VS Code Copilot Chat",
    stores=(
        "~/.config/Code/User/workspaceStorage/*/chatSessions/*.jsonl",
        "~/.config/Code/User/workspaceStorage/*/chatSessions/*.json",
        "~/.config/Code/User/globalStorage/emptyWindowChatSessions/*.jsonl",
        "~/Library/Application Support/Code/User/workspaceStorage/*/chatSessions/*.jsonl",
    ),
    cannot=(
        "the system prompt and the tools on offer",
        "what the calls of subagents were given, but for commands, and what they brought",
        "the input tokens of a turn: the log keeps those of its last call of the model",
    ),
    tools={
        "read_file": "Read",
        "copilot_readFile": "Read",
        "view_image": "Read",
        "copilot_viewImage": "Read",
        "create_file": "Write",
        "copilot_createFile": "Write",
        "replace_string_in_file": "Edit",
        "copilot_replaceString": "Edit",
        "multi_replace_string_in_file": "Edit",
        "copilot_multiReplaceString": "Edit",
        "insert_edit_into_file": "Edit",
        "copilot_insertEdit": "Edit",
        "edit_notebook_file": "Edit",
        "copilot_editNotebook": "Edit",
        "copilot_applyPatch": "Edit",
        "list_dir": "LS",
        "copilot_listDirectory": "LS",
        "file_search": "Glob",
        "copilot_findFiles": "Glob",
        "grep_search": "Grep",
        "copilot_findTextInFiles": "Grep",
        "semantic_search": "Grep",
        "copilot_searchCodebase": "Grep",
        "run_in_terminal": "bash",
        "copilot_runInTerminal": "bash",
        "get_terminal_output": "write_stdin",
        "send_to_terminal": "write_stdin",
        "fetch_webpage": "WebFetch",
        "copilot_fetchWebPage": "WebFetch",
        "manage_todo_list": "TodoWrite",
        "runSubagent": "Task",
        "skill": "Skill",
        "vscode_askQuestions": "AskUserQuestion",
        "task_complete": "finish",
    },
)


def sniff(source: Source) -> bool:
    """A session, or the first operation of its log."""
    value = source.head[0].value if source.head else None
    match value:
        case {"kind": 0, "v": {"sessionId": str(), "version": int(), "requests": list()}}:
            return True
    return _is_session(value)


def _is_session(value: Any) -> bool:
    match value:
        case {"requests": list(requests), "responderUsername": str()}:
            return all(_is_request(one) for one in requests[:3])
    return False


def _is_request(value: Any) -> bool:
    return isinstance(value, dict) and "message" in value


def read(source: Source) -> Iterator[Event]:
    """The session that the operations leave, then why other records tell nothing."""
    operations = Operations()
    told: set[tuple[str, int, int]] = set()
    parts: set[tuple[str, int, int]] = set()
    for record in source.records():
        problem = record.problem or operations.apply(record)
        if problem:
            told.add(record.here.record)
            yield Skipped(Origin(record.here, None, "system"), problem)
    for event in Session(operations).events():
        told.add(event.origin.evidence.record)
        parts.update(place.record for place in event.origin.pieces)
        yield event
    live = operations.live()
    for record in source.records():
        if record.here.record not in told:
            rest = "the rest of a text that another record begins"
            why = rest if record.here.record in parts else operations.reason(record, live)
            yield Skipped(Origin(record.here, None, "system"), why)
