"""Tables of people: names and numbers in the rows that a column of theirs tells of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from forsy_retrace.patterns import later
from forsy_retrace.redaction import columns, numbers, people, rules
from forsy_retrace.redaction.names import PERSON, PHONE

if TYPE_CHECKING:
    from forsy_retrace.redaction.scan import Rule, Scan

REST = later(rb"[a-z_ ]{0,20}[\"'`*]{0,3}[ ]{0,40}(?:[,;\t|\r\n]|\xe2\x94\x82)")
TELLS = later(rb"[^@\s]@[^@\s]|[0-9](?:[ ./()-]{0,2}[0-9]){5}")
NAMES = later(people.TWO_NAMES)
ONE_NAME = later(people.CAPITAL + people.LETTERS + rb"{1,25}(?: [A-Z\xc3-\xce]\w{1,25})?")


def rows() -> Iterator[tuple[bytes, Rule]]:
    for word in rules.words("rosters", "telling"):
        yield word, _roster
    for statement in columns.STATEMENTS:
        yield statement, _of_statement


@lru_cache(maxsize=1)
def _kinds() -> dict[bytes, tuple[re.Pattern[bytes], str]]:
    """What a cell has to look like, and its kind, by the name of its column."""
    kinds: dict[bytes, tuple[re.Pattern[bytes], str]] = {}
    kinds |= dict.fromkeys(rules.words("rosters", "names"), (NAMES, PERSON))
    kinds |= dict.fromkeys(rules.words("rosters", "parts"), (ONE_NAME, PERSON))
    kinds |= dict.fromkeys(rules.words("rosters", "phones"), (numbers.NATIONAL, PHONE))
    return kinds


def _roster(scan: Scan, start: int, end: int) -> None:
    """The cells of the table in whose head a word tells that its rows are people."""
    if not REST.match(scan.low, end):
        return
    table = columns.table_at(scan, start)
    if table is None or not table.sign:
        return
    heads = (name.strip(b" \t\r*\"'`").lower() for name in table.head.split(table.sign))
    wanted = {at: _kinds()[name] for at, name in enumerate(heads) if name in _kinds()}
    telling = table.column_at(start)
    is_name = _kinds().get(scan.low[start:end], (NAMES, ""))[1] == PERSON
    for row in columns.rows_below(scan, table) if wanted else ():
        if not is_name and not TELLS.search(scan.data, *row[telling]):
            continue
        for at, (pattern, kind) in wanted.items():
            cell = columns.inside(scan.data, *row[at])
            _judge(scan, cell.start, cell.end, pattern, kind)


def _of_statement(scan: Scan, start: int, end: int) -> None:
    """The same of the rows of a statement that names its columns."""
    names, found = columns.stated(scan, start, end)
    heads = [name.lower() for name in names]
    wanted = {at: _kinds()[name] for at, name in enumerate(heads) if name in _kinds()}
    telling = [at for at, name in enumerate(heads) if name in rules.words("rosters", "telling")]
    for row in found if wanted and telling else ():
        tells = any(cell and TELLS.search(scan.data, *cell) for at in telling if (cell := row[at]))
        for at, (pattern, kind) in wanted.items():
            if (cell := row[at]) and (tells or kind == PHONE):
                _judge(scan, *cell, pattern, kind)


def _judge(scan: Scan, start: int, end: int, pattern: re.Pattern[bytes], kind: str) -> None:
    text = scan.data[start:end]
    if pattern.fullmatch(text) and (kind == PHONE or people.is_person(text)):
        scan.add(start, end, "roster", kind)
