"""Secrets given to a command or a statement, from the rows of commands.toml."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forsy_retrace.redaction import rules, shape, values

if TYPE_CHECKING:
    from forsy_retrace.redaction.scan import Rule, Scan

LEFT = 200
PIPED = re.compile(
    rb"(?:echo|printf|print|cat <<<|Write-Output)[ \t]{1,4}(?:-[a-zA-Z]{1,3}[ \t]{1,4})?(?:(?:\"%s(?:\\\\?n)?\"|'%s(?:\\\\?n)?')[ \t]{1,4})?"
    rb"(?:\"([^\"\n]{3,200})\"|'([^'\n]{3,200})'|([^\s|\"']{3,200}))[ \t]{0,4}\|[^|\n]{0,80}$"
)
PAIRS = re.compile(rb"[ \t]{1,8}(?:\\\n[ \t]{0,8})?[\"']?[\w.-]{1,80}=")
PHRASE = re.compile(rb"[a-z]{3,8}(?:[ ,]{1,2}[a-z]{3,8}){11,23}")


def rows() -> Iterator[tuple[bytes, Rule]]:
    for row in rules.commands():
        yield row.on.encode(), _Command(row)
    for consumer in rules.load("commands.toml")["stdin"]:
        yield consumer.encode(), _piped


class _Command:
    """One row of the table as a rule."""

    __slots__ = ("id", "lead", "left", "part")

    def __init__(self, row: rules.Command) -> None:
        self.id, self.part = row.id, row.part
        self.lead = rules.bounded(row.lead, re.IGNORECASE if row.id == "sql-password" else 0)
        self.left = rules.bounded(f"(?:{row.left})$", re.IGNORECASE) if row.left else None

    def __call__(self, scan: Scan, start: int, end: int) -> None:
        data = scan.data
        lead = self.lead.match(data, end)
        if lead is None:
            lead = self.lead.match(scan.low, end) if self.id in LOWER else None
        if lead is None:
            return
        if self.left and not self.left.search(data, max(0, start - LEFT), start):
            return
        place = lead.end()
        if self.part == "phrase":
            words = PHRASE.match(data, place)
            if words:
                scan.add(place, words.end(), self.id)
            return
        self._value(scan, place)
        if self.part.startswith("pairs"):
            self._more_pairs(scan, place)

    def _value(self, scan: Scan, place: int) -> int:
        """Adds the value at this place if it is a secret; where it ends."""
        value = values.read(scan.data, place)
        if value is None:
            return place
        start, end, quoted = value
        text = scan.data[start:end]
        if self._is_secret(text, quoted):
            scan.add(start, end, self.id)
        return end + quoted

    def _is_secret(self, text: bytes, quoted: bool) -> bool:
        if text[:1] in b"-$<{%(|&>" and not (text[:1] in b"-%&" and shape.is_wild(text)):
            return False
        if shape.is_placeholder(text) or len(text) < 3 or shape.is_reference(text, quoted=True):
            return False
        match self.part:
            case "token":
                return len(text) >= 12 and shape.is_token(text, 12)
            case "strong":
                return shape.is_password(text, quoted=quoted, certain=False)
            case "quoted":
                return quoted and shape.is_password(text, quoted=True, certain=b" " not in text)
            case "pairs-strict":
                return shape.is_token(text, 12)
            case _:
                return b" " not in text or quoted

    def _more_pairs(self, scan: Scan, place: int) -> None:
        """The other KEY=VALUE words of the command."""
        place = self._end(scan, place)
        for _ in range(30):
            pair = PAIRS.match(scan.data, place)
            if pair is None:
                return
            self._value(scan, pair.end())
            place = self._end(scan, pair.end())

    def _end(self, scan: Scan, place: int) -> int:
        value = values.read(scan.data, place)
        return value.end + value.quoted if value else place


LOWER = frozenset({"identified-by", "net-use", "netrc", "secure-string", "git-extraheader"})
"""Rows whose lead is compared in lower case."""


def _piped(scan: Scan, start: int, end: int) -> None:
    match = PIPED.search(scan.data, max(0, start - 300), start)
    if match is None:
        return
    group = match.lastindex or 1
    text, begin = match[group], match.start(group)
    name, colon, rest = text.partition(b":")
    if colon and rest and scan.low[start:end] == b"chpasswd":
        text, begin = rest, begin + len(name) + 1
    if not shape.is_placeholder(text) and text[:1] not in b"$<{%(-" and b" " not in text:
        scan.add(begin, begin + len(text), "piped-secret")
