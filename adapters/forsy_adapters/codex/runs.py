"""Calls that only events tell: where a log has no items, and where code in a call made calls."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Change, Event, Skipped
from forsy_retrace.sdk import words

from .._patches import recorded
from .items import Items, with_changes
from .made import line_of, made
from .results import Result, ended
from .state import State
from .streamed import Streamed
from .units import Unit

TOOLS = {
    # The event that begins a call: the tool's name as the event has it, and where its input is.
    "exec_command_begin": ("exec_command", "command"),
    "patch_apply_begin": ("patch_apply", "changes"),
    "mcp_tool_call_begin": ("", "invocation"),
    "web_search_begin": ("web_search", ""),
    "view_image_tool_call": ("view_image", "path"),
    "plan_update": ("plan_update", ""),
    "tool_call": ("", "input"),
}


class Runs:
    """Reads the beginnings and ends of calls."""

    def __init__(self, state: State, items: Items, streamed: Streamed) -> None:
        self.state, self.items, self.streamed = state, items, streamed
        self.asked: list[Unit] = []
        self.changes: dict[str, Any] = {}

    def begun(self, unit: Unit, kind: str) -> Iterator[Event]:
        """A call that no item holds."""
        state, body = self.state, unit.body
        if kind == "view_image_tool_call" and state.script:  # no record of its end follows
            yield from self.alone(unit, words(body.get("call_id")))
            return
        tool, slot = TOOLS[kind]
        ident = words(body.get("call_id")) or (
            f"plan-{unit.number}" if kind == "plan_update" else ""
        )
        if ident in state.found.calls or (kind == "plan_update" and state.found.calls):
            yield Skipped(state.here(unit, ""), "repeats a call")
            return
        where: str | None = "/type"
        sent: Any = body.get(slot) if slot else body
        path = f"/{slot}" if slot else ""
        match kind, sent:
            case "exec_command_begin", list(parts):
                sent, path = line_of(parts, body, path, "")
            case "mcp_tool_call_begin", {"tool": str(name), "arguments": inner, **rest}:
                tool, where, sent = name, "/invocation/tool", inner
                path = "/invocation/arguments"
                if words(rest.get("server")):  # how the client of 2025 names it to the model
                    tool, where = f"{rest['server']}__{name}", None
            case "tool_call", _:
                tool, where = words(body.get("name")), "/name"
        if not isinstance(sent, (dict, str)):
            sent, path = body, ""
        yield from self.items.issue(
            unit, path, ident, tool or kind, sent, where if tool else "/type"
        )
        yield from state.models(unit)
        if kind == "patch_apply_begin":
            self.changes[ident] = body.get("changes")

    def ended(self, unit: Unit, ident: str) -> Iterator[Event]:
        state, body = self.state, unit.body
        if ident in state.found.calls or ident not in state.calls.issued:
            yield from self.alone(unit, ident)
            return
        call = state.calls.answer(ident)
        if call is None:
            yield Skipped(state.here(unit, ""), "repeats a call")
            return
        found = ended(body, unit.prefix)
        for event in self.items.answered(unit, call, found):
            event = self.streamed.whole(event, ident, body)
            yield with_changes(event, self._changed(ident, found))

    def _changed(self, ident: str, found: Result) -> tuple[Change, ...]:
        told = self.changes.pop(ident, None) or self.state.found.patches.get(ident)
        return tuple(recorded(told)) if told and found.outcome == "ok" else ()

    def alone(self, unit: Unit, ident: str) -> Iterator[Event]:
        """A call of which this is the only word, unless another call's end is told by it."""
        state = self.state
        one = None if ident in state.found.calls else made(unit)
        if ident in state.found.scripts.told:
            yield Skipped(state.here(unit, ""), "tells how the code of a call ended")
        elif one is not None and ident in state.found.scripts.outlived:
            yield from self.items.came(unit, one, one.ident)
        elif one is None or one.ident in state.calls.issued:
            yield Skipped(state.here(unit, ""), "repeats a call")
        else:
            yield from self.items.whole(unit, one)

    def decided(self, unit: Unit, decision: str) -> Iterator[Event]:
        """The human's answer to the client's question whether a command may run."""
        if decision not in ("denied", "abort") or not self.asked:
            self.asked = self.asked[1:]
            yield Skipped(self.state.here(unit, ""), "approval given")
            return
        asked = self.asked.pop(0)
        body = asked.body
        ident = words(body.get("call_id"))
        parts = body.get("command")
        if ident not in self.state.calls.issued and isinstance(parts, list):
            sent, path = line_of(parts, body, "/command", "")
            yield from self.items.issue(asked, path, ident, "exec", sent, "/type")
        call = self.state.calls.answer(ident)
        if call is None:
            yield Skipped(self.state.here(unit, ""), "repeats a call")
            return
        path = f"{unit.prefix}/decision"
        yield from self.items.answered(unit, call, Result(None, path, "rejected", "denied", path))
