"""Whose steps stand behind an answer or a report, and in which order they were over."""

from collections.abc import Iterator, Sequence

from forsy_retrace.trace import Step, Trace

from ..classify import reports


class Heard:
    """Whose steps stand behind words: an answer's actor's own, a report's subagents'."""

    def __init__(self, trace: Trace) -> None:
        self.delegations = trace.delegations
        self.started: dict[int, list[str]] = {}
        for actor, start in trace.delegations.items():
            self.started.setdefault(start, []).append(actor)

    def by(self, step: Step) -> Sequence[str]:
        """The actors whose steps an answer or a report may repeat."""
        if not reports(step):
            return (step.actor,)
        return self.started.get(self.start(step) or 0, ())

    def start(self, report: Step) -> int | None:
        """The call that started what a report tells of."""
        return report.step if report.call else self.delegations.get(report.actor, report.answers)


def in_time(trace: Trace) -> Iterator[tuple[Step, bool]]:
    """Calls as they begin, and all steps as they are over: a call of subagents after their last."""
    last = {step.actor: step.step for step in trace.steps}
    ends: dict[int, int] = {}
    for actor, start in trace.delegations.items():
        ends[start] = max(ends.get(start, start), last.get(actor, start))
    waiting: dict[int, list[Step]] = {}
    for step in trace.steps:
        if step.call is not None:
            yield step, False
        waiting.setdefault(ends.get(step.step, step.step), []).append(step)
        for one in reversed(waiting.pop(step.step, [])):
            yield one, True


def over(trace: Trace) -> Iterator[Step]:
    """The steps in the order in which they were over."""
    return (step for step, is_over in in_time(trace) if is_over)


def tells(step: Step) -> bool:
    return step.action == "output" or reports(step)
