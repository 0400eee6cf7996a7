"""What in one field of a claimed step the log speaks against; `compare` has the table of them."""

from collections.abc import Iterator
from typing import Literal

from forsy_retrace.trace import Step

from .difference import Case, Difference
from .likeness import Way, hides_a_failure
from .marks import BAD_NEWS
from .receipts import is_receipt
from .tools import tool_way

SURE = 0.8
"""Confidence of an inference below which it contradicts nobody."""
NOTHING = (
    "no output", "empty", "none", "nothing", "no content", "n/a", "null", "no stdout",
    "bash completed with no output", "no result", "empty output",
)  # fmt: skip
"""Words that writers put where there was no output."""


def tool_of(case: Case, says: str) -> Iterator[Difference]:
    claim, step = case.claim.step, case.logged.step
    if step.tool is None or claim.kind not in ("call", "error"):
        return
    match tool_way(claim.tool, step):
        case "other":
            yield Difference("tool", "altered", says, claim.tool, step.tool)
        case "unnamed":
            yield Difference("tool", "note", "The claim names no tool.", None, step.tool)


def input_of(case: Case, says: str) -> Iterator[Difference]:
    claim, step = case.claim.step, case.logged.step
    if claim.kind not in ("words", "call") or not step.input:
        return
    found = case.logged.input_as(claim)
    if found.way == "silent":
        yield Difference("input", "note", "The claim does not show the input.", claim.input)
    elif found.way == "other":
        more = [f" It leaves out {_count(found.lacks)}."] if found.lacks else []
        more += [f" It adds {_count(found.adds)}."] if found.adds else []
        yield Difference("input", "altered", says + "".join(more), claim.input, step.input)


def _count(names: tuple[str, ...]) -> str:
    return "an argument" if len(names) == 1 else f"{len(names)} arguments"


def output_of(case: Case, says: str) -> Iterator[Difference]:
    claim, step = case.claim.step, case.logged.step
    if claim.kind not in ("call", "error", "output"):
        return
    said = claim.output or (claim.input if claim.kind == "output" else None)
    if step.output is None and claim.kind != "output":
        if said and step.call is not None and not _says_nothing(said):
            yield _without_result(case, said)
        return
    way = (
        case.logged.said_as(claim)
        if claim.kind == "output"
        else case.logged.output_as(claim.output)
    )
    weight, why = _charge(case, way, said or "", says)
    if weight == "altered":
        yield Difference("output", weight, why, said, step.output or step.input)
    elif weight == "note":
        yield Difference("output", weight, why, said)


def _charge(
    case: Case, way: Way, said: str, says: str
) -> tuple[Literal["altered", "note", ""], str]:
    """What a comparison of outputs comes to, and its sentence."""
    step, shown = case.logged.step, case.logged.step.output or ""
    worked, told_failed = step.success is True, case.claim.step.success is False
    match way:
        case "silent" if said:
            return "note", "Of the output nothing is shown."
        case "part" if case.claim.step.kind == "output":
            return "altered", "It leaves out a part of the words, without a mark."
        case "part" if not worked and not told_failed and hides_a_failure(said, shown):
            return "altered", "It leaves out, without a mark, what speaks of a failure."
        case "part":
            return "note", "A part of it, and it does not say so."
        case "other" if worked and is_receipt(said, shown):
            return "note", "Other words for the same receipt."
        case "other" if not (_says_nothing(said) and not shown.strip()):
            return "altered", says
    return "", ""


def _says_nothing(text: str | None) -> bool:
    return (text or "").strip().strip("()[]<>.").strip().lower() in ("", *NOTHING)


def _without_result(case: Case, said: str) -> Difference:
    """A call that never returned has no output to tell; a log without results tells none."""
    if case.shows.results == "yes":
        return Difference("output", "altered", "The log has no result of this call.", said)
    return Difference("output", "note", "Such a log shows no results.", said)


def success_of(case: Case, says: str) -> Iterator[Difference]:
    claim, step = case.claim.step, case.logged.step
    shown, said = step.success, claim.success
    if claim.kind not in ("call", "error") or shown is None or said is shown:
        return
    if step.call is None and step.action != "error":
        return
    if said is None and (shown or claim.action == "error"):
        return
    ground = step.grounds.get("success")
    by_rule = ground is not None and ground.grade == "inferred"
    if ground is not None and by_rule:
        says += f" So says the rule {ground.rule}, with a confidence of {ground.confidence}."
    # The harness's own flag is on the claim's side where a rule reads a success out of a failure.
    excused = by_rule and (shown or (ground and (ground.confidence or 0) < SURE))
    # `git commit` behind a wrapper that exits 0: what a search or read prints is no such word.
    acts = step.operation not in ("read", "search")
    if shown and said is False and acts and BAD_NEWS.search(step.output or ""):
        excused, says = True, "The harness flags a success; the output speaks of a failure."
    weight: Literal["altered", "note"] = "note" if excused else "altered"
    yield Difference("success", weight, says, _word(said), _word(shown))


def _word(value: bool | None) -> str:
    return {True: "true", False: "false", None: "null"}[value]


def feedback_of(case: Case, says: str) -> Iterator[Difference]:
    claim, step = case.claim.step, case.logged.step
    said, shown = claim.feedback_type, step.feedback_type
    if claim.kind != "words" or said is None or said == shown:
        return
    judges = said in ("approval", "correction")
    if judges and case.opens:
        none = "The message comes before any work, and can judge none."
        yield Difference("feedback_type", "altered", none, said, shown)
    elif judges and shown in ("approval", "correction") and _is_sure(step):
        yield Difference("feedback_type", "altered", says, said, shown)
    else:
        other = "The rules that read the log take these words otherwise."
        yield Difference("feedback_type", "note", other, said, shown)


def _is_sure(step: Step) -> bool:
    ground = step.grounds.get("feedback_type")
    return ground is None or ground.confidence is None or ground.confidence >= SURE


def action_of(case: Case, says: str) -> Iterator[Difference]:
    claim, step = case.claim.step, case.logged.step
    if claim.action == "error" and step.success is True:
        yield Difference("action", "altered", says, "error", step.action)
