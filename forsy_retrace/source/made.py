"""A file that is no text, as the text that is made of it while it is read: a line a row."""

import io
from collections.abc import Generator
from typing import Any

from forsy_retrace.errors import UnreadableInput

from .unpack import MAX_UNPACKED


class Made(io.RawIOBase):
    """The lines that are made of a file, as a stream; raises UnreadableInput where it is damaged
    (`damage`: what its reader raises then) or holds more than `most` bytes.
    """

    def __init__(
        self,
        name: str,
        lines: Generator[bytes],
        most: int,
        damage: tuple[type[Exception], ...],
        kind: str,
    ) -> None:
        self.name, self.lines, self.kind = name, lines, kind
        self.most = min(most, MAX_UNPACKED)
        self.damage: tuple[type[Exception], ...] = (*damage, ValueError, OverflowError, MemoryError)
        self.held = b""
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self.held:
            self.held = self._next()
        size = min(len(buffer), len(self.held))
        buffer[:size], self.held = self.held[:size], self.held[size:]
        return size

    def _next(self) -> bytes:
        try:
            line = next(self.lines, b"")
        except self.damage:
            raise UnreadableInput(f"{self.name}: damaged {self.kind}") from None
        self.count += len(line)
        if self.count > self.most:
            raise UnreadableInput(f"{self.name}: holds more than is sane")
        return line

    def close(self) -> None:
        self.lines.close()
        super().close()
