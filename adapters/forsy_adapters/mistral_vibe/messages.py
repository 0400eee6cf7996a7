"""One agent's messages as events, and those of the subagents that it started."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from forsy_retrace.calls import Calls
from forsy_retrace.dialects import Call, calls
from forsy_retrace.events import (
    Attachment,
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
from forsy_retrace.sdk import later, parsed, pointer, subagent, when, words
from forsy_retrace.source import Record

from .._vibe import IDENT, ROLES, Json
from .files import changes, meant
from .results import OUTPUT, verdict
from .session import started
from .shapes import Log

COMPACTED = "You are continuing a trajectory after a context compaction."
WARNING = ("<vibe_warning>", "</vibe_warning>")
"""What the client says to the model; in 1.x it stands behind the user's words."""
SHELL = later(
    r"Manual `!` command result from the user\.[^`]*\n\nCommand: `(.+?)`\n\nWorking directory: ",
    re.S,
)
ANSWER = later(r"'answer': '([^'\\]{1,2000})'")
SUMMARY = ("## 1. User's Primary Goals and Intent", "\n\nLast request from user was: ")
"""In what a session begins with that goes on from a compaction (before 2.18): asked for, set."""
FEEDBACK = later(r"\nmessage: Staying in plan mode\. User feedback: (.+)\Z", re.S)
"""The user's words on a plan."""
BROUGHT = later(r"\n\n(?:file://[^\n]+\n```\n|uri: file://)")
"""Before the files that the user's words name (until 2.18)."""
NAMED = {"read_file": "@", "skill": "/"}
"""Calls that the client itself makes for what the user's words name, and how they do (2.24)."""
PLAN, ASK = "exit_plan_mode", "ask_user_question"
"""The tools whose results hold the user's words."""


