"""What runs the work, and what is said of it meanwhile."""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

import msgspec

A = TypeVar("A")
B = TypeVar("B")


class Lost(msgspec.Struct, frozen=True):
    """A task that ended its worker twice."""


class Engine(Protocol):
    """Runs a function over tasks, in any order, anywhere."""

    def map(self, work: Callable[[A], B], tasks: Iterable[A]) -> Iterator[tuple[A, B | Lost]]:
        """Each task with what came of it, as it comes; what the work raises is raised."""
        ...

    def close(self) -> None:
        """Lets all workers go; what they were at is dropped."""
        ...


class Progress(Protocol):
    """Told how far a run is."""

    def begins(self, what: str, total: int) -> None:
        """A part of the run, and how much there is to do."""
        ...

    def advances(self, by: int) -> None:
        """So much more is done."""
        ...


class Silence:
    """Progress that nobody looks at."""

    def begins(self, what: str, total: int) -> None: ...

    def advances(self, by: int) -> None: ...
