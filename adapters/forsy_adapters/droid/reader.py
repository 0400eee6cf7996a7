"""Records, one by one: words, calls and results, and what the client writes beside them."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.calls import Calls
from forsy_retrace.dialects import attachments, typed
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
    Via,
)
from forsy_retrace.sdk import (
    named,
    parsed,
    pointer,
    tells_a_limit,
    text_of,
    when,
    without,
    words,
)
from forsy_retrace.source import Record

from .._facts import Facts
from .log import Json, Log, is_start, visibility
from .results import ERROR, Asked, answers, changes, is_amended, meant, verdict

ALONE = "It is a subagent's log; what sent it stands in another."
BRIEF = "a subagent's brief"
STOPPED = (
    *("Request interrupted by user", "⎿ Interrupted", "Request cancelled by user"),
    *("Richiesta annullata dall'utente", "ユーザーによりリクエストがキャンセルされました"),
    *("사용자에 의해 요청이 취소되었습니다", "用户已取消请求"),
)
"""What the client writes once the user stopped the agent, mostly more than one of them."""
ABORTED = "Error: Request was aborted."
"""What it shows behind them."""
FAILURES = ("BYOK Error: ", "Unable to reach ", "Request blocked by model provider", "Error: ")
"""How what the client shows begins where the model's provider failed, before it said so (0.215)."""
THOUGHTS = ("chatCompletionReasoningContent", "openaiReasoningSummary")
"""Where a message keeps thoughts for its provider, mostly beside a block that tells them."""
RAN = '{"type":"bash_result",'
"""How what a human ran in the client's shell mode begins."""
REMINDER = "<system-reminder>"
STATES = {
    "todo_state": "repeated: the list of a plan's call",
    "agent_turn_outcome": "how a turn ended",
    "session_end": "the end of a subagent's session",
    "session_settings": "settings of the session",
}
"""Records of the client's own."""
SUMMED_UP = "llm_summary"
"""What kind of compaction takes the place of the history; another writes it for other models."""


