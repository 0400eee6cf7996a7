"""What was a step worth in hindsight? Each judgement names its evidence by step."""

from collections.abc import Iterator

from msgspec import structs

from forsy_retrace.events import SHELL
from forsy_retrace.evidence import Vote, derived, inferred
from forsy_retrace.trace import Step, Trace, put, steps_named

from .judging.hindsight import Hindsight
from .judging.worth import BAD, GOOD, Rule, Told
from .outcome import never_ran
from .outputs.failures import first_error


def judge(trace: Trace) -> Trace:
    """eval, eval_reason and directive of every step."""
    hindsight = Hindsight(trace)
    return structs.replace(trace, steps=tuple(_judged(step, hindsight) for step in trace.steps))


def _judged(step: Step, later: Hindsight) -> Step:
    if step.action == "user_message":
        return step
    if (bad := next(_told(BAD, step, later), None)) is not None:
        return _of_no_use(step, later, *bad)
    if step.step in later.meant:
        return step
    found = list(_told(GOOD, step, later))
    if not found:
        return step
    votes = tuple(Vote(rule.name, "+1", rule.confidence or 1.0) for rule, _ in found)
    rule, good = found[0]
    ground = inferred(rule.name, rule.confidence or 1.0, *good.shown, steps=good.steps, votes=votes)
    return put(step, {"eval": ground, "eval_reason": ground}, eval=1, eval_reason=good.reason)


def _told(rules: tuple[Rule, ...], step: Step, later: Hindsight) -> Iterator[tuple[Rule, Told]]:
    """The rules that say something of a step, and what."""
    for rule in rules:
        if rule.spares and step.step in later.meant:
            continue
        if (told := rule.tell(step, later)) is not None:
            yield rule, told


def _of_no_use(step: Step, later: Hindsight, rule: Rule, bad: Told) -> Step:
    ground = (
        derived(rule.name, *bad.shown, steps=bad.steps)
        if rule.confidence is None
        else inferred(rule.name, rule.confidence, *bad.shown, steps=bad.steps)
    )
    step = put(step, {"eval": ground, "eval_reason": ground}, eval=-1, eval_reason=bad.reason)
    told = _directive(step, later, rule, bad)
    if told is None:
        return step
    text, named = told
    return put(step, {"directive": structs.replace(ground, steps=named)}, directive=text)


MOST_NAMED = 5
"""Steps that a directive names as done instead."""


def _directive(
    step: Step, later: Hindsight, rule: Rule, bad: Told
) -> tuple[str, tuple[int, ...]] | None:
    """What failed and what was done instead, with the steps that it names."""
    if not bad.steps:
        return None
    line = first_error(step) if step.success is False else ""
    went = "It never ran" if never_ran(step) else "It failed"
    what = f"{went}: {line.rstrip(':')}" if line else bad.reason
    what += "" if what.endswith((".", "!", "?", "…")) else "."
    other = _successor(step, bad.steps, later)
    is_again, again = other.retry_of == step.step, f"{what} Step {other.step} tried again."
    if step.actor == SHELL:
        return (again, (other.step,)) if is_again else None
    between = _done_between(step, other, later.trace) if is_again else []
    # What was done before the user spoke again may belong to anything.
    if instead := [s.step for s in between if s.turn == other.turn]:
        named = instead[:MOST_NAMED]
        told = steps_named(named).capitalize()
        if more := len(instead) - len(named):
            told = f"Steps {', '.join(map(str, named))} and {more} more"
        how = f"{told} {'was' if len(instead) == 1 else 'were'} done instead"
        return f"{what} {how}, then step {other.step} tried again.", (*named, other.step)
    if between:
        return again, (other.step,)
    if rule.names_next and not line:
        said = f" The check said: {bad.said}" if bad.said else ""
        return f"{what}{said}", bad.steps
    return f"{what} Step {other.step} {_how(step, other)}.", (other.step,)


def _successor(step: Step, steps: tuple[int, ...], later: Hindsight) -> Step:
    """The step that came in place of another; of attempts that never ran, the one behind them.

    What was sent back with words was answered by the next attempt, whatever became of that.
    """
    (number,) = steps
    other = later.trace.steps[number - 1]
    while never_ran(other) and other.step in later.retried:
        then = later.trace.steps[later.retried[other.step] - 1]
        if never_ran(step) and then.turn != other.turn:
            break
        other = then
    return other


def _done_between(step: Step, other: Step, trace: Trace) -> list[Step]:
    """What its actor did between a failed call and the next attempt.

    After work that had gone well, what came between was no answer to the user's words; nor is work
    on other files one to an edit that failed.
    """
    is_edit = step.run is None and step.operation in ("edit", "write")
    if step.success is not False or never_ran(step) or is_edit:
        return []
    return [
        s
        for s in trace.steps[step.step : other.step - 1]
        if s.actor == step.actor
        and s.call is not None
        and s.success
        and s.operation in ("execute", "edit", "write", "install", "download")
        and (s.parallel_group is None or s.parallel_group != step.parallel_group)
    ]


def _how(step: Step, other: Step) -> str:
    """What the step was that came in its place."""
    if (other.tool, other.input) == (step.tool, step.input):
        return "tried again"
    if other.success is False:
        return "was tried instead and never ran" if never_ran(other) else "was tried instead"
    return "was done instead"
