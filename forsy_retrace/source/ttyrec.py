"""A ttyrec as text: `{"ttyrec": 1}`, then each frame as `[seconds, "o", text]` on a line.

A frame is three little-endian numbers of 32 bits (seconds, microseconds, length) and its bytes. A
character that two frames share stands in the later one.
"""

import codecs
import io
import struct
from collections.abc import Generator
from typing import Any, BinaryIO

import msgspec

HEAD = struct.Struct("<III")
EARLIEST, LATEST = 10**8, 4 * 10**9
"""Seconds since 1970 between which a frame can have been recorded."""
LARGEST = 1 << 20
"""Bytes of one frame."""
ENOUGH = 8
"""Frames that tell a ttyrec from other bytes."""
ENCODE = msgspec.json.Encoder().encode


def is_ttyrec(lead: bytes, whole: bool) -> bool:
    """Whether some first bytes are frames in the order of their times; `whole` if none follow."""
    at, count, before = 0, 0, 0
    while count < ENOUGH and at + HEAD.size <= len(lead):
        second, _, size = HEAD.unpack_from(lead, at)
        if not begins_frame(lead, at) or second < before:
            return False
        at, count, before = at + HEAD.size + size, count + 1, second
    return count > 1 or (count == 1 and whole and at == len(lead))


def begins_frame(data: bytes, at: int = 0) -> bool:
    """Whether the head of a frame may stand here."""
    if at + HEAD.size > len(data):
        return False
    second, micro, size = HEAD.unpack_from(data, at)
    return bool(EARLIEST <= second <= LATEST and micro < 10**6 and 0 < size <= LARGEST)


def framed(stream: BinaryIO) -> BinaryIO:
    """The text of a ttyrec, made as it is read."""
    return io.BufferedReader(_Text(stream), 1 << 20)


class _Text(io.RawIOBase):
    """The lines of a ttyrec as a stream."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.lines = _lines(stream)
        self.held = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self.held:
            self.held = next(self.lines, b"")
        size = min(len(buffer), len(self.held))
        buffer[:size], self.held = self.held[:size], self.held[size:]
        return size

    def close(self) -> None:
        self.lines.close()
        self.stream.close()
        super().close()


def _lines(stream: BinaryIO) -> Generator[bytes]:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    yield ENCODE({"ttyrec": 1}) + b"\n"
    while head := stream.read(HEAD.size):
        if len(head) < HEAD.size:
            yield ENCODE({"cut": len(head)}) + b"\n"
            return
        second, micro, size = HEAD.unpack(head)
        if size > LARGEST:
            yield ENCODE({"cut": size}) + b"\n"
            return
        data = stream.read(size)
        yield ENCODE([second + micro / 10**6, "o", decoder.decode(data)]) + b"\n"
        if len(data) < size:
            yield ENCODE({"cut": size - len(data)}) + b"\n"
            return
