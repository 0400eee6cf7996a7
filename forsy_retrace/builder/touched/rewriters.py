"""What may have changed a file behind the last step that tells of it?

Git, a formatter, a command or a program that does not name the file, or not surely.
"""

import posixpath
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import partial
from heapq import merge
from operator import attrgetter
from typing import NamedTuple

from forsy_retrace.commands import Simple
from forsy_retrace.trace import Trace

from ..checks.unchecked import endings_of, is_plan, is_prose
from ..outcome import never_ran
from .fixers import fixers, may_fix, may_rewrite, names_fixed, names_rewritten, rewrites
from .programs import may_put, names_put, programs_in, put_by
from .scratch import SCRATCH


class Rewriter(NamedTuple):
    """A command or program that may have put other contents into files."""

    step: int
    may: Callable[[str], bool]
    """Whether it may have meant a file."""
    names: frozenset[str] | None = None
    """The names of the files that it may have meant; None where it does not tell them."""
    says: bool = False
    """Whether it says in some way what it rewrites: then also what is no part of the work."""


class Rewriters:
    """Those of one kind, in the order of their steps, by the names of files where they tell them."""

    def __init__(self) -> None:
        self.named: dict[str, list[Rewriter]] = {}
        self.others: list[Rewriter] = []

    def add(self, one: Rewriter) -> None:
        if one.names is None:
            self.others.append(one)
        for name in one.names or ():
            self.named.setdefault(name, []).append(one)

    def first(self, path: str, behind: int, *, is_work: bool = True) -> int | None:
        """The first step behind another that may have changed a file."""
        named = self.named.get(posixpath.basename(path), [])
        both = (held[bisect_right(held, behind, key=STEP) :] for held in (named, self.others))
        may = (one for one in merge(*both, key=STEP) if is_work or one.says)
        return next((one.step for one in may if one.may(path)), None)


STEP = attrgetter("step")


class Doubts:
    """All of a session, by kind."""

    def __init__(self, trace: Trace) -> None:
        self.kinds: dict[str, Rewriters] = {}
        for what, one in sorted(_found(trace), key=lambda found: found[1].step):
            self.kinds.setdefault(what, Rewriters()).add(one)

    def of(self, path: str, last: int) -> str:
        """What may have changed a file behind a step; empty where nothing may."""
        is_work = not (SCRATCH.search(path) or is_plan(path))
        first = {what: held.first(path, last, is_work=is_work) for what, held in self.kinds.items()}
        told = sorted((step, what) for what, step in first.items() if step is not None)
        if not told:
            return ""
        (number, what), *others = told
        more = "".join(f", and {other} in step {later}" for later, other in others)
        return f"{what} may have changed it in step {number}{more}."


def by_git(step: int, simple: Simple) -> Rewriter:
    """A command by which Git may have done so."""
    return Rewriter(step, partial(may_rewrite, simple), names_rewritten(simple))


def _found(trace: Trace) -> Iterator[tuple[str, Rewriter]]:
    for number, simple in rewrites(trace):
        yield "Git", by_git(number, simple)
    for number, simple in fixers(trace):
        if simple.role == "fix" and not simple.check:
            says = bool(simple.writes)
            yield "a command", Rewriter(number, may_fix(simple), names_fixed(simple), says)
        else:
            yield "a formatter", Rewriter(number, partial(_is_for, endings_of(simple.name)))
    for step in trace.steps:
        if found := put_by(() if never_ran(step) else programs_in(step)):
            yield "a program", Rewriter(step.step, may_put(found), names_put(found), True)


def _is_for(endings: tuple[str, ...] | None, path: str) -> bool:
    """Whether a formatter or fixer is for such a file; one behind a script may be for any code."""
    return posixpath.splitext(path)[1] in endings if endings else not is_prose(path)
