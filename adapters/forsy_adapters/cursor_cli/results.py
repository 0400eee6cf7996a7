"""How a call ended, what came back, and what it changed."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from forsy_retrace.calls import Verdict
from forsy_retrace.events import Change, Meant, Origin, Outcome, ToolResult
from forsy_retrace.sdk import lines_of, number, packed, pointer, text_of, words

from .._cursor import NOBODY
from .._patches import deletes, hunks

Json = dict[str, Any]


class Body(NamedTuple):
    """A call as a record tells it: its key there, the tool, what was sent, what came back."""

    key: str
    tool: str
    sent: Any
    base: str
    path: str
    """Where what was sent stands below `base`."""
    named: str | None
    """Where the tool's name stands; None: the key tells it."""
    result: Any


ENDS: dict[str, tuple[Outcome, str]] = {
    "success": ("ok", "said-done"),
    "failure": ("failed", "error-text"),
    "error": ("failed", "error-text"),
    "spawnError": ("failed", "error-text"),
    "fileNotFound": ("failed", "error-text"),
    "invalidFile": ("failed", "error-text"),
    "writePermissionDenied": ("failed", "error-text"),
    "timeout": ("timed_out", "timed-out"),
    "permissionDenied": ("blocked", "not-permitted"),
    "rejected": ("rejected", "rejected-by-user"),
}
"""What the key of a result says of the call."""
TODO = "TODO_STATUS_"
"""What stands before the state of an item."""
SAYS = ("error", "message", "errorMessage", "reason")
"""Under which of these an end that is none says why."""


def meant(body: Body) -> Meant | None:
    """What the client's own tools work like."""
    match body.sent:
        case {"path": str(path), "fileText": str(text)} if body.key == "writeToolCall":
            return Meant("Write", {"file_path": path, "content": text})
        case {"providerIdentifier": str(server), "toolName": str(name), "args": dict(sent)}:
            return Meant(f"mcp__{server}__{name}", sent)
        case {"todos": list(todos)} if body.key == "updateTodosToolCall":
            return Meant("TodoWrite", {"todos": [_todo(one) for one in todos]})
        case {"path": str(path)} if body.key == "deleteToolCall" and "\n" not in path:
            return deletes(path)
        case dict() if body.key == "getMcpToolsToolCall":
            return Meant("ToolSearch", body.sent)
    return None


def _todo(item: Any) -> Any:
    match item:
        case {"content": str(text), "status": str(status)}:
            return {"content": text, "status": status.removeprefix(TODO).casefold()}
    return item


def result(body: Body, call: str, here: Origin) -> ToolResult:
    """What came back; `here` is the place of the call in the record."""
    end, told = _end(body.result)
    base = pointer("result", end) if end else "/result"
    place, pieces = here.below(base), list(_texts(body, end, told))
    shown = [one for one in pieces if one[0].strip()] or pieces[:1]
    verdict = _verdict(end, told, body.result)
    where = place.below(verdict.basis).evidence.pointer if verdict.rule else ""
    return ToolResult(
        place.joining([path for _, path in shown]),
        call,
        "\n\n".join(text for text, _ in shown) if shown else None,
        verdict.outcome,
        verdict.rule,
        where,
        verdict.exit_code,
        tuple(_changes(body, end, told, place.evidence.pointer)),
    )


def _end(told: Any) -> tuple[str, Any]:
    """The key of a result that says how the call ended, and what it holds."""
    held = told if isinstance(told, dict) else {}
    return next(((key, held[key]) for key in ENDS if key in held), ("", told))


def _verdict(end: str, told: Any, whole: Any) -> Verdict:
    held = told if isinstance(told, dict) else {}
    if any(isinstance(one, dict) and one.get("isBackground") is True for one in (told, whole)):
        return Verdict("launched", "said-done")
    code = number(held.get("exitCode"))
    if code is not None:
        return Verdict("failed" if code else "ok", "exit-code", "/exitCode", code)
    if held.get("isError") is True:
        return Verdict("failed", "error-flag", "/isError")
    if end == "rejected" and NOBODY.search(words(held.get("reason"))):
        return Verdict("blocked", "not-permitted", "/reason")
    return Verdict(*ENDS[end]) if end else Verdict()


def _texts(body: Body, end: str, told: Any) -> Iterator[tuple[str, str]]:
    """The texts that came back, and where they stand below the end."""
    match told:
        case None:
            return
        case {"stdout": str(out), "stderr": str(err)}:
            yield out, "/stdout"
            yield err, "/stderr"
        case {"interleavedOutput": str(text)}:
            yield text, "/interleavedOutput"
        case {"content": str(text)}:
            yield text, "/content"
        case {"path": str(), "message": str(text)}:
            yield text, "/message"
        case {"content": [*parts]} if parts and all(map(_part, parts)):
            for index, part in enumerate(parts):
                text, path = _part(part) or ("", "")
                yield text, pointer("content", index) + path
        case dict() if end not in ("", "success") and (key := _why(told)):
            yield told[key], pointer(key)
        case _:
            yield text_of(told), ""


def _part(part: Any) -> tuple[str, str] | None:
    """A text of an MCP server's answer."""
    match part:
        case {"text": {"text": str(text)}}:
            return text, "/text/text"
        case {"text": str(text)}:
            return text, "/text"
    return None


def _why(told: Json) -> str:
    return next((key for key in SAYS if words(told.get(key))), "")


def _changes(body: Body, end: str, told: Any, where: str) -> Iterator[Change]:
    """The files that the client says it changed, as it says they are now."""
    if end != "success":
        return
    match body.key, told:
        case "editToolCall", {"path": str(path), **rest}:
            before, after = rest.get("beforeFullFileContent"), rest.get("afterFullFileContent")
            diff = words(rest.get("diffString"))
            lines = lines_of(diff) if "@@ -" in diff else []
            at = next((i for i, line in enumerate(lines) if line.startswith("@@ -")), 0)
            yield Change(
                path,
                "modified",
                tuple(hunks(lines[at:])),
                before=packed(before) if isinstance(before, str) else None,
                after=after if isinstance(after, str) else None,
                pointer=where,
            )
        case "readToolCall", {
            "path": str(path),
            "content": str(text),
            "readRange": {"startLine": int(first), "endLine": int(last)},
            **rest,
        } if last - first == text.count("\n"):
            total, shown = number(rest.get("totalLines")), packed(text)
            yield Change(path, "shown", shown=shown, start=first, total=total, pointer=where)
        case "deleteToolCall", {"path": str(path), **rest}:
            gone = rest.get("prevContent")
            held = packed(gone) if isinstance(gone, str) else None
            yield Change(path, "deleted", before=held, pointer=where)
