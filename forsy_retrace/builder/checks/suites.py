"""Of which files can a run of tests tell, as far as its line says which tests it runs?

Of tests, those that it was given. Of other files, those below the folder of the project in which
the tests lie, and those that stand beside the folders on the way there; a folder of nothing but
tests may take in anything.
"""

import posixpath
from collections.abc import Callable

from forsy_retrace.commands import Simple
from forsy_retrace.patterns import later

from ..touched.paths import absolute
from .places import PACKAGE, Looks, between_slashes

RUNNERS = later(r"^(?:bun test|deno test|vitest|jest|mocha|pytest|rspec|phpunit|mix test)\b")
"""Runners of tests that are given the files and folders of these."""
BY_PART = later(r"^(?:bun|vitest|jest)\b")
"""Those that run all tests whose paths hold a word: `src/` stands for any folder of that name."""
UNSURE = frozenset("$`*?{[…")
"""Marks of a word that does not tell the path itself."""
TESTS = later(r"[/_-](?:e2e|tests?|specs?|integration)(?:[_-][^/]*)?/")
"""A folder of nothing but tests."""
TEST = later(
    r"/test_[^/]*\.py$|_test\.(?:py|exs|[jt]s)$|[._-](?:test|spec)\.[cm]?[jt]sx?$|_spec\.rb$"
    r"|Test\.php$"
)
"""A file of tests, by its name."""
FILES_RUN = later(r"(?m)^ *Test (?:Files +[^\n(]*\((\d+)\)|Suites: +[^\n]*?(\d+) total)$")
"""How Vitest and Jest count the files of a run."""
FILE_RUN = later(
    r"(?m)^ *(?:[✓✔√❯×✗↓]|PASS|FAIL) +(?:\|[^|\n]+\| )?(?:\S+ )?(\S+\.[cm]?[jt]sx?)(?= |$)"
)
"""How they name each."""
OF_JAVASCRIPT = later(r"\.(?:test|spec)\.[cm]?[jt]sx?$")


def told_of(run: Simple, here: str, start: str) -> Looks | None:
    """What tells the files of which a run of tests can tell; None where its line limits it to none.

    `here` is the folder where it ran, where that is known to be another than the session's `start`.
    """
    if not start:
        return None
    home = between_slashes(absolute(here or ".", start))
    named = next((values for flag, values in run.limits if not flag), ())
    if len(named) == 1 and RUNNERS.match(run.name):
        return _of_word(named[0].partition("::")[0], home, run)
    if named or not here or not (PACKAGE.match(run.name) or RUNNERS.match(run.name)):
        return None
    inner = f"/{home.removeprefix(between_slashes(start)).strip('/')}/"
    return None if TESTS.search(inner) else lambda path: _is_around(path, home)


def left_out_of(printed: str) -> Callable[[str], bool]:
    """Tells of a file whether it is one of tests, and none of those that a run names.

    Vitest and Jest count the files of a run; where fewer are named, any other may be one of them.
    """
    counts = [int(one or other) for one, other in FILES_RUN.findall(printed)]
    named = set(FILE_RUN.findall(printed)) if len(counts) == 1 else set()
    if not named or counts != [len(named)]:
        return lambda path: False
    ends = tuple(between_slashes(name.lstrip("./")) for name in named)
    return lambda path: (
        OF_JAVASCRIPT.search(path) is not None and not between_slashes(path).endswith(ends)
    )


def _of_word(word: str, home: str, run: Simple) -> Looks | None:
    path = between_slashes(posixpath.normpath(posixpath.join(home, word)))
    if not UNSURE.isdisjoint(word) or not path.startswith(home):
        return None
    top = path.removeprefix(home).partition("/")[0]
    is_part = word[:1] not in "./" and BY_PART.match(run.name) is not None
    is_name = is_part and "/" not in word
    is_open = is_name or posixpath.splitext(top)[1] or TESTS.search(f"/{top}/")
    root = "" if is_open else f"{home}{top}/"
    inner = f"/{top}/" if is_part else root
    part = word if is_part else path.rstrip("/")

    def is_told_of(path: str) -> bool:
        if TEST.search(path):
            return part in between_slashes(path)
        return not root or inner in between_slashes(path) or _is_around(path, root)

    return is_told_of


def _is_around(path: str, root: str) -> bool:
    """Whether a file lies below a folder, or beside one that leads to it."""
    folder = between_slashes(posixpath.dirname(path))
    return root in folder or root.startswith(folder)
