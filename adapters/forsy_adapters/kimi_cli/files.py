"""Which files a call changed, by the pieces that the client displays, or showed, by their lines."""

import difflib
from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Change, Hunk, Meant
from forsy_retrace.sdk import number, words

from .._kimi.shown import shown
from .results import blocks
from .units import Json

MOST_LINES = 2000
"""What differs within a longer piece is not told line by line."""


def changes(tool: str, sent: Any, value: Json, base: str) -> Iterator[Change]:
    """The files of a call that worked; paths are as the call names them."""
    path = words(sent.get("path")) if isinstance(sent, dict) else ""
    match tool:
        case "WriteFile" | "StrReplaceFile" if path:
            whole = None if _appends(sent) else sent.get("content")
            yield from _changed(path, value, base, whole if isinstance(whole, str) else None)
        case "ReadFile" if path:
            told = words(value.get("message"))
            yield from shown(path, words(value.get("output")), told, base + "/output")


def meant(tool: str, sent: Any) -> Meant | None:
    """A call with the arguments' names of other harnesses."""
    match tool, sent:
        case "ReadFile" | "ReadMediaFile", {"path": str(path)}:
            plain: Json = {"file_path": path}
            names = (("line_offset", "offset"), ("n_lines", "limit"))
            found = {new: number(sent.get(old)) for old, new in names}
            return Meant(tool, plain | {key: one for key, one in found.items() if one})
        case "WriteFile", {"path": str(path), "content": str(text)} if not _appends(sent):
            return Meant(tool, {"file_path": path, "content": text})
        case "StrReplaceFile", {"path": str(path), "edit": edit}:
            return Meant(tool, {"file_path": path} | _edits(edit))
        case "SetTodoList", {"todos": list(todos)}:
            return Meant(tool, {"todos": [_todo(one) for one in todos]})
        case "Glob", {"pattern": str(pattern), "directory": str(folder)}:
            return Meant(tool, {"pattern": pattern, "path": folder})
        case "TaskList", _:
            return Meant("list_agents", sent)
    return None


def _appends(sent: Json) -> bool:
    return sent.get("mode") == "append"


def _edits(edit: Any) -> Json:
    match edit:
        case {"old": str(old), "new": str(new)}:
            return {"old_string": old, "new_string": new, "replace_all": edit.get("replace_all")}
        case [*several]:
            return {"edits": [_edits(one) for one in several]}
    return {}


def _todo(item: Any) -> Any:
    match item:
        case {"title": str(title), "status": str(status)}:
            state = status.lower().replace(" ", "_")
            return {"content": title, "status": "completed" if state == "done" else state}
    return item


def _changed(path: str, value: Json, base: str, whole: str | None) -> Iterator[Change]:
    """One file, in the pieces that differ; `whole` is all of it, where the call wrote that."""
    found = [block for _, block in blocks(value) if block.get("type") == "diff"]
    if not found:
        return
    where = base + "/display"
    match found:
        case [{"old_text": "", "new_text": str()}] if whole is not None:
            return  # a new file is shown as an empty one is that was filled
        case _ if any(block.get("is_summary") is True for block in found):
            yield Change(path, "modified", after=whole, pointer=where)
        case _:
            yield Change(path, "modified", tuple(_pieces(found)), after=whole, pointer=where)


def _pieces(found: list[Json]) -> Iterator[Hunk]:
    for block in found:
        old, new = (words(block.get(key)).split("\n") for key in ("old_text", "new_text"))
        old, new = ([] if lines == [""] else lines for lines in (old, new))
        old_start, new_start = (number(block.get(key)) or 0 for key in ("old_start", "new_start"))
        lines = tuple(_lines(old, new))
        if lines:
            yield Hunk(old_start, new_start, lines)


def _lines(old: list[str], new: list[str]) -> Iterator[str]:
    if max(len(old), len(new)) > MOST_LINES:
        yield from (f"-{line}" for line in old)
        yield from (f"+{line}" for line in new)
        return
    for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        if tag == "equal":
            yield from (f" {line}" for line in old[a:b])
        else:
            yield from (f"-{line}" for line in old[a:b])
            yield from (f"+{line}" for line in new[c:d])
