"""Secrets in tables: a column whose head says that what stands below is secret."""

from __future__ import annotations

from typing import TYPE_CHECKING

from forsy_retrace.patterns import later
from forsy_retrace.redaction.strength import judge
from forsy_retrace.redaction.values import Value

if TYPE_CHECKING:
    from forsy_retrace.redaction.scan import Scan

ROWS = 50
WIDTH = 600
HEAD = later(rb"[\s\"'`*]{0,40}[A-Za-z_][\w ./()*-]{0,40}[\s\"'`*]{0,40}$")
BEFORE = later(rb".{0,400}[:,\[] ?\\{0,3}\"(?=[A-Za-z_|])")
"""What may stand before a table in a text of JSON."""
EDGES = b" \t\r\"'`"


def column(scan: Scan, left: int, level: int) -> None:
    """Judges the cells below the one that begins here, if it stands in the head of a table."""
    data = scan.data
    if left and data[left - 1] not in b" \t,;|\n*\"'`":
        return
    if scan.table[0] < left < scan.table[1]:
        return  # a row of the last table is no head of the next
    begin = data.rfind(b"\n", max(0, left - WIDTH), left) + 1
    outside = BEFORE.match(data, begin, left)
    begin = outside.end() if outside else begin
    end = data.find(b"\n", left, left + WIDTH)
    head = data[begin:end] if end >= 0 else b""
    sign = next((sign for sign in (b"|", b"\t", b";", b",") if sign in head), None)
    if sign is None or (begin == 0 and left > WIDTH):
        return
    cells = head.strip(b" \r|" if sign == b"|" else b"\r").split(sign)
    if len(cells) < 2 or not all(map(HEAD.match, cells)):
        return
    head_end = end
    at = head[: left - begin].count(sign)
    for _ in range(ROWS):
        begin, end = end + 1, data.find(b"\n", end + 1, end + 1 + WIDTH)
        end = end if end >= 0 else min(len(data), begin + WIDTH)
        row = data[begin:end].split(sign)
        if len(row) != head.count(sign) + 1:
            return
        scan.table = head_end, end
        start = begin + sum(len(cell) + 1 for cell in row[:at])
        cell = row[at].lstrip(EDGES)
        start += len(row[at]) - len(cell)
        cell = cell.partition(b'"')[0].rstrip(EDGES)
        if cell:
            judge(scan, Value(start, start + len(cell), True), level, certain=False, rule="column")
