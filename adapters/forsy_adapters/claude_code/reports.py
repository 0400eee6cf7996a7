"""What other agents report: a subagent at its end, a member of a team amid the work."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Event, Message, Notice, Origin, Skipped
from forsy_retrace.sdk import between

from .known import Known
from .lines import AGENT_TOOLS
from .places import deeper
from .words import ELSEWHERE, ENDED, EVENT, OTHER_AGENT


class Reports:
    """Reads reports, wherever they stand."""

    def __init__(self, known: Known) -> None:
        self.known = known

    def of(self, here: Origin, name: str, said: str) -> Iterator[Event]:
        """What a subagent or a member of a team reports, if it was started here.

        What its client says in its name, that it is idle or has shut down, is an object.
        """
        if name in self.known.found.mates and said.strip() and not said.lstrip().startswith('{"'):
            actor, call = self.known.found.mates[name]
            origin = Origin(here.evidence, here.at, actor, None, here.branch)
            yield Message(origin, "agent", said, "notification", answers=call, within=True)

    def mailbox(self, here: Origin, held: list[Any]) -> Iterator[Event]:
        """The messages of a team that reached the agent amid its work."""
        found = False
        for index, one in enumerate(held):
            match one:
                case {"from": str(name), "text": str(said)}:
                    where = deeper(deeper(here, str(index)), "text")
                    for event in self.of(where, name, said):
                        found = True
                        yield event
        if not found:
            yield Skipped(here, OTHER_AGENT)

    def ended(self, here: Origin, text: str) -> Event:
        """The end of a background task; a subagent's brings its report."""
        names = ("task-id", "tool-use-id", "status", "result")
        tags = {name: between(text, f"<{name}>", f"</{name}>") or "" for name in names}
        lane = tags["task-id"]
        actor, call = self.known.found.actors.get(lane), self.known.found.calls.get(lane, "")
        if actor is None and lane in self.known.found.mates:  # its log is not here
            actor, call = self.known.found.mates[lane]
        call = call or tags["tool-use-id"]
        if actor is None:
            lanes = [lane for lane, start in self.known.found.calls.items() if start == call]
            actor = self.known.found.actors.get(lanes[0]) if lanes else None
            if actor is None and self.known.tools.get(call) in AGENT_TOOLS:
                actor = "subagent:agent_1" if not self.known.found.actors else None
        report = tags["result"].strip()
        if actor is None or not report or report.startswith(ELSEWHERE):
            is_event = "<event>" in text and not tags["status"]
            return Notice(here, "ended", EVENT) if is_event else Skipped(here, ENDED)
        origin = Origin(here.evidence, here.at, actor, None, here.branch)
        return Message(origin, "agent", report, "notification", answers=call, within=True)