class Reader:
    """Reads the records of one log."""

    def __init__(self, log: Log, calls: Calls, actor: str, sent: dict[str, str]) -> None:
        self.log, self.calls, self.sent = log, calls, sent
        self.actor = actor or "agent"
        self.is_aside = bool(actor)
        """Whether another log sent this one, and tells its brief and its report."""
        self.is_begun = False
        self.is_briefed = False
        self.is_stopped = False
        """Whether the user stopped the agent, and nothing was said since."""
        self.facts = Facts()
        self.seen: set[str] = set()
        self.open: dict[str, Asked] = {}
        """Calls without a result, by the log's id."""
        self.hooked: set[str] = set()
        """Calls that a hook turned down."""
        self.refusal = ""
        """What the client last answered in place of a tool."""

    def read(self, place: int, record: Record) -> Iterator[Event]:
        """At least one event of each record."""
        value = record.value
        if record.problem or not isinstance(value, dict):
            here = Origin(record.here, None, "system")
            yield Skipped(here, record.problem or "not a record of a session")
            return
        ident = words(value.get("id")) or f"record-{place}"
        here = Origin(record.here, when(value.get("timestamp")), "system", ident)
        match value:
            case {"type": "session_start"}:
                yield from self._start(value, here)
            case {"type": "message", "message": dict()} if ident in self.seen:
                yield Skipped(here, "repeated history")
            case {"type": "message", "message": dict(message)}:
                self.seen.add(ident)
                told = list(self._message(place, message, visibility(message, value), here))
                yield from told
                if all(isinstance(event, Fact) for event in told):
                    yield Skipped(here, "empty message")
            case {"type": "compaction_state", **rest}:
                if rest.get("summaryKind", SUMMED_UP) == SUMMED_UP and not self.is_aside:
                    yield Notice(here, "compacted")
                else:
                    yield Skipped(here, "the history, for another model")
            case {"type": str(kind)} if kind in STATES:
                yield Skipped(here, STATES[kind])
            case {"type": kind}:
                yield Skipped(here, f"unknown record type{named(kind)}")
            case _:
                yield Skipped(here, "unknown record type")

    def _start(self, value: Json, here: Origin) -> Iterator[Event]:
        if self.is_begun or self.is_aside or not is_start(value):
            yield Skipped(here, "start of a subagent's session" if self.is_aside else "a start")
            self.is_begun = True
            return
        self.is_begun = True
        before = words(value.get("parent"))
        limits = (ALONE,) if self.log.is_subagent else ()
        yield SessionStart(here.below("/id"), value["id"], before or None, limits=limits)
        if before and self.log.copied:
            told = {"of": before, "records": self.log.copied}
            yield Fact(here.below("/parent"), "shared_prefix", told)
        if words(value.get("cwd")):
            yield Fact(here.below("/cwd"), "cwd", value["cwd"])
        for key in ("sessionTitle", "title"):
            if words(value.get(key)):
                yield Fact(here.below(pointer(key)), "title", value[key])
                break

    def _message(self, place: int, message: Json, seen: str, here: Origin) -> Iterator[Event]:
        here, content = here.below("/message"), message.get("content")
        match message:
            case {"hookEventName": _}:
                yield self._hook(message, here)
            case {"role": "assistant"}:
                yield from self._agent(message, here)
            case {"role": "user"} if seen == "user_only":
                yield self._shown(place, text_of(content), here.below("/content"))
            case {"role": "user"} if text_of(content) in STOPPED:
                yield self._stop(here.below("/content"))
            case {"role": "user"} if seen:
                yield Skipped(here, "injected: for the model alone")
            case {"role": "user"}:
                yield from self._user(place, message, here)
            case {"role": role}:
                yield Skipped(here, f"unknown role{named(role)}")
            case _:
                yield Skipped(here, "message without a role")

    def _hook(self, message: Json, here: Origin) -> Event:
        """A hook's run. One that ends with status 2, or says so, turns the call down."""
        results = message.get("hookResults")
        for one in results if isinstance(results, list) else ():
            if isinstance(one, dict) and (
                one.get("exitCode") == 2 or '"deny"' in words(one.get("stdout"))
            ):
                self.hooked.add(words(message.get("hookToolCallId")))
        return Skipped(here, f"run of a hook{named(message.get('hookEventName'))}")

    def _shown(self, place: int, text: str, here: Origin) -> Event:
        """What the client showed to the user alone."""
        if text in STOPPED:
            return self._stop(here)
        if text == ABORTED and self.is_stopped:
            return Skipped(here, "repeated: the interruption")
        if place in self.log.failed or text.startswith(FAILURES):
            return Notice(here, "limit" if tells_a_limit(text) else "model error", text)
        return Skipped(here, "shown to the user alone")

    def _stop(self, here: Origin) -> Event:
        if self.is_stopped:
            return Skipped(here, "repeated: the interruption")
        self.is_stopped = True
        return Notice(here.by(self.actor) if self.is_aside else here, "interrupted")

    def _user(self, place: int, message: Json, here: Origin) -> Iterator[Event]:
        """A human's words and pictures, or results."""
        content, base = message.get("content"), here.below("/content")
        held = content if isinstance(content, list) else [{"type": "text", "text": content}]
        said: list[Any] = []
        for index, block in enumerate(held):
            where = base.below(pointer(index)) if held is content else base
            match block:
                case {"type": "tool_result", "tool_use_id": str(logged)}:
                    said.append(None)
                    yield from self._result(logged, block, where)
                case {"type": "text", "text": str(text)} if REMINDER in text:
                    said.append(None)
                    if held is content:
                        where = where.below("/text")
                    yield self._uncovered(text, where)
                case {"type": "text", "text": str(text)} if line := _shell_line(text):
                    said.append(None)
                    ran = where.below("/text" if held is content else "").below("/command")
                    self.is_stopped = False
                    yield Message(ran.by("user"), "user", line, "shell line")
                case {"type": "text", "text": str()} | {"type": "image" | "document"}:
                    said.append(block)
                case {"type": kind}:
                    said.append(None)
                    yield Skipped(where, f"unknown block{named(kind)}")
                case _:
                    said.append(None)
                    yield Skipped(where, "unknown block")
        via: Via = "queued" if place in self.log.queued else "typed"
        told = content if held is not content and said != [None] else said
        found = typed(told, base.by("user"), via)
        if found is not None:
            yield from self._words(found)
            yield from self.facts.told(
                here.below("/interactionMode"),
                "permission_mode",
                words(message.get("interactionMode")),
            )

    def _uncovered(self, text: str, here: Origin) -> Event:
        """What is left of a text without the client's reminders."""
        rest = without(text, REMINDER, "</system-reminder>").strip()
        if not rest or self.log.is_subagent:
            return Skipped(here, "injected: reminder")
        self.is_stopped = False
        return Message(here.by("user"), "user", rest, within=True)

    def _words(self, found: Message) -> Iterator[Event]:
        """A human's words, but in a subagent's log, where they are its brief."""
        if not self.log.is_subagent:
            self.is_stopped = False
            yield found
        elif self.is_aside or self.is_briefed:
            yield Skipped(found.origin.by("system"), BRIEF)
        else:
            self.is_briefed = True
            yield Fact(found.origin.by("system"), "brief", found.text)

    def _agent(self, message: Json, here: Origin) -> Iterator[Event]:
        self.is_stopped = False
        model = words(message.get("modelId"))
        if model:
            yield Fact(here.below("/modelId"), "model", model)
        content = message.get("content")
        if isinstance(content, str):
            yield Message(here.below("/content").by(self.actor), "agent", content)
            return
        held = content if isinstance(content, list) else []
        if not any(isinstance(one, dict) and words(one.get("thinking")).strip() for one in held):
            yield from self._thought(message, here)
        for index, block in enumerate(held):
            where = here.below(pointer("content", index)).by(self.actor)
            yield from self._block(block, where, is_told=bool(model))

    def _thought(self, message: Json, here: Origin) -> Iterator[Event]:
        """What the model thought, where no block tells it: as some providers send it."""
        for key in THOUGHTS:
            if (text := words(message.get(key))).strip():
                yield Thinking(here.below(pointer(key)).by(self.actor), text)
                return
        if words(message.get("openaiEncryptedContent")):
            yield Skipped(here, "hidden reasoning")

    def _block(self, block: Any, here: Origin, is_told: bool) -> Iterator[Event]:
        match block:
            case {"type": "text", "text": str(text)} if (
                not is_told and text and text == self.refusal
            ):
                yield Skipped(here, "repeated: the client's refusal")
            case {"type": "text", "text": str(text)}:
                if text.strip():
                    yield Message(here.below("/text"), "agent", text)
            case {"type": "thinking", "thinking": str(text)} if text.strip():
                yield Thinking(here.below("/thinking"), text)
            case {"type": "thinking" | "redacted_thinking"}:
                yield Skipped(here, "hidden reasoning")
            case {"type": "tool_use", "id": str(logged), "name": str(tool)}:
                yield from self._call(logged, tool, block, here)
            case {"type": kind}:
                yield Skipped(here, f"unknown block{named(kind)}")
            case _:
                yield Skipped(here, "unknown block")

    def _call(self, logged: str, tool: str, block: Json, here: Origin) -> Iterator[Event]:
        call = self.calls.issue(logged, here.evidence)
        if call is None:
            yield Skipped(here, "repeated call")
            return
        sent = block.get("input")
        place = here.below("/input" if "input" in block else "")
        self.open[logged] = Asked(tool, sent if isinstance(sent, dict) else {}, call)
        name = here.below("/name").evidence.pointer
        yield ToolCall(place, call, tool, sent, name, meant(tool, sent))
        if logged in self.sent:
            yield Delegation(here, call, self.sent[logged])

    def _result(self, logged: str, rest: Json, here: Origin) -> Iterator[Event]:
        call, asked = self.calls.answer(logged), self.open.pop(logged, None)
        if call is None:
            yield Skipped(here, "repeated result")
            return
        if asked is None:
            yield Skipped(here, "result without its call")
            return
        content, text = rest.get("content"), text_of(rest.get("content"))
        end = verdict(asked, rest, text, here, logged in self.hooked)
        self.refusal = text.removeprefix(ERROR) if end.outcome == "blocked" else ""
        if end.outcome != "interrupted":
            self.is_stopped = False
        pictures = attachments(content, here.below("/content").evidence.pointer)
        files = tuple(changes(asked, content, here)) if end.outcome == "ok" else ()
        is_told = "content" in rest
        where = (here.below("/content") if is_told else here).by(self.actor)
        output = text if is_told and (text or not pictures) else None
        amended = is_amended(asked, text)
        told = ToolResult(where, call, output, *end, files, pictures, amended=amended)
        yield told
        yield from answers(asked, told)


def _shell_line(text: str) -> str:
    """The line that a human ran in the client's shell mode, of which it tells command and end."""
    told = parsed(text) if text.startswith(RAN) else None
    return words(told.get("command")) if isinstance(told, dict) else ""
