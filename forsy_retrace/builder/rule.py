"""A rule by which a value came about: it stands beside the code that gives the value.

`sections.py` lists the rules of all passes; those that compete are rows of tables of their own.
"""

from typing import NamedTuple

from forsy_retrace.evidence import Evidence, Ground, derived, inferred

SURE = 1.0
"""The confidence of what can't be wrong if the log is right."""


class Rule(NamedTuple):
    """A named rule and what it says; what it gives is derived where it is sure, else inferred."""

    name: str
    sentence: str
    confidence: float = SURE
    most: float | None = None
    """The highest that its confidence can be, where that depends on what it found."""

    def ground(
        self, *evidence: Evidence, steps: tuple[int, ...] = (), sure: float | None = None
    ) -> Ground:
        """Why a value may stand in the trace; `sure` where its figure depends on what it found."""
        confidence = self.confidence if sure is None else sure
        if confidence == SURE:
            return derived(self.name, *evidence, steps=steps)
        return inferred(self.name, confidence, *evidence, steps=steps)
