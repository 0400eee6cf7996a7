"""The agent's messages: thoughts, words, calls and their results."""

from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace

from forsy_retrace.events import (
    Event,
    Fact,
    Meant,
    Message,
    Origin,
    Skipped,
    Thinking,
    ToolCall,
    ToolResult,
)
from forsy_retrace.sdk import counts, later, order, parsed, pointer, when, words

from .._gemini.changes import changes, is_amended
from .._gemini.outcome import RUNNING, verdict
from .._gemini.told import media, parts_of, renamed
from .messages import AGENTS, Json, batches, told_of
from .speech import why_injected
from .state import State

Issued = list[tuple[str, Json, Origin]]
"""Calls of one message: by what name each is issued, its record and where that stands."""
Started = Callable[[Issued], Iterator[Event]]

USAGE = {
    # What was read from a cache is a part of the input.
    "input": "input_tokens",
    "output": "output_tokens",
    "cached": "cached_input_tokens",
    "thoughts": "thought_tokens",
    "tool": "tool_use_tokens",
}
SERVER = later(r"(.{1,60}) \(([^()\n]{1,60}) MCP Server\)")
FEEDBACK = later(r"Plan rejected\. User feedback: (.+?)\n\nThe plan is stored at: ")


class Agents:
    """Reads the agent's messages."""

    def __init__(self, state: State, started: Started) -> None:
        self.state, self.started = state, started

    def events(self, message: Json, here: Origin) -> Iterator[Event]:
        """Its thoughts, words and calls, and what came back of these."""
        own = here.by(self.state.actor)
        harness = AGENTS[message["type"]]
        if harness and self.state.harness != harness:
            self.state.harness = harness
            yield Fact(here.below("/type"), "harness", harness)
        if words(message.get("model")):
            yield Fact(here.below("/model"), "model", message["model"])
        if used := counts(message.get("tokens"), USAGE):
            yield Fact(here.below("/tokens"), "usage", used)
        yield from self._thoughts(message.get("thoughts"), own.below("/thoughts"))
        for base, part in parts_of(message.get("content")):
            yield from self._part(part, bool(message.get("thoughts")), own.below("/content" + base))
        yield from self._calls(message, own)

    def _thoughts(self, thoughts: Any, here: Origin) -> Iterator[Event]:
        listed = thoughts if isinstance(thoughts, list) else []
        held = [thought if isinstance(thought, dict) else {} for thought in listed]
        for index, thought in enumerate(held):
            if index + 1 < len(held) and _whole(held[index + 1]).startswith(_whole(thought)):
                continue  # Bob Shell keeps a thought at each state of its growth
            at = when(thought.get("timestamp"))
            if at is not None and order(at) < order(self.state.asked):
                # Its own message was never written (a call turned down, 0.20).
                yield Skipped(here.below(pointer(index)), "a thought of an earlier turn")
                continue
            for key in ("subject", "description"):
                if words(thought.get(key)).strip():
                    where = here.below(pointer(index, key))
                    yield Thinking(replace(where, at=at or here.at), thought[key])

    def _part(self, part: Any, is_told: bool, here: Origin) -> Iterator[Event]:
        match part:
            case str(text):
                yield from self._text(text, here)
            case {"text": str(text), "thought": True} if is_told or why_injected(text):
                yield Skipped(here, why_injected(text) or "a thought that is told beside it")
            case {"text": str(text), "thought": True}:
                yield Thinking(here.below("/text"), text)
            case {"text": str(text)}:
                yield from self._text(text, here.below("/text"))
            case {"functionCall": {"name": str(tool), **rest}}:
                ident = words(rest.get("id"))
                if ident in self.state.found.recorded:
                    return
                where = here.below("/functionCall")
                call = self.state.calls.issue(ident, tool, rest.get("args"))
                if call is None:
                    yield Skipped(where, "repeated call")
                    return
                sent, path = rest.get("args"), "/args"
                yield ToolCall(
                    where.below(path if sent is not None else ""),
                    call,
                    tool,
                    sent,
                    where.below("/name").evidence.pointer,
                )
            case _:
                yield Skipped(here, "unknown part of a message")

    def _text(self, text: str, here: Origin) -> Iterator[Event]:
        if why := why_injected(text):
            yield Skipped(here, why)
        elif text.strip():
            yield Message(here, "agent", text)

    def _calls(self, message: Json, here: Origin) -> Iterator[Event]:
        """The calls of a message, what subagents did for them, and their results.

        Early versions (0.20) put calls that were sent later into the message of the ones before.
        """
        for number, batch in enumerate(batches(message)):
            ident = f"{here.message}+{number}" if number else here.message
            at = None if number else here.at
            yield from self._sent(batch, Origin(here.evidence, at, here.actor, ident, here.branch))

    def _sent(self, batch: list[tuple[int, Json]], here: Origin) -> Iterator[Event]:
        """Calls that were sent together."""
        issued: Issued = []
        for index, told in batch:
            where = here.below(pointer("toolCalls", index))
            ended = when(told.get("timestamp"))
            # Early versions wrote a message without words only when its calls had ended.
            began = here.at if ended and order(here.at) < order(ended) else None
            tool = words(told.get("name"))
            call = self.state.calls.issue(words(told.get("id")), tool, told.get("args"))
            if call is None or not tool:
                yield Skipped(where, "repeated call" if tool else "a call that names no tool")
                continue
            issued.append((call, told, where))
            sent, path = told.get("args"), "/args"
            if not isinstance(sent, dict | str):
                sent, path = told, ""
            name = where.below("/name").evidence.pointer
            yield ToolCall(
                replace(where.below(path), at=began), call, tool, sent, name, _meant(tool, told)
            )
        yield from self.started(issued)
        for call, told, where in issued:
            yield from self._result(call, told, where)

    def _result(self, call: str, told: Json, here: Origin) -> Iterator[Event]:
        status = told.get("status")
        if status in RUNNING or (status is None and told.get("result") is None):
            return
        if self.state.calls.answer(words(told.get("id"))) is None:
            return
        base = here.evidence.pointer
        found = told_of(told, base)
        end = verdict(found)
        output, place = found.output()
        at = when(told.get("timestamp"))
        files = tuple(changes(found)) if end.outcome == "ok" else ()
        pictures = tuple(media(told.get("result"), base + "/result"))
        origin = Origin(
            here.evidence.at(place or base), at, self.state.actor, here.message, here.branch
        )
        yield ToolResult(
            origin, call, output, *end, files, pictures, amended=is_amended(found) and bool(files)
        )
        yield from self._spoken(told, call, output or "", origin)

    def _spoken(self, told: Json, call: str, output: str, here: Origin) -> Iterator[Event]:
        """What a human said in a dialog: answers, or why a plan is sent back."""
        if not self.state.is_main or self.state.is_alone:
            return
        own = replace(here, actor="user", message=None)
        match told.get("name"), parsed(output):
            case "ask_user", {"answers": dict(answers)}:
                lines = [one for one in answers.values() if isinstance(one, str) and one.strip()]
                if lines:
                    yield Message(own, "user", "\n".join(lines), "answer", (), call, within=True)
            case "exit_plan_mode", _ if found := FEEDBACK.match(output):
                yield Message(own, "user", found[1], "rejection", (), call, within=True)


def _whole(thought: Json) -> str:
    """A thought as the model wrote it."""
    subject = words(thought.get("subject"))
    return (f"**{subject}**" if subject else "") + words(thought.get("description"))


def _meant(tool: str, told: Json) -> Meant | None:
    """What a call comes to, where its arguments have names of their own or a server runs it."""
    sent = told.get("args")
    if not isinstance(sent, dict):
        return None
    if tool.startswith("mcp_") and (found := SERVER.fullmatch(words(told.get("displayName")))):
        return Meant(f"mcp__{found[2]}__{found[1]}", sent)
    plain = renamed(sent)
    return Meant(tool, plain) if plain != sent else None
