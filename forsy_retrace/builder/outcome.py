"""Did it work, by the harness's word?

A masked exit is looked through: where a pipe or `|| true` hid the status and the output ends in
the tool's own failure summary, the step failed, as an inference. A search that found nothing and
exits 1 worked.
"""

import msgspec

from forsy_retrace.commands import Command
from forsy_retrace.events import NEVER_RAN
from forsy_retrace.evidence import derived, inferred
from forsy_retrace.trace import Step, Trace, put

from .classify import ends_as_code
from .outputs.found import (
    found_no_more,
    found_nothing,
    showed_differences,
    showed_running_checks,
)
from .outputs.printed import unreached
from .outputs.verdicts import SAYS_DONE, SHOWS_IT, failed_by_its_own_words
from .tools import PLAN_EXITS


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
            ground = inferred("plan-taken-up", 0.9, *((here,) if here else ()), steps=())
            steps[offered] = put(steps[offered], {"success": ground}, success=True)
    return steps


def _judged(step: Step) -> Step:
    if step.action == "user_message":
        return step
    if step.action == "error":
        return put(step, {"success": derived("error-step")}, success=False)
    if step.action == "output" or step.via == "notification":
        return put(step, {"success": derived("words-delivered")}, success=True)
    if step.call is None:
        return step
    if step.result is None:
        return put(step, {}, success=False) if step.via == "interrupted" else step
    return _call(step, step.run)


def _call(step: Step, run: Command | None) -> Step:
    result = step.told
    assert result is not None
    basis = result.origin.evidence.at(result.basis)
    here = result.origin.evidence
    shown = None if result.output is None else step.printed
    match result.outcome:
        case "ok" | "unknown":
            untold = result.outcome == "unknown"
            if run is not None and run.place < unreached(step):
                ground = inferred("folder-not-entered", 0.9, here)
                return put(step, {"success": ground}, success=False)
            words, hidden = step.printed, untold or ends_as_code(step) or _is_excused(step, run)
            verdict = failed_by_its_own_words(words, run, step.tool or "", untold=hidden)
            if verdict is not None:
                ground = inferred(verdict.rule, verdict.confidence, here)
                return put(step, {"success": ground}, success=False)
            if not untold:
                return put(step, {"success": derived(result.rule, basis)}, success=True)
            if step.operation in ("edit", "write") and SAYS_DONE.match(words):
                ground = inferred("says-it-was-done", 0.9, here)
                return put(step, {"success": ground}, success=True)
            if step.like == "Read" and SHOWS_IT.match(words):
                ground = inferred("shows-what-was-asked", 0.95, here)
                return put(step, {"success": ground}, success=True)
        case "failed" if found_nothing(shown, result.exit_code, run):
            ground = inferred("search-without-match", 0.9, here)
            return put(step, {"success": ground}, success=True)
        case "failed" if found_no_more(shown, result.exit_code, run):
            ground = inferred("last-search-without-match", 0.85, here)
            return put(step, {"success": ground}, success=True)
        case "failed" if showed_differences(shown, result.exit_code, run):
            ground = inferred("differences-shown", 0.85, here)
            return put(step, {"success": ground}, success=True)
        case "failed" if showed_running_checks(shown, result.exit_code, run):
            ground = inferred("checks-still-run", 0.9, here)
            return put(step, {"success": ground}, success=True)
        case "failed" | "rejected" | "blocked" | "interrupted" | "timed_out":
            return put(step, {"success": derived(result.rule, basis)}, success=False)
    return step


def _is_excused(step: Step, run: Command | None) -> bool:
    """`find` ends with 1 where it could not look in a folder: Claude Code takes that for no error."""
    code = step.told.exit_code if step.told else None
    return run is not None and run.main == "find" and code is None


def never_ran(step: Step) -> bool:
    """Whether a call was turned down before it could do anything."""
    return step.result is not None and step.result.outcome in NEVER_RAN
