"""Bytes of a file as UTF-8 text, whatever they were packed or encoded in; zip members by name."""

import gzip
import io
import lzma
import stat
import struct
import zipfile
import zlib
from fnmatch import fnmatchcase
from typing import Any, BinaryIO

import zstandard

from forsy_retrace.errors import UnreadableInput

MAX_UNPACKED = 4 << 30
"""Bytes that a packed file may hold."""
MAX_RATIO = 100
"""How many times its packed size a file may unpack to, past 10 MB."""
FREE = 10 << 20
MAX_MEMBERS = 10_000
MAX_DIRECTORY = 16 << 20
"""Bytes of a zip's table of contents."""
CHUNK = 1 << 20

ZIP = b"PK\x03\x04"
DAMAGED = (
    OSError,
    EOFError,
    RuntimeError,
    ValueError,
    NotImplementedError,
    struct.error,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    zstandard.ZstdError,
)
"""What the unpackers raise where the bytes are not what they should be."""


class Bounded(io.RawIOBase):
    """A stream that ends where the file ended when it was opened."""

    def __init__(self, inner: BinaryIO, size: int, most: int = -1) -> None:
        self.inner, self.size, self.most = inner, size, most

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        if whence == io.SEEK_END:
            return self.inner.seek(max(self.size + offset, 0))
        return self.inner.seek(offset, whence)

    def tell(self) -> int:
        return self.inner.tell()

    def read(self, size: int = -1) -> bytes:
        left = max(self.size - self.inner.tell(), 0)
        size = left if size < 0 else min(size, left)
        if 0 <= self.most < size:
            raise zipfile.BadZipFile
        return self.inner.read(size)

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self.inner.close()
        super().close()


class Unpacked(io.RawIOBase):
    """What a packed stream holds, as far as it is whole and sane."""

    def __init__(self, reader: Any, packed: int, name: str, *beneath: Any) -> None:
        self.reader, self.packed, self.name, self.beneath = reader, packed, name, beneath
        self.count = 0
        self.ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self.ended:
            return 0
        try:
            data = self.reader.read1(len(buffer))
        except DAMAGED:
            if not self.count:
                raise UnreadableInput(f"{self.name}: damaged compression") from None
            data = b""
        self.ended = not data
        self.count += len(data)
        past = self.count > FREE and self.count > self.packed * MAX_RATIO
        if past or self.count > MAX_UNPACKED:
            raise UnreadableInput(f"{self.name}: unpacks to more than is sane")
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        for one in (self.reader, *self.beneath):
            one.close()
        super().close()


GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"


def is_packed(magic: bytes) -> bool:
    """Whether a file's first bytes are those of packed or wide text."""
    return magic.startswith((GZIP, ZSTD)) or _wide_encoding(magic[:4]) != ""


def decoded(stream: Bounded, name: str) -> BinaryIO:
    """The stream as UTF-8 bytes, from its start."""
    magic = stream.read(4)
    stream.seek(0)
    if magic.startswith(GZIP):
        inner: Any = gzip.GzipFile(fileobj=io.BufferedReader(stream))
        return io.BufferedReader(Unpacked(inner, stream.size, name, stream), CHUNK)
    if magic == ZSTD:
        raw = io.BufferedReader(stream)
        inner = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
        return io.BufferedReader(Unpacked(inner, stream.size, name, stream), CHUNK)
    return _narrow(stream, magic)


def _narrow(stream: Any, magic: bytes) -> BinaryIO:
    encoding = _wide_encoding(magic)
    if not encoding:
        plain: BinaryIO = stream
        return plain
    return io.BytesIO(stream.read().decode(encoding, "replace").encode("utf-8", "replace"))


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


def contents(stream: Bounded, name: str, patterns: tuple[str, ...]) -> list[zipfile.ZipInfo]:
    """The plain files of a zip whose whole name matches a pattern, by name; none of a broken one.

    Names are compared, never used as paths; folders, links and locked members are passed over.
    """
    stream.most = MAX_DIRECTORY
    try:
        listed = zipfile.ZipFile(stream).infolist()
    except DAMAGED:
        return []
    if len(listed) > MAX_MEMBERS:
        raise UnreadableInput(f"{name}: holds more files than is sane")
    found = [one for one in listed if _is_plain(one) and _matches(one.filename, patterns)]
    names = [one.filename for one in found]
    if len(names) != len(set(names)):
        raise UnreadableInput(f"{name}: holds two files of one name")
    if sum(one.file_size for one in found) > MAX_UNPACKED:
        raise UnreadableInput(f"{name}: unpacks to more than is sane")
    return sorted(found, key=lambda one: one.filename)


def member(stream: Bounded, info: zipfile.ZipInfo, name: str) -> BinaryIO:
    """One file of a zip, unpacked as it is read; what is packed in it stays packed."""
    stream.most = MAX_DIRECTORY
    try:
        held = zipfile.ZipFile(stream)
        inner = held.open(info)
    except DAMAGED:
        raise UnreadableInput(f"{name}: damaged compression") from None
    packed = io.BufferedReader(Unpacked(inner, info.compress_size, name, held, stream), CHUNK)
    return _narrow(packed, packed.peek(4)[:4])


def _is_plain(info: zipfile.ZipInfo) -> bool:
    mode = info.external_attr >> 16
    locked = bool(info.flag_bits & 1)
    return not info.is_dir() and not locked and (stat.S_IFMT(mode) in (0, stat.S_IFREG))


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    plain = "/" not in name and "\\" not in name
    return plain and any(fnmatchcase(name, pattern) for pattern in patterns)
