"""Sessions of a database that sent others: which of them are one trace."""

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar


class Sent(Protocol):
    """A session, and the one that sent it; empty, or another name, where none here did."""

    @property
    def id(self) -> str: ...

    @property
    def parent(self) -> str: ...


S = TypeVar("S", bound=Sent)


def families(sessions: Sequence[S]) -> Iterator[tuple[S, dict[str, list[S]]]]:
    """Each session that no other sent, with those below it by what sent them.

    Sessions that name each other, or themselves, as what sent them stand alone, behind the rest.
    """
    names = {one.id for one in sessions}
    below: dict[str, list[S]] = {}
    for one in sessions:
        if one.parent in names:
            below.setdefault(one.parent, []).append(one)
    reached = set[str]()
    for one in sessions:
        if one.parent not in names:
            family = _below(one, below)
            reached |= {one.id, *(other.id for held in family.values() for other in held)}
            yield one, family
    for one in sessions:
        if one.id not in reached:
            yield one, {}


def _below(root: S, below: dict[str, list[S]]) -> dict[str, list[S]]:
    found: dict[str, list[S]] = {}
    waiting = [root.id]
    while waiting:
        name = waiting.pop()
        if name in below:
            found[name] = below[name]
            waiting += [one.id for one in below[name]]
    return found
