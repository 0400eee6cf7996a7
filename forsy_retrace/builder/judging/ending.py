"""How did it end, and was the goal reached? By evidence, else no."""

from typing import NamedTuple

from forsy_retrace.events import SHELL
from forsy_retrace.trace import Step, Trace

from ..finishes import finishes, gives_up
from ..outputs.failures import LATE
from ..words.messages import asks_nothing
from .admits import BLOCKED
from .close import Close, Goal, GoalRule
from .goal import RULES as OF_GOALS
from .goal import accepts, goal

BARE = GoalRule(
    "bare-commands", False, "a shell's history, whose commands do not tell what they were for."
)
RULES = (BARE, *OF_GOALS)
COMMANDS = "Commands alone: nothing in the log tells what they were for."
UNTOLD = "Commands and what they were for: nothing in the log tells whether that was reached."


class Ending(NamedTuple):
    """`termination_reason`, and whether the goal was reached."""

    reason: str
    goal: Goal


def ending(trace: Trace) -> Ending:
    """How the session ended, by its last steps."""
    steps = [s for s in trace.steps if s.origin is None or not s.origin.branch]
    if steps and all(s.actor == SHELL for s in steps):
        said = UNTOLD if any(s.reasoning for s in steps) else COMMANDS
        return Ending("other", BARE.gives(said))
    reason = _reason(steps, _is_done(trace))
    return Ending(reason, goal(Close(trace, steps, reason)))


def _reason(steps: list[Step], done: bool) -> str:
    if not steps:
        return "other"
    main = [s for s in steps if not s.actor.startswith("subagent")]
    if asks_nothing(main[-1] if main else steps[-1]):
        while main and asks_nothing(main[-1]):
            main.pop()
        if not main:
            return "other"
    last = main[-1] if main else steps[-1]
    if last.action == "user_message":
        return "user_confirmed_done" if _confirms(last, main) else "user_abandoned"
    if last.action == "error":
        return _by_error(last)
    if last.call is not None:
        return _by_call(last, done)
    if last.action != "output":
        return "partial_then_stopped"
    if last.operation == "ask_user" or BLOCKED.search((last.output or "")[-600:]):
        return "agent_blocked"
    human = next((s for s in reversed(main) if s.action == "user_message"), None)
    if human is not None and _confirms(human, main) and not _works_after(human, main):
        return "user_confirmed_done"
    return "task_complete"


def _confirms(step: Step, steps: list[Step]) -> bool:
    """Whether a message accepts the finished work, and asks for nothing more."""
    return step.message_role == "approval" and accepts(step, steps)


def _works_after(human: Step, main: list[Step]) -> bool:
    return any(s.step > human.step and s.call is not None for s in main)


LENGTHS = ("max_tokens", "length", "max_output_tokens", "model_length")
"""A harness's words for the length that one answer may have."""
CUTS = (*LENGTHS, "content_filter")
"""A harness's words for what stops one answer, and not the work."""


def _by_error(last: Step) -> str:
    if last.via == "interrupted" or (last.via == "limit" and last.output in CUTS):
        return "partial_then_stopped"
    if last.via == "limit" and LATE.search((last.output or "")[:400]):
        return "timeout"
    return "error_unrecoverable"


DONE = ("submitted", "completed")
"""A run's own writer on one that the agent ended: it handed its work in, or had no more to do."""


def _is_done(trace: Trace) -> bool:
    """Whether the run's own writer says that the agent ended it."""
    return any(
        isinstance(fact.value, dict) and str(fact.value.get("exit_status")).casefold() in DONE
        for fact in trace.session.facts("run_end")
    )


def _by_call(last: Step, done: bool) -> str:
    if (done or finishes(last)) and last.success is not False:
        return "task_complete"
    if last.result is not None and last.result.outcome == "timed_out":
        return "timeout"
    if gives_up(last) or (last.operation == "ask_user" and last.result is None):
        return "agent_blocked"
    return "partial_then_stopped"
