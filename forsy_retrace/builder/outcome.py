"""Did it work, by the harness's word?

A masked exit is looked through: where a pipe or `|| true` hid the status and the output ends in
the tool's own failure summary, the step failed, as an inference. A search that found nothing and
exits 1 worked.
"""

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from forsy_retrace.commands import Command
from forsy_retrace.events import NEVER_RAN
from forsy_retrace.evidence import derived, inferred
from forsy_retrace.patterns import later
from forsy_retrace.trace import Step, Trace, put

from .classify import ends_as_code
from .outputs.found import NO_FAILURE, NoFailure
from .outputs.printed import unreached
from .outputs.verdicts import failed_by_its_own_words
from .rule import Rule
from .tools import PLAN_EXITS

NOT_ENTERED = Rule(
    "folder-not-entered",
    "The line's `cd` says that it failed, and what the line is for stands behind it and `&&`: it never ran.",
    0.9,
)
TAKEN_UP = Rule(
    "plan-taken-up",
    "A plan filed as rejected only since the user took it up in the next turn.",
    0.9,
)
AN_ERROR = Rule("error-step", "An error of the model or the harness is a failure.")
DELIVERED = Rule("words-delivered", "Words of the agent that were said.")
STOPPED = Rule("interrupted", "A running call that the user stopped did not succeed.")
RULES = (NOT_ENTERED, TAKEN_UP, AN_ERROR, DELIVERED, STOPPED)


def outcome(trace: Trace) -> Trace:
    """The success of each step that can have one."""
    starts = trace.delegations
    ran = {starts[step.actor] for step in trace.steps if step.actor in starts}
    steps = [_judged(_stopped(step) if step.step in ran else step) for step in trace.steps]
    return msgspec.structs.replace(trace, steps=tuple(_taken_up(steps)))


def _stopped(step: Step) -> Step:
    """A delegation whose subagent did something ran, whatever words its end was logged in."""
    if not never_ran(step):
        return step
    assert step.result is not None
    result = msgspec.structs.replace(step.result, outcome="interrupted")
    return msgspec.structs.replace(step, result=result)


def _taken_up(steps: list[Step]) -> list[Step]:
    """A plan that the client files as rejected only since the user took it up afresh."""
    for index, step in enumerate(steps):
        if step.via != "plan accepted":
            continue
        offered = next((i for i in range(index - 1, -1, -1) if steps[i].like in PLAN_EXITS), None)
        if offered is not None and steps[offered].success is False:
            here = step.origin.evidence if step.origin else None
            ground = TAKEN_UP.ground(*((here,) if here else ()))
            steps[offered] = put(steps[offered], {"success": ground}, success=True)
    return steps


def _judged(step: Step) -> Step:
    if step.action == "user_message":
        return step
    if step.action == "error":
        return put(step, {"success": AN_ERROR.ground()}, success=False)
    if step.action == "output" or step.via == "notification":
        return put(step, {"success": DELIVERED.ground()}, success=True)
    if step.call is None:
        return step
    if step.result is None:
        return put(step, {}, success=False) if step.via == "interrupted" else step
    return _call(step, step.run)


def _call(step: Step, run: Command | None) -> Step:
    result = step.told
    assert result is not None
    here = result.origin.evidence
    told = derived(result.rule, here.at(result.basis))
    shown = None if result.output is None else step.printed
    row: Row | NoFailure | None = None
    match result.outcome:
        case "ok" | "unknown":
            untold = result.outcome == "unknown"
            if run is not None and run.place < unreached(step):
                ground = NOT_ENTERED.ground(here)
                return put(step, {"success": ground}, success=False)
            hidden = untold or ends_as_code(step) or _is_excused(step, run)
            verdict = failed_by_its_own_words(step.printed, run, step.like, untold=hidden)
            if verdict is not None:
                ground = inferred(verdict.rule, verdict.confidence, here)
                return put(step, {"success": ground}, success=False)
            if not untold:
                return put(step, {"success": told}, success=True)
            row = next((row for row in SAYS_SO if row.test(step)), None)
        case "failed":
            row = next((row for row in NO_FAILURE if row.test(shown, result.exit_code, run)), None)
            if row is None:
                return put(step, {"success": told}, success=False)
        case "rejected" | "blocked" | "interrupted" | "timed_out":
            return put(step, {"success": told}, success=False)
    if row is None:
        return step
    return put(step, {"success": inferred(row.rule, row.confidence, here)}, success=True)


SAYS_DONE = later(
    r"(?i)\s*(?:file (?:created|written|saved|updated|edited) successfully|the file \S+ has been (?:edited|updated|created|written)"
    r"|successfully (?:wrote|created|edited|replaced|updated|applied)"
    r"|wrote \d{1,12} (?:bytes|char(?:acter)?s|lines) (?:in)?to )"
)
"""How an editing tool begins that says it did what it was asked."""
SHOWS_IT = later(
    r"(?i)\s*Here(?:'|’)s the (?:result of running `cat -n` on |files and directories up to )"
)
"""How a reading tool begins that shows what it was asked for."""


def _was_done(step: Step) -> bool:
    """An editing tool that flags nothing, and says that the file was written."""
    return step.operation in ("edit", "write") and SAYS_DONE.match(step.printed) is not None


def _was_shown(step: Step) -> bool:
    """A reading tool that flags nothing, and heads what it shows."""
    return step.like == "Read" and SHOWS_IT.match(step.printed) is not None


class Row(NamedTuple):
    """A way in which a tool says that it did its work; its test's docstring is its sentence."""

    rule: str
    confidence: float
    test: Callable[[Step], bool]


SAYS_SO: tuple[Row, ...] = (
    Row("says-it-was-done", 0.9, _was_done),
    Row("shows-what-was-asked", 0.95, _was_shown),
)


def _is_excused(step: Step, run: Command | None) -> bool:
    """`find` ends with 1 where it could not look in a folder: Claude Code takes that for no error."""
    code = step.told.exit_code if step.told else None
    return run is not None and run.main == "find" and code is None


def made(above: Step, step: Step) -> bool:
    """Whether the code of one call made the other: the end of the first came after it."""
    if above.call is None or step.call is None:
        return False
    return step.call.made_by != "" and step.call.made_by == above.call.call


def never_ran(step: Step) -> bool:
    """Whether a call was turned down before it could do anything."""
    return step.told is not None and step.told.outcome in NEVER_RAN
