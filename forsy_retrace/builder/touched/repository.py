"""What Git's own lines say that a call did to a repository, here and at the other side."""

from collections.abc import Iterator
from re import Match, Pattern
from typing import NamedTuple

from forsy_retrace.commands import Command
from forsy_retrace.patterns import later
from forsy_retrace.trace import Step

from ..outputs.printed import bare_output
from .fixers import BY_GIT

COMMIT = later(r"(?m)^\[(?:detached HEAD|[^\]\s]+)(?: \([^)]*\))? ([0-9a-f]{7,40})\]")
"""Git's own line for a new commit: `[main 1a2b3c4] Subject`."""
CONFLICT = later(r"(?m)^CONFLICT \([^)\n]+\): Merge conflict in (.+)$")
"""Git's own line for a file in which it could not join two changes."""
GOES_ON = frozenset(["git rebase", "git merge", "git cherry-pick", "git revert"])
"""Commands of Git that commit what they bring."""


def committed(step: Step, run: Command) -> str:
    """The new commit that Git names; empty where it names none."""
    if "commit" not in run.normal and not any(one.name in GOES_ON for one in run.simples):
        return ""
    found = COMMIT.search(step.output or "")
    return f"A new commit: {found[1]}." if found else ""


def torn(step: Step, run: Command) -> Iterator[str]:
    """The files that Git left with marks of a conflict, or how many they are."""
    if BY_GIT.isdisjoint(simple.name for simple in run.simples):
        return
    if names := list(dict.fromkeys(CONFLICT.findall(step.output or ""))):
        told = " and ".join(names) if len(names) <= 2 else f"{len(names)} files"
        yield f"Git left {'a conflict' if len(names) == 1 else 'conflicts'} in {told}."


class Line(NamedTuple):
    """A line by which some of Git's commands say that they did something."""

    commands: tuple[str, ...]
    pattern: Pattern[str]
    sentence: str
    unless: Pattern[str] | None = None
    """What the output then may not hold."""
    is_bound: bool = False
    """It says what was begun: the line's exit status has to say that it was done."""


LINES = (
    Line(
        ("git pull", "git merge"),
        later(
            r"(?m)^Updating ([0-9a-f]{7,40})\.\.([0-9a-f]{7,40})\r?\nFast-forward(?!\r?\nSquash)"
        ),
        "The branch went from {0} to {1}.",
    ),
    Line(("git pull", "git merge"), later(r"(?m)^Merge made by "), "A merge was committed."),
    Line(
        ("git pull", "git rebase"),
        later(r"(?m)Successfully rebased and updated refs/heads/(\S+)\.\r?$"),
        "The branch {0} was rebased.",
    ),
    Line(
        ("git checkout", "git switch"),
        later(r"(?m)^Switched to (a new )?branch '([^'\n]+)'"),
        "Git switched to {0}branch {1}.",
    ),
    Line(
        ("git checkout", "git restore"),
        later(r"(?m)^Updated (\d+ paths? from [\w ]+?)\r?$"),
        "Git updated {0}.",
    ),
    Line(
        ("git reset", "git checkout", "git switch"),
        later(r"(?m)^HEAD is now at ([0-9a-f]{7,40})\b"),
        "HEAD is now at {0}.",
    ),
    Line(
        ("git stash",),
        later(r"(?m)^Saved working directory and index state "),
        "Changes were put on the stash.",
    ),
    Line(
        ("git stash",),
        later(r"(?m)^Dropped \S+ \(([0-9a-f]{7,40})\)"),
        "The stash entry {0} was dropped.",
    ),
    Line(
        ("git init",),
        later(r"(?m)^Initialized empty Git repository in (\S[^\n]*?)\r?$"),
        "A Git repository was made in {0}.",
    ),
    Line(
        ("git clone",),
        later(r"(?m)^Cloning into '([^'\n]+)'\.\.\."),
        "A repository was cloned into {0}.",
        later(r"(?m)^(?:fatal|error|\w+@\S+): |Permission denied|Killed|Terminated"),
        is_bound=True,
    ),
    Line(
        ("git branch",),
        later(r"(?m)^Deleted branch (\S+) \(was ([0-9a-f]{7,40})\)"),
        "The branch {0}, which was at {1}, was deleted.",
    ),
)


def told_by_git(step: Step, run: Command) -> Iterator[str]:
    """What Git says that commands of the call did here: what was fetched, then by the table."""
    names = _names(run)
    text = bare_output(step) if "git" in run.programs else ""
    if not names.isdisjoint(FETCHES) and (refs := [refs for _, refs in _moved(text, "From")]):
        yield f"Fetched: {', '.join(refs)}."
    bound = {one.name for one in run.simples[run.bound :]} if step.success else set[str]()
    rows = [row for row in LINES if not names.isdisjoint(row.commands)]
    rows = [row for row in rows if not (row.is_bound and bound.isdisjoint(row.commands))]
    rows = [row for row in rows if row.unless is None or not row.unless.search(text)]
    found = sorted(
        (one.start(), row.sentence, one) for row in rows for one in row.pattern.finditer(text)
    )
    for _, sentence, one in found[:MOST_SAID]:
        yield sentence.format(*(word or "" for word in one.groups()))


def pushed(step: Step, run: Command) -> Iterator[str]:
    """What Git says that a push did at the other side."""
    if step.success is not False and "git push" in _names(run):
        for there, refs in _moved(bare_output(step), "To"):
            yield f"At {there}: {refs}."


def _names(run: Command) -> set[str]:
    """The commands of a line, but those that only try."""
    return {one.name for one in run.simples if TRIES.isdisjoint(one.words)}


MOST_SAID = 8
TRIES = frozenset(["-n", "--dry-run"])
"""Flags with which a push or a fetch only shows what it would do."""
FETCHES = ("git fetch", "git pull")
"""Commands that learn how things stand at the other side."""
REF = later(
    r"(?m)^ (?P<how>[ +*-]) *(?:\[(?P<new>new (?:branch|tag))\]|\[(?P<gone>deleted)\]"
    r"|(?P<old>[0-9a-f]{7,40})\.{2,3}(?P<now>[0-9a-f]{7,40})) +(?:\S+ +-> +)?(?P<name>\S+)"
)
"""Git's own lines for what a push or a fetch did to each branch."""
SIDE = later(r"(?m)^(To|From) (\S+)\r?$")
"""How it heads those of one other side."""


def _moved(text: str, way: str) -> Iterator[tuple[str, str]]:
    """Each other side that something went to or came from, and what Git says of its branches."""
    _, *reports = SIDE.split(text)
    for how, there, below in zip(reports[::3], reports[1::3], reports[2::3], strict=True):
        if how == way and (refs := _refs(below)):
            yield there, refs


def _refs(text: str) -> str:
    return ", ".join([_ref(found) for found in REF.finditer(text)][:MOST_SAID])


def _ref(found: Match[str]) -> str:
    if found["new"]:
        return f"{found['name']} is a {found['new']}"
    if found["gone"]:
        return f"{found['name']} was deleted"
    forced = ", forced" if found["how"] == "+" else ""
    return f"{found['name']} went from {found['old']} to {found['now']}{forced}"
