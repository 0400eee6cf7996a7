"""What one agent says and does: its steps, words, calls and results."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from forsy_retrace.calls import Calls
from forsy_retrace.dialects import attachments
from forsy_retrace.events import (
    Event,
    Fact,
    Message,
    Skipped,
    Thinking,
    ToolCall,
    ToolResult,
    Via,
)
from forsy_retrace.sdk import counts, named, parsed, words

from .files import changes, meant
from .results import RETURNED, held, output, said, task_in, verdict
from .survey import Survey
from .units import Unit

USAGE = {
    "input_other": "input_tokens",
    "output": "output_tokens",
    "input_cache_read": "cache_read_input_tokens",
    "input_cache_creation": "cache_creation_input_tokens",
}


class Asked:
    """A call that was issued: its own id, its tool, and its arguments."""

    def __init__(self, call: str, tool: str, sent: Any) -> None:
        self.call, self.tool, self.sent = call, tool, sent


class Lane:
    """Reads the messages of one agent."""

    def __init__(self, actor: str, calls: Calls, found: Survey) -> None:
        self.actor, self.calls, self.found = actor, calls, found
        self.message = ""
        """The step under way: one message of the model."""
        self.open: dict[str, Asked] = {}
        """Calls without a result, by the log's id: a model may use it again in another turn."""
        self.is_unfinished = False
        """Whether the step's message has not come to its end: then the client tells its tokens."""
        self.is_counted = False
        self.report = ""
        """The call that an agent in the background was started by, which brought no report."""

    def begins(self, unit: Unit) -> None:
        """A step begins."""
        self.message = f"{self.actor}:{unit.number}"
        self.is_unfinished = self.is_counted

    def told(self, unit: Unit) -> Iterator[Event]:
        """A message that any agent may send."""
        match unit.kind:
            case "StepBegin":
                self.begins(unit)
                yield Skipped(unit.here(), "a step began")
            case "ContentPart":
                yield self._part(unit)
            case "ToolCall":
                yield self._call(unit)
            case "ToolCallPart":
                is_known = unit.number in self.found.parts
                yield Skipped(
                    unit.here(), "part of a call" if is_known else "part without its call"
                )
            case "ToolResult":
                yield from self._result(unit)
            case "StatusUpdate":
                self.is_counted = True
                self.is_unfinished = False
                if used := counts(unit.body.get("token_usage"), USAGE):
                    own = unit.here("/token_usage", "system", self.message or None)
                    yield Fact(own, "usage", used)
                else:
                    yield Skipped(unit.here(), "status of the client")
            case kind:
                yield Skipped(unit.here(), REASONS.get(kind) or f"unknown message{named(kind)}")

    def _part(self, unit: Unit) -> Event:
        match unit.body:
            case {"type": "text", "text": str(text)} if text.strip():
                here = unit.here("/text", self.actor, self.message)
                if self.report and unit.number in self.found.last:
                    return Message(here, "agent", text, "notification", answers=self.report)
                return Message(here, "agent", text)
            case {"type": "think", "think": str(text)} if text.strip():
                return Thinking(unit.here("/think", self.actor, self.message), text)
            case {"type": "think", "encrypted": str()}:
                return Skipped(unit.here(), "hidden reasoning")
            case {"type": "text" | "think"}:
                return Skipped(unit.here(), "empty message")
        return Skipped(unit.here(), f"unknown part of a message{named(unit.body.get('type'))}")

    def _call(self, unit: Unit) -> Event:
        function = unit.body.get("function")
        match function:
            case {"name": str(tool)} if tool.strip():
                pass
            case _:
                return Skipped(unit.here(), "a call that names no tool")
        logged = words(unit.body.get("id"))
        text, places = self.found.arguments(unit)
        value = parsed(text) if text is not None else None
        sent = value if isinstance(value, dict) else text
        call = self.calls.issue(logged, unit.record.here.file, unit.number) or logged
        self.open[logged] = Asked(call, tool, sent)
        path = "/function/arguments" if sent is not None else "/function"
        here = unit.here(path, self.actor, self.message)
        if places:
            here = replace(here, pieces=places)
        name = unit.here("/function/name").evidence.pointer
        return ToolCall(here, call, tool, sent, name, meant(tool, sent))

    def _result(self, unit: Unit) -> Iterator[Event]:
        asked = self.open.pop(words(unit.body.get("tool_call_id")), None)
        if asked is None:
            yield Skipped(unit.here(), "result without its call")
            return
        value, base = held(unit.body), unit.base + RETURNED
        shown, path = output(value)
        end = verdict(asked.tool, value, base)
        files = tuple(changes(asked.tool, asked.sent, value, base)) if end.outcome == "ok" else ()
        pictures = attachments(value.get("output"), base + "/output")
        here = unit.here(RETURNED + path, self.actor)
        later = self.found.tasks.get(task_in(value)) if end.outcome == "launched" else None
        yield ToolResult(here, asked.call, shown, *end, files, pictures, end=later)
        for text, place, came in said(asked.tool, value):
            via: Via = "answer" if came == "answer" else "rejection"
            own = unit.here(RETURNED + place, "user")
            yield Message(own, "user", text, via, (), asked.call, within=True)


REASONS = {
    "StepRetry": "transport retry",
    "Notification": "a notice of the client",
    "ToolCallRequest": "a call, sent on to the client",
    "ApprovalRequest": "asked for permission",
    "ApprovalResponse": "answer to a request for permission",
    "ApprovalRequestResolved": "answer to a request for permission",
    "QuestionRequest": "a dialog, told by its call",
    "PlanDisplay": "a plan, shown to the user",
    "BtwBegin": "a question beside the work",
    "BtwEnd": "a question beside the work",
    "HookRequest": "progress of a hook",
    "HookTriggered": "progress of a hook",
    "HookResolved": "progress of a hook",
    "MCPLoadingBegin": "loading of servers",
    "MCPLoadingEnd": "loading of servers",
    "CompactionBegin": "a compaction began",
}
