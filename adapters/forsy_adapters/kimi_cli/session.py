"""A session: its main agent, its subagents, and what lies beside its file."""

import heapq
from collections.abc import Iterable, Iterator
from typing import Any

from forsy_retrace.calls import Calls
from forsy_retrace.events import (
    Delegation,
    Event,
    Fact,
    Notice,
    Origin,
    SessionStart,
    Skipped,
    ToolCall,
)
from forsy_retrace.sdk import subagent, words
from forsy_retrace.source import Record, Source

from . import beside
from .lane import Lane
from .survey import Survey
from .units import Unit, is_header, unit_of
from .users import begins_others, text_in, user

BRIEF = "a subagent's brief"
LATER = "injected: later words to a subagent"
CLEARED = "The context has been cleared."
ASKED_BY = ("subagent_type", "subagent_name")
"""The argument that names the kind of subagent, since 1.2x and before."""


class Session:
    """Reads a session's file, and those beside it."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.found = Survey(source)
        self.calls = Calls()
        self.is_alone = beside.is_subagent(source)
        """A subagent's file by itself."""
        self.main = Lane("agent", self.calls, self.found)
        self.lanes: dict[str, Lane] = {}
        """Subagents by their id, or by the call that started them."""
        self.tasks: dict[str, ToolCall] = {}
        """The main agent's calls, by the log's id."""
        self.briefed: set[str] = set()
        self.delegated: set[str] = set()
        self.depth = 0
        """Turns under way: a command that makes the agent work begins others within its own."""
        self.asked = ""
        """What the turn began with."""
        self.prompts = False
        """Whether the turn began with such a command."""
        self.is_working = False
        """Whether a step of the turn has begun: words before it are the client's."""

    def events(self) -> Iterator[Event]:
        """The main file's events in its order, and those of agents in the background between."""
        files = list(beside.companions(self.source))
        wires = [one for one in files if beside.name_of(one) == beside.WIRE]
        others = [event for one in files if one not in wires for event in beside.facts(one)]
        main = self._main(others)
        if not wires:
            yield from main
            return
        lanes = [_dated(list(main))]
        for one in wires:
            call = self.tasks.get(self.found.launched.get(beside.agent_of(one), ""))
            # An agent may write that it begins before its call is written.
            since = call.origin.at if call and call.origin.at else ""
            lanes.append(_dated(self._background(one, call), since))
        yield from (event for _, event in heapq.merge(*lanes, key=lambda one: one[0]))

    def _main(self, others: list[Event]) -> Iterator[Event]:
        for number, record in enumerate(self.source.records()):
            if not number:
                yield SessionStart(Origin(record.here, None, "system"), "")
                yield from others
            yield from self._record(number, record)
            last = record
        if self.main.is_unfinished:  # only then is there a last record
            yield Notice(Origin(last.here, None, "system"), "cut")

    def _record(self, number: int, record: Record) -> Iterator[Event]:
        unit = unit_of(number, record)
        if unit is None:
            here = Origin(record.here, None, "system")
            yield Skipped(here, record.problem or _why(record.value))
        elif unit.task:
            yield from self._below(unit)
        else:
            yield from self._own(unit)

    def _own(self, unit: Unit) -> Iterator[Event]:
        """A message of the main agent, or of the client."""
        match unit.kind:
            case "TurnBegin":
                yield from self._turn(unit)
            case "SteerInput":
                yield from user(unit, "queued")
            case "TurnEnd":
                is_cut = self.main.open or self.main.is_unfinished
                yield Notice(unit.here(), "cut" if is_cut else "ended")
                self.depth = max(self.depth - 1, 0)
                self._close()
            case "StepInterrupted":
                yield Notice(unit.here(), "cut")
                self._close()
            case "CompactionEnd":
                yield Notice(unit.here(), "compacted")
            case "ContentPart" if not self.is_working:
                yield self._client(unit)
            case _:
                self.is_working = self.is_working or unit.kind == "StepBegin"
                for event in self.main.told(unit):
                    yield event
                    if isinstance(event, ToolCall):
                        self.tasks[words(unit.body.get("id"))] = event

    def _turn(self, unit: Unit) -> Iterator[Event]:
        if self.prompts and self.depth == 1:
            self.depth = 2
            yield Skipped(unit.here(), "injected: the prompt of a command")
            return
        self._close()
        is_within = self.depth == 1 and not self.is_working
        self.depth, self.is_working = 1, False
        if self.is_alone:
            yield self._brief(unit, "")
            return
        again, self.asked = self.asked, text_in(unit)
        if is_within and again == self.asked:
            yield Skipped(unit.here(), "repeated: the first round of a loop")
            return
        self.prompts = begins_others(self.asked)
        yield from user(unit)

    def _close(self) -> None:
        """A turn is over: what was not answered will not be."""
        self.main.open.clear()
        self.main.is_unfinished = False

    def _client(self, unit: Unit) -> Event:
        """Words that no step brought forth."""
        if unit.body.get("text") == CLEARED:
            return Notice(unit.here(), "cleared")
        return Skipped(unit.here(), "the client's words")

    def _below(self, unit: Unit) -> Iterator[Event]:
        """A subagent's message, nested in the main agent's file."""
        lane = self.lanes.get(unit.agent or unit.task)
        if lane is None:
            kind = unit.sort or _kind(self.tasks.get(unit.task))
            lane = self._lane(kind, unit.agent or unit.task, self.found)
        yield from self._delegated(unit, lane, self.tasks.get(unit.task))
        yield from self._agent(unit, lane, unit.task)

    def _delegated(self, unit: Unit, lane: Lane, call: ToolCall | None) -> Iterator[Event]:
        """That a call started a subagent, told once."""
        if call is not None and lane.actor not in self.delegated:
            self.delegated.add(lane.actor)
            yield Delegation(unit.here(), call.call, lane.actor)

    def _agent(self, unit: Unit, lane: Lane, task: str) -> Iterator[Event]:
        match unit.kind:
            case "TurnBegin":
                yield self._brief(unit, task)
            case "TurnEnd":
                yield Skipped(unit.here(), "a subagent's turn ended")
            case "StepInterrupted":
                yield Skipped(unit.here(), "a subagent's step was cut")
            case "CompactionEnd":
                yield Skipped(unit.here(), "a subagent's compaction")
            case _:
                yield from lane.told(unit)

    def _brief(self, unit: Unit, task: str) -> Event:
        why = LATER if task in self.briefed else BRIEF
        self.briefed.add(task)
        text = unit.body.get("user_input")
        if self.is_alone and why == BRIEF and isinstance(text, str) and text.strip():
            return Fact(unit.here("/user_input"), "brief", text)
        return Skipped(unit.here(), why)

    def _lane(self, kind: str, name: str, found: Survey) -> Lane:
        actor = subagent(kind, len(self.lanes) + 1)
        lane = self.lanes[name] = Lane(actor, self.calls, found)
        return lane

    def _background(self, source: Source, call: ToolCall | None) -> Iterator[Event]:
        """A subagent's own file; of one that was waited for the main file tells the same."""
        agent = beside.agent_of(source)
        is_told = agent in self.found.agents
        lane = self.lanes[agent] if is_told else self._lane(_kind(call), agent, Survey(source))
        lane.report = call.call if call else ""
        for number, record in enumerate(source.records()):
            unit = unit_of(number, record)
            here = unit.here() if unit else Origin(record.here, None, "system")
            if unit is None:
                yield Skipped(here, record.problem or _why(record.value))
            elif is_told:
                yield Skipped(here, "repeated by the session's own file")
            else:
                yield from self._delegated(unit, lane, call)
                yield from self._agent(unit, lane, agent)


def _kind(call: ToolCall | None) -> str:
    """The kind of subagent that a call asks for."""
    sent = call.input if call else None
    asked = sent if isinstance(sent, dict) else {}
    return words(*(asked.get(key) for key in ASKED_BY)) or "agent"


def _why(value: Any) -> str:
    return "header" if is_header(value) else "not a message"


def _dated(events: Iterable[Event], since: str = "") -> Iterator[tuple[str, Event]]:
    """The events with the latest time that was told up to each."""
    for event in events:
        since = max(since, event.origin.at or "")
        yield since, event
