"""Secrets in tables: a column whose head says that what stands below is secret."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from forsy_retrace.patterns import later
from forsy_retrace.redaction import margins
from forsy_retrace.redaction.strength import WEAK, judge, strength
from forsy_retrace.redaction.values import Value

if TYPE_CHECKING:
    import re

    from forsy_retrace.redaction.scan import Rule, Scan

ROWS = 50
WIDTH = 600
BAR, THICK, DOUBLE = "│".encode(), "┃".encode(), "║".encode()
BARS = (b"|", BAR)
SIGNS = (*BARS, b"\t", b";", b",")
HEAD = later(rb"[\s\"'`*]{0,40}[A-Za-z_][\w ./()*-]{0,40}[\s\"'`*]{0,40}$")
QUOTED = later(rb"\"[^\"\n]{0,400}\"")
RULE = later(rb"[-+=|: \t\r\xe2\x94\x95\x80-\xbf]{3,600}$")
"""The line between the head and the rows of a table."""
DASHES = later(rb"-{2,200}")
EDGES = b" \t\r\"'`"

INSERT = later(rb"\s{1,4}[\w.\"`\[\]-]{1,120}\s{0,4}\(([^()]{1,1000})\)\s{0,8}values?\s{0,8}(?=\()")
COPY = later(rb"copy\s{1,4}[\w.\"]{1,120}\s{0,4}\(([^()]{1,1000})\)\s{1,4}$")
TUPLE = later(rb"\s{0,8},?\s{0,8}\(")
CELL = later(
    rb"\s{0,8}(?:[NEB]?'((?:[^'\\\n]|''|\\.){0,1000})'|\"([^\"\n]{0,1000})\"|([^,()'\"\n]{1,200}))"
    rb"\s{0,8}([,)])"
)


def rows() -> Iterator[tuple[bytes, Rule]]:
    for verb in (
        b"insert",
        b"insert ignore",
        b"insert or replace",
        b"insert or ignore",
        b"replace",
    ):
        yield verb + b" into", _inserted
    yield b"from stdin", _copied


def column(scan: Scan, left: int, level: int) -> None:
    """Judges the cells below the one that begins here, if it stands in the head of a table."""
    data = scan.data
    if left and data[left - 1] not in b" \t,;|\n*\"'`":
        return
    if scan.table[0] < left < scan.table[1]:
        return  # a row of the last table is no head of the next
    begin = data.rfind(b"\n", max(0, left - WIDTH), left) + 1
    if begin == 0 and left > WIDTH:
        return
    end = data.find(b"\n", left, left + WIDTH)
    head = _with_one_bar(data[begin:end]) if end >= 0 else b""
    sign = next((sign for sign in SIGNS if sign in head), None)
    if sign is None:
        _under_dashes(scan, left - begin, end, level)
        return
    if not _is_head(head, sign):
        behind = margins.ends(data, begin)
        if behind and _is_head(data[behind:end], sign):
            scan.hanging.append((left, ROWS))
        return
    at = head[: left - begin].count(sign)
    for begin, stop in _lines_below(scan, end):
        row = _without_signs_in_quotes(_with_one_bar(data[begin:stop]), sign).split(sign)
        if len(row) != head.count(sign) + 1:
            return
        start = begin + sum(len(cell) + len(sign) for cell in row[:at])
        _judge_cell(scan, start, start + len(row[at]), level)


def _is_head(line: bytes, sign: bytes) -> bool:
    """Whether the signs part the line into names."""
    inside = line.strip(b" \r").removeprefix(sign).removesuffix(sign) if sign in BARS else line
    cells = inside.strip(b"\r").split(sign)
    return len(cells) > 1 and all(map(HEAD.match, cells))


def _under_dashes(scan: Scan, at: int, end: int, level: int) -> None:
    """A table without signs: the dashes below its head say how wide its columns are."""
    line_end = scan.data.find(b"\n", end + 1, end + 1 + WIDTH) if end >= 0 else -1
    if line_end < 0 or not RULE.match(scan.data, end + 1, line_end):
        if scan.data.find(b"---", end, line_end) >= 0:
            scan.hanging.append((end, ROWS))
        return
    columns = [match.span() for match in DASHES.finditer(scan.data[end + 1 : line_end])]
    this = next((i for i, (a, b) in enumerate(columns) if a <= at < b), None)
    if this is None or len(columns) < 2:
        return
    first = columns[this][0]
    last = columns[this + 1][0] if this + 1 < len(columns) else WIDTH
    for start, stop in _lines_below(scan, line_end):
        if scan.data[start + first - 1 : start + first].strip():
            return
        _judge_cell(scan, start + first, min(start + last, stop), level)


def _lines_below(scan: Scan, end: int) -> Iterator[tuple[int, int]]:
    """The lines after one that ends here, but for those that part a head from its rows."""
    head_end = end
    for _ in range(ROWS):
        begin, end = end + 1, scan.data.find(b"\n", end + 1, end + 1 + WIDTH)
        end = end if end >= 0 else min(len(scan.data), begin + WIDTH)
        if begin >= end:
            return
        if not RULE.match(scan.data, begin, end):
            yield begin, end
            scan.table = head_end, end


def _with_one_bar(line: bytes) -> bytes:
    """The line with the thin bar for the thick and the double one, which are as long."""
    return line.replace(THICK, BAR).replace(DOUBLE, BAR) if BAR[:1] in line else line


def _without_signs_in_quotes(row: bytes, sign: bytes) -> bytes:
    def blank(quoted: re.Match[bytes]) -> bytes:
        return quoted[0].replace(sign, b"_" * len(sign))

    return QUOTED.sub(blank, row) if b'"' in row else row


def _judge_cell(scan: Scan, start: int, end: int, level: int) -> None:
    whole = scan.data[start:end]
    cell = whole.lstrip(EDGES)
    start += len(whole) - len(cell)
    cell = cell.partition(b'"')[0].rstrip(EDGES)
    if cell:
        judge(scan, Value(start, start + len(cell), True), level, certain=False, rule="column")


def _inserted(scan: Scan, start: int, end: int) -> None:
    """The values of a statement whose columns are named."""
    scan.hanging.append((start, ROWS))
    if scan.table[0] < start < scan.table[1]:
        return
    head = INSERT.match(scan.low, end)
    levels = _levels(scan.data[slice(*head.span(1))]) if head else []
    if head is None or not any(levels):
        return
    place = head.end()
    for _ in range(ROWS):
        begin = TUPLE.match(scan.data, place)
        if begin is None:
            return
        place = begin.end()
        scan.table = start, place
        for level in levels:
            cell = CELL.match(scan.data, place)
            if cell is None:
                return
            if level and cell.lastindex == 4 and cell[3] is None:
                a, b = cell.span(1) if cell[1] is not None else cell.span(2)
                judge(scan, Value(a, b, True), level, certain=True, rule="insert")
            place = cell.end()


def _copied(scan: Scan, start: int, end: int) -> None:
    """The rows that follow `COPY table (columns) FROM stdin`."""
    scan.hanging.append((start, ROWS))
    if scan.table[0] < start < scan.table[1]:
        return
    head = COPY.search(scan.low, max(0, start - 1200), start)
    levels = _levels(scan.data[slice(*head.span(1))]) if head else []
    line_end = scan.data.find(b"\n", end, end + 80)
    if not any(levels) or line_end < 0:
        return
    for begin, stop in _lines_below(scan, line_end):
        cells = scan.data[begin:stop].split(b"\t")
        if len(cells) != len(levels):
            return
        for cell, level in zip(cells, levels, strict=True):
            if level:
                _judge_cell(scan, begin, begin + len(cell), level)
            begin += len(cell) + 1


def _levels(columns: bytes) -> list[int]:
    """How much the name of each column promises."""
    levels = (strength(name.strip(b" \t\r\n\"'`[]")) for name in columns.split(b","))
    return [level if level != WEAK else 0 for level in levels]
