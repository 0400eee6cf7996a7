"""Records, one by one."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import (
    Event,
    Fact,
    Message,
    Notice,
    Origin,
    SessionStart,
    Skipped,
    Thinking,
    Via,
)
from forsy_retrace.sdk import counts, named, pointer, when, words
from forsy_retrace.source import Record

from . import results
from .exchange import Exchange
from .kinds import HUMAN, LIMITS, PLAN, USAGE, Json, data_of, left_out
from .survey import Survey

TASK_ENDED = "notice: background task ended"
"""A new turn that nobody wrote begins with it."""
ENDS = ("agent_completed", "agent_idle", "shell_completed", "shell_detached_completed")
PLACE = (("cwd", "cwd"), ("branch", "branch"))


class Reader:
    """Reads records one by one."""

    def __init__(self, found: Survey) -> None:
        self.found = found
        self.calls = Exchange(found)
        self.seen: set[str] = set()
        self.prompts: set[str] = set()
        self.briefed: set[str] = set()
        self.notified = False
        """Whether the last record was a notification."""
        self.thoughts: dict[str, str] = {}
        """The seal of each agent's last reasoning."""
        self.skill = ""
        """The skill that the last record tells was invoked."""
        self.session = ""

    def read(self, place: int, record: Record) -> Iterator[Event]:
        """At least one event of each record."""
        value = record.value
        here = self._origin(place, record)
        if place == 0 and not self.found.begins and self.found.last:
            end, ident = self.found.last
            yield SessionStart(Origin(end.here.at("/sessionId"), None, "system"), ident)
        if record.problem:
            yield Skipped(here, record.problem)
            return
        if isinstance(value, dict) and isinstance(value.get("id"), str) and value["id"]:
            if value["id"] in self.seen:
                yield Skipped(here, "repeated history")
                return
            self.seen.add(value["id"])
        told = list(self._record(place, value, here))
        kind = value.get("type") if isinstance(value, dict) else None
        self.notified = kind == "system.notification"
        self.skill = words(data_of(value).get("name")) if kind == "skill.invoked" else ""
        yield from told or [Skipped(here, "empty message")]

    def _origin(self, place: int, record: Record) -> Origin:
        value = record.value if isinstance(record.value, dict) else {}
        return Origin(record.here, when(value.get("timestamp")), "system", f"record-{place}")

    def _record(self, place: int, value: Any, here: Origin) -> Iterator[Event]:
        match value:
            case {"ephemeral": True}:
                yield Skipped(here, "passing state of the client")
            case {"type": "session.start", "data": {"sessionId": str(ident)} as data}:
                yield from self._start(ident, data, here)
            case {"type": "session.resume"}:
                yield Notice(here, "resumed")
                yield from _placed(value, "/data/context", here)
            case {"type": "session.context_changed"}:
                yield from _placed(value, "/data", here)
                yield Skipped(here, "change of place")
            case {"type": "user.message", "data": dict(data)}:
                yield from self._user(value, data, here)
            case {"type": "assistant.message", "data": dict(data)}:
                yield from self._agent(place, value, data, here)
            case {"type": "assistant.reasoning", "data": {"content": str(text)}}:
                if text in self.found.thought or not text.strip():
                    yield Skipped(here, "repeated reasoning")
                else:
                    where = here.below("/data/content").by(self.found.actor(value))
                    yield Thinking(where, text)
            case {"type": "tool.execution_start", "data": dict(data)}:
                yield from self.calls.started(value, data, here)
            case {"type": "tool.execution_complete", "data": dict(data)}:
                yield from self.calls.result(value, data, here)
            case {"type": "tool.user_requested", "data": {"arguments": {"command": str(line)}}}:
                where = here.below("/data/arguments/command").by("user")
                yield Message(where, "user", line, "shell line")
            case {"type": "permission.completed", "data": dict(data)}:
                yield from self.calls.permitted(data, here)
            case {"type": "subagent.started", "data": {"toolCallId": str(call)}}:
                yield from self.calls.delegated(value, call, here)
            case {"type": "abort", "data": {"reason": "autopilot_credit_limit" as reason}}:
                yield Notice(here.below("/data/reason"), "limit", reason)
            case {"type": "abort"}:
                yield Notice(here, "interrupted")
            case {"type": "session.error", "data": {"message": str(text), **rest}}:
                kind = rest.get("errorType")
                where = here.below("/data/message")
                yield Notice(where, "limit" if kind in LIMITS else "model error", text)
            case {"type": "session.compaction_complete", "data": {"success": True}}:
                yield Notice(here, "compacted")
            case {"type": "session.context_cleared"}:
                yield Notice(here, "cleared")
            case {"type": "system.message", "data": {"content": str(text)}}:
                yield from self._prompt(value, text, here)
            case {"type": "system.notification", "data": dict(data)}:
                kind = data.get("kind")
                ends = isinstance(kind, dict) and kind.get("type") in ENDS
                yield Skipped(here, TASK_ENDED if ends else "injected: notification")
            case {"type": "skill.invoked", "data": {"name": str(name)}}:
                yield Fact(here.below("/data/name"), "skills", [name])
            case {"type": str(kind), "data": dict(data)}:
                yield from self._told(kind, data, here)
                yield Skipped(here, left_out(kind) or f"unknown record type{named(kind)}")
            case {"type": "result"}:
                yield Skipped(here, "end of a run")
            case {"type": kind}:
                yield Skipped(here, f"unknown record type{named(kind)}")
            case _:
                yield Skipped(here, "not an event")

    def _start(self, ident: str, data: Json, here: Origin) -> Iterator[Event]:
        if ident == self.session:
            yield Skipped(here, "repeated history")
            return
        self.session = ident
        before = words(data.get("detachedFromSpawningParentSessionId")) or None
        yield SessionStart(here.below("/data/sessionId"), ident, before)
        if words(data.get("vscodeVersion")):
            yield Fact(here.below("/data/vscodeVersion"), "harness", "GitHub Copilot in VS Code")
        if words(data.get("copilotVersion")):
            yield Fact(here.below("/data/copilotVersion"), "version", data["copilotVersion"])
        yield from _placed({"data": data}, "/data/context", here)
        yield from self._chosen(data, "selectedModel", here)

    def _chosen(self, data: Json, key: str, here: Origin) -> Iterator[Event]:
        """The model that was chosen, where messages do not name theirs."""
        if words(data.get(key)) and not self.found.names_models:
            yield Fact(here.below(pointer("data", key)), "model", data[key])

    def _told(self, kind: str, data: Json, here: Origin) -> Iterator[Event]:
        """What a record tells that is no work: a choice of the user, or tokens."""
        match kind, data:
            case "session.model_change", {"newModel": _}:
                yield from self._chosen(data, "newModel", here)
            case "session.permissions_changed", {"mode": str(mode)}:
                yield Fact(here.below("/data/mode"), "permission_mode", mode)
            case self.found.counts, {"usage": dict(used)}:
                if told := counts(used, USAGE):
                    yield Fact(here.below("/data/usage"), "usage", told)
            case self.found.counts, {"modelMetrics": dict(models)}:
                yield from _metrics(models, here)

    def _prompt(self, value: Any, text: str, here: Origin) -> Iterator[Event]:
        if self.found.actor(value) != "agent":
            yield Skipped(here, "a subagent's system prompt")
        elif text in self.prompts:
            yield Skipped(here, "repeated system prompt")
        else:
            self.prompts.add(text)
            yield Fact(here.below("/data/content"), "system_prompt", text)

    def _user(self, value: Any, data: Json, here: Origin) -> Iterator[Event]:
        """A person's words; what stands around them for the model alone is none."""
        actor = self.found.actor(value)
        if actor != "agent":
            why = "injected: later words to a subagent" if actor in self.briefed else ""
            self.briefed.add(actor)
            yield Skipped(here.by(actor), why or "a subagent's brief")
            return
        if (
            not HUMAN.match(words(data.get("source")))
            or data.get("isAutopilotContinuation") is True
        ):
            yield Notice(here, "ended", "injected: by the client or a program")
            return
        text, here = words(data.get("content")), here.by("user")
        shown = results.attached(data.get("attachments"), "/data/attachments")
        if not (text or shown):
            yield Skipped(here, "empty message")
            return
        opening = PLAN.match(text)
        said = text[opening.end() :] if opening else text
        via = self._came(said, data)
        where = here.below("/data/content") if "content" in data else here
        yield Message(where, "user", said, via, shown, within=said != text)
        for index, brought in results.texts(data.get("attachments")):
            place = here.below(pointer("data", "attachments", index))
            yield Fact(place, "brought", {"text": brought})

    def _came(self, text: str, data: Json) -> Via:
        """How words came: as a skill's name, while the agent worked, or simply typed."""
        if self.skill and text.startswith(f"/{self.skill}"):
            return "command"
        return "queued" if data.get("delivery") in ("steering", "queued") else "typed"

    def _agent(self, place: int, value: Any, data: Json, here: Origin) -> Iterator[Event]:
        ident = words(data.get("apiCallId")) if "chunkCount" in data else ""
        message = ident or words(data.get("messageId")) or f"record-{place}"
        requests = data.get("toolRequests")
        requests = requests if isinstance(requests, list) else []
        actor = self.found.actor(value)
        if self.notified and _is_look(requests) and not words(data.get("interactionId")):
            self.calls.of_client(requests)
            yield Skipped(here, "a call that the client made by itself")
            return
        here = Origin(here.evidence, here.at, actor, message)
        if words(data.get("model")):
            yield Fact(here.below("/data/model"), "model", data["model"])
        yield from self._thought(data, here)
        if words(data.get("content")):
            yield self._words(data["content"], bool(requests), here.below("/data/content"))
        for index, one in enumerate(requests):
            yield self.calls.asked(one, here.below(pointer("data", "toolRequests", index)))
        told = counts(data, {"outputTokens": "output_tokens"})
        if told and self.found.counts == "assistant.message":
            yield Fact(here.below("/data/outputTokens"), "usage", told)

    def _thought(self, data: Json, here: Origin) -> Iterator[Event]:
        """Reasoning; a subagent's next message may repeat that of the last (1.0.55)."""
        text, seal = (words(data.get(key)) for key in ("reasoningText", "reasoningOpaque"))
        if seal and self.thoughts.get(here.actor) == seal:
            yield Skipped(here, "repeated reasoning")
        elif text:
            yield Thinking(here.below("/data/reasoningText"), text)
        elif seal or words(data.get("encryptedContent")):
            yield Skipped(here, "hidden reasoning")
        self.thoughts[here.actor] = seal

    def _words(self, text: str, asks: bool, here: Origin) -> Event:
        """Words; the last of a subagent's turn are its report, which its call may have brought."""
        call = self.calls.background.get(here.actor)
        if call and not asks:
            return Message(here, "agent", text, "notification", answers=call)
        if not asks and text.strip() in self.calls.reports.get(here.actor, ""):
            return Skipped(here, "a subagent's report, repeated in the call that started it")
        return Message(here, "agent", text)


def _is_look(requests: list[Any]) -> bool:
    """Whether a message does no more than look at a command that runs on."""
    names = [one.get("name") for one in requests if isinstance(one, dict)]
    return len(names) == 1 and names[0] in results.LOOKS


def _placed(value: Any, path: str, here: Origin) -> Iterator[Event]:
    """Where the agent works."""
    place = data_of(value)
    if path.endswith("/context"):
        found = place.get("context")
        place = found if isinstance(found, dict) else {}
    for key, fact in PLACE:
        if words(place.get(key)):
            yield Fact(here.below(path + pointer(key)), fact, place[key])


def _metrics(models: Json, here: Origin) -> Iterator[Event]:
    """The session's tokens by model."""
    for model, told in models.items():
        used = counts(told.get("usage") if isinstance(told, dict) else None, USAGE)
        if used:
            where = here.below(pointer("data", "modelMetrics", model, "usage"))
            origin = Origin(where.evidence, where.at, "system", f"{here.message}/{model}")
            yield Fact(origin, "usage", used)
