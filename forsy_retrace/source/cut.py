"""Cuts a stream into JSON values without holding more than one of them."""

import re
import sys
from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import BinaryIO, NamedTuple

from forsy_retrace.patterns import later

from .values import MAX_LINE

CHUNK = 1 << 20

SKIP = rb'(?:[^"\[\]{}%b]++|"(?:[^"\\]++|\\.)*+")*+'
TO_BRACKET = later(SKIP.replace(b"%b", b""), re.S)
TO_COMMA = later(SKIP.replace(b"%b", b","), re.S)
IN_TEXT = later(rb'(?:[^"\\]++|\\.)*+', re.S)
QUOTE, BACKSLASH, COMMA = b'"\\,'
OPEN, CLOSE = b"[{", b"]}"


class Piece(NamedTuple):
    """The bytes of a value (None: longer than the cap), stripped of blanks, and where they stand.

    `closed` says that the file went on behind it; `text` that it is none, but stands between them.
    """

    start: int
    end: int
    data: bytes | None
    closed: bool = True
    text: bool = False


class Cutter:
    """Walks a stream over brackets that are in no text; `lead` was read already, at `position`."""

    def __init__(self, stream: BinaryIO, lead: bytes = b"", position: int = 0) -> None:
        self.stream = stream
        self.base, self.chunk, self.here = position, lead, 0
        self.quoted = self.escaped = False
        self.held: list[bytes] = []
        self.begun, self.mark, self.size = position, 0, 0

    @property
    def place(self) -> int:
        """How far it has come, in bytes from the start of the file."""
        return self.base + self.here

    def elements(self) -> Iterator[Piece]:
        """What stands in the array that opens next, scalars included."""
        if self._seek(TO_BRACKET) < 0:
            return
        self.here += 1
        self._begin()
        depth = 1
        while True:
            byte = self._seek(TO_COMMA if depth == 1 else TO_BRACKET)
            depth += (byte in OPEN) - (byte in CLOSE) if byte >= 0 else 0
            if byte < 0 or depth == 0 or (depth == 1 and byte == COMMA):
                yield from self._end(closed=byte >= 0)
                self.here += 1
                if byte < 0 or depth == 0:
                    return
                self._begin()
            else:
                self.here += 1

    def values(self) -> Iterator[Piece]:
        """The objects and arrays that stand one after another, and what stands between them."""
        depth = 0
        self._begin()
        while True:
            byte = self._seek(TO_BRACKET)
            if byte < 0:
                yield from self._end(closed=False, text=depth == 0)
                return
            if byte in OPEN and depth == 0:
                yield from self._end(text=True)
                self._begin()
            self.here += 1
            if byte in OPEN:
                depth += 1
            elif depth:
                depth -= 1
                if depth == 0:
                    yield from self._end()
                    self._begin()

    def rest(self) -> Piece | None:
        """Where the remainder stands, unless it is blank; its bytes are not held."""
        first = last = -1
        while True:
            tail = self.chunk[self.here :]
            if tail.strip():
                start = self.base + self.here
                first = start + _lead(tail) if first < 0 else first
                last = start + len(tail.rstrip())
            self.here = len(self.chunk)
            if not self._more(hold=False):
                return Piece(first, last, None, text=True) if first >= 0 else None

    def _seek(self, pattern: re.Pattern[bytes]) -> int:
        """The next byte that the pattern stops at; -1 at the end of the stream."""
        while True:
            if not self.quoted or self._unquote():
                found = pattern.match(self.chunk, self.here)
                self.here = found.end() if found else self.here
                if self.here < len(self.chunk):
                    byte = self.chunk[self.here]
                    if byte != QUOTE:
                        return byte
                    self.quoted = True  # a text that goes on in the next chunk
                    self.here += 1
                    continue
            if not self._more():
                return -1

    def _unquote(self) -> bool:
        """Whether the open text ends in this chunk; then we stand behind it."""
        if self.escaped and self.chunk:
            self.here, self.escaped = self.here + 1, False
        found = IN_TEXT.match(self.chunk, self.here)
        self.here = found.end() if found else self.here
        if self.here >= len(self.chunk):
            return False
        self.escaped = self.chunk[self.here] == BACKSLASH
        self.quoted = self.escaped
        self.here += 1
        return not self.quoted

    def _more(self, hold: bool = True) -> bool:
        chunk = self.stream.read(CHUNK)
        if not chunk:
            return False
        if hold:
            self._hold(len(self.chunk))
        self.base += len(self.chunk)
        self.chunk, self.here, self.mark = chunk, 0, 0
        return True

    def _hold(self, end: int) -> None:
        self.size += max(end - self.mark, 0)
        if self.size > MAX_LINE:
            self.held.clear()
        elif end > self.mark:
            self.held.append(self.chunk[self.mark : end])

    def _begin(self) -> None:
        self.held.clear()
        self.begun, self.mark, self.size = self.base + self.here, self.here, 0

    def _end(self, closed: bool = True, text: bool = False) -> Iterator[Piece]:
        """What was held since it began, if it is not blank."""
        self._hold(min(self.here, len(self.chunk)))
        if self.size > MAX_LINE:
            yield Piece(self.begun, self.begun + self.size, None, closed, text)
            return
        data = self.held[0] if len(self.held) == 1 else b"".join(self.held)
        self.held.clear()
        body = data.strip()
        if body:
            start = self.begun + _lead(data)
            yield Piece(start, start + len(body), body, closed, text)


def first_line(stream: BinaryIO) -> tuple[int, bool]:
    """Where the first line ends, and whether anything but blanks follows it; nothing is held."""
    position, end = 0, -1
    while chunk := stream.read(CHUNK):
        stop = chunk.find(b"\n") if end < 0 else -1
        if stop >= 0:
            end = position + stop
        if end >= 0 and chunk[stop + 1 :].strip():
            return end, True
        position += len(chunk)
    return (end if end >= 0 else position), False


def lines(
    stream: BinaryIO, lead: bytes = b"", most: int = sys.maxsize
) -> Iterator[tuple[int, int, int, bytes, bool]]:
    """Line number, start, end, bytes, and whether the line was ended; `lead` was read already.

    Of a line of more bytes than `most` the last alone are given and held.
    """
    held: list[bytes] = []
    number, start, position = 1, 0, 0
    for chunk in chain((lead,) if lead else (), iter(partial(stream.read, CHUNK), b"")):
        begin = 0
        while (stop := chunk.find(b"\n", begin)) >= 0:
            held.append(chunk[begin : stop + 1])
            data = held[0] if len(held) == 1 else b"".join(held)
            held.clear()
            end = position + stop + 1
            yield number, start, end, data, True
            number, start, begin = number + 1, end, stop + 1
        position += len(chunk)
        if position - start > most:
            held.clear()
        if begin < len(chunk):
            held.append(chunk[begin:])
    if held:
        yield number, start, position, b"".join(held), False


def _lead(data: bytes) -> int:
    return len(data) - len(data.lstrip())
