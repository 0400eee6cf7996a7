"""Whether the goal was reached, and what tells that."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from forsy_retrace.events import Fact
from forsy_retrace.trace import Check, Step, Trace

from ..checks.unchecked import is_log, is_plan, is_prose
from ..finishes import finish_of, gives_up
from ..touched.fixers import around_its_check
from ..touched.scratch import scratch
from ..variants import thumbs
from ..words.message_rules import PERMITTED
from ..words.messages import finds_fault
from .admits import BLOCKED, said, speaks_of_failure
from .meant import meant
from .plans import plans_written


class Edit(NamedTuple):
    """The last edit that a check can break over, and what it is called."""

    step: int
    called: str


def goal(trace: Trace, steps: list[Step], reason: str) -> tuple[bool, str | None, str]:
    """True only with evidence: a grader, an approval, a passed check, a taken answer."""
    graded = _graded(trace)
    if graded is not None:
        return graded
    flagged = _flagged(trace, steps)
    if flagged is not None:
        return flagged
    last_edit = _last_edit(trace, steps)
    humans = [s for s in steps if s.action == "user_message"]
    approval = next((s for s in reversed(humans) if accepts(s, steps)), None)
    outputs = [s for s in steps if s.action == "output" or finishes(s)]
    closing = outputs[-1] if outputs else None
    if reason in ("error_unrecoverable", "timeout", "agent_blocked", "partial_then_stopped"):
        words = {
            "error_unrecoverable": "The session ended on an error of the model or the harness",
            "timeout": "The session ended on a time-out",
            "agent_blocked": _blocked(steps),
            "partial_then_stopped": "The work stopped in the middle of a turn",
        }[reason]
        return False, f"{words} (step {steps[-1].step if steps else 0}).", "stopped"
    if reason == "user_abandoned":
        return False, f"The last message (step {steps[-1].step}) has no answer.", "unanswered"
    correction = next((s for s in reversed(humans) if finds_fault(s)), None)
    if (
        approval is not None
        and not _asks_for_more(approval, steps, last_edit)
        and (last_edit is None or approval.step > last_edit.step)
        and (correction is None or correction.step < approval.step)
        and not _fails_after(approval, closing)
    ):
        return True, f"The user accepted the result in step {approval.step}.", "user-approved"
    if last_edit is not None:
        return _by_checks(trace, last_edit, closing)
    if closing is None:
        return False, "The log ends without an answer.", "no-answer"
    disliked = _disliked(trace, steps)
    if disliked:
        return False, f"The user gave step {disliked} a thumbs down.", "thumb-down"
    return _by_answers(trace, steps, humans, closing, correction)


def _fails_after(approval: Step, closing: Step | None) -> bool:
    """Whether the closing words, behind an approval, speak of a failure."""
    return closing is not None and closing.step > approval.step and speaks_of_failure(said(closing))


def accepts(step: Step, steps: Sequence[Step]) -> bool:
    """Whether a message accepts finished work: no plan, nor what was only proposed or offered."""
    if step.feedback_type != "approval" or step.via in ("plan accepted", "rejection"):
        return False
    ground = step.grounds.get("feedback_type")
    if ground is not None and ground.rule == PERMITTED:
        return False
    first, end = (bisect_left(steps, turn, key=_turn) for turn in (step.turn - 1, step.turn))
    before = [s for s in steps[first:end] if s.action != "user_message"]
    is_question = bool(before) and before[-1].operation == "ask_user"
    return not is_question or any(map(_has_effects, before))


def _turn(step: Step) -> int:
    return step.turn


def finishes(step: Step) -> bool:
    return step.call is not None and finish_of(step.like, step.call.input) is not None


def _blocked(steps: list[Step]) -> str:
    """How the agent came to a stop."""
    if not steps or steps[-1].operation == "ask_user":
        return "The agent's last words wait for the user"
    gave_up = is_given_up(steps[-1])
    return "The agent gave up" if gave_up else "The agent's last words say that it can't go on"


def is_given_up(step: Step) -> bool:
    return step.call is not None and gives_up(step.like, step.call.input)


def _disliked(trace: Trace, steps: list[Step]) -> int:
    """The last step that stands and that the user gave a thumbs down; 0 without one."""
    given = thumbs(trace)
    down = (
        step.step
        for step in steps
        if step.step in given and given[step.step].value.get("rating") == "down"
    )
    return max(down, default=0)


MOST = 1e9
"""No grader gives a reward so great."""


def _graded(trace: Trace) -> tuple[bool, str | None, str] | None:
    """What a grader outside of the session found, where its word lies beside the log."""
    for event in trace.session.events:
        match event:
            case Fact(name="reward", value=int() | float() as reward) if abs(reward) < MOST:
                if reward == 1:
                    return True, "The grader gave the full reward of 1.", "grader-passed"
                return False, f"The grader gave a reward of {reward:g}, not 1.", "grader-failed"
    return None


def _flagged(trace: Trace, steps: list[Step]) -> tuple[bool, str | None, str] | None:
    """What the harness of a challenge made of the last flag that the agent handed in."""
    words = [fact.value for fact in trace.session.facts("flag")]
    handed = [step.step for step in steps if finishes(step)]
    if not words or not handed:
        return None
    if words[-1] == "taken":
        return (
            True,
            f"The harness took the flag of step {handed[-1]} and ended the run.",
            "flag-taken",
        )
    return False, f"The harness refused the flag of step {handed[-1]}.", "flag-refused"


def _asks_for_more(approval: Step, steps: list[Step], last_edit: Edit | None) -> bool:
    """Whether an approval came with another request, and speaks for no files or for not the last."""
    return approval.message_role == "direct_request" and (
        last_edit is None
        or any(
            s.step > approval.step and s.success and s.operation in ("edit", "write") for s in steps
        )
    )


def _last_edit(trace: Trace, steps: list[Step]) -> Edit | None:
    """The last step that changed code, or any file of the work where none did."""
    kinds = ("edit", "write", "delete", "changed")
    live, is_scratch = {s.step for s in steps} - plans_written(trace).keys(), scratch(trace)
    found = [
        touch
        for touch in trace.touches
        if touch.kind in kinds
        and touch.step in live
        and not is_scratch(touch.path)
        and not is_plan(touch.path)
        and not is_log(touch.path)
    ]
    code = [touch for touch in found if not is_prose(touch.path)]
    if not found:
        return None
    last = max(touch.step for touch in code or found)
    is_last = last == max(touch.step for touch in found)
    return Edit(last, f"last edit {'' if is_last else 'of code '}(step {last})")


def _by_checks(trace: Trace, last_edit: Edit, closing: Step | None) -> tuple[bool, str | None, str]:
    behind = [c for c in trace.checks.values() if c.step >= last_edit.step]
    after = [c for c in behind if c.kind != "read-back"]
    known = [c for c in after if c.passed is not None and (c.edits or c.kind != "run")]
    if not known:
        return False, _unchecked(trace, behind, last_edit), "unchecked"
    wanted = meant(trace)
    known = [c for c in known if c.step not in wanted] or known  # a failure that was the point
    failed = [c for c in {c.kind: c for c in known}.values() if not c.passed]
    if failed:
        return False, _failure(failed[-1], after), "last-check-failed"
    if closing is None or closing.step < last_edit.step:
        return False, f"No closing message after the {last_edit.called}.", "no-answer"
    if speaks_of_failure(said(closing)):
        return (
            False,
            f"The closing message (step {closing.step}) speaks of a failure.",
            "trouble-told",
        )
    passed = [c for c in known if c.passed]
    own = [c for c in passed if _follows_its_edit(trace, c, last_edit)]
    if not own and not any(c.over for c in passed):
        bare = f"none is known to have passed over the {last_edit.called}."
        return False, f"The check in step {passed[-1].step} passed; {bare}", "unchecked"
    return True, _success(passed, own, last_edit), "checks-passed"


def _follows_its_edit(trace: Trace, check: Check, edit: Edit) -> bool:
    """Whether the line that checks had changed the file before: `cat >> a_test.go …; go test`."""
    before, _ = around_its_check(trace.steps[check.step - 1].run)
    wrote = any(one.writes or one.rule == "inline-program" for one in before)
    return check.step == edit.step and wrote


def _unchecked(trace: Trace, behind: list[Check], last_edit: Edit) -> str:
    """What the log lacks: a check, one that is more than a read-back, or how the check went."""
    checks = [c for c in behind if c.kind != "read-back" and c.passed is None]
    if checks:
        number = checks[-1].step
        began = trace.steps[number - 1].success is not False
        went = (
            f"How the check in step {number} went is not known"
            if began
            else f"The check in step {number} never began"
        )
        return f"{went}, and no approval came after the {last_edit.called}."
    if behind and behind[-1].kind == "read-back":
        look = f"Nothing but a read-back (step {behind[-1].step})"
        return f"{look}, and no approval, came after the {last_edit.called}."
    return f"No check or approval after the {last_edit.called}."


CALLED = {
    "tests": "test run",
    "lint": "lint check",
    "types": "type check",
    "build": "build",
    "run": "run",
    "ci": "CI run",
}
"""What a check of each kind is called, where it is not the last of all."""


def _failure(failed: Check, after: list[Check]) -> str:
    """Which check failed: the last of all, or the last of its kind of which anything is known."""
    called = "check" if failed is after[-1] else CALLED[failed.kind]
    if any(c.kind == failed.kind and c.step > failed.step for c in after):
        called += " with a known result"
    return f"The last {called} (step {failed.step}) failed."


def _success(passed: list[Check], own: list[Check], last_edit: Edit) -> str:
    """Which check passed over the last edit, or over which it did."""
    over = [c for c in passed if last_edit.step in c.over] or own
    if over:
        return f"The check in step {over[-1].step} passed over the {last_edit.called}."
    latest = max((c for c in passed if c.over), key=lambda c: (c.over[-1], c.step))
    return (
        f"The check in step {latest.step} passed over the edit of step {latest.over[-1]};"
        f" none is known to have passed over the {last_edit.called}."
    )


EFFECTS = ("write", "edit", "install", "download")


def _by_answers(
    trace: Trace,
    steps: list[Step],
    humans: list[Step],
    closing: Step,
    correction: Step | None,
) -> tuple[bool, str | None, str]:
    """A question counts as answered where a person went on without objecting."""
    before = [s for s in humans if s.step < closing.step]
    goes_on = trace.marks_people and len(before) > 1 and correction is None
    changes = any(touch.kind != "read" for touch in trace.touches)
    if goes_on and not changes and _only_answers(steps, before, closing):
        return (
            True,
            f"Each message was answered; the user went on without objecting (step {before[-1].step}).",
            "went-on",
        )
    lacks = f"The answer in step {closing.step} has no check and no approval."
    known = (c for c in trace.checks.values() if c.passed is not None and c.kind != "read-back")
    checks = [c for c in known if c.step < closing.step]
    if checks:
        went = "passed over no edit that the log shows" if checks[-1].passed else "failed"
        lacks = f"The check in step {checks[-1].step} {went}"
        lacks += f", and the answer in step {closing.step} has no approval."
    return False, lacks, "unconfirmed"


def _only_answers(steps: list[Step], humans: list[Step], closing: Step) -> bool:
    """Whether the log shows questions alone, an answer to each, and nothing that went wrong."""
    if any(map(_has_effects, steps)):
        return False
    turns: dict[int, list[Step]] = {}
    for step in steps:
        if step.action != "user_message":
            turns.setdefault(step.turn, []).append(step)
    for human in humans:
        done = turns.get(human.turn, [])
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
