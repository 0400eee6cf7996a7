"""Why a step was of no use, or of use: two tables of named rules, each with what it says."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import NamedTuple

from msgspec import structs

from forsy_retrace.evidence import Evidence
from forsy_retrace.patterns import later
from forsy_retrace.trace import Check, Step, Touch, Trace, edits_named

from ..again.attempts import acts
from ..again.retries import POLLS
from ..outcome import never_ran
from ..outputs.failures import first_error, stopped
from ..outputs.verdicts import speaks_of_failure
from ..touched.edits import put_back_by
from ..touched.fixers import around_its_check
from ..touched.replaced import only_takes_out, takes_back, takes_out_most_of
from ..touched.scratch import EDITS
from ..variants import branch_of
from ..words.messages import finds_fault
from .hindsight import Hindsight


class Told(NamedTuple):
    """What a rule says of a step: a sentence, the steps that show it, and where else the log does."""

    reason: str
    steps: tuple[int, ...] = ()
    """Of what was no use, the step that came in its place; of what was, those that show it."""
    shown: tuple[Evidence, ...] = ()
    said: str = ""
    """What a check said of it that failed over it."""


class Rule(NamedTuple):
    """A way in which a step turned out; without a confidence it is the log's own word."""

    name: str
    sentence: str
    confidence: float | None
    tell: Callable[[Step, Hindsight], Told | None]
    spares: bool = False
    """It says nothing of what was the point, such as a test that is to fail first."""
    names_next: bool = False
    """Its reason says already which step came instead."""


# What was no use.


def _thumbs_down(step: Step, later: Hindsight) -> Told | None:
    return _thumb(step, later, "down", _instead(step, later))


def _thumb(step: Step, later: Hindsight, rating: str, steps: tuple[int, ...]) -> Told | None:
    """What the thumb says, and where; None where there is none of that rating."""
    fact = later.thumbs.get(step.step)
    if fact is None or fact.value.get("rating") != rating:
        return None
    words = fact.value.get("text")
    said = f"The user gave it a thumbs {rating}" + (f': "{words}"' if words else ".")
    return Told(said, steps, (fact.origin.evidence,))


def _instead(step: Step, later: Hindsight) -> tuple[int, ...]:
    """The step that attempts it again, if one does."""
    again = later.retried.get(step.step)
    return () if again is None else (again,)


ERRORS = {
    "interrupted": "The user stopped the work here.",
    "limit": "A limit was met here.",
}
"""What an error step was, by what brought it."""


def _an_error(step: Step, later: Hindsight) -> Told | None:
    if step.action != "error":
        return None
    return Told(ERRORS.get(step.via or "", "The harness reported an error."), _instead(step, later))


def _left_behind(step: Step, later: Hindsight) -> Told | None:
    """A step on a line that the user went back on, by the nearest message that was done anew."""
    if not branch_of(step) or branch_of(step) in later.beside:
        return None
    pairs = later.left.get(branch_of(step), [])
    index = bisect_right(pairs, (step.step, len(later.trace.steps))) - 1
    old, new = pairs[index] if index >= 0 else (0, 0)
    if new > step.step and later.trace.steps[new - 1].action == "user_message":
        return Told(f"The user went back to before this step and typed step {new} instead.", (new,))
    if new > step.step and later.trace.steps[old - 1].turn == step.turn:
        return Told(f"The user had it generated again: step {new}.", (new,))
    return Told("The user went back to before this step.")


def _never_ran(step: Step, later: Hindsight) -> Told | None:
    if step.success is not False or not never_ran(step):
        return None
    return Told(f"The call {stopped(step)}.", _instead(step, later))


def _interrupted(step: Step, later: Hindsight) -> Told | None:
    how = stopped(step) if step.success is False else ""
    return Told(f"The call {how}.", _instead(step, later)) if how else None


def _failed_check(step: Step, later: Hindsight) -> Told | None:
    check = later.trace.checks.get(step.step)
    if step.success is not False or check is None or not check.summary:
        return None
    if check.kind == "run" and not check.edits:
        return None  # a run of what is known to work checks nothing
    return Told(f"The check failed: {check.summary.rstrip(':')}", _instead(step, later))


def _failed(step: Step, later: Hindsight) -> Told | None:
    if step.success is not False:
        return None
    line = first_error(step)
    return Told(f"Failed: {line}" if line else "Failed.", _instead(step, later))


