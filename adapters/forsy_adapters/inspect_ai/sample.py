"""One sample of a run: its events, or where it has none its messages."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from forsy_retrace.calls import Calls
from forsy_retrace.dialects import attachments, content_text
from forsy_retrace.events import (
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
)
from forsy_retrace.sdk import counts, pointer, resolve, when, words
from forsy_retrace.source import Record

from .._facts import Facts
from .outcome import verdict
from .scores import reward
from .spans import MAIN, Span, Spans

Json = dict[str, Any]

USAGE = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "input_tokens_cache_read": "cache_read_input_tokens",
    "input_tokens_cache_write": "cache_creation_input_tokens",
}
STOPPED = ("max_tokens", "model_length", "content_filter")
"""Reasons to stop that are not the model's own."""
INJECTED: tuple[tuple[str, str], ...] = (
    ("Please proceed to the next step using your best judgement.", "injected: continuation"),
)
"""How turns in the user's role begin that Inspect's own agents write."""
RETURNED = "The {} agent has completed its work."
"""With what the words end that a handoff leaves to the agent that it came from."""
POOLS = (("events_data", "messages"), ("message_pool",))
"""Where the messages stand that a model's input names by their numbers."""


class Head(NamedTuple):
    """What a log says of the whole run, and the record that says so."""

    record: Record

    def version(self) -> Iterator[Event]:
        match self.record.value:
            case {"eval": {"packages": {"inspect_ai": str(version)}}}:
                where = self.record.here.at("/eval/packages/inspect_ai")
                yield Fact(Origin(where, None, "system"), "version", version)


class Held(NamedTuple):
    """A result that waits for the end of the span in which its call ran."""

    event: Json
    path: str
    actor: str
    ran: list[tuple[Json, str]]
    """The commands that ran in the sandbox meanwhile, and where that stands."""


