"""What a chat message says: words, reasoning in its dialects, calls, results."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.calls import Verdict
from forsy_retrace.dialects import attachments, calls, content_text
from forsy_retrace.events import Fact, Message, Notice, Skipped
from forsy_retrace.sdk import later, named, strings, when

from . import harnesses, mini
from .ends import finish
from .place import DRIVERS, Json, Place, Told, text_in
from .speech import called, executed, idea, reasoning, spoken
from .swe_agent.actions import acted, moved, observed
from .swe_agent.tools import SweAgent
from .turns import of_turn, turn
from .usage import ran
from .verdicts import result, verdict

AGENT = ("assistant", "model", "ai")
PROMPT = ("system", "developer")
ROLES = ("user", "tool", "function", *PROMPT, *AGENT)
TIMES = ("timestamp", "created_at", "created")
DEMONSTRATION = "injected: demonstration"
INJECTED = (
    "This is not the first time you try this task, all previous trails failed.",
    "Please always provide EXACTLY ONE action in triple backticks, found ",
    "Please continue working on the task on whatever approach you think is suitable.",
    "Please continue on whatever approach you think is suitable.",
    "[System: You edited code in this turn, but ",
    "[System: Your previous ",
    "[System: The previous ",
    "[System: Continue now",
)
"""Openings of what a driver writes in the user's role: ToolBench, mini-swe-agent, OpenHands, Hermes
Agent."""
OWN_TOOLS = "a tool of the user's"
"""What a played user does at home, unseen by the agent (τ²-bench)."""
SIGNAL = later(r"###[A-Z]{2,20}(?:[-_ ][A-Z]{2,20}){0,3}###\s*\Z")
"""With which a played user tells its driver to stop, behind its words or without any (τ-bench)."""
SHOWN_HOW = "Here is a demonstration of how to correctly accomplish this task"
"""How SWE-agent opens a demonstration in the user's role."""


def is_message(value: Any) -> bool:
    """A dict with a role of the format and something under a name that messages have."""
    match value:
        case {"role": str(role), "content": None | str() | list()} if role in ROLES:
            return "parts" not in value
        case {"role": str(role)} if role in AGENT:
            return isinstance(value.get("tool_calls"), list) or isinstance(
                value.get("function_call"), dict
            )
    return False


class Chat:
    """Reads the messages of one conversation in order."""

    def __init__(self) -> None:
        self.acted = False
        """SWE-agent before tool calls: the next user message is what the action printed."""
        self.run = SweAgent()
        self.waiting: list[str] = []
        """The calls of the last answer, as far as a result is not told yet."""

    def read(self, message: Any, here: Place) -> Iterator[Told]:
        """At least one event for each message."""
        if not isinstance(message, dict):
            yield Told(None, Skipped(here.origin("system"), "not a message"))
            return
        here = _placed(message, here)
        acted, self.acted = self.acted, False
        if one := turn(message):
            here, message = here._replace(field=one.field), {"role": one.role, "content": one.text}
        told = list(of_turn(one, here)) if one else []
        told = told or list(self._by_role(message.get("role"), message, here, acted))
        yield from told or [Told(None, Skipped(here.origin("system"), "blank text"))]

    def _by_role(self, role: Any, message: Json, here: Place, acted: bool) -> Iterator[Told]:
        match role:
            case "user" if mini.kind(message):
                yield from self._interrupted(message, here)
            case "user" if acted and isinstance(message.get("content"), (str, list)):
                yield from observed(self.run, message, "content", here)
            case "user":
                yield from _human(message, here)
                _, cwd = self.run.stands(content_text(message.get("content")))
                yield from moved(cwd, here.words)
            case "tool" if self.run.act:
                ident = next(iter(strings(message.get("tool_call_ids"))), "")
                yield from observed(self.run, message, "content", here, ident)
            case "tool" | "function":
                self.waiting = []
                yield from _results(message, here)
            case "exit" if text := text_in(message, "content"):
                where = here.deeper("content")
                yield Told(None, Fact(where.origin("system"), "submission", text))
            case str() if role in PROMPT:
                text = content_text(message.get("content"))
                key = ("prompt", text.strip())
                yield Told(key, Fact(here.words.origin("system"), "system_prompt", text))
            case str() if role in AGENT:
                yield from self._agent(message, here)
            case str() if role.startswith("_"):
                yield Told(None, Skipped(here.origin("system"), f"bookkeeping{named(role)}"))
            case _:
                yield Told(None, Skipped(here.origin("system"), f"unknown role{named(role)}"))

    def _interrupted(self, message: Json, here: Place) -> Iterator[Told]:
        """What mini-swe-agent says of an answer that it did not take, or a human said amid it."""
        waiting, self.waiting = self.waiting, []
        if (held := mini.refused(message)) is not None:
            reply, answer = held
            where = here.deeper("extra", "response")
            yield from ran(reply, where)
            yield from self._agent(answer, where.deeper("choices", 0, "message"))
            waiting, self.waiting = self.waiting, []
        if mini.kind(message) != mini.COMPLAINT:
            if message["extra"]["interrupt_type"] == "UserRejection":
                yield from mini.never_ran(message, here, waiting)
            yield from mini.said(message, here)
        elif held is not None and waiting:
            yield from mini.never_ran(message, here, waiting)
        else:
            place = here.deeper("content").origin("system")
            text = content_text(message.get("content"))
            yield Told(("user", "driver", text), Notice(place, "model error", text))

    def _agent(self, message: Json, here: Place) -> Iterator[Told]:
        model = message.get("model")
        if isinstance(model, str) and model:
            yield Told(None, Fact(here.deeper("model").origin(), "model", model))
        match message.get("extra"):
            case {"response": dict(reply)}:
                yield from ran(reply, here.deeper("extra", "response"))
        yield from reasoning(message, here)
        found = list(calls(message, here.pointer))
        self.waiting = [call.id for call in found if call.id]
        action = text_in(message, "action")
        self.acted = bool(action) and not found
        if self.acted and isinstance(message.get("thought"), str):
            yield from idea(message, here)
        else:
            for told in spoken(message, here):
                # Its calls tell such a message; clients rewrite the words when they send it again.
                yield told._replace(key=None) if any(call.id for call in found) else told
        for call in found:
            alone = bool(action) and len(found) == 1
            yield acted(self.run, action, here, call) if alone else called(call, here)
        if self.acted:
            yield acted(self.run, action, here.deeper("action"))
        yield from executed(message.get("executed_tools"), here.deeper("executed_tools"))
        for told in finish(message, here):
            yield told._replace(key=("end", message["finish_reason"]))


