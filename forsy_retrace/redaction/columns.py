"""Secrets in tables: a column whose head says that what stands below is secret."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from forsy_retrace.patterns import later
from forsy_retrace.redaction import margins
from forsy_retrace.redaction.strength import WEAK, judge, strength
from forsy_retrace.redaction.values import Value

if TYPE_CHECKING:
    from forsy_retrace.redaction.scan import Rule, Scan

ROWS = 100_000
"""Rows of one table: what lies in one that was read begins none."""
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

# In HTML: what a cell of the head says, where a cell begins, and what it holds.
MARKED_HEAD = later(rb">\s{0,80}([^<>\s][^<>\n]{0,60})(?:</[a-z]{1,8}>){0,2}\s{0,80}$")
MARKED_CELL = later(rb"<t[dh](?:\s[^<>]{0,200})?>")
MARKED_TEXT = later(
    rb"(?:\s{0,80}<(?!t[dhr])[a-z]{1,10}(?:\s[^<>]{0,200})?>){0,3}\s{0,80}([^<>\s][^<>\n]{0,600})"
)

INSERT = later(
    rb"\s{1,4}(?:[\w.\"`\[\]-]{1,120}|\"[^\"\n]{1,60}\")(?:\s{1,4}as\s{1,4}\w{1,30})?"
    rb"\s{0,4}\(([^()]{1,4000})\)\s{0,80}(?:overriding (?:system|user) value\s{1,80})?"
    rb"values?\s{0,80}(?:--[^\n]{0,200}\n\s{0,80})?(?=\()"
)
COPY = later(rb"copy\s{1,4}[\w.\"]{1,120}\s{0,4}\(([^()]{1,1000})\)\s{1,4}$")
TUPLE = later(rb"\s{0,80},?\s{0,80}\(")
CELL = later(
    rb"\s{0,80}(?:(?:[NEBX]|_[A-Za-z0-9]{2,12} ?)?'((?:[^'\\]|''|\\.){0,4000})'"
    rb"(?:::[\w\[\]. ]{1,40})?|\"([^\"\n]{0,1000})\"|([^,()'\"\n]{1,200}"
    rb"|[\w. ]{1,60}\((?:[^()'\"\n]|'[^'\n]{0,200}'){0,200}\)(?:::\w{1,20})?))"
    rb"\s{0,80}([,)])",
    re.DOTALL,
)


STATEMENTS = (
    *(b"insert into", b"insert ignore into", b"insert or replace into", b"insert or ignore into"),
    *(b"insert or abort into", b"insert low_priority into", b"insert delayed into"),
    *(b"replace into", b"from stdin"),
)
"""Behind these stand rows of a table of which the columns are named."""


def rows() -> Iterator[tuple[bytes, Rule]]:
    for statement in STATEMENTS:
        yield statement, _of_statement
    yield b"</th>", _marked


class Table(NamedTuple):
    """The head of a table: where it begins and ends, its sign and what it says."""

    begin: int
    end: int
    sign: bytes
    head: bytes

    def column_at(self, place: int) -> int:
        """The column that a place in the head is in."""
        return self.head[: place - self.begin].count(self.sign)


def column(scan: Scan, left: int, level: int) -> None:
    """Judges the cells below the one that begins here, if it stands in the head of a table."""
    table = table_at(scan, left)
    if table is None:
        return
    if not table.sign:
        _under_dashes(scan, left - table.begin, table.end, level)
        return
    at = table.column_at(left)
    for row in rows_below(scan, table):
        _judge_cell(scan, *row[at], level)


def table_at(scan: Scan, left: int) -> Table | None:
    """The table in whose head a cell begins here; its sign is empty where it has none."""
    data = scan.data
    if left and data[left - 1] not in b" \t,;|\n*\"'`":
        return None
    if scan.table[0] < left < scan.table[1]:
        return None  # a row of the last table is no head of the next
    begin = data.rfind(b"\n", max(0, left - WIDTH), left) + 1
    if begin == 0 and left > WIDTH:
        return None
    end = data.find(b"\n", left, left + WIDTH)
    head = _with_one_bar(data[begin:end]) if end >= 0 else b""
    sign = _sign(head)
    if not sign or _is_head(head, sign):
        return Table(begin, end, sign, head)
    behind = margins.ends(data, begin)
    head = _with_one_bar(data[behind:end]) if behind else b""
    if (sign := _sign(head)) and _is_head(head, sign):
        scan.hanging.append((left, ROWS))
    return None


def _sign(head: bytes) -> bytes:
    """What parts the columns."""
    return next((sign for sign in SIGNS if sign in head), b"")


def rows_below(scan: Scan, table: Table) -> Iterator[list[tuple[int, int]]]:
    """Where the cells of each row begin and end."""
    sign = table.sign
    for begin, stop in _lines_below(scan, table.end):
        row = _without_signs_in_quotes(_with_one_bar(scan.data[begin:stop]), sign).split(sign)
        if len(row) != table.head.count(sign) + 1:
            return
        ends = accumulate((len(cell) + len(sign) for cell in row), initial=begin)
        yield [(start, start + len(cell)) for start, cell in zip(ends, row, strict=False)]


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
        begin, end = start + first, min(start + last, stop)
        if end > begin and not scan.data[end - 1 : end].isspace():
            end += len(scan.data[end:stop].partition(b" ")[0])  # wider than its column
        _judge_cell(scan, begin, end, level)


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
    cell = inside(scan.data, start, end)
    if cell.end > cell.start:
        judge(scan, cell, level, certain=False, rule="column")


def inside(data: bytes, start: int, end: int) -> Value:
    """A cell without the blanks and quotes around what it says."""
    whole = data[start:end]
    cell = whole.lstrip(EDGES)
    start += len(whole) - len(cell)
    return Value(start, start + len(cell.partition(b'"')[0].rstrip(EDGES)), True)


Cells = list[tuple[int, int] | None]
"""Where the texts of a row begin and end; None for what is no text."""


def _of_statement(scan: Scan, start: int, end: int) -> None:
    """The values of a statement whose columns are named, by the names that promise a secret."""
    scan.hanging.append((start, ROWS))
    names, found = stated(scan, start, end)
    levels = [level if (level := strength(name)) != WEAK else 0 for name in names]
    for row in found if any(levels) else ():
        for level, cell in zip(levels, row, strict=True):
            if level and cell:
                judge(scan, Value(*cell, True), level, certain=scan.low[start] != F, rule="insert")


F = ord("f")
"""With `from stdin` begin rows that a tool wrote, not a statement that somebody did."""


def stated(scan: Scan, start: int, end: int) -> tuple[list[bytes], Iterator[Cells]]:
    """The columns that a statement names here, and the rows that follow it."""
    if not scan.table[0] < start < scan.table[1]:
        is_copy = scan.low[start] == F
        line_end = scan.data.find(b"\n", end, end + 80) if is_copy else -1
        if not is_copy and (head := INSERT.match(scan.low, end)):
            names = _names(scan.data[slice(*head.span(1))])
            return names, _tuples(scan, start, head.end(), len(names))
        if line_end >= 0 and (head := COPY.search(scan.low, max(0, start - 1200), start)):
            names = _names(scan.data[slice(*head.span(1))])
            return names, _copied(scan, line_end, len(names))
    return [], iter(())


def _names(columns: bytes) -> list[bytes]:
    return [name.strip(b" \t\r\n\"'`[]") for name in columns.split(b",")]


def _tuples(scan: Scan, start: int, place: int, width: int) -> Iterator[Cells]:
    """The rows of `VALUES (…), (…)`."""
    for _ in range(ROWS):
        begin = TUPLE.match(scan.data, place)
        if begin is None:
            return
        place = begin.end()
        scan.table = start, place
        row: Cells = []
        for _ in range(width):
            cell = CELL.match(scan.data, place)
            if cell is None:
                break
            is_text = cell.lastindex == 4 and cell[3] is None
            row.append(cell.span(1 if cell[1] is not None else 2) if is_text else None)
            place = cell.end()
        yield row + [None] * (width - len(row))
        if len(row) < width:
            return


def _copied(scan: Scan, line_end: int, width: int) -> Iterator[Cells]:
    """The rows that follow `COPY table (columns) FROM stdin`."""
    for begin, stop in _lines_below(scan, line_end):
        cells = scan.data[begin:stop].split(b"\t")
        if len(cells) != width:
            return
        row: Cells = []
        for cell in cells:
            held = inside(scan.data, begin, begin + len(cell))
            row.append((held.start, held.end) if held.end > held.start else None)
            begin += len(cell) + 1
        yield row


def _marked(scan: Scan, start: int, end: int) -> None:
    """The cells below one of a table's head in HTML."""
    low = scan.low
    name = MARKED_HEAD.search(scan.data, max(0, start - 120), start)
    level = strength(name[1].rstrip()) if name else 0
    head = low.rfind(b"<tr", max(0, start - WIDTH), start)
    stop = low.find(b"</tr", end, end + WIDTH)
    if level in (0, WEAK) or head < 0 or stop < 0 or scan.table[0] < start < scan.table[1]:
        return
    scan.hanging.append((start, ROWS))
    if low.find(b"<td", end, stop) >= 0:
        return  # it is the head of its row
    at = len(MARKED_CELL.findall(low, head, start)) - 1
    scan.table = stop, stop
    for _ in range(ROWS):
        row = low.find(b"<tr", stop, stop + WIDTH)
        stop = low.find(b"</tr", row, row + 4 * WIDTH) if row >= 0 else -1
        if stop < 0:
            return
        scan.table = scan.table[0], stop
        cells = [cell.end() for cell in MARKED_CELL.finditer(low, row, stop)]
        text = MARKED_TEXT.match(scan.data, cells[at], stop) if at < len(cells) else None
        if text:
            _judge_cell(scan, *text.span(1), level)
