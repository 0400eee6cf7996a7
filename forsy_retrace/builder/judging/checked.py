"""Whether the goal was reached, by the checks after the last edit."""

from forsy_retrace.trace import Check, Trace

from ..touched.fixers import around_its_check
from .admits import said, speaks_of_failure
from .close import Close, Edit, Goal, GoalRule
from .intended import meant

UNCHECKED = GoalRule(
    "unchecked",
    False,
    "nothing is known to have checked or approved the last edit; a read-back is not enough.",
)
FAILED = GoalRule("last-check-failed", False, "the last check after the last edit failed.")
PENDING = GoalRule(
    "ci-open",
    False,
    "the last check after the last edit is a look at CI that does not tell how its run ended.",
)
UNANSWERED = GoalRule(
    "no-answer", False, "the log has no closing words, or none after the last edit."
)
TROUBLE = GoalRule(
    "trouble-told", False, "the checks passed, but the closing words speak of a failure."
)
CORRECTED = GoalRule(
    "corrected-since",
    False,
    "the checks passed, but behind them the user found fault with the work.",
)
PASSED = GoalRule(
    "checks-passed",
    True,
    "the last check after the last edit passed, and the closing words speak of no failure.",
)

RULES = (UNCHECKED, FAILED, PENDING, UNANSWERED, TROUBLE, CORRECTED, PASSED)


def by_checks(close: Close) -> Goal | None:
    """What the last check of each kind found, and whether the closing words agree."""
    trace, closing, last_edit = close.trace, close.closing, close.last_edit
    if last_edit is None:
        return None
    behind = [c for c in trace.checks.values() if c.step >= last_edit.step]
    after = [c for c in behind if c.kind != "read-back"]
    known = [c for c in after if c.passed is not None and (c.edits or c.kind != "run")]
    if not known:
        return UNCHECKED.gives(_unchecked(trace, behind, last_edit))
    wanted = meant(trace)
    own, known = known, [c for c in known if c.step not in wanted]
    if not known:  # a failure that was the point
        told = f"The check in step {own[-1].step}, the last with a known result, was meant to fail."
        return UNCHECKED.gives(told)
    failed = [c for c in {c.kind: c for c in known}.values() if not c.passed]
    if failed:
        return FAILED.gives(_failure(failed[-1], after))
    if (last := after[-1]).kind == "ci" and last.passed is None:
        return PENDING.gives(f"How the CI run that step {last.step} looked at ended is not known.")
    if closing is None or closing.step < last_edit.step:
        return UNANSWERED.gives(f"No closing message after the {last_edit.called}.")
    if speaks_of_failure(said(closing)):
        return TROUBLE.gives(f"The closing message (step {closing.step}) speaks of a failure.")
    passed = [c for c in known if c.passed]
    if (fault := _fault_behind(close, passed[-1])) is not None:
        return fault
    own = [c for c in passed if _follows_its_edit(trace, c, last_edit)]
    if not own and not any(c.over for c in passed):
        bare = f"none is known to have passed over the {last_edit.called}."
        return UNCHECKED.gives(f"The check in step {passed[-1].step} passed; {bare}")
    return PASSED.gives(_success(passed, own, last_edit))


def _fault_behind(close: Close, check: Check) -> Goal | None:
    """What the user found wrong behind a check; words with a rejection speak of that call."""
    late = close.correction
    if late is None or late.step <= check.step or late.via == "rejection":
        return None
    passed = f"the check in step {check.step} passed"
    return CORRECTED.gives(f"The user found fault in step {late.step}, after {passed}.")


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
