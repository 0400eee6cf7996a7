"""A first look through the file, for what a record alone does not say.

Rollouts tell most things twice, and copy history when they fork: which texts and calls the items
hold, what the human typed by the events' word, what was copied, and what was taken back.
"""

from array import array
from collections.abc import Iterable
from datetime import datetime
from itertools import chain
from typing import Any

import msgspec

from forsy_retrace.events import Origin, ToolResult
from forsy_retrace.sdk import number, parsed
from forsy_retrace.source import Source

from .results import Result, ended, result, terminal_of, told
from .scripts import Scripts
from .units import STREAM, Json, Unit, texts, units
from .words import proposed

COPIED_WITHIN = 0.01
"""Seconds: copied lines all carry the time of the fork."""


REPORTS = (
    "CommandExecution",
    "FileChange",
    "McpToolCall",
    "DynamicToolCall",
    "CollabAgentToolCall",
)
"""Kinds of items by which the client tells how a call ended."""
AGENTS = ("subagent", "guardian_review")
"""Sources of a thread in which no human speaks."""


class Survey(msgspec.Struct):
    """What the whole file says, by hashes of its texts."""

    said: set[int] = msgspec.field(default_factory=set)
    """What the human typed, by the events' word."""
    texts: set[int] = msgspec.field(default_factory=set)
    """The texts of messages and reasoning that stand in items."""
    calls: set[str] = msgspec.field(default_factory=set)
    patches: dict[str, Any] = msgspec.field(default_factory=dict)
    """Changes that events record, by call."""
    patched: set[str] = msgspec.field(default_factory=set)
    """Calls whose patch took by the client's word, however the rest of the call ended."""
    ends: dict[str, ToolResult] = msgspec.field(default_factory=dict)
    """What later calls told of the end of commands that ran on, by the call that ran each."""
    verdicts: dict[str, ToolResult] = msgspec.field(default_factory=dict)
    """What the client recorded of the end of calls, where their own outputs may not say it."""
    polls: set[str] = msgspec.field(default_factory=set)
    """Calls that only look at a command that runs on, or write to it."""
    scripts: Scripts = msgspec.field(default_factory=Scripts)
    aborts: bool = False
    thinks: set[str] = msgspec.field(default_factory=set)
    """The kinds of events that hold a whole thought."""
    shelled: bool = False
    """Whether items tell the commands that the human ran in the client."""
    failures: set[str] = msgspec.field(default_factory=set)
    branches: dict[int, str] = msgspec.field(default_factory=dict)
    """Records of turns that the user took back."""
    rewound: set[int] = msgspec.field(default_factory=set)
    """Records that begin a file in which the session goes on from an earlier turn."""
    segment: bool = False
    """Whether such a file is alone: what came before stands in another."""
    copied: int = 0
    """How many of the first records are another session's."""
    copied_from: str = ""
    subagent: bool = False
    streamed: bool = False
    """What `codex exec --json` prints: other programs may print between its lines."""
    last: int = 0
    """The number of the last record."""


def key(text: str) -> int:
    """Texts are told apart by hash: a rollout may be hundreds of megabytes."""
    return hash(text.strip())


def survey(files: Iterable[Source]) -> Survey:
    """Reads the files once."""
    look = _Look()
    for place, record in enumerate(chain.from_iterable(one.records() for one in files)):
        look.found.last = place
        if not record.problem:
            for unit in units(record, place):
                look.take(unit)
    look.found.scripts.finish()
    if look.found.copied_from and not look.based:
        look.found.copied = look.inherited or look.stamped
    return look.found


