"""What an agent's file shows as a whole: what was taken back, which calls started whom."""

from typing import Any

from forsy_retrace.events import ToolResult
from forsy_retrace.sdk import later, number, words
from forsy_retrace.source import Source

from .records import LOOP, Json, Line
from .results import end_of
from .users import is_typed

AGENT = later(r"(?m)^agent_id: ([\w-]{1,64})$")
STARTS = ("Agent", "AgentSwarm")
"""Tools that start subagents."""


class Survey:
    """One look over all records of a file."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.requests = self.ends = self.prompts = False
        """Whether it has requests to the model, ends of turns, records of prompts."""
        self.is_homeless = True
        """Whether it does not say by itself where the agent works."""
        self.folder: tuple[Line, str] | None = None
        """The first record that shows it, and where."""
        self.agent = ""
        """The agent's id, where records name it."""
        self.is_subagents = False
        self.side: int | None = None
        """Where a question beside the work begins: what stands before is the main agent's."""
        self.copied = 0
        """The records before the session's last fork."""
        self.branches: dict[int, str] = {}
        self.spans: list[tuple[int, int]] = []
        """What was taken back, from a record up to another."""
        self.replaces: dict[int, str] = {}
        """A prompt to the id of the earlier one that the user went back to."""
        self.started: dict[int, list[str]] = {}
        """Record of a call to the subagents that it started."""
        self.known: set[str] = set()
        self.kinds: dict[str, str] = {}
        """Subagents to their kinds."""
        self.background: set[str] = set()
        self.tasks: dict[str, ToolResult] = {}
        """Commands in the background, and how they ended."""
        self.last = -1
        """The record of the last words, if nothing was called behind them."""
        self.begun: list[Line] = []
        """The human's turns that stand."""
        self.gone = ""
        """The first turn that was taken back last, until another is begun."""
        self.calls: dict[str, int] = {}
        """Calls to their records."""
        self.asked: dict[str, str] = {}
        """Calls to the kind of subagent that they ask for."""
        for place, record in enumerate(source.records()):
            if isinstance(record.value, dict):
                self._look(Line(place, record, record.value))

    def _look(self, line: Line) -> None:
        value = line.value
        self.agent = self.agent or words(value.get("agentId"))
        match line.kind:
            case "llm.request":
                self.requests = True
            case "turn.ended":
                self.ends = True
            case "config.update" if words(value.get("cwd")):
                self.is_homeless = False
                self.folder = self.folder or (line, "/cwd")
            case "turn.prompt":
                self.prompts = True
                self._turn(line)
            case "context.undo":
                self._undo(line)
            case "context.append_message" if self.side is None and _is_side(value):
                self.side = line.number
            case "forked":
                self.copied = line.number
            case "subagent.spawned":
                self._spawned(value)
            case "task.terminated":
                self.tasks |= end_of(line)
            case _ if line.kind == LOOP and isinstance(value.get("event"), dict):
                self._loop(line, value["event"])

    def _turn(self, line: Line) -> None:
        told = line.value.get("origin")
        if isinstance(told, dict) and told.get("kind") == "system_trigger" and not self.begun:
            self.is_subagents = self.is_subagents or told.get("name") == "subagent"
        if is_typed(line):
            if self.gone:
                self.replaces[line.number], self.gone = self.gone, ""
            self.begun.append(line)

    def _undo(self, line: Line) -> None:
        """The user took back so many turns: they stand on a branch."""
        count = number(line.value.get("count")) or 0
        if not 0 < count <= len(self.begun):
            return
        first, self.gone = self.begun[-count].number, self.begun[-count].prompt
        del self.begun[-count:]
        name, end = f"b{line.number}", line.number
        while self.spans and self.spans[-1][0] >= first:
            start, last = self.spans.pop()
            self.branches.update(dict.fromkeys(range(last, end), name))
            end = start
        self.branches.update(dict.fromkeys(range(first, end), name))
        self.spans.append((first, line.number))

    def _spawned(self, value: Json) -> None:
        agent, call = words(value.get("subagentId")), words(value.get("parentToolCallId"))
        self.kinds[agent] = words(value.get("subagentName")) or "agent"
        if value.get("runInBackground") is True:
            self.background.add(agent)
        self._starts(agent, call)

    def _starts(self, agent: str, call: str) -> None:
        if agent and call in self.calls and agent not in self.known:
            self.known.add(agent)
            self.started.setdefault(self.calls[call], []).append(agent)

    def _loop(self, line: Line, event: Json) -> None:
        place = line.number
        match event:
            case {"type": "tool.call", "toolCallId": str(call)}:
                self.calls[call] = place
                if self.folder is None and _shows_folder(event):
                    self.folder = (line, "/event/display/cwd")
                if event.get("name") in STARTS:
                    self.asked[call] = _kind(event.get("args"))
                self.last = -1
            case {"type": "content.part", "part": {"type": "text", "text": str(text)}}:
                self.last = place if text.strip() else self.last
            case {"type": "tool.result", "toolCallId": str(call), "result": {"output": str(text)}}:
                if call in self.asked and (found := AGENT.search(text[:2000])):
                    self.kinds.setdefault(found[1], self.asked[call])
                    self._starts(found[1], call)


def _shows_folder(event: Json) -> bool:
    """Whether a command runs where the session does: it asks for no other place."""
    match event:
        case {"args": dict(sent), "display": {"cwd": str(folder)}}:
            return bool(folder) and "cwd" not in sent
    return False


def _is_side(value: Json) -> bool:
    """Whether it is the client's word that a question beside the work follows."""
    match value:
        case {"message": {"origin": {"variant": "btw"} | {"name": "btw"}}}:
            return True
    return False


def _kind(sent: Any) -> str:
    return (words(sent.get("subagent_type")) if isinstance(sent, dict) else "") or "agent"
