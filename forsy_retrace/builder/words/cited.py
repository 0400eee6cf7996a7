"""Which lines of which files do words name? `total.py:120`, `total.py`, line 120, lines 3-9 of it."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from forsy_retrace.patterns import later

CITED = later(
    r"(?<![\w.-])(?P<file>[\w.-]{1,80}\.[A-Za-z]\w{0,9})\b(?::(?P<at>\d{1,6})(?!\w|\.\d))?"
    r"|\b[Ll]ines? ~?(?P<of>\d{1,6})(?:[-–]\d{1,6})? (?:of|in) [`*]{0,3}(?:[\w.@~-]{0,80}/){0,20}(?P<owner>[\w.-]{1,80}\.[A-Za-z]\w{0,9})\b"
    r"|\b[Ll]ines? ~?(?P<line>\d{1,6})(?!\w|\.\d)(?! (?:of|in)\b)"
)
"""How words name a file and a line of it."""
NAMED = later(r"\.[A-Za-z]|[Ll]ine")
"""What stands in each of these; few lines have it."""
APART = later(r"[.;!?] |, but\b|\bwhile\b|\bwhereas\b")
"""What parts a line from the file that was named before it."""


NUMBER = later(r"\b(?:[Ll]ines? ~?|[\w.-]{1,80}\.[A-Za-z]\w{0,9}:)(\d{1,6})(?!\w|\.\d)")


def numbers_named(text: str) -> frozenset[int]:
    """The lines that words name, of whatever file."""
    return frozenset(map(int, NUMBER.findall(text)))


class Cited(NamedTuple):
    """A line of a file that words name."""

    name: str
    line: int
    folders: str = ""
    """What the words have of the folders before the name, `src/cart/`."""

    def is_of(self, path: str) -> bool:
        """Whether a path may be that file's."""
        return f"/{path}".endswith(f"/{self.folders}{self.name}")


def lines_named(text: str) -> Iterator[Cited]:
    """The lines of files that words name.

    One without a file is of that named before on its line, or, in an indented list, above it. What
    stands beside its path elsewhere, as the text of a link does, has the folders of that.
    """
    found = list(_named(text))
    placed = {one[:2]: one for one in reversed(found) if one.folders}
    yield from (placed.get(one[:2], one) for one in found)


def _named(text: str) -> Iterator[Cited]:
    above = "", ""
    for paragraph in text.splitlines():
        (name, folders), end = above if paragraph[:1].isspace() else ("", ""), 0
        for found in CITED.finditer(paragraph) if NAMED.search(paragraph) else ():
            if found["of"]:
                yield Cited(found["owner"], int(found["of"]), _before(found, "owner"))
                continue
            if found["line"] and end and APART.search(paragraph, end, found.start()):
                name = ""
            if found["file"]:
                name, folders = found["file"], _before(found, "file")
            end = found.end()
            if name and (line := found["at"] or found["line"]):
                yield Cited(name, int(line), folders)
        if not paragraph[:1].isspace():
            above = name, folders


FOLDERS = later(r"(?:[\w@~-][\w.@~-]{0,80}/){1,20}\Z")
MAX_FOLDERS = 400
"""Characters of the folders before a name."""


def _before(found: re.Match[str], group: str) -> str:
    start = found.start(group)
    folders = FOLDERS.search(found.string, max(0, start - MAX_FOLDERS), start)
    return folders[0].removeprefix("~/") if folders else ""
