"""To which lines of a file was an actor led? By hits of a search, errors, reports.

A hit leads to a file's lines once; what is read whole or edited needs no more of them.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from forsy_retrace.patterns import later
from forsy_retrace.trace import Step, Touch

from ..rule import Rule
from .needles import Asked, files_edited, last_part, lines_edited
from .source import Source

HOLDS_A_HIT = Rule(
    "range-holds-a-hit",
    "A range of lines that holds a line which a hit, an error, or a report named.",
    0.85,
)
BLAMED_THERE = Rule(
    "edits-what-failed",
    "An edit of a file of which a failure that was just received named a line.",
    0.85,
)


PLACE = later(r":\d{1,7}[:-]")
"""What parts the path of a hit from its line; few texts have it."""
HIT = later(r"^(?P<path>(?:[A-Za-z]:)?[^\s:][^:\n]{0,240}):(?P<line>\d{1,7})[:-]", re.M)
BLAMED = later(
    r"(?:-->|[❯●✖×│]|\bat|\bin|\bvet:|\()[ \t]?\(?(?P<path>(?:[A-Za-z]:)?[\w./\\@+-]{1,240}):(?P<line>\d{1,7})\b"
)
"""How an error names a line of a file within one of its own."""
COMPILED = later(
    r"^(?P<path>(?:[A-Za-z]:)?[^\s:()][^:()\n]{0,240})\((?P<line>\d{1,7}),\d{1,7}\): (?:error|warning)\b",
    re.M,
)
"""How the compilers of TypeScript and C# name a line."""
TRACED = later(r'\bFile "(?P<path>[^"\n]{1,240})", line (?P<line>\d{1,7})\b')
"""How a traceback of Python's names a line."""
HIT_PLAIN = later(r"\n(?P<line>\d{1,7})[:-]")
"""The same of a file that was searched alone, behind the end of the line above."""
THOUGHT = later(r"\blines? (\d{1,6})\b")
"""A line that somebody speaks of."""
FAR = 200
"""How many lines behind the first a hit may have led to, where a read does not say its last."""
IN_MIND = 60
"""How many of its own calls an actor has a hit in mind."""
WIDE, MANY = 200, 12
"""A range of so many lines with so many hits is no place that they led to: they are all over it."""


def lines_hit(step: Step, text: str) -> Iterator[tuple[str, int]]:
    """The lines that hits in an output name, each with its file; of a failure also its errors."""
    ways = [HIT] if PLACE.search(text) else []
    if step.success is False:
        ways += (BLAMED, COMPILED, TRACED)
    for hit in chain.from_iterable(way.finditer(text) for way in ways):
        yield hit["path"], int(hit["line"])


def lines_alone(text: str) -> Iterator[int]:
    """The lines that hits name in the output of a search in one file."""
    return (int(hit["line"]) for hit in HIT_PLAIN.finditer(f"\n{text}"))


class Shown:
    """The steps whose outputs an actor was shown, and how long ago by its own calls."""

    def __init__(self) -> None:
        self.steps: dict[int, Step] = {}
        self.latest = 0
        """The first step of those whose outputs came since the last call."""
        self._calls = 0
        self._made_by_then: dict[int, int] = {}
        """Step to the calls until then."""
        self._asked = False
        """Whether a call came since the last output."""

    def call(self) -> None:
        """The actor makes another call."""
        self._asked = True
        self._calls += 1

    def begins_anew(self, step: Step) -> bool:
        """Whether an output is the first since the last call."""
        is_first, self._asked = self._asked, False
        if is_first:
            self.latest = step.step
        return is_first

    def add(self, step: Step) -> None:
        """An output that holds something."""
        self.steps[step.step] = step
        self._made_by_then[step.step] = self._calls

    def calls_since(self, step: int) -> int:
        """How many calls the actor made since that one's output."""
        return self._calls - self._made_by_then[step]


