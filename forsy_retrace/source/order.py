"""Names in their order: those that begin alike stand together."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence


def leading(names: Sequence[str], lead: str) -> Iterator[int]:
    """The places of the names that begin so, among sorted ones; none before them is looked at."""
    for at in range(bisect_left(names, lead), len(names)):
        if not names[at].startswith(lead):
            return
        yield at
