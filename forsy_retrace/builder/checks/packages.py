"""Which packages of Go does a check of some of them compile or test, as far as the log shows?

What the files of these were shown to import. Where none of their imports was shown it may be any,
but for programs, and those that import them: packages never import each other in a circle. A run of
tests says itself which packages have none.
"""

import posixpath
from collections import defaultdict
from collections.abc import Callable, Iterable
from itertools import takewhile

from forsy_retrace.patterns import later
from forsy_retrace.trace import Touch

from ..touched.replaced import whole
from .places import GO_TEST, between_slashes

IMPORT = later(r'(?m)^(?:import)?[ \t]+(?:[\w.]+ )?"([\w~.-]+(?:/[\w~.-]+)+)"[ \t]*(?://.*)?$')
"""A package by its path, on a line of its own."""
PROGRAM = later(r"(?m)^package main\b")
WHOLE = later(r"[/_-](?:e2e|tests?|integration)(?:[_-][^/]*)?/$")
"""A folder of tests that run the program from without."""
TESTED = later(
    r"(?m)^(?:(?:ok|FAIL|(\?))[ \t]+([\w~./-]+)(?=\s)[^\n]*?(\[no tests to run\])?"
    r"|[ \t]+([\w~./-]+)[ \t]+(coverage: 0\.0% of statements))$"
)
"""How a run of tests names a package: one that has none begins with a question mark."""
NEEDS = later(r"(?m)^//go:build (?!(?:unix|linux|darwin|windows|cgo|race|amd64|arm64)$)(\w+)$")
"""The tag without which a file is left out; one that a platform sets is no matter of the line."""
TAGS = later(r"-(?:build-)?tags[= ]['\"]?([\w,]+)")
"""The tags that a line sets."""


class Packages:
    """The folders of the Go files that the log has shown, and what these import."""

    def __init__(self) -> None:
        self.imports: dict[str, set[str]] = defaultdict(set)
        self.by_tests: dict[str, set[str]] = defaultdict(set)
        """What the tests in a folder import besides."""
        self.called: dict[str, set[str]] = defaultdict(set)
        """The last part of a folder to the folders that end so."""
        self.programs: set[str] = set()
        self.has_tests: dict[str, bool] = {}
        """What the latest run of tests said of a package."""
        self.taken: dict[str, set[str]] = {}
        """What each file imports, as far as is known."""
        self.files: dict[tuple[str, bool], set[str]] = defaultdict(set)
        """The files of a folder that were seen, its tests apart."""
        self.needs: dict[str, str] = {}
        """A file to the tag without which it is left out."""

    def see(self, touch: Touch) -> None:
        """What a step put into a file, or saw of it."""
        if not touch.path.endswith(".go"):
            return
        folder = posixpath.dirname(touch.path)
        self.called[posixpath.basename(folder)].add(folder)
        held = self.by_tests if touch.path.endswith(GO_TEST) else self.imports
        after = touch.change.text if touch.change is not None else None
        held_whole = whole(touch.change) if touch.kind == "read" else after
        held_whole = touch.new if held_whole is None and touch.kind == "write" else held_whole
        taken = self.taken.setdefault(touch.path, set())
        if held_whole is not None:
            taken.clear()
        taken -= {*IMPORT.findall("\n".join(touch.removed))}
        for text in (touch.new or "\n".join(touch.added), after or ""):
            taken.update(IMPORT.findall(text))
            if PROGRAM.search(text):
                self.programs.add(folder)
            if found := NEEDS.search(text):
                self.needs[touch.path] = found[1]
        there = self.files[folder, held is self.by_tests]
        there.add(touch.path)
        held[folder] = set[str]().union(*(self.taken[path] for path in there))

    def taken_in(self, given: Iterable[str], runs: bool) -> Callable[[str], bool]:
        """Tells whether a check of the given folders, between slashes, compiles another folder.

        One that runs their tests may run what they test from without.
        """
        given = tuple(given)
        if runs and any(map(WHOLE.search, given)):
            return lambda folder: True
        inside = [one for one in self._folders() if any(f in between_slashes(one) for f in given)]
        named = set[str]().union(*(self.imports[one] | self.by_tests[one] for one in inside))
        if named:
            return self._behind(named).__contains__
        return lambda folder: (
            folder not in self.programs and self._behind(self.imports[folder]).isdisjoint(inside)
        )

    def untested(self, printed: str, ran: str) -> Callable[[str], bool]:
        """Tells of a file whether the package that it is of has no test, or none that a run chose.

        Of a package that the run does not name counts what an earlier one said, as long as no test
        of it was seen. Nor is a file tested that needs a tag which `ran` does not set, the lines of
        Go that are run; empty where these are not known.
        """
        left_out = self.left_out(ran)
        said = dict[str, bool]()
        for none, name, idle, bare, _ in TESTED.findall(printed):
            self.has_tests[name or bare] = not (none or bare)
            said[name or bare] = not (none or bare or idle)

        def is_untested(path: str) -> bool:
            folder = posixpath.dirname(path)
            if left_out(path):
                return True
            known = {**({} if folder in self.by_tests else self.has_tests), **said}
            name = _called(folder, known) if path.endswith(".go") else None
            return name is not None and not known[name]

        return is_untested

    def left_out(self, ran: str) -> Callable[[str], bool]:
        """Tells of a file whether it needs a tag that these lines of Go do not set."""
        tags = {tag for tags in TAGS.findall(ran) for tag in tags.split(",")}
        return lambda path: bool(ran) and self.needs.get(path, "") not in ("", *tags)

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


def _called(folder: str, names: Iterable[str]) -> str | None:
    """The package in a folder: that whose path ends like it the furthest; None where none does."""
    ends = {name: _alike(folder.split("/"), name.split("/")) for name in names}
    found = min(ends, key=lambda name: (-ends[name], len(name)), default=None)
    return found if found is not None and ends[found] else None


def _alike(one: list[str], other: list[str]) -> int:
    """How many parts two paths end with alike."""
    pairs = zip(reversed(one), reversed(other), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