def _corrected(step: Step, later: Hindsight) -> Told | None:
    again = later.retried.get(step.step)
    if again is None or not (step.operation in ("edit", "write", "plan") or acts(step)):
        return None
    between = later.trace.steps[step.step : again - 1]
    words = [other for other in between if other.action == "user_message"]
    if not words:
        return None  # another answer to the same message, generated beside it
    what, then = "corrected it", "does it again"
    if step.operation == "plan":
        what, then = "sent the plan back", "works on it again"
    elif not any(s.message_role == "correction" for s in words):
        what = "showed how it fails"
    return Told(f"The user {what}; step {again} {then}.", (again,))


def _taken_back(step: Step, later: Hindsight) -> Told | None:
    by = later.trace.replaced.get(step.step) or _undone_by(step, later)
    if not by or not _takes_back(later.trace.steps[by - 1], step, later.trace):
        by = _removed_by(step, later)
    if not by:
        return None
    return Told(f"Step {by} took it back, after what the user said.", (by,))


def _undone_by(step: Step, later: Hindsight) -> int:
    """The call that first took up what a service had made, where its name says that it undoes that; else 0."""
    by = later.trace.uses.get(step.step, 0)
    undoes = UNDOES.search(later.trace.steps[by - 1].tool or "") if by and acts(step) else None
    *_, what = ("", *NOUN.findall(undoes["what"])) if undoes else ("",)
    return by if undoes and what.lower().removesuffix("s") in (step.tool or "").lower() else 0


MOVES = ("mv", "git mv")
"""Commands behind which a file is gone from its place, and stands at another."""


def _removed_by(step: Step, later: Hindsight) -> int:
    """The call by which a line of the shell removed all that was written, after a correction; else 0."""
    made = [one.path for one in later.touched.get(step.step, ()) if one.kind in EDITS]
    gone = {later.removed.get(path, 0) for path in made if not later.is_scratch(path)}
    by = gone.pop() if step.operation == "write" and len(gone) == 1 else 0
    if by <= step.step:
        return 0
    other = later.trace.steps[by - 1]
    if other.run is not None and any(one.name in MOVES for one in other.run.simples):
        return 0
    between = later.trace.steps[step.step : by - 1]
    words = [s for s in between if s.action == "user_message" and s.turn == other.turn]
    return by if any(map(finds_fault, words)) else 0


def _replaced(step: Step, later: Hindsight) -> Told | None:
    by = later.trace.replaced.get(step.step)
    taken_up = step.operation == "plan" and later.accepted.get(step.step, by or 0) < (by or 0)
    if by is None or taken_up or later.passed(step.step, by) is not None:
        return None
    if put_back_by(step) is not None and _is_called_for(step, later.trace.steps[: step.step]):
        return None
    is_gone = _deletes(by, step.step, later.touched)
    edits = any(touch.kind in EDITS for touch in later.touched.get(by, ()))
    is_back = not edits or put_back_by(later.trace.steps[by - 1]) is not None
    did = "took out" if only_takes_out(later.trace.steps[by - 1]) else "replaced"
    did = "deleted" if is_gone else "took back" if is_back else f"{did} most of"
    return Told(f"Step {by} {did} what it wrote.", (by,))


def _reworked(step: Step, later: Hindsight) -> Told | None:
    for number in later.trace.reworked.get(step.step, ()):
        check = later.failed(step.step, number)
        if check is not None:
            how = f"The check in step {check.step} failed over it and step {number} reworked it."
            said = first_error(later.trace.steps[check.step - 1])
            return Told(how, (number,), said=said)
    return None


def _owned_up(step: Step, later: Hindsight) -> Told | None:
    by = step.step + 1
    if by not in later.trace.reworked.get(step.step, ()):
        return None
    other = later.trace.steps[by - 1]
    if other.actor != step.actor or not OWNS_UP.search(other.reasoning or ""):
        return None
    return Told(f"Step {by} reworked it; the agent's words there call it wrong.", (by,))


OWNS_UP = later(
    r"(?im)^\W*(?:(?:wait|oops|hm+|no|ah|oh|sorry|actually)\b\W*)*"
    r"(?:that(?:['\u2019]s| is| was) (?:wrong|incorrect|not (?:right|correct|what i (?:wanted|meant)))\b"
    r"|i (?:just )?made (?:a|an) (?:\w+ )?(?:mistake|error|typo)\b|my mistake\b"
    r"|(?:i see (?:that )?)?there(?:['\u2019]s| is| was) a (?:mistake|typo)\b)"
)
"""How a line of an agent's begins that calls wrong what it has just done."""


