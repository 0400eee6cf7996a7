"""Which packages of Go does a check of some of them compile, as far as the log shows?

What the files of these were shown to import. Where none of their imports was shown it may be any,
but for programs, and those that import them: packages never import each other in a circle.
"""

import posixpath
from collections import defaultdict
from collections.abc import Callable, Iterable

from forsy_retrace.patterns import later
from forsy_retrace.trace import Touch

from .places import GO_TEST, between_slashes

IMPORT = later(r'(?m)^(?:import)?[ \t]+(?:[\w.]+ )?"([\w~.-]+(?:/[\w~.-]+)+)"[ \t]*(?://.*)?$')
"""A package by its path, on a line of its own."""
PROGRAM = later(r"(?m)^package main\b")
WHOLE = later(r"[/_-](?:e2e|tests?|integration)(?:[_-][^/]*)?/$")
"""A folder of tests that run the program from without."""


class Packages:
    """The folders of the Go files that the log has shown, and what these import."""

    def __init__(self) -> None:
        self.imports: dict[str, set[str]] = defaultdict(set)
        self.by_tests: dict[str, set[str]] = defaultdict(set)
        """What the tests in a folder import besides."""
        self.called: dict[str, set[str]] = defaultdict(set)
        """The last part of a folder to the folders that end so."""
        self.programs: set[str] = set()

    def see(self, touch: Touch) -> None:
        """What a step put into a file, or saw of it."""
        if not touch.path.endswith(".go"):
            return
        folder = posixpath.dirname(touch.path)
        self.called[posixpath.basename(folder)].add(folder)
        held = self.by_tests if touch.path.endswith(GO_TEST) else self.imports
        after = touch.change.after if touch.change is not None else None
        for text in (touch.new or "\n".join(touch.added), after or ""):
            held[folder].update(IMPORT.findall(text))
            if PROGRAM.search(text):
                self.programs.add(folder)

    def taken_in(self, given: Iterable[str]) -> Callable[[str], bool]:
        """Tells whether a check of the given folders, between slashes, compiles another folder."""
        given = tuple(given)
        if any(map(WHOLE.search, given)):
            return lambda folder: True
        inside = [one for one in self._folders() if any(f in between_slashes(one) for f in given)]
        named = set[str]().union(*(self.imports[one] | self.by_tests[one] for one in inside))
        if named:
            return self._behind(named).__contains__
        return lambda folder: (
            folder not in self.programs and self._behind(self.imports[folder]).isdisjoint(inside)
        )

    def _folders(self) -> list[str]:
        return [one for held in self.called.values() for one in held]

    def _behind(self, imports: Iterable[str]) -> set[str]:
        """The folders of some packages, and of those that they import."""
        found, waiting, known = set[str](), list(imports), set[str]()
        while waiting:
            name = waiting.pop()
            if name in known:
                continue
            known.add(name)
            for folder in self.called.get(posixpath.basename(name), ()):
                if _may_be(folder, name):
                    found.add(folder)
                    waiting += self.imports[folder]
        return found


def _may_be(folder: str, name: str) -> bool:
    """Whether a folder may be that of a package; at its root a module may have another name."""
    parts = name.split("/")
    return len(parts) < 4 or folder.split("/")[-2:] == parts[-2:]
