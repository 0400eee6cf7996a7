"""What was asked for, in the words of who asked."""

from forsy_retrace.trace import Step, Trace, counted

from ..shells import SHELLS
from ..tools import RECORDING


def task_of(trace: Trace) -> str:
    """The first direct request, or the plan taken up before any, in its own words.

    Of a subagent whose log is all there is, the brief that it was started with.
    """
    humans = [step for step in trace.steps if step.action == "user_message"]
    asks = (s for s in humans if s.message_role == "direct_request" or s.via == "plan accepted")
    others = (
        s for s in humans if s.via not in ("answer", "rejection") and s.message_role not in REPLIES
    )
    first = next(asks, None) or next(others, None)
    if first is not None and first.input:
        return first.input
    if brief := next((fact.value for fact in trace.session.facts("brief") if fact.value), None):
        return str(brief)
    called = [_called(step) for step in trace.steps if step.call is not None]
    noun = called[0] if len(set(called)) == 1 else "tool call"
    return f"No request recorded: {counted(len(called), noun)}."


REPLIES = ("answer_to_agent_question", "selection", "approval")
"""Roles of messages that ask for nothing by themselves."""


def _called(step: Step) -> str:
    """What a call is, in words: a shell's line, all that a terminal showed, or any other."""
    if step.like in SHELLS:
        return "shell command"
    return step.like if step.like == RECORDING else "tool call"
