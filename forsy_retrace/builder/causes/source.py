"""Where a value in a call's arguments came from."""

from collections.abc import Iterable
from typing import NamedTuple

from ..rule import Rule


class Source(NamedTuple):
    """An earlier step that showed a value, by which rule, and how surely it was the source."""

    step: int
    value: str
    rule: Rule
    sure: float = 0.0
    """Where the rule's figure depends on what it found."""
    is_use: bool = True
    """False of an edit's echo of its own lines, which a later edit mends: nothing came of them."""
    told: str = "came from step {}"
    """How the note tells of it, where the step showed something else than the value itself."""
    is_quoted: bool = True
    """False of what the note says in its own words, which no call holds."""
    found_by: int = 0
    """The search that was just received and found it once more; 0 where none did."""

    @property
    def confidence(self) -> float:
        """How sure it is."""
        return self.sure or self.rule.confidence


def surest(found: Iterable[Source]) -> list[Source]:
    """Of each step the surest source, by their steps; a value counts where it is found first."""
    best: dict[int, Source] = {}
    told: set[str] = set()
    for source in found:
        if source.value in told:
            continue
        told.add(source.value)
        held = best.get(source.step)
        if held is None:
            best[source.step] = source
        elif source.confidence > held.confidence:
            is_name = held.value.endswith(f"/{source.value}")  # the whole path tells more
            best[source.step] = source._replace(value=held.value) if is_name else source
    return [best[number] for number in sorted(best)]
