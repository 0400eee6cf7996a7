"""Records, one by one: words, calls and results, and what the client writes beside them."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from forsy_retrace.calls import Calls
from forsy_retrace.events import (
    Delegation,
    Event,
    Fact,
    Meant,
    Message,
    Notice,
    Origin,
    SessionStart,
    Skipped,
    Thinking,
    ToolCall,
    ToolResult,
)
from forsy_retrace.sdk import (
    between,
    counts,
    later,
    mark_of,
    named,
    pointer,
    subagent,
    when,
    words,
)
from forsy_retrace.source import Record

from .._gemini.changes import changes, is_amended
from .._gemini.outcome import verdict
from .._gemini.told import Told, media, renamed
from .._reminders import is_reminder
from .tree import SYSTEM, Tree, is_record

Json = dict[str, Any]

FACTS = (("cwd", "cwd"), ("version", "version"), ("gitBranch", "branch"))
USAGE = {
    # What was read from a cache is a part of the input.
    "promptTokenCount": "input_tokens",
    "candidatesTokenCount": "output_tokens",
    "cachedContentTokenCount": "cached_input_tokens",
    "thoughtsTokenCount": "thought_tokens",
}
APART = timedelta(milliseconds=250)
"""Less than anybody needs to type, and more than a command of the client to send its prompt."""
ANSWERED = "User has provided the following answers:\n\n"
QUESTION = later(r"^\*\*[^\n]{1,200}?\*\*: ", re.M)
"""What stands before each of them: the question's heading."""
ALONE = "It is a subagent's log; what sent it stands in another."
BRIEF = "a subagent's brief"
BROUGHT = later(r"\s*--- Content from referenced files ---")
"""Before the files that the user's words name."""