class Reader:
    """Reads a session: its own messages, and its subagents' where they were started."""

    def __init__(self, main: Log, others: Sequence[Log]) -> None:
        self.main = main
        self.waiting = list(others)
        self.linked = dict(_links(main))
        """The session that the client says a call started, by the call's id in the log."""
        self.calls = Calls()
        self.open: dict[str, tuple[str, Any]] = {}
        """Tool and arguments of each call, by its own id."""
        self.count = 0
        self.said = ""
        """The user's words, until the agent does something."""
        self.has_begun = False
        """Whether anything stood in the user's role."""
        self.brought: set[str] = set()
        """Calls by which the client brought what they name."""

    def events(self) -> Iterator[Event]:
        """At least one event of each record."""
        yield from started(self.main)
        yield from self._log(self.main, "agent")
        for log in self.waiting:
            for record in (*log.metas, *log.records):
                here = Origin(record.here, None, "system")
                yield Skipped(here, record.problem or "a subagent that no call here started")

    def _log(self, log: Log, actor: str) -> Iterator[Event]:
        for record in log.metas:
            if log is not self.main or not isinstance(record.value, dict):
                yield Skipped(_system(record), record.problem or "state of the session")
        briefed = actor != "agent" or log.is_alone
        for place, (record, base, value) in enumerate(log.messages()):
            here = Origin(record.here.at(base), None, actor)
            if record.problem:
                yield Skipped(here.by("system"), record.problem)
                continue
            match value:
                case {"role": "user", "content": str(text)} if (
                    briefed and value.get("injected") is not True
                ):
                    briefed = False
                    where = here.below("/content").by("system")
                    if log is self.main:
                        yield Fact(where, "brief", text)
                    else:
                        yield Skipped(where, "a subagent's brief")
                case {"role": str(role)} if role in ROLES:
                    yield from self._message(role, value, here, place, log)
                case _:
                    yield Skipped(here.by("system"), "not a message of a session")
        if not any(True for _ in log.messages()):
            yield from (
                Skipped(_system(record), "a session without messages") for record in log.records
            )

    def _message(
        self, role: str, value: Json, here: Origin, place: int, log: Log
    ) -> Iterator[Event]:
        match role:
            case "user":
                self.said = words(value.get("content"))
                if not self.has_begun and any(mark in self.said for mark in SUMMARY):
                    yield Notice(here.below("/content").by("system"), "compacted")
                else:
                    yield from _user(value, here)
                self.has_begun = True
            case "assistant":
                yield from self._agent(value, here, place, log)
            case "tool":
                yield from self._result(value, here)
            case _ if words(value.get("content")):
                yield Fact(here.below("/content").by("system"), "system_prompt", value["content"])
            case _:
                yield Skipped(here.by("system"), "empty message")

    def _agent(self, value: Json, here: Origin, place: int, log: Log) -> Iterator[Event]:
        text, thought = words(value.get("content")), words(value.get("reasoning_content"))
        made = list(calls(value, here.evidence.pointer))
        if self._is_named(value, made):
            self.brought.add(made[0].id)
            yield Skipped(here.by("system"), "injected: the client reads what the words name")
            return
        self.said = ""
        ident = words(value.get("message_id")) or f"{log.source.name}:{place}"
        here = Origin(here.evidence, None, here.actor, ident)
        if thought.strip():
            yield Thinking(here.below("/reasoning_content"), thought)
        if text.strip():
            yield Message(here.below("/content"), "agent", text)
        for index, one in enumerate(made):
            yield from self._call(one, here, index)
        if not (thought.strip() or text.strip() or made):
            yield Skipped(here, "empty message")

    def _is_named(self, value: Json, made: Sequence[Call]) -> bool:
        """Whether the client made this call: right behind the words, under an id of its own."""
        if len(made) != 1 or value.get("content") != "" or "reasoning_content" in value:
            return False
        mark = NAMED.get(made[0].name)
        return mark is not None and mark in self.said and IDENT.fullmatch(made[0].id) is not None

    def _call(self, one: Call, here: Origin, index: int) -> Iterator[Event]:
        sent = parsed(one.input) if isinstance(one.input, str) else one.input
        call = self.calls.issue(one.id, here.message, index)
        where = Origin(here.evidence.at(one.pointer), None, here.actor, here.message)
        if call is None:
            yield Skipped(where, "repeated call")
            return
        given = sent if isinstance(sent, dict) else one.input
        self.open[call] = (one.name, sent)
        yield ToolCall(where, call, one.name, given, one.named, meant(one.name, sent))
        if one.name == "task":
            yield from self._delegated(call, one.id, sent, where)

    def _delegated(self, call: str, logged: str, sent: Any, here: Origin) -> Iterator[Event]:
        """The subagent that a call started: the one that the client links, or with its brief."""
        log = self._started(logged, sent)
        if log is None:
            return
        self.waiting.remove(log)
        self.count += 1
        name = words(sent.get("agent") if isinstance(sent, dict) else "", log.agent(), "task")
        actor = subagent(name, self.count)
        yield Delegation(here, call, actor)
        yield from self._log(log, actor)

    def _started(self, logged: str, sent: Any) -> Log | None:
        linked = self.linked.get(logged)
        if linked is not None:
            return next((log for log in self.waiting if log.told("session_id") == linked), None)
        brief = words(sent.get("task")) if isinstance(sent, dict) else ""
        fitting = [log for log in self.waiting if brief and log.brief.endswith(brief)]
        return fitting[0] if len(fitting) == 1 else None

    def _result(self, value: Json, here: Origin) -> Iterator[Event]:
        if words(value.get("tool_call_id")) in self.brought:
            given = words(value.get("content"))
            yield Fact(here.below("/content").by("system"), "brought", {"text": given})
            return
        call = self.calls.answer(words(value.get("tool_call_id")))
        if call is None:
            yield Skipped(here.by("system"), "repeated result")
            return
        tool, _ = self.open.get(call, (words(value.get("name")), None))
        text = value.get("content")
        told = isinstance(text, str)
        end = verdict(tool, value, here)
        files = tuple(changes(tool, value, here)) if end.outcome == "ok" else ()
        where = here.below("/content") if told else here
        yield ToolResult(where, call, text if told else None, *end, changes=files)
        if tool == PLAN and (found := FEEDBACK.search(words(text))) is not None:
            place = here.below("/content").by("user")
            yield Message(place, "user", found[1], "rejection", (), call, within=True)
        if tool == ASK:
            yield from _answers(value, call, here)


