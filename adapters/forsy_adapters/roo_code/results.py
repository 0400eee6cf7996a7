"""How a call ended, by what the model was told of it, and what it comes to."""

import re
from typing import Any

from forsy_retrace.calls import Verdict
from forsy_retrace.events import Meant, Outcome
from forsy_retrace.sdk import Known, later, words

Json = dict[str, Any]

TOOLS: dict[str, Known] = {
    "command": "bash",
    "readFile": "Read",
    "newFileCreated": "Write",
    "editedExistingFile": "Edit",
    "appliedDiff": "Edit",
    "searchFiles": "Grep",
    "listFilesTopLevel": "LS",
    "listFilesRecursive": "LS",
    "webFetch": "WebFetch",
    "webSearch": "WebSearch",
    "updateTodoList": "TodoWrite",
    "newTask": "Task",
    "followup": "AskUserQuestion",
    "useSkill": "Skill",
}
"""The tools as the client calls them, and the known ones that they work like."""
ASKED_FOR = {
    # What a tool was asked for, where the rest of its record is what it found.
    "readFile": "path",
    "searchFiles": "regex",
    "listFilesTopLevel": "path",
    "listFilesRecursive": "path",
    "listCodeDefinitionNames": "path",
}
RESULT = later(r"\[(.{1,8000}?)\] Result:\s*", re.S)
"""How the result of a call begins: with the tool and what it was asked for."""
ENDS: tuple[tuple[str, Any, Outcome], ...] = (
    # How the result of a call begins that says how it ended.
    ("error-text", later(r"The tool execution failed with the following error:"), "failed"),
    ("rejected-by-user", later(r"The user denied this operation\b"), "rejected"),
    ("exit-code-told", later(r"Command failed with exit code (\d{1,10})\."), "failed"),
    ("exit-code-told", later(r"Command executed successfully \(exit code (0)\)\."), "ok"),
    ("still-running", later(r"Command is still running"), "launched"),
    ("edit-applied", later(r"The content was successfully saved to "), "ok"),
)
BLOCK = later(
    r"(?:-{3,}|<{3,}) SEARCH>?\n(?::start_line:\d+\n-{3,}\n)?(?P<old>.*?)\n?={3,}\n(?P<new>.*?)\n?"
    r"(?:\+{3,}|>{3,}) REPLACE",
    re.S,
)
"""A piece of an edit: what is looked for and what takes its place."""


def answers(text: str, about: str) -> bool:
    """Whether a text is the result of a call: a history that was condensed has others there."""
    told = RESULT.match(text)
    return told is not None and about in told[1]


def verdict_of(tool: str, text: str, place: str) -> Verdict:
    """How a call ended; tools that only look fail by an error alone, which the client marks."""
    for rule, pattern, outcome in ENDS:
        if told := pattern.match(text):
            code = int(told[1]) if rule == "exit-code-told" else None
            return Verdict(outcome, rule, place, code)
    return Verdict("ok", "no-error-text", place) if tool in ASKED_FOR else Verdict()


def meaning(tool: str, inner: Json) -> Meant | None:
    """What a call comes to in words that rules know."""
    match inner:
        case {"path": str(path), "content": str(text)} if tool == "newFileCreated":
            return Meant("Write", {"file_path": path, "content": text})
        case {"path": str(path), "readLineStart": int(first), "readLineEnd": int(last)}:
            return Meant("Read", {"file_path": path, "offset": first, "limit": last - first + 1})
        case {"path": str(path)} if tool == "readFile":
            return Meant("Read", {"file_path": path})
        case {"path": str(path), "regex": str(regex)}:
            return Meant("Grep", {"pattern": regex, "path": path})
        case {"path": str(path), **rest} if tool in ("editedExistingFile", "appliedDiff"):
            pieces = list(BLOCK.finditer(words(rest.get("diff"), rest.get("content"))))
            if len(pieces) == 1:
                old, new = pieces[0]["old"], pieces[0]["new"]
                sent = {"file_path": path, "old_string": old, "new_string": new}
                return Meant("Edit", sent)
            return Meant("Edit", {"file_path": path})
        case {"path": str(path)} if TOOLS.get(tool) == "LS":
            return Meant("LS", {"path": path})
    return None
