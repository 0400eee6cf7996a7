"""What an `apply_patch` does to which files: its own text, and the changes that events record."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Change, Hunk
from forsy_retrace.sdk import later

BEGIN, END = "*** Begin Patch", "*** End Patch"
FILE = later(r"\*\*\* (Add|Update|Delete) File: (.+)")
MOVE = later(r"\*\*\* Move to: (.+)")
AT = later(r"@@ -(\d+)(?:,\d+)? \+(\d+)")
KINDS = {"Add": "created", "Update": "modified", "Delete": "deleted"}


def patch_in(tool: str, sent: Any) -> str:
    """The patch that a call carries: as its input, as an argument, or inside a shell command."""
    match sent:
        case str(text) | {"input": str(text)} | {"patch": str(text)}:
            pass
        case {"command": ["apply_patch" | "applypatch", str(text)]}:
            pass
        case {"command": [*_, str(text)]} | {"command": str(text)} | {"cmd": str(text)}:
            if "apply_patch" not in text:
                return ""
        case _:
            return ""
    start, end = text.find(BEGIN), text.rfind(END)
    return text[start : end if end > start else len(text)] if start >= 0 else ""


def changes(patch: str, pointer: str = "") -> Iterator[Change]:
    """The files of a patch. Its hunks have no line numbers: 0 stands for an unknown one."""
    path, kind, moved, lines = "", "", "", list[str]()
    for line in [*patch.splitlines(), "*** Delete File: "]:
        if (found := FILE.match(line)) or line == "*** Delete File: ":
            if path:
                yield from _change(path, kind, moved, lines, pointer)
            if found:
                path, kind, moved, lines = found[2].strip(), found[1], "", []
        elif found := MOVE.match(line):
            moved = found[1].strip()
        elif line[:1] in ("+", "-", " ", "@"):
            lines.append(line)


def _change(path: str, kind: str, moved: str, lines: list[str], pointer: str) -> Iterator[Change]:
    if kind == "Add":
        after = "".join(f"{line[1:]}\n" for line in lines if line.startswith("+"))
        yield Change(path, "created", after=after, pointer=pointer)
    elif kind == "Delete":
        yield Change(path, "deleted", pointer=pointer)
    else:
        if moved:
            yield Change(path, "deleted", pointer=pointer)
        yield Change(moved or path, "modified", tuple(hunks(lines)), pointer=pointer)


def hunks(lines: list[str]) -> Iterator[Hunk]:
    """The pieces of a patch, or of a unified diff; its file headers are no part of them."""
    start, held = (0, 0), list[str]()
    for line in [*lines, "@@"]:
        if line.startswith("@@"):
            if held:
                yield Hunk(*start, tuple(held))
            found = AT.match(line)
            start, held = (int(found[1]), int(found[2])) if found else (0, 0), []
        elif line[:1] in (" ", "+", "-"):
            held.append(line)


def recorded(told: Any, pointer: str) -> Iterator[Change]:
    """The changes that a `patch_apply` event records, by path."""
    for path, one in told.items() if isinstance(told, dict) else ():
        match one:
            case {"add": {"content": str(text)}} | {"type": "add", "content": str(text)}:
                yield Change(path, "created", after=text, pointer=pointer)
            case {"delete": _} | {"type": "delete"}:
                yield Change(path, "deleted", pointer=pointer)
            case {"update": {"unified_diff": str(diff), **more}} | {
                "type": "update",
                "unified_diff": str(diff),
                **more,
            }:
                moved = more.get("move_path")
                if isinstance(moved, str) and moved:
                    yield Change(path, "deleted", pointer=pointer)
                    path = moved
                pieces = tuple(hunks(diff.splitlines()))
                yield Change(path, "modified", pieces, pointer=pointer)


def listed(told: Any, pointer: str) -> Iterator[Change]:
    """The changes of a `file_change` item: paths and kinds, no more."""
    kinds = {"add": "created", "delete": "deleted", "update": "modified"}
    for one in told if isinstance(told, list) else ():
        match one:
            case {"path": str(path), "kind": "add" | "delete" | "update" as kind}:
                yield Change(path, kinds[kind], pointer=pointer)  # type: ignore[arg-type]  # the table's values are Change's kinds
