"""What the log says of the session, by name."""

from typing import Any

from forsy_retrace.events import Fact
from forsy_retrace.sdk import when
from forsy_retrace.trace import Trace

Told = dict[str, list[Fact]]
"""The session's facts by name."""


def told_in(trace: Trace) -> Told:
    """Every fact, in the order of the log."""
    found: Told = {}
    for event in trace.session.events:
        if isinstance(event, Fact):
            found.setdefault(event.name, []).append(event)
    return found


def values(told: Told, name: str) -> list[Any]:
    """What the facts of a name say."""
    return [fact.value for fact in told.get(name, ())]


def times(told: Told, name: str) -> list[str]:
    """When the log says that the whole began or ended, for where the step there has no time."""
    return [at for value in values(told, name) if (at := when(value)) is not None]


def objects(told: Told, name: str) -> list[dict[str, Any]]:
    """Those of them that are objects."""
    return [value for value in values(told, name) if isinstance(value, dict)]
