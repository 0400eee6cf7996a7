"""One session, item by item."""

import re
from collections.abc import Iterator
from typing import Any

from forsy_retrace.calls import Calls
from forsy_retrace.dialects import content_text, typed
from forsy_retrace.events import (
    Event,
    Fact,
    Message,
    Notice,
    Origin,
    SessionStart,
    Skipped,
    Thinking,
    ToolCall,
    ToolResult,
)
from forsy_retrace.sdk import counts, later, named, opened, pointer, when, words
from forsy_retrace.source import Record

from .results import STATUS, Json, changes, meant, verdict

OWN_LINE = later(r"shell-\d{10,}-[a-z0-9]+\Z")
"""The id of a call that the client made of a line that the user typed behind `!`."""
FACTS = (("title", "title"), ("workspaceDirectory", "cwd"), ("chatModelTitle", "model"))
USAGE = {
    # What was read from a cache is a part of the input.
    "prompt_tokens": "input_tokens",
    "promptTokens": "input_tokens",
    "completion_tokens": "output_tokens",
    "completionTokens": "output_tokens",
}
ANSWER = later(r'User (?:selected option \d+|provided custom answer|answered): "(.*)"\Z', re.S)


class Reader:
    """Reads one session."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.value: Json = record.value
        self.calls = Calls()
        self.model = ""

    def at(self, *keys: str | int, actor: str = "system", message: str | None = None) -> Origin:
        return Origin(self.record.here.at(pointer(*keys)), None, actor, message)

    def events(self) -> Iterator[Event]:
        yield SessionStart(self.at("sessionId"), self.value["sessionId"])
        for key, name in FACTS:
            text = words(self.value.get(key))
            if text and not (key == "workspaceDirectory" and "://" in text):
                yield Fact(self.at(key), name, text)
        for index, item in enumerate(self.value["history"]):
            told = list(self._item(item, index)) if isinstance(item, dict) else []
            yield from told
            if all(isinstance(event, Fact) for event in told):
                yield Skipped(self.at("history", index), "empty item")

    def _item(self, item: Json, index: int) -> Iterator[Event]:
        message = item.get("message")
        summary = words(item.get("conversationSummary"))
        match message:
            case {"content": str(text)} if summary and text == summary:
                yield Notice(self.at("history", index, "conversationSummary"), "compacted")
                return
            case {"role": "user"}:
                yield from self._user(message, item, index)
            case {"role": "assistant"}:
                yield from self._agent(message, item, index)
            case {"role": "tool"}:
                yield self._repeated(message, index)
            case {"role": "thinking", "content": content}:
                yield self._thought(content, index)
            case {"role": "system", "content": str(text)} if text.strip():
                yield Fact(self.at("history", index, "message", "content"), "system_prompt", text)
                yield Skipped(self.at("history", index), "system prompt")
            case {"role": role}:
                yield Skipped(self.at("history", index), f"unknown role{named(role)}")
        if summary:
            yield Notice(self.at("history", index, "conversationSummary"), "compacted")

    def _user(self, message: Any, item: Json, index: int) -> Iterator[Event]:
        here = self.at("history", index, "message", "content", message=f"item-{index}")
        if said := typed(message.get("content"), here):
            yield said
        brought = item.get("contextItems")
        for at, one in enumerate(brought if isinstance(brought, list) else ()):
            match one:
                case {"content": str(text)} if text:
                    where = self.at("history", index, "contextItems", at, "content")
                    yield Fact(where, "brought", {"text": text})

    def _thought(self, content: Any, index: int) -> Event:
        here = self.at("history", index, "message", "content", actor="agent")
        if isinstance(content, str) and content.strip():
            return Thinking(here, content)
        return Skipped(here, "hidden reasoning")

    def _agent(self, message: Any, item: Json, index: int) -> Iterator[Event]:
        ident = f"item-{index}"
        here = self.at("history", index, "message", actor="agent", message=ident)
        used = message.get("usage")
        model = words(used.get("model")) if isinstance(used, dict) else ""
        if model:
            yield Fact(here.below("/usage/model"), "model", model)
        if found := counts(used, USAGE):
            yield Fact(here.below("/usage"), "usage", found)
        match item.get("reasoning"):
            case {"text": str(text), **rest} if text.strip():
                where = self.at("history", index, "reasoning", "text", actor="agent", message=ident)
                began = when(rest.get("startAt"))
                yield Thinking(Origin(where.evidence, began, "agent", ident), text)
        text = content_text(message.get("content"))
        if text.strip():
            yield Message(here.below("/content"), "agent", text)
        yield from self._calls(message, item, index, here)

    def _calls(self, message: Json, item: Json, index: int, here: Origin) -> Iterator[Event]:
        """The calls of a message, then what came back of each."""
        states = list(_states(item))
        told: list[Event] = []
        for keys, state in states:
            where = self.at("history", index, *keys, actor="agent", message=here.message)
            match state:
                case {"toolCall": {"function": {"name": str(tool)} as sent}} if tool:
                    yield from self._call(tool, sent, state, where, told)
                case _:
                    yield Skipped(where, "a call that names no tool")
        known = {words(state.get("toolCallId")) for _, state in states}
        asked = message.get("toolCalls")
        for at, one in enumerate(asked if isinstance(asked, list) else ()):
            match one:
                case {"id": str(name), "function": {"name": str(tool)} as sent} if tool:
                    if name not in known:  # older versions keep the state of one call alone
                        where = here.below(pointer("toolCalls", at))
                        yield from self._sent(name, tool, sent, where, "/function")
        yield from told

    def _call(
        self, tool: str, sent: Any, state: Any, here: Origin, told: list[Event]
    ) -> Iterator[Event]:
        ident = words(state.get("toolCallId"))
        if OWN_LINE.match(ident):
            yield from self._own_line(sent, state, here)
            return
        for event in self._sent(ident, tool, sent, here, "/toolCall/function"):
            yield event
            if isinstance(event, ToolCall):
                told.extend(self._ended(event.call, tool, ident, state, here))

    def _sent(self, ident: str, tool: str, sent: Any, here: Origin, path: str) -> Iterator[Event]:
        call = self.calls.issue(ident, here.evidence.pointer)
        given = sent.get("arguments")
        if isinstance(given, str | dict):
            where = here.below(path + "/arguments")
        else:
            given, where = sent, here.below(path)
        name = here.below(path + "/name").evidence.pointer
        yield ToolCall(where, str(call), tool, given, name, meant(tool, given))

    def _own_line(self, sent: Json, state: Json, here: Origin) -> Iterator[Event]:
        """A line that the user ran in the client, and what it printed."""
        match opened(words(sent.get("arguments"))):
            case {"command": str(line)} if line.strip():
                where = here.below("/toolCall/function/arguments/command").by("user")
                yield Message(where, "user", f"!{line}", "shell line", within=True)
            case _:
                yield Skipped(here, "a line of the user's that is empty")
        for keys, text in _outputs(state):
            yield Fact(here.below(pointer(*keys)), "brought", {"text": text})

    def _ended(
        self, call: str, tool: str, ident: str, state: Json, here: Origin
    ) -> Iterator[Event]:
        status = words(state.get("status"))
        shown = list(_outputs(state))
        if status not in STATUS and not shown:
            return  # it was asked for, or ran, when the session was written last
        if self.calls.answer(ident) is None:
            return
        text = "\n".join(one for _, one in shown) if shown else None
        path = pointer(*shown[0][0]) if shown else "/status"
        place = here.below(path)
        if len(shown) > 1:
            pieces = tuple(here.below(pointer(*keys)).evidence for keys, _ in shown)
            place = Origin(place.evidence, None, "agent", here.message, pieces=pieces)
        told = verdict(tool, status, text or "", here, path)
        made = changes(tool, state, text or "", place) if told.outcome == "ok" else ()
        yield ToolResult(place, call, text, *told, changes=tuple(made))
        if tool == "AskQuestion" and (said := ANSWER.match(text or "")):
            where = here.below(path).by("user")
            yield Message(where, "user", said[1], "answer", answers=call, within=True)

    def _repeated(self, message: Any, index: int) -> Event:
        """A result as a message of its own: told by the call's state, but in older versions."""
        ident = words(message.get("toolCallId"))
        call = self.calls.answer(ident) if ident else None
        here = self.at("history", index, "message", "content", actor="agent")
        if call is None or not isinstance(message.get("content"), str):
            return Skipped(here, "repeated result")
        return ToolResult(here, call, message["content"])


def _states(item: Json) -> Iterator[tuple[tuple[str | int, ...], Json]]:
    """The state of each call; older versions keep that of one."""
    listed = item.get("toolCallStates")
    for at, one in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(one, dict):
            yield ("toolCallStates", at), one
    alone = item.get("toolCallState")
    if isinstance(alone, dict) and not isinstance(listed, list):
        yield ("toolCallState",), alone


def _outputs(state: Json) -> Iterator[tuple[tuple[str | int, ...], str]]:
    listed = state.get("output")
    for at, one in enumerate(listed if isinstance(listed, list) else ()):
        match one:
            case {"content": str(text)}:
                yield ("output", at, "content"), text
