"""Lookups that end with a status of failure, and only found nothing, or something else."""

from collections.abc import Callable
from typing import NamedTuple

from forsy_retrace.commands import Command, Simple
from forsy_retrace.frames import below_header
from forsy_retrace.patterns import later

from .runners import ERROR_ONLY

LOOKUPS = frozenset(
    ["grep", "egrep", "fgrep", "rg", "ag", "ack", "which", "type", "pgrep", "diff", "cmp", "test", "[",
     "lsof", "git config", "git grep", "git diff", "git check-ignore"]
)  # fmt: skip
"""Commands whose exit status 1 only says that there was nothing to find, or no likeness."""
SEARCHES = frozenset(["grep", "egrep", "fgrep", "rg", "ag", "ack", "git grep"])
"""Those that search, and exit 2 where something is wrong."""
LISTS = frozenset(
    ["ls", "cat", "sed", "head", "tail", "nl", "wc", "find", "tree", "pwd", "cd", "date", "echo",
     "printf", "git status", "git log", "git branch", "git show"]
)  # fmt: skip
"""Commands that print what there is, and complain where they fail."""
COMPARES = frozenset(["diff", "cmp", "git diff"])
"""Commands that exit 1 and print what differs."""
STILL_RUNS = "checks-still-run"
"""The rule of a list of CI's checks that have not all ended."""
NOTHING = later(
    r"\s*(?:\(no output\))?\s*(?:Exit code 1|(?:Command|Process) exited with code 1\.?"
    r"|failed in sandbox .{1,80}, exit code: 1, stdout: , stderr:)?\s*"
)
"""What harnesses write where a command printed nothing and exited 1."""


def _found_nothing(text: str | None, exit_code: int | None, run: Command | None) -> bool:
    """A search that exits 1 and prints nothing worked: there was nothing to find.

    Where the log shows no output, the status must be the lookup's own.
    """
    if run is None or exit_code != 1 or not run.simples:
        return False
    if text is None:
        return len(run.simples) == 1 and looks_up(run.simples[0])
    if not NOTHING.fullmatch(below_header(text)):
        return False
    if run.simples[-1].operation == "search" or looks_up(run.simples[-1]):
        return True
    quiet = all(looks_up(one) or one.role == "view" for one in run.simples)
    return quiet and any(map(looks_up, run.simples))


def _found_no_more(text: str | None, exit_code: int | None, run: Command | None) -> bool:
    """A search that ends a line of listings exits 1, and nothing complains: it found nothing."""
    if run is None or exit_code != 1 or text is None or len(run.simples) < 2:
        return False
    *before, last = run.simples
    quiet = LISTS | SEARCHES
    if _names(last).isdisjoint(SEARCHES) or any(_names(one).isdisjoint(quiet) for one in before):
        return False
    return not any(ERROR_ONLY.match(line.strip()) for line in below_header(text).splitlines())


def _showed_differences(text: str | None, exit_code: int | None, run: Command | None) -> bool:
    """A comparison that exits 1 and prints what differs worked.

    It stands alone on its line, but for what feeds it.
    """
    if run is None or exit_code != 1 or not run.simples or not (text or "").strip():
        return False
    *before, last = run.simples
    fed = [word for word in last.words if word.startswith("<(")]
    if not all(any(" ".join(one.words) in word for word in fed) for one in before):
        return False
    return not _names(last).isdisjoint(COMPARES)


def _showed_running_checks(text: str | None, exit_code: int | None, run: Command | None) -> bool:
    """A look at how CI goes that exits 8, lists checks that run on, and none that failed, worked."""
    if run is None or exit_code not in (8, None) or not run.simples or text is None:
        return False
    return run.simples[-1].check == "ci" and runs_on(text)


def runs_on(text: str) -> bool:
    """Whether a list of checks has one that runs on, and none that failed."""
    return "\tpending\t" in text and "\tfail\t" not in text


class NoFailure(NamedTuple):
    """A status of failure that is none; its test's docstring is its sentence."""

    rule: str
    confidence: float
    test: Callable[[str | None, int | None, Command | None], bool]


NO_FAILURE: tuple[NoFailure, ...] = (
    NoFailure("search-without-match", 0.9, _found_nothing),
    NoFailure("last-search-without-match", 0.85, _found_no_more),
    NoFailure("differences-shown", 0.85, _showed_differences),
    NoFailure(STILL_RUNS, 0.9, _showed_running_checks),
)


def looks_up(simple: Simple) -> bool:
    return not _names(simple).isdisjoint(LOOKUPS)


def _names(simple: Simple) -> frozenset[str]:
    """A command's row, and its first word."""
    return frozenset((simple.name, *simple.words[:1]))
