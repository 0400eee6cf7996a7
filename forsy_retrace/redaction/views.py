"""Other readings of a text: escapes resolved, colours and invisible characters taken out.

A view knows where each of its bytes stood in the original, so a find in it masks the right span.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from itertools import accumulate

from forsy_retrace.patterns import later

LEVELS = 3
NAMED = {b"quot": b'"', b"apos": b"'", b"amp": b"&", b"lt": b"<", b"gt": b">", b"nbsp": b" "}
SHORT = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b" ", b"f": b" ", b"0": b" ", b"e": b"\x1b"}

BRANCHES = (
    rb"\\(?:(?:u001[bB]|x1[bB]|033|e)\[[0-9;]{0,12}[mK]"
    rb"|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|u\{([0-9a-fA-F]{2,5})\}|([0-3][0-7]{2})|(\r?\n)"
    rb"|([nrtbfe0\"'`\\/&=:@ _-]))",
    rb"%(?:25)?([0-9A-Fa-f]{2})",
    rb"&(?:amp;)?(?:(quot|apos|amp|lt|gt|nbsp)|\#([0-9]{2,5})|\#[xX]([0-9a-fA-F]{2,5}));",
    rb"\x1b(\[[0-9;]{0,12}[mK]|\][0-9];[^\x07\x1b]{0,200}(?:\x07|\x1b\\))?",
    rb"\[([0-9;]{1,12}m)",
    rb"\xe2(\x80[\x8b-\x8f\xaa-\xae]|\x81[\xa0-\xa4])",
    rb"\xef(?:(\xbb\xbf)|\xbc([\x81-\xbf])|\xbd([\x80-\x9e]))",
    rb"\xc2(?:(\xad)|(\xa0))",
    rb"<(?:wbr|/span>(?:\r?\n)?<span[^<>\n]{0,80})>",
)
"""The escapes, by the byte with which they begin: only so does `re` skip to the next place."""
FIRSTS = b"\\%&\x1b[\xe2\xef\xc2<"
BY_FIRST = tuple((first, later(branch)) for first, branch in zip(FIRSTS, BRANCHES, strict=True))
MARKUP = rb"<(/?pre|br ?/?)>"
"""What else is taken out of a text that has escapes."""
ESCAPE = later(b"|".join((*BRANCHES, MARKUP)))

BARE = {quote: later(quote + rb"(?<=[^\\]" + quote + rb")") for quote in (b'"', b"'")}
OPENS = later(rb"[\"'](?<![^\s:,\[({=][\"'])")
CLOSES = later(rb"[\"'](?:[\s:;,}\])]|\Z)")
"""The quotes around a text of JSON or of code."""
BACKSLASH = 0x5C
FIRST_LINE = 2000
"""Bytes of a text's first line."""

Pieces = tuple[Sequence[bytes], Sequence[bytes]]
"""An original taken apart, and what each of the pieces stands for."""


class View:
    """A reading of the data; its way back to the original is laid out when first asked for."""

    def __init__(
        self, data: bytes, pieces: Callable[[], Pieces], under: View | None = None, begin: int = 0
    ) -> None:
        """The pieces are those of the view under it, or of the original, from `begin` on."""
        self.data, self.under, self.begin = data, under, begin
        self._pieces = pieces
        self._starts: list[int] = []
        self._origins: list[int] = []

    def spans(self, start: int, end: int) -> list[tuple[int, int]]:
        """The spans of the original to be masked for a span of the view."""
        return [self.back(start, end)]

    def back(self, start: int, end: int) -> tuple[int, int]:
        """The span of the original that a span of the view stands for."""
        if not self._starts:
            self._lay_out()
        start, end = self._origin(start), self._origin_after(end)
        return self.under.back(start, end) if self.under else (start, end)

    def _lay_out(self) -> None:
        """Where each piece begins and the last one ends, here and in the original."""
        original, plain = self._pieces()
        self._starts = list(accumulate(map(len, plain), initial=0))
        self._origins = list(accumulate(map(len, original), initial=self.begin))

    def _origin(self, place: int) -> int:
        at = min(bisect_right(self._starts, place), len(self._starts) - 1) - 1
        return min(self._origins[at] + place - self._starts[at], self._origins[-1])

    def _origin_after(self, place: int) -> int:
        at = min(bisect_right(self._starts, place - 1), len(self._starts) - 1) - 1
        after = self._origins[at + 1]
        # The last byte of a piece may be an escape, which is longer in the original.
        if place == self._starts[at + 1]:
            return after
        return min(self._origins[at] + place - self._starts[at], after)


