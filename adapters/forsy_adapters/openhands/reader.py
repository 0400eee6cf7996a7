"""Events of the SDK, one by one: words, calls, and what came back."""

from collections.abc import Iterator, Sequence
from typing import Any

from forsy_retrace.calls import Calls, Verdict
from forsy_retrace.events import (
    Delegation,
    Event,
    Fact,
    Meant,
    Message,
    Notice,
    Origin,
    Skipped,
    ToolCall,
    ToolResult,
)
from forsy_retrace.sdk import named, parsed, pointer, strings, subagent, words

from . import results
from .calls import meant, served
from .conversation import Folder, Part, briefs
from .files import Item
from .said import INJECTED, brought, listed, own, prompt, text_in, texts, thought
from .shapes import Json, is_event
from .state import opening, totals

DELEGATES = ("task", "delegate")
"""Tools that start subagents."""
LIMITS = ("MaxIterationsReached", "MaxBudgetReached")
"""Codes of errors that say where the client stops by itself."""
MALFORMED = "_openhands_malformed_tool_call"
"""What stands in the place of arguments that were no JSON."""
HOSTED = {
    "read": "Read",
    "edit": "Edit",
    "search": "Grep",
    "execute": "bash",
    "fetch": "WebFetch",
}
"""What the kinds of calls work like of an agent that the client only hosts: they name no tool."""
STATE = {
    "ConversationStateUpdateEvent": "state of the conversation",
    "CondensationRequest": "a compaction was asked for",
    "CondensationSummaryEvent": "summary of a compaction",
    "HookExecutionEvent": "a hook ran",
    "SecurityAnalysisEvent": "telemetry",
    "TokenEvent": "telemetry",
    "LLMCompletionLogEvent": "telemetry",
    "StreamingDeltaEvent": "a piece of a message",
}
"""Events that tell no act, and why they are left out."""
TURNS = ("MessageEvent", "ObservationEvent")
"""Events that tell whose turn it is next."""


