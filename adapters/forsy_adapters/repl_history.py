"""Histories of other prompts: psql, mysql, sqlite3, redis-cli, python and node.

A line an input, `~/.psql_history` and the like; only the name tells which prompt it was. psql
writes a line feed as byte 1, node puts the newest line first, libedit (macOS, MariaDB) writes
`_HiStOrY_V2_` at the head and `\\040` for a space. Nothing but the lines is logged; those of one
statement are told by its language.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from forsy_retrace.events import Event
from forsy_retrace.sdk import Shows, later
from forsy_retrace.source import Line, Record, Source, entry

from ._history.lines import is_like, is_text, is_unstamped, left_out, tell
from ._history.ran import CANNOT
from ._history.statements import Node, Python, Sqlite, Statement, statements

SHOWS = Shows(
    calls="yes",
    harness="REPL history",
    stores=(
        "~/.psql_history",
        "~/.mysql_history",
        "~/.sqlite_history",
        "~/.rediscli_history",
        "~/.python_history",
        "~/.node_repl_history",
    ),
    cannot=(*CANNOT, "whether an input worked", "when it was given"),
    is_history=True,
)


class Prompt(NamedTuple):
    """A program, the name of its history, and how most of its lines begin."""

    tool: str
    name: str
    known: re.Pattern[bytes]
    form: str = "line"
    newest_first: bool = False
    begin: Callable[[str], Statement] | None = None
    """How a statement of several lines reads, where each is an input of the file."""


SQL = (
    rb"(?i)\s*(?:select|insert|update|delete|create|drop|alter|show|use|describe|desc|explain|grant"
    rb"|set|with|begin|commit|rollback|truncate|vacuum|analyze|pragma|from|where|values|exit|quit)\b"
)
PROMPTS: tuple[Prompt, ...] = (
    Prompt("psql", r"psql_history", later(SQL + rb"|\\[a-z?!]|.*\x01"), "psql"),
    Prompt("mysql", r"(?:mysql|mariadb)_history", later(SQL)),
    Prompt("sqlite3", r"sqlite_history", later(SQL + rb"|\.[a-z]+\b"), begin=Sqlite),
    Prompt(
        "redis-cli",
        r"rediscli_history",
        later(rb"(?i)\s*(?:get|set|del|keys|h\w+|l\w+|s\w+|z\w+|info|ping|auth|exit|ttl)\b"),
    ),
    Prompt(
        "python",
        r"python_history",
        later(
            rb"\s*(?:import|from|for|if|def|class|print|return|with|exit|quit)\b|[\w.]+\s*=|.*\w\("
        ),
        begin=Python,
    ),
    Prompt(
        "node",
        r"node_repl_history",
        later(rb"\s*(?:const|let|var|function|return|await|import)\b|\.[a-z]+|.*\w\(|\s*[})]"),
        form="newest",
        newest_first=True,
        begin=Node,
    ),
)
"""By the name of the file; the content must bear it out."""
HEAD = b"_HiStOrY_V2_"


def sniff(source: Source) -> bool:
    """libedit's head; or the name, and lines of that language."""
    if any(line.data.rstrip() == HEAD for line in source.first_lines[:1]) and is_text(source):
        return True
    return any(is_like(source, one.name, one.known) for one in PROMPTS)


def accepts(source: Source) -> bool:
    """Lines of text: inputs may be anything."""
    return is_unstamped(source)


def read(source: Source) -> Iterator[Event]:
    """A call for each input, the oldest first."""
    name = source.path.name.lower()
    prompt = next((one for one in PROMPTS if re.search(one.name, name)), None)
    lines = list(source.lines())
    head = [line for line in lines[:1] if line.data.rstrip() == HEAD]
    form = "libedit" if head else prompt.form if prompt else "line"
    yield from (left_out(line, "the head of a libedit history") for line in head)
    found: list[Record] = [entry(held, form) for held in _inputs(lines[len(head) :], prompt)]
    yield from tell(found, prompt.tool if prompt else "repl")


def _inputs(lines: list[Line], prompt: Prompt | None) -> Iterator[Sequence[Line]]:
    """The lines of each input, the oldest first; their own lines in the order of the file."""
    newest_first = prompt is not None and prompt.newest_first
    if newest_first:
        lines.reverse()
    if prompt is None or prompt.begin is None:
        yield from ([line] for line in lines if line.data.strip())
        return
    for held in statements(lines, prompt.begin):
        yield held[::-1] if newest_first else held
