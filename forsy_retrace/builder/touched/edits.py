"""Which edits stand, and which were replaced or undone later?"""

import posixpath
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain, islice, takewhile
from typing import NamedTuple

from forsy_retrace.commands import Command, Simple
from forsy_retrace.patterns import later
from forsy_retrace.sdk import lines_of
from forsy_retrace.trace import Step, Touch, Trace

from ..tools import replaces_all
from .fixers import may_have_fixed
from .paths import absolute, base_of
from .replaced import before_of
from .scratch import EDITS
from .tracked import Tracked

REPLACED_SHARE = 0.5
"""An edit is replaced when later steps took out more than this share of the lines it put in."""
LATEST = 100
"""So many of the latest edits may have put in one of several equal lines that are taken out."""
COPY_CHANGED = (*EDITS, "changed", "generated")
"""What makes of a copy another file than the one that was copied."""
RESTORES = later(
    r"\bgit (?:checkout (?:--(?=\s)|HEAD\b|\S+ --(?=\s)|\.(?=\s|$)|(?!-)\S*\.[A-Za-z]\w{0,5}(?=\s|$))"
    r"|reset --hard\b"
    r"|restore\b(?![^&|;\n]{0,400} (?:--staged|-S)\b))"
)
"""Commands that put files back as they were committed."""
FILE = later(r"\.[A-Za-z]\w{0,5}$")
"""How the name of a file ends, and hardly that of a branch."""


