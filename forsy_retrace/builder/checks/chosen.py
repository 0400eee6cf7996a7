"""Which tests did a run choose by their names, and does an edit add none but others?"""

from collections.abc import Iterable
from itertools import chain

from forsy_retrace.commands import Command
from forsy_retrace.patterns import later
from forsy_retrace.trace import Touch

CHOOSES = frozenset(["-run", "-k"])
"""Options of Go and pytest that choose tests by parts of their names."""
PLAIN = later(r"[\w|^$/]+|\w+(?: or \w+)*")
"""A choice in which no sign stands for any letters."""
ADDED = later(r"(?m)^(?:func (?P<go>\w+)\(|[ \t]*(?:async )?def (?P<py>\w+)\()")
TEST = later(r"(?:Test|Benchmark|Fuzz|Example|test_)\w*")


def chosen_by(runs: Iterable[Command]) -> frozenset[str]:
    """The parts of names by which runs of tests choose; empty where one chooses otherwise, or all."""
    limits = [one.limits for run in runs for one in run.simples if one.check == "tests"]
    found = [
        value for held in limits for flag, values in held if flag in CHOOSES for value in values
    ]
    if len(found) != len(limits) or not all(map(PLAIN.fullmatch, found)):
        return frozenset()
    parts = chain.from_iterable(one.replace(" or ", "|").split("|") for one in found)
    return frozenset(part.split("/")[0].strip("^$") for part in parts)


def tests_added(touches: Iterable[Touch]) -> frozenset[str]:
    """The tests that an edit adds; none where it changes or adds anything beside them."""
    names = set[str]()
    for touch in touches:
        if touch.removed:
            return frozenset()
        text = touch.new if touch.kind == "write" and touch.new else "\n".join(touch.added)
        found = [one["go"] or one["py"] for one in ADDED.finditer(text)]
        if not found or not all(map(TEST.fullmatch, found)):
            return frozenset()
        names.update(found)
    return frozenset(names)


def are_others(names: frozenset[str], chosen: frozenset[str]) -> bool:
    """Whether tests have names of which none holds a part that a run chose by."""
    return bool(names and chosen) and not any(part in name for name in names for part in chosen)
