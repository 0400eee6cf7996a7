"""Which files a call changed or showed, by the diff that the client keeps for the screen.

The diff counts what stands behind a file's last line end as an empty line: it is none.
"""

import re
from collections.abc import Iterator
from typing import Literal

from forsy_retrace.events import Change, Hunk
from forsy_retrace.sdk import later, packed, words

from .._patches import hunks
from .kinds import Json
from .results import is_folder

POINTER = "/data/result/detailedContent"
FILE = later(
    r"^diff --git [^\n]*\n(?:[a-z][^\n]*\n)*--- (?P<old>[^\n]*)\n\+\+\+ (?P<new>[^\n]*)\n", re.M
)
NOWHERE = ("a/dev/null", "b/dev/null", "/dev/null")


def changes(tool: str, sent: object, data: Json) -> Iterator[Change]:
    """The files of a call that worked."""
    result = data.get("result")
    diff = words(result.get("detailedContent")) if isinstance(result, dict) else ""
    if data.get("success") is not True or not diff or is_folder(data):
        return
    given = sent if isinstance(sent, dict) else {}
    path = words(given.get("path"))
    for old, new, pieces in _files(diff):
        match tool:
            case "view" if path:
                yield from _shown(path, pieces)
            case "create" if path and isinstance(given.get("file_text"), str):
                yield Change(path, "created", after=given["file_text"], pointer=POINTER)
            case "edit" if path:
                yield Change(path, "modified", pieces, pointer=POINTER)
            case "apply_patch":
                yield from _patched(old, new, pieces)


def _files(diff: str) -> Iterator[tuple[str, str, tuple[Hunk, ...]]]:
    """Each file of a diff: its name before and after, and its pieces."""
    heads = list(FILE.finditer(diff))
    for at, head in enumerate(heads):
        end = heads[at + 1].start() if at + 1 < len(heads) else len(diff)
        lines = diff[head.end() : end].split("\n")
        yield head["old"], head["new"], tuple(_ended(one) for one in hunks(lines))


def _ended(piece: Hunk) -> Hunk:
    """A piece without the empty line that stands for the end of the file's last."""
    *lines, last = piece.lines
    if last not in (" ", "+", "-"):
        return piece
    return Hunk(piece.old_start, piece.new_start, tuple(lines))


def _patched(old: str, new: str, pieces: tuple[Hunk, ...]) -> Iterator[Change]:
    before, after = (None if one in NOWHERE else _path(one) for one in (old, new))
    if before and before != after:
        yield Change(before, "deleted", () if after else pieces, pointer=POINTER)
    if after:
        kind: Literal["modified", "created"] = "modified" if before else "created"
        yield Change(after, kind, pieces, pointer=POINTER)


def _path(name: str) -> str:
    """The path that the client put behind `a` or `b`: its own first letter is mostly a slash."""
    path = re.sub(r"\A[ab](?=/)", "", name)
    return path[1:] if re.match(r"/[A-Za-z]:[/\\]", path) else path


def _shown(path: str, pieces: tuple[Hunk, ...]) -> Iterator[Change]:
    """The lines of a file that a call showed: all stand in the diff, as they are."""
    if len(pieces) == 1 and all(line[:1] == " " for line in pieces[0].lines):
        text = "\n".join(line[1:] for line in pieces[0].lines)
        start = pieces[0].new_start or 1
        yield Change(path, "shown", shown=packed(text), start=start, pointer=POINTER)
