"""What a command prints alone: of a word on a line only the command tells that it is secret."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from forsy_retrace.patterns import later
from forsy_retrace.redaction import rules, shape
from forsy_retrace.redaction.engine import Literals
from forsy_retrace.redaction.strength import PASSWORD, TOKEN, is_secret, strength

LEFT = 200
"""Bytes before a command that may tell what it is about."""
ENDS = r"(?:[\s\"'`)\]}|;&>,{]|$)"
"""What ends an argument."""
HEAD, TAIL = 8000, 2000
"""Bytes of an output's beginning and end that are read."""
# A line with nothing but a word or a text in quotes; a tool that reads files numbers it.
LINE = later(
    rb"(?:^|\n)(?:[ \t]{0,8}[0-9]{1,7}(?:\xe2\x86\x92|\t)|[ \t]{0,40})"
    rb"(?:(?P<quote>[\"'])(?P<text>[^\"'\n]{3,4000})(?P=quote)|(?P<word>[^\s\"']{3,8000}))"
    rb"[ \t]{0,8}\r?(?=\n|$)"
)
MEMBER = later(
    rb"\"\s{0,4}:\s{0,4}\"([^\"\n]{4,8000})\""
    rb"|(?:map\[| )[\w./-]{1,80}:([A-Za-z0-9+/=]{4,8000})"
)


class Span(NamedTuple):
    """Where a secret stands in an output, and the rule that says so."""

    start: int
    end: int
    rule: str


class Fired(NamedTuple):
    """A row whose command stands in a text, and how much the name in it promises a secret."""

    row: rules.Printing
    level: int

    @property
    def judges(self) -> tuple[str, int, bool, bool]:
        """What rows that judge alike have in common."""
        return self.row.part, self.level, self.row.sure, self.row.members


def fired(asked: bytes) -> list[Fired]:
    """The commands in a text that print a secret; one of those that are judged alike."""
    return list({one.judges: one for one in _fired(asked)}.values())


def spans(printing: list[Fired], output: bytes) -> list[Span]:
    """What of an output is secret for the commands that were asked for."""
    words = list(_words(output))
    members = list(_members(output))
    is_all = len(words) == 1 and len(output.split()) == 1
    found: dict[tuple[int, int], Span] = {}
    for row, level in printing:
        rule = f"prints-{row.id}"
        for start, end in words:
            if _is_secret(output[start:end], row.part, level, sure=row.sure and is_all):
                found[start, end] = Span(start, end, rule)
        for start, end in members:
            if row.members or _is_secret(output[start:end], row.part, level, sure=False):
                found[start, end] = Span(start, end, rule)
    return list(found.values())


def is_named(text: bytes, level: int, *, quoted: bool, sure: bool = False) -> bool:
    """Whether a value is secret by what the name of its variable, field or file promises."""
    if level < TOKEN:
        return False
    if sure and level == PASSWORD:
        return shape.is_password(text, quoted=True, certain=True)
    looks_so = shape.is_password(text, quoted=quoted, certain=False)
    return looks_so or is_secret(text, level, quoted=quoted, certain=False)


def _is_secret(text: bytes, part: str, level: int, *, sure: bool) -> bool:
    if shape.is_placeholder(text) or shape.is_reference(text, quoted=True):
        return False
    match part:
        case "token":
            return shape.is_token(text, 12)
        case "named":
            return is_named(text, level, quoted=False, sure=sure)
        case _:
            return shape.is_password(text, quoted=sure, certain=sure)


def _fired(asked: bytes) -> Iterator[Fired]:
    low = asked.lower()
    for index, start, end in _literals().find(low):
        row = rules.prints()[index]
        lead, left = _patterns()[index]
        argument = lead.match(low if row.low else asked, end)
        if argument and (left is None or left.search(asked, max(0, start - LEFT), start)):
            level = strength(argument["name"]) if row.part == "named" else 0
            if row.part != "named" or level >= TOKEN:
                yield Fired(row, level)


@lru_cache(maxsize=1)
def _literals() -> Literals:
    return Literals([row.on.encode() for row in rules.prints()])


@lru_cache(maxsize=1)
def _patterns() -> list[tuple[re.Pattern[bytes], re.Pattern[bytes] | None]]:
    return [(rules.bounded(row.lead + ENDS), _before(row)) for row in rules.prints()]


def _before(row: rules.Printing) -> re.Pattern[bytes] | None:
    before = row.command.before
    return rules.bounded(f"(?:{before})$", re.IGNORECASE) if before else None


def _words(output: bytes) -> Iterator[tuple[int, int]]:
    for begin, end in _read(output):
        for line in LINE.finditer(output, begin, end):
            yield line.span("word") if line["word"] else line.span("text")


def _members(output: bytes) -> Iterator[tuple[int, int]]:
    """The values of an object on one line or on several, in JSON or as Go prints it."""
    for begin, end in _read(output):
        for member in MEMBER.finditer(output, begin, end):
            yield member.span(member.lastindex or 0)


def _read(output: bytes) -> list[tuple[int, int]]:
    """The parts of an output that are read: all of a short one."""
    if len(output) <= HEAD + TAIL:
        return [(0, len(output))]
    return [(0, HEAD), (len(output) - TAIL, len(output))]
