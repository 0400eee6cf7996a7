"""The only module that opens a log: records with byte offsets, and the companions beside it.

A record is one JSON value: a line, an element of an array, or one of several values on a line.
Lines are split at `\\n` only. Offsets count bytes of the file; of a gzip, zstd or UTF-16 file,
those of its decoded UTF-8 text.
"""

import gzip
import io
import json
import os
import re
import stat
import zlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, Literal

import msgspec
import zstandard

from forsy_retrace.errors import UnreadableInput
from forsy_retrace.evidence import Evidence

MAX_LINE = 256 << 20
MAX_DEPTH = 512
MAX_UNPACKED = 4 << 30
"""Caps against a file that was made to exhaust memory, in bytes (depth: in brackets)."""
MAX_RATIO = 100
"""How many times its packed size a file may unpack to, past 10 MB."""

CHUNK = 1 << 20
DECODE = msgspec.json.Decoder().decode
TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\Z)|[\[\]{}]', re.S)
COMMENT = b"//"
SURROGATE = re.compile("[\ud800-\udfff]")

Problem = Literal[
    "",
    "comment line",
    "unreadable: not JSON",
    "unreadable: cut off",
    "unreadable: nested too deep",
    "unreadable: line too long",
]


class Record(msgspec.Struct, frozen=True):
    """One value of a log and where it stands. `problem` says why there is no value."""

    here: Evidence
    value: Any = None
    problem: Problem = ""
    repaired: bool = False
    """Bytes that are no UTF-8, lone surrogates or NaN were replaced."""


class Source:
    """A log file, read as far as it reached when it was opened.

    `name` is the path relative to what the user named, and stands in every Evidence.
    """

    def __init__(self, path: Path, name: str | None = None) -> None:
        self.path = path
        self.name = name if name is not None else path.name

    def records(self) -> Iterator[Record]:
        """Every record in the order of the file, without blank lines."""
        with self._open() as stream:
            head = _lead(stream)
            lines = _lines(stream)
            first = next(lines, None)
            if first is None:
                return
            line, start, data, whole = first
            if data.lstrip()[:1] in (b"[", b"{") and not _is_record(data, head):
                rest = b"".join([data, *(more for _, _, more, _ in lines)])
                if _is_document(rest):
                    yield from self._document(rest)
                    return
                lines = _lines(io.BytesIO(rest))
                line, start, data, whole = next(lines)
            yield from self._line(line, start, data, whole)
            for line, start, data, whole in lines:
                yield from self._line(line, start, data, whole)

    @cached_property
    def head(self) -> tuple[Record, ...]:
        """The first 40 records, for telling what the log is."""
        found = []
        for record in self.records():
            found.append(record)
            if len(found) == 40:
                break
        return tuple(found)

    @cached_property
    def size(self) -> int:
        """Bytes on disk."""
        return self.path.stat().st_size

    def beside(self, pattern: str) -> list["Source"]:
        """The regular files next to this log that match a glob pattern, in order of name."""
        folder = self.path.parent
        lead = self.name[: len(self.name) - len(self.path.name)]
        return [
            Source(path, lead + path.relative_to(folder).as_posix())
            for path in sorted(folder.glob(pattern))
            if path != self.path and is_regular(path)
        ]

    def text(self, limit: int) -> str | None:
        """The whole text where it has at most `limit` bytes; for spilled outputs."""
        with self._open() as stream:
            data = stream.read(limit + 1)
        return data.decode("utf-8", "replace") if len(data) <= limit else None

    def whole(self) -> bytes:
        """All bytes, as the offsets of `records` count them."""
        with self._open() as stream:
            return stream.read()

    def _open(self) -> BinaryIO:
        try:
            flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
            handle = os.open(self.path, flags)
        except OSError as error:
            raise UnreadableInput(f"{self.name}: {error.strerror or 'cannot be opened'}") from None
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise UnreadableInput(f"{self.name}: not a regular file")
        stream = _Bounded(os.fdopen(handle, "rb"), os.fstat(handle).st_size)
        opened: BinaryIO = _decoded(stream, self.name)
        return opened

    def _line(self, line: int, start: int, data: bytes, whole: bool) -> Iterator[Record]:
        body = data.strip(b" \t\r\n\v\f")
        if body.startswith(b"\xef\xbb\xbf"):
            body = body[3:]
        if not body:
            return
        start += data.index(body[:64])
        here = Evidence(self.name, line, start, start + len(body))
        if len(data) > MAX_LINE:
            yield Record(here, problem="unreadable: line too long")
            return
        if body.startswith(COMMENT):
            yield Record(here, problem="comment line")
            return
        record = decode(body, here)
        if record.problem != "unreadable: not JSON":
            yield record
            return
        values = list(_glued(body, here))
        if values and all(not value.problem for value in values):
            yield from values
        else:
            cut = not whole and body[:1] in b"{["
            yield Record(here, problem="unreadable: cut off" if cut else "unreadable: not JSON")

    def _document(self, data: bytes) -> Iterator[Record]:
        body = data.strip()
        offset = data.index(body[:64])
        inner = _elements(body) if body[:1] == b"[" else _values(body)
        for start, end in inner:
            piece = body[start:end].strip()
            begin = offset + start + body[start:end].index(piece[:64])
            record = decode(piece, Evidence(self.name, 0, begin, begin + len(piece)))
            if record.problem == "unreadable: not JSON" and end == len(body):
                record = Record(record.here, problem="unreadable: cut off")
            yield record


