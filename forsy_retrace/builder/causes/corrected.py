"""Which work does a message call wrong, so that it may be attempted again?"""

import posixpath
from collections.abc import Iterator, Mapping
from itertools import islice

from forsy_retrace.trace import Step

from ..again.attempts import acts, side_of
from ..again.retries import Retries
from ..outcome import never_ran
from ..tools import path_of
from ..words.messages import finds_fault

MOST_EDITS = 60
"""Edits of earlier turns that a correction may mean."""


class Work:
    """What was done, turn by turn."""

    def __init__(self, replaced: Mapping[int, int]) -> None:
        self.replaced = replaced
        """Edits to the steps that replaced them."""
        self.turns: dict[int, list[Step]] = {}
        self.edits: list[Step] = []
        """The agent's edits that worked."""

    def take(self, step: Step) -> None:
        self.turns.setdefault(step.turn, []).append(step)
        if step.actor == "agent" and step.success and side_of(step) == "change":
            self.edits.append(step)

    def _last(self, turn: int) -> Iterator[Step]:
        """The steps of the last turn, and of those before it that a dialog alone parts from it."""
        while steps := self.turns.get(turn := turn - 1):
            yield from steps
            if steps[0].via != "answer":
                return

    def reopen(self, step: Step, before: Step | None, retries: Retries) -> None:
        """What the user called wrong may be attempted again: edits and acts of the turn, or the plan.

        Of the edits, those of a file that the message names, where it names any.
        """
        sent_back = before is not None and before.operation == "plan" and never_ran(before)
        is_wrong = finds_fault(step) or sent_back
        wrong = [
            done
            for done in (self._last(step.turn) if is_wrong else ())
            if done.actor == "agent"
            and done.success is not False
            and self.replaced.get(done.step, step.step) >= step.step
            and (side_of(done) == "change" or acts(done))
            and (done.operation == "plan") == sent_back
        ]
        named = [done for done in wrong if _is_named(done, step.input or "")]
        if _asks_for_other_work(step):
            retries.settle()
        retries.reopen(named or wrong, self._edits_before(step) if is_wrong else ())

    def _edits_before(self, step: Step) -> list[Step]:
        """The edits of earlier turns that a correction may mean: of the files that it names, if any."""
        before = (one for one in reversed(self.edits) if 0 < one.turn < step.turn - 1)
        before = (one for one in before if self.replaced.get(one.step, step.step) >= step.step)
        done = [*islice(before, MOST_EDITS)][::-1]
        return [one for one in done if _is_named(one, step.input or "")] or done


def _asks_for_other_work(step: Step) -> bool:
    """Whether a message ends what corrections before it wanted: an ask, or an answer that steers."""
    steers = step.feedback_type == "new_instruction"
    answers_so = step.message_role == "answer_to_agent_question" and steers
    return step.message_role == "direct_request" or answers_so


def _is_named(step: Step, words: str) -> bool:
    """Whether words name the file that a call works on."""
    path = path_of(step.call.input) if step.call else None
    return path is not None and posixpath.basename(path) in words
