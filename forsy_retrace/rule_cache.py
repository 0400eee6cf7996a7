"""What the package's own patterns and tables were read to, handed from one run to the next.

Python keeps the byte code of modules; patterns it compiles and tables it parses anew in each
process: for a session of 1 MB those are 440 and five, and a fifth of the whole run. What they came
to lies below the user's cache folder, under a digest of its bytes; that of another build of Python
is not taken, nor what another user of the machine could have put there.
"""

import hashlib
import importlib
import os
import re
import stat
import sys
from array import array
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from forsy_retrace import patterns, tables
from forsy_retrace.version import MADE_BY

WORD = "I"
"""A code is a row of such numbers."""
DIGEST = 32
NOT_SO = (ImportError, AttributeError, TypeError, ValueError, RuntimeError, OverflowError)
"""What is raised where another Python's compiler does not work as those of 3.11 to 3.13."""

Code = tuple[int, bytes, dict[str, int], int]
"""Flags, numbers, names of groups, how many there are."""


class Kept(msgspec.Struct, array_like=True):
    """All that is kept, by this build of Python."""

    made_by: str
    """Another version begins anew: what its predecessor asked for would be kept for ever."""
    codes: dict[bytes, Code]
    """By kind, flags and text of the pattern."""
    tables: dict[str, tuple[bytes, msgspec.Raw]]
    """By name: the digest of what it was made of, and what came of that."""


@contextmanager
def between_runs() -> Iterator[None]:
    """Patterns and tables are taken from what earlier runs made; what is new is for the next."""
    store = _Store(_path())
    patterns.compile_by(store.compiled)
    tables.keep_by(store.made)
    try:
        yield
    finally:
        patterns.compile_by(re.compile)
        tables.keep_by(tables.anew)
        store.save()


class _Store:
    """What runs of this Python have left; read when the first is asked for."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.has_news = False

    @cached_property
    def kept(self) -> Kept:
        """What the file holds."""
        return _read(self.path)

    def compiled(self, pattern: str | bytes, flags: int) -> "re.Pattern[Any]":
        """The pattern, from its code."""
        codes = self.kept.codes
        kind = b"text" if isinstance(pattern, str) else b"data"
        plain = pattern if isinstance(pattern, bytes) else pattern.encode("utf-8", "surrogatepass")
        key = b"%b %d %b" % (kind, flags, plain)
        try:
            if key not in codes:
                codes[key] = _code(pattern, flags)
                self.has_news = True
            return _pattern(pattern, codes[key])
        except NOT_SO:
            return re.compile(pattern, flags)

    def made(self, name: str, of: bytes, make: tables.Make) -> Any:
        """What was made of some bytes when they were the same."""
        digest = _digest(of)
        made_of, data = self.kept.tables.get(name, (b"", msgspec.Raw()))
        if made_of == digest:
            return msgspec.msgpack.decode(data)
        found = make(of)
        self.kept.tables[name] = digest, msgspec.Raw(msgspec.msgpack.encode(found))
        self.has_news = True
        return found

    def save(self) -> None:
        """Writes all, if some of it is new; a folder that can't be written has none."""
        if self.path is None or not self.has_news:
            return
        data = msgspec.msgpack.encode(self.kept)
        new = self.path.with_name(f".{self.path.name}.new")  # of two runs neither need be whole
        with suppress(OSError):
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(new, "wb", opener=_alone) as file:
                file.write(_digest(data) + data)
            new.replace(self.path)


def _path() -> Path | None:
    """One file for each Python; None where there is no home to keep it in."""
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        home = cache if cache.is_absolute() else Path.home() / ".cache"
    except RuntimeError:
        return None
    return home / "forsy-retrace" / f"kept-{sys.implementation.cache_tag}"


def _read(path: Path | None) -> Kept:
    nothing = Kept(_made_by(), {}, {})
    try:
        data = _own(path) if path else b""
        if data[:DIGEST] != _digest(data[DIGEST:]):
            return nothing
        kept = msgspec.msgpack.decode(data[DIGEST:], type=Kept)
    except (OSError, msgspec.MsgspecError):
        return nothing
    return kept if kept.made_by == nothing.made_by else nothing


def _own(path: Path) -> bytes:
    """What a file holds that none but its owner can have written; nothing of any other."""
    with open(path, "rb", opener=_alone) as file:
        found = (os.stat(path.parent), os.fstat(file.fileno()))
        is_own = stat.S_ISREG(found[1].st_mode) and all(map(_is_own, found))
        return file.read() if is_own else b""


def _is_own(found: os.stat_result) -> bool:
    if sys.platform == "win32":
        return True
    return found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def _alone(path: str, flags: int) -> int:
    """Opens a file for this user alone; follows no link and waits for no pipe."""
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    return os.open(path, flags, 0o600)


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=DIGEST).digest()


def _made_by() -> str:
    """The one build of Python that takes its own codes, and the version that has these patterns."""
    return f"{MADE_BY} {sys.implementation.name} {sys.version} {sys.byteorder} {_sre().MAGIC}"


def _sre() -> Any:
    return importlib.import_module("_sre")


def _code(pattern: str | bytes, flags: int) -> Code:
    """What `re.compile` makes of a pattern before it hands it to the machine."""
    parsed = importlib.import_module("re._parser").parse(pattern, flags)
    words = array(WORD, importlib.import_module("re._compiler")._code(parsed, flags))
    state = parsed.state
    return flags | state.flags, words.tobytes(), dict(state.groupdict), state.groups


def _pattern(pattern: str | bytes, code: Code) -> "re.Pattern[Any]":
    flags, data, names, groups = code
    named: list[str | None] = [None] * groups
    for name, group in names.items():
        named[group] = name
    words = array(WORD, data).tolist()
    made: re.Pattern[Any] = _sre().compile(pattern, flags, words, groups - 1, names, tuple(named))
    return made
