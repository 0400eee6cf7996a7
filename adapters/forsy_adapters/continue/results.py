"""How a call ended, what it comes to, and which file it changed or showed."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.calls import Verdict
from forsy_retrace.events import Change, Meant, Origin, Outcome
from forsy_retrace.sdk import Known, later, opened, packed, words

from .._patches import hunks

Json = dict[str, Any]

TOOLS: dict[str, Known] = {
    "Read": "Read",
    "read_file": "Read",
    "read_file_range": "Read",
    "read_currently_open_file": "Read",
    "builtin_read_file": "Read",
    "Write": "Write",
    "create_new_file": "Write",
    "builtin_create_new_file": "Write",
    "Edit": "Edit",
    "MultiEdit": "Edit",
    "edit_existing_file": "Edit",
    "single_find_and_replace": "Edit",
    "multi_edit": "Edit",
    "builtin_edit_existing_file": "Edit",
    "List": "LS",
    "ls": "LS",
    "builtin_ls": "LS",
    "Search": "Grep",
    "grep_search": "Grep",
    "builtin_grep_search": "Grep",
    "file_glob_search": "Glob",
    "Bash": "bash",
    "run_terminal_command": "bash",
    "builtin_run_terminal_command": "bash",
    "CheckBackgroundJob": "write_stdin",
    "Fetch": "WebFetch",
    "fetch_url_content": "WebFetch",
    "search_web": "WebSearch",
    "builtin_search_web": "WebSearch",
    "Checklist": "TodoWrite",
    "Subagent": "Task",
    "Skills": "Skill",
    "read_skill": "Skill",
    "AskQuestion": "AskUserQuestion",
}
"""The tools of the command line and of the editors, and the known ones that they work like."""
SHELLS = ("Bash", "run_terminal_command", "builtin_run_terminal_command")
EXITED = later(
    r"(?:Error executing tool \w+: |Bash command failed: )?Error \(exit code (\d{1,10})\):"
)
CANCELED: tuple[tuple[str, Any, Outcome], ...] = (
    # Why a call did not run that was canceled, if its output says so.
    ("rejected-by-user", later(r"Permission denied by user"), "rejected"),
    ("approval-policy", later(r"Command blocked by security policy"), "blocked"),
)
STATUS: dict[str, Outcome] = {"done": "ok", "errored": "failed", "canceled": "interrupted"}
CREATED = "Successfully created file: "
DIFF = later(
    r"Successfully (?:edited|wrote to file:) [^\n]*\nDiff:\n"
    r"(?:Index: [^\n]*\n=+\n)?(?:--- [^\n]*\n\+\+\+ [^\n]*\n)?"
)
"""What stands before the pieces of a diff: the names of its file, too."""
READ = later(r"Content of ([^\n]*):\n")


def verdict(tool: str, status: str, text: str, here: Origin, path: str) -> Verdict:
    """How a call ended, by its state; that a command is done tells nothing of how it ended."""
    place = here.below(path).evidence.pointer
    if status == "canceled":
        for rule, pattern, outcome in CANCELED:
            if pattern.match(text):
                return Verdict(outcome, rule, place)
    if tool in SHELLS and (told := EXITED.match(text)):
        return Verdict("failed", "exit-code-in-output", place, int(told[1]))
    if status not in STATUS or (tool in SHELLS and status == "done"):
        return Verdict()
    return Verdict(STATUS[status], "status", here.below("/status").evidence.pointer)


def meant(tool: str, given: Any) -> Meant | None:
    """What a call comes to in words that rules know."""
    sent = opened(given) if isinstance(given, str) else given
    match sent:
        case {"filepath": str(path), "content": str(text)} if tool == "Write":
            return Meant("Write", {"file_path": path, "content": text})
        case {"filepath": str(path), "contents": str(text)}:
            return Meant("Write", {"file_path": path, "content": text})
        case {"filepath": str(path), "startLine": int(first), "endLine": int(last)}:
            if last >= first:
                limit = last - first + 1
                return Meant("Read", {"file_path": path, "offset": first, "limit": limit})
        case {"filepath": str(path)} if TOOLS.get(tool) == "Read":
            return Meant("Read", {"file_path": path})
        case {"command": str(line)} if tool in SHELLS:
            return Meant("bash", {"command": line})
        case {"filepath": str(path), "old_string": str(old), "new_string": str(new)}:
            return Meant("Edit", {"file_path": path, "old_string": old, "new_string": new})
        case {"dirpath": str(path)} | {"dirPath": str(path)} if TOOLS.get(tool) == "LS":
            return Meant("LS", {"path": path})
        case {"query": str(query)} if TOOLS.get(tool) == "Grep":
            return Meant("Grep", {"pattern": query})
        case dict() if tool in TOOLS and sent is not given:
            return Meant(TOOLS[tool], sent)
    return None


def changes(tool: str, state: Json, text: str, here: Origin) -> Iterator[Change]:
    """The file that a call changed or showed, by what the command line says of it."""
    sent = state.get("parsedArgs")
    given = sent if isinstance(sent, dict) else {}
    path, where = words(given.get("filepath"), given.get("file_path")), here.evidence.pointer
    if not path:
        return
    written = given.get("content") if tool == "Write" else None
    whole = written if isinstance(written, str) else None
    if text.startswith(CREATED) and whole is not None:
        yield Change(path, "created", after=whole, pointer=where)
    elif tool in ("Write", "Edit", "MultiEdit") and (head := DIFF.match(text)):
        made = tuple(hunks(text[head.end() :].split("\n")))
        if made:
            yield Change(path, "modified", made, after=whole, pointer=where)
        elif whole is not None:  # it held this before
            yield Change(path, "modified", before=packed(whole), after=whole, pointer=where)
    elif tool == "Read" and (head := READ.match(text)):
        held = packed(text[head.end() :].removesuffix("\n"))
        yield Change(path, "shown", shown=held, pointer=where)
