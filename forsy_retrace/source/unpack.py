"""Bytes of a file as UTF-8 text, whatever they were packed or encoded in; zip members by name.

What unpacks is imported where a packed file is met: hardly a log is one.
"""

from __future__ import annotations

import io
import stat
import struct
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import cache
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    import zipfile

from forsy_retrace.errors import Unreachable, UnreadableInput
from forsy_retrace.patterns import later

MAX_UNPACKED = 4 << 30
"""Bytes that a packed file may hold."""
MAX_RATIO = 100
"""How many times its packed size a file may unpack to, past 10 MB."""
FREE = 10 << 20
MAX_MEMBERS = 10_000
MAX_DIRECTORY = 16 << 20
"""Bytes of a zip's table of contents."""
CHUNK = 1 << 20

OWN_NAME = later(r"(?:(?!\.\.?/)[^/\\]+/)?([^/\\]+)")
"""A file's name in a zip, behind one folder at most."""
ZIP = b"PK\x03\x04"
SQLITE = b"SQLite format 3\0"
PARQUET = b"PAR1"
ZIP_ZSTD = 93
LOCAL = struct.Struct("<26xHH")
"""The head of a file in a zip, which ends with the lengths of what stands before its bytes."""


@cache
def damaged() -> tuple[type[Exception], ...]:
    """What the unpackers raise where the bytes are not what they should be."""
    import lzma
    import zipfile
    import zlib

    import zstandard

    return (
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


class Bounded(io.RawIOBase):
    """A stream that ends where the file ended when it was opened."""

    def __init__(self, inner: BinaryIO, size: int, name: str = "") -> None:
        self.inner, self.size, self.name = inner, size, name
        self.most = -1

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
            raise ValueError("more than a table of contents may hold")
        try:
            return self.inner.read(size)
        except OSError as error:
            raise Unreachable(f"{self.name}: {error.strerror or 'cannot be read'}") from None

    def readinto(self, buffer: Any) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self.inner.close()
        super().close()


class Unpacked(io.RawIOBase):
    """What a packed stream holds, as far as it is whole and sane; `strict` wants it whole."""

    def __init__(
        self,
        reader: Any,
        packed: int,
        name: str,
        *beneath: Any,
        strict: bool = False,
        is_whole: Callable[[Any], bool] | None = None,
    ) -> None:
        self.reader, self.packed, self.name, self.beneath = reader, packed, name, beneath
        self.strict, self.is_whole = strict, is_whole
        self.count = 0
        self.ended = False
        self.is_cut = False
        """It ended before its end, as far as that was met."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self.ended:
            return 0
        try:
            data = self.reader.read1(len(buffer))
        except damaged() as error:
            if self.strict or not self.count or not _is_the_end(error):
                raise Unreachable(f"{self.name}: {DAMAGED}") from None
            data, self.is_cut = b"", True
        self.ended = not data
        if self.ended and self.is_whole is not None:
            self.is_cut = not self.is_whole(self.beneath[0])
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


DAMAGED = "damaged compression"


def _is_the_end(error: Exception) -> bool:
    """Whether a stream was cut off, or has other bytes behind it; else its own are wrong."""
    import gzip

    import zstandard

    is_behind = isinstance(error, (gzip.BadGzipFile, zstandard.ZstdError)) and any(
        words in str(error) for words in ("Not a gzipped", "Unknown frame descriptor")
    )
    return isinstance(error, EOFError) or is_behind


GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
SKIPPED = later(rb"[\x50-\x5f]\x2a\x4d\x18")
"""How a frame of zstd begins that holds no text, but what a tool put there for itself."""


def is_packed(magic: bytes) -> bool:
    """Whether a file's first bytes are those of packed or wide text."""
    is_skipped = SKIPPED.match(magic) is not None
    return magic.startswith((GZIP, ZSTD)) or is_skipped or _wide_encoding(magic[:4]) != ""


def decoded(stream: Bounded, name: str, strict: bool = False) -> BinaryIO:
    """The stream as UTF-8 bytes, from its start; one cut off up to there, or refused (`strict`)."""
    magic = stream.read(4)
    stream.seek(0)
    if magic.startswith(GZIP):
        import gzip

        inner: Any = gzip.GzipFile(fileobj=io.BufferedReader(stream))
        unpacked = Unpacked(inner, stream.size, name, stream, strict=strict)
        found = io.BufferedReader(unpacked, CHUNK)
        return _narrow(found, found.peek(4)[:4])
    if magic == ZSTD or SKIPPED.match(magic):
        if strict and not _is_whole(stream):
            raise Unreachable(f"{name}: {DAMAGED}")
        import zstandard

        raw = io.BufferedReader(stream)
        inner = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
        unpacked = Unpacked(inner, stream.size, name, stream, strict=strict, is_whole=_is_whole)
        found = io.BufferedReader(unpacked, CHUNK)
        if not found.peek(1) and unpacked.is_cut:  # within its first block
            raise Unreachable(f"{name}: {DAMAGED}")
        return _narrow(found, found.peek(4)[:4])
    return _narrow(stream, magic)


def text_of_frame(data: bytes) -> str | None:
    """The text that bytes hold as one frame of zstd, of a sane size; None where they do not."""
    if not data.startswith(ZSTD):
        return None
    import zstandard

    most = max(FREE, MAX_RATIO * len(data))
    try:
        if zstandard.frame_content_size(data) > most:
            return None
        unpacker = zstandard.ZstdDecompressor()
        held = unpacker.decompress(data, max_output_size=most, allow_extra_data=False)
        return held.decode()
    except (zstandard.ZstdError, UnicodeDecodeError):
        return None


def _is_whole(stream: Bounded) -> bool:
    """Whether a zstd stream ends where a frame does: its reader takes a cut for the end."""
    import zstandard

    at, size = 0, stream.seek(0, io.SEEK_END)
    while at < size:
        stream.seek(at)
        head = stream.read(18)
        if SKIPPED.match(head):
            at += 8 + int.from_bytes(head[4:8], "little")
            continue
        try:
            frame = zstandard.get_frame_parameters(head)
            at += zstandard.frame_header_size(head)
        except zstandard.ZstdError:
            at = size + 1
            break
        is_last = False
        while not is_last and at < size:
            stream.seek(at)
            block = int.from_bytes(stream.read(3), "little")
            is_last = bool(block & 1)
            at += 3 + (1 if block >> 1 & 3 == RLE else block >> 3)
        at += 4 * frame.has_checksum if is_last else size
    stream.seek(0)
    return at == size


RLE = 1
"""The kind of a zstd block that is one byte, repeated."""
SEALED = (
    *(b"PK\x03\x04", b"PK\x05\x06", b"\xfd7zXZ\0", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07"),
    *(b"BZh%d1AY&SY" % level for level in range(1, 10)),
)
"""How archives and packed files begin in which nothing can be read here."""
TAR_HEAD = 512
TAR_SUM = slice(148, 156)
"""Where the head of a tar archive has the sum of its bytes, in octal."""
PACKED = "packed in a way that is not read here; unpack it first"


def text_in(data: bytes, name: str) -> bytes:
    """The UTF-8 bytes of a text in any packing or wide encoding; raises where they are no text."""
    with decoded(Bounded(io.BytesIO(data), len(data)), name, strict=True) as stream:
        found = stream.read()
    if is_sealed(found):
        raise UnreadableInput(f"{name}: {PACKED}")
    if b"\0" in found:
        raise UnreadableInput(f"{name}: no text, it holds zero bytes")
    return found


def is_sealed(data: bytes) -> bool:
    """Whether bytes are packed, and no text that can be looked at."""
    return data.startswith((GZIP, ZSTD, *SEALED)) or is_tar(data)


def is_tar(data: bytes) -> bool:
    """Whether bytes begin a tar archive, also one that was packed: its head has a sum of itself."""
    told = data[TAR_SUM].strip(b" \0")
    if len(data) < TAR_HEAD or not told or told.translate(None, b"01234567"):
        return False
    return sum(data[:TAR_HEAD]) - sum(data[TAR_SUM]) + 8 * ord(" ") == int(told, 8)


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
    """The plain files of a zip whose name matches a pattern, by name; none of a broken one.

    They lie at its top, or else in a folder there: who packs an export anew packs its folder. Names
    are compared, never used as paths; folders, links and locked members are passed over.
    """
    try:
        listed = _table(stream, name)
    except damaged():
        return []
    named = [one for one in listed if _is_plain(one) and _matches(one.filename, patterns)]
    found = [one for one in named if "/" not in one.filename] or named
    names = [one.filename for one in found]
    if len(names) != len(set(names)):
        raise UnreadableInput(f"{name}: holds two files of one name")
    _refuse_a_bomb(found, name)
    return sorted(found, key=lambda one: one.filename)


def everything(stream: Bounded, name: str) -> list[tuple[zipfile.ZipInfo, bool]]:
    """All that a zip holds but its folders, in its order, and whether it can be read."""
    try:
        listed = [one for one in _table(stream, name) if not one.is_dir()]
    except damaged():
        raise Unreachable(f"{name}: {DAMAGED}") from None
    _refuse_a_bomb(listed, name)
    return [(one, _is_plain(one)) for one in listed]


def _table(stream: Bounded, name: str) -> list[zipfile.ZipInfo]:
    import zipfile

    stream.most = MAX_DIRECTORY
    listed = zipfile.ZipFile(stream).infolist()
    if len(listed) > MAX_MEMBERS:
        raise UnreadableInput(f"{name}: holds more files than is sane")
    return listed


def _refuse_a_bomb(listed: list[zipfile.ZipInfo], name: str) -> None:
    if sum(one.file_size for one in listed) > MAX_UNPACKED:
        raise UnreadableInput(f"{name}: unpacks to more than is sane")


def member(stream: Bounded, info: zipfile.ZipInfo, name: str, strict: bool = False) -> BinaryIO:
    """One file of a zip, unpacked as it is read; what is packed in it stays packed.

    It is found by its entry: of ten thousand files none is looked up in the table of contents.
    """
    import zipfile

    try:
        _go_to(stream, info)
        is_zstd = info.compress_type == ZIP_ZSTD
        inner: Any = Zstd(stream, info) if is_zstd else zipfile.ZipExtFile(stream, "r", info)
    except damaged():
        raise Unreachable(f"{name}: {DAMAGED}") from None
    unpacked = Unpacked(inner, info.compress_size, name, stream, strict=strict)
    packed = io.BufferedReader(unpacked, CHUNK)
    return _narrow(packed, packed.peek(4)[:4])


def _go_to(stream: Bounded, info: zipfile.ZipInfo) -> None:
    """To where the bytes of a file begin, behind its name; they end where its entry says."""
    stream.seek(info.header_offset)
    head = stream.read(LOCAL.size)
    if not head.startswith(ZIP):
        raise ValueError("no file where the table of contents says")
    begin = stream.seek(sum(LOCAL.unpack(head)), io.SEEK_CUR)
    stream.size = min(stream.size, begin + info.compress_size)


class Zstd:
    """A file that a zip holds packed as zstd, which zipfile reads from Python 3.14 on."""

    def __init__(self, stream: Bounded, info: zipfile.ZipInfo) -> None:
        import zstandard

        raw = io.BufferedReader(stream)
        self.inner: Any = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True)
        self.sum, self.told = 0, info.CRC

    def read1(self, size: int) -> bytes:
        import zlib

        data: bytes = self.inner.read(size)
        self.sum = zlib.crc32(data, self.sum)
        if not data and size and self.sum != self.told:
            raise ValueError("not the bytes whose sum was told")
        return data

    def close(self) -> None:
        self.inner.close()


def _is_plain(info: zipfile.ZipInfo) -> bool:
    mode = info.external_attr >> 16
    locked = bool(info.flag_bits & 1)
    named = bool(info.filename) and not info.is_dir()
    return named and not locked and (stat.S_IFMT(mode) in (0, stat.S_IFREG))


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    own = OWN_NAME.fullmatch(name)
    return own is not None and any(fnmatchcase(own[1], pattern) for pattern in patterns)
