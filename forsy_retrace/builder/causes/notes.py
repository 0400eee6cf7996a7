"""How a step's note tells of its causes."""

from collections.abc import Mapping

from forsy_retrace.events import SHELL
from forsy_retrace.patterns import later
from forsy_retrace.trace import Check, Step, edits_named, shortened, steps_named

from ..outputs.begun import no_test_ran
from .source import Source


def came_from(source: Source, step: Step) -> str:
    told = source.told.format(source.step)
    said = _quoted(source.value, step) if source.is_quoted else source.value.capitalize()
    return f"{said} {told}."


LONGEST = 120
"""Letters of a value that a note quotes."""
HERE = later(r"^(?:\.{1,2}/)+")
"""How a path begins that starts at a folder of its own: another step may start elsewhere."""


def _quoted(value: str, step: Step) -> str:
    """A value as the call says it: a path from its first slash, not from where it stands."""
    said = step.input or ""
    at = said.find(value) if "/" in value else -1
    if at > 0:
        first = at
        while first and said[first - 1] in "/.~":
            first -= 1
        if not said[first - 1 : first].isalnum():  # else the end of a longer path
            value = HERE.sub("", said[first:at]) + value
    return f"`{shortened(value, LONGEST)}`"


def attempts(step: Step, before: Step) -> str:
    if step.actor == SHELL and before.success is None:
        return f"May attempt step {before.step} again; nothing tells whether that had failed."
    return f"Attempts step {before.step} again."


def checks(check: Check, step: Step) -> str:
    return f"Checks the edits of {edits_named(check)} ({check.kind}{_untested(check, step)})."


def _untested(check: Check, step: Step) -> str:
    """What a note adds to the kind of a check that is not known to test all of its edits."""
    if check.kind == "tests" and check.passed is None and no_test_ran(step.printed):
        return "; none was carried out"
    if not check.untested:
        return ""
    return f", not known to test {steps_named(check.untested) if check.over else 'them'}"


def under_plan(items: Mapping[str, int]) -> str:
    """Under which plan items a call is made."""
    since = steps_named(sorted(set(items.values())))
    told = f"Works under the plan item{'s' * (len(items) > 1)}"
    return f"{told} in progress since {since}."
