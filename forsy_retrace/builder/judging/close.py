"""What a session had come to when it ended, and the rules that say whether its goal was reached."""

from functools import cached_property
from typing import NamedTuple

from forsy_retrace.trace import Step, Trace

from ..checks.unchecked import is_log, is_plan, is_prose
from ..finishes import finishes
from ..touched.scratch import scratch
from ..touched.tracked import clears_up, makers
from ..words.messages import finds_fault
from .plans import plans_written


class Goal(NamedTuple):
    """`goal_achieved` and `goal_notes`, and the rule that gave them."""

    achieved: bool
    notes: str
    rule: str


class GoalRule(NamedTuple):
    """A rule that says whether the goal was reached."""

    name: str
    achieved: bool
    why: str

    @property
    def sentence(self) -> str:
        """What it says, and why."""
        return f"{'Yes' if self.achieved else 'No'}: {self.why}"

    def gives(self, notes: str) -> Goal:
        """What it says of a session, with what the log shows for it."""
        return Goal(self.achieved, notes, self.name)


class Edit(NamedTuple):
    """The last edit that a check can break over, and what it is called."""

    step: int
    called: str


class Close:
    """The steps that stand when a session ends, and what its goal is judged by."""

    def __init__(self, trace: Trace, steps: list[Step], reason: str) -> None:
        self.trace = trace
        self.steps = steps
        self.reason = reason
        """Why it ended, in the format's words."""

    @cached_property
    def humans(self) -> list[Step]:
        """The user's messages."""
        return [step for step in self.steps if step.action == "user_message"]

    @cached_property
    def closing(self) -> Step | None:
        """The agent's last answer."""
        answers = (s for s in reversed(self.steps) if s.action == "output" or finishes(s))
        return next(answers, None)

    @cached_property
    def correction(self) -> Step | None:
        """The user's last message that finds fault."""
        return next((step for step in reversed(self.humans) if finds_fault(step)), None)

    @cached_property
    def last_edit(self) -> Edit | None:
        """The last step that changed code, or any file of the work where none did."""
        kinds = ("edit", "write", "delete", "changed")
        live = {step.step for step in self.steps} - plans_written(self.trace).keys()
        is_scratch, made = scratch(self.trace), makers(self.trace.touches)
        found = [
            touch
            for touch in self.trace.touches
            if touch.kind in kinds
            and touch.step in live
            and not clears_up(touch, made)
            and not is_scratch(touch.path)
            and not is_plan(touch.path)
            and not is_log(touch.path)
        ]
        code = [touch for touch in found if not is_prose(touch.path)]
        if not found:
            return None
        last = max(touch.step for touch in code or found)
        is_last = last == max(touch.step for touch in found)
        return Edit(last, f"last edit {'' if is_last else 'of code '}(step {last})")
