"""Which step was the first to show the lines that a call writes into a file?"""

from collections.abc import Collection, Iterable, Iterator

from forsy_retrace.trace import Step

from ..rule import Rule
from .source import Source

LONG, WORDS = 30, 4
"""Characters and words from which a line is unlikely to be written twice by chance."""
LEAST = 2
"""So many of them make a passage."""
COPIED = Rule(
    "lines-first-shown",
    "Two lines or more, of some words each, that a call puts into a file and an earlier output showed first; nobody else had said them.",
    0.75,
)


class Passages:
    """What one actor has been shown of the lines that the calls of a session write."""

    def __init__(self, wanted: set[str]) -> None:
        self.wanted = wanted
        self.first: dict[str, int] = {}
        """A line to the first step that showed it; 0 where the actor had written it before."""

    def forget(self) -> None:
        """What was shown is out of sight; what the actor wrote is not."""
        self.first = {line: step for line, step in self.first.items() if not step}

    def show(self, step: Step, lines: set[str]) -> None:
        """Enters the lines that a step showed, without the blanks around them."""
        for line in self.wanted & lines:
            self.first.setdefault(line, step.step)

    def sources(self, put: Iterable[str], given: Collection[str]) -> Iterator[Source]:
        """The steps that first showed these lines, which are written now."""
        found: dict[int, list[str]] = {}
        for line in put:
            if (step := self.first.get(line, 0)) and line not in given:
                found.setdefault(step, []).append(line)
            self.first[line] = 0
        for step, lines in found.items():
            if len(lines) >= LEAST:
                yield Source(step, lines[0], COPIED)


def passage(texts: Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    """The lines of texts that may tell where they came from, without those known."""
    lines = (line for text in texts for line in map(str.strip, text.splitlines()))
    long = (line for line in lines if len(line) >= LONG and line.count(" ") >= WORDS - 1)
    return tuple(dict.fromkeys(line for line in long if line not in known))
