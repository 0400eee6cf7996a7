"""How did it end, and was the goal reached? By evidence, else no."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from forsy_retrace.events import SHELL, Fact
from forsy_retrace.patterns import later
from forsy_retrace.trace import Check, Step, Trace

from ..checks.unchecked import is_log, is_plan, is_prose
from ..outputs.failures import LATE
from ..tools import closing_words, finish_of, gives_up
from ..touched.edits import scratch
from ..variants import thumbs
from ..words.cues import SENTENCE
from ..words.message_rules import PERMITTED
from ..words.messages import finds_fault
from .meant import meant

BLOCKED = later(
    r"(?i)\b(?:i(?: can(?:no|')?t| am unable to|['’]m unable to| could ?n[o'’]t) (?:proceed|continue|go on|access"
    r"|complete|do (?:this|that))|unable to (?:proceed|continue)|cannot (?:proceed|continue)"
    r"|i(?:'m| am) blocked|(?<!no longer )(?<!not )blocked until|waiting for (?:your|you to)|need (?:your|you to) .{0,60}(?:before|to (?:proceed|continue)))"
)
"""Closing words that say the agent can't go on."""

STILL = later(
    r"(?i)\bstill (?:fail|broken|not working|failing|errors?|crash)|\bnot (?:yet )?(?:fixed|working|passing)\b"
    r"|\btests? (?:are |is )?(?:still )?fail(?:ing|s)?\b|\bcould ?n[o']t (?:fix|complete|finish)"
    r"|\b(?:i|we|am|are) (?:was |were )?unable to|\bremaining (?:failures?|errors?)"
    r"|\b(?:funktioniert|l\u00e4uft|geht)(?: [^.]{0,20})? nicht\b|\bschl(?:\u00e4gt|agen)(?: [^.]{0,20})? fehl\b"
    r"|\bsiguen? (?:fallando|sin funcionar)|\bno funciona\b|\bne (?:fonctionne|marche|passe)(?:nt)? (?:toujours |encore )?pas"
    r"|\u4ecd\u7136\u5931\u8d25|\u8fd8\u662f\u5931\u8d25|\u4e0d\u80fd\u5de5\u4f5c"
)
"""Words of a failure that lasts."""
HAPPENED = later(
    r"(?i)\b(?:does|do|did)(?: not|n't) (?:work|pass)|\bfailed to\b|\b(?:was|were) unable to"
)
"""Words of a failure that may be told of as mended."""
MENDED = later(
    r"(?i)\b(?:fix(?:ed|es)|resolve[ds]|repaired|root cause|caused by|no longer|previously|used to"
    r"|(?:bug|crash|error|failure|issue|problem|case)s? (?:where|when|that|in which)|now \w+s)\b"
)
"""Words of a sentence that tells of what was mended, or why."""
DENIED = later(
    r"(?i)\b(?:no|not any|without(?: any)?|zero|0|none of the|keine?|sin|aucune?)\s+(?:\w+\s+)?$"
)
"""What turns the words of a failure behind it round."""


BARE = "Commands alone: nothing in the log tells what they were for."
UNTOLD = "Commands and what they were for: nothing in the log tells whether that was reached."


class Edit(NamedTuple):
    """The last edit that a check can break over, and what it is called."""

    step: int
    called: str


class Ending(NamedTuple):
    """termination_reason, goal_achieved, goal_notes, and the rules that said so."""

    reason: str
    achieved: bool
    notes: str | None
    rule: str


def ending(trace: Trace) -> Ending:
    """How the session ended, by its last steps."""
    steps = [s for s in trace.steps if s.origin is None or not s.origin.branch]
    if steps and all(s.actor == SHELL for s in steps):
        said = UNTOLD if any(s.reasoning for s in steps) else BARE
        return Ending("other", False, said, "bare-commands")
    reason = _reason(steps, _is_submitted(trace))
    achieved, notes, rule = _goal(trace, steps, reason)
    return Ending(reason, achieved, notes, rule)


def _reason(steps: list[Step], submitted: bool) -> str:
    if not steps:
        return "other"
    main = [s for s in steps if not s.actor.startswith("subagent")]
    last = main[-1] if main else steps[-1]
    if last.action == "user_message":
        return "user_confirmed_done" if _confirms(last, main) else "user_abandoned"
    if last.action == "error":
        return _by_error(last, main)
    if last.call is not None:
        return _by_call(last, submitted)
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


def _fails_after(approval: Step, closing: Step | None) -> bool:
    """Whether the closing words, behind an approval, speak of a failure."""
    return (
        closing is not None and closing.step > approval.step and speaks_of_failure(_said(closing))
    )


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


def _works_after(human: Step, main: list[Step]) -> bool:
    return any(s.step > human.step and s.call is not None for s in main)


