"""What `codex exec --json` prints since October 2025: items that start, change and complete.

No times but those of a log around it, no prompt, no model. Item ids start anew with each run, so a
call's id is thread and item.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import (
    Event,
    Fact,
    Message,
    Notice,
    SessionStart,
    Skipped,
    Thinking,
    ToolCall,
)
from forsy_retrace.sdk import named, pointer, strings, tells_a_limit, text_of

from .._patches import listed
from .results import Result, streams, told
from .state import State
from .survey import Survey
from .units import Json, Unit

INPUTS = {
    "command_execution": "command",
    "file_change": "changes",
    "web_search": "query",
    "mcp_tool_call": "arguments",
    "collab_tool_call": "prompt",
    "todo_list": "items",
}
"""Kinds of items that are calls, and where their input stands."""


class Stream:
    """Reads the events of one or several runs."""

    def __init__(self, found: Survey) -> None:
        self.state = State(found)
        self.runs: Counter[str] = Counter()
        self.issued: dict[str, str] = {}
        """Item to call, of the run under way."""
        self.lists: dict[str, str] = {}
        self.reports: set[tuple[str, str]] = set()
        """What subagents said at their end: each wait tells it again."""
        self.begun = False
        """Whether a session has begun: a log may have been cut off before a thread's start."""

    def read(self, unit: Unit) -> Iterator[Event]:
        """The events of one line; a thread whose start is not there is a session without a name."""
        state, body = self.state, unit.body
        if not self.begun and unit.kind not in ("thread.started", "error"):
            yield SessionStart(state.here(unit, ""), "")
        self.begun = self.begun or unit.kind != "error"
        match body:
            case {"type": "thread.started", "thread_id": str(name)}:
                self.runs[name] += 1
                self.issued, self.lists, state.totals = {}, {}, {}
                if name != state.session:
                    state.session = name
                    yield SessionStart(state.here(unit, "/thread_id"), name)
                    if unit.at:
                        yield Fact(state.here(unit, "/logged_at"), "began", unit.at)
                else:
                    yield Notice(state.here(unit, ""), "resumed")
            case {"type": "turn.started"}:
                state.heard = True
                yield Skipped(state.here(unit, ""), "turn began")
            case {"type": "turn.completed"}:
                usage = body.get("usage")
                yield state.usage(unit, "/usage", usage if isinstance(usage, dict) else {})
                yield Notice(state.here(unit, ""), "ended")
            case {"type": "turn.failed", "error": {"message": str(text)}}:
                yield self._failure(unit, "/error/message", text)
            case {"type": "error", "message": str(text)}:
                yield self._error(unit, text)
            case {"type": str(kind), "item": {"id": str(ident), "type": str()} as item}:
                yield from self._item(unit, kind, ident, item)
            case {"type": kind}:
                yield Skipped(state.here(unit, ""), f"unknown event{named(kind)}")

    def _failure(self, unit: Unit, path: str, text: str) -> Event:
        kind = "limit" if tells_a_limit(text) else "model error"
        return Notice(self.state.here(unit, path), kind, text)  # type: ignore[arg-type]  # one of two kinds

    def _error(self, unit: Unit, text: str) -> Event:
        """A retry of the connection, or what the turn's failure says again."""
        here = self.state.here(unit, "/message")
        if text.startswith("Reconnecting"):
            return Skipped(here, "transport retry")
        if text in self.state.found.failures:
            return Skipped(here, "repeated by the turn's failure")
        return self._failure(unit, "/message", text)

    def _item(self, unit: Unit, kind: str, ident: str, item: Json) -> Iterator[Event]:
        state = self.state
        match item:
            case {"type": "agent_message", "text": str(text)} if kind == "item.completed":
                yield Message(state.agent(unit, "/item/text"), "agent", text)
            case {"type": "reasoning", "text": str(text)} if kind == "item.completed":
                yield Thinking(state.agent(unit, "/item/text"), text)
            case {"type": "error"}:
                yield Skipped(state.here(unit, "/item"), "the client's warning")
            case {"type": "todo_list"}:
                yield from self._todo(unit, ident, item)
            case {"type": str(name)} if name in INPUTS:
                yield from self._call(unit, kind, ident, item, name)
            case {"type": "agent_message" | "reasoning"}:
                yield Skipped(state.here(unit, "/item"), "streamed piece")
            case _:
                yield Skipped(state.here(unit, "/item"), f"unknown item{named(item['type'])}")

    def _call(self, unit: Unit, kind: str, ident: str, item: Json, name: str) -> Iterator[Event]:
        if ident not in self.issued:
            yield from self._issue(unit, ident, item, name)
        if kind != "item.completed":
            if kind == "item.updated" or ident not in self.issued:
                yield Skipped(self.state.here(unit, "/item"), "progress")
            return
        call = self.state.calls.answer(self.issued.get(ident, ""))
        if call is None:
            yield Skipped(self.state.here(unit, "/item"), "repeated history")
            return
        self.state.heard = True
        found = _result(item, f"{unit.prefix}/item")
        files = listed(item.get("changes")) if found.outcome == "ok" else ()
        yield told(self.state.here(unit, found.pointer, "agent"), call, found, files)
        yield from self._agents(unit, call, item)

    def _agents(self, unit: Unit, call: str, item: Json) -> Iterator[Event]:
        """Subagents that a call started, and the last words of those that it waited for."""
        state = self.state
        match item:
            case {"tool": "spawn_agent", "receiver_thread_ids": list(started)}:
                for agent in strings(started):
                    yield from state.delegated(unit, call, agent)
            case {"tool": "wait", "agents_states": dict(states)}:
                for agent, one in states.items():
                    match one:
                        case {"status": "completed", "message": str(text)} if (
                            text.strip()
                            and agent in state.agents
                            and (agent, text) not in self.reports
                        ):
                            self.reports.add((agent, text))
                            asked, actor = state.agents[agent]
                            path = pointer("item", "agents_states", agent, "message")
                            here = state.here(unit, path, actor)
                            yield Message(here, "agent", text, "notification", (), asked)

    def _issue(self, unit: Unit, ident: str, item: Json, name: str) -> Iterator[Event]:
        """A call's start; a tool of a server is named as the client names it to the model."""
        state = self.state
        tool: str = name
        where: str | None = f"{unit.prefix}/item/type"
        match name, item:
            case "mcp_tool_call", {"server": str(server), "tool": str(own)} if server and own:
                tool, where = f"mcp__{server}__{own}", None
            case (("mcp_tool_call" | "collab_tool_call"), {"tool": str(own)}) if own.strip():
                tool, where = own, f"{unit.prefix}/item/tool"
        slot = INPUTS[name]
        sent: Any = item.get(slot, item)
        path = f"/item/{slot}" if slot in item else "/item"
        if not isinstance(sent, (dict, str)):
            sent = text_of(sent)
        call = state.calls.issue(self._name(ident), tool, sent)
        if call is None:
            return
        self.issued[ident] = call
        yield ToolCall(state.agent(unit, path), call, tool, sent, where)

    def _todo(self, unit: Unit, ident: str, item: Json) -> Iterator[Event]:
        """A plan: each new state of the list is a call of its own."""
        state, sent = self.state, text_of(item.get("items"))
        if self.lists.get(ident) == sent or "items" not in item:
            yield Skipped(state.here(unit, "/item"), "repeats the plan")
            return
        first = ident not in self.lists
        self.lists[ident] = sent
        name = self._name(ident) if first else f"{self._name(ident)}@{unit.number}"
        call = state.calls.issue(name, "todo_list", sent)
        if call is None:
            yield Skipped(state.here(unit, "/item"), "repeated history")
            return
        here = state.agent(unit, "/item/items")
        yield ToolCall(here, call, "todo_list", sent, f"{unit.prefix}/item/type")
        state.heard = True

    def _name(self, ident: str) -> str:
        """An id of the whole file: a resumed thread counts its items anew."""
        runs = f"#{self.runs[self.state.session]}" if self.runs[self.state.session] > 1 else ""
        return f"{self.state.session}{runs}/{ident}" if self.state.session else ident


def _result(item: Json, base: str) -> Result:
    """How an item ended: by exit status where it has one, else by its status."""
    found = streams(item, base)
    match item:
        case {"error": {"message": str(text)}} if text:
            return found._replace(output=text, pointer=f"{base}/error/message")
        case {"result": {"content": content}} if content is not None:
            return found._replace(output=text_of(content), pointer=f"{base}/result/content")
    return found
