"""Which of the files that the session made does Git know, and which does it leave alone?"""

from collections.abc import Iterable, Mapping

from forsy_retrace.commands import Command
from forsy_retrace.trace import Step, Touch

from .paths import absolute, base_of

STAGES = frozenset(["git add", "git stage"])
"""Commands that tell Git of files."""
ALL = frozenset(["-A", "--all"])
"""Flags by which they name all files."""


def makers(touches: Iterable[Touch]) -> dict[str, int]:
    """The files that the session itself made, to the steps that did.

    What an earlier step read was there, unless the harness says that the write made it.
    """
    changed: dict[str, int] = {}
    read: set[str] = set()
    for touch in touches:
        if touch.kind == "read":
            read.add(touch.path)
        elif touch.kind != "folder" and touch.path not in changed:
            told = touch.change
            is_new = touch.path not in read if told is None else told.kind == "created"
            changed[touch.path] = touch.step if touch.kind == "write" and is_new else 0
    return {path: step for path, step in changed.items() if step}


def clears_up(touch: Touch, made: Mapping[str, int]) -> bool:
    """Whether it deletes a file that the session itself had made: nothing of that is left to check."""
    return touch.kind == "delete" and touch.path in made


class Tracked:
    """What Git knows of the files that the session made, kept up to date as steps pass by."""

    def __init__(self, made: Mapping[str, int]) -> None:
        self.made = made
        self.loose: dict[str, None] = {}
        """Those that are made and that Git does not know yet."""
        self.staged: dict[str, int] = {}
        """Those that it knows, to the step that last gave them to it."""

    def enter(self, touch: Touch) -> None:
        """Takes in an edit of a file."""
        if self.made.get(touch.path) == touch.step:
            self.loose[touch.path] = None

    def take(self, step: Step, run: Command) -> None:
        """Takes in what a line gives to Git."""
        here = base_of(step)
        for simple in run.simples if self.loose or self.staged else ():
            if simple.name in STAGES:
                words = simple.words[2:]
                named = [absolute(word, here) for word in words if not word.startswith("-")]
                for path in (*self.loose, *self.staged):
                    if not ALL.isdisjoint(words) or any(_holds(one, path) for one in named):
                        self.staged[path] = step.step
                        self.loose.pop(path, None)

    def leaves(self, path: str, edit: int, run: Command) -> bool:
        """Whether a line that puts back all that Git knows leaves alone what an edit put into a file.

        It leaves alone what Git does not know, unless it cleans up, and what was given to Git
        before, unless it resets to a commit.
        """
        if path in self.loose:
            return all(simple.name != "git clean" for simple in run.simples)
        return edit <= self.staged.get(path, 0) and "--hard" not in run.normal


def _holds(named: str, path: str) -> bool:
    """Whether a path is a file, lies in a folder, or is named by what stands before a `*`."""
    begin, star, _ = named.partition("*")
    if star or named == ".":
        return path.startswith(begin if star else "")
    return path == named or path.startswith(f"{named.rstrip('/')}/")
