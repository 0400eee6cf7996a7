"""What was a step worth in hindsight? Each judgement names its evidence by step."""

from collections.abc import Iterator

from msgspec import structs

from forsy_retrace.events import SHELL
from forsy_retrace.evidence import Vote, derived, inferred
from forsy_retrace.trace import Step, Trace, put

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


NAMING = frozenset(
    [
        "corrected-by-the-user",
        "left-behind",
        "owned-up-to",
        "replaced-later",
        "reworked-after-failed-check",
        "taken-back",
    ]
)
"""The rules whose reasons say already which step came instead."""


def _directive(
    step: Step, later: Hindsight, rule: Rule, bad: Told
) -> tuple[str, tuple[int, ...]] | None:
    """What failed and what was done instead, with the steps that it names."""
    trace = later.trace
    if not bad.steps:
        return None
    (successor,) = bad.steps
    while never_ran(trace.steps[successor - 1]) and successor in later.retried:
        successor = later.retried[successor]
    line = first_error(step) if step.success is False else ""
    ran = not never_ran(step)
    went = "It failed" if ran else "It never ran"
    what = f"{went}: {line.rstrip(':')}" if line else bad.reason
    # After work that had gone well, what came between was no answer to the user's words; nor is
    # work on other files one to an edit that failed.
    is_edit = step.run is None and step.operation in ("edit", "write")
    is_tried = step.success is False and ran and not is_edit
    other = trace.steps[successor - 1]
    tried = trace.steps[step.step : successor - 1] if is_tried else ()
    between = [
        s
        for s in tried
        if s.actor == step.actor
        and s.call is not None
        and s.success
        and s.operation in ("execute", "edit", "write", "install", "download")
        and (s.parallel_group is None or s.parallel_group != step.parallel_group)
    ]
    end = "" if what.endswith((".", "!", "?")) else "."
    is_again, again = other.retry_of == step.step, f"{what}{end} Step {successor} tried again."
    if step.actor == SHELL:
        return (again, (successor,)) if is_again else None
    # What was done before the user spoke again may belong to anything.
    instead = tuple(s.step for s in between if s.turn == other.turn)
    if instead and is_again:
        steps = ", ".join(str(number) for number in instead[:5])
        word = "Step" if len(instead) == 1 else "Steps"
        verb = "was" if len(instead) == 1 else "were"
        text = f"{what}{end} {word} {steps} {verb} done instead, then step {successor} tried again."
        return text, (*instead[:5], successor)
    if between and is_again:
        return again, (successor,)
    if not line and rule.name in NAMING:
        said = f" The check said: {bad.said}" if bad.said else ""
        return f"{what}{end}{said}", bad.steps
    how = "was done instead"
    if (other.tool, other.input) == (step.tool, step.input):
        how = "tried again"
    elif other.success is False:
        how = "was tried instead and never ran" if never_ran(other) else "was tried instead"
    return f"{what}{end} Step {successor} {how}.", (successor,)
