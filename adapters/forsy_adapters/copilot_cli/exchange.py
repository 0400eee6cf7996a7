"""Calls and what came back of them: which record tells a call, and whose it is."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.calls import Calls
from forsy_retrace.events import (
    Delegation,
    Event,
    Fact,
    Meant,
    Message,
    Origin,
    Skipped,
    ToolCall,
    ToolResult,
)
from forsy_retrace.sdk import pointer, words

from . import files, results
from .kinds import Json
from .survey import Survey


class Exchange:
    """The calls of a session so far."""

    def __init__(self, found: Survey) -> None:
        self.found = found
        self.calls = Calls()
        self.sent: dict[str, Any] = {}
        """The arguments of each call."""
        self.message: dict[str, str] = {}
        """The message that asked for it."""
        self.clients: set[str] = set()
        """Calls that the client made by itself."""
        self.reports: dict[str, str] = {}
        """What the calls that started subagents brought."""
        self.background: dict[str, str] = {}
        """Subagents that work while the agent goes on, and the calls that started them."""

    def of_client(self, requests: list[Any]) -> None:
        """Notes calls that the agent did not make."""
        self.clients.update(
            words(one.get("toolCallId")) for one in requests if isinstance(one, dict)
        )

    def asked(self, one: Any, here: Origin) -> Event:
        match one:
            case {"toolCallId": str(ident), "name": str(tool), **rest}:
                return self._call(ident, tool, "name", one, rest.get("arguments"), here)
        return Skipped(here, "a call that names no tool")

    def _call(self, ident: str, tool: str, key: str, one: Json, sent: Any, here: Origin) -> Event:
        name = self.calls.issue(ident, tool, one.get("arguments"))
        if name is None:
            return Skipped(here, "repeated call")
        self.sent[name], self.message[name] = sent, str(here.message)
        path = "/arguments"
        if not isinstance(sent, dict | str):
            sent, path = one, ""
        where = here.below(pointer(key)).evidence.pointer
        like = self.found.likes.get(ident)
        meant = Meant(like, sent) if like else None
        return ToolCall(here.below(path), name, tool, sent, where, meant)

    def started(self, value: Any, data: Json, here: Origin) -> Iterator[Event]:
        """A call that no message asked for; any other is told there."""
        ident, tool = words(data.get("toolCallId")), words(data.get("toolName"))
        if not tool or ident in self.calls.issued or ident in self.clients:
            yield Skipped(here, "repeated call" if tool else "a call that names no tool")
            return
        here = Origin(here.evidence, here.at, self.found.actor(value), here.message)
        yield self._call(ident, tool, "toolName", data, data.get("arguments"), here.below("/data"))

    def result(self, value: Any, data: Json, here: Origin) -> Iterator[Event]:
        ident = words(data.get("toolCallId"))
        if data.get("isUserRequested") is True:
            yield Skipped(here, "output of the user's own command")
            return
        if ident in self.clients:
            yield Skipped(here, "result of a call that the client made by itself")
            return
        call = self.calls.answer(ident) if ident else None
        if call is None:
            yield Skipped(here, "repeated result" if ident else "result without its call")
            return
        here = Origin(here.evidence, here.at, self.found.actor(value), here.message)
        tool = self.found.tools.get(ident, "")
        text, path = results.output(data)
        told = results.verdict(tool, data)
        made = tuple(files.changes(tool, self.sent.get(call), data))
        if ident in self.found.agents:
            started = self.found.agents[ident]
            self.reports[started] = text or ""
            if told.outcome == "launched":
                self.background[started] = call
        end = self.found.ends.get(ident) if told.outcome == "launched" else None
        shown = results.pictures(data)
        where = here.below(path)
        yield ToolResult(where, call, text, *told, changes=made, attachments=shown, end=end)
        if not self.found.names_models and words(data.get("model")) and call in self.message:
            asked = Origin(here.evidence.at("/data/model"), None, here.actor, self.message[call])
            yield Fact(asked, "model", data["model"])
        yield from self._said(tool, call, data, text or "", here)

    def _said(self, tool: str, call: str, data: Json, text: str, here: Origin) -> Iterator[Event]:
        """What the user said in a result: an answer, or what is wrong with a plan."""
        where = here.below("/data/result/content").by("user")
        if tool == "ask_user" and (reply := results.answer(data)):
            yield Message(where, "user", reply, "answer", answers=call, within=True)
        elif tool == "exit_plan_mode" and (said := results.objection(text)):
            yield Message(where, "user", said, "rejection", answers=call, within=True)

    def permitted(self, data: Json, here: Origin) -> Iterator[Event]:
        ident = words(data.get("toolCallId"))
        match data.get("result"):
            case {"kind": str(), "feedback": str(text)} if text.strip():
                if ident in self.calls.issued:
                    where = here.below("/data/result/feedback").by("user")
                    yield Message(where, "user", text, "rejection", answers=ident)
                    return
        yield Skipped(here, "bookkeeping of permissions")

    def delegated(self, value: Any, call: str, here: Origin) -> Iterator[Event]:
        actor = self.found.named(words(value.get("agentId")) or call, "", call)
        if call in self.calls.issued:
            yield Delegation(here.below("/data/toolCallId"), call, actor)
        else:
            yield Skipped(here, "a subagent that no call started")
