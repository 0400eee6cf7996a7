"""What a file shows as a whole: agents, ends of commands that ran on, what is told elsewhere."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from forsy_retrace.calls import Verdict
from forsy_retrace.events import Origin, Outcome, ToolResult
from forsy_retrace.sdk import number, subagent, when, words
from forsy_retrace.source import Record, Source

from . import results
from .kinds import Json, data_of


class Survey:
    """What a file shows as a whole."""

    def __init__(self) -> None:
        self.begins = False
        """Whether it names its session at a start."""
        self.last: tuple[Record, str] | None = None
        """The end of a stream, which alone names the session."""
        self.tools: dict[str, str] = {}
        """The calls that messages ask for, and their tools."""
        self.likes: dict[str, str] = {}
        """What calls work like: that of a server's tool, or a look at a folder."""
        self.agents: dict[str, str] = {}
        """Subagents by their ids and by the calls that started them, as actors."""
        self.names_models = False
        """Whether messages name the model that wrote them."""
        self.thought: set[str] = set()
        """Reasoning that stands in messages."""
        self.counted: Counter[str] = Counter()
        """Records that tell tokens or that a run of the client began; messages that tell none."""
        self.running: dict[tuple[str, str], str] = {}
        """Commands that run on, by agent and shell, and the call that ran each."""
        self.ends: dict[str, ToolResult] = {}
        """What was told later of their ends, by the call."""

    def actor(self, value: Any) -> str:
        """Who a record is about: the main agent, or a subagent by its id or its call."""
        ident = lane(value)
        return self.named(ident, "") if ident else "agent"

    def named(self, ident: str, name: str, other: str = "") -> str:
        if ident not in self.agents:
            number = len(set(self.agents.values())) + 1
            self.agents[ident] = self.agents.get(other) or subagent(name, number)
        if other:
            self.agents.setdefault(other, self.agents[ident])
        return self.agents[ident]

    def served(self, call: str, told: Json) -> None:
        """Notes that a call is one of a server's tool: here `-` joins the two names."""
        match told:
            case {"mcpServerName": str(server), "mcpToolName": str(tool)}:
                self.likes[call] = f"mcp__{server}__{tool}"

    def ended(self, record: Record, call: str, data: Json) -> None:
        """Joins a command that ran on with what was told of its end."""
        key = (lane(record.value), results.shell_of(data))
        tool = self.tools.get(call, "")
        if tool in results.SHELLS and results.verdict(tool, data).outcome == "launched":
            self.running[key] = call
        elif tool in results.LOOKS and key in self.running:
            told = results.verdict("bash", data)
            if told.exit_code is not None:
                output, path = results.output(data)
                here = Origin(record.here.at(path), when(record.value.get("timestamp")))
                first = self.running.pop(key)
                self.ends[first] = ToolResult(here, first, output, *told)

    def reported(self, record: Record, kind: Json) -> None:
        """Joins a command of the main agent that ran on with the notice of its end."""
        first = self.running.get(("", words(kind.get("shellId"))))
        status = number(kind.get("exitCode"))
        if first is None or status is None or kind.get("type") != "shell_completed":
            return
        path = "/data/kind/exitCode"
        here = Origin(record.here.at(path), when(record.value.get("timestamp")))
        outcome: Outcome = "failed" if status else "ok"
        told = Verdict(outcome, "background-exit-code", path, status)
        self.ends[first] = ToolResult(here, first, None, *told)

    @property
    def counts(self) -> str:
        """The kind of record that tells all tokens of the session.

        What a run of the client tells at its end holds those of earlier runs in some versions, and
        does not in others (1.0.10, 1.0.40): where there were several, it is not taken.
        """
        if self.counted["session.usage_record"]:
            return "session.usage_record"
        if (self.counted["session.shutdown"], self.counted["session.resume"]) == (1, 0):
            return "session.shutdown"
        return "" if self.counted["untold"] else "assistant.message"


def lane(value: Any) -> str:
    """The subagent that a record is of: by its id, or (before 1.0) by the call that started it."""
    own = value.get("agentId") if isinstance(value, dict) else None
    return words(own, data_of(value).get("parentToolCallId"))


def survey(source: Source) -> Survey:
    """Reads the file once."""
    found = Survey()
    for record in source.records():
        value, data = record.value, data_of(record.value)
        match value:
            case {"type": "session.start", "data": {"sessionId": str()}}:
                found.begins = True
            case {"type": "result", "sessionId": str(ident)}:
                found.last = record, ident
            case {"type": "assistant.message"}:
                _asked(found, data)
            case {"type": "tool.execution_start", "data": {"toolCallId": str(call)}}:
                found.tools.setdefault(call, words(data.get("toolName")))
                found.served(call, data)
            case {"type": "tool.execution_complete", "data": {"toolCallId": str(call)}}:
                if results.is_folder(data):
                    found.likes[call] = "LS"
                found.ended(record, call, data)
            case {"type": "subagent.started", "data": {"toolCallId": str(call)}}:
                found.named(words(value.get("agentId")) or call, words(data.get("agentName")), call)
            case {"type": "system.notification", "data": {"kind": dict(kind)}}:
                found.reported(record, kind)
            case {"type": "session.usage_record" | "session.shutdown" | "session.resume" as kind}:
                if kind != "session.usage_record" or not found.counted["session.resume"]:
                    found.counted[kind] += 1
    return found


def _asked(found: Survey, data: Json) -> None:
    found.names_models = found.names_models or bool(words(data.get("model")))
    found.thought.add(words(data.get("reasoningText")))
    found.counted["untold"] += number(data.get("outputTokens")) is None
    requests = data.get("toolRequests")
    for one in requests if isinstance(requests, list) else ():
        match one:
            case {"toolCallId": str(call), "name": str(tool)}:
                found.tools[call] = tool
                found.served(call, one)


def in_order(records: Iterable[Record]) -> Iterator[tuple[int, Record]]:
    """The records; reasoning that is told behind its message stands before it, and an abort behind
    the results that the client files right after it: those calls had ended."""
    held: list[tuple[int, Record]] = []
    for place, record in enumerate(records):
        kinds = tuple(_kind(one) for _, one in held), _kind(record)
        match kinds:
            case ("assistant.message",), "assistant.reasoning":
                yield place, record
                continue
            case ("abort", *_), "tool.execution_complete":
                yield place, record
                continue
        yield from held
        held = []
        if kinds[1] in ("assistant.message", "abort"):
            held.append((place, record))
        else:
            yield place, record
    yield from held


def _kind(record: Record) -> str:
    value = record.value
    return words(value.get("type")) if isinstance(value, dict) else ""
