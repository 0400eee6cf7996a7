"""How far each actor, and each line of the conversation, has come."""

from collections.abc import Iterable
from itertools import chain

from forsy_retrace.sdk import compact
from forsy_retrace.trace import Step

from ..again.retries import Retries
from ..pair import ends_behind
from .flow import Flow


class Lane:
    """One actor's line of work in one branch: what it received, knows and has failed at."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.retries = Retries()
        self.batch: list[Step] = []
        """The calls of its last message, and earlier ones that ran on: their results come together."""
        self.makers: dict[str, int] = {}
        """The steps of these, by their calls: the code of one may have made others."""
        self.came: list[Step] = []
        """What the results came of that it had last."""
        self.late: list[Step] = []
        """Of its last calls those that still run."""
        self.issued: list[Step] = []
        """Calls whose outputs come into sight with the next message."""
        self.latest: Step | None = None
        """The call that it issued last: a report may come between the calls of one message."""
        self.items: dict[str, int] = {}
        """The plan items in progress, in their own words, with the step that put each in progress;
        until the user asks for other work."""
        self.begun: dict[str, int] = {}
        """The same, also if they were left for other work since."""
        self.started = False

    def works_on(self, step: int, items: Iterable[str]) -> None:
        """A step told which items are in progress; one that tells the same again begins none."""
        self.items = self.begun = {item: self.begun.get(item, step) for item in items}

    def ends(self, item: str) -> None:
        """An item is in progress no longer."""
        self.begun.pop(item, None)
        self.items.pop(item, None)

    def forget_the_plan(self) -> None:
        """Which items are in progress is not known."""
        self.items, self.begun = {}, {}

    def receive(self, step: Step) -> None:
        """Looks at what had come when a step began; calls that still ran bring theirs later."""
        came: list[Step] = []
        self.late = []
        for one in self.batch:
            (self.late if ends_behind(one, step) else came).append(one)
        self.came = came or (self.came if self.late else [])

    def begin(self, steps: Iterable[Step] = ()) -> None:
        """Another message: what comes next follows from the results of its calls, and of these."""
        self.batch, self.makers = [], {}
        for step in steps:
            self._add(step)

    def issue(self, step: Step) -> None:
        """A call of the message."""
        self._add(step)
        self.issued.append(step)
        self.latest = step
        self.started = True

    def _add(self, step: Step) -> None:
        if self.made_by(step) is None:  # what code got, the actor sees as far as the code shows it
            self.batch.append(step)
        if step.call is not None:
            self.makers.setdefault(step.call.call, step.step)

    def made_by(self, step: Step) -> int | None:
        """The step of the call whose code made this one."""
        return self.makers.get(step.call.made_by) if step.call and step.call.made_by else None

    def see(self) -> None:
        """The outputs of the calls so far are before the actor."""
        for step in self.issued:
            self.flow.show(step)
        self.issued.clear()


class Line:
    """How far a line of the conversation has come."""

    def __init__(self) -> None:
        self.done: Step | None = None
        """What was done last, but for the user's words."""
        self.said: Step | None = None
        """The last output since the user's words."""
        self.asker: Step | None = None
        """The user message that the main agent has yet to act on."""

    def take(self, step: Step) -> None:
        if step.action == "user_message":
            self.asker, self.said = step, None  # what was said before has been reacted to
        elif step.via == "notification" or not step.actor.startswith("subagent"):
            self.done = step
            if step.actor == "agent":
                self.asker = None
        if step.action == "output":
            self.said = step


def in_progress(sent: object) -> tuple[str, ...]:
    """The items that a plan tool's call marks as in progress."""
    if not isinstance(sent, dict):
        return ()
    listed = [value for value in sent.values() if isinstance(value, list)]
    items = [sent, *chain.from_iterable(listed)]
    return tuple(
        compact(one)
        for one in items
        if isinstance(one, dict) and one.get("status") == "in_progress"
    )
