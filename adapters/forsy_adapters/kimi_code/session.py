"""A session: its state, its main agent and the agents that this one started."""

import heapq
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Any

from forsy_retrace.calls import Calls
from forsy_retrace.events import Delegation, Event, Fact, Origin, SessionStart, Skipped
from forsy_retrace.sdk import pointer, resolve, subagent, words
from forsy_retrace.source import Record, Source

from .agent import Agent
from .records import is_ours, is_state
from .survey import Survey

MAIN = "main"
FACTS = (("cwd", "cwd"), ("workDir", "cwd"), ("title", "title"))


def companions(source: Source) -> Iterator[Source]:
    """The logs of a session's agents, where the source is its state."""
    if any(is_state(record.value) for record in source.head):
        for one in source.beside("agents/*/wire.jsonl"):
            if any(is_ours(record.value) for record in one.head):
                yield one


class Session:
    """Reads a session from its state, or from one agent's log."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.calls = Calls()
        self.actors: dict[str, str] = {}

    def events(self) -> Iterator[Event]:
        """All agents' events in the order in which they happened."""
        files = list(companions(self.source))
        if not any(is_state(record.value) for record in self.source.head):
            yield from self._alone()
            return
        found = {_agent_of(one): Survey(one) for one in files}
        copied = found[MAIN].copied if MAIN in found else 0
        for record in self.source.records():
            yield from self._state(record, copied)
            if not _tells_folder(record.value):
                yield from _folder(found.get(MAIN), found.values())
        yield from self._agents(found)

    def _alone(self) -> Iterator[Event]:
        found = Survey(self.source)
        agent = Agent(found, "agent", self.calls, {})
        is_main = found.agent in ("", MAIN) or found.side is not None
        if found.is_subagents or not is_main:
            agent.is_main, agent.is_alone = False, True
        for place, record in enumerate(self.source.records()):
            if not place:
                yield SessionStart(Origin(record.here, None, "system"), "")
            break
        yield from _folder(found, [found])
        yield from agent.events()

    def _state(self, record: Record, copied: int) -> Iterator[Event]:
        here = Origin(record.here, None, "system")
        if not is_state(record.value):
            yield Skipped(here, record.problem or "not of a session")
            return
        ident = words(record.value.get("id"))
        before = words(record.value.get("forkedFrom"))
        yield SessionStart(here.below("/id" if ident else ""), ident, before or None)
        if before and copied:
            told = {"of": before, "records": copied}
            yield Fact(here.below("/forkedFrom"), "shared_prefix", told)
        for key, name in FACTS:
            if words(record.value.get(key)):
                yield Fact(here.below(pointer(key)), name, record.value[key])
        yield Skipped(here, "state of the session")

    def _agents(self, found: dict[str, Survey]) -> Iterator[Event]:
        kinds = {agent: kind for one in found.values() for agent, kind in one.kinds.items()}
        for agent in found:
            if agent != MAIN:
                kind = kinds.get(agent, "agent")
                self.actors[agent] = subagent(kind, len(self.actors) + 1)
        behind = {agent for one in found.values() for agent in one.background}
        lanes: dict[str, list[Event]] = {}
        starts: dict[str, Delegation] = {}
        for agent in sorted(found, key=lambda one: one != MAIN):
            actor = self.actors.get(agent, "agent")
            reader = Agent(found[agent], actor, self.calls, self.actors)
            start = starts.get(actor)
            if start is not None and agent in behind:
                reader.report = start.call
            lanes[agent] = list(reader.events())
            for event in lanes[agent]:
                if isinstance(event, Delegation):
                    starts.setdefault(event.actor, event)
        dated = []
        for agent, events in lanes.items():
            start = starts.get(self.actors.get(agent, ""))
            dated.append(_dated(events, (start and start.origin.at) or ""))
        joined = heapq.merge(*dated, key=lambda one: one[0])
        yield from (event for _, event in joined)


def _tells_folder(state: Any) -> bool:
    return isinstance(state, dict) and bool(words(state.get("cwd"), state.get("workDir")))


def _folder(lead: Survey | None, found: Iterable[Survey]) -> Iterator[Event]:
    """Where the session works, where only a later record shows it: all its agents work there."""
    if lead is None or not lead.is_homeless:
        return
    for one in (lead, *found):
        if one.folder is not None:
            line, path = one.folder
            where = Origin(line.record.here.at(path), None, "system")
            yield Fact(where, "cwd", resolve(line.value, path))
            return


def _agent_of(source: Source) -> str:
    """The agent whose log it is: the folder is called by its id."""
    return PurePath(source.name).parent.name


def _dated(events: Iterable[Event], since: str) -> Iterator[tuple[str, Event]]:
    """The events with the latest time that was told up to each."""
    for event in events:
        since = max(since, event.origin.at or "")
        yield since, event
