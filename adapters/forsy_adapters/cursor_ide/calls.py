"""What a call was given, and what it works like."""

from typing import Any

from forsy_retrace.events import Meant
from forsy_retrace.sdk import number, parsed, words

from .._cursor import meant as meant_by_agent
from .._patches import deletes
from .held import Json, opened

PATHS = (
    *("target_file", "targetFile", "file_path", "filePath", "path"),
    *("relativeWorkspacePath", "relative_workspace_path", "target_notebook"),
    *("target_directory", "targetDirectory", "directoryPath"),
)
"""Under which of these arguments a tool names its file or folder; the client's own words for what
the model sent are written otherwise."""
READS = ("read_file", "read_file_v2")
LISTS = ("list_dir", "list_dir_v2")
GLOBS = ("file_search", "glob_file_search")
EDITS = ("edit_file", "edit_file_v2", "search_replace", "MultiEdit", "edit_notebook")
WRITES = "write"
DELETES = "delete_file"
SHELLS = ("run_terminal_cmd", "run_terminal_command", "run_terminal_command_v2")
STATE = "TODO_STATUS_"


def sent_in(call: Json) -> tuple[Any, str]:
    """The arguments as the model sent them, else as the client read them, and where."""
    for key in ("rawArgs", "params"):
        held = opened(call.get(key))
        if isinstance(held, dict) and held:
            return held, f"/{key}"
    raw = words(call.get("rawArgs"))
    return (raw, "/rawArgs") if raw else (None, "")


def path_in(sent: Any) -> str:
    """The file or folder that arguments name; empty where none."""
    return words(*map(sent.get, PATHS)) if isinstance(sent, dict) else ""


def path_of(call: Json) -> str:
    """The same of a call; the client's words for it name the whole path more often."""
    return path_in(opened(call.get("params"))) or path_in(opened(call.get("rawArgs")))


def meant(tool: str, sent: Any, call: Json) -> Meant | None:
    """The call that rules take a call for; None for one that they know as it is."""
    if server := _of_a_server(tool, sent, call):
        return server
    if not isinstance(sent, dict):
        return None
    path = path_in(sent) or path_of(call)
    if path and tool in READS:
        return Meant("Read", {"file_path": path, **_lines(sent)})
    if path and tool in LISTS:
        return Meant("LS", {"path": path})
    if tool in GLOBS:
        pattern = words(sent.get("glob_pattern"), sent.get("globPattern"), sent.get("query"))
        return Meant("Glob", {"pattern": pattern, "path": path}) if pattern else None
    if path and tool in (*EDITS, WRITES):
        return _writing(path, tool, sent)
    if path and tool == DELETES and "\n" not in path:
        return deletes(path)
    if tool == "todo_write":
        return _planned(sent)
    if tool == "get_mcp_tools":
        return Meant("ToolSearch", sent)
    return meant_by_agent(tool, sent)


def _of_a_server(tool: str, sent: Any, call: Json) -> Meant | None:
    """A tool of an MCP server: the client's words for its arguments name the server."""
    match opened(call.get("params")):
        case {"tools": [{"name": str(name), "serverName": str(server), **rest}, *_]} if name:
            given = opened(rest.get("parameters"))
            return Meant(f"mcp__{server}__{name}", given if isinstance(given, dict) else sent)
        case {"server": str(server), "toolName": str(name), **rest} if name:
            return Meant(f"mcp__{server}__{name}", opened(rest.get("toolArgs")))
    return None


def _lines(sent: Json) -> dict[str, int]:
    """Which lines a reader was asked for, in the words of the known one."""
    first = number(sent.get("start_line_one_indexed"))
    last = number(sent.get("end_line_one_indexed_inclusive"))
    offset, limit = number(sent.get("offset")), number(sent.get("limit"))
    if first is not None and last is not None and sent.get("should_read_entire_file") is not True:
        offset, limit = first, last - first + 1
    found = {"offset": offset, "limit": limit}
    return {name: value for name, value in found.items() if value is not None and value > 0}


def _writing(path: str, tool: str, sent: Json) -> Meant:
    """A file that is written, or changed in place."""
    match sent:
        case {"contents": str(text)} | {"content": str(text)}:
            return Meant("Write", {"file_path": path, "content": text})
    kept = ("old_string", "new_string", "replace_all", "edits")
    known = "Write" if tool == WRITES else "Edit"
    return Meant(known, {"file_path": path, **{key: sent[key] for key in kept if key in sent}})


def _planned(sent: Json) -> Meant | None:
    """A list of things to do, which some versions send as a text."""
    todos = sent.get("todos")
    listed = parsed(todos) if isinstance(todos, str) else todos
    if not isinstance(listed, list):
        return None
    return Meant("TodoWrite", {**sent, "todos": [_todo(one) for one in listed]})


def _todo(item: Any) -> Any:
    match item:
        case {"content": str(), "status": str(status)}:
            return {**item, "status": status.removeprefix(STATE).casefold()}
    return item
