"""Which edit defined the task that a line runs: in a `Makefile`, a `package.json` or the like."""

import posixpath
from collections.abc import Iterator
from typing import NamedTuple

from forsy_retrace.commands import Simple
from forsy_retrace.patterns import later
from forsy_retrace.trace import Touch

PACKAGE = ("package.json",)
FILES = {
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), PACKAGE),
    **dict.fromkeys(("make", "gmake"), ("Makefile", "makefile", "GNUmakefile")),
    "just": ("justfile", "Justfile", ".justfile"),
    "mise": ("mise.toml", ".mise.toml"),
    "task": ("Taskfile.yml", "Taskfile.yaml"),
    "composer": ("composer.json",),
    "deno": ("deno.json", "deno.jsonc"),
    "rake": ("Rakefile",),
    "poe": ("pyproject.toml",),
}
"""Where the runners of tasks look for these."""
NAMES = frozenset(name for names in FILES.values() for name in names)
DEFINES = later(
    r"\s*(?:\[tasks\.|task :|@)?(?:\"([^\"]+)\"|'([^']+)'|((?:[^\s\"':=\]#]|:(?=\w))+))\s*"
    r"(?::(?!:?=)(?!\s*\"(?:[\^~<>=]*\d|workspace:))|\]|=(?=>|\s*[\"'{\[]))"
)
"""How a line of such a file begins a task: `"gen": …`, `gen:`, `[tasks.gen]`; no package's version."""


class Definition(NamedTuple):
    """The file of a task, the step whose edit defined it last, and the lines that this put in."""

    path: str
    step: int
    text: str


class Tasks:
    """The tasks that edits have defined so far."""

    def __init__(self) -> None:
        self.defined: dict[tuple[str, str], dict[str, Definition]] = {}
        """The name of a file and of a task to the definitions, by folder."""

    def see(self, edit: Touch) -> None:
        """What an edit put in; a comma behind a line is no change."""
        folder, name = posixpath.split(edit.path)
        if name not in NAMES:
            return
        was = set(map(_bare, edit.removed))
        lines = [line for line in edit.added if line.strip() and _bare(line) not in was]
        for task, own in _definitions(lines):
            found = Definition(edit.path, edit.step, "\n".join(own))
            self.defined.setdefault((name, task), {})[folder] = found

    def run_by(self, simple: Simple, here: str) -> Iterator[Definition]:
        """The definitions of the task that a command runs in a folder, or in one that it names."""
        if not simple.rule.startswith("script"):
            return
        task = simple.name.rpartition(" ")[2]
        named = {word.rstrip("/").rpartition("/")[2] for word in simple.words[1:]} - {task}
        for name in FILES.get(simple.words[0], ()):
            for folder, found in self.defined.get((name, task), {}).items():
                is_above = f"{here}/".startswith(f"{folder}/") or not folder
                if is_above or posixpath.basename(folder) in named:
                    yield found


def _bare(line: str) -> str:
    return line.strip().rstrip(",")


def _definitions(lines: list[str]) -> list[tuple[str, list[str]]]:
    """Each task with the line that begins it, and those that stand further in or in its table."""
    found: list[tuple[str, list[str]]] = []
    under: list[tuple[int, list[str]]] = []
    for line in lines:
        is_table, indent = line[:1] == "[", len(line) - len(line.lstrip())
        while under and (is_table or under[-1][0] >= indent):
            under.pop()
        for _, held in under:
            held.append(line)
        if task := DEFINES.match(line):
            own = [line]
            under.append((-1 if is_table else indent, own))
            found.append((task[1] or task[2] or task[3], own))
    return found
