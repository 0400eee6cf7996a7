"""A SQLite database as text: one JSON object a row, behind one that names tables and columns.

Tables come in the order of their names, rows in that of their row ids; views, virtual tables and
SQLite's own are left out. A row is `{"table": …, "rowid": …, "row": {…}}`, a blob `{"blob": size}`,
but for texts: a JSON object or list in UTF-8, or what a program packed as a frame of zstd.
"""

import io
import os
import sqlite3
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO, Protocol
from urllib.parse import quote

import msgspec

from forsy_retrace.errors import UnreadableInput
from forsy_retrace.patterns import later

from .journals import logged, rolled_back
from .made import Made
from .unpack import FREE, MAX_RATIO, Bounded, text_of_frame
from .values import MAX_LINE

STEPS = 1_000_000
MOST_STEPS = 100
"""A query may take so many times so many steps of SQLite's machine for each row."""
MOST_MERGED = 1 << 30
"""Bytes of a database, and of the writes beside it, that are put together in memory."""
TOO_LARGE = "too large with writes beside it; end what writes to it, and read it then"
ALONE = b"\x01\x01"
"""By which a database says, at byte 18, that no write-ahead log goes with it."""
WITHOUT_ROWID = later(r"(?i)\)[^)]*\bWITHOUT\s+ROWID\b[^)]*$")
ENCODE = msgspec.json.Encoder().encode
SYNTAX = msgspec.json.Decoder(msgspec.Raw).decode
OPENS = (b"{", b"[")


class Opened(Protocol):
    """What a database is read from: `Source`."""

    path: Path
    name: str

    def on_disk(self) -> Bounded:
        """The bytes as they lie on disk."""
        ...


def database(source: Opened, beside: Sequence[Opened]) -> BinaryIO:
    """The text of a database, made as it is read; raises UnreadableInput where it is damaged."""
    most = max(FREE, MAX_RATIO * sum(_size(one) for one in (source, *beside)))
    made = Made(source.name, _lines(source, beside), most, (sqlite3.Error,), "database")
    return io.BufferedReader(made, 1 << 20)


def _size(source: Opened) -> int:
    return source.path.stat().st_size


def _lines(source: Opened, beside: Sequence[Opened]) -> Generator[bytes]:
    with closing(_connected(source, beside)) as connection:
        tables = _tables(connection)
        yield ENCODE({"database": {name: columns for name, (columns, _) in tables.items()}}) + b"\n"
        for table, (columns, query) in tables.items():
            for number, *values in _rows(connection, query):
                row = {name: _plain(value) for name, value in zip(columns, values, strict=True)}
                yield ENCODE({"table": table, "rowid": number, "row": row}) + b"\n"


def _connected(source: Opened, beside: Sequence[Opened]) -> sqlite3.Connection:
    """A connection that runs nothing of the database's own.

    A database with writes beside it is read from memory: SQLite would write where it lies.
    """
    if beside:
        connection = sqlite3.connect(":memory:", isolation_level=None)
        connection.deserialize(_merged(source, beside))
    else:
        address = f"file:{quote(os.fspath(source.path.resolve()))}?mode=ro&immutable=1"
        connection = sqlite3.connect(address, uri=True, isolation_level=None)
    for setting in (
        "trusted_schema = OFF",
        "cell_size_check = ON",
        "mmap_size = 0",
        "query_only = ON",
    ):
        connection.execute(f"PRAGMA {setting}")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_LINE)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    _pass_over(connection)
    return connection


CALLS = "unsafe use of "
"""What SQLite says of an index or a column that calls a function which it does not trust."""


def _pass_over(connection: sqlite3.Connection) -> None:
    """Has SQLite pass over indexes that call functions: it takes no schema that has one, else.

    A table that cannot be read without them is still refused.
    """
    try:
        connection.execute("SELECT 1 FROM sqlite_master").close()
    except sqlite3.DatabaseError as error:
        if CALLS in str(error):
            connection.execute("PRAGMA writable_schema = ON")


def _merged(source: Opened, beside: Sequence[Opened]) -> bytearray:
    """A database and what was to be written into it, in memory alone."""
    if sum(_size(one) for one in (source, *beside)) > MOST_MERGED:
        raise UnreadableInput(f"{source.name}: {TOO_LARGE}")
    base = bytearray(_whole(source))
    for one in beside:
        way = logged if one.path.name.endswith("-wal") else rolled_back
        base = way(base, _whole(one))
    base[18:20] = ALONE
    return base


def _whole(source: Opened) -> bytes:
    with source.on_disk() as stream:
        return stream.read()


def _tables(connection: sqlite3.Connection) -> dict[str, tuple[list[str], str]]:
    """Each table by its name, with its columns and the query for its rows."""
    found = {}
    listed = "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name"
    for name, sql in connection.execute(listed).fetchall():
        if not isinstance(name, str) or name.startswith("sqlite_"):
            continue
        if not isinstance(sql, str) or not sql.upper().startswith("CREATE TABLE"):
            continue
        place = _quoted(name)
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({place})")]
        listed = ", ".join(_quoted(column) for column in columns)
        if WITHOUT_ROWID.search(sql):
            query = f"SELECT NULL, {listed} FROM {place}"
        else:
            query = f"SELECT _rowid_, {listed} FROM {place} ORDER BY _rowid_"
        found[name] = (columns, query)
    return found


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _rows(connection: sqlite3.Connection, query: str) -> Iterator[tuple[Any, ...]]:
    """The rows of a query, each within its share of work."""
    steps = 0

    def count() -> int:
        nonlocal steps
        steps += 1
        return steps > MOST_STEPS

    connection.set_progress_handler(count, STEPS)
    for row in connection.execute(query):
        yield row
        steps = 0


def _plain(value: Any) -> Any:
    if not isinstance(value, bytes):
        return value
    text = _json_in(value) if value[:1] in OPENS else text_of_frame(value)
    return {"blob": len(value)} if text is None else text


def _json_in(blob: bytes) -> str | None:
    """The text of a blob that is one JSON value from its first byte on."""
    try:
        SYNTAX(blob)
        return blob.decode()
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
