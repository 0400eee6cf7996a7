"""Which lines of which files do words name? `total.py:120`, `total.py`, line 120, lines 3-9 of it."""

from collections.abc import Iterator

from forsy_retrace.patterns import later

CITED = later(
    r"(?<![\w.-])(?P<file>[\w.-]{1,80}\.[A-Za-z]\w{0,9})\b(?::(?P<at>\d{1,6})(?!\w|\.\d))?"
    r"|\b[Ll]ines? ~?(?P<of>\d{1,6})(?:[-–]\d{1,6})? (?:of|in) [`*]{0,3}(?:[\w.@~-]{0,80}/){0,20}(?P<owner>[\w.-]{1,80}\.[A-Za-z]\w{0,9})\b"
    r"|\b[Ll]ines? ~?(?P<line>\d{1,6})(?!\w|\.\d)(?! (?:of|in)\b)"
)
"""How words name a file and a line of it."""
APART = later(r"[.;!?] |, but\b|\bwhile\b|\bwhereas\b")
"""What parts a line from the file that was named before it."""


NUMBER = later(r"\b(?:[Ll]ines? ~?|[\w.-]{1,80}\.[A-Za-z]\w{0,9}:)(\d{1,6})(?!\w|\.\d)")


def numbers_named(text: str) -> frozenset[int]:
    """The lines that words name, of whatever file."""
    return frozenset(map(int, NUMBER.findall(text)))


def lines_named(text: str) -> Iterator[tuple[str, int]]:
    """The lines of files that words name, each with the file's own name.

    One without a file is of that named before on its line, or, in an indented list, above it.
    """
    above = ""
    for paragraph in text.splitlines():
        name, end = above if paragraph[:1].isspace() else "", 0
        for found in CITED.finditer(paragraph):
            if found["of"]:
                yield found["owner"], int(found["of"])
                continue
            if found["line"] and end and APART.search(paragraph, end, found.start()):
                name = ""
            name, end = found["file"] or name, found.end()
            if name and (line := found["at"] or found["line"]):
                yield name, int(line)
        if not paragraph[:1].isspace():
            above = name
