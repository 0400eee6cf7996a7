"""Which lines does a package's script stand for, where its runner does not show them?

Those that another run of it in the same folder showed, or that stand in the package's file, as long
as that was not edited in between; an earlier one counts before a later. What a hook or a program
ran tells of the tests of the package.
"""

import posixpath
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

from forsy_retrace.commands import Command, Simple, classify
from forsy_retrace.patterns import later
from forsy_retrace.trace import Step, Touch

from ..outputs.printed import bare_output, scripts
from ..touched.paths import absolute
from ..touched.scratch import EDITS
from .places import PACKAGE
from .tasks import PACKAGE as FILE

Lines = tuple[str, ...]

DEFINED = later(r"(?m)^[ \t]*\"([\w:.-]+)\": ?\"((?:[^\"\\\n]|\\.)+)\",?$")
"""A script, or another value, on its line of a package's file."""
BARE = frozenset(["run", "run-script", "-s", "--silent"])
"""Words of a line that change nothing of what a script does."""
TESTS = frozenset(
    f"{runner} {name}" for runner in ("npm", "pnpm", "yarn") for name in ("test", "t")
)
"""Commands that run the script `test`; `bun test` is a runner of its own."""


class Scripts:
    """The lines of the scripts of packages, as far as the log shows them anywhere."""

    def __init__(self, steps: Iterable[Step], touched: Mapping[int, Sequence[Touch]]) -> None:
        self.told: dict[tuple[str, str], list[tuple[int, Lines]]] = {}
        """A package's folder and a script to what it stands for, by the steps that tell."""
        self.edited: dict[str, list[int]] = {}
        """A package's folder to the edits of its file."""
        for step in steps:
            for touch in touched.get(step.step, ()):
                if posixpath.basename(touch.path) in FILE:
                    self._see(step, touch)
            if step.call is not None and (run := step.run) is not None:
                self._hear(step, run)

    def of(self, step: Step, run: Command) -> Lines:
        """The lines of the scripts that a step runs, as its actor could know them."""
        return scripts(step) or next(reversed(self._told(step, run, 0, step.step)), ())

    def found_later(self, step: Step, run: Command) -> Lines:
        """The lines of the script that a step runs, where only what comes later shows them."""
        return () if self.of(step, run) else next(iter(self._told(step, run, step.step)), ())

    def _told(self, step: Step, run: Command, first: int, end: int | None = None) -> list[Lines]:
        """What is told of the one script on a line between two steps, of the file as it was then."""
        tasks = _tasks(run)
        if len(tasks) != 1:
            return []
        folder = absolute(run.cwd or ".", step.cwd)
        edits = self.edited.get(folder, [])
        at = bisect_right(edits, step.step)
        first = max(first, edits[at - 1] if at else 0)
        end = min(end or edits[at], edits[at]) if at < len(edits) else end
        held = self.told.get((folder, tasks[0]), [])
        return [lines for by, lines in held if by >= first and (end is None or by < end)]

    def _see(self, step: Step, touch: Touch) -> None:
        folder = posixpath.dirname(touch.path)
        text = touch.change.text if touch.change is not None else None
        if touch.kind in EDITS:
            self.edited.setdefault(folder, []).append(step.step)
            text = touch.new or "\n".join(touch.added)
        elif text is None and step.run is not None:
            text = bare_output(step)
        if text and text.count('"scripts"') < 2:  # one that was printed with others is not told
            for task, line in DEFINED.findall(text):
                self._tell(folder, task, step, (line,))

    def _hear(self, step: Step, run: Command) -> None:
        if not (shown := scripts(step)):
            return
        folder, tasks = absolute(run.cwd or ".", step.cwd), _tasks(run)
        if len(tasks) == 1 and step.success:
            self._tell(folder, tasks[0], step, shown)
        elif not tasks:
            for line in shown:
                if any(one.check == "tests" for one in classify(line).simples):
                    self._tell(folder, "test", step, (line,))

    def _tell(self, folder: str, task: str, step: Step, lines: Lines) -> None:
        self.told.setdefault((folder, task), []).append((step.step, lines))


def _tasks(run: Command) -> list[str]:
    return [task for one in run.simples if (task := script_of(one))]


def script_of(simple: Simple) -> str:
    """The script of a package that a command runs and no more; empty for any other command."""
    name = simple.name.rpartition(" ")[2]
    is_script = simple.rule.startswith("script") and PACKAGE.match(simple.name)
    if not (is_script or simple.name in TESTS) or set(simple.words[1:]) - BARE - {name}:
        return ""
    return "test" if simple.name in TESTS else name
