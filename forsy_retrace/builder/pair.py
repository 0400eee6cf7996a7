"""Which result answers which call? By id, never by what stands next to it."""

import msgspec

from forsy_retrace.events import ToolResult
from forsy_retrace.evidence import Evidence, derived
from forsy_retrace.sdk import mark_of
from forsy_retrace.times import order
from forsy_retrace.trace import Step, Trace, put

from .copied import PICTURES, copied, moment
from .rule import Rule

TOGETHER = Rule("same-message", "Calls that one message issued are parallel.")
AT_ONCE = Rule("ran-at-once", "So are calls of which one began before the record of another's end.")
RULES = (TOGETHER, AT_ONCE)


def pair(trace: Trace) -> Trace:
    """Each call with its result, its exact output and its end; calls of one message together."""
    results: dict[str, ToolResult] = {}
    for event in trace.session.events:
        if isinstance(event, ToolResult):
            results.setdefault(event.call, event)
    steps = [_answered(step, results) for step in trace.steps]
    return msgspec.structs.replace(trace, steps=tuple(_grouped(steps)))


def _answered(step: Step, results: dict[str, ToolResult]) -> Step:
    result = results.get(step.call.call) if step.call else None
    if result is None:
        return step
    here, output = result.origin, result.output
    ground = copied(here)
    if here.pieces and result.attachments:
        ground = PICTURES.ground(*here.pieces)
    # What lies in a file beside the log is all of an output that was cut, and nobody saw it.
    seen = [one for one in result.attachments if one.pointer.startswith("/")]
    marks = [mark_of(one.media, one.size) for one in seen]
    if unsaid := [mark for mark in marks if mark not in (output or "")]:
        output = "\n".join([output.rstrip("\n"), *unsaid] if output else unsaid)
        ground = PICTURES.ground(here.evidence)
    grounds = {} if output is None else {"output": ground}
    ended = here.at
    if ended is not None and step.started_at is not None and order(ended) < order(step.started_at):
        ended = None  # a clock that ran backwards says nothing of the end
    if ended is not None:
        by = result.ended_by
        grounds["ended_at"] = derived(by, here.evidence.at("")) if by else moment(here)
    return put(step, grounds, result=result, output=output, ended_at=ended)


def _grouped(steps: list[Step]) -> list[Step]:
    """Calls that one message issued are parallel; so are those that ran at once.

    What code makes while it runs is neither: nobody issued it beside the code.
    """
    batches: list[list[int]] = []
    latest: dict[tuple[str, str], list[int]] = {}
    for index, step in enumerate(steps):
        if step.call is None or step.origin is None or step.call.made_by:
            continue
        batch = latest.get((step.actor, step.origin.branch), [])
        if not any(
            issued_together(steps[one], step) or ends_behind(steps[one], step) for one in batch
        ):
            batch = latest[step.actor, step.origin.branch] = []
            batches.append(batch)
        batch.append(index)
    number = 0
    for batch in batches:
        if len(batch) < 2:
            continue
        number += 1
        together = all(issued_together(steps[batch[0]], steps[index]) for index in batch)
        for index in batch:
            rule = TOGETHER if together else AT_ONCE
            ground = {"parallel_group": rule.ground(steps[index].origin.evidence)}  # type: ignore[union-attr]  # calls have an origin
            steps[index] = put(
                steps[index],
                ground,
                execution_mode="parallel",
                parallel_group=f"pg_{number:03d}",
            )
    return [
        step
        if step.execution_mode or step.actor == "user"
        else put(step, {}, execution_mode="serial")
        for step in steps
    ]


def issued_together(one: Step, other: Step) -> bool:
    """Whether one message of the agent issued both calls."""
    if one.call is None or one.origin is None or other.origin is None or not one.origin.message:
        return False
    return one.actor == other.actor and one.origin.message == other.origin.message


def ends_behind(call: Step, step: Step) -> bool:
    """Whether a call's result stands behind the record that another step came with.

    Rows of a database may stand in any order: one that had ended by then does not count.
    """
    if call.result is None or step.origin is None:
        return False
    if call.ended_at and step.started_at and order(call.ended_at) < order(step.started_at):
        return False
    end, here = call.result.origin, step.origin.evidence
    return all(_is_later(place, here) for place in end.pieces or (end.evidence,))


def _is_later(one: Evidence, other: Evidence) -> bool:
    """Whether a place stands behind another of the same file."""
    if one.file != other.file:
        return False
    return one.start > other.start if one.start != other.start else _is_behind(one, other)


def _is_behind(one: Evidence, other: Evidence) -> bool:
    """Whether a place stands in a later item of the list, where a log is one record."""
    for first, second in zip(one.pointer.split("/"), other.pointer.split("/"), strict=False):
        if first != second:
            return first.isdigit() and second.isdigit() and int(first) > int(second)
    return False
