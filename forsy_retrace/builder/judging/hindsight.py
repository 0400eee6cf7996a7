"""What came later: who repeated, used, accepted, retried or checked what a step did."""

from bisect import bisect_left
from itertools import takewhile

from forsy_retrace.events import SHELL
from forsy_retrace.trace import Check, Touch, Trace

from ..tools import PLAN_EXITS
from ..touched.edits import edits_of
from ..touched.paths import absolute, base_of
from ..touched.replayed import CHANGES
from ..touched.scratch import scratch
from ..variants import beside, left, thumbs
from ..words.claims import said_to_pass
from ..words.messages import finds_fault
from .behind_answers import Heard, over, tells
from .goal import accepts
from .intended import meant
from .named import cited, pages, reported
from .plans import plans_written
from .repeated import answers, commits
from .whole import given, held


class Hindsight:
    """What came later: uses, answers, retries, and the checks over each edit."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.meant = meant(trace)
        heard = Heard(trace)
        self.answers = answers(trace, heard)
        self.given = given(trace)
        self.held = held(trace)
        self.reported = reported(trace, heard)
        self.touched = edits_of(trace)
        self.is_scratch = scratch(trace)
        self.removed = {
            touch.path: step
            for step, touched in self.touched.items()
            for touch in touched
            if touch.kind == "removed"
        }
        """Files to the last step that removed them."""
        self.opened = _opened(trace, self.touched)
        self.cited = cited(trace, heard, self.touched)
        self.pages = pages(trace, heard)
        self.commits = commits(trace, heard)
        self.claimed = _claimed(trace, heard)
        self.retried = _retried(trace)
        self.accepted = _accepted(trace)
        self.beside = beside(trace)
        self.left = left(trace)
        self.thumbs = thumbs(trace)
        self.looks = _looks_for_a_fault(trace)
        self.ended = _ended(trace)
        self.checked: dict[int, list[Check]] = {}
        """Each edit's checks of which the log tells how they went, in order."""
        self.first_passed: dict[int, Check] = {}
        left_out = self.meant | self.looks
        for check in trace.checks.values():
            is_told = check.passed is not None and check.step not in left_out
            for edit in check.over if is_told else ():
                self.checked.setdefault(edit, []).append(check)
                if check.passed:
                    self.first_passed.setdefault(edit, check)

    def passed(self, edit: int, before: int) -> Check | None:
        """The first check that passed over an edit before a step."""
        first = self.first_passed.get(edit)
        return first if first and first.step < before else None

    def _was_answered(self, failed: Check, before: int) -> bool:
        """Whether the check was attempted again before a step, and passed: another edit had mended it."""
        again = self.retried.get(failed.step, before)
        answer = self.trace.checks.get(again) if again < before else None
        return answer is not None and answer.passed is True

    def failed(self, edit: int, before: int) -> Check | None:
        """A check that failed over an edit before a step, with none of its kind that passed since.

        Of an earlier turn the last check of any kind counts: what the user asks next may be new.
        """
        held, steps = self.checked.get(edit, []), self.trace.steps
        held = held[: bisect_left(held, before, key=lambda check: check.step)]
        if any(check.passed and check.kind != "ci" for check in held):
            # CI fails for one of many edits: hardly for one that had passed another check.
            held = [check for check in held if check.kind != "ci"]
        turn = steps[before - 1].turn
        recent = [check for check in held if steps[check.step - 1].turn == turn] or held[-1:]
        last = {check.kind: check for check in recent}
        failed = next((check for check in last.values() if not check.passed), None)
        if failed is None or self._was_answered(failed, before):
            return None
        of_kind = [check for check in recent if check.kind == failed.kind]
        since = takewhile(lambda check: not check.passed, reversed(of_kind))
        return next((check for check in since if check.summary), failed)


