"""Responses items: messages, reasoning, calls and their outputs, as events."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from forsy_retrace.dialects import Call, arguments, payload_size
from forsy_retrace.dialects import calls as message_calls
from forsy_retrace.events import (
    CODE_ENDED,
    Attachment,
    Change,
    Event,
    Meant,
    Message,
    Notice,
    Skipped,
    Thinking,
    ToolCall,
    ToolResult,
)
from forsy_retrace.sdk import later, named, parsed, strings, words

from .._patches import Patch, changes, kept, patch_in
from .made import Made
from .results import Result, printed, result, told
from .scripts import TOOL
from .state import State
from .units import Unit, texts
from .users import Users, parts_of
from .words import proposed

ARGUMENTS = ("arguments", "input", "action", "queries", "code")
"""Where the kinds of calls keep what they send."""


WAITED = (
    "exit-code",
    "timed-out",
    "still-running",
    CODE_ENDED,
    "script-failed",
    "script-running",
)
"""What a call tells that waited for another one: it did what it was asked, whatever it saw."""


BOOKKEEPING = (
    "ghost_snapshot",
    "additional_tools",
    "configuration_update",
    "compaction_trigger",
)
DRAWS = "image_generation_call"
ASKS = "request_user_input"
STARTS = "spawn_agent"
SPAWNED = '"task_name"'
"""A sign of what a call tells that started a subagent."""
NOTE = "user_note: "
"""How the client marks what a human wrote beside a choice."""
SERVER = "mcp__"
"""How the name space of a server's tools begins."""
OF_SERVER = later(rf"(?!{SERVER})[A-Za-z0-9][\w-]*?__[A-Za-z]")
"""A server's tool as the client of 2025 named it to the model: `server__tool`."""
REPORT = later(r"Message Type: FINAL_ANSWER\n(?:[\w ]{1,40}: [^\n]*\n)*Payload:\n?(.*)", re.S)
"""How a subagent's last words come to the agent that started it."""


