"""Which lines does a package's script stand for, where its runner does not show them?

Those that an earlier run of it in the same folder showed, or that stand in the package's file, until
that is edited.
"""

import posixpath

from forsy_retrace.commands import Command, Simple
from forsy_retrace.patterns import later
from forsy_retrace.trace import Step, Touch

from .edits import EDITS
from .places import PACKAGE
from .printed import scripts
from .tasks import PACKAGE as FILE
from .touches import absolute

DEFINED = later(r"(?m)^\s*\"([\w:.-]+)\": ?\"((?:[^\"\\\n]|\\.)+)\",?$")
"""A script, or another value, on its line of a package's file."""
BARE = frozenset(["run", "run-script", "-s", "--silent"])
"""Words of a line that change nothing of what a script does."""
TESTS = frozenset(
    f"{runner} {name}" for runner in ("npm", "pnpm", "yarn") for name in ("test", "t")
)
"""Commands that run the script `test`; `bun test` is a runner of its own."""


class Scripts:
    """The lines of the scripts of packages, as far as the log has shown them."""

    def __init__(self) -> None:
        self.lines: dict[str, dict[str, tuple[str, ...]]] = {}
        """A package's folder to its scripts."""

    def see(self, touch: Touch) -> None:
        """What a step put into a package's file, or saw of it."""
        folder, name = posixpath.split(touch.path)
        if name not in FILE:
            return
        text = touch.change.after if touch.change is not None else None
        if touch.kind in EDITS:
            self.lines.pop(folder, None)
            text = touch.new or "\n".join(touch.added)
        if text and text.count('"scripts"') < 2:  # one that was printed with others is not told
            held = self.lines.setdefault(folder, {})
            held.update({task: (line,) for task, line in DEFINED.findall(text)})

    def of(self, step: Step, run: Command) -> tuple[str, ...]:
        """The lines of the scripts that a step runs."""
        shown = scripts(step)
        tasks = [task for one in run.simples if (task := script_of(one))]
        if len(tasks) != 1:
            return shown
        held = self.lines.setdefault(absolute(run.cwd or ".", step.cwd), {})
        if shown and step.success:
            held[tasks[0]] = shown
        return shown or held.get(tasks[0], ())


def script_of(simple: Simple) -> str:
    """The script of a package that a command runs and no more; empty for any other command."""
    name = simple.name.rpartition(" ")[2]
    is_script = simple.rule.startswith("script") and PACKAGE.match(simple.name)
    if not (is_script or simple.name in TESTS) or set(simple.words[1:]) - BARE - {name}:
        return ""
    return "test" if simple.name in TESTS else name
