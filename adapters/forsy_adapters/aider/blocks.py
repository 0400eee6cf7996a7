"""The edits in an answer, in each of the forms that Aider asks models for."""

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import unified_diff
from typing import Literal, NamedTuple

from forsy_retrace.events import Change, Hunk, Meant
from forsy_retrace.sdk import later

from .._patches import hunks

HEAD = later(r"<{5,9} (?:SEARCH|HEAD|ORIGINAL)>?\s*")
DIVIDER = later(r"={5,9}\s*")
UPDATED = later(r">{5,9} (?:REPLACE|updated|UPDATED)\s*")
"""The words of 2023 are the second and the third."""
FENCE = "```"
ABOVE = 3
"""Lines above a block in which its file is looked for."""
NOWHERE = "/dev/null"
ELIDED = "..."
"""A line for some that Aider finds by itself."""
LARGE = 250_000
"""Pairs of lines from which a difference is not looked for."""


class Block(NamedTuple):
    """An edit of one file, and the lines of the answer in which it stands."""

    start: int
    end: int
    tool: str
    path: str
    old: str = ""
    new: str = ""
    lines: tuple[str, ...] = ()
    """Of a diff, its lines."""
    body: str = ""
    """As Aider quotes it where it does not match."""
    owns_name: bool = True
    """Whether its own lines name its file, and not those of a block above."""

    @property
    def meant(self) -> Meant:
        """What the edit comes to: the file, and what is to stand in it."""
        if self.tool == "whole":
            return Meant("Write", {"file_path": self.path, "content": self.new})
        sent = {"file_path": self.path}
        if self.old:
            sent |= {"old_string": self.old, "new_string": self.new}
        return Meant("Edit", sent)

    def changes(self, created: bool) -> tuple[Change, ...]:
        """What became of the file, as far as the log shows it."""
        kind: Literal["created", "modified"] = "created" if created else "modified"
        if self.lines:
            # the model's line numbers are made up, and Aider does not read them
            pieces = tuple(Hunk(0, 0, one.lines) for one in hunks(list(self.lines)))
            return (Change(self.path, kind, pieces),)
        if created:
            return (Change(self.path, kind, after=self.new),)
        if self.tool == "whole":
            return ()
        if any(line.strip() == ELIDED for line in self.old.split("\n")):
            return (Change(self.path, kind),)
        return (Change(self.path, kind, (Hunk(0, 0, _piece(self.old, self.new)),)),)


def _piece(old: str, new: str) -> tuple[str, ...]:
    """The lines of a replacement, those that stay among them."""
    before, after = old.split("\n")[:-1], new.split("\n")[:-1]
    if len(before) * len(after) > LARGE:
        return (*(f"-{line}" for line in before), *(f"+{line}" for line in after))
    return tuple(unified_diff(before, after, n=len(before) + len(after), lineterm=""))[3:]


def taken(texts: Sequence[str], paths: Sequence[str]) -> list[Block]:
    """The edits of files, each in the first form that has any; the last part may be the name."""
    forms = [list(form(texts)) for form in FORMS] if paths else []
    found = list[Block]()
    for path in dict.fromkeys(paths):
        for edits in forms:
            exact = [one for one in edits if one.path == path]
            if own := exact or [one for one in edits if _last(one.path) == _last(path)]:
                found += (one._replace(path=path) for one in own)
                break
    return sorted(found)


def _last(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def refusable(texts: Sequence[str]) -> list[Block]:
    """All edits of an answer in a form of which one may not fit the file."""
    return list(_replacements(texts)) or list(_diffs(texts))


def _replacements(texts: Sequence[str]) -> Iterator[Block]:
    """Search and replace: a file's name, a fence, and what stands for what."""
    at, path = 0, ""
    while at < len(texts):
        if not HEAD.fullmatch(texts[at]):
            at += 1
            continue
        middle = _find(texts, at + 1, DIVIDER)
        last = _find(texts, middle + 1, UPDATED)
        if last == len(texts):
            return
        start, named = _named(texts, at)
        path = named or path
        end = last + 2 if texts[last + 1 : last + 2] and _is_fence(texts[last + 1]) else last + 1
        old, new = texts[at + 1 : middle], texts[middle + 1 : last]
        body = "\n".join(texts[at : last + 1])
        yield Block(start, end, "diff", path, _joined(old), _joined(new), (), body, bool(named))
        at = end


def _find(texts: Sequence[str], at: int, mark: re.Pattern[str]) -> int:
    while at < len(texts) and not mark.fullmatch(texts[at]):
        at += 1
    return min(at, len(texts))


def _named(texts: Sequence[str], at: int) -> tuple[int, str]:
    """Where the lines above a block begin that are its own, and the file that they name."""
    start = at
    for above in range(at - 1, max(at - 1 - ABOVE, -1), -1):
        if name := _name(texts[above]):
            is_inside = start == at and above > 0 and _is_fence(texts[above - 1])
            return above - is_inside, name
        if not _is_fence(texts[above]):
            break
        start = above
    return start, ""


def _name(text: str) -> str:
    """A file's name without the marks that models put around it."""
    text = text.strip()
    if text.startswith(FENCE):
        name = text[len(FENCE) :]
        return name if "." in name or "/" in name else ""
    return text.rstrip(":").lstrip("#").strip().strip("`*").rstrip(":")


def _is_fence(text: str) -> bool:
    return text.lstrip().startswith(FENCE)


def _joined(texts: Sequence[str]) -> str:
    return "".join(f"{text}\n" for text in texts)


def _diffs(texts: Sequence[str]) -> Iterator[Block]:
    """Unified diffs, fenced; one for each file."""
    for start, end in _fenced(texts):
        heads = [
            at
            for at in range(start + 1, end - 2)
            if texts[at].startswith("--- ") and texts[at + 1].startswith("+++ ")
        ]
        for number, at in enumerate(heads):
            until = heads[number + 1] if number + 1 < len(heads) else end - 1
            old, new = (texts[line][4:].strip() for line in (at, at + 1))
            path = old if new == NOWHERE else new
            path = path[2:] if old[:2] == "a/" and new[:2] == "b/" else path
            whole = len(heads) == 1
            first, last = (start, end) if whole else (at, until)
            yield Block(first, last, "udiff", path, lines=tuple(texts[at + 2 : until]))


def _listings(texts: Sequence[str]) -> Iterator[Block]:
    """Whole files: a name, and a fence around all that the file is to hold."""
    for start, end in _fenced(texts):
        if start and (name := _name(texts[start - 1])):
            yield Block(start - 1, end, "whole", name, new=_joined(texts[start + 1 : end - 1]))


def _fenced(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    fences = [at for at, text in enumerate(texts) if text.startswith(FENCE)]
    for first, last in zip(fences[::2], fences[1::2], strict=False):
        yield first, last + 1


FORMS: tuple[Callable[[Sequence[str]], Iterator[Block]], ...] = (_replacements, _diffs, _listings)
"""An answer in one form may hold what looks like a later one."""
