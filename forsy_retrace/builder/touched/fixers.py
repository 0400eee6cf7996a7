"""Commands that rewrite files which they don't name, and Git's ways to put edits away."""

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import translate

from forsy_retrace.commands import REWRITES, Command, Simple
from forsy_retrace.patterns import later
from forsy_retrace.trace import Step, Trace

from ..classify import typed_line
from ..outcome import never_ran
from .paths import end_of

BY_GIT = frozenset(
    [
        *("git checkout", "git switch", "git restore", "git reset", "git merge", "git rebase"),
        *("git pull", "git stash", "git cherry-pick", "git revert", "git am", "git apply"),
    ]
)
"""Commands of Git that may put other contents into the files at work."""
SPARES = frozenset(
    ["-b", "-B", "-c", "-C", "--orphan", "--staged", "--cached", "--check", "--stat"]
)
"""With one of these they do not, nor a stash that is only looked at, nor a reset that is not hard."""


MERGED = later(r"(?m)^(?:CONFLICT \([^)\n]+\): Merge conflict in|Auto-merging) (.+)$|^CONFLICT \(")
"""How Git says what it did to files before it stopped at a conflict."""


def merged_files(printed: str) -> list[str]:
    """The files that Git says it merged, whole or up to a conflict."""
    return [name for name in MERGED.findall(printed) if name]


def rewrites(trace: Trace) -> Iterator[tuple[int, Simple]]:
    """The steps in which Git may have put other contents into the files at work."""
    for step in trace.steps:
        yield from ((step.step, simple) for simple in rewrites_of(step))


def rewrites_of(step: Step) -> Iterator[Simple]:
    """The commands of a step by which Git may have done so."""
    run = step.run or typed_line(step)
    if run is None or "git" not in run.programs:
        return
    if step.success is False and not MERGED.search(step.printed):
        return
    for simple in run.simples:
        words = frozenset(simple.words[2:])
        if simple.name not in BY_GIT or words & (SPARES | set(LOOKS_AT)):
            continue
        if simple.name != "git reset" or "--hard" in words:
            yield simple


def may_rewrite(simple: Simple, path: str) -> bool:
    """Whether such a command may have meant this file: it names it or its folder, or names none."""
    named = _named(simple)
    return not named or any(f"{end_of(name)}/" in f"{path}/" for name in named)


def names_rewritten(simple: Simple) -> frozenset[str] | None:
    """The names of the files that it may have meant; None where it names none, or a folder."""
    names = frozenset(map(posixpath.basename, _named(simple)))
    return names if names and all(posixpath.splitext(name)[1] for name in names) else None


def _named(simple: Simple) -> tuple[str, ...]:
    marks = [at for at, word in enumerate(simple.words) if word in ("--", "--theirs", "--ours")]
    named = simple.words[marks[-1] + 1 :] if marks else ()
    return () if HERE.intersection(named) else tuple(name.rstrip("/") for name in named)


HERE = frozenset([".", "./", ":/"])
"""All files, where Git is told for which."""
UNFIXED = later(
    r"(?im)\bno fixes applied\b|^\d+ files? (?:left unchanged|already formatted)\.?[ \t]*$"
)
"""How formatters and fixers say that they changed nothing."""
NO_SUCH_COMMAND = 127


def fixers(trace: Trace) -> Iterator[tuple[int, Simple]]:
    """The steps in which a formatter or fixer may have rewritten files that its line does not name.

    One that failed may have, too: it tells by that what it could not mend.
    """
    for step in trace.steps:
        run = step.run
        if run is not None and may_have_fixed(step, run) and not UNFIXED.search(step.printed):
            yield from ((step.step, one) for one in run.simples if rewrites_unnamed(one))


def may_have_fixed(step: Step, run: Command) -> bool:
    """Whether a formatter or fixer of a line may have rewritten files, also where it failed."""
    code = step.told.exit_code if step.told else None
    return run.fixes and not never_ran(step) and code != NO_SUCH_COMMAND


def rewrites_unnamed(simple: Simple) -> bool:
    """Whether a command rewrites files of which its line does not name each: `sed -i … *.py`."""
    return simple.role in REWRITES and (not simple.writes or any(map(unnamed, simple.writes)))


def unnamed(path: str) -> bool:
    """Whether only the shell could have told which files a path means, or what runs the command."""
    return not UNRESOLVED.isdisjoint(path)


UNRESOLVED = frozenset("*?$`{}<>|&;")
"""Marks of a path that only the shell could have resolved."""


def may_fix(simple: Simple) -> Callable[[str], bool]:
    """Tells of a file whether such a command may have meant it, as far as it says which."""
    meant = re.compile("|".join(translate(_pattern(one)) for one in simple.writes))
    return lambda path: not simple.writes or meant.match(path) is not None


def names_fixed(simple: Simple) -> frozenset[str] | None:
    """The names of the files that it may have meant; None where it does not tell them all."""
    names = [posixpath.basename(_pattern(one)) for one in simple.writes]
    is_told = bool(names) and all(GLOB.isdisjoint(name) for name in names)
    return frozenset(names) if is_told else None


def _pattern(named: str) -> str:
    """How the paths end that a word may mean, behind what only the shell could have told."""
    *untold, told = OPEN.split(named)
    return f"*{told if untold else end_of(told)}"


GLOB = frozenset("*?[")
OPEN = later(r"\$\{\w+\}|\$\(.*\)|\$\w+|\{\}|\{[^{}]*,[^{}]*\}|[`$<>|&;{}]")
"""What a path may hold that even a list of all files would not resolve."""


BACK = ("pop", "apply", "branch")
LOOKS_AT = ("list", "show", "drop", "clear")


def around_its_check(run: Command | None) -> tuple[Sequence[Simple], Sequence[Simple]]:
    """The commands of a line before its first check, and those from it on."""
    simples = run.simples if run is not None else ()
    first = next((at for at, one in enumerate(simples) if one.check), len(simples))
    return simples[:first], simples[first:]


class Stash:
    """Whether the edits are put away: `git stash` until `git stash pop`, on one line or on several."""

    def __init__(self) -> None:
        self.away_since = 0
        """The step that put all edits before it away; 0 while they are in place."""

    def take(self, step: int, simples: Sequence[Simple]) -> None:
        """Takes in what these commands of a step do."""
        for simple in simples:
            asked = "".join(simple.words[2:3])
            if simple.words[:2] == ("git", "stash") and asked not in LOOKS_AT:
                self.away_since = 0 if asked in BACK else step
