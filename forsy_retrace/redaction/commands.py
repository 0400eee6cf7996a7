"""Secrets given to a command or a statement, from the rows of commands.toml."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forsy_retrace.patterns import later
from forsy_retrace.redaction import rules, shape, values

if TYPE_CHECKING:
    from forsy_retrace.redaction.scan import Rule, Scan

LEFT = 200
PIPED = later(
    rb"(?:echo|printf|print|cat <<<|Write-Output)[ \t]{1,4}(?:-[a-zA-Z]{1,3}[ \t]{1,4})?(?:(?:\"%s"
    rb"(?:\\\\?n)?\"|'%s(?:\\\\?n)?')[ \t]{1,4})?"
    rb"(?:\"([^\"\n]{3,200})\"|'([^'\n]{3,200})'|([^\s|\"']{3,200}))[ \t]{0,4}\|[^|\n]{0,80}$"
)
PAIRS = later(rb"[ \t]{1,8}(?:\\\n[ \t]{0,8})?[\"']?[\w.-]{1,80}=")
PHRASE = later(rb"[a-z]{3,8}(?:[ ,]{1,2}[a-z]{3,8}){11,23}")


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
        lead = self.lead.match(scan.low if self.id in LOWER else data, end)
        if lead is None:
            return
        place = lead.end()
        value = values.read(data, place)
        if value is None:
            return
        if self.part == "phrase":
            words = PHRASE.match(data, place)
            if words and self._follows(data, start):
                scan.add(place, words.end(), self.id)
        elif self._is_secret(data[value.start : value.end], value.quoted):
            if not self._follows(data, start):
                return
            scan.add(value.start, value.end, self.id)
        if self.part.startswith("pairs"):
            self._more_pairs(scan, value)

    def _follows(self, data: bytes, start: int) -> bool:
        """What has to stand before the literal does; looked at last, for it takes longest."""
        return self.left is None or bool(self.left.search(data, max(0, start - LEFT), start))

    def _is_secret(self, text: bytes, quoted: bool) -> bool:
        if self.part == "quoted" and not quoted:
            return False
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
                return shape.is_password(text, quoted=True, certain=b" " not in text)
            case "pairs-strict":
                return shape.is_token(text, 12)
            case _:
                return b" " not in text or quoted

    def _more_pairs(self, scan: Scan, first: values.Value) -> None:
        """The other KEY=VALUE words of the command."""
        place = first.end + first.quoted
        for _ in range(30):
            pair = PAIRS.match(scan.data, place)
            value = values.read(scan.data, pair.end()) if pair else None
            if value is None:
                return
            if self._is_secret(scan.data[value.start : value.end], value.quoted):
                scan.add(value.start, value.end, self.id)
            place = value.end + value.quoted


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