class Hits:
    """The lines of files that were named to one actor."""

    def __init__(self, shown: Shown) -> None:
        self.shown = shown
        self.lines: dict[str, list[tuple[int, int]]] = {}
        """File to the lines that hits named, with their steps."""
        self.known: dict[str, list[tuple[int, int]]] = {}
        """File to the lines that were read and stand as they did."""
        self.given: frozenset[int] = frozenset()
        """The lines that the user's last words named: the user led there."""

    def forget(self) -> None:
        """The context was cleared."""
        self.lines.clear()
        self.known.clear()

    def add(self, path: str, line: int, step: Step) -> None:
        """A step names a line of a file."""
        self.lines.setdefault(path, []).append((line, step.step))

    def read(self, touched: Iterable[Touch]) -> None:
        """The actor was shown these lines."""
        for one in touched:
            if one.last:
                self.known.setdefault(one.path, []).append((one.first or 1, one.last))

    def take(self, step: Step, asked: Asked, wrote: Iterable[Touch]) -> None:
        """A call was led to what it reads or edits, and changes what it wrote."""
        for path in _led_to(step, asked):
            self.lines.pop(path, None)
        for touch in wrote:
            self.known.pop(touch.path, None)

    def of_span(self, step: Step, path: str, first: int, last: int | None) -> Iterator[Source]:
        """A line range from the last hit in it; a hit leads to a file's lines once.

        It leads to none that the actor had read before, and that stand as they did, unless it was
        just received; nor after many calls of other things; nor to lines to which the user's last
        words led. Where the step's own thoughts name lines of the range, only hits on those lead to it.
        """
        held, end = self.lines.get(path, []), last or first + FAR
        within = [
            (line, seen)
            for line, seen in held
            if first <= line <= end and self.shown.calls_since(seen) <= IN_MIND
        ]
        if any(first <= line <= end for line in self.given):
            return
        if end - first > WIDE and len(within) > MANY:
            return
        thought = {int(number) for number in THOUGHT.findall(step.reasoning or "")}
        if thought := {line for line in thought if first <= line <= end}:
            within = [(line, seen) for line, seen in within if line in thought]
        known = self.known.get(path, ())
        near = [
            (line, seen)
            for line, seen in within
            if seen >= self.shown.latest or not any(start <= line <= stop for start, stop in known)
        ]
        if near:
            self.lines[path] = [hit for hit in held if not first <= hit[0] <= end]
            line, seen = near[-1]
            lines = f"lines {first}-{last}" if last else f"lines from {first}"
            told = f"hold line {line}, which step {{}} named"
            if first == last:
                lines, told = f"line {line}", "was named by step {}"
            yield Source(seen, lines, HOLDS_A_HIT, told=told, is_quoted=False)

    def of_failure(self, step: Step, files: Iterable[str]) -> Iterator[Source]:
        """An edit from the failures just received that blamed a file of it: the line nearest to it."""
        for path in sorted(files) if step.operation == "edit" else ():
            blamed: dict[int, list[int]] = {}
            for line, seen in self.lines.get(path, ()):
                if seen >= self.shown.latest and self.shown.steps[seen].success is False:
                    blamed.setdefault(seen, []).append(line)
            spans = lines_edited(step, path) if blamed else []
            for seen, lines in blamed.items():
                nearest = min(
                    lines, key=lambda line: min((_gap(line, *s) for s in spans), default=0)
                )
                told = "was named by step {}, which failed"
                yield Source(seen, f"{last_part(path)}:{nearest}", BLAMED_THERE, told=told)


def _led_to(step: Step, asked: Asked) -> Iterator[str]:
    """Files that are read whole, or edited: the hits in them have led there, or hold no more."""
    if step.operation in ("edit", "write"):
        yield from files_edited(step)
    elif step.operation == "read" or step.grounds["operation"].rule == "read-back":
        spans = {path for path, _, _ in asked.spans}
        yield from (path for path in asked.paths if path not in spans)


def _gap(line: int, first: int, last: int) -> int:
    """How many lines lie between a line and a range; 0 within it."""
    return max(first - line, line - last, 0)
