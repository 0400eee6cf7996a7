"""What does the whole come to? The trace's own fields, from its steps and the session's facts."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from forsy_retrace.events import Skipped
from forsy_retrace.sdk import Shows, strings
from forsy_retrace.times import order
from forsy_retrace.trace import Step, Trace

from .judging.ending import ending
from .summary.card import description_of, tags_of, title_of
from .summary.config import config_of, skills_of, tools_of
from .summary.facts import Told, objects, times, told_in, values
from .summary.final import final_output
from .summary.identity import id_of, trace_id
from .summary.lesson import lesson_of
from .summary.task import task_of


def summarise(trace: Trace, shows: Shows) -> Trace:
    """Task, configuration, ending, and the words of the dataset card."""
    end = ending(trace)
    told = told_in(trace)
    moments = [t for s in trace.steps for t in (s.started_at, s.ended_at) if t is not None]
    began = min(moments + _where_untimed(trace.steps[:1], told, "began"), default=None, key=order)
    ended = max(moments + _where_untimed(trace.steps[-1:], told, "ended"), default=None, key=order)
    if began is not None and ended is not None and order(ended) < order(began):
        ended = None  # a clock that ran backwards says nothing of the end
    trace = msgspec.structs.replace(
        trace,
        trace_id=id_of(trace.session, trace.adapter),
        prior_trace_id=_prior(trace),
        task=task_of(trace),
        agent_tools=tools_of(trace, told),
        started_at=began,
        ended_at=ended,
        skills=skills_of(trace, told),
        agent_config=config_of(trace, shows, told),
        learning=lesson_of(trace),
        termination_reason=end.reason,
        goal_achieved=end.goal.achieved,
        goal_notes=end.goal.notes,
        final_output=final_output(trace, told),
        facts={**_facts(trace, told), "goal_rule": end.goal.rule},
    )
    return msgspec.structs.replace(
        trace, title=title_of(trace), description=description_of(trace, shows), tags=tags_of(trace)
    )


def _where_untimed(at_the_end: Sequence[Step], told: Told, name: str) -> list[str]:
    """When the session began or ended by the log's own word, where the step there has no time."""
    is_timed = any(step.started_at or step.ended_at for step in at_the_end)
    return [] if is_timed else times(told, name)


def _prior(trace: Trace) -> str | None:
    before = trace.session.continues
    return trace_id(trace.adapter, before) if before else None


def _facts(trace: Trace, told: Told) -> dict[str, Any]:
    """What the manifest says beyond the format."""
    hidden = sum(
        isinstance(event, Skipped) and event.reason == "hidden reasoning"
        for event in trace.session.events
    )
    found: dict[str, Any] = {"hidden_reasoning": hidden}
    if shared := objects(told, "shared_prefix"):
        of = shared[0].get("of")
        found["shared_prefix"] = {
            "trace_id": trace_id(trace.adapter, of) if isinstance(of, str) and of else None,
            "records": shared[0].get("records"),
        }
    if ends := objects(told, "run_end"):
        found["run_end"] = ends[-1]
    if recovery := objects(told, "recovery"):
        found["recovery"] = recovery[0]
    if shown := list(dict.fromkeys(strings(values(told, "shows")))):
        found["shown"] = shown
    surfaces = Counter(step.surface for step in trace.steps if step.surface)
    found["surfaces"] = dict(sorted(surfaces.items()))
    return found
