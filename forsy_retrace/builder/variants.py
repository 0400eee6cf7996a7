"""Which message takes the place of which? For logs that keep what was edited or generated again.

An adapter says it with a Fact `replaces` (`{"kind": "edited" or "regenerated", "message": id}`) on
the first message of the later line. Where a branch begins, or does not go on from its last message, a
Fact `follows` (`{"message": id}`, None for nothing) says from which it does. A Fact `beside` on a
branch says in words why it stands beside the visible line, though the user did not go back on it.
"""

import difflib
from collections.abc import Callable
from copy import copy
from typing import Generic, NamedTuple, TypeVar

from forsy_retrace.events import Fact, Message, Origin, Thinking, ToolCall
from forsy_retrace.trace import Step, Trace

from .rule import SURE, Rule

NEAR = 0.5
"""Two versions of a message less alike than this ask for different things."""
SOON = 600.0
"""Seconds within which nine of ten edits were made."""
COMPARED = 2000


REGENERATED = Rule(
    "regenerated", "The answer generated in place of an earlier one to the same message."
)
EDITED = Rule(
    "edited-message",
    "A message edited in place of an earlier one, near enough to ask the same; surer within ten minutes.",
    0.6,
    0.9,
)
RULES = (REGENERATED, EDITED)


class Variant(NamedTuple):
    """The step that another was written in place of, by which rule, how surely."""

    step: int
    rule: Rule
    sure: float


def variants(trace: Trace) -> dict[int, Variant]:
    """Step to the earlier step that it takes the place of; resent and other questions do not."""
    facts = trace.session.facts("replaces")
    by_message = steps_by_message(trace) if facts else {}
    found: dict[int, Variant] = {}
    for fact in facts:
        message, value = fact.origin.message, fact.value
        if not isinstance(value, dict):
            continue
        new, old = (by_message.get(str(one)) for one in (message, value.get("message")))
        if new is None or old is None or old.step >= new.step or new.step in found:
            continue
        rule = EDITED if value.get("kind") == "edited" else REGENERATED
        sure = _sureness(old, new) if rule is EDITED else SURE
        if sure:
            found[new.step] = Variant(old.step, rule, sure)
    return found


def forks(trace: Trace) -> dict[int, int]:
    """The first step of each line to the step from which the line goes on; 0 for none."""
    if not trace.session.facts("follows"):
        return {}
    by_place = _by_place(trace)
    behind: dict[str, int] = {}
    """The last step that stood on a message's line behind the message."""
    ends: dict[str, int] = {}
    """The last step of each branch."""
    begun: set[str] = set()
    found: dict[int, int] = {}
    for event in trace.session.events:
        branch, message = event.origin.branch, event.origin.message
        match event:
            case Fact(name="follows", value={"message": above}):
                ends[branch] = behind.get(above, 0) if isinstance(above, str) else 0
                begun.add(branch)
                continue
            case Fact():
                continue
        if event.origin in by_place:
            step = by_place[event.origin].step
            if branch in begun:
                begun.remove(branch)
                found[step] = ends[branch] if ends[branch] < step else 0
            ends[branch] = step
        if message is not None:
            behind[message] = ends.get(branch, ends.get("", 0))
    return found


State = TypeVar("State")


class Lines(Generic[State]):
    """What is known on each line of a conversation; a new line knows what the one knew that it left.

    `of` gives the state before a step, to be kept up to date; `end` tells that it is.
    """

    def __init__(self, trace: Trace, start: Callable[[], State]) -> None:
        self.start = start
        self.forks = forks(trace)
        self.left = set(self.forks.values())
        self.states: dict[str, State] = {}
        """The state of each branch."""
        self.after: dict[int, State] = {}
        """The state behind each step from which another line goes on."""

    def of(self, step: Step) -> State:
        branch, above = branch_of(step), self.forks.get(step.step)
        if above is not None:
            self.states[branch] = copy(self.after[above]) if above in self.after else self.start()
        elif branch not in self.states:
            self.states[branch] = copy(self.states[""]) if "" in self.states else self.start()
        return self.states[branch]

    def end(self, step: Step) -> None:
        if step.step in self.left:
            self.after[step.step] = copy(self.states[branch_of(step)])


def beside(trace: Trace) -> set[str]:
    """The branches that nobody left: another choice of a reply, or an answer shown beside one."""
    told = {fact.origin.branch for fact in trace.session.facts("beside")}
    return told - {branch_of(step) for step in trace.steps if step.action == "user_message"}


def left(trace: Trace) -> dict[str, list[tuple[int, int]]]:
    """Branch to what was typed or generated anew: the step on it, and the one in its place."""
    found: dict[str, list[tuple[int, int]]] = {}
    for step in trace.steps:
        old = step.retry_of
        if old is None:
            continue
        again = step.action == "user_message" or step.grounds["retry_of"].rule == REGENERATED.name
        if again and branch_of(trace.steps[old - 1]):
            found.setdefault(branch_of(trace.steps[old - 1]), []).append((old, step.step))
    return {branch: sorted(pairs) for branch, pairs in found.items()}


def branch_of(step: Step) -> str:
    return step.origin.branch if step.origin else ""


def steps_by_message(trace: Trace) -> dict[str, Step]:
    """The step that each message became, or became a part of."""
    by_place = _by_place(trace)
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


def thumbs(trace: Trace) -> dict[int, Fact]:
    """Step to the thumb that the user gave it."""
    given = trace.session.facts("thumb")
    by_message = steps_by_message(trace) if given else {}
    found = {}
    for fact in given:
        step = by_message.get(fact.origin.message or "")
        if step is not None and isinstance(fact.value, dict):
            found[step.step] = fact
    return found


def _by_place(trace: Trace) -> dict[Origin, Step]:
    found: dict[Origin, Step] = {}
    for step in trace.steps:
        if step.origin is not None:
            found.setdefault(step.origin, step)
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