def views(data: bytes) -> list[View]:
    """The readings of the data that differ from it, the least resolved first."""
    found: list[View] = []
    while len(found) < LEVELS:
        view = resolve(data, found[-1] if found else None)
        if view is None:
            break
        found.append(view)
        data = view.data
    return found


def resolve(data: bytes, under: View | None = None) -> View | None:
    """One level of escapes resolved; None where there is none, as in most texts."""
    for first, branch in BY_FIRST:
        if first in data and branch.search(data):
            data = _with_whole_lines(data)
            return View(b"".join(_resolved(_split(data))), partial(_apart, data), under)
    return None


def _split(data: bytes) -> list[bytes]:
    """What stands before the first escape, the escape, what stands behind it …"""
    return _splitter(bytes(first for first in FIRSTS if first in data)).split(data)


@cache
def _splitter(firsts: bytes) -> re.Pattern[bytes]:
    """Finds escapes that begin with one of these: `re` is the quicker, the fewer they are."""
    branches = [branch for first, branch in zip(FIRSTS, BRANCHES, strict=True) if first in firsts]
    if b"<" in firsts:
        branches.append(MARKUP)
    return later(b"(" + re.sub(rb"\((?!\?)", b"(?:", b"|".join(branches)) + b")")


def _with_whole_lines(data: bytes) -> bytes:
    """The data with ends of lines for the quotes around the texts that have lines."""
    quotes: list[int] = []
    place = data.find(b"\\n")
    done = 0
    while place >= 0:
        around = _text_around(data, done, place)
        quotes += around
        done = around[1] if around else place
        place = data.find(b"\\n", done + 1)
    if not quotes:
        return data
    lines = bytearray(data)
    for quote in quotes:
        lines[quote] = 0x0A
    return bytes(lines)


def _text_around(data: bytes, floor: int, place: int) -> tuple[int, ...]:
    """The quotes around the text that a place is in."""
    for quote, bare in BARE.items():
        start = data.rfind(quote, max(floor, place - FIRST_LINE), place)
        while start > 0 and data[start - 1] == BACKSLASH:
            start = data.rfind(quote, max(floor, place - FIRST_LINE), start)
        if start < 0 or not OPENS.match(data, start):
            continue
        closing = bare.search(data, place)
        if (
            closing
            and CLOSES.match(data, closing.start())
            and data.find(b"\n", place, closing.start()) < 0
        ):
            return start, closing.start()
    return ()


def _apart(data: bytes) -> Pieces:
    pieces = _split(data)
    return pieces, _resolved(pieces)


def _resolved(pieces: list[bytes]) -> list[bytes]:
    """The pieces of a text with what their escapes stand for."""
    plain = pieces.copy()
    plain[1::2] = map(_plain, pieces[1::2])
    return plain


@lru_cache(maxsize=4096)
def _plain(escape: bytes) -> bytes:
    """What an escape stands for; a long text has few that differ."""
    found = ESCAPE.match(escape)
    group = (found and found.lastindex) or 0
    text = found[group] if found else b""
    match group:
        case 1 | 3:
            return _character(int(text, 16))
        case 2 | 7:
            return bytes([int(text, 16)])
        case 4:
            return bytes([int(text, 8)])
        case 6:
            return SHORT.get(text, text)
        case 8:
            return NAMED[text]
        case 9:
            return _character(int(text))
        case 10:
            return _character(int(text, 16))
        case 15:
            return bytes([text[0] - 0x60])
        case 16:
            return bytes([text[0] - 0x20])
        case 18:
            return b" "
        case 19:
            return b"\n"
        case _:  # a line joined, a colour or an invisible character
            return b""


def _character(number: int) -> bytes:
    return chr(number).encode("utf-8", "surrogatepass") if number < 0x110000 else b"?"