def _takes_back(other: Step, step: Step, trace: Trace) -> bool:
    """Whether the user's words led to it: a correction before an edit, or an order to Git."""
    between = trace.steps[step.step : other.step - 1]
    words = [s for s in between if s.action == "user_message"]
    if other.operation in ("edit", "write", "plan"):
        is_it = takes_back(other, step) and takes_out_most_of(other, step)
        return is_it and any(map(finds_fault, words))
    return _is_called_for(other, words)


def _is_called_for(step: Step, before: Sequence[Step]) -> bool:
    """Whether words of the user in its turn find fault, or want something taken back."""
    words = (s for s in before if s.action == "user_message" and s.turn == step.turn)
    return any(finds_fault(s) or ASKS_BACK.search(s.input or "") for s in words)


def _deletes(by: int, edit: int, touched: dict[int, list[Touch]]) -> bool:
    """Whether a step deleted all files of an edit."""
    last = {touch.path: touch.kind for touch in touched.get(by, ())}
    return all(last.get(one.path) == "delete" for one in touched[edit] if one.kind in EDITS)


UNDOES = later(
    r"(?:^|[^A-Za-z])(?:[Cc]ancel|[Dd]elete|[Rr]emove|[Rr]evoke|[Uu]ndo|[Rr]evert|[Vv]oid)(?![a-z])"
    r"(?P<what>.*?)(?=[_-](?:by|for|from|in|of)[_-]|(?:By|For|From|In|Of)(?![a-z])|$)"
)
"""How the name of a tool says that it undoes, and what: `remove_item_from_cart` an item, no cart."""
NOUN = later(r"[A-Z]?[a-z]+")
ASKS_BACK = later(
    r"(?i)\b(?:undo|revert(?:ing)?|roll(?:ing)? ?(?:it |this |that |them )?back|rollback"
    r"|restore|discard|back out|put (?:it|this|that|them) back)\b"
)
"""Words that want work taken back."""


BAD = (
    Rule("thumb", "−1: the user gave it a thumbs down.", None, _thumbs_down),
    Rule("error-step", "−1: the model or the harness failed.", None, _an_error),
    Rule(
        "left-behind",
        "−1: the user went back to before this step.",
        None,
        _left_behind,
        names_next=True,
    ),
    Rule("never-ran", "−1: the call was rejected or blocked.", None, _never_ran, spares=True),
    Rule("interrupted", "−1: the user stopped the call.", None, _interrupted, spares=True),
    Rule(
        "failed-check",
        "−1: a check that failed, in its runner's own words, unless that was the point.",
        0.95,
        _failed_check,
        spares=True,
    ),
    Rule(
        "failed",
        "−1: any other call that failed, unless that was the point.",
        0.93,
        _failed,
        spares=True,
    ),
    Rule(
        "corrected-by-the-user",
        "−1: an edit, a plan or an act of a service that worked, and that a later step does again after the user's correction.",
        0.85,
        _corrected,
        spares=True,
        names_next=True,
    ),
    Rule(
        "taken-back",
        "−1: whatever check had passed, after a correction an edit took it out again or put back what it had replaced, or Git put back what was there before, or a line removed the file that it wrote, or a call that cancels or deletes took up what a service had made, in a turn whose words ask for that or correct.",
        0.75,
        _taken_back,
        spares=True,
        names_next=True,
    ),
    Rule(
        "replaced-later",
        "−1: a later step took out half or more of the lines that this one put in, or deleted its files, and no check had passed over them; not of what Git put back as the user's words called for.",
        0.8,
        _replaced,
        spares=True,
        names_next=True,
    ),
    Rule(
        "reworked-after-failed-check",
        "−1: a check failed over it, and a later step changed a line of it, or worked over all that it put in.",
        0.8,
        _reworked,
        spares=True,
        names_next=True,
    ),
    Rule(
        "owned-up-to",
        "−1: whatever check had passed, the agent's next call changed a line of this edit, and its words there call what it did wrong.",
        0.8,
        _owned_up,
        spares=True,
        names_next=True,
    ),
)
"""The first that holds decides, and none below it is asked."""