LENGTHS = ("max_tokens", "length", "max_output_tokens", "model_length")
"""A harness's words for the length that one answer may have."""
CUTS = (*LENGTHS, "content_filter")
"""A harness's words for what stops one answer, and not the work."""


def _by_error(last: Step, main: list[Step]) -> str:
    if last.via == "interrupted" or (last.via == "limit" and last.output in CUTS):
        return "partial_then_stopped"
    if last.via == "limit" and LATE.search((last.output or "")[:400]):
        return "timeout"
    return "error_unrecoverable"


def _finishes(step: Step) -> bool:
    return step.call is not None and finish_of(step.like, step.call.input) is not None


def _blocked(steps: list[Step]) -> str:
    """How the agent came to a stop."""
    if not steps or steps[-1].operation == "ask_user":
        return "The agent's last words wait for the user"
    gave_up = _gives_up(steps[-1])
    return "The agent gave up" if gave_up else "The agent's last words say that it can't go on"


def _gives_up(step: Step) -> bool:
    return step.call is not None and gives_up(step.like, step.call.input)


def _is_submitted(trace: Trace) -> bool:
    """Whether the run's own writer says that the agent handed its work in."""
    return any(
        isinstance(fact.value, dict)
        and str(fact.value.get("exit_status")).casefold() == "submitted"
        for fact in trace.session.facts("run_end")
    )


def _by_call(last: Step, submitted: bool) -> str:
    if (submitted or _finishes(last)) and last.success is not False:
        return "task_complete"
    if last.result is not None and last.result.outcome == "timed_out":
        return "timeout"
    if _gives_up(last) or (last.operation == "ask_user" and last.result is None):
        return "agent_blocked"
    return "partial_then_stopped"


def _goal(trace: Trace, steps: list[Step], reason: str) -> tuple[bool, str | None, str]:
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
    outputs = [s for s in steps if s.action == "output" or _finishes(s)]
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
        return _by_checks(trace, steps, last_edit, closing)
    if closing is None:
        return False, "The log ends without an answer.", "no-answer"
    disliked = _disliked(trace, steps)
    if disliked:
        return False, f"The user gave step {disliked} a thumbs down.", "thumb-down"
    return _by_answers(trace, steps, humans, closing, correction)


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
    handed = [step.step for step in steps if _finishes(step)]
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
    live, is_scratch = {s.step for s in steps}, scratch(trace)
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


def _by_checks(
    trace: Trace, steps: list[Step], last_edit: Edit, closing: Step | None
) -> tuple[bool, str | None, str]:
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
    if speaks_of_failure(_said(closing)):
        return (
            False,
            f"The closing message (step {closing.step}) speaks of a failure.",
            "trouble-told",
        )
    passed = [c for c in known if c.passed]
    if not any(c.over for c in passed):
        bare = f"none is known to have passed over the {last_edit.called}."
        return False, f"The check in step {passed[-1].step} passed; {bare}", "unchecked"
    return True, _success(passed, last_edit), "checks-passed"


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


def _success(passed: list[Check], last_edit: Edit) -> str:
    """Which check passed over the last edit, or over which it did."""
    over = [c for c in passed if last_edit.step in c.over]
    if over:
        return f"The check in step {over[-1].step} passed over the {last_edit.called}."
    latest = max((c for c in passed if c.over), key=lambda c: (c.over[-1], c.step))
    return (
        f"The check in step {latest.step} passed over the edit of step {latest.over[-1]};"
        f" none is known to have passed over the {last_edit.called}."
    )


CODE = later(r"(?s)```.*?(?:```|\Z)|`[^`\n]*`")
"""What a text only quotes."""


def speaks_of_failure(text: str) -> bool:
    """Whether closing words claim a failure: one that lasts, or one not told of as mended."""
    for sentence in SENTENCE.findall(CODE.sub(" ", text)):
        found = STILL.search(sentence) or HAPPENED.search(sentence)
        if found is None or DENIED.search(sentence[: found.start()]):
            continue
        if found.re is STILL or not MENDED.search(sentence):
            return True
    return False


def _said(step: Step) -> str:
    """The words of an answer, or of a call that ends the work."""
    return closing_words(step.like, step.call.input) if step.call else step.output or ""


EFFECTS = ("write", "edit", "install", "download")


def _by_answers(
    trace: Trace,
    steps: list[Step],
    humans: list[Step],
    closing: Step,
    correction: Step | None,
) -> tuple[bool, str | None, str]:
    """A question counts as answered where the user went on without objecting."""
    before = [s for s in humans if s.step < closing.step]
    if len(before) > 1 and correction is None and _only_answers(steps, before, closing):
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
        if calls and calls[-1].success is False:
            return False
    words = _said(closing)
    return not speaks_of_failure(words) and not BLOCKED.search(words)


def _has_effects(step: Step) -> bool:
    if step.call is None or step.success is False:
        return False
    return step.operation in EFFECTS or (step.operation == "execute" and step.surface == "cli")
