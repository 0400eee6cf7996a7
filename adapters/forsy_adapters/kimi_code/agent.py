"""The log of one agent, record by record."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.calls import Calls, Verdict
from forsy_retrace.dialects import attachments, texts
from forsy_retrace.events import (
    Delegation,
    Event,
    Fact,
    Message,
    Notice,
    Origin,
    Skipped,
    Thinking,
    ToolCall,
    ToolResult,
    Via,
)
from forsy_retrace.sdk import counts, named, strings, words
from forsy_retrace.source import Record

from .records import LEFT_OUT, LOOP, STATE, Json, Line
from .results import changes, meant, output, said, task_in, verdict
from .survey import Survey
from .users import appended, is_typed, prompt

USAGE = {
    "inputOther": "input_tokens",
    "output": "output_tokens",
    "inputCacheRead": "cache_read_input_tokens",
    "inputCacheCreation": "cache_creation_input_tokens",
}
BRIEF = "a subagent's brief"
LATER = "injected: later words to a subagent"


class Agent:
    """Reads an agent's file."""

    def __init__(self, found: Survey, actor: str, calls: Calls, actors: dict[str, str]) -> None:
        self.found, self.actor, self.calls = found, actor, calls
        self.actors = actors
        """Subagents' ids, and what they are called."""
        self.is_main = actor == "agent"
        self.is_alone = False
        """A subagent's file by itself."""
        self.open: dict[str, tuple[str, str, Any]] = {}
        """Calls without a result, by the log's id: their own id, tool and arguments."""
        self.report = ""
        """The call that this agent was started by, where it brought no report."""
        self.why_cut = ""
        self.step: str | None = None
        """The step under way, or the last: one message of the model."""
        self.tells_ends = self.is_working = False
        """Whether the client tells ends of steps; whether a step is known to be under way."""
        self.briefed = False

    def events(self) -> Iterator[Event]:
        """At least one event of each record."""
        for number, record in enumerate(self.found.source.records()):
            yield from self._record(number, record)
            last = record
        if self.is_main and self.is_working:  # only then is there a last record
            yield Notice(Origin(last.here, None, "system"), "cut")

    def _record(self, number: int, record: Record) -> Iterator[Event]:
        value = record.value
        if record.problem or not isinstance(value, dict):
            here = Origin(record.here, None, "system")
            yield Skipped(here, record.problem or "not an operation")
            return
        line = Line(number, record, value, self.actor, self.found.branches.get(number, ""))
        if why := self._beside(number):
            yield Skipped(line.here(), why)
            return
        told = list(self._told(line))
        yield from told
        if not any(not isinstance(one, Fact) or one.name == "usage" for one in told):
            yield Skipped(line.here(), _why(line.kind))

    def _beside(self, number: int) -> str:
        """Why a record is left out of a log that tells of a question beside the work."""
        if self.found.side is None:
            return ""
        if number < self.found.side:
            return "repeated: the main agent's context"
        return "" if self.is_main else "a question beside the work"

    def _told(self, line: Line) -> Iterator[Event]:
        value = line.value
        match line.kind:
            case "metadata":
                yield from _facts(line, ("app_version", "version"))
            case "turn.prompt" | "turn.steer":
                yield from self._prompt(line)
            case "context.append_message" if self.is_main:
                yield from appended(line, self.found.prompts)
            case "context.append_message":
                yield Skipped(line.here("/message"), "injected: to a subagent")
            case _ if line.kind == LOOP:
                event = value.get("event")
                yield from self._loop(line, event if isinstance(event, dict) else {})
            case "turn.cancel" if value.get("target") == "queued":
                yield Skipped(line.here(), "words that were taken back before they were sent")
            case "turn.cancel":
                self.why_cut = words(value.get("reason"))
                if self.found.ends or not self.is_main:
                    yield Skipped(line.here(), "a turn was cancelled, told at its end")
                else:
                    yield self._stopped(line)
            case "turn.ended":
                yield self._ended(line)
            case "context.apply_compaction":
                yield self._of_context(line, Notice(line.here(), "compacted"))
            case "context.clear":
                yield self._of_context(line, Notice(line.here(), "cleared"))
            case "context.undo":
                yield Skipped(line.here(), "the user went back")
            case "usage.record":
                if used := counts(value.get("usage"), USAGE):
                    yield Fact(line.here("/usage", "system", line.name), "usage", used)
            case "subagent.spawned":
                yield Skipped(line.here(), "a subagent began, told by its call")
            case _ if self.is_main or self.is_alone:
                yield from self._settings(line)

    def _settings(self, line: Line) -> Iterator[Event]:
        """What is set for the session: its model, its tools, its system prompt."""
        value = line.value
        match line.kind:
            case "config.update" | "profile.bind":
                yield from _facts(line, ("cwd", "cwd"), ("systemPrompt", "system_prompt"))
                if not self.found.requests:
                    yield from _facts(line, ("modelAlias", "model"))
            case "permission.set_mode":
                yield from _facts(line, ("mode", "permission_mode"))
            case "llm.request" if value.get("kind") == "loop" and words(value.get("model")):
                yield Fact(line.here("/model", "system", self.step), "model", value["model"])
            case "llm.tools_snapshot":
                tools = value.get("tools")
                listed = tools if isinstance(tools, list) else []
                offered = [one.get("name") for one in listed if isinstance(one, dict)]
                if names := list(strings(offered)):
                    yield Fact(line.here("/tools"), "tools", names)
            case "tools.set_active_tools" if not self.found.requests:
                names = list(strings(value.get("names")))
                if names and not any("*" in one for one in names):  # `mcp__*` names no tool
                    yield Fact(line.here("/names"), "tools", names)

    def _prompt(self, line: Line) -> Iterator[Event]:
        if not self.is_main:
            yield from self._brief(line)
            return
        ident = line.prompt
        if line.kind == "turn.steer":
            yield from prompt(line, ident, "queued")
            return
        earlier = self.found.replaces.get(line.number)
        if earlier and is_typed(line):
            where = line.here("", "user", ident)
            yield Fact(where, "replaces", {"kind": "edited", "message": earlier})
        yield from prompt(line, ident)

    def _brief(self, line: Line) -> Iterator[Event]:
        """No human speaks in a subagent's log."""
        why, self.briefed = (LATER if self.briefed else BRIEF), True
        parts = [one for one in texts(line.value.get("input")) if one[1].strip()]
        if self.is_alone and why == BRIEF and len(parts) == 1:
            yield Fact(line.here("/input" + parts[0][0]), "brief", parts[0][1])
        yield Skipped(line.here(), why)

    def _loop(self, line: Line, event: Json) -> Iterator[Event]:
        message = words(event.get("stepUuid"), event.get("uuid")) or None
        match event:
            case {"type": "content.part", "part": dict(part)}:
                yield self._part(line, part, message)
            case {"type": "tool.call"}:
                yield from self._call(line, event, message)
            case {"type": "tool.result"}:
                yield from self._result(line, event)
            case {"type": "step.begin"}:
                self.step, self.is_working = message, self.tells_ends
                yield Skipped(line.here(), "a step began")
            case {"type": "step.end"}:
                self.tells_ends, self.is_working = True, False
                yield Skipped(line.here(), "a step ended")
            case {"type": kind}:
                yield Skipped(line.here(), f"unknown event{named(kind)}")

    def _part(self, line: Line, part: Json, message: str | None) -> Event:
        base = "/event/part"
        match part:
            case {"type": "text", "text": str(text)} if text.strip():
                here = line.own(base + "/text", message)
                if self.report and line.number == self.found.last:
                    return Message(here, "agent", text, "notification", answers=self.report)
                return Message(here, "agent", text)
            case {"type": "think", "think": str(text)} if text.strip():
                return Thinking(line.own(base + "/think", message), text)
            case {"type": "think"}:
                is_sealed = bool(words(part.get("encrypted"), part.get("signature")))
                return Skipped(
                    line.here(base), "hidden reasoning" if is_sealed else "empty message"
                )
            case {"type": "text"}:
                return Skipped(line.here(base), "empty message")
        return Skipped(line.here(base), f"unknown part of a message{named(part.get('type'))}")

    def _call(self, line: Line, event: Json, message: str | None) -> Iterator[Event]:
        tool, logged = words(event.get("name")), words(event.get("toolCallId"))
        if not tool.strip():
            yield Skipped(line.here("/event"), "a call that names no tool")
            return
        sent = event.get("args")
        sent = sent if isinstance(sent, dict | str) else None
        call = self.calls.issue(logged, line.record.here.file, line.number) or logged
        self.open[logged] = (call, tool, sent)
        here = line.own("/event" + ("/args" if sent is not None else ""), message)
        yield ToolCall(here, call, tool, sent, "/event/name", meant(tool, sent))
        for agent in self.found.started.get(line.number, ()):
            if agent in self.actors:
                yield Delegation(line.here("/event"), call, self.actors[agent])

    def _result(self, line: Line, event: Json) -> Iterator[Event]:
        asked = self.open.pop(words(event.get("toolCallId")), None)
        if asked is None:
            yield Skipped(line.here("/event"), "result without its call")
            return
        call, tool, sent = asked
        held = event.get("result")
        value: Json = held if isinstance(held, dict) else {}
        base = "/event/result"
        text, path = output(value)
        end = verdict(tool, value, base) if isinstance(held, dict) else Verdict()
        files = changes(tool, sent, value, base) if end.outcome == "ok" else ()
        pictures = attachments(value.get("output"), base + "/output")
        task = task_in(text or "") if end.outcome == "launched" else ""
        later = self.found.tasks.get(task)
        yield ToolResult(line.own(base + path), call, text, *end, files, pictures, end=later)
        for words_, came in said(tool, text or ""):
            via: Via = "answer" if came == "answer" else "rejection"
            own = line.here(base + path, "user")
            yield Message(own, "user", words_, via, (), call, within=True)

    def _ended(self, line: Line) -> Event:
        """The end of a turn: done, cancelled, or an error of the model or the client."""
        why, self.why_cut, self.is_working = self.why_cut, "", False
        self.open.clear()
        if not self.is_main:
            return Skipped(line.here(), "a subagent's turn ended")
        match line.value:
            case {"reason": "cancelled"}:
                self.why_cut = why
                return self._stopped(line)
            case {"reason": "failed", "error": {"message": str(text)}} if text:
                return Notice(line.here("/error/message"), "model error", text)
            case {"reason": "completed"}:
                return Notice(line.here(), "ended")
        return Notice(line.here(), "cut")

    def _stopped(self, line: Line) -> Event:
        is_users, self.why_cut = self.why_cut == "user_cancelled", ""
        return Notice(line.here(), "interrupted" if is_users else "cut")

    def _of_context(self, line: Line, notice: Notice) -> Event:
        """What befell the main agent's context."""
        return notice if self.is_main else Skipped(line.here(), "a subagent's context")


def _facts(line: Line, *names: tuple[str, str]) -> Iterator[Event]:
    for key, name in names:
        if words(line.value.get(key)):
            yield Fact(line.here(f"/{key}"), name, line.value[key])


def _why(kind: str) -> str:
    """Why a record tells of no work."""
    if kind == "metadata":
        return "header"
    known = kind in STATE or kind in SETTINGS
    return (
        LEFT_OUT.get(kind)
        or f"{'state of the client' if known else 'unknown record type'}{named(kind)}"
    )


SETTINGS = (
    *("config.update", "profile.bind", "permission.set_mode", "llm.request", "usage.record"),
    *("llm.tools_snapshot", "tools.set_active_tools", LOOP),
)