class _Look:
    def __init__(self) -> None:
        self.found = Survey()
        self.owner = ""
        self.forked: float | None = None
        self.stamped = 0
        self.own: int | None = None
        """The ordinal of a subagent's first own record, where the log tells it."""
        self.inherited = 0
        self.based = False
        self.turns: list[int] = []
        self.first = -1
        """Where the first turn began."""
        self.ordinals = array("q")
        """By record, its number in the session; -1 where it has none."""
        self.began = 0
        self.rollbacks = 0
        self.running: dict[str, str] = {}
        """Terminals in which a command runs on, and the call that ran it."""
        self.asked: dict[str, str] = {}
        """Calls to such a terminal, and which it is."""

    def take(self, unit: Unit) -> None:
        self._stamp(unit)
        self._count(unit)
        body = unit.body
        self.found.streamed = self.found.streamed or unit.kind in STREAM
        match unit.kind:
            case "session_meta":
                self._meta(unit, body)
            case "inter_agent_communication_metadata" if self.found.subagent and self.own is None:
                self.inherited = self.inherited or unit.number  # its task came
            case "response_item":
                self._item(body)
                self.found.scripts.item(unit)
                self._runs_on(unit, body)
            case "event_msg":
                self._event(unit, body)
                self.found.scripts.event(unit, self.found.calls)
            case "turn.failed":
                match body:
                    case {"error": {"message": str(text)}}:
                        self.found.failures.add(text)

    def _stamp(self, unit: Unit) -> None:
        """Counts the records of another session: by their ordinals, or the moment of the fork."""
        match unit.record.value:
            case {"ordinal": int(ordinal)} if self.own is not None and ordinal < self.own:
                self.inherited = unit.number + 1
        if unit.at is None or unit.number != self.stamped:
            return
        now = datetime.fromisoformat(unit.at).timestamp()
        if unit.number == 0:
            self.stamped = 1
        elif self.forked is None or abs(now - self.forked) <= COPIED_WITHIN:
            self.forked = now if self.forked is None else self.forked
            self.stamped += 1

    def _count(self, unit: Unit) -> None:
        missing = unit.number + 1 - len(self.ordinals)
        self.ordinals.extend([-1] * missing)
        match unit.record.value:
            case {"ordinal": ordinal} if missing:
                found = number(ordinal)
                self.ordinals[unit.number] = -1 if found is None else found

    def _meta(self, unit: Unit, body: Json) -> None:
        name = body.get("id")
        if not isinstance(name, str):
            return
        if not self.owner:
            self.owner = name
            source = body.get("source")
            self.found.subagent = isinstance(source, dict) and "subagent" in source
            self.found.subagent |= body.get("thread_source") in AGENTS
            self.own = number(body.get("subagent_history_start_ordinal"))
            parent = body.get("forked_from_id") or (self.own and body.get("parent_thread_id"))
            match body.get("history_base"):
                case {"thread_id": str()}:  # the history stands in its own file alone
                    self.found.segment = not isinstance(parent, str)
                    parent, self.based = name if self.found.segment else parent, True
            self.found.copied_from = parent if isinstance(parent, str) else ""
        elif name != self.owner and not self.found.copied_from:
            self.found.copied_from = name
        elif name == self.owner:
            self._rewind(unit)

    def _item(self, body: Json) -> None:
        for ident in (body.get("call_id"), body.get("id")):
            if isinstance(ident, str):
                self.found.calls.add(ident)
        if body.get("role") in ("user", "assistant") or body.get("type") == "reasoning":
            parts = list(texts(body.get("content"))) + list(texts(body.get("summary")))
            self.found.texts.update(key(text) for text in [*parts, "\n".join(parts)])
            self.found.shelled |= any(part.startswith("<user_shell_command>") for part in parts)
            self.found.texts.update(key(plan) for plan in map(proposed, parts) if plan)

    def _runs_on(self, unit: Unit, body: Json) -> None:
        """Joins a command that ran on with its end; one that the agent stopped has none."""
        match body:
            case {"name": "write_stdin", "call_id": str(call), "arguments": str(sent)}:
                self._asks(call, parsed(sent))
            case {"type": "custom_tool_call", "call_id": str(call)}:
                meant = self.found.scripts.meant.get(unit.number)
                if meant is not None and meant.tool == "write_stdin":
                    self._asks(call, meant.input)
            case {
                "type": "function_call_output" | "custom_tool_call_output",
                "call_id": str(call),
                "output": output,
            }:
                call = self.found.scripts.speaks.get(call, call)
                if call in self.asked:
                    path = f"{unit.prefix}/output"
                    seen = result(output, path)
                    first = self.running.get(self.asked[call])
                    if first is not None and seen.exit_code is not None:
                        here = Origin(unit.record.here.at(path), unit.at, "agent")
                        self.found.ends.setdefault(first, told(here, first, seen))
                        del self.running[self.asked[call]]
                elif terminal := terminal_of(output):
                    self.running[terminal] = call

    def _asks(self, call: str, sent: Any) -> None:
        match sent:
            case {"session_id": int() | str() as terminal, **rest}:
                name = str(terminal)
                if "\x03" in str(rest.get("chars")):
                    self.running.pop(name, None)
                    self.found.polls.add(call)
                elif name in self.running:
                    self.asked[call] = name
                    self.found.polls.add(call)

    def _event(self, unit: Unit, body: Json) -> None:
        match body:
            case {"type": "user_message", "message": str(text)}:
                self.found.said.add(key(text))
                self._turn(unit)
            case {"type": "item_completed", "item": {"type": "UserMessage", "content": content}}:
                parts = list(texts(content))
                self.found.said.update(key(text) for text in [*parts, "\n".join(parts)])
                self._turn(unit)
            case {"type": "agent_reasoning" | "agent_reasoning_raw_content" as kind}:
                self.found.thinks.add(kind)
            case {"type": "turn_aborted"}:
                self.found.aborts = True
            case {"type": "task_started" | "turn_started"}:
                self.began = unit.number
            case {"type": "patch_apply_begin" | "patch_apply_end", "call_id": str(call)}:
                if body.get("changes"):
                    self.found.patches[call] = body["changes"]
                if body.get("success") is True:
                    self.found.patched.add(call)
            case {"type": "mcp_tool_call_end", "call_id": str(call)} if call in self.found.calls:
                self.found.verdicts[call] = _end(unit, call, ended(body, unit.prefix))
            case {"type": "item_completed", "item": {"id": str(ident), "type": str()} as item}:
                self._reported(unit, ident, item)
            case {"type": "thread_rolled_back"}:
                self._rollback(unit, number(body.get("num_turns")) or 0)

    def _reported(self, unit: Unit, ident: str, item: Json) -> None:
        """What the client tells from 0.15x on of a call, once it has ended."""
        found, base = self.found, f"{unit.prefix}/item"
        match item:
            case {"type": "FileChange", "changes": dict() | list() as files} if (
                ident in found.calls
            ):
                found.patches[ident] = files
                if item.get("status") == "completed":
                    found.patched.add(ident)
            case {"type": "CommandExecution", "process_id": str(terminal)} if (
                terminal in self.running
            ):
                first = self.running[terminal]
                found.ends.setdefault(first, _end(unit, first, ended(item, base)))
                if ident not in found.calls:
                    found.scripts.told.add(ident)
                found.scripts.looked_on()
            case {"type": "SubAgentActivity", "kind": str()}:
                reached = Result(None, f"{base}/kind", "ok", "agent-reached", f"{base}/kind")
                found.verdicts[ident] = _end(unit, ident, reached)
        if item["type"] in REPORTS and ident in found.calls:
            found.verdicts[ident] = _end(unit, ident, ended(item, base))

    def _turn(self, unit: Unit) -> None:
        before = self.turns[-1] if self.turns else -1
        self.turns.append(self.began if self.began > before else unit.number)
        self.first = self.turns[0] if self.first < 0 else self.first

    def _rewind(self, unit: Unit) -> None:
        """The session goes on from here as if what has this number or a later one had not been."""
        here, found = self.ordinals[unit.number], self.found
        if here < 0 or self.first < 0:
            return
        back = [
            place
            for place in range(self.first, unit.number)
            if self.ordinals[place] >= here and place not in found.branches
        ]
        if back:
            self.rollbacks += 1
            found.rewound.add(unit.number)
            found.branches.update(dict.fromkeys(back, f"b{self.rollbacks}"))
            self.turns = [place for place in self.turns if place not in found.branches]

    def _rollback(self, unit: Unit, count: int) -> None:
        if count < 1 or not self.turns:
            return
        self.rollbacks += 1
        first = self.turns[-count] if count <= len(self.turns) else self.turns[0]
        del self.turns[-count:]
        for place in range(first, unit.number + 1):
            self.found.branches.setdefault(place, f"b{self.rollbacks}")


def _end(unit: Unit, call: str, seen: Result) -> ToolResult:
    here = Origin(unit.record.here.at(seen.pointer), unit.at, "agent")
    return told(here, call, seen)
