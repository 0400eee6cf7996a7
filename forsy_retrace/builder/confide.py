"""How sure can a reader be that the trace tells what happened?

A table of facts that a log could have shown, each with its weight: what is missing is deducted in
proportion, and each deduction is listed. Removing evidence never raises the figure: a row counts
what is there against what the steps call for.
"""

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from forsy_retrace.events import Notice, Skipped, Thinking
from forsy_retrace.sdk import Shows
from forsy_retrace.trace import Deduction, Step, Trace

HIGHEST = 90
"""A trace made from a log never claims more."""


class Fact(NamedTuple):
    """A kind of fact, the points that it is worth, and the share of it that the log showed."""

    name: str
    points: float
    share: Callable[[Trace, Shows], float]
    why: str


def _calls(trace: Trace) -> list[Step]:
    return [step for step in trace.steps if step.call is not None]


def _part(good: int, whole: int) -> float:
    return good / whole if whole else 1.0


def _results(trace: Trace, shows: Shows) -> float:
    calls = _calls(trace)
    if not calls:
        return 0.0 if shows.results == "no" else 1.0
    return _part(sum(step.result is not None for step in calls), len(calls))


def _success(trace: Trace, shows: Shows) -> float:
    calls = _calls(trace)
    if not calls:
        return 0.0 if shows.exit_status == "no" else 1.0
    return _part(sum(step.success is not None for step in calls), len(calls))


def _words(trace: Trace, shows: Shows) -> float:
    return float(any(step.action == "user_message" for step in trace.steps))


def _times(trace: Trace, shows: Shows) -> float:
    return _part(sum(step.started_at is not None for step in trace.steps), len(trace.steps))


def _causes(trace: Trace, shows: Shows) -> float:
    """Causes that something in the log bears out, beyond the order of things."""
    calls = _calls(trace)
    shown = [s for s in calls if s.caused_by and s.grounds["caused_by"].rule != "position"]
    told = [s for s in calls if s.caused_by and s.grounds["caused_by"].grade == "derived"]
    return _part(len({s.step for s in (*shown, *told)}), len(calls))


def _reasoning(trace: Trace, shows: Shows) -> float:
    hidden = sum(
        isinstance(event, Skipped) and event.reason == "hidden reasoning"
        for event in trace.session.events
    )
    seen = sum(isinstance(event, Thinking) for event in trace.session.events)
    if not hidden and not seen:
        heads = [s for s in _calls(trace) if s.parallel_group is None]
        return _part(sum(s.reasoning is not None for s in heads), len(heads))
    return _part(seen, seen + hidden)


def _readable(trace: Trace, shows: Shows) -> float:
    records = {event.origin.evidence.record for event in trace.session.events}
    broken = {
        event.origin.evidence.record
        for event in trace.session.events
        if isinstance(event, Skipped) and event.reason.startswith("unreadable")
    }
    return _part(len(records) - len(broken), len(records))


def _subagents(trace: Trace, shows: Shows) -> float:
    started = [s.step for s in _calls(trace) if s.tool in ("Task", "Agent") and s.success]
    logged = set(trace.delegations.values())
    return _part(sum(step in logged for step in started), len(started))


def _uncompacted(trace: Trace, shows: Shows) -> float:
    cuts = sum(
        isinstance(event, Notice) and event.kind == "compacted" for event in trace.session.events
    )
    return 1 / (1 + cuts)


FACTS: tuple[Fact, ...] = (
    Fact("words", 12, _words, "no human words in the log"),
    Fact("results", 24, _results, "calls without a result"),
    Fact("success", 18, _success, "calls whose outcome the log does not tell"),
    Fact("times", 8, _times, "steps without a time"),
    Fact("causes", 10, _causes, "causes that only the order of the steps suggests"),
    Fact("reasoning", 8, _reasoning, "reasoning that the log hides or lacks"),
    Fact("readable", 10, _readable, "records that could not be read"),
    Fact("subagents", 6, _subagents, "subagents without a log of their own"),
    Fact("compaction", 4, _uncompacted, "history that the agent saw only in summary"),
)
"""Every row, with the points that it can cost; the rest of the 90 is what any log keeps."""


def confide(trace: Trace, shows: Shows) -> Trace:
    """The confidence of the trace, and what was deducted for what."""
    deductions = []
    for fact in FACTS:
        lost = fact.points * (1 - fact.share(trace, shows))
        if lost >= 0.05:
            deductions.append(Deduction(fact.name, round(lost, 1), fact.why))
    total = HIGHEST - sum(deduction.points for deduction in deductions)
    figure = max(0, int(total)) if trace.steps else 0
    ordered = tuple(sorted(deductions, key=lambda d: (-d.points, d.name)))
    return msgspec.structs.replace(trace, confidence=figure, deductions=ordered)