class Standing:
    """The edits in effect, kept up to date as steps pass by."""

    def __init__(self, made: Mapping[str, int] | None = None) -> None:
        self.tracked = Tracked(made or {})
        self.lines: dict[str, dict[str, list[int]]] = {}
        """Of each file the lines that edits put in and that still stand, to these, in order."""
        self.put: dict[tuple[str, int], set[str]] = {}
        """Of each file and edit step the lines that it put in, as they are indented."""
        self.took: dict[tuple[str, int], set[str]] = {}
        """Of each file and edit step the lines that it took out."""
        self.earlier: dict[tuple[str, str, int], list[int]] = {}
        """Of each file, line and edit step that only indented it anew the steps that had put it in."""
        self.sizes: dict[int, int] = {}
        """Edit step to the lines that it put in."""
        self.left: dict[int, int] = {}
        """Edit step to those of its lines that still stand."""
        self.replaced: dict[int, int] = {}
        self.reworked: dict[int, list[int]] = {}
        self.paths: dict[int, set[str]] = {}
        self.in_effect: dict[int, None] = {}
        """The steps whose edits were not replaced, in order."""
        self.by_path: dict[str, list[int]] = {}
        self.by_name: dict[str, set[str]] = {}
        """The paths of edited files by their last part."""
        self.ended: list[int] = []
        """The edits that the step at hand replaced."""
        self.committed = 0
        """The last step that made a commit: what was edited before may be in it."""
        self.formatted = 0
        """The last step that may have indented anew what was edited before."""
        self.kept: dict[str, tuple[str, int]] = {}
        """A copy of a file to the file, and the step that made it."""

    def take(self, step: Step, touched: list[Touch]) -> list[int]:
        """Enters a step's edits, after taking out what they replace; the edits that end by it."""
        self.ended = []
        run = step.run
        if run is not None and may_have_fixed(step, run):
            self.formatted = step.step
        for touch in touched:
            if touch.kind in COPY_CHANGED:
                self.kept.pop(touch.path, None)
            if touch.kind in EDITS:
                self._remove(touch, everywhere=replaces_all(step.call.input if step.call else None))
                self._enter(touch)
        self._restore(step)
        return self.ended

    def take_away(self, gone: str) -> list[int]:
        """The edits of which nothing is left, since a file or folder is gone: they are not replaced."""
        ended = []
        for path in [one for one in self.by_path if one == gone or one.startswith(f"{gone}/")]:
            for step in chain.from_iterable(self.lines.pop(path, {}).values()):
                self.sizes[step] -= 1
                self.left[step] -= 1
            self.by_name[posixpath.basename(path)].discard(path)
            for step in self.by_path.pop(path):
                self.paths[step].discard(path)
                if not self.paths[step] and step in self.in_effect:
                    del self.in_effect[step]
                    ended.append(step)
        return ended

    def stands(self, path: str) -> bool:
        """Whether an edit of this file is in effect."""
        steps = self.by_path[path]
        while steps and steps[-1] in self.replaced:
            steps.pop()
        return bool(steps)

    def _enter(self, touch: Touch) -> None:
        added = [line.strip() for line in touch.added if len(line.strip()) > 2]
        self.paths.setdefault(touch.step, set()).add(touch.path)
        self.tracked.enter(touch)
        self.put.setdefault((touch.path, touch.step), set()).update(map(_indented, touch.added))
        took = (line.strip() for line in touch.removed)
        self.took.setdefault((touch.path, touch.step), set()).update(took)
        held = self.lines.setdefault(touch.path, {})
        for line in added:
            held.setdefault(line, []).append(touch.step)
        for counts in (self.sizes, self.left):
            counts[touch.step] = counts.get(touch.step, 0) + len(added)
        self.by_name.setdefault(posixpath.basename(touch.path), set()).add(touch.path)
        steps = self.by_path.setdefault(touch.path, [])
        if steps[-1:] != [touch.step]:
            steps.append(touch.step)
        self.in_effect[touch.step] = None

    def _remove(self, touch: Touch, *, everywhere: bool) -> None:
        held = self.lines.get(touch.path, {})
        kept = {line.strip() for line in touch.added}
        out = Counter(line.strip() for line in touch.removed)
        others = set[int]()
        is_whole = touch.kind == "delete" or (touch.kind == "write" and touch.change is None)
        if is_whole:
            gone = [line for line in held if line not in kept]
            out.update({line: len(held[line]) for line in gone})
        else:
            gone = [line for line in out if line in held and line not in kept]
            others = self._indented_otherwise(touch, held)
        if everywhere:
            out = Counter({line: len(held.get(line, ())) for line in out})
        else:
            _spare_others(touch, out, held)
        put = "\n".join(line.strip() for line in touch.added)
        over = self._worked_over(touch, held) - others
        owners = self._owners(held, out, touch.step, others, over)
        ended = [
            (line, step)
            for line in gone
            for step in owners[line]
            if is_whole or not self._is_extended(line, step, touch.path, put)
        ]
        moved = [
            (line, step)
            for line, count in Counter(line.strip() for line in touch.added).items()
            for step in owners.get(line, ())[:count]
        ]
        lost = Counter(one for line, step in ended for one in self._putters(touch.path, line, step))
        reworked = over.union(lost, *owners.values())
        for line, step in chain(ended, moved):
            del held[line][bisect_left(held[line], step)]
            if not held[line]:
                del held[line]
        for line, step in moved:
            self.earlier.setdefault((touch.path, line, touch.step), []).append(step)
        for step in sorted(reworked):
            if step in self.replaced or step == touch.step:
                continue
            self.reworked.setdefault(step, []).append(touch.step)
            self.left[step] -= lost[step]
            if 1 - self.left[step] / self.sizes[step] > REPLACED_SHARE:
                self._replace(step, touch.step)

    def _is_extended(self, line: str, step: int, path: str, put: str) -> bool:
        """Whether a line stands on inside a longer one, and not one that its step had taken out."""
        took = self.took[path, step]
        return any(one not in took for one in islice(_holding(line, put), LATEST))

    def _putters(self, path: str, line: str, step: int) -> Iterator[int]:
        """The step that put in a line, and those that had put it in before it was indented anew."""
        yield step
        while before := self.earlier.get((path, line, step)):
            yield (step := before.pop())

    def _owners(
        self,
        held: dict[str, list[int]],
        out: Counter[str],
        by: int,
        others: set[int],
        over: set[int],
    ) -> dict[str, list[int]]:
        """For each line the earlier steps, without others, that put in what is taken out of it, so often.

        Of equal lines those of steps that are worked over, then of those that put in more of the rest.
        """
        lines = [line for line in out if line in held]
        near = Counter(step for line in lines for step in held[line][-LATEST:])
        found = {}

        def rank(step: int) -> tuple[bool, int]:
            return step in over, near[step]

        for line in lines:
            earlier = bisect_left(held[line], by)
            latest = held[line][max(0, earlier - max(out[line], LATEST)) : earlier]
            is_all = out[line] >= earlier
            nearest = latest if is_all else sorted(latest, key=rank, reverse=True)
            found[line] = [step for step in nearest if step not in others][: out[line]]
        return found

    def _indented_otherwise(self, touch: Touch, held: dict[str, list[int]]) -> set[int]:
        """The edits that put in lines which another takes out, but indented them all otherwise.

        Such lines stand in another place, unless they were indented anew since. Of a text that
        begins amid a line its indentation is not known.
        """
        seen, same = set[int](), {self.formatted}
        for line in touch.removed:
            bare, full = line.strip(), _indented(line)
            steps = held.get(bare, [])
            earlier = bisect_left(steps, touch.step)
            for step in steps[max(0, earlier - LATEST) : earlier]:
                seen.add(step)
                if bare == full or not self.put[touch.path, step].isdisjoint((bare, full)):
                    same.add(step)
        last = max(same)
        return {step for step in seen if step > last}

    def _worked_over(self, touch: Touch, held: dict[str, list[int]]) -> set[int]:
        """The edits of which the text that another replaces holds all lines, also if they stay.

        One that only takes out what they did not put in leaves them as they are.
        """
        if not touch.added:
            return set()
        asked = {line.strip() for line in lines_of(touch.old or "")}
        counts = Counter(step for line in asked for step in held.get(line, ()))
        return {step for step, count in counts.items() if 1 < count == self.left[step]}

    def _replace(self, step: int, by: int) -> None:
        self.replaced[step] = by
        self.ended.append(step)
        del self.in_effect[step]

    def _restore(self, step: Step) -> None:
        run = step.run
        if run is None or step.success is False:
            return
        if any(simple.name == "git commit" for simple in run.simples):
            self.committed = step.step
        self.tracked.take(step, run)
        for source, target in _copied(step, run):
            path, since = self.kept.get(source, ("", 0))
            if path == target:
                self._put_back_file(path, since, step.step)
            self.kept[target] = source, step.step
        back = put_back_by(step)
        if back is None:
            return
        since = 0 if any(map(self._from_elsewhere, run.simples)) else self.committed
        if back.whole:
            steps = list(takewhile(since.__lt__, reversed(self.in_effect)))
            put_back = [one for one in steps if not self._is_left(one, run, back.folder)]
            self._put_back(put_back, step.step)
        for path in back.paths if not back.whole else ():
            self._put_back_file(path, since, step.step)

    def _put_back_file(self, path: str, since: int, by: int) -> None:
        """A step put a file back as it had been behind another."""
        steps = self.by_path.get(path, [])
        at = bisect_right(steps, since)
        self._put_back(steps[at:], by)
        steps[at:] = [own for own in steps[-1:] if own == by]

    def _is_left(self, step: int, run: Command, folder: str) -> bool:
        """Whether a line that puts back all that Git knows leaves alone half of what an edit put in."""
        sizes = {path: len(self.put[path, step]) for path in self.paths[step]}
        left = [
            path
            for path in sizes
            if not path.startswith(folder) or self.tracked.leaves(path, step, run)
        ]
        kept = sum(map(sizes.__getitem__, left))
        return bool(left) and kept >= (1 - REPLACED_SHARE) * sum(sizes.values())

    def _put_back(self, steps: list[int], by: int) -> None:
        for step in steps:
            if step in self.in_effect and step != by:
                self._replace(step, by)

    def _from_elsewhere(self, simple: Simple) -> bool:
        """Whether a command of Git takes files from another place than the last commit."""
        if not _puts_back(simple):
            return False
        words = simple.words[2:]
        given = words[: words.index("--")] if "--" in words else words
        return any(
            word.startswith(("-s", "--source")) and not word.endswith("=HEAD")
            if word[0] == "-"
            else word not in ("HEAD", ".")
            and posixpath.basename(word) not in self.by_name
            and not FILE.search(word)
            for word in given
            if word
        )