class Items:
    """Reads items in order."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.users = Users(state)

    def read(self, unit: Unit) -> Iterator[Event]:
        """The events of one item."""
        body, state = unit.body, self.state
        role, kind = body.get("role"), str(body.get("type") or "")
        if kind.lower() in ("message", "") and role is not None:
            yield from self._message(unit, role)
        elif kind == "reasoning":
            yield from self._reasoning(unit)
        elif kind.endswith("_output"):
            yield from self._output(unit, "output" if "output" in body else "tools")
        elif kind in ("function_call", "custom_tool_call") or kind.endswith("_call"):
            yield from self._call(unit, kind)
        elif kind in ("compaction", "compaction_summary", "context_compaction"):
            yield from self.compacted(unit)
        elif kind == "agent_message":
            yield from self._between_agents(unit)
        elif kind in BOOKKEEPING:
            yield Skipped(state.here(unit, ""), f"bookkeeping{named(kind)}")
        else:
            yield Skipped(state.here(unit, ""), f"unknown item{named(kind)}")

    def compacted(self, unit: Unit) -> Iterator[Event]:
        """One compaction, though it is told up to three times."""
        if self.state.compacted:
            yield Skipped(self.state.here(unit, ""), "repeats the compaction")
            return
        self.state.compacted = True
        yield Notice(self.state.here(unit, ""), "compacted")

    def _between_agents(self, unit: Unit) -> Iterator[Event]:
        """What one agent writes to another; a subagent's last words answer its call."""
        state = self.state
        known = state.agents.get(words(unit.body.get("author")))
        for path, text in parts_of(unit.body.get("content"), "/content"):
            found = REPORT.match(text)
            if found and found[1].strip() and known is not None:
                call, actor = known
                here = state.here(unit, path, actor)
                yield Message(here, "agent", found[1], "notification", (), call, within=True)
                return
        yield Skipped(state.here(unit, ""), "words between agents")

    def _message(self, unit: Unit, role: Any) -> Iterator[Event]:
        match role:
            case "user":
                yield from self.users.read(unit)
            case "assistant":
                yield from self._assistant(unit)
            case "tool" | "function":
                yield from self._output(unit, "content")
            case "developer" | "system":
                yield Skipped(self.state.here(unit, ""), f"injected: {role} message")
            case _:
                yield Skipped(self.state.here(unit, ""), f"unknown role{named(role)}")

    def _assistant(self, unit: Unit) -> Iterator[Event]:
        state, body = self.state, unit.body
        if unit.is_summary:
            yield Skipped(state.here(unit, ""), "summary of the compaction")
            return
        if isinstance(body.get("reasoning"), str) and body["reasoning"].strip():
            yield Thinking(state.agent(unit, "/reasoning"), body["reasoning"])
        told = False
        for path, text in parts_of(body.get("content"), "/content"):
            if text.strip():
                told = True
                state.planned = bool(proposed(text))
                yield Message(state.agent(unit, path), "agent", text)
        for call in message_calls(body, ""):
            told = True
            yield from self.issue(unit, call.pointer, call.id, call.name, call.input, _named(call))
        yield from state.models(unit)
        if not told:
            yield Skipped(state.here(unit, ""), "blank text")

    def _reasoning(self, unit: Unit) -> Iterator[Event]:
        state, told = self.state, False
        for name in ("summary", "content"):
            for path, text in parts_of(unit.body.get(name), f"/{name}"):
                if text.strip():
                    told = True
                    yield Thinking(state.agent(unit, path), text)
        if not told:
            yield Skipped(state.here(unit, ""), "hidden reasoning")

    def _call(self, unit: Unit, kind: str) -> Iterator[Event]:
        body, state = unit.body, self.state
        ident = next((i for i in (body.get("call_id"), body.get("id")) if isinstance(i, str)), "")
        tool = body.get("name")
        where: str | None = "/name"
        if not isinstance(tool, str) or not tool:
            tool, where = kind.removesuffix("_call"), "/type"
        elif words(body.get("namespace")).startswith(SERVER):
            tool, where = f"{body['namespace']}__{tool}", None
        slot = next((name for name in ARGUMENTS if name in body), None)
        sent = body if slot is None else arguments(body[slot])
        if isinstance(sent, list):
            sent = body
            slot = None
        elif kind == DRAWS:  # the picture itself stands beside the words that asked for it
            slot = "revised_prompt" if isinstance(body.get("revised_prompt"), str) else None
            sent = body["revised_prompt"] if slot else None
        path = "" if slot is None else f"/{slot}"
        for other, one in state.found.scripts.before.get(unit.number, ()):
            yield from self.whole(other, one, True)
        yield from self.issue(unit, path, ident, tool, sent, where)
        for other, one in state.found.scripts.late.get(unit.number, ()):
            yield from self.issue(other, one.path, one.ident, one.tool, one.sent, one.where, True)
        yield from state.models(unit)
        if kind.endswith("_call") and kind not in ("function_call", "custom_tool_call"):
            yield from self._contained(unit, ident)

    def _contained(self, unit: Unit, ident: str) -> Iterator[Event]:
        """Calls that no output follows: their end stands in the call itself."""
        body = unit.body
        if body.get("type") in ("local_shell_call", "tool_search_call"):
            return
        here = self.state.here(unit, "/status", "agent")
        if body.get("status") in ("completed", "failed"):
            call = self.state.calls.answer(ident)
            if call is not None:
                self.state.heard = True
                done = "ok" if body["status"] == "completed" else "failed"
                basis, drawn = here.evidence.pointer, body.get("result")
                shown: tuple[Attachment, ...] = ()
                if body.get("type") == DRAWS and isinstance(drawn, str) and drawn:
                    where = f"{unit.prefix}/result"
                    shown = (Attachment("image/png", payload_size(drawn), where),)
                yield ToolResult(here, call, None, done, "status", basis, attachments=shown)  # type: ignore[arg-type]  # one of two outcomes

    def issue(
        self,
        unit: Unit,
        path: str,
        ident: str,
        tool: str,
        sent: Any,
        where: str | None,
        nested: bool = False,
    ) -> Iterator[Event]:
        """A call, unless it is a copy; `where` the tool's name stands; `nested`: code made it."""
        state = self.state
        call = state.calls.issue(ident, tool, sent)
        if call is None:
            yield Skipped(state.here(unit, path), "repeated history")
            return
        state.tools[call] = tool
        meant = None
        if patch := patch_in(tool, sent):
            state.patches[call] = patch
        here = state.under_way(unit, path) if nested else state.agent(unit, path)
        made_by = state.script if nested else ""
        if tool == TOOL:
            state.script = call
            state.scripts[call] = unit.number
            meant = state.found.scripts.meant.get(unit.number)
        elif OF_SERVER.match(tool):
            meant = Meant(f"{SERVER}{tool}", sent)
        named = None if where is None else unit.prefix + where
        yield ToolCall(here, call, tool, sent, named, meant, made_by)

    def whole(self, unit: Unit, one: Made, first: bool = False) -> Iterator[Event]:
        """A call and its result in one record; code made it, maybe as the `first` thing it did."""
        state, ident = self.state, one.ident or f"at-{unit.number}"
        nested = bool(state.script)
        yield from self.issue(unit, one.path, ident, one.tool, one.sent, one.where, nested)
        yield from self.came(unit, one, ident, nested or first)

    def came(self, unit: Unit, one: Made, ident: str, nested: bool = True) -> Iterator[Event]:
        """The result of a call that one record tells whole."""
        call = self.state.calls.answer(ident)
        if call is not None:
            for event in self.answered(unit, call, one.found, nested=nested):
                yield with_changes(event, one.changes)

    def _output(self, unit: Unit, slot: str) -> Iterator[Event]:
        state, body = self.state, unit.body
        names = (body.get("call_id"), body.get("tool_call_id"))
        ident = next((name for name in names if isinstance(name, str)), "")
        if slot not in body or not (ident or body.get("role") == "function"):
            name = body.get("name")  # 0.171 gives some context as a tool's output
            why = f"injected{named(name)}" if name else "result without its call's id"
            yield Skipped(state.here(unit, ""), why)
            return
        if unit.number in state.found.scripts.said:
            yield Skipped(state.here(unit, ""), "a word of running code")
            return
        call = state.calls.answer(ident)
        if call is None:
            yield Skipped(state.here(unit, ""), "repeated history")
            return
        apart = state.scripts.get(call) in state.found.scripts.apart
        found = (printed if apart else result)(body[slot], f"{unit.prefix}/{slot}")
        if self._polls(ident) and found.rule in WAITED:
            found = found._replace(outcome="ok", rule="terminal-read", exit_code=None)
        yield from self.answered(unit, call, found, ident)

    def answered(
        self, unit: Unit, call: str, found: Result, ident: str = "", nested: bool = False
    ) -> Iterator[Event]:
        """A call's result, the files that it changed, and the words that came inside it."""
        state = self.state
        state.heard = state.heard or not nested
        if call == state.script:
            state.script = ""
        where = state.here(unit, found.pointer.removeprefix(unit.prefix), "agent")
        done = found.outcome in ("ok", "launched")
        code = state.scripts.pop(call, -1)
        if code >= 0 and done and self._only_starts(code, found):
            found = found._replace(outcome="launched", rule="agent-spawned")
        changes = self._changes(call, ident or call, code, found, done)
        end = state.found.ends.get(ident) if found.outcome == "launched" else None
        if code in state.found.scripts.ends and done and not self._polls(ident):
            end = state.found.scripts.ends[code]
        elif found.outcome == "unknown":
            end = state.found.verdicts.get(ident)
        yield told(where, call, found, changes, end)
        if found.rule == "answered":
            path = found.pointer.removeprefix(unit.prefix) + "/answers"
            yield from self._answers(unit, call, found.output, path)
        elif found.rule == "agent-spawned" or (code >= 0 and SPAWNED in (found.output or "")):
            for part in texts(unit.body.get("output")) if code >= 0 else [found.output]:
                yield from self._spawned(unit, call, part)
        elif code >= 0 and '"answers"' in (found.output or "") and self._comes_to(code, ASKS):
            for path, part in parts_of(unit.body.get("output"), "/output"):
                if '"answers"' in part:
                    yield from self._answers(unit, call, part, f"{path}/answers")

    def _polls(self, ident: str) -> bool:
        """Whether the call looks at what another one began: how that ended is not its own end."""
        return ident in self.state.found.polls or ident in self.state.found.scripts.polls

    def _comes_to(self, code: int, tool: str) -> bool:
        meant = self.state.found.scripts.meant.get(code)
        return meant is not None and meant.tool == tool

    def _only_starts(self, code: int, found: Result) -> bool:
        """Whether all that code did was to start a subagent."""
        return SPAWNED in (found.output or "") and self._comes_to(code, STARTS)

    def _changes(
        self, call: str, ident: str, code: int, found: Result, done: bool
    ) -> Iterator[Change]:
        """What a call did to files; a patch that took counts though a later line failed."""
        known, patch = self.state.found, self.state.patches.pop(call, None)
        told = known.patches.get(ident) if done or ident in known.patched else None
        told = told or (known.scripts.changed.get(code) if done else None)
        if told:
            yield from kept(told)
        elif patch is not None and patch.took(found.output or "") and _ran(found, patch):
            yield from changes(patch)

    def _answers(self, unit: Unit, call: str, output: str | None, path: str) -> Iterator[Event]:
        """What the human chose or wrote in the client's question dialog."""
        held = parsed(output or "")
        answers = held.get("answers") if isinstance(held, dict) else None
        if not isinstance(answers, dict):
            return
        lines = []
        for one in answers.values():
            picked = one.get("answers") if isinstance(one, dict) else one
            chosen = strings(picked) if isinstance(picked, list) else [str(picked)]
            lines.append(", ".join(text.removeprefix(NOTE) for text in chosen))
        said = "\n".join(line for line in lines if line.strip())
        if said:
            yield Message(self.state.here(unit, path, "user"), "user", said, "answer", (), call)

    def _spawned(self, unit: Unit, call: str, output: str | None) -> Iterator[Event]:
        held = parsed(output or "")
        agent = held.get("agent_id") or held.get("task_name") if isinstance(held, dict) else None
        yield from self.state.delegated(unit, call, agent)


def _ran(found: Result, patch: Patch) -> bool:
    """Whether a call's patches were applied, though a line after them may have failed."""
    return found.outcome == "ok" or (patch.fed and bool(found.exit_code))


def with_changes(event: Event, files: tuple[Change, ...]) -> Event:
    """A result with what the call did to files."""
    if files and isinstance(event, ToolResult):
        return msgspec.structs.replace(event, changes=files)
    return event


def _named(call: Call) -> str | None:
    """Where a call's name stands."""
    return f"{call.pointer.rpartition('/')[0]}/name" if call.named == "" else call.named
