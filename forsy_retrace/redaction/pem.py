"""Private keys in armour: whole, cut at the tail, cut at the head, or with line numbers in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from forsy_retrace.patterns import later
from forsy_retrace.redaction.names import after_escape

if TYPE_CHECKING:
    from forsy_retrace.redaction.scan import Rule, Scan

HEAD = later(
    rb"-{4,5} ?BEGIN (?:[A-Z0-9-]{1,20} ){0,4}(?:PRIVATE KEY(?: BLOCK)?|Static key V1) ?-{4,5}",
    re.IGNORECASE,
)
TAIL = later(
    rb"-{4,5} ?END (?:[A-Z0-9-]{1,20} ){0,4}(?:PRIVATE KEY(?: BLOCK)?|Static key V1) ?-{4,5}",
    re.IGNORECASE,
)
# What may stand between head and body: line ends, quotes, numbers of lines, signs of a diff.
BETWEEN = later(
    rb"(?:\\{1,8}(?:[nrt\"'/]|\r?\n)|//(?=[ \t])|[\s\"'`#*+,>|:;.<()\xe2\x86\x92\x94\x82]"
    rb"|[0-9]{1,6}(?=[\t:|\xe2])|&[a-z]{2,4};"
    rb"|(?:Proc-Type|DEK-Info|Version|Comment|Hash|Subject|X-[A-Za-z]{1,20}):[^\n\\]{0,120}){0,60}"
)
LINE = later(rb"=?[A-Za-z0-9+/=]{4,2000}(?:\\/[A-Za-z0-9+/=]{0,200}){0,40}")
LINES = 2000
CLEAN = later(rb"(?:[A-Za-z0-9+/=\s]|\\[nr]){0,70000}")
PUTTY = later(rb"Private-Lines: ?[0-9]{1,3}(?:\r?\n|\\{1,8}n)")


def rows() -> Iterator[tuple[bytes, Rule]]:
    yield b"-- begin ", _from_head
    yield b"--begin ", _from_head
    yield b"--end ", _from_tail
    yield b"-- end ", _from_tail
    yield b"private-lines:", _putty


def _from_head(scan: Scan, start: int, end: int) -> None:
    data = scan.data
    while start and data[start - 1] == 0x2D and end - start < 16:
        start -= 1
    head = HEAD.match(data, start)
    if head and head.end() > scan.pem:
        _mask_body(scan, head.end(), "private-key")


def _putty(scan: Scan, start: int, end: int) -> None:
    head = PUTTY.match(scan.data, start)
    if head:
        _mask_body(scan, head.end(), "putty-key")


def _mask_body(scan: Scan, begin: int, rule: str) -> None:
    data = scan.data
    lines: list[tuple[int, int]] = []
    place = begin
    for _ in range(LINES):
        gap = BETWEEN.match(data, place)
        place = gap.end() if gap else place
        line = LINE.match(data, place)
        if line is None:
            break
        if len(line[0]) < 16 and lines and b"=" not in line[0] and not _ends_here(data, line.end()):
            break  # a word after a key that was cut
        lines.append(line.span())
        place = line.end()
    scan.pem = place
    if not lines or sum(b - a for a, b in lines) < 16:
        return
    first, last = lines[0][0], lines[-1][1]
    if CLEAN.fullmatch(data, first, last):
        scan.add(first, last, rule, value=b"".join(data[a:b] for a, b in lines))
        return
    for a, b in lines:
        scan.add(a, b, rule)


def _ends_here(data: bytes, place: int) -> bool:
    return TAIL.search(data, place, place + 60) is not None


def _from_tail(scan: Scan, start: int, end: int) -> None:
    """The head is missing: the lines before the tail, backwards."""
    data = scan.data
    while start and data[start - 1] == 0x2D:
        start -= 1
    if start <= scan.pem + 24 or not TAIL.match(data, start):
        return
    place, first, count = start, start, 0
    floor = max(scan.pem, start - 16384)
    while place > floor:
        stop = (
            place
            - len(data[max(floor, place - 8) : place])
            + len(data[max(floor, place - 8) : place].rstrip(b" \t\r\n"))
        )
        if stop >= 2 and data[stop - 2 : stop] == b"\\n":
            stop -= 2
        window = data[max(floor, stop - 2000) : stop]
        run = len(window) - len(
            window.rstrip(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")
        )
        begin = stop - run
        begin = after_escape(data, begin, stop)
        if run < (4 if count == 0 else 40):
            break
        first, place, count = begin, begin, count + 1
    if count and start - first >= 40:
        last = first + len(data[first:start].rstrip(b" \t\r\n"))
        if data[last - 2 : last] == b"\\n":
            last -= 2
        scan.add(first, last, "private-key-end")
    scan.pem = max(scan.pem, start)