class Sample:
    """Reads one sample."""

    def __init__(self, record: Record, head: Head | None, base: str) -> None:
        self.record, self.head, self.base = record, head, base
        value = resolve(record.value, base)
        self.value: Json = value if isinstance(value, dict) else {}
        self.calls = Calls()
        self.spans = Spans()
        self.held: dict[Span, Held] = {}
        self.told_of: Counter[object] = Counter()
        """How often each message of the main agent was told, by its id or by what it says."""
        self.facts = Facts()
        self.told: dict[str, Any] = {}
        """The error and the limit that ended it, if events told them."""
        self.started: set[str] = set()
        """Subagents that have begun."""
        self.handed = ""
        """The agent that the conversation was handed to, and that has not given it back."""
        self.summed_up = False

    def at(self, path: str, at: Any = None, actor: str = "system", message: Any = None) -> Origin:
        """The origin of an event at a pointer below the sample."""
        where = self.record.here.at(self.base + path)
        return Origin(where, when(at), actor, words(message) or None)

    def events(self) -> Iterator[Event]:
        """All of the sample: what was done, then how it ended and what it was found to be."""
        if self.record.problem or not self.value:
            yield Skipped(self.at(""), self.record.problem or "not a sample")
            return
        name = words(self.value.get("uuid"))
        yield SessionStart(self.at("/uuid" if name else ""), name or self._numbered())
        if self.head:
            yield from self.head.version()
        listed = self.value.get("events")
        events = listed if isinstance(listed, list) else []
        if any(isinstance(one, dict) and one.get("event") == "model" for one in events):
            yield from self._events(events, "/events", None)
            for span in list(self.held):
                yield from self._ended(span)
        else:
            yield from self._messages()
        yield from self._ending()

    def _numbered(self) -> str:
        """A name for a sample of the years before each had an id of its own."""
        match self.value:
            case {"id": int() | str() as name, "epoch": int(epoch)}:
                return f"sample {name} epoch {epoch}"
        return ""

    # Events.

    def _events(self, events: list[Any], path: str, actor: str | None) -> Iterator[Event]:
        """Events in their order; those below a tool's are a subagent's."""
        for index, event in enumerate(events):
            where = path + pointer(index)
            if not isinstance(event, dict):
                yield Skipped(self.at(where), "not an event")
                continue
            match event.get("event"):
                case "span_begin":
                    self.spans.begin(event)
                case "step" if event.get("action") == "begin":
                    self.spans.begin(event)
                case "span_end" | "step":
                    if (span := self.spans.end(event)) in self.held and span:
                        yield from self._ended(span)
                case "model":
                    yield from self._model(event, where, actor)
                case "tool":
                    yield from self._tool(event, where, actor)
                case "subtask":
                    inner = event.get("events")
                    if isinstance(inner, list):
                        yield from self._events(inner, where + "/events", actor)
                case "sandbox":
                    span = self.spans.of(event)
                    if event.get("action") == "exec" and span in self.held and span:
                        self.held[span].ran.append((event, where))
                case "compaction":
                    self.summed_up = event.get("type") == "summary"
                    at = self.at(where, event.get("timestamp"), self._actor(event, actor) or MAIN)
                    yield Notice(at, "compacted")
                case "sample_limit":
                    at = self.at(where + "/message", event.get("timestamp"))
                    self.told["limit"] = True
                    yield Notice(at, "limit", words(event.get("message")))

    def _actor(self, event: Json, actor: str | None) -> str:
        return self.spans.actor(self.spans.of(event)) if actor is None else actor

    def _model(self, event: Json, path: str, actor: str | None) -> Iterator[Event]:
        own = self._actor(event, actor)
        if not own or event.get("role") == "grader":
            yield Skipped(self.at(path), "a scorer's call of a model")
            return
        began, ended = event.get("timestamp"), event.get("completed") or event.get("timestamp")
        here = self.at(path + "/model", began, own)
        yield from self.facts.told(here, "model", event.get("model"))
        if own == MAIN:
            yield from self._offered(event, path)
        else:
            yield from self._delegated(event, path, own)
        yield from self._given(event, path, own, began)
        yield from self._output(event.get("output"), path + "/output", own, ended)
        if text := words(event.get("error")):
            self.told["error"] = text
            yield Notice(self.at(path + "/error", ended, own), "model error", text)

    def _offered(self, event: Json, path: str) -> Iterator[Event]:
        tools = event.get("tools")
        names = [
            one["name"]
            for one in (tools if isinstance(tools, list) else ())
            if isinstance(one, dict) and words(one.get("name"))
        ]
        here = self.at(path + "/tools", event.get("timestamp"))
        yield from self.facts.told(here, "tools", names)

    def _delegated(self, event: Json, path: str, actor: str) -> Iterator[Event]:
        """The call that started a subagent, at the first of its own."""
        if actor in self.started:
            return
        self.started.add(actor)
        span = self.spans.of(event)
        tool = span.within(("tool",)) if span else None
        if tool and tool.call:
            yield Delegation(self.at(path, event.get("timestamp")), tool.call, actor)

    def _given(self, event: Json, path: str, actor: str, at: Any) -> Iterator[Event]:
        """What a model was given and that no event told before."""
        if actor != MAIN:
            return  # its brief is what the call said
        new = []
        given: Counter[object] = Counter()
        for message, where in self._input(event, path):
            key = _key(message)
            given[key] += 1
            if given[key] > self.told_of[key]:
                self.told_of[key] += 1
                new.append((message, where))
        if self.handed:
            texts = [content_text(message.get("content")) for message, _ in new]
            last = RETURNED.format(self.handed)
            new = new[texts.index(last) + 1 :] if last in texts else new
            self.handed = ""
        for message, where in new:
            yield from self._one_given(message, where, at)

    def _one_given(self, message: Json, path: str, at: Any) -> Iterator[Event]:
        text = content_text(message.get("content"))
        match message.get("role"):
            case "system" if text.strip():
                yield from self.facts.told(
                    self.at(path + "/content", at, "system"), "system_prompt", text
                )
            case "user":
                yield self._user(message, path, at)
            case "tool":
                yield from self._result(message, "content", path, MAIN, at, [])
            case "assistant":
                yield Skipped(self.at(path), "an answer that was put into the model's mouth")

    def _user(self, message: Json, path: str, at: Any) -> Event:
        here = self.at(path + "/content", at, "user")
        content = message.get("content")
        text = content_text(content)
        if self.summed_up:
            self.summed_up = False
            return Skipped(here, "injected: compaction summary")
        for opening, reason in INJECTED:
            if text.lstrip().startswith(opening):
                return Skipped(here, reason)
        if not text.strip():
            return Skipped(here, "empty message")
        return Message(here, "user", text, attachments=attachments(content, here.evidence.pointer))

    def _input(self, event: Json, path: str) -> Iterator[tuple[Json, str]]:
        """The messages that a model was given, and where each stands."""
        given = event.get("input")
        for index, message in enumerate(given if isinstance(given, list) else ()):
            if isinstance(message, dict):
                yield message, path + pointer("input", index)
        refs = event.get("input_refs")
        pool, base = self._pool()
        for ref in refs if isinstance(refs, list) else ():
            match ref:
                case [int(first), int(end)]:
                    for index in range(max(first, 0), min(end, len(pool))):
                        if isinstance(pool[index], dict):
                            yield pool[index], base + pointer(index)

    def _pool(self) -> tuple[list[Any], str]:
        for keys in POOLS:
            found: Any = self.value
            for key in keys:
                found = found.get(key) if isinstance(found, dict) else None
            if isinstance(found, list):
                return found, pointer(*keys)
        return [], ""

    def _output(self, output: Any, path: str, actor: str, at: Any) -> Iterator[Event]:
        """What a model answered; of several choices the first went on."""
        match output:
            case {"choices": [dict(choice), *others]}:
                pass
            case _:
                return
        message = choice.get("message")
        if isinstance(message, dict):
            where = path + pointer("choices", 0, "message")
            if actor == MAIN:
                self.told_of[_key(message)] += 1
            yield from self._spoken(message, where, actor, at)
            if used := counts(output.get("usage"), USAGE):
                here = self.at(path + "/usage", at, actor, _name(message, where))
                yield Fact(here, "usage", used)
        if choice.get("stop_reason") in STOPPED:
            here = self.at(path + "/choices/0/stop_reason", at, "system")
            yield Notice(here, "limit", choice["stop_reason"])
        for index, _ in enumerate(others, 1):
            yield Skipped(self.at(path + pointer("choices", index)), "another choice of the model")

    def _spoken(self, message: Json, path: str, actor: str, at: Any) -> Iterator[Event]:
        """The agent's reasoning, words and calls."""
        here = self.at(path, at, actor, _name(message, path))
        content = message.get("content")
        if text := words(message.get("reasoning")):  # before reasoning had a part of its own
            yield Thinking(here.below("/reasoning"), text)
        if isinstance(content, str) and content.strip():
            yield Message(here.below("/content"), "agent", content)
        for index, part in enumerate(content if isinstance(content, list) else ()):
            yield from self._part(part, here.below(pointer("content", index)))
        calls = message.get("tool_calls")
        for index, call in enumerate(calls if isinstance(calls, list) else ()):
            where = here.below(pointer("tool_calls", index))
            match call:
                case {"function": str(tool), **rest}:
                    name = str(self.calls.issue(words(rest.get("id")), where.evidence.pointer))
                    named = where.evidence.pointer + "/function"
                    sent = where.below("/arguments") if "arguments" in rest else where
                    yield ToolCall(sent, name, tool, rest.get("arguments"), named)
                case _:
                    yield Skipped(where, "a call that names no tool")

    def _part(self, part: Any, here: Origin) -> Iterator[Event]:
        match part:
            case {"type": "reasoning", "reasoning": str(text), **rest}:
                key = "summary" if rest.get("redacted") else "reasoning"
                text = words(rest.get("summary")) if rest.get("redacted") else text
                if text.strip():
                    yield Thinking(here.below(pointer(key)), text)
                else:
                    yield Skipped(here, "hidden reasoning")
            case {"type": "text", "text": str(text)}:
                if text.strip():
                    yield Message(here.below("/text"), "agent", text)
            case {"type": "tool_use", "name": str(tool), "arguments": sent}:
                yield from self._at_the_server(part, tool, sent, here)
            case _:
                yield Message(here, "agent", content_text(part))

    def _at_the_server(self, part: Json, tool: str, sent: Any, here: Origin) -> Iterator[Event]:
        """A call that the model's provider made itself, with what came back."""
        base = here.evidence.pointer
        name = str(self.calls.issue(words(part.get("id")), base))
        yield ToolCall(here.below("/arguments"), name, tool, sent, base + "/name")
        self.calls.answer(words(part.get("id")))
        if "result" in part:
            found = verdict(part, base, tool)
            output = content_text(part["result"])
            yield ToolResult(
                here.below("/result"), name, output, found.outcome, found.rule, found.basis
            )

    # Tools.

    def _tool(self, event: Json, path: str, actor: str | None) -> Iterator[Event]:
        own = self._actor(event, actor)
        tool, logged = words(event.get("function")), words(event.get("id"))
        if not own or not logged:
            yield Skipped(self.at(path), "a scorer's call of a tool" if logged else "not a call")
            return
        span = self.spans.runs(tool, logged)
        held = Held(event, path, own, [])
        agent = words(event.get("agent"))
        if agent and own == MAIN:
            self.handed = agent
        if span and not agent:
            self.held[span] = held
            return
        inner = event.get("events")
        if isinstance(inner, list) and inner:
            yield from self._below(inner, event, path)
        yield from self._answered(held)

    def _below(self, events: list[Any], event: Json, path: str) -> Iterator[Event]:
        """What happened in a tool, where a log has that inside of the tool's event."""
        asks = any(isinstance(one, dict) and one.get("event") == "model" for one in events)
        actor = self.spans.named(words(event.get("function"))) if asks else MAIN
        if asks:
            here = self.at(path, event.get("timestamp"))
            yield Delegation(here, words(event.get("id")), actor)
        yield from self._events(events, path + "/events", actor)

    def _ended(self, span: Span) -> Iterator[Event]:
        yield from self._answered(self.held.pop(span))

    def _answered(self, held: Held) -> Iterator[Event]:
        event = held.event
        if event.get("pending") is True:
            yield Skipped(self.at(held.path), "a call that had not ended")
            return
        at = event.get("completed") or event.get("timestamp")
        yield from self._result(event, "result", held.path, held.actor, at, held.ran)

    def _result(
        self, held: Json, key: str, path: str, actor: str, at: Any, ran: list[tuple[Json, str]]
    ) -> Iterator[Event]:
        """What came back of a call: by the tool's event, or by a message in the tool's role."""
        logged = words(held.get("id" if key == "result" else "tool_call_id"))
        name = self.calls.answer(logged)
        if name is None:
            return  # the message says again what the event said
        where = self.at(path, at, actor).below(pointer(key) if key in held else "")
        content = held.get(key)
        tool = words(held.get("function"))
        found = verdict(held, self.base + path, tool, [(one, self.base + at) for one, at in ran])
        pictures = attachments(content, where.evidence.pointer)
        output = content_text(content)
        error = held.get("error")
        if not output and isinstance(error, dict) and words(error.get("message")):
            output = error["message"]
            where = self.at(path + "/error/message", at, actor)
        rule, basis, code = found.rule, found.basis, found.exit_code
        yield ToolResult(where, name, output, found.outcome, rule, basis, code, (), pictures)

    # Messages alone, and the end.

    def _messages(self) -> Iterator[Event]:
        """A sample without events: its conversation, as it stood at the end."""
        listed = self.value.get("messages")
        for index, message in enumerate(listed if isinstance(listed, list) else ()):
            path = pointer("messages", index)
            if not isinstance(message, dict):
                yield Skipped(self.at(path), "not a message")
            elif message.get("role") == "assistant":
                yield from self._spoken(message, path, MAIN, None)
            else:
                yield from self._one_given(message, path, None)
        if not listed:
            yield Skipped(self.at(""), "a sample without messages")

    def _ending(self) -> Iterator[Event]:
        at = self.value.get("completed_at")
        match self.value.get("error"):
            case {"message": str(text)} if text.strip() and text != self.told.get("error"):
                yield Notice(self.at("/error/message", at), "model error", text)
        match self.value.get("limit"):
            case {"type": str(kind), **more} if "limit" not in self.told:
                reason = words(more.get("reason"))
                where = "/limit/reason" if reason else "/limit/type"
                yield Notice(self.at(where, at), "limit", reason or kind)
        match reward(self.value.get("scores")):
            case (path, value):
                yield Fact(self.at("/scores" + path, at), "reward", value)
        if self.value.get("scores"):
            yield Skipped(self.at("/scores", at), "what scorers said of it")


def _key(message: Json) -> object:
    """What tells a message from others."""
    if name := words(message.get("id")):
        return name
    calls = message.get("tool_calls")
    listed = calls if isinstance(calls, list) else []
    ids = [str(one.get("id")) for one in listed if isinstance(one, dict)]
    named = words(message.get("tool_call_id"))
    return (str(message.get("role")), content_text(message.get("content")), *ids, named)


def _name(message: Json, path: str) -> str:
    return words(message.get("id")) or path
