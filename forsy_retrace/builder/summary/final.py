"""The last output: what the harness took, or the answer that ends the work."""

from forsy_retrace.patterns import later
from forsy_retrace.sdk import strings
from forsy_retrace.trace import Step, Trace

from ..finishes import closing_words
from ..judging.ending import LENGTHS
from .facts import Told, values


def final_output(trace: Trace, told: Told) -> str:
    """What the harness took as the result of the work, else the last answer that ends it.

    A mere `You're welcome` ends none. Where something came of the last message, but no answer, the
    log ends without one.
    """
    if taken := list(strings(values(told, "submission"))):
        return taken[-1]
    steps = [s for s in trace.steps if s.origin is None or not s.origin.branch]
    went_on = False
    for index in range(len(steps) - 1, -1, -1):
        is_message = steps[index].action == "user_message"
        if is_message and went_on:
            return ""
        went_on = not is_message
        text = _answer(steps[index])
        if text is not None and not _is_courtesy(steps, index):
            return _cut_before(steps, index) + text
        went_on = went_on and text is None
    return ""


WELCOME = later(
    r"(?i)\W*(?:you(?:['’]re| are) (?:(?:very|most|so|always) )?welcome|(?:it (?:was|is) )?my pleasure"
    r"|(?:i['’]m )?(?:so )?glad (?:i could|to|it|that|you)|happy to (?:help|have helped)|any ?time(?=\s*(?:[!.,]|\Z))"
    r"|no (?:offen[cs]e|problem|worries)|kein problem|keine ursache|pas de (?:quoi|souci|problème)|no hay de qué"
    r"|de nada|de rien|gern(?:e| geschehen)|por nada|пожалуйста|不客气|どういたしまして)\b"
)
"""How thanks are answered, and excuses."""
MOST_WELCOME = 300


def _is_courtesy(steps: list[Step], index: int) -> bool:
    """Whether an answer only answers the thanks for work that was done before."""
    before, step = steps[index - 1] if index else None, steps[index]
    thanked = before is not None and before.message_role == before.feedback_type == "approval"
    text = step.output or ""
    return thanked and len(text) <= MOST_WELCOME and WELCOME.match(text) is not None


def _cut_before(steps: list[Step], index: int) -> str:
    """What had come of an answer, each time that it reached its length and went on of itself."""
    found: list[str] = []
    while index >= 2 and steps[index].call is None:
        cut, end, more = steps[index - 2 : index + 1]
        if end.via != "limit" or end.output not in LENGTHS:
            break
        if cut.via != "cut off" or cut.actor != more.actor:
            break
        found.append(cut.output or "")
        index -= 2
    return "".join(reversed(found))


def _answer(step: Step) -> str | None:
    """The words that end a turn; None for every other step."""
    if step.call is not None:
        return closing_words(step) or None
    return step.output or "" if step.action == "output" else None