def _links(log: Log) -> Iterator[tuple[str, str]]:
    """Calls by their ids in the log, and the sessions that they started."""
    for _, _, meta in log.meta():
        for one in _list(meta.get("child_sessions")):
            match one:
                case {"tool_call_id": str(call), "session_id": str(session)}:
                    yield call, session


def _user(value: Json, here: Origin) -> Iterator[Event]:
    """A human's words, or what the client says in the user's role."""
    text, place = words(value.get("content")), here.below("/content")
    system = place.by("system")
    match value:
        case {"manual_shell": {"command": str(line), **rest}} if line.strip():
            where = here.below("/manual_shell/command").by("user")
            at = when(rest.get("created_at"))
            yield Message(_at(where, at), "user", f"!{line}", "shell line", within=True)
        case {"context_boundary": "compaction"}:
            yield Notice(system, "compacted")
        case {"injected": True} if text.startswith(COMPACTED):
            yield Notice(system, "compacted")
        case {"injected": True} if (found := SHELL.match(text)) is not None:
            yield Message(place.by("user"), "user", f"!{found[1]}", "shell line", within=True)
        case {"injected": True}:
            yield Skipped(system, "injected: a message of the client")
        case {"input_text": str(typed)} if typed.strip() and typed != text:
            via: Via = "command" if typed.startswith("/") else "typed"
            where = here.below("/input_text").by("user")
            yield Message(where, "user", typed, via, tuple(_pictures(value, here)))
            yield Fact(place, "brought", {"text": text})
        case _:
            yield from _typed(value, text, place.by("user"), here)


def _typed(value: Json, text: str, place: Origin, here: Origin) -> Iterator[Event]:
    said = _without_warning(text)
    files = BROUGHT.search(said)
    if files is not None:
        said = said[: files.start()]
    pictures = tuple(_pictures(value, here))
    if said.strip():
        yield Message(place, "user", said, "typed", pictures, within=said != text)
    elif pictures:
        shown = "\n".join(f"[image: {one.media}]" for one in pictures)
        yield Message(here.below("/images").by("user"), "user", shown, "typed", pictures)
    else:
        why = "injected: a message of the client" if text.strip() else "empty message"
        yield Skipped(place.by("system"), why)
    if files is not None:
        yield Fact(place.by("system"), "brought", {"text": text[files.start() :]})


def _without_warning(text: str) -> str:
    opening, closing = WARNING
    if not text.rstrip().endswith(closing):
        return text
    return "" if text.startswith(opening) else text.split(f"\n\n{opening}", 1)[0]


def _pictures(value: Json, here: Origin) -> Iterator[Attachment]:
    """Pictures; their bytes lie in files of their own."""
    for index, one in enumerate(_list(value.get("images"))):
        match one:
            case {"mime_type": str(kind)}:
                yield Attachment(kind, 0, here.below(pointer("images", index)).evidence.pointer)


def _answers(value: Json, call: str, here: Origin) -> Iterator[Event]:
    """What the user chose or wrote in a dialog."""
    match value.get("tool_result"):
        case {"output": {"answers": list(listed)}}:
            for index, one in enumerate(listed):
                match one:
                    case {"answer": str(text)} if text.strip():
                        path = f"{OUTPUT}{pointer('answers', index, 'answer')}"
                        yield Message(here.below(path).by("user"), "user", text, "answer", (), call)
        case _:
            for text in ANSWER.findall(words(value.get("content"))):
                where = here.below("/content").by("user")
                yield Message(where, "user", text, "answer", (), call, within=True)


def _at(here: Origin, at: str | None) -> Origin:
    return Origin(here.evidence, at, here.actor, here.message)


def _system(record: Record) -> Origin:
    return Origin(record.here, None, "system")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