def _placed(message: Json, here: Place) -> Place:
    """The message's own time and id, where it has them."""
    times = [when(message.get(key)) for key in TIMES]
    for extra in (message.get("_metadata"), message.get("extra")):
        times.append(when(extra.get("timestamp")) if isinstance(extra, dict) else None)
    at = next((time for time in times if time), here.at)
    ident = message.get("id")
    known = ident if isinstance(ident, str) and ident else None
    return here._replace(at=at, message=here.message or known or here.name)


def _human(message: Json, here: Place) -> Iterator[Told]:
    content = message.get("content")
    is_marked = message.get("is_demo") is True or message.get("message_type") == "demonstration"
    if is_marked or content_text(content).startswith(SHOWN_HOW):
        yield Told(("user", "demo"), Skipped(here.origin("user"), DEMONSTRATION))
        return
    if content_text(content).startswith(INJECTED):
        yield Told(("user", "driver"), Skipped(here.origin("user"), DRIVERS))
        return
    where = here.words
    if told := harnesses.in_the_users_place(content_text(content), where):
        yield told
        return
    parts = content if isinstance(content, list) else []
    rest = []
    for index, part in enumerate(parts):
        match part:
            case {"type": "tool_result", "tool_use_id": str(call)}:
                yield from _result(part, where.deeper(index), call, "")
            case _:
                rest.append(part)
    whole = content_text(rest if len(rest) < len(parts) else content)
    text = SIGNAL.sub("", whole).rstrip() if whole.rstrip().endswith("###") else whole
    pictures = attachments(content, where.pointer)
    if message.get("tool_calls"):
        yield Told(None, Skipped(here.deeper("tool_calls").origin("user"), OWN_TOOLS))
    if whole.strip() and not text.strip():
        yield Told(("user", "driver"), Skipped(here.origin("user"), DRIVERS))
    elif text.strip():
        within = len(rest) < len(parts) or text != whole
        origin = where.origin("user")
        event = Message(origin, "user", text, attachments=pictures, within=within)
        yield Told(("user", text.strip()), event, is_whole=isinstance(content, str) and not within)


def _results(message: Json, here: Place) -> Iterator[Told]:
    """What came back; SWE-agent names its calls in a list, τ²-bench in the message's own id."""
    if message.get("requestor") == "user":
        yield Told(None, Skipped(here.origin("user"), OWN_TOOLS))
        return
    several = message.get("tool_messages")
    if isinstance(several, list):
        for index, one in enumerate(several):
            if isinstance(one, dict):
                yield from _results(one, here.deeper("tool_messages", index))
        return
    listed = list(strings(message.get("tool_call_ids")))
    names = ("tool_call_id", "call_id", *(("id",) if "requestor" in message else ()))
    call = text_in(message, *names)
    for one in [call] if call or not listed else listed:
        yield from _result(message, here, one, text_in(message, "name"))


def _complaint(message: Json) -> tuple[str, ...]:
    """Where an error beside a result says what came back; empty where it says nothing."""
    match message.get("error"):
        case str(text) if text.strip():
            return ("error",)
        case {"message": str(text)} if text.strip():
            return ("error", "message")
    return ()


def _result(message: Json, here: Place, call: str, tool: str) -> Iterator[Told]:
    base = here.pointer
    content = message.get("content")
    found = verdict(message, base, "content")
    if found.outcome == "unknown" and message.get("error", "") in (None, False):
        found = Verdict("ok", "error-field", f"{base}/error")
    text = content_text(content)
    where = here.of(message, "content")
    if not text.strip() and (path := _complaint(message)):
        where, text = here.deeper(*path), text_in(message, "error") or message["error"]["message"]
        content = text
    event = result(
        where.origin(),
        call,
        None if content is None else text,
        found,
        attachments=attachments(content, f"{base}/content"),
    )
    is_whole = isinstance(content, str)
    yield Told(("result", call, text.strip()), event, tool, is_whole=is_whole)
    yield from moved(harnesses.folder(text), here.of(message, "content"))
