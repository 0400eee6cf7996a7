"""Whether the goal was reached, and what tells that."""

from bisect import bisect_left
from collections.abc import Sequence

from forsy_retrace.events import Fact
from forsy_retrace.trace import Step

from ..finishes import finishes, gives_up
from ..variants import thumbs
from ..words.message_rules import GREETS, PERMITTED
from ..words.messages import asks_nothing
from .admits import BLOCKED, said, speaks_of_failure
from .checked import RULES as OF_CHECKS
from .checked import UNANSWERED, by_checks
from .close import Close, Goal, GoalRule

GRADED = GoalRule(
    "grader-passed",
    True,
    "a grader outside of the session gave the full reward (Fact `reward`); it outranks every other rule.",
)
DEGRADED = GoalRule(
    "grader-failed", False, "a grader outside of the session gave less than the full reward."
)
TAKEN = GoalRule(
    "flag-taken",
    True,
    "the harness of a challenge took the last flag that the agent handed in (Fact `flag`).",
)
REFUSED = GoalRule("flag-refused", False, "the harness refused that flag.")
STOPPED = GoalRule(
    "stopped", False, "an error, a timeout, a question left open or a cut ended the session."
)
ABANDONED = GoalRule("unanswered", False, "the last message has no answer.")
APPROVED = GoalRule(
    "user-approved",
    True,
    "the user approved the result after the last edit and any correction, and no later turn ended on a call, or its last act, that failed.",
)
DISLIKED = GoalRule("thumb-down", False, "the user gave an answer that stands a thumbs down.")
WENT_ON = GoalRule(
    "went-on", True, "questions alone, each answered, and the user went on without objecting."
)
UNCONFIRMED = GoalRule("unconfirmed", False, "an answer that nothing checked and nobody accepted.")
RULES = (
    *(GRADED, DEGRADED, TAKEN, REFUSED, STOPPED, ABANDONED, APPROVED),
    *OF_CHECKS,
    *(DISLIKED, WENT_ON, UNCONFIRMED),
)
"""In the order in which they are asked; the first that holds says whether the goal was reached."""


def goal(close: Close) -> Goal:
    """True only with evidence: a grader, an approval, a passed check, a taken answer."""
    return (
        _by_grader(close)
        or _by_flag(close)
        or _by_reason(close)
        or _by_approval(close)
        or by_checks(close)
        or _by_answers(close)
    )


MOST = 1e9
"""No grader gives a reward so great."""


def _by_grader(close: Close) -> Goal | None:
    """What a grader outside of the session found, where its word lies beside the log."""
    for event in close.trace.session.events:
        match event:
            case Fact(name="reward", value=int() | float() as reward) if abs(reward) < MOST:
                if reward == 1:
                    return GRADED.gives("The grader gave the full reward of 1.")
                return DEGRADED.gives(f"The grader gave a reward of {reward:g}, not 1.")
    return None


def _by_flag(close: Close) -> Goal | None:
    """What the harness of a challenge made of the last flag that the agent handed in."""
    words = [fact.value for fact in close.trace.session.facts("flag")]
    handed = [step.step for step in close.steps if finishes(step)] if words else []
    if not handed:
        return None
    if words[-1] == "taken":
        return TAKEN.gives(f"The harness took the flag of step {handed[-1]} and ended the run.")
    return REFUSED.gives(f"The harness refused the flag of step {handed[-1]}.")


STOPS = {
    "error_unrecoverable": "The session ended on an error of the model or the harness",
    "timeout": "The session ended on a time-out",
    "partial_then_stopped": "The work stopped in the middle of a turn",
}
"""What is said of a session that something stopped."""


def _by_reason(close: Close) -> Goal | None:
    """An end in the middle of the work."""
    if not close.steps:
        return None
    last = close.steps[-1]
    if close.reason == "user_abandoned":
        asked = next((s for s in reversed(close.humans) if not asks_nothing(s)), last)
        return ABANDONED.gives(f"The last message (step {asked.step}) has no answer.")
    how = _blocked(last) if close.reason == "agent_blocked" else STOPS.get(close.reason)
    return STOPPED.gives(f"{how} (step {last.step}).") if how else None


def _blocked(last: Step) -> str:
    """How the agent came to a stop."""
    if last.operation == "ask_user":
        return "The agent's last words wait for the user"
    return (
        "The agent gave up" if gives_up(last) else "The agent's last words say that it can't go on"
    )


def _by_approval(close: Close) -> Goal | None:
    """A message that accepts the result, behind the last edit and any correction."""
    edit, correction = close.last_edit, close.correction
    approval = next((s for s in reversed(close.humans) if accepts(s, close.steps)), None)
    if (
        approval is None
        or _asks_for_more(approval, close)
        or (edit is not None and approval.step <= edit.step)
        or (correction is not None and approval.step <= correction.step)
        or _fails_after(approval, close)
    ):
        return None
    return APPROVED.gives(f"The user accepted the result in step {approval.step}.")


