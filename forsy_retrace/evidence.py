"""Where a value stands in the log, and how far it can be trusted."""

from sys import intern
from typing import Literal

import msgspec

Grade = Literal["verbatim", "derived", "inferred"]


class Evidence(msgspec.Struct, frozen=True, gc=False):  # values hold no cycle: never traversed
    """A place in a log: the bytes of one record, and a JSON pointer inside it.

    `start` and `end` are byte offsets, end exclusive; `line` counts from 1 and is 0 in a
    document without lines. Offsets of a compressed or UTF-16 file count its decoded UTF-8 bytes,
    those of a database or table the text of its rows, those of a ttyrec the text of its frames.
    """

    file: str
    line: int
    start: int
    end: int
    pointer: str = ""
    form: str = ""
    """How the bytes are read where they are no JSON: a name in `source.FORMS`, and views of it."""

    def at(self, pointer: str) -> "Evidence":
        """The same record, this pointer in place of its own (`Origin.below` adds to it)."""
        return Evidence(self.file, self.line, self.start, self.end, intern(pointer), self.form)

    @property
    def record(self) -> tuple[str, int, int]:
        """What tells this record from every other: file and byte range."""
        return (self.file, self.start, self.end)


class Vote(msgspec.Struct, frozen=True, gc=False):
    """What one labelling rule says of a value, heard or not."""

    rule: str
    value: str
    confidence: float


class Ground(msgspec.Struct, frozen=True, gc=False):
    """Why a value may stand in the trace.

    `verbatim`: copied from `evidence` (several: joined by a blank line; `within`: a part of it).
    `derived`: computed by `rule`, which can't be wrong if the log is right.
    `inferred`: a heuristic's reading, with its confidence from 0 to 1.
    """

    grade: Grade
    rule: str = ""
    evidence: tuple[Evidence, ...] = ()
    confidence: float | None = None
    steps: tuple[int, ...] = ()
    within: bool = False
    votes: tuple[Vote, ...] = ()


def verbatim(*evidence: Evidence, within: bool = False) -> Ground:
    """Copied from the log."""
    return Ground("verbatim", evidence=evidence, within=within)


def derived(rule: str, *evidence: Evidence, steps: tuple[int, ...] = ()) -> Ground:
    """Computed from logged facts."""
    return Ground("derived", rule, evidence, steps=steps)


def inferred(
    rule: str,
    confidence: float,
    *evidence: Evidence,
    steps: tuple[int, ...] = (),
    votes: tuple[Vote, ...] = (),
) -> Ground:
    """A heuristic's reading."""
    return Ground("inferred", rule, evidence, confidence, steps, votes=votes)
