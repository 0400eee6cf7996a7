"""How our processes keep their memory: few searches for cycles, and what is free is given back."""

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache, wraps
from typing import TypeVar

T = TypeVar("T")

THRESHOLDS = (200_000, 20, 100)
"""What a log is made into holds no cycles of objects. At Python's own thresholds a tenth of a
conversion went into looking for them, and more the longer the log."""
LARGE = 4 << 20
"""Bytes of a log or file from which memory is given back between the stages."""


LONGEST = 20_000
"""Characters of a text up to which what is made of it is kept."""


def kept(most: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Keeps what a function made of the last texts, but of no long one: they may be megabytes."""

    def decorate(make: Callable[[str], T]) -> Callable[[str], T]:
        held = lru_cache(maxsize=most)(make)

        @wraps(make)
        def made(text: str) -> T:
            return held(text) if len(text) <= LONGEST else make(text)

        return made

    return decorate


def look_rarely() -> None:
    """For a process of ours; a program that uses the package keeps its own thresholds."""
    gc.set_threshold(*THRESHOLDS)


def give_back(size: int) -> None:
    """After a stage over data of that size: glibc keeps the free pages between what is in use."""
    if size >= LARGE and sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):  # another C library than glibc
            ctypes.CDLL("libc.so.6").malloc_trim(0)


def let_go(values: list[T]) -> Iterator[T]:
    """The values in order; each leaves the list."""
    values.reverse()
    while values:
        yield values.pop()
