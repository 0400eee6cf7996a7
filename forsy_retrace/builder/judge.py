"""What was a step worth in hindsight? Each judgement names its evidence by step."""

import re
from collections.abc import Iterator

import msgspec

from forsy_retrace.evidence import derived, inferred
from forsy_retrace.trace import Step, Trace, put

from .files import first_error
from .flow import TOKEN, WORD, is_camel
from .outcome import never_ran


def judge(trace: Trace) -> Trace:
    """eval, eval_reason and directive of every step."""
    uses = _uses(trace)
    answers = _answers(trace)
    retried = _retried(trace)
    steps = tuple(_judged(step, trace, uses, answers, retried) for step in trace.steps)
    return msgspec.structs.replace(trace, steps=steps)


def _uses(trace: Trace) -> dict[int, tuple[int, str]]:
    """Step to the first later call that took a value from its output."""
    found: dict[int, tuple[int, str]] = {}
    for step in trace.steps:
        for number in step.caused_by or ():
            if step.causal_note and f"came from step {number}." in step.causal_note:
                found.setdefault(number, (step.step, "its arguments"))
    return found


def _answers(trace: Trace) -> dict[int, int]:
    """Step to the first later answer that repeats something its output showed first."""
    first: dict[str, int] = {}
    said: set[str] = set()
    found: dict[int, int] = {}
    for step in trace.steps:
        if step.action in ("user_message", "output") or step.via == "notification":
            if step.action == "output":
                for value in _telling(step.output or ""):
                    number = first.get(value)
                    if number is not None and value not in said:
                        found.setdefault(number, step.step)
            said.update(_telling(step.input or step.output or ""))
        elif step.call is not None:
            said.update(_telling(step.input or ""))
            if step.success is not False:
                for value in _telling((step.output or "")[:200_000]):
                    if value not in said:
                        first.setdefault(value, step.step)
    return found


NUMBER = re.compile(r"(?<![\w.])\d[\d,.]*\d(?:ms|s|%|kB|MB|x)?(?![\w])")


def _telling(text: str) -> Iterator[str]:
    """Values that an answer would repeat only because it read them."""
    for token in TOKEN.finditer(text):
        value = token[0].strip(".:-#/+%~@")
        if len(value) >= 8 and ("/" in value or "_" in value or "." in value or "-" in value):
            yield value
        for word in WORD.finditer(value):
            if len(word[0]) >= 8 and is_camel(word[0]):
                yield word[0]
    for number in NUMBER.finditer(text):
        if len(number[0]) >= 4:
            yield number[0]


def _retried(trace: Trace) -> dict[int, int]:
    found: dict[int, int] = {}
    for step in trace.steps:
        if step.retry_of is not None:
            found.setdefault(step.retry_of, step.step)
    return found


def _judged(
    step: Step,
    trace: Trace,
    uses: dict[int, tuple[int, str]],
    answers: dict[int, int],
    retried: dict[int, int],
) -> Step:
    if step.action == "user_message":
        return step
    bad = _bad(step, trace, retried)
    if bad is not None:
        reason, rule, confidence, successor = bad
        steps: tuple[int, ...] = (successor,) if successor else ()
        ground = (
            inferred(rule, confidence, steps=steps)
            if confidence < 1
            else derived(rule, steps=steps)
        )
        step = put(step, {"eval": ground, "eval_reason": ground}, eval=-1, eval_reason=reason)
        text = _directive(step, trace, successor)
        if text is None:
            return step
        return put(step, {"directive": ground}, directive=text)
    good = _good(step, trace, uses, answers)
    if good is None:
        return step
    reason, rule, confidence, steps = good
    ground = inferred(rule, confidence, steps=steps)
    return put(step, {"eval": ground, "eval_reason": ground}, eval=1, eval_reason=reason)


def _bad(
    step: Step, trace: Trace, retried: dict[int, int]
) -> tuple[str, str, float, int | None] | None:
    """A failure, a rejection, something undone, replaced or corrected."""
    successor = retried.get(step.step)
    if step.action == "error":
        return "The harness reported an error.", "error-step", 1.0, successor
    if step.success is False:
        if step.call is not None and never_ran(step):
            word = "rejected" if step.result and step.result.outcome == "rejected" else "blocked"
            return f"The call was {word} and never ran.", "never-ran", 1.0, successor
        check = trace.checks.get(step.step)
        if check is not None and check.summary:
            return f"The check failed: {check.summary}", "failed-check", 1.0, successor
        line = first_error(step)
        return f"Failed: {line}" if line else "Failed.", "failed", 1.0, successor
    if step.step in trace.replaced:
        by = trace.replaced[step.step]
        return f"Step {by} replaced most of what it wrote.", "replaced-later", 0.8, by
    return None


def _good(
    step: Step, trace: Trace, uses: dict[int, tuple[int, str]], answers: dict[int, int]
) -> tuple[str, str, float, tuple[int, ...]] | None:
    check = trace.checks.get(step.step)
    if check is not None and check.passed and check.fresh:
        edits = ", ".join(str(number) for number in check.edits)
        return f"The check passed over the edits of {edits}.", "passed-check", 0.9, check.edits
    for other in trace.checks.values():
        if step.step in other.edits and other.passed and other.step > step.step:
            reason = f"The check in step {other.step} passed over it."
            return reason, "check-passed-over-it", 0.9, (other.step,)
    if step.step in uses:
        number, what = uses[step.step]
        return f"Step {number} took {what} from its output.", "used-later", 0.85, (number,)
    if step.step in answers and step.call is not None:
        number = answers[step.step]
        return (
            f"The answer in step {number} repeats what it showed.",
            "repeated-in-answer",
            0.7,
            (number,),
        )
    return None


def _directive(step: Step, trace: Trace, successor: int | None) -> str | None:
    """What failed, and what was done instead."""
    if successor is None:
        return None
    line = first_error(step) if step.success is False else ""
    what = f"It failed: {line}" if line else (step.eval_reason or "It did not hold.")
    between = [
        s.step
        for s in trace.steps[step.step : successor - 1]
        if s.actor == step.actor
        and s.call is not None
        and s.success
        and s.operation in ("execute", "edit", "write", "install", "download")
    ]
    end = "" if what.endswith((".", "!", "?", ":")) else "."
    if between and trace.steps[successor - 1].retry_of == step.step:
        steps = ", ".join(str(number) for number in between[:5])
        word = "Step" if len(between) == 1 else "Steps"
        verb = "was" if len(between) == 1 else "were"
        return f"{what}{end} {word} {steps} {verb} done instead, then step {successor} tried again."
    return f"{what}{end} Step {successor} was done instead."
