"""Which failures were the point, by the agent's own words?

A test that is to fail before the code is there, told before it runs; and a bug that was to be seen,
told right behind the run that showed it, before any file was changed that stood there already.
"""

import re

from forsy_retrace.patterns import later
from forsy_retrace.trace import Step, Trace

from .edits import EDITS
from .verdicts import says_it_never_began

TO_FAIL = re.compile(
    r"(?i)\b(?:should|must|will|expect(?:ed|s)?(?: it)?(?: to)?|verify|confirm|check|see|watch)\b"
    r"(?:(?!\b(?:if|whether|not?|never|why|what|which|where|how|without|any)\b|n['’]t\b)[^.\n]){0,60}"
    r"\b(?:fails?|(?:it|them|tests?|is|are|be) failing)\b"
    r"|\bfail(?:s|ing)? first\b|\bred (?:phase|test)\b"
)
"""How an agent says that a test is to fail before the code is there."""

NO_TEST = later(r"(?i)\[setup failed\]|collected 0 items|no tests (?:ran|found|to run)|\bcd: ")
"""How a runner, or the shell before it, says that it came to no test."""
MOST_OF_A_FAILURE = 2000
"""Characters at the end of an output in which it says why nothing ran."""

SHOWED_THE_BUG = later(
    r"(?i)\b(?:successfully|i|we|i['’]ve|we['’]ve|have|has|this|that|which|it|script|test|bug|issue|error|problem"
    r"|failure|can now) (?:(?:is|was|has been|successfully|now) )?(?:reproduced|reproduces|reproducible)\b"
    r"|\breproduced (?:the|it)\b"
)
"""How an agent says that a run showed the bug that it was after."""
STILL = later(r"(?i)\b(?:still|again|not|never|cannot|yet|unable|fail(?:ed|s)? to)\b|n['’]t\b")
"""What makes other words of them."""
BEGINNING = 400
"""Characters of what the agent says next in which it speaks of the run."""


def meant(trace: Trace) -> frozenset[int]:
    """The steps whose failure was the point."""
    worked = _first_work(trace)
    said: dict[str, str] = {}
    found = set[int]()
    for step in reversed(trace.steps):
        if step.call is not None and step.success is False:
            is_run = step.step < worked and step.operation in ("execute", "verify")
            is_bug = is_run and _shows_the_bug(said.get(step.actor, ""))
            if is_bug or (step.step in trace.checks and _is_to_fail(step)):
                found.add(step.step)
        said[step.actor] = step.reasoning or (step.output or "" if step.action == "output" else "")
    return frozenset(found)


def _is_to_fail(step: Step) -> bool:
    if says_it_never_began(step.printed) or NO_TEST.search(step.printed[-MOST_OF_A_FAILURE:]):
        return False
    sent = step.call.input if step.call else None
    said = sent.get("description") if isinstance(sent, dict) else None
    words = f"{step.reasoning or ''}\n{said or ''}"
    return TO_FAIL.search(words[-2000:]) is not None


def _shows_the_bug(said: str) -> bool:
    found = SHOWED_THE_BUG.search(said[:BEGINNING])
    if found is None:
        return False
    sentence = said[: found.start()].rpartition("\n")[2].rpartition(". ")[2] + found[0]
    return STILL.search(sentence) is None


def _first_work(trace: Trace) -> int:
    """The first step that changed a file which stood there before; behind all where none did."""
    read, made = set[str](), set[str]()
    for touch in trace.touches:
        if touch.kind == "read" and touch.path not in made:
            read.add(touch.path)
        elif touch.kind == "write" and touch.path not in read:
            made.add(touch.path)
        elif touch.kind in (*EDITS, "changed") and touch.path not in made:
            return touch.step
    return len(trace.steps) + 1