class PutBack(NamedTuple):
    """What a line of Git puts back as it was committed."""

    paths: tuple[str, ...]
    whole: bool
    """Whether it is all that Git knows, from its folder on."""
    folder: str = ""
    """The beginning of the paths of all that lies in that folder; empty where it does not count."""


def put_back_by(step: Step) -> PutBack | None:
    """What a step puts back, unless it failed; None where it puts back nothing."""
    run = step.run
    if run is None or step.success is False or "git " not in run.normal:
        return None
    if not RESTORES.search(run.normal):
        return None
    cwd = base_of(step)
    given = [simple.words[2:] for simple in filter(_puts_back, run.simples)]
    paths = tuple(
        absolute(word, cwd)
        for words in given
        for word in words
        if not word.startswith("-") and word != "HEAD"
    )
    if "--hard" in run.normal:
        return PutBack(paths, True)
    whole = any({*words} - {"--", "HEAD"} == {"."} for words in given)
    return PutBack(paths, whole, absolute(".", cwd).rstrip("/") + "/" if cwd else "")


def _copied(step: Step, run: Command) -> Iterator[tuple[str, str]]:
    """The file that a line copies, or moves, and the name that this bears then."""
    for simple in run.simples:
        source, target = simple.reads[:2], simple.writes[-1:]
        if simple.name in ("cp", "mv") and len(source) == 1 and len(simple.writes) < 3:
            base = base_of(step)
            yield absolute(source[0], base), absolute(target[0], base)


def _puts_back(simple: Simple) -> bool:
    return simple.words[:1] == ("git",) and RESTORES.search(" ".join(simple.words)) is not None


def _holding(line: str, text: str) -> Iterator[str]:
    """The lines of a text that hold a line which neither begins nor ends amid a word of theirs."""
    at = text.find(line)
    while at >= 0:
        end = at + len(line)
        begins = not (_is_word(text[at - 1 : at]) and _is_word(line[:1]))
        if begins and not (_is_word(text[end : end + 1]) and _is_word(line[-1:])):
            last = text.find("\n", end)
            yield text[text.rfind("\n", 0, at) + 1 : last if last >= 0 else None]
        at = text.find(line, end)


def _is_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_"


def _indented(line: str) -> str:
    """A line with its indentation; a patch may have two spaces where the file has a tab."""
    return line.rstrip().replace("\t", "  ")


def _spare_others(touch: Touch, out: Counter[str], held: dict[str, list[int]]) -> None:
    """Of lines that stand more often than edits put them in, as many are taken to be no edit's."""
    mine = [line for line in out if line in held]
    before = before_of(touch.change) if mine else None
    if before is None:
        return
    copies = Counter(line.strip() for line in lines_of(before))
    for line in mine:
        out[line] = min(out[line], max(0, len(held[line]) + out[line] - copies[line]))


def edits_of(trace: Trace) -> dict[int, list[Touch]]:
    """Step to what it touched."""
    found: dict[int, list[Touch]] = {}
    for touch in trace.touches:
        found.setdefault(touch.step, []).append(touch)
    return found
