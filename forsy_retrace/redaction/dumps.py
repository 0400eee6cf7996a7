"""Dumps, as xxd, hexdump, od and Format-Hex print them, read as the bytes that they show."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from forsy_retrace.patterns import later
from forsy_retrace.redaction.views import View

BEGIN = later(rb"0000(?<![^\n\t\x92 ]0000)")
"""How a line of a dump begins that shows the first bytes of a file, or some soon behind them."""
MARGIN = rb"(?m)^(?:[ \t]{0,8}[0-9]{1,7}(?:\xe2\x86\x92|\t|: ?)|[ \t]{0,40})"
CANONICAL = rb"[0-9a-fA-F]{8,16} {2,3}((?:[0-9a-fA-F]{2} {1,2}){1,16}) {0,50}\|?([ -~]{0,32}?)\|?"
XXD = rb"[0-9a-f]{8}: ((?:(?:[0-9a-fA-F]{2}){1,16} ){1,32}) {0,60}([ -~]{1,32})"
BYTES = rb"[0-9a-f]{6,8}((?: [0-9a-f]{2}){1,32})(?: {1,50}>([ -~]{0,32})<)?"
WORDS = rb"[0-9a-f]{6,8}((?: {1,4}[0-9a-f]{4}){1,16})"
SIGNS = rb"[0-9a-f]{6,8}((?: (?:  [!-~ ]| \\[0abtnvfr]|[0-7]{3})){1,16})"
LINE = later(
    MARGIN + b"(?:" + b"|".join((CANONICAL, XXD, BYTES, WORDS, SIGNS)) + rb")[ \t]{0,20}\r?$"
)
IN_HEX, IN_WORDS, IN_SIGNS = (1, 3, 5), 7, 8
"""The groups that hold bytes as such, as words whose second byte stands first, and as signs."""
PAIR = later(rb"[0-9a-fA-F]{2}")
CELL = later(rb" (  [!-~ ]| \\[0abtnvfr]|[0-7]{3})")
LIST = later(rb"\[\s{0,8}((?:[0-9]{1,3},\s{0,8}){11,200000}[0-9]{1,3})\s{0,8}\]")
"""Numbers that may be bytes."""
BRACKET = later(rb"\[[\s0-9]")
"""How a list of them begins; few other brackets do."""
PRINTED = bytes((*range(32, 127), *b"\n\r\t\x1b"))
"""Bytes of texts; a list with many others is none."""
FIGURE = later(rb"[0-9]{1,3}")
ESCAPED = dict(zip(b"0abtnvfr", b"\0\a\b\t\n\v\f\r", strict=True))


class Byte(NamedTuple):
    """A byte that a dump shows, and where it shows it."""

    value: int
    start: int
    end: int


class Line(NamedTuple):
    """A line of a dump; its signs begin at a place, if it has them, with one for each byte."""

    shown: Sequence[Byte]
    signs: int


class Dump(View):
    """The bytes of a dump; what is found in them is masked in the figures and in the signs."""

    def __init__(self, lines: Sequence[Line], under: View | None) -> None:
        bare = bytes(byte.value for line in lines for byte in line.shown)
        super().__init__(bare, lambda: ((), ()), under)
        self._lines = lines
        self._firsts = [0]
        for line in lines:
            self._firsts.append(self._firsts[-1] + len(line.shown))

    def spans(self, start: int, end: int) -> list[tuple[int, int]]:
        found = []
        for at in range(bisect_right(self._firsts, start) - 1, len(self._lines)):
            shown, signs = self._lines[at]
            first = max(0, start - self._firsts[at])
            last = min(len(shown), end - self._firsts[at])
            if last <= first:
                break
            places = shown[first:last]
            found.append((min(p.start for p in places), max(p.end for p in places)))
            if signs:
                found.append((signs + first, signs + last))
        under = self.under
        return [under.back(*span) for span in found] if under else found

    def back(self, start: int, end: int) -> tuple[int, int]:
        spans = self.spans(start, end)
        return spans[0][0], spans[-1][1]


def dumps(data: bytes, under: View | None = None) -> list[Dump]:
    """The dumps in a text, or in a view of one: lines that follow one another, lists of bytes."""
    found = [Dump([line], under) for line in _lists(data)] if BRACKET.search(data) else []
    if b"0000" not in data or not BEGIN.search(data):
        return found
    held: list[Line] = []
    last = -1
    for match in LINE.finditer(data):
        if held and match.start() != last + 1:
            found.append(Dump(held, under))
            held = []
        held.append(_line(match))
        last = match.end()
    return [*found, Dump(held, under)] if held else found


def _lists(data: bytes) -> Iterator[Line]:
    """The lists of numbers that are the bytes of a text, as Codex keeps what a command printed."""
    for match in LIST.finditer(data):
        begin = match.start(1)
        figures = FIGURE.finditer(match[1])
        cells = [(int(one[0]), begin + one.start(), begin + one.end()) for one in figures]
        values = [value for value, _, _ in cells]
        if max(values) < 256 and len(bytes(values).translate(None, PRINTED)) * 10 <= len(values):
            yield Line([Byte(*cell) for cell in cells], 0)


def _line(match: re.Match[bytes]) -> Line:
    group = next(one for one in (*IN_HEX, IN_WORDS, IN_SIGNS) if match[one])
    shown = list(_of_signs(match) if group == IN_SIGNS else _of_pairs(match, group))
    if group == IN_WORDS:
        shown = [byte for at in range(0, len(shown), 2) for byte in (shown[at + 1], shown[at])]
    signs = match.start(group + 1) if group in IN_HEX and match[group + 1] else 0
    return Line(shown, signs)


def _of_pairs(match: re.Match[bytes], group: int) -> Iterator[Byte]:
    begin = match.start(group)
    for pair in PAIR.finditer(match[group]):
        yield Byte(int(pair[0], 16), begin + pair.start(), begin + pair.end())


def _of_signs(match: re.Match[bytes]) -> Iterator[Byte]:
    begin = match.start(IN_SIGNS)
    for cell in CELL.finditer(match[IN_SIGNS]):
        text = cell[1].lstrip(b" ") or b" "
        if text[:1] == b"\\" and len(text) == 2:
            value = ESCAPED[text[1]]
        else:
            value = text[0] if len(text) == 1 else int(text, 8) & 0xFF
        yield Byte(value, begin + cell.start(1) + 3 - len(text), begin + cell.end(1))
