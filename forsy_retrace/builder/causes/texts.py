"""Which step showed the text that an edit replaces?

The one that showed most of it, in that file as far as the log tells which files a step showed.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from forsy_retrace.patterns import later
from forsy_retrace.sdk import lines_of
from forsy_retrace.trace import Step, Touch

from ..outputs.gaps import only_reads
from ..rule import Rule
from .distinctive import SHORTEST
from .needles import Replaced, Wanted
from .source import Source

NUMBERED = later(r"\n[ \t]*\d+(?:→|\t)")
"""The number that a reading tool prints before a line, with the end of the line above it."""
BEFORE_A_HIT = later(r"\n(?:(?:(?:[A-Za-z]:)?[^\s:][^:\n]{0,240}:)?\d{1,7}[:-]|  Line \d{1,7}: )")
"""The file and the number that a search prints before a line, with the same."""
WINDOW = "[File: "
"""How SWE-agent heads the lines of a file that it shows, each behind its number."""
BEFORE_THE_EDIT = "This is the original code before your edit\n"
"""Where it shows the lines of a file as they stand, of an edit that it refused."""
LOOKS = 8
"""So many looks at a line of a file are kept."""
MOST_OF_IT = 0.92
"""How sure the step is that showed most of a text."""
SHOWED = Rule(
    "showed-the-replaced-text",
    "The latest step that showed the text that an edit replaces.",
    0.8,
    MOST_OF_IT,
)


def unnumbered(step: Step, text: str) -> str:
    """What a step showed, without the numbers that its tool prints before the lines."""
    if (recorded := _recorded(step)) is not None:
        return recorded
    if "→" in text or "\t" in text:
        text = NUMBERED.sub("\n", f"\n{text}")[1:]
    _, refused, text_before = text.partition(BEFORE_THE_EDIT)
    if refused:
        text = text_before  # what stands above is what the file would have become
    if step.operation == "search" or text.startswith(WINDOW) or refused:
        text = BEFORE_A_HIT.sub("\n", f"\n{text}")[1:]
    return text


def _recorded(step: Step) -> str | None:
    """The lines of the one file that a step showed, where the harness recorded them by themselves."""
    changes = step.result.changes if step.result is not None else ()
    return changes[0].text if len(changes) == 1 and changes[0].kind == "shown" else None


class Texts:
    """What one actor has been shown of the lines that edits replace, and which of them it wrote."""

    def __init__(
        self,
        wanted: Wanted,
        read: Mapping[int, list[Touch]],
        wrote: Mapping[int, list[Touch]],
    ) -> None:
        self.wanted, self.read, self.wrote = wanted, read, wrote
        self.lines: dict[str, dict[str | None, tuple[int, ...]]] = {}
        """A line to the last steps that showed it in each file; None where any may be meant."""
        self.seen: set[str] = set()
        """The files that were read."""
        self.indented: dict[str, dict[str, tuple[int, ...]]] = {}
        """A line to the last steps that showed it with each indent."""
        self.short: dict[tuple[str, str], int] = {}
        """A file with a text of short lines to the last step that showed it; 0 where it stood twice."""
        self.written: dict[str, dict[str, int]] = {}
        """A line to the files that the actor's edits put it into, with the last step that did."""
        self.made: dict[str, int] = {}
        """File to the last step by which the actor wrote all of it."""

    def forget(self) -> None:
        """What was shown is out of sight; what the actor wrote is not."""
        self.lines.clear()
        self.indented.clear()
        self.short.clear()

    def show(self, step: Step, text: str, rows: list[str], lines: set[str]) -> None:
        """Enters what a step showed, without the numbers of its lines.

        `rows` are the lines of the text, `lines` the same without the blanks around them.
        """
        lines = self.wanted.lines & lines
        firsts = lines & self.wanted.firsts
        for row in {*rows} if firsts else ():
            if (line := row.strip()) in firsts:
                depths = self.indented.setdefault(line, {})
                depths[row] = (*depths.get(row, ()), step.step)[-LOOKS:]
        files = self._files(step)
        self.seen.update(one.path for one in self.read.get(step.step, ()))
        for line in lines:
            held = self.lines.setdefault(line, {})
            for file in files:
                held[file] = (*held.get(file, ()), step.step)[-LOOKS:]
        for file in filter(None, files):
            for old in self.wanted.short.get(file, ()):
                if times := text.count(old):
                    self.short[file, old] = step.step if times == 1 else 0

    def put_in(self, touch: Touch) -> None:
        """Enters what a step wrote."""
        if touch.kind == "write":
            self.made[touch.path] = touch.step
            return
        for line in map(str.strip, touch.added):
            if line in self.wanted.lines or len(line) < SHORTEST:
                self.written.setdefault(line, {})[touch.path] = touch.step

    def of_edit(self, text: Replaced, files: frozenset[str]) -> Iterator[Source]:
        """The step that showed most of the text that an edit replaces.

        Of several, the latest of those that showed it at its depth; it may begin amid an indent.
        """
        lines = text.lines
        seen_in = [(seen, line) for line in lines for seen in self._shown(line, files)]
        if not seen_in:
            return
        counts = Counter(seen for seen, _ in seen_in)
        rows = self.indented.get(lines[0], {}).items()
        deep = {seen for row, steps in rows if row.endswith(text.first) for seen in steps}
        deep &= {seen for seen, line in seen_in if line == lines[0]}
        step = max(counts, key=lambda seen: (counts[seen], seen in deep, seen))
        others = sum(not self._own(line, files) for line in lines)
        if 2 * counts[step] >= (others or len(lines)):
            told = [line for seen, line in seen_in if seen == step]
            own = sum(self._is_of(step, line, files) for line in told)
            yield Source(step, told[0], SHOWED, MOST_OF_IT, is_use=2 * own <= len(told))

    def of_short(self, old: str, files: frozenset[str]) -> Iterator[Source]:
        """The step that showed the only place of a text whose lines are all short."""
        step = max((self.short.get((file, old), 0) for file in files), default=0)
        lines = [line for line in map(str.strip, lines_of(old)) if line]
        if any(self._own(line, files) < step for line in lines):
            yield Source(step, lines[0], SHOWED)

    def _files(self, step: Step) -> list[str | None]:
        """The files whose lines an output shows; None stands for any."""
        named, run = [one.path for one in self.read.get(step.step, ())], step.run
        if run is None and (wrote := self.wrote.get(step.step)):
            return list(dict.fromkeys(touch.path for touch in wrote))
        told = step.operation != "search" and (run is None or only_reads(run))
        return [*named] if named and told else [*named, None]

    def _shown(self, line: str, files: frozenset[str]) -> set[int]:
        """The last steps that showed a line of these files, since the actor put it in if it did.

        A file of the same name may be the same, seen from elsewhere: in a container, say. It is
        none that lies in another folder of the same tree, nor where this one was seen itself, or where the actor wrote it as a whole, and only looked
        elsewhere before.
        """
        held, own = self.lines.get(line, {}), self._own(line, files)
        made = max((own, *(self.made.get(file, 0) for file in files)))
        if held.keys().isdisjoint((*files, None)):
            if not self.seen.isdisjoint(files):
                return set()
            alike = (
                at
                for file, at in held.items()
                if not files or any(_may_be_one(file or "", one) for one in files)
            )
            return {step for steps in alike for step in steps if step >= made}
        seen = {step for file in files for step in held.get(file, ()) if step >= own}
        return seen | {step for step in held.get(None, ()) if step >= made}

    def _own(self, line: str, files: frozenset[str]) -> int:
        """The last step by which the actor put a line into one of these files; 0 if it never did."""
        held = self.written.get(line, {})
        return max((step for file, step in held.items() if not files or file in files), default=0)

    def _is_of(self, step: int, line: str, files: frozenset[str]) -> bool:
        """Whether it was this step that put a line into one of these files."""
        return self._own(line, files) == step or any(self.made.get(f) == step for f in files)


def _may_be_one(path: str, other: str) -> bool:
    """Whether two paths may lead to one file: their ends are alike, or they begin in other trees."""
    (*above, name), (*above_other, name_other) = path.split("/"), other.split("/")
    if name != name_other:
        return False
    if above[-1:] == above_other[-1:]:
        return True
    return path[:1] == other[:1] == "/" and above[1:2] != above_other[1:2]
