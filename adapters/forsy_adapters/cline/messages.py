"""Messages, one by one: words, calls, and what came back."""

import re
from collections.abc import Iterator
from typing import Any

from forsy_retrace.calls import Calls
from forsy_retrace.events import (
    Attachment,
    Delegation,
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
    Via,
)
from forsy_retrace.sdk import base64_size, counts, later, named, pointer, subagent, words

from .._patches import changes as patched
from .._patches import patch_in
from . import results
from .files import Doc, Json, parent_of

TYPED = later(
    r"\s*<user_(?P<kind>input|command)\b[^>\n]*>(?P<said>.*)</user_(?:input|command)>", re.S
)
"""What the client sets around a person's words."""
OWN = later(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")
"""The ids of messages that a person sent; the client's own words have others, or none."""
USAGE = {
    "inputTokens": "input_tokens",
    "outputTokens": "output_tokens",
    "cacheReadTokens": "cache_read_input_tokens",
    "cacheWriteTokens": "cache_creation_input_tokens",
}


class Reader:
    """Reads the messages of a session and of its subagents."""

    def __init__(self, lead: Doc, beside: list[Doc]) -> None:
        self.lead = lead
        self.calls = Calls()
        self.sent: dict[str, tuple[str, Any]] = {}
        """The tool and arguments of each call."""
        self.agents = 0
        self.wraps = any(TYPED.match(text) for text in _said(lead))
        """Whether the client sets something around what a person says."""
        self.is_interactive = any(doc.value.get("interactive") is True for doc in beside)
        """Whether somebody was there to answer: else the client picks an answer itself."""

    def start(self) -> Iterator[Event]:
        lead, value = self.lead, self.lead.value
        yield SessionStart(lead.here("/sessionId"), value["sessionId"], None)
        if words(value["origin"].get("version")):
            yield Fact(lead.here("/origin/version"), "version", value["origin"]["version"])
        if words(value.get("system_prompt")):
            yield Fact(lead.here("/system_prompt"), "system_prompt", value["system_prompt"])
        if not lead.messages:
            yield Skipped(lead.here(""), "a session without messages")

    def agent(self, doc: Doc) -> Iterator[Event]:
        """A subagent's messages, behind the call that started it."""
        self.agents += 1
        actor = subagent("", self.agents)
        task = next(_said(doc), "")
        call = next((one for one in self._started() if task and one[1] == task), None)
        at = next((one.get("ts") for one in doc.messages if isinstance(one, dict)), None)
        if call:
            yield Delegation(doc.here("/origin/subagent", at), call[0], actor)
        yield from self.messages(doc, actor)

    def _started(self) -> Iterator[tuple[str, str]]:
        """The calls that start subagents, and their tasks."""
        for message in self.lead.messages:
            for block in _blocks(message):
                match block:
                    case {"name": "spawn_agent", "id": str(call), "input": {"task": str(task)}}:
                        yield call, task

    def messages(self, doc: Doc, actor: str) -> Iterator[Event]:
        """Every message of a file."""
        alone = doc is self.lead and bool(parent_of(doc.value))
        actor = subagent("", 1) if alone else actor
        briefed = actor == "agent"
        for index, message in enumerate(doc.messages):
            base = pointer("messages", index)
            if not isinstance(message, dict):
                yield Skipped(doc.here(base), "not a message")
                continue
            ident = words(message.get("id")) or f"message-{index}"
            here = doc.here(base, message.get("ts"), actor, ident)
            told = list(self._message(message, here, briefed, alone))
            briefed = briefed or message.get("role") == "user"
            yield from told or [Skipped(here, "empty message")]

    def _message(self, message: Json, here: Origin, briefed: bool, alone: bool) -> Iterator[Event]:
        match message:
            case {"metadata": {"displayRole": "error"}}:
                text = "\n".join(_texts(message))
                where = here.below("/content/0/text").by("system")
                yield Notice(where, "model error", text) if text else Skipped(here, "empty error")
            case {"metadata": {"displayRole": "status" | "system"}}:
                yield Skipped(here.by("system"), "notice of the client")
            case {"role": "user"}:
                for at, block in enumerate(_blocks(message)):
                    where = here.below(pointer("content", at))
                    yield from self._of_user(message, block, where, briefed, alone)
                if isinstance(message.get("content"), str):
                    yield Skipped(here, "words of an older form")
            case {"role": "assistant"}:
                yield from self._of_agent(message, here)
            case {"role": role}:
                yield Skipped(here, f"unknown role{named(role)}")

    def _of_user(
        self, message: Json, block: Any, here: Origin, briefed: bool, alone: bool
    ) -> Iterator[Event]:
        match block:
            case {"type": "tool_result", "tool_use_id": str(ident)}:
                yield from self._result(ident, block, here)
            case {"type": "text", "text": str(text)} if not briefed:
                where = here.below("/text").by("system")
                yield Fact(where, "brief", text) if alone else Skipped(here, "a subagent's brief")
            case {"type": "text", "text": str(text)}:
                yield self._words(message, text, here)
            case {"type": "image", "data": str(data), "mediaType": str(media)}:
                where = here.below("/data")
                shown = Attachment(media, base64_size(data), where.evidence.pointer)
                yield Message(where.by("user"), "user", "", attachments=(shown,))
            case {"type": "file", "content": str(text)}:
                yield Fact(here.by("system"), "brought", {"text": text})
            case {"type": kind}:
                yield Skipped(here, f"unknown content part{named(kind)}")
            case _:
                yield Skipped(here, "unknown content part")

    def _words(self, message: Json, text: str, here: Origin) -> Event:
        """A person's words; nobody typed what stands where they do without their mark."""
        typed = TYPED.match(text)
        if here.actor != "agent":
            return Skipped(here, "injected: later words to a subagent")
        if typed and typed["said"].strip():
            via: Via = "command" if typed["kind"] == "command" else "typed"
            where = here.below("/text").by("user")
            return Message(where, "user", typed["said"], via, within=True)
        if typed or self.wraps or not OWN.match(words(message.get("id"))):
            return Notice(here.by("system"), "ended", "injected: notice of the client")
        return Message(here.below("/text").by("user"), "user", text)

    def _of_agent(self, message: Json, here: Origin) -> Iterator[Event]:
        match message.get("modelInfo"):
            case {"id": str(model)} if model:
                yield Fact(here.below("/modelInfo/id"), "model", model)
        for at, block in enumerate(_blocks(message)):
            yield self._said(block, here.below(pointer("content", at)))
        if used := counts(message.get("metrics"), USAGE):
            yield Fact(here.below("/metrics"), "usage", used)

    def _said(self, block: Any, here: Origin) -> Event:
        match block:
            case {"type": "text", "text": str(text)} if text.strip():
                return Message(here.below("/text"), "agent", text)
            case {"type": "thinking", "thinking": str(text)} if text.strip():
                return Thinking(here.below("/thinking"), text)
            case {"type": "thinking" | "redacted_thinking"}:
                return Skipped(here, "hidden reasoning")
            case {"type": "tool_use", "name": str(tool)}:
                return self._call(tool, block, here)
            case {"type": "text"}:
                return Skipped(here, "empty words")
            case {"type": kind}:
                return Skipped(here, f"unknown content part{named(kind)}")
        return Skipped(here, "unknown content part")

    def _call(self, tool: str, block: Json, here: Origin) -> Event:
        sent, path = block.get("input"), "/input"
        if not isinstance(sent, dict | str):
            sent, path = block, ""
        name = str(
            self.calls.issue(words(block.get("id")), *here.evidence.record, here.evidence.pointer)
        )
        self.sent[name] = tool, sent
        where = here.below("/name").evidence.pointer
        return ToolCall(here.below(path), name, tool, sent, where, results.meant(tool, sent))

    def _result(self, ident: str, block: Json, here: Origin) -> Iterator[Event]:
        name = self.calls.answer(ident)
        if name is None:
            yield Skipped(here, "repeated result")
            return
        tool, sent = self.sent.get(name, ("", None))
        base = here.evidence.pointer
        text, path = results.shown(block)
        told = results.verdict(block, base)
        made = list(results.changes(tool, sent, block, base))
        patch = patch_in(tool, sent) if told.outcome == "ok" else None
        if patch:
            made += patched(patch)
        yield ToolResult(here.below(path), name, text, *told, changes=tuple(made))
        if tool == "ask_question" and self.is_interactive and told.outcome == "ok" and text:
            where = here.below(path).by("user")
            yield Message(where, "user", text, "answer", answers=name)


def _blocks(message: Any) -> list[Any]:
    found = message.get("content") if isinstance(message, dict) else None
    return found if isinstance(found, list) else []


def _texts(message: Any) -> Iterator[str]:
    for block in _blocks(message):
        match block:
            case {"type": "text", "text": str(text)} if text.strip():
                yield text


def _said(doc: Doc) -> Iterator[str]:
    """What stands in the user's place."""
    for message in doc.messages:
        if isinstance(message, dict) and message.get("role") == "user":
            yield from _texts(message)