def decode(data: bytes, here: Evidence) -> Record:
    """One JSON value, exact integers included; odd bytes are replaced, never fatal."""
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH and _depth(data) > MAX_DEPTH:
        return Record(here, problem="unreadable: nested too deep")
    try:
        return Record(here, DECODE(data))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        pass
    try:
        value = json.loads(data.decode("utf-8", "replace"), parse_constant=str, strict=False)
    except (ValueError, RecursionError):
        return Record(here, problem="unreadable: not JSON")
    return Record(here, _clean(value), repaired=True)


def is_regular(path: Path) -> bool:
    """A file that can be read as one: no link, pipe or device."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def discover(root: Path) -> Iterator[Source]:
    """Every regular file below a folder, in order of name; links are not followed."""
    for folder, folders, files in os.walk(root):
        folders.sort()
        for file in sorted(files):
            path = Path(folder) / file
            if is_regular(path):
                yield Source(path, path.relative_to(root).as_posix())


class _Bounded(io.RawIOBase):
    """A stream that ends where the file ended when it was opened."""

    def __init__(self, inner: BinaryIO, size: int) -> None:
        self.inner, self.size = inner, size

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        return self.inner.seek(offset, whence)

    def read(self, size: int = -1) -> bytes:
        left = self.size - self.inner.tell()
        return self.inner.read(left if size < 0 else min(size, left))

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self.inner.close()
        super().close()


def _decoded(stream: _Bounded, name: str) -> Any:
    """The stream as UTF-8 bytes, whatever it was packed or encoded in."""
    magic = stream.read(4)
    stream.seek(0)
    if magic[:2] == b"\x1f\x8b":
        return _unpack(gzip.GzipFile(fileobj=io.BufferedReader(stream)), stream.size, name)
    if magic == b"\x28\xb5\x2f\xfd":
        reader = zstandard.ZstdDecompressor().stream_reader(
            io.BufferedReader(stream), read_across_frames=True
        )
        return _unpack(reader, stream.size, name)
    encoding = _wide_encoding(magic)
    if encoding:
        return io.BytesIO(stream.read().decode(encoding, "replace").encode("utf-8", "replace"))
    return stream


def _wide_encoding(magic: bytes) -> str:
    for mark, name in ((b"\xff\xfe\0\0", "utf-32"), (b"\0\0\xfe\xff", "utf-32")):
        if magic == mark:
            return name
    if magic[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    match [byte == 0 for byte in magic]:
        case [False, True, False, True]:
            return "utf-16-le"
        case [True, False, True, False]:
            return "utf-16-be"
        case [False, True, True, True]:
            return "utf-32-le"
        case [True, True, True, False]:
            return "utf-32-be"
    return ""


def _unpack(reader: Any, packed: int, name: str) -> BinaryIO:
    parts, size = [], 0
    try:
        while chunk := reader.read(CHUNK):
            parts.append(chunk)
            size += len(chunk)
            if size > MAX_UNPACKED or (size > 10 << 20 and size > packed * MAX_RATIO):
                raise UnreadableInput(f"{name}: unpacks to more than is sane")
    except (OSError, EOFError, zlib.error, zstandard.ZstdError):
        if not parts:
            raise UnreadableInput(f"{name}: damaged compression") from None
    return io.BytesIO(b"".join(parts))


def _lead(stream: BinaryIO) -> bytes:
    head = stream.read(1 << 16)
    stream.seek(0)
    return head.removeprefix(b"\xef\xbb\xbf").strip()


def _lines(stream: BinaryIO) -> Iterator[tuple[int, int, bytes, bool]]:
    """Line number, offset, bytes, and whether the line was ended."""
    held: list[bytes] = []
    number, start, position = 1, 0, 0
    while chunk := stream.read(CHUNK):
        begin = 0
        while (stop := chunk.find(b"\n", begin)) >= 0:
            held.append(chunk[begin : stop + 1])
            data = held[0] if len(held) == 1 else b"".join(held)
            held.clear()
            yield number, start, data, True
            number, start, begin = number + 1, position + stop + 1, stop + 1
        if begin < len(chunk):
            held.append(chunk[begin:])
        position += len(chunk)
    if held:
        yield number, start, b"".join(held), False


def _is_record(line: bytes, head: bytes) -> bool:
    """Whether the first line is a record of its own, not the opening of a document."""
    body = line.strip().removeprefix(b"\xef\xbb\xbf").strip()
    record = decode(body, Evidence("", 0, 0, 0))
    if record.problem:
        return next(_values(body), (0, 0))[1] > 0
    return not isinstance(record.value, list) or len(head) > len(body)


def _is_document(data: bytes) -> bool:
    body = data.removeprefix(b"\xef\xbb\xbf").strip()
    if re.match(rb"\[\s*\{", body):
        return True
    first = next(_values(body), None)
    return first is not None and not decode(body[: first[1]], Evidence("", 0, 0, 0)).problem


def _values(data: bytes) -> Iterator[tuple[int, int]]:
    """The ranges of the objects and arrays that stand one after another."""
    depth = start = 0
    for token in TOKEN.finditer(data):
        mark = token[0][:1]
        if mark in b"[{":
            if depth == 0:
                start = token.start()
            depth += 1
        elif mark in b"]}" and depth:
            depth -= 1
            if depth == 0:
                yield start, token.end()


def _elements(data: bytes) -> Iterator[tuple[int, int]]:
    """The ranges of the elements of an array, scalars included."""
    depth, start = 0, 1
    for token in re.finditer(rb'"(?:[^"\\]++|\\.)*+(?:"|\Z)|[\[\]{},]', data, re.S):
        mark = token[0][:1]
        if mark in b"[{":
            depth += 1
        elif mark in b"]}":
            depth -= 1
        if (mark == b"," and depth == 1) or depth == 0:
            if data[start : token.start()].strip():
                yield start, token.start()
            start = token.end()
            if depth == 0:
                return
    if data[start:].strip():
        yield start, len(data)


def _glued(body: bytes, here: Evidence) -> Iterator[Record]:
    """Several values on one line (a lost newline), if nothing else stands between them."""
    last = 0
    for start, end in _values(body):
        if body[last:start].strip():
            return
        piece = Evidence(here.file, here.line, here.start + start, here.start + end)
        yield decode(body[start:end], piece)
        last = end
    if body[last:].strip():
        tail = Evidence(here.file, here.line, here.start + last, here.end)
        yield Record(tail, problem="unreadable: cut off")


def _depth(data: bytes) -> int:
    depth = deepest = 0
    for token in TOKEN.finditer(data):
        mark = token[0][:1]
        depth += (mark in b"[{") - (mark in b"]}")
        deepest = max(deepest, depth)
    return deepest


def _clean(value: Any) -> Any:
    """Lone surrogates become U+FFFD, since no UTF-8 file can hold them."""
    match value:
        case str():
            return SURROGATE.sub("\ufffd", value)
        case list():
            return [_clean(item) for item in value]
        case dict():
            return {_clean(key): _clean(item) for key, item in value.items()}
        case float() if value != value or value in (float("inf"), float("-inf")):
            return str(value)
    return value
