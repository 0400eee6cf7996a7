"""What an `apply_patch` does to which files: its own text, and the changes that Codex records."""

import difflib
import posixpath
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from forsy_retrace.events import Change, Hunk, Meant
from forsy_retrace.sdk import later, lines_of, words

BEGIN, END = "*** Begin Patch", "*** End Patch"
FILE = later(r"\*\*\* (Add|Update|Delete) File: (.+)")
MOVE = later(r"\*\*\* Move to: (.+)")
AT = later(r"@@ -(\d+)(?:,\d+)? \+(\d+)")
KINDS = {"Add": "created", "Update": "modified", "Delete": "deleted"}


PROGRAMS = ("apply_patch", "applypatch")
"""The tool that applies patches, and the programs of the client's shells that do."""
LINES = ("exec_command", "CommandExecution")
"""Calls whose bare text is a shell's line."""
LEAD = later(r"\s*cd[ \t]+(?:'([^'\n]+)'|\"([^\"$`\\\n]+)\"|([\w./~@+-]+))[ \t]*(?:&&|;|\n)")
PIECE = later(
    r"(?P<word>(?:'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.|[^\s;&|()<>'\"\\#])"
    r"(?:'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.|[^\s;&|()<>'\"\\])*+)"
    r"|<<<|<<-?[ \t]*['\"\\]?(?P<mark>[\w.-]+)['\"]?|(?P<end>\n)|(?P<joint>[;&|()]+)|\#[^\n]*|.",
    re.S,
)
"""A piece of a shell's line: enough to tell which program a here-document feeds."""
APPLIED = "Success. Updated the following files:"


class Patch(NamedTuple):
    """The patches that a call sends; `folder` is where their paths begin, if the call says so."""

    texts: tuple[str, ...]
    folder: str = ""
    fed: bool = False
    """A shell's line feeds them to a program: its own word counts, not the line's exit."""

    def took(self, output: str) -> bool:
        """Whether a call that ended well with this output applied them."""
        return not self.fed or output.count(APPLIED) == len(self.texts)


def deletes(path: str) -> Meant:
    """A call that deletes a file, as a patch that does."""
    patch = f"{BEGIN}\n*** Delete File: {path}\n{END}"
    return Meant("apply_patch", {"path": path, "input": patch})


def patch_in(tool: str, sent: Any) -> Patch | None:
    """What a call patches: by its input, an argument, or what its shell's line feeds a program.

    A text that only holds a patch is none: a page on patches, or code that may apply one.
    """
    match sent:
        case str(text) | {"input": str(text)} | {"patch": str(text)} if tool in PROGRAMS:
            return _patch([text])
        case {"command": ["apply_patch" | "applypatch", str(text)], **rest}:
            return _patch([text], words(rest.get("workdir")))
        case (
            {"command": [_, "-c" | "-lc", str(line)], **rest}
            | {"command": str(line), **rest}
            | {"cmd": str(line), **rest}
        ) if BEGIN in line:
            lead = LEAD.match(line)
            folder = next(filter(None, lead.groups())) if lead else ""
            found = list(_fed(line, lead.end() if lead else 0))
            return _patch(found, posixpath.join(words(rest.get("workdir")), folder), True)
        case str(line) if tool in LINES and BEGIN in line:
            return _patch(list(_fed(line, 0)), "", True)
    return None


def _patch(held: list[str], folder: str = "", fed: bool = False) -> Patch | None:
    begun = [text[text.find(BEGIN) :] for text in held if BEGIN in text]
    texts = tuple(text[: text.rfind(END)] if END in text else text for text in begun)
    return Patch(texts, folder, fed) if texts else None


def _fed(line: str, at: int) -> Iterator[str]:
    """The here-documents that are the input of `apply_patch`, as far as its folder is known."""
    line, name, waiting = f"{line}\n", "", list[tuple[str, str]]()
    while found := PIECE.match(line, at):
        at = found.end()
        match found.lastgroup:
            case "word":
                name = name or found[0]
                if name in ("cd", "pushd", "popd"):
                    return
            case "joint":
                name = ""
            case "mark":
                waiting.append((name, found["mark"]))
            case "end":
                for program, mark in waiting:
                    start, end = at, line.find(f"\n{mark}\n", at - 1)
                    at = end + len(mark) + 1 if end >= 0 else len(line)
                    if program in PROGRAMS:
                        yield line[start:at]
                name, waiting = "", []


def changes(patch: Patch, pointer: str = "") -> Iterator[Change]:
    """The files of a patch. Its hunks have no line numbers: 0 stands for an unknown one."""
    path, kind, moved, lines = "", "", "", list[str]()
    texts = [line for text in patch.texts for line in lines_of(text)]
    for line in [*texts, "*** Delete File: "]:
        if (found := FILE.match(line)) or line == "*** Delete File: ":
            if path:
                yield from _change(path, kind, moved, lines, pointer)
            if found:
                path, kind, moved, lines = _below(patch.folder, found[2]), found[1], "", []
        elif found := MOVE.match(line):
            moved = _below(patch.folder, found[1])
        elif line[:1] in ("+", "-", " ", "@"):
            lines.append(line)


def _below(folder: str, path: str) -> str:
    path = path.strip()
    return path if path[1:2] == ":" else posixpath.join(folder, path)


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
    """The pieces of a patch, or of a unified diff below the names of its files."""
    start, held = (0, 0), list[str]()
    for line in [*lines, "@@"]:
        if line.startswith("@@"):
            if held:
                yield Hunk(*start, tuple(held))
            found = AT.match(line)
            start, held = (int(found[1]), int(found[2])) if found else (0, 0), []
        elif line[:1] in (" ", "+", "-"):
            held.append(line)


MOST_LINES = 5000


def differences(before: str, after: str) -> tuple[Hunk, ...]:
    """What changed between two texts; nothing where that takes too long to tell."""
    old, new = lines_of(before), lines_of(after)
    if max(len(old), len(new)) > MOST_LINES:
        return ()
    return tuple(hunks(list(difflib.unified_diff(old, new, lineterm=""))[2:]))


def kept(told: Any) -> Iterator[Change]:
    """The changes of a patch as the client keeps them: by path, or in a list."""
    yield from recorded(told)
    yield from listed(told)


def recorded(told: Any) -> Iterator[Change]:
    """The changes that a `patch_apply` event records, by path."""
    for path, one in told.items() if isinstance(told, dict) else ():
        match one:
            case {"add": {"content": str(text)}} | {"type": "add", "content": str(text)}:
                yield Change(path, "created", after=text)
            case {"delete": _} | {"type": "delete"}:
                yield Change(path, "deleted")
            case {"update": {"unified_diff": str(diff), **more}} | {
                "type": "update",
                "unified_diff": str(diff),
                **more,
            }:
                moved = more.get("move_path")
                if isinstance(moved, str) and moved:
                    yield Change(path, "deleted")
                    path = moved
                pieces = tuple(hunks(lines_of(diff)))
                yield Change(path, "modified", pieces)


def listed(told: Any) -> Iterator[Change]:
    """The changes of a `file_change` item: paths and kinds, no more."""
    kinds = {"add": "created", "delete": "deleted", "update": "modified"}
    for one in told if isinstance(told, list) else ():
        match one:
            case {"path": str(path), "kind": "add" | "delete" | "update" as kind}:
                yield Change(path, kinds[kind])  # type: ignore[arg-type]  # the table's values are Change's kinds
