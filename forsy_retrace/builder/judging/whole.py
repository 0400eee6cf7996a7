"""Which steps' whole outputs are an answer, or stand in one?"""

import re

from forsy_retrace.frames import shown_of
from forsy_retrace.patterns import later
from forsy_retrace.trace import Step, Trace

BRIEF = 5_000
"""Characters of an output that an answer may give as it is."""
ENDS = " \t\r\n*_`"
"""Blanks, and the signs that make an answer bold or code."""
LEAST = 3
"""Characters of an answer below which it may be like a result by chance."""
LINE = later(r"(?=.*[A-Z\d\W])(?=.*[^\W\d_]).{4,300}")
"""One line that is more than a number or a common word."""
SAYS_LITTLE = later(
    r"(?i)(?:complete|created|done|error|fail|false|found|hello|none|null|okay|pass|ready|saved|sent"
    r"|succe(?:ed|ss)|true|updated)[a-z]*\W*"
)
"""What any call may say of itself."""
IN_SIGHT = 1_000_000
"""Characters of the steps before an answer: more than an agent has before it."""


def given(trace: Trace) -> dict[int, int]:
    """Step to the first later answer that is its whole output, where the user had not said it."""
    shown: dict[tuple[str, str], int] = {}
    """By the actor and the words."""
    asked: list[str] = []
    found: dict[int, int] = {}
    for step in trace.steps:
        text = _bare(step)
        if step.action == "user_message":
            asked.append(step.input or "")
        elif step.call is not None and step.success is not False:
            shown[step.actor, text] = step.step
        elif step.action == "output" and len(text) >= LEAST:
            number = shown.get((step.actor, text))
            if number is not None and not any(text in words for words in asked):
                found.setdefault(number, step.step)
    return found


def held(trace: Trace) -> dict[int, int]:
    """Step to the answer of its turn that holds its whole output, where nothing else had said it."""
    lines: dict[str, list[tuple[Step, str]]] = {}
    """By the actor, since its last answer."""
    found: dict[int, int] = {}
    for step in trace.steps:
        if step.action == "user_message":
            lines.clear()
        elif step.call is not None and step.success is not False:
            line = _bare(step)
            if LINE.fullmatch(line) and not SAYS_LITTLE.fullmatch(line):
                lines.setdefault(step.actor, []).append((step, line))
        elif step.action == "output":
            for shown, line in lines.pop(step.actor, ()):
                if _holds(step.output or "", line) and _is_news(trace, shown, line, step):
                    found.setdefault(shown.step, step.step)
    return found


def _bare(step: Step) -> str:
    output = step.output or ""
    return shown_of(output).strip(ENDS) if len(output) <= BRIEF else ""


def _holds(text: str, line: str) -> bool:
    return line in text and re.search(rf"(?<!\w){re.escape(line)}(?!\w)", text) is not None


def _is_news(trace: Trace, shown: Step, line: str, answer: Step) -> bool:
    """Whether no other step before an answer says what one showed, as far as its author sees back."""
    room = IN_SIGHT
    for number in range(answer.step - 2, -1, -1):
        step = trace.steps[number]
        sent, got = step.input or "", step.output or ""
        if line in sent or (step is not shown and line in got):
            return False
        room -= len(sent) + len(got)
        if room < 0:
            break
    return True
