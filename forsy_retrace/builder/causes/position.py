"""What had an actor just received when a step began? The order of the steps tells no more."""

from collections.abc import Sequence
from typing import NamedTuple

from forsy_retrace.trace import Step, steps_named

from ..rule import SURE, Rule
from ..tools import AGENT_TOOLS

BEHIND_RESULTS, BEHIND_WORDS = 0.7, 0.6
"""How sure what was just received is the cause, where only the order of the steps speaks for it."""
POSITION = Rule(
    "position",
    "What the actor had just received, or the call whose code made this one; derived behind a message or a brief.",
    BEHIND_WORDS,
    SURE,
)
BY_ROLE = {
    "answer_to_agent_question": "answer_to_agent_question",
    "selection": "answer_to_agent_question",
    "correction": "correction_response",
    "approval": "approval_response",
}
"""A user message's role to the type of the step that it causes."""
SAID = {
    "answer_to_agent_question": "answered",
    "selection": "chose",
    "approval": "approved",
    "correction": "corrected the work",
    "status_update": "told how it went",
    "clarification": "explained",
    "other": "wrote",
}
"""What a user did with a message of that role; with any other they asked."""


class Position(NamedTuple):
    """Causes by what an actor had just received, and how surely."""

    causes: Sequence[int] = ()
    kind: str | None = None
    note: str = ""
    sure: float = SURE


def asked(asker: Step, *, is_first: bool) -> Position:
    """Behind a message that the actor has yet to act on."""
    kind = BY_ROLE.get(asker.message_role or "", "follow_up_user_request")
    if is_first:
        kind = "user_request"
    did = SAID.get(asker.message_role or "", "asked")
    return Position([asker.step], kind, f"The user {did} in step {asker.step}.")


def received(step: Step, batch: Sequence[Step]) -> Position:
    """Behind the results of a batch of calls, or the words of other actors."""
    came_in = [one.step for one in batch]
    if all(one.action == "output" and one.via != "notification" for one in batch):
        return Position()  # a turn had ended: what began the next is not in the log
    if all(one.call is None for one in batch):
        reports = any(one.via == "notification" for one in batch)
        kind = "used_subagent_result" if reports else "other"
        return Position(came_in, kind, f"Follows {steps_named(came_in)}.", BEHIND_WORDS)
    agents = [one.step for one in batch if one.like in AGENT_TOOLS and one.success]
    if step.actor.startswith("subagent"):
        kind = "delegated_work"
    elif agents:
        kind = "used_subagent_result"
    elif len(came_in) == 1:
        kind = "dependency_on_tool_result"
    else:
        kind = "dependency_on_multiple_prior_steps"
    came = [one.step for one in batch if one.result is not None]
    lost = [one.step for one in batch if one.result is None]
    if not came:
        kind = kind if kind == "delegated_work" else "other"
        return Position(came_in, kind, f"Follows {steps_named(came_in)}.", BEHIND_WORDS)
    word = "result" if len(came) == 1 else "results"
    also = f"{steps_named(lost)} and " if lost else ""
    note = f"Follows {also}the {word} of {steps_named(came)}."
    return Position(came_in, kind, note, BEHIND_RESULTS)