# What was of use.


def _thumbs_up(step: Step, later: Hindsight) -> Told | None:
    return _thumb(step, later, "up", ())


def _passed_check(step: Step, later: Hindsight) -> Told | None:
    check = later.trace.checks.get(step.step)
    if check is None or not check.passed or not check.fresh or step.step in later.looks:
        return None
    if _ran_what_failed(step, check):
        return None
    seen = "It read back" if check.kind == "read-back" else f"The check{_limit(step)} passed over"
    if not check.over:
        seen = f"The check{_limit(step)} passed, and is not known to test"
    edits = check.over or check.edits
    named = edits_named(structs.replace(check, edits=edits))
    return Told(f"{seen} the edits of {named}.", edits)


def _ran_what_failed(step: Step, check: Check) -> bool:
    """Whether a line ran what it had built, hid how that ended, and printed that it failed."""
    ran = step.run is not None and step.run.check == "run" and check.kind != "run"
    return ran and speaks_of_failure(step.printed, is_hidden=True)


def _told_of_a_pass(step: Step, later: Hindsight) -> Told | None:
    number = later.ended.get(step.step)
    if number is None or _passed_check(later.trace.steps[number - 1], later) is None:
        return None
    return Told(f"It told that the check begun in step {number} passed.", (number,))


def _check_passed_over_it(step: Step, later: Hindsight) -> Told | None:
    over = later.passed(step.step, len(later.trace.steps) + 1)
    if over is None:
        checks = _checks_its_own(step, later)
        return Told("Its own check passed over what it had written.") if checks else None
    if over.kind == "read-back":
        return Told(f"Step {over.step} read it back.", (over.step,))
    return Told(f"The check in step {over.step} passed over it.", (over.step,))


UNDONE = later(
    r"(?m)^(?:awk|cat|cp|mv|node|patch|perl|python3?|ruby|sed|tee|(?:ba|z)?sh): |^Traceback "
)
"""How what writes says that it did not."""


def _checks_its_own(step: Step, later: Hindsight) -> bool:
    """Whether a line put something into a file of the work, and its own check then passed."""
    check = later.trace.checks.get(step.step)
    if check is None or not check.passed or step.run is None or UNDONE.search(step.printed):
        return False
    before, _ = around_its_check(step.run)
    wrote = any(one.writes or one.rule == "inline-program" for one in before)
    edits = (touch for touch in later.touched.get(step.step, ()) if touch.kind in ("edit", "write"))
    return wrote and not all(later.is_scratch(touch.path) for touch in edits)


def _accepted(step: Step, later: Hindsight) -> Told | None:
    number = later.accepted.get(step.step)
    if number is None or _is_untold(step):
        return None
    verb = "answered" if step.operation == "ask_user" else "accepted"
    return Told(f"The user {verb} it in step {number}.", (number,))


def _used(step: Step, later: Hindsight) -> Told | None:
    number = later.trace.uses.get(step.step)
    if number is None or _is_launched(step) or _is_awaited(step, later.trace.steps[number - 1]):
        return None
    return Told(f"Step {number} took its arguments from what it showed.", (number,))


def _given(step: Step, later: Hindsight) -> Told | None:
    number = later.given.get(step.step)
    if number is None:
        return None
    return Told(f"The answer in step {number} is what it showed, word for word.", (number,))


def _held(step: Step, later: Hindsight) -> Told | None:
    number = later.held.get(step.step)
    if number is None:
        return None
    return Told(f"The answer in step {number} holds all that it showed.", (number,))


def _repeated(step: Step, later: Hindsight) -> Told | None:
    number = later.answers.get(step.step) or later.commits.get(step.step)
    if number is None or step.call is None or _is_launched(step):
        return None
    return Told(f"The words of step {number} repeat what it showed.", (number,))


def _claimed(step: Step, later: Hindsight) -> Told | None:
    number = later.claimed.get(step.step)
    if number is None:
        return None
    return Told(f"It passed, and the words of step {number} say so.", (number,))


def _named(step: Step, later: Hindsight) -> Told | None:
    number = later.reported.get(step.step)
    if number is None or _is_launched(step):
        return None
    return Told(f"The report of step {number} names the file that it read.", (number,))