class Reader:
    """Reads the events of a conversation and of its subagents."""

    def __init__(self, main: Folder, agents: Sequence[Folder] = ()) -> None:
        self.lanes = (main, *agents)
        """The conversation's events, and those of its subagents."""
        self.surveys = [one.survey() for one in self.lanes]
        self.parts = [part for lane, one in enumerate(agents, 1) for part in one.parts(lane)]
        self.calls = Calls()
        self.actions: dict[str, str] = {}
        """Calls without a result, by the ids of their actions."""
        self.open: dict[str, list[str]] = {}
        """The same by the ids of the calls, as the model gave them: one may stand twice."""
        self.asked: dict[str, tuple[str, str]] = {}
        self.seen: set[tuple[int, str]] = set()
        self.actors: dict[int, str] = {0: subagent("", 1)} if main.is_agents else {}
        self.folders: dict[str, str] = {}
        self.is_briefed = False
        self.is_idle = True
        """Whether the agent has ended its turn."""

    def told(self) -> Iterator[Event]:
        """All of it; the work of a subagent behind the call that started it."""
        for one in self.lanes[0].items():
            yield from self._read(one, 0)
        while self.parts:  # no call leads to them
            yield from self._part(self.parts[0], "")
        if self.lanes[0].state is None and (told := self.surveys[0].stats) is not None:
            yield from totals(told)

    def _read(self, one: Item, lane: int) -> Iterator[Event]:
        """At least one event of each; lane 0 is the main agent's."""
        value, actor = one.value, self.actors.get(lane, "agent")
        if one.why or not is_event(value):
            yield Skipped(one.here(), one.why or "not an event")
            return
        if (lane, value["id"]) in self.seen:
            yield Skipped(one.here(), "repeated event")
            return
        self.seen.add((lane, value["id"]))
        branch = self.surveys[lane].tree.branch(value["id"])
        here = Origin(one.place, None, actor, words(value.get("llm_response_id")) or None, branch)
        told = list(self._told(value, here, lane))
        yield from told or [Skipped(here.by("system"), "empty event")]
        if value["kind"] in TURNS:
            self.is_idle = value["source"] == "agent" or value.get("tool_name") == "finish"

    def _told(self, value: Json, here: Origin, lane: int) -> Iterator[Event]:
        system = here.by("system")
        match value["kind"]:
            case "SystemPromptEvent":
                yield from prompt(value, system)
            case "MessageEvent" if value["source"] == "agent" and (ours := own(value)):
                where = system.below("/llm_message/content/0/text")
                yield Notice(where, "model error", ours)
            case "MessageEvent" if value["source"] == "agent":
                yield from thought(value.get("llm_message"), here.below("/llm_message"))
                yield from texts(value.get("llm_message"), "content", here.below("/llm_message"))
            case "MessageEvent":
                yield from self._words(value, here, lane)
            case "ActionEvent":
                yield from thought(value, here)
                yield from texts(value, "thought", here)
                yield from self._call(value, here, lane)
            case "ObservationEvent":
                yield from self._observed(value, here, lane)
            case "AgentErrorEvent":
                text = words(value.get("error"))
                where = here.below("/error" if text else "")
                told = results.of_error(text, where.evidence.pointer)
                yield self._result(value, where, text or None, told)
            case "UserRejectObservation":
                yield from self._rejected(value, here)
            case "PauseEvent" | "InterruptEvent" | "Condensation" if lane:
                yield Skipped(system, "a subagent was stopped, or its history compacted")
            case "PauseEvent" if self.is_idle:
                yield Skipped(system, "a pause where nothing ran")
            case "PauseEvent" | "InterruptEvent":
                yield Notice(here.by("user"), "interrupted")
            case "Condensation":
                yield Notice(system, "compacted")
            case "ConversationErrorEvent":
                kind = "limit" if value.get("code") in LIMITS else "model error"
                text = words(value.get("detail"), value.get("code"))
                path = "/detail" if words(value.get("detail")) else "/code"
                yield Notice(system.below(path), kind, text)  # type: ignore[arg-type]  # one of two
            case "ACPToolCallEvent":
                yield from self._of_server(value, here)
            case str(kind) if kind in STATE:
                yield Skipped(system, STATE[kind])
            case kind:
                yield Skipped(system, f"unknown kind of event{named(kind)}")

    def _words(self, value: Json, here: Origin, lane: int) -> Iterator[Event]:
        """What stands in the user's place: a person's words, a brief, or the client's own."""
        base = "/llm_message/content"
        message = value.get("llm_message")
        parts = listed(message if isinstance(message, dict) else {}, "content")
        typed = [(at, text) for at, part in enumerate(parts) if (text := text_in(part)).strip()]
        system = here.by("system")
        if lane or self.lanes[0].is_agents:
            if lane == 0 and len(typed) == 1 and not self.is_briefed:
                self.is_briefed = True
                at, text = typed[0]
                yield Fact(system.below(base + pointer(at, "text")), "brief", text)
            yield Skipped(system, "a subagent's brief")
            return
        if value["source"] != "user" or any(INJECTED.match(text) for _, text in typed[:1]):
            yield Notice(system, "ended", "injected: words of the client")
            return
        if earlier := self.surveys[lane].tree.replaces.get(value["id"]):
            yield Fact(system, "replaces", {"kind": "edited", "message": earlier})
        shown = results.pictures(parts, here.below(base).evidence.pointer)
        user = Origin(here.evidence, None, "user", value["id"], here.branch)
        for at, text in typed:
            yield Message(user.below(base + pointer(at, "text")), "user", text, "typed", shown)
            shown = ()
        if shown:
            yield Message(user.below(base), "user", "", "typed", shown)
        if skills := list(strings(value.get("activated_skills"))):
            yield Fact(system.below("/activated_skills"), "skills", skills)
        yield from brought(value, system, None)

    def _call(self, value: Json, here: Origin, lane: int) -> Iterator[Event]:
        tool, ident = words(value.get("tool_name")), words(value.get("tool_call_id"))
        name = str(self.calls.issue(ident, lane, value["id"]))
        self._waits(name, value["id"], ident)
        sent, path = _arguments(value)
        like = meant(tool, sent, value["id"] in self.surveys[lane].folders)
        match value.get("action"):
            case {"kind": "MCPToolAction"}:
                like = served(tool, sent)
        where = here.below("/tool_name").evidence.pointer
        yield ToolCall(here.below(path), name, tool, sent, where, like)
        ran = self.surveys[lane].ran.get(value["id"], "ObservationEvent") == "ObservationEvent"
        if tool in DELEGATES and ran:
            for kind, brief in briefs(sent):
                found = next((one for one in self.parts if one.brief == brief), None)
                if found is not None:
                    started = list(self._part(found, kind))
                    yield Delegation(here.below(path), name, self.actors[found.lane])
                    yield from started

    def _actor(self, lane: int, kind: str) -> str:
        return self.actors.setdefault(lane, subagent(kind, len(self.actors) + 1))

    def _part(self, part: Part, kind: str) -> Iterator[Event]:
        self.parts.remove(part)
        state = self.lanes[part.lane].state
        if part.lane not in self.actors and state is not None:
            yield from opening(state, self._actor(part.lane, kind))
        self._actor(part.lane, kind)
        for one in part.items:
            yield from self._read(one, part.lane)

    def _observed(self, value: Json, here: Origin, lane: int) -> Iterator[Event]:
        observation = value.get("observation")
        where = here.below("/observation")
        if not isinstance(observation, dict):
            yield self._result(value, where, None, Verdict())
            return
        base = where.evidence.pointer
        text, path = results.output(observation, "/observation")
        told = results.verdict(observation, base)
        end = self.surveys[lane].ends.get(words(value.get("action_id")))
        shown = results.pictures(observation.get("content"), f"{base}/content")
        text, place = results.with_suffix(text, here.below(path), observation, where, told)
        result = self._result(value, place, text, told)
        if isinstance(result, ToolResult):
            name = result.call
            made = results.changes(observation, base)
            files = tuple(made) if told.outcome == "ok" else ()
            ended = None if end is None else _of(end, name, here)
            yield ToolResult(
                result.origin, name, text, *told, changes=files, attachments=shown, end=ended
            )
            yield from brought(value, here.by("system"), name)
        else:
            yield result
        folder, path = results.folder_after(observation)
        if folder and self.folders.get(here.actor) != folder:
            self.folders[here.actor] = folder
            yield Fact(where.below(path), "cwd", folder)

    def _result(self, value: Json, here: Origin, text: str | None, told: Verdict) -> Event:
        action, ident = words(value.get("action_id")), words(value.get("tool_call_id"))
        name = self.actions.get(action)
        if name is None and ident and not action:
            name = next(iter(self.open.get(ident, ())), None)
        if name is None:
            return Skipped(here.by("system"), "result without its call")
        self._has_ended(name)
        return ToolResult(here, name, text, *told)

    def _waits(self, name: str, action: str, ident: str) -> None:
        self.actions[action] = name
        self.open.setdefault(ident, []).append(name)
        self.asked[name] = action, ident

    def _has_ended(self, name: str) -> None:
        action, ident = self.asked.pop(name)
        self.actions.pop(action, None)
        self.open[ident].remove(name)

    def _rejected(self, value: Json, here: Origin) -> Iterator[Event]:
        """A call that was turned down; a person may have said why."""
        text = words(value.get("rejection_reason"))
        where = here.below("/rejection_reason" if text else "")
        told = results.of_rejection(value, here.evidence.pointer)
        result = self._result(value, where, text or None, told)
        yield result
        if told.outcome == "rejected" and text and text not in results.OWN_REASONS:
            call = result.call if isinstance(result, ToolResult) else None
            yield Message(where.by("user"), "user", text, "rejection", (), call)

    def _of_server(self, value: Json, here: Origin) -> Iterator[Event]:
        """A call of an agent that the client only hosts (ACP): told again with each state."""
        ident, status = words(value.get("tool_call_id")), words(value.get("status"))
        if not self.open.get(ident):
            if ident in self.calls.issued:
                yield Skipped(here.by("system"), "repeated call")
                return
            name = str(self.calls.issue(ident, value["id"]))
            self._waits(name, value["id"], ident)
            sent, kind = value.get("raw_input"), words(value.get("tool_kind"))
            held = sent if isinstance(sent, dict | str) else None
            path = "/raw_input" if held is not None else ""
            place = here.below("/tool_kind").evidence.pointer if kind else None
            like = Meant(HOSTED[kind], held) if kind in HOSTED else None
            yield ToolCall(here.below(path), name, kind, held, place, like)
        if status not in ("completed", "failed"):
            yield Skipped(here.by("system"), "state of a call")
            return
        given = value.get("raw_output")
        text = given if isinstance(given, str) else None
        where = here.below("/status").evidence.pointer
        told = Verdict("ok" if status == "completed" else "failed", "status", where)
        yield self._result(value, here.below("/raw_output" if text is not None else ""), text, told)


def _arguments(value: Json) -> tuple[Any, str]:
    """What was sent to a tool, and where it stands; nothing where the client threw it away."""
    match value.get("tool_call"):
        case {"arguments": str(text)} if text:
            inner = parsed(text)
            if isinstance(inner, dict) and MALFORMED in inner:
                return None, ""
            sent = inner if isinstance(inner, dict) else text
            return sent, "/tool_call/arguments"
    held = value.get("action")
    return (held, "/action") if isinstance(held, dict) else (None, "")


def _of(end: ToolResult, name: str, here: Origin) -> ToolResult:
    """The end of a command that ran on, under the name of the call that ran it."""
    where = Origin(end.origin.evidence, None, here.actor, None, here.branch)
    return ToolResult(where, name, end.output, end.outcome, end.rule, end.basis, end.exit_code)