def _asks_for_more(approval: Step, close: Close) -> bool:
    """Whether an approval came with another request, and speaks for no files or for not the last."""
    return approval.message_role == "direct_request" and (
        close.last_edit is None
        or any(
            s.step > approval.step and s.success and s.operation in ("edit", "write")
            for s in close.steps
        )
    )


def _fails_after(approval: Step, close: Close) -> bool:
    """Whether the closing words behind an approval speak of a failure, or a turn's last call failed.

    Or the last that was for more than to look.
    """
    later = [s for s in close.steps if s.step > approval.step and s.call is not None]
    last = {s.turn: s for s in later}
    acted = {s.turn: s for s in later if s.operation not in LOOKS}
    if any(s.success is False for s in (*last.values(), *acted.values())):
        return True
    closing = close.closing
    return closing is not None and closing.step > approval.step and speaks_of_failure(said(closing))


def accepts(step: Step, steps: Sequence[Step]) -> bool:
    """Whether a message accepts finished work: no plan, nor what was only proposed or offered."""
    if step.feedback_type != "approval" or step.via in ("plan accepted", "rejection"):
        return False
    if _is_by(step, PERMITTED):
        return False
    first, end = (bisect_left(steps, turn, key=_turn) for turn in (step.turn - 1, step.turn))
    before = [s for s in steps[first:end] if s.action != "user_message"]
    is_question = bool(before) and before[-1].operation == "ask_user"
    return not is_question or any(map(_has_effects, before))


def _is_by(step: Step, rule: str) -> bool:
    """Whether a message is what it is by that rule."""
    ground = step.grounds.get("message_role")
    return ground is not None and ground.rule == rule


def _turn(step: Step) -> int:
    return step.turn


LOOKS = ("read", "search", "plan", "other")
"""Operations after which a failure before them still stands."""
EFFECTS = ("write", "edit", "install", "download")


def _by_answers(close: Close) -> Goal:
    """A question counts as answered where a person went on without objecting."""
    trace, closing = close.trace, close.closing
    if closing is None:
        return UNANSWERED.gives("The log ends without an answer.")
    if disliked := _disliked(close):
        return DISLIKED.gives(f"The user gave step {disliked} a thumbs down.")
    before = [s for s in close.humans if s.step < closing.step and not _is_by(s, GREETS)]
    goes_on = trace.marks_people and len(before) > 1 and close.correction is None
    changes = any(touch.kind != "read" for touch in trace.touches)
    if goes_on and not changes and _only_answers(close.steps, before, closing):
        last = f"(step {before[-1].step})"
        return WENT_ON.gives(
            f"Each message was answered; the user went on without objecting {last}."
        )
    lacks = f"The answer in step {closing.step} has no check and no approval."
    known = (c for c in trace.checks.values() if c.passed is not None and c.kind != "read-back")
    checks = [c for c in known if c.step < closing.step]
    if checks:
        went = "passed over no edit that the log shows" if checks[-1].passed else "failed"
        lacks = f"The check in step {checks[-1].step} {went}"
        lacks += f", and the answer in step {closing.step} has no approval."
    return UNCONFIRMED.gives(lacks)


def _disliked(close: Close) -> int:
    """The last step that stands and that the user gave a thumbs down; 0 without one."""
    given = thumbs(close.trace)
    down = (
        step.step
        for step in close.steps
        if step.step in given and given[step.step].value.get("rating") == "down"
    )
    return max(down, default=0)


def _only_answers(steps: list[Step], humans: list[Step], closing: Step) -> bool:
    """Whether the log shows questions alone, an answer to each, and nothing that went wrong."""
    if any(map(_has_effects, steps)):
        return False
    turns: dict[int, list[Step]] = {}
    for step in steps:
        if step.action != "user_message":
            turns.setdefault(step.turn, []).append(step)
    for human in humans:
        done = [s for s in turns.get(human.turn, ()) if s.step > human.step]
        calls = [s for s in done if s.call is not None]
        if human.via == "shell line" and not done:
            continue
        if not done or done[-1].action != "output" or done[-1].operation != "answer":
            return False
        if BLOCKED.search(said(done[-1])) or (calls and calls[-1].success is False):
            return False
    return not speaks_of_failure(said(closing))


def _has_effects(step: Step) -> bool:
    if step.call is None or step.success is False:
        return False
    acts = step.operation == "execute" and step.surface in ("cli", "api")
    return step.operation in EFFECTS or acts