def _cited(step: Step, later: Hindsight) -> Told | None:
    number = later.cited.get(step.step)
    if number is None or _is_launched(step):
        return None
    return Told(f"The words of step {number} name a line that it showed.", (number,))


def _page(step: Step, later: Hindsight) -> Told | None:
    number = later.pages.get(step.step)
    if number is None:
        return None
    return Told(f"The words of step {number} give the address of the page that it read.", (number,))


def _opened(step: Step, later: Hindsight) -> Told | None:
    number = later.opened.get(step.step)
    if number is None or not step.success:
        return None
    return Told(f"Step {number} read what it put into a file.", (number,))


def _is_untold(step: Step) -> bool:
    """Whether the log does not say how a call went."""
    return step.call is not None and step.success is None


MOST_SAID = 80
"""Characters of what a check was limited to that are told."""


BY_NAME = later(r"cargo (?:t|test|nextest run)")
"""Runners whose operands are parts of the names of tests, and no files."""
SKIPS = frozenset(["-skip", "--skip"])
"""Options that name what a check leaves out."""


def _limit(step: Step) -> str:
    """What tests a check chose, or what its options limited it to; empty where it did neither."""
    run = step.run
    checks = [one for one in run.simples if one.check] if run is not None else []
    names = [
        value
        for one in checks
        for flag, values in one.limits
        if flag not in SKIPS and (flag or BY_NAME.fullmatch(one.name))
        for value in values
    ]
    said = ", ".join(dict.fromkeys(names))
    if len(said) > MOST_SAID:
        return ", limited to what it names,"
    return f", limited to `{said}`," if said else ""


def _is_launched(step: Step) -> bool:
    """Whether the output of a call only says that it runs on, and no other how it ended."""
    return step.success is None and step.result is not None and step.result.outcome == "launched"


def _is_awaited(step: Step, other: Step) -> bool:
    """Whether a later call only asked how one that ran on goes."""
    return other.like in POLLS and step.result is not None and step.result.end is not None


GOOD = (
    Rule("thumb", "+1: the user gave it a thumbs up.", 0.95, _thumbs_up),
    Rule(
        "passed-check",
        "+1: a check that passed over edits that had not passed one of its kind, or a run of tests that passed and is not known to test them; not of a line whose run printed a failure and hid it.",
        0.9,
        _passed_check,
    ),
    Rule(
        "told-of-a-pass",
        "+1: a look at a check that ran on, which told that it passed over edits that had not passed one of its kind.",
        0.85,
        _told_of_a_pass,
    ),
    Rule(
        "check-passed-over-it",
        "+1: an edit that a check passed over; a read-back behind words that correct, before anything is changed, passes over none.",
        0.9,
        _check_passed_over_it,
    ),
    Rule(
        "accepted",
        "+1: the user approved the edit, took up the plan or answered the question.",
        0.8,
        _accepted,
    ),
    Rule(
        "used-later",
        "+1: a later call took its arguments from what it showed, first or as the search before that call; a look at how it goes on does not.",
        0.85,
        _used,
    ),
    Rule(
        "opened-later",
        "+1: a later call read the file into which it put what it got.",
        0.75,
        _opened,
    ),
    Rule(
        "given-as-the-answer",
        "+1: a later answer is the whole of what it showed, and the user had not said it.",
        0.8,
        _given,
    ),
    Rule(
        "repeated-later",
        "+1: a later answer or report repeats what only this step had shown.",
        0.7,
        _repeated,
    ),
    Rule(
        "held-by-the-answer",
        "+1: the answer of its turn holds all that it showed, a line that nothing else had said.",
        0.75,
        _held,
    ),
    Rule(
        "said-to-pass",
        "+1: a check that passed, the first of its kind since the user spoke or one failed, and an answer or report says that such checks pass.",
        0.7,
        _claimed,
    ),
    Rule(
        "named-in-a-report",
        "+1: the report of the subagent that read a file names it.",
        0.55,
        _named,
    ),
    Rule(
        "cited-later",
        "+1: a later answer or report names a line (`total.py:120`) that this read was the last to show, and no edit has moved the file's lines since.",
        0.8,
        _cited,
    ),
    Rule(
        "page-cited",
        "+1: the answer of its turn, or the report of its subagent, gives the address of the page that it read.",
        0.7,
        _page,
    ),
)
"""The first that holds decides; the others that do are kept as votes."""
