"""Finds what is secret in one text: a single pass for the literals, a rule at each place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from forsy_retrace.redaction import commands, context, encoded, identity, pem, tokens
from forsy_retrace.redaction.engine import Literals
from forsy_retrace.redaction.views import View, views

CHUNK = 1 << 20
BEFORE, AFTER = 8 << 10, 64 << 10

CREDENTIAL = "CREDENTIAL"


class Find(NamedTuple):
    """A secret's place in a text, and the value it has there."""

    start: int
    end: int
    kind: str
    rule: str
    value: bytes


class Scan:
    """One reading of a text under the rules; rules append to `found`."""

    __slots__ = ("data", "decoded", "depth", "found", "low", "named", "pem")

    def __init__(self, data: bytes, low: bytes, depth: int = 0) -> None:
        self.data, self.low, self.depth = data, low, depth
        self.found: list[Find] = []
        self.named = 0
        """Where the last name of a key ended: a name is read once, whatever it holds."""
        self.decoded = 0
        """Where the last base64 run ended."""
        self.pem = 0
        """Where the last private key ended."""

    def add(
        self, start: int, end: int, rule: str, kind: str = CREDENTIAL, value: bytes | None = None
    ) -> None:
        if end > start:
            self.found.append(
                Find(start, end, kind, rule, self.data[start:end] if value is None else value)
            )


Rule = Callable[[Scan, int, int], None]
"""Looks at a place where its literal stands: start and end of the literal."""


class Rules:
    """All rules by their literals."""

    def __init__(self, *, plain: bool = False, gate: bool = False) -> None:
        self.plain = plain
        rows: list[tuple[bytes, Rule]] = [*tokens.rows(), *context.rows(), *pem.rows()]
        rows += encoded.rows()
        if not gate:
            rows += [*commands.rows(), *context.vendor_rows(), *identity.rows()]
        by_literal: dict[bytes, list[Rule]] = {}
        for literal, rule in rows:
            by_literal.setdefault(literal, []).append(rule)
        self.actions = [tuple(actions) for actions in by_literal.values()]
        self.literals = Literals(list(by_literal), plain=plain)

    def scan(self, data: bytes) -> list[Find]:
        """The finds in the data itself, in all its readings; places are those of the data."""
        found: list[Find] = []
        for begin, chunk, first, last in _chunks(data):
            for find in self._readings(chunk):
                if first <= find.start < last:
                    start, end = find.start + begin, find.end + begin
                    found.append(Find(start, end, *find[2:]))
        return found

    def _readings(self, data: bytes) -> Iterator[Find]:
        yield from self.read(data)
        for view in views(data):
            yield from self._through(view)

    def _through(self, view: View) -> Iterator[Find]:
        for find in self.read(view.data):
            start, end = view.back(find.start, find.end)
            yield Find(start, end, *find[2:])

    def read(self, data: bytes, depth: int = 0) -> list[Find]:
        """The finds in one reading, which was decoded so many times."""
        low = data.lower()
        scan = Scan(data, low, depth)
        actions = self.actions
        for index, start, end in self.literals.find(low):
            for rule in actions[index]:
                rule(scan, start, end)
        return scan.found


@cache
def rules(*, plain: bool = False, gate: bool = False) -> Rules:
    """The rules, built at first use."""
    return Rules(plain=plain, gate=gate)


def _chunks(data: bytes) -> Iterator[tuple[int, bytes, int, int]]:
    """Pieces that overlap: where the piece begins, the piece, the part of it that counts."""
    if len(data) <= CHUNK + AFTER:
        yield 0, data, 0, len(data) + 1
        return
    for start in range(0, len(data), CHUNK):
        begin = max(0, start - BEFORE)
        yield begin, data[begin : start + CHUNK + AFTER], start - begin, start - begin + CHUNK
