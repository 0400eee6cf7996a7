"""A session and its subagents: each file is read by itself, and their events are joined."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Delegation, Event
from forsy_retrace.sdk import in_time, subagent, words
from forsy_retrace.source import Source

from .agents import Issued
from .messages import Json, is_header
from .reader import Reader

AGENT = "agent"


class Session:
    """Reads a session's file, and those of the subagents that it started."""

    def __init__(self, source: Source, files: list[Source]) -> None:
        self.source = source
        self.files = {_name_of(file): file for file in files}
        """The subagents' files that no call has been joined with."""
        self.agents = 0

    def events(self) -> Iterator[Event]:
        """The main file's events in its order, and a subagent's where it worked."""
        reader = Reader(self.source, AGENT, self.started)
        if not self.files:
            yield from reader.events()
            return
        main = list(reader.events())
        lost = [self._below(file, self._actor("agent")) for file in list(self.files.values())]
        if not lost:
            yield from main
            return
        yield from in_time(main, *lost)

    def started(self, calls: Issued) -> Iterator[Event]:
        """What the subagents did that the calls of a message started, one beside the other."""
        lanes = []
        for call, told, here in calls:
            file = self.files.pop(_agent_of(told, self.files), None)
            if file is None:
                continue
            actor = self._actor(_kind_of(told))
            yield Delegation(here, call, actor)
            lanes.append(self._below(file, actor))
        yield from in_time(*lanes)

    def _below(self, file: Source, actor: str) -> list[Event]:
        return list(Reader(file, actor, self.started).events())

    def _actor(self, kind: str) -> str:
        self.agents += 1
        return subagent(kind, self.agents)


def _name_of(file: Source) -> str:
    return next(
        (record.value["sessionId"] for record in file.head if is_header(record.value)), file.name
    )


def _kind_of(call: Json) -> str:
    """The name of the subagent that a call starts."""
    match call:
        case {"resultDisplay": {"isSubagentProgress": True, "agentName": str(name)}}:
            return name
        case {"args": {"agent_name": str(name)}}:
            return name
    return words(call.get("name"))


def _agent_of(call: Json, known: Any) -> str:
    """The session of the subagent: named by the call, or by the calls that it shows of it."""
    if words(call.get("agentId")) in known:
        return words(call["agentId"])
    match call.get("resultDisplay"):
        case {"isSubagentProgress": True, "recentActivity": list(shown)}:
            for one in shown:
                name = words(one.get("id")).partition("#")[0] if isinstance(one, dict) else ""
                if name in known:
                    return name
    return ""
