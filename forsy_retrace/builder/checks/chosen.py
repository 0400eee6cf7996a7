"""Which tests did a run choose by their names, and does an edit touch none but others?"""

from collections.abc import Iterable
from itertools import chain

from forsy_retrace.commands import Command
from forsy_retrace.patterns import later
from forsy_retrace.trace import Touch

from ..touched.replaced import before_of

CHOOSES = frozenset(["-run", "-k"])
"""Options of Go and pytest that choose tests by parts of their names."""
PLAIN = later(r"[\w|^$/]+|\w+(?: or \w+)*")
"""A choice in which no sign stands for any letters."""
ADDED = later(r"(?m)^(?:func (?P<go>\w+)\(|[ \t]*(?:async )?def (?P<py>\w+)\()")
MARGIN = later(r"[^\s)]")
"""A line that begins at the margin; the bracket of a long head of a function does not count."""
TEST = later(r"(?!TestMain\b)(?:Test|Benchmark|Fuzz|Example|test_)\w*")


def chosen_by(runs: Iterable[Command]) -> frozenset[str]:
    """The parts of names by which runs of tests choose; empty where one chooses otherwise, or all."""
    limits = [one.limits for run in runs for one in run.simples if one.check == "tests"]
    found = [
        value for held in limits for flag, values in held if flag in CHOOSES for value in values
    ]
    if len(found) != len(limits) or not all(map(PLAIN.fullmatch, found)):
        return frozenset()
    parts = chain.from_iterable(map(_parts, found))
    return frozenset(part.split("/")[0].strip("^$") for part in parts)


def chooses_as_much(choice: str, other: str) -> bool:
    """Whether a run that chooses by names takes all tests that another choice takes."""
    if not (PLAIN.fullmatch(choice) and PLAIN.fullmatch(other)):
        return choice == other
    parts, asked = _parts(choice), _parts(other)
    return all(any(_holds(part, name) for part in parts) for name in asked)


def _parts(choice: str) -> list[str]:
    return choice.replace(" or ", "|").split("|")


def _holds(part: str, name: str) -> bool:
    """A part of a name, unless it is tied to the name's beginning or end."""
    return part in name if part == part.strip("^$") else part == name


def tests_in(touches: Iterable[Touch]) -> frozenset[str]:
    """The tests that an edit adds or changes; none where it may do anything beside that."""
    names = set[str]()
    for touch in touches:
        found = _added(touch) or _changed(touch)
        if not found or not all(map(TEST.fullmatch, found)):
            return frozenset()
        names.update(found)
    return frozenset(names)


def _added(touch: Touch) -> list[str]:
    """The functions that an edit adds, where it removes nothing."""
    if touch.removed:
        return []
    text = touch.new if touch.kind == "write" and touch.new else "\n".join(touch.added)
    return [one["go"] or one["py"] for one in ADDED.finditer(text)]


def _changed(touch: Touch) -> list[str]:
    """The functions inside which the lines of an edit stand, where the log holds the file before.

    None where one stands outside of them, or begins at the margin, as what is no part of one does.
    """
    before = before_of(touch.change)
    if before is None or touch.change is None:
        return []
    lines = before.split("\n")
    found: list[str] = []
    for hunk in touch.change.hunks:
        at = hunk.old_start
        for line in hunk.lines if hunk.is_placed else ("+?",):
            if line[:1] in ("+", "-"):
                name = "" if MARGIN.match(line, 1) else _around(lines, at - (line[0] == "+"))
                if not name:
                    return []
                found.append(name)
            at += line[:1] != "+"
    return found


def _around(lines: list[str], at: int) -> str:
    """The function at the margin whose body holds a line (from 1); empty where there is none."""
    head = next(filter(MARGIN.match, reversed(lines[:at])), "")
    found = ADDED.match(head)
    return (found["go"] or found["py"]) if found else ""


def are_others(names: frozenset[str], chosen: frozenset[str]) -> bool:
    """Whether tests have names of which none holds a part that a run chose by."""
    return bool(names and chosen) and not any(part in name for name in names for part in chosen)