def _looks_for_a_fault(trace: Trace) -> set[int]:
    """The read-backs behind words that correct, before anything is changed: none tells that it is well.

    Where the user took up a plan since, the words are met.
    """
    is_corrected = False
    found: set[int] = set()
    for step in trace.steps:
        if step.action == "user_message":
            is_corrected = finds_fault(step)
        elif step.success and (step.operation in ("edit", "write") or step.like in PLAN_EXITS):
            is_corrected = False
        check = trace.checks.get(step.step) if is_corrected else None
        if check is not None and check.kind == "read-back":
            found.add(check.step)
    return found


def _claimed(trace: Trace, heard: Heard) -> dict[int, int]:
    """Checks to the answer, or report, of their turn that says that checks of their kind passed.

    Of several that passed one after another, the first told what is said.
    """
    passed: dict[tuple[str, str], int] = {}
    """By the actor and the kind."""
    found: dict[int, int] = {}
    for step in over(trace):
        check = trace.checks.get(step.step)
        if step.action == "user_message":
            passed.clear()
        elif check is not None and check.passed is not None:
            if check.passed:
                passed.setdefault((step.actor, check.kind), check.step)
            else:
                passed.pop((step.actor, check.kind), None)
        elif tells(step):
            actors = heard.by(step)
            waiting = {kind for actor, kind in passed if actor in actors}
            for kind in set(said_to_pass(step.output or "", waiting)):
                for number in filter(None, (passed.get((actor, kind)) for actor in actors)):
                    found.setdefault(number, step.step)
    return found


def _opened(trace: Trace, touched: dict[int, list[Touch]]) -> dict[int, int]:
    """Steps that put what they got into a file to the first that looked into it, as it was."""
    found, made = dict[int, int](), dict[str, int]()
    for step in trace.steps:
        here = touched.get(step.step, ())
        looks = {touch.path for touch in here if touch.kind == "read"}
        if made and step.run is not None:
            views = (one.reads for one in step.run.simples if one.role == "view")
            looks.update(absolute(path, base_of(step)) for read in views for path in read)
        for path in sorted(looks & made.keys()) if step.success else ():
            found.setdefault(made[path], step.step)
        for touch in here:
            if touch.kind == "generated":
                made[touch.path] = step.step
            elif touch.kind in CHANGES:
                made.pop(touch.path, None)
    return found


def _ended(trace: Trace) -> dict[int, int]:
    """Looks at commands that ran on to the step that began the one whose end they told."""
    ends: dict[tuple[str, int, int], int] = {}
    for step in trace.steps:
        if step.result is not None and step.result.end is not None:
            ends[step.result.end.origin.evidence.record] = step.step
    found: dict[int, int] = {}
    for step in trace.steps if ends else ():
        began = ends.get(step.result.origin.evidence.record) if step.result is not None else None
        if began is not None and began < step.step:
            found[step.step] = began
    return found


def _accepted(trace: Trace) -> dict[int, int]:
    """Plans, questions and edits to the step in which the user took them up."""
    found = plans_written(trace)
    edits: list[int] = []
    for step in trace.steps:
        if step.action == "user_message":
            if step.answers and trace.steps[step.answers - 1].operation == "ask_user":
                found[step.answers] = step.step
            if step.via == "typed" and accepts(step, trace.steps):
                found.update(dict.fromkeys(edits, step.step))
            if step.feedback_type == "correction":
                edits = []
        elif step.like in PLAN_EXITS and step.success:
            found[step.step] = step.step
        elif step.success and step.operation in ("edit", "write"):
            edits.append(step.step)
    return found


def _retried(trace: Trace) -> dict[int, int]:
    """Steps to the first that attempts them again; a guess of a history's counts for nothing."""
    found: dict[int, int] = {}
    for step in trace.steps:
        if step.retry_of is not None:
            old = trace.steps[step.retry_of - 1]
            if old.actor != SHELL or old.success is not None:
                found.setdefault(step.retry_of, step.step)
    return found
