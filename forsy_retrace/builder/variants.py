"""Which message takes the place of which? For logs that keep what was edited or generated again.

An adapter says it with a Fact `replaces` (`{"kind": "edited" or "regenerated", "message": id}`) on
the first message of the later line.
"""

import difflib
from typing import NamedTuple

from forsy_retrace.events import Fact, Message, Origin, Thinking, ToolCall
from forsy_retrace.trace import Step, Trace

NEAR = 0.5
"""Two versions of a message less alike than this ask for different things."""
SOON = 600.0
"""Seconds within which nine of ten edits were made."""
COMPARED = 2000


class Variant(NamedTuple):
    """The step that another was written in place of, by which rule, how surely."""

    step: int
    rule: str
    confidence: float


def variants(trace: Trace) -> dict[int, Variant]:
    """Step to the earlier step that it takes the place of; resent and other questions do not."""
    facts = [
        (event.origin.message, event.value)
        for event in trace.session.events
        if isinstance(event, Fact) and event.name == "replaces"
    ]
    if not facts:
        return {}
    by_message = steps_by_message(trace)
    found: dict[int, Variant] = {}
    for message, value in facts:
        if not isinstance(value, dict):
            continue
        new, old = (by_message.get(str(one)) for one in (message, value.get("message")))
        if new is None or old is None or old.step >= new.step or new.step in found:
            continue
        sure = _sureness(old, new) if value.get("kind") == "edited" else 1.0
        if sure:
            found[new.step] = Variant(old.step, str(value.get("kind")), sure)
    return found


def steps_by_message(trace: Trace) -> dict[str, Step]:
    """The step that each message became, or became a part of."""
    by_place: dict[Origin, Step] = {}
    for step in trace.steps:
        if step.origin is not None:
            by_place.setdefault(step.origin, step)
    found: dict[str, Step] = {}
    held: list[str] = []
    for event in trace.session.events:
        if not isinstance(event, Message | Thinking | ToolCall):
            continue
        held.append(event.origin.message or "")
        here = by_place.get(event.origin)
        if here is not None:
            for message in held:
                found.setdefault(message, here)
            held = []
    return found


def _sureness(old: Step, new: Step) -> float:
    """How surely an edited message asks the same again; 0 where it does not, or is resent."""
    before, after = (step.input or "" for step in (old, new))
    if before == after:
        return 0.0
    match = difflib.SequenceMatcher(None, before[:COMPARED], after[:COMPARED], autojunk=False)
    alike = match.ratio()
    if alike < NEAR:
        return 0.0
    return round((0.9 if alike > 0.8 else 0.7) - (0.0 if _soon(old, new) else 0.1), 2)


def _soon(old: Step, new: Step) -> bool:
    from datetime import datetime

    if old.started_at is None or new.started_at is None:
        return True
    gap = datetime.fromisoformat(new.started_at) - datetime.fromisoformat(old.started_at)
    return abs(gap.total_seconds()) <= SOON