class Reader:
    """Reads records one by one."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.calls = Calls()
        self.open: list[tuple[str, str, str, Any]] = []
        """Calls without a result: the log's id, the tool, the call's own id, its arguments."""
        self.session = ""
        self.facts: dict[str, str] = {}
        self.command: Message | None = None
        """The command of the client that was typed last."""
        self.is_aside = False
        """Whether it is a subagent's log: no human speaks in it."""
        self.is_briefed = False
        self.sent: dict[str, tuple[str, str]] = {}
        """Agents in the background by the log's id of the call that sent each, with that call."""

    def read(self, number: int, record: Record) -> Iterator[Event]:
        """At least one event of each record."""
        value = record.value
        here = Origin(record.here, None, "system")
        if record.problem:
            yield Skipped(here, record.problem)
        elif not is_record(value):
            yield Skipped(here, "not a record of a session")
        elif number in self.tree.copies:
            yield Skipped(here, "repeated history")
        else:
            at, branch = when(value.get("timestamp")), self.tree.branches.get(number, "")
            here = Origin(record.here, at, "system", value["uuid"], branch)
            yield from self._envelope(value, here)
            told = list(self._told(number, value, here))
            yield from told
            if all(isinstance(event, Fact) for event in told):
                yield Skipped(here, "empty message")

    def _envelope(self, value: Json, here: Origin) -> Iterator[Event]:
        if value["sessionId"] != self.session:
            self.session = value["sessionId"]
            agent = words(value.get("agentId"))
            self.is_aside = value.get("isSidechain") is True and agent != ""
            if self.is_aside:
                yield SessionStart(here.below("/agentId"), agent, limits=(ALONE,))
            else:
                yield SessionStart(here.below("/sessionId"), self.session)
        for key, name in FACTS:
            text = words(value.get(key))
            if text and self.facts.get(key) != text:
                self.facts[key] = text
                yield Fact(here.below(pointer(key)), name, text)

    def _told(self, number: int, value: Json, here: Origin) -> Iterator[Event]:
        message = value.get("message")
        parts = message.get("parts") if isinstance(message, dict) else None
        listed = parts if isinstance(parts, list) else []
        match value:
            case {"type": "user", "subtype": "notification"}:
                yield self._notice(listed, here)
            case {"type": "user", "subtype": str(kind)}:
                yield Skipped(here, f"injected{named(kind)}")
            case {"type": "user"}:
                if number in self.tree.replaces:
                    earlier = self.tree.replaces[number]
                    yield Fact(here, "replaces", {"kind": "edited", "message": earlier})
                yield from self._user(listed, here)
            case {"type": "assistant"}:
                yield from self._agent(value, listed, here)
            case {"type": "tool_result"}:
                yield from self._results(value, listed, here)
            case {"subtype": "chat_compression"}:
                yield Notice(here, "compacted")
            case {"subtype": "custom_title", "systemPayload": {"customTitle": str(title)}}:
                yield Fact(here.below("/systemPayload/customTitle"), "title", title)
                yield Skipped(here, "title")
            case {"subtype": "slash_command", "systemPayload": {"rawCommand": str(typed)}}:
                where = here.below("/systemPayload/rawCommand").by("user")
                self.command = Message(where, "user", typed, "command")
                yield Skipped(here, "a command of the client")
            case {"subtype": str(kind)} if kind in SYSTEM:
                yield Skipped(here, f"state of the client{named(kind)}")
            case {"subtype": kind}:
                yield Skipped(here, f"unknown record type{named(kind)}")
            case _:
                yield Skipped(here, "unknown record type")

    def _user(self, parts: list[Any], here: Origin) -> Iterator[Event]:
        """A human's words, and behind them the files that they name."""
        pictures = tuple(media(parts, here.below("/message/parts").evidence.pointer))
        brought: list[str] = []
        if self.command is not None and _is_soon(self.command.origin.at, here.at):
            # A command that is a prompt: the words are its text.
            yield self.command
            brought.append("")
        self.command = None
        for index, part in enumerate(parts):
            match part:
                case {"text": str(text)} if brought or BROUGHT.match(text):
                    brought.append(text)
                case {"text": str(text)} if is_reminder(text):
                    yield Skipped(here, "injected: reminder")
                case {"text": str(text)} if text.strip() and self.is_aside:
                    where = here.below(pointer("message", "parts", index, "text"))
                    yield Skipped(where, BRIEF) if self.is_briefed else Fact(where, "brief", text)
                    self.is_briefed = True
                case {"text": str(text)} if text.strip():
                    where = here.below(pointer("message", "parts", index, "text")).by("user")
                    yield Message(where, "user", text, "typed", pictures)
                    pictures = ()
        if pictures:
            shown = "\n".join(mark_of(one.media, one.size) for one in pictures)
            yield Message(here.below("/message/parts").by("user"), "user", shown, "typed", pictures)
        if brought:
            yield Fact(here.below("/message/parts"), "brought", {"text": "".join(brought)})

    def _agent(self, value: Json, parts: list[Any], here: Origin) -> Iterator[Event]:
        if words(value.get("model")):
            yield Fact(here.below("/model"), "model", value["model"])
        if used := counts(value.get("usageMetadata"), USAGE):
            yield Fact(here.below("/usageMetadata"), "usage", used)
        for index, part in enumerate(parts):
            yield from self._part(
                part, here.below(pointer("message", "parts", index)).by("agent"), index
            )

    def _part(self, part: Any, here: Origin, index: int) -> Iterator[Event]:
        match part:
            case {"text": str(text), "thought": True}:
                if text.strip():
                    yield Thinking(here.below("/text"), text)
            case {"text": str(text)}:
                if text.strip():
                    yield Message(here.below("/text"), "agent", text)
            case {"functionCall": {"name": str(tool), **rest}}:
                logged, sent = words(rest.get("id")), rest.get("args")
                where = here.below("/functionCall")
                call = str(self.calls.issue(logged, here.message, index))
                self.open.append((logged, tool, call, sent))
                name = where.below("/name").evidence.pointer
                if not isinstance(sent, dict):
                    yield ToolCall(where, call, tool, part["functionCall"], name)
                    return
                plain = renamed(sent)
                meant = Meant(tool, plain) if plain != sent else None
                yield ToolCall(where.below("/args"), call, tool, sent, name, meant)
            case _:
                yield Skipped(here, "unknown part of a message")

    def _results(self, value: Json, parts: list[Any], here: Origin) -> Iterator[Event]:
        for index, part in enumerate(parts):
            where = here.below(pointer("message", "parts", index))
            match part:
                case {"functionResponse": dict(answer)}:
                    told = self._result(value, answer, parts, where.below("/functionResponse"))
                    yield told
                    yield from _answers(told)
                    yield from self._launched(told, value, words(answer.get("id")))
                case {"text": str()}:
                    yield Skipped(where, "injected: text beside a result")

    def _result(self, value: Json, answer: Json, parts: list[Any], here: Origin) -> Event:
        asked = self._asked(words(answer.get("id")), words(answer.get("name")))
        if asked is None:
            return Skipped(here, "result without its call")
        _, tool, call, sent = asked
        shown = value.get("toolCallResult")
        client = shown if isinstance(shown, dict) else {}
        held = answer.get("response")
        told = Told(
            tool,
            sent,
            client.get("status"),
            "/toolCallResult/status",
            held if isinstance(held, dict) else {},
            here.below("/response").evidence.pointer,
            client.get("resultDisplay"),
            "/toolCallResult/resultDisplay",
        )
        output, place = told.output()
        end = verdict(told)
        files = tuple(changes(told)) if end.outcome == "ok" else ()
        where = Origin(
            here.evidence.at(place or here.evidence.pointer), here.at, "agent", None, here.branch
        )
        pictures = tuple(media(parts, "/message/parts"))
        amended = is_amended(told) and bool(files)
        return ToolResult(where, call, output, *end, files, pictures, amended=amended)

    def _launched(self, told: Event, value: Json, logged: str) -> Iterator[Event]:
        """An agent that goes on in the background."""
        match value:
            case {"toolCallResult": {"resultDisplay": {"subagentName": str(kind)}}} if (
                isinstance(told, ToolResult) and told.outcome == "launched" and logged
            ):
                actor = subagent(kind, len(self.sent) + 1)
                self.sent[logged] = told.call, actor
                yield Delegation(told.origin, told.call, actor)

    def _notice(self, parts: list[Any], here: Origin) -> Event:
        """What an agent in the background came back with, or another notice of the client."""
        for index, part in enumerate(parts):
            text = words(part.get("text")) if isinstance(part, dict) else ""
            sent = self.sent.get(between(text, "<tool-use-id>", "</tool-use-id>") or "")
            said = between(text, "<result>", "</result>")
            if sent is not None and said and said.strip():
                call, actor = sent
                where = here.below(pointer("message", "parts", index, "text")).by(actor)
                return Message(where, "agent", said, "notification", (), call, within=True)
        return Skipped(here, "injected: notification")

    def _asked(self, logged: str, tool: str) -> tuple[str, str, str, Any] | None:
        """The call that a result answers: of its id, or the first of its tool that has no id."""
        for one in self.open:
            if (one[0] == logged and logged) or (not one[0] and one[1] == tool):
                self.open.remove(one)
                return one
        return None


def _answers(told: Event) -> Iterator[Event]:
    """What a human chose or wrote in a dialog."""
    if isinstance(told, ToolResult) and (told.output or "").startswith(ANSWERED):
        shown = QUESTION.split((told.output or "")[len(ANSWERED) :])
        if said := "\n".join(one.strip() for one in shown if one.strip()):
            here = told.origin.by("user")
            yield Message(here, "user", said, "answer", (), told.call, within=True)


def _is_soon(before: str | None, now: str | None) -> bool:
    if before is None or now is None:
        return False
    gone = datetime.fromisoformat(now) - datetime.fromisoformat(before)
    return timedelta(0) <= gone < APART
