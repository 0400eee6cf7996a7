"""What is done, in SQLite: a run that was killed goes on, and an unchanged log is not read again.

The ledger may lie in a folder that is given away. It names files by salted digests, and a
log by its masked name too; it holds of a trace only what its index row says.
"""

import contextlib
import functools
import hashlib
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import msgspec

from forsy_retrace.errors import DiskTrouble, Locked, RetraceError

from .neighbours import Near
from .work import Done, File

ENCODE = msgspec.json.Encoder().encode
DONE = msgspec.json.Decoder(Done).decode
KEYS = msgspec.json.Decoder(tuple[str, ...]).decode
TABLES = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value BLOB);
CREATE TABLE IF NOT EXISTS seen (
    file TEXT PRIMARY KEY, mark TEXT, made TEXT, adapter TEXT, why TEXT, companions TEXT,
    asked BLOB, near TEXT
);
CREATE TABLE IF NOT EXISTS logs (
    file TEXT PRIMARY KEY, stamp TEXT, content TEXT, made TEXT, name TEXT, done TEXT
);
CREATE TABLE IF NOT EXISTS folders (file TEXT PRIMARY KEY, key TEXT UNIQUE);
"""
OURS = 0x46527274
"""By which SQLite knows a ledger from any other database."""


class Known(msgspec.Struct, frozen=True):
    """What a file is: its adapter, or why it has none; the keys of what belongs to it."""

    adapter: str
    why: str
    companions: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    """Patterns of the files beside it that this rests on."""
    is_passing: bool = False
    """It could not be told now; never kept."""


class Kept(msgspec.Struct, frozen=True):
    """A log that is done: how its files stood then, by which version, and what came of it."""

    stamp: str
    content: str
    made: str
    done: Done


class Remembered(NamedTuple):
    """A log that is done: its masked name, its key, by which version, and what came of it."""

    name: str
    key: str
    made: str
    done: Done


P = ParamSpec("P")
T = TypeVar("T")


def told(
    method: Callable[Concatenate["Ledger", P], T],
) -> Callable[Concatenate["Ledger", P], T]:
    """What SQLite can't do becomes a line that says whose matter it is."""

    @functools.wraps(method)
    def careful(self: "Ledger", /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(self, *args, **kwargs)
        except sqlite3.Error as error:
            raise _trouble(self.name, error) from None
        except msgspec.MsgspecError:
            raise _damaged(self.name) from None

    return careful


def _trouble(name: str, error: sqlite3.Error) -> RetraceError:
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_FULL:
            return DiskTrouble("the ledger can't be written: no space left on the disk")
        case sqlite3.SQLITE_IOERR | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_READONLY:
            why = "the ledger can't be opened, read or written; the disk may be full"
            return DiskTrouble(f"{name}: {why}")
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return Locked(f"{name}: another program uses the ledger")
        case sqlite3.SQLITE_NOTADB:
            return _foreign(name)
    return _damaged(name)


def _foreign(name: str) -> RetraceError:
    return RetraceError(f"{name}: no ledger of batch; name another with --ledger, or move it away")


def _damaged(name: str) -> RetraceError:
    return RetraceError(f"{name}: the ledger is damaged; move it away, and all is read again")


class Ledger:
    """Opened by one run at a time; each change is on disk when the call returns."""

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self._open(path)

    @told
    def _open(self, path: Path) -> None:
        if not path.exists():
            path.touch(mode=0o600)
        self._base = sqlite3.connect(path, isolation_level=None)
        try:
            self._begin()
        except BaseException:
            self._base.close()
            raise

    def _begin(self) -> None:
        ((ours,),) = self._base.execute("PRAGMA application_id")
        ((held,),) = self._base.execute("SELECT count(*) FROM sqlite_master")
        if held and ours != OURS:
            raise _foreign(self.name)
        self._base.execute(f"PRAGMA application_id = {OURS}")
        self._base.execute("PRAGMA journal_mode = WAL")
        self._base.execute("PRAGMA synchronous = NORMAL")
        self._base.executescript(TABLES)
        self._base.execute(
            "INSERT OR IGNORE INTO about VALUES ('salt', ?)", (secrets.token_bytes(16),)
        )
        (self._salt,) = self._row("SELECT value FROM about WHERE name = 'salt'")

    def close(self) -> None:
        self._base.close()

    def digest(self, *parts: bytes) -> str:
        """A digest that says nothing to whoever lacks this ledger."""
        found = hashlib.blake2b(key=self._salt, digest_size=16)
        for part in parts:
            found.update(len(part).to_bytes(8, "big") + part)
        return found.hexdigest()

    @told
    def seen(self, file: File, near: Near, made: str) -> Known | None:
        """What the file was found to be, if neither it changed since nor what lies beside it."""
        row = self._row(
            "SELECT adapter, why, companions, asked, near FROM seen"
            " WHERE file = ? AND mark = ? AND made = ?",
            (self.key(file.uri), file.state, made),
        )
        if row is None:
            return None
        asked = self._sealed(file, row[3]).decode("utf-8", "surrogateescape").split("\0")
        asked = [*filter(None, asked)]
        if row[4] != self.digest(near.of(file, asked)):
            return None
        return Known(row[0], row[1], KEYS(row[2]), tuple(asked))

    @told
    def owned(self, file: File) -> tuple[str, ...]:
        """The companions that a file had when it could last be read."""
        row = self._row("SELECT companions FROM seen WHERE file = ?", (self.key(file.uri),))
        return KEYS(row[0]) if row else ()

    @told
    def saw(self, found: Iterable[tuple[File, Known]], near: Near, made: str) -> None:
        """Remembers what files are, all at once; what passes is no property of a file."""
        rows = [
            (
                self.key(file.uri),
                file.state,
                made,
                known.adapter,
                known.why,
                ENCODE(known.companions).decode(),
                self._sealed(file, "\0".join(known.asked).encode("utf-8", "surrogateescape")),
                self.digest(near.of(file, known.asked)),
            )
            for file, known in found
            if not known.is_passing
        ]
        self._put_all("INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)

    def _sealed(self, file: File, data: bytes) -> bytes:
        """Bytes that only who knows the file's address can read; the same call opens them."""
        lead = f"{file.uri}\0{file.state}\0".encode("utf-8", "surrogateescape")
        veil = b"".join(
            hashlib.blake2b(lead + at.to_bytes(8, "big"), key=self._salt).digest()
            for at in range(0, len(data), hashlib.blake2b.MAX_DIGEST_SIZE)
        )
        return bytes(one ^ other for one, other in zip(data, veil, strict=False))

    @told
    def folder_keys(self) -> dict[str, str]:
        """What tells the folders of each file from those of every other, by the file's key."""
        return dict(self._base.execute("SELECT file, key FROM folders"))

    @told
    def keep_folder_keys(self, keys: Iterable[tuple[str, str]]) -> None:
        """Remembers them; a file has the one that it got first for good."""
        self._put_all("INSERT INTO folders VALUES (?, ?)", list(keys))

    def _put_all(self, query: str, rows: Sequence[tuple[Any, ...]]) -> None:
        with self._whole():
            self._base.executemany(query, rows)

    @contextlib.contextmanager
    def _whole(self) -> Iterator[None]:
        """Changes that are on disk together, or not at all."""
        self._base.execute("BEGIN")
        with self._base:
            yield

    @told
    def kept(self, uri: str) -> Kept | None:
        """What came of a log when it was last converted."""
        query = "SELECT stamp, content, made, done FROM logs WHERE file = ?"
        row = self._row(query, (self.key(uri),))
        return Kept(row[0], row[1], row[2], DONE(row[3])) if row else None

    @told
    def keep(self, uri: str, name: str, kept: Kept) -> None:
        """Remembers what came of a log; its masked name is for the report."""
        done = ENCODE(kept.done).decode()
        self._change(
            "INSERT OR REPLACE INTO logs VALUES (?, ?, ?, ?, ?, ?)",
            (self.key(uri), kept.stamp, kept.content, kept.made, name, done),
        )

    @told
    def touched(self, uri: str, stamp: str) -> None:
        """The log's files have other times, and the bytes that they had."""
        self._base.execute("UPDATE logs SET stamp = ? WHERE file = ?", (stamp, self.key(uri)))

    @told
    def forget(self, key: str) -> None:
        """The file is no log of its own any more."""
        self._change("DELETE FROM logs WHERE file = ?", (key,))

    @told
    def redo(self, key: str) -> None:
        """What came of the log is damaged: it is converted again."""
        self._change("UPDATE logs SET made = '' WHERE file = ?", (key,))

    @told
    def keys(self) -> set[str]:
        """The keys of all logs that were ever converted."""
        return {key for (key,) in self._base.execute("SELECT file FROM logs")}

    @told
    def folders_of(self, key: str) -> list[str]:
        """The trace folders that came of a log."""
        row = self._row("SELECT done FROM logs WHERE file = ?", (key,))
        return [one.folder for one in DONE(row[0]).rows] if row else []

    @told
    def all(self) -> list[Remembered]:
        """Every log that was ever converted, in the order of the masked names."""
        rows = self._base.execute("SELECT name, file, made, done FROM logs ORDER BY name, file")
        return [Remembered(name, key, made, DONE(done)) for name, key, made, done in rows]

    @told
    def is_listed(self, state: str) -> bool:
        """Whether the dataset files were written of this very state."""
        row = self._row("SELECT value FROM about WHERE name = 'listed'")
        return row is not None and row[0] == f"{self._changes()} {state}"

    @told
    def listed(self, state: str) -> None:
        """Remembers that the dataset files hold all that is done now."""
        value = f"{self._changes()} {state}"
        self._base.execute("INSERT OR REPLACE INTO about VALUES ('listed', ?)", (value,))

    def _change(self, query: str, values: tuple[Any, ...]) -> None:
        """A change of what came of a log: with it goes the count of all changes."""
        more = "INSERT INTO about VALUES ('changes', 1) ON CONFLICT (name)"
        with self._whole():
            self._base.execute(query, values)
            self._base.execute(f"{more} DO UPDATE SET value = value + 1")

    def _changes(self) -> int:
        row = self._row("SELECT value FROM about WHERE name = 'changes'")
        return int(row[0]) if row else 0

    def key(self, uri: str) -> str:
        """What the ledger calls a file."""
        return self.digest(uri.encode("utf-8", "surrogateescape"))

    def _row(self, query: str, values: tuple[Any, ...] = ()) -> Any:
        return self._base.execute(query, values).fetchone()
