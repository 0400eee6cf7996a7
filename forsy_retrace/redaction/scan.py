"""Finds what is secret in one text: a single pass for the literals, a rule at each place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from typing import NamedTuple

from forsy_retrace.patterns import later
from forsy_retrace.redaction import (
    accounts,
    columns,
    commands,
    encoded,
    headers,
    keys,
    numbers,
    pem,
    people,
    places,
    prose,
    rosters,
    tokens,
)
from forsy_retrace.redaction.dumps import dumps
from forsy_retrace.redaction.engine import Literals
from forsy_retrace.redaction.margins import DEPTH, without_margins
from forsy_retrace.redaction.names import after_escape
from forsy_retrace.redaction.views import View, views

CHUNK = 1 << 20
BEFORE, AFTER = 8 << 10, 64 << 10
PADDING = 4096

CREDENTIAL = "CREDENTIAL"
LONG = 200
"""Bytes of a secret that may be longer than its rule looks."""
GOES_ON = later(rb"(?:\.?[A-Za-z0-9+/=_~%]|-{1,3}(?!-)){1,65000}")
BEHIND_A_BACKSLASH = frozenset({"home", "unc-host"})
"""Rules whose finds follow a backslash that is no escape's."""


class Find(NamedTuple):
    """A secret's place in a text, and the value it has there."""

    start: int
    end: int
    kind: str
    rule: str
    value: bytes


class Scan:
    """One reading of a text under the rules; rules append to `found`."""

    __slots__ = (
        "cookies",
        "data",
        "decoded",
        "depth",
        "found",
        "hanging",
        "jwk",
        "low",
        "named",
        "pem",
        "table",
        "tailless",
    )

    def __init__(self, data: bytes, low: bytes, depth: int = 0) -> None:
        self.data, self.low, self.depth = data, low, depth
        self.found: list[Find] = []
        self.hanging: list[tuple[int, int]] = []
        """Places on which lines below may hang, and how many."""
        self.jwk = 0
        """How far the last JSON web key was looked for."""
        self.named = 0
        """Where the last name of a key ended: a name is read once, whatever it holds."""
        self.cookies = 0
        """Where the last cookie ended."""
        self.decoded = 0
        """Where the last base64 run ended."""
        self.pem = 0
        """Where the last private key ended."""
        self.tailless = 0
        """Up to where no private key ends, behind the last head that was looked at."""
        self.table = 0, 0
        """Where the rows of the last table began and ended."""

    def add(
        self, start: int, end: int, rule: str, kind: str = CREDENTIAL, value: bytes | None = None
    ) -> None:
        if rule not in BEHIND_A_BACKSLASH:
            start = after_escape(self.data, start, end)
        if end - start > LONG and kind == CREDENTIAL and (rest := GOES_ON.match(self.data, end)):
            end = rest.end()
        if end > start:
            self.found.append(
                Find(start, end, kind, rule, self.data[start:end] if value is None else value)
            )


Rule = Callable[[Scan, int, int], None]
"""Looks at a place where its literal stands: start and end of the literal."""


class Rules:
    """All rules by their literals; those of the gate do not look at what is near."""

    def __init__(self, *, plain: bool = False) -> None:
        strict = [*tokens.rows(), *keys.rows(), *headers.rows(), *pem.rows(), *encoded.rows()]
        loose = [
            *commands.rows(),
            *columns.rows(),
            *prose.rows(),
            *headers.vendor_rows(),
            *accounts.rows(),
            *people.rows(),
            *places.rows(),
            *numbers.rows(),
            *rosters.rows(),
        ]
        by_literal: dict[bytes, list[Rule]] = {}
        for literal, rule in strict:
            by_literal.setdefault(literal, []).append(rule)
        self.gate = [tuple(actions) for actions in by_literal.values()]
        for literal, rule in loose:
            by_literal.setdefault(literal, []).append(rule)
        self.gate += [()] * (len(by_literal) - len(self.gate))
        self.actions = [tuple(actions) for actions in by_literal.values()]
        self.literals = Literals(list(by_literal), plain=plain)

    def scan(self, data: bytes, *, gate: bool = False) -> list[Find]:
        """The finds in all readings of the data; places are those of the data itself."""
        if len(data) <= CHUNK + AFTER:
            return self._readings(data, gate)
        return [
            find
            for span in _apart(data)
            for find in in_pieces(data, span, BEFORE, AFTER, partial(self._readings, gate=gate))
        ]

    def _readings(self, data: bytes, gate: bool) -> list[Find]:
        scan = self._scan(data, 0, gate)
        found = scan.found if scan else []
        if scan and scan.hanging:
            for view in without_margins(data, scan.hanging):
                found += self._in_view(view, gate)
        for dump in dumps(data):
            found += self._in_view(dump, gate)
        for view in views(data):
            found += self._in_view(view, gate)
            for dump in dumps(view.data, view):
                found += self._in_view(dump, gate)
        return found

    def _in_view(self, view: View, gate: bool, depth: int = 1) -> list[Find]:
        scan = self._scan(view.data, 0, gate)
        if scan is None:
            return []
        found = [
            Find(start, end, *find[2:])
            for find in scan.found
            for start, end in view.spans(find.start, find.end)
        ]
        if scan.hanging and depth <= DEPTH:
            for inner in without_margins(view.data, scan.hanging, view):
                found += self._in_view(inner, gate, depth + 1)
        return found

    def read(self, data: bytes, depth: int = 0, *, gate: bool = False) -> list[Find]:
        """The finds in one reading, which was decoded so many times."""
        scan = self._scan(data, depth, gate)
        return scan.found if scan else []

    def _scan(self, data: bytes, depth: int, gate: bool) -> Scan | None:
        low = data.lower()
        hits = self.literals.find(low)
        if not hits:
            return None
        scan = Scan(data, low, depth)
        actions = self.gate if gate else self.actions
        for index, start, end in hits:
            for rule in actions[index]:
                rule(scan, start, end)
        return scan


def rules(*, plain: bool = False) -> Rules:
    """The rules, built at first use."""
    return _built(plain)


@cache
def _built(plain: bool) -> Rules:
    return Rules(plain=plain)


def in_pieces(
    data: bytes,
    span: tuple[int, int],
    before: int,
    after: int,
    look: Callable[[bytes], Iterable[Find]],
) -> Iterator[Find]:
    """What a look finds in a part of the data, taken in pieces with so much around each."""
    first, last = span
    for start in range(first, last, CHUNK):
        begin = max(first, start - before)
        for find in look(data[begin : min(last, start + CHUNK + after)]):
            if start <= find.start + begin < start + CHUNK:
                yield Find(find.start + begin, find.end + begin, *find[2:])


def _apart(data: bytes) -> Iterator[tuple[int, int]]:
    """What stands between long runs of one byte: padding holds no secret, only anchors."""
    start = 0
    for at in range(0, len(data), PADDING):
        block = data[at : at + PADDING]
        if block.count(block[:1]) == PADDING:
            if at > start:
                yield start, at
            start = at + PADDING
    yield start, len(data)
