"""Calls that only events tell: where a log has no items, and where code in a call made calls."""

from collections.abc import Iterator
from typing import Any

import msgspec

from forsy_retrace.events import Change, Event, Skipped, ToolResult
from forsy_retrace.sdk import number, text_of, words

from .items import Items
from .patches import recorded
from .results import Result, by_code
from .state import State
from .units import Json, Unit

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

    def __init__(self, state: State, items: Items) -> None:
        self.state, self.items = state, items
        self.asked: list[Unit] = []
        self.changes: dict[str, Any] = {}

    def begun(self, unit: Unit, kind: str) -> Iterator[Event]:
        """A call that no item holds."""
        state, body = self.state, unit.body
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

    def ended(self, unit: Unit, kind: str, ident: str) -> Iterator[Event]:
        state, body = self.state, unit.body
        call = None if ident in state.found.calls else state.calls.answer(ident)
        if call is None:
            yield Skipped(state.here(unit, ""), "repeats a call")
            return
        found = self._result(unit, kind, body)
        for event in self.items.answered(unit, call, found):
            yield _with_changes(event, self._changed(ident, found))

    def _changed(self, ident: str, found: Result) -> tuple[Change, ...]:
        told = self.changes.pop(ident, None) or self.state.found.patches.get(ident)
        return tuple(recorded(told, "")) if told and found.outcome == "ok" else ()

    def _result(self, unit: Unit, kind: str, body: Json) -> Result:
        base = unit.prefix
        if kind == "mcp_tool_call_end":
            match body.get("result"):
                case {"Ok": {"content": content, **rest}}:
                    flag = rest.get("is_error", rest.get("isError"))
                    done = "failed" if flag is True else "ok"
                    path = f"{base}/result/Ok/content"
                    return Result(text_of(content), path, done, "result-kind", f"{base}/result")  # type: ignore[arg-type]  # one of two outcomes
                case {"Err": str(text)}:
                    path = f"{base}/result/Err"
                    return Result(text, path, "failed", "result-kind", path)
            return Result(None, base)
        return streams(body, base)

    def whole(
        self, unit: Unit, path: str, sent: Any, found: Result, files: tuple[Change, ...] = ()
    ) -> Iterator[Event]:
        """A call and its result in one record; code made it where some is running."""
        item, nested = unit.body["item"], bool(self.state.script)
        ident = words(item.get("id")) or f"at-{unit.number}"
        yield from self.items.issue(unit, path, ident, item["type"], sent, "/item/type", nested)
        call = self.state.calls.answer(ident)
        if call is not None:
            for event in self.items.answered(unit, call, found, nested=nested):
                yield _with_changes(event, files)

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


def _with_changes(event: Event, files: tuple[Change, ...]) -> Event:
    if files and isinstance(event, ToolResult):
        return msgspec.structs.replace(event, changes=files)
    return event


def line_of(parts: list[Any], holder: Json, path: str, above: str) -> tuple[Any, str]:
    """A command: the shell's line where it is one, else the whole that holds its words."""
    if len(parts) == 3 and parts[1] in ("-c", "-lc") and isinstance(parts[2], str):
        return parts[2], f"{path}/2"
    return holder, above


def streams(body: Json, base: str) -> Result:
    """What a command printed, as the client kept it, and how it ended."""
    code = number(body.get("exit_code"))
    names = ["formatted_output", "aggregated_output", "stdout", "stderr"]
    if code not in (0, None):
        names = ["formatted_output", "aggregated_output", "stderr", "stdout"]
    held = [name for name in names if isinstance(body.get(name), str)]
    best = next((name for name in held if body[name]), held[0] if held else "")
    text = body[best] if best else None
    path = f"{base}/{best}" if best else base
    status = body.get("status")
    if status == "declined":
        return Result(text, path, "rejected", "status", f"{base}/status", code)
    if code is not None:
        outcome, rule = by_code(code, text or "")
        return Result(text, path, outcome, rule, f"{base}/exit_code", code)
    if isinstance(body.get("success"), bool):
        done = "ok" if body["success"] else "failed"
        return Result(text, path, done, "success-flag", f"{base}/success")  # type: ignore[arg-type]  # one of two outcomes
    if status in ("completed", "failed"):
        done = "ok" if status == "completed" else "failed"
        return Result(text, path, done, "status", f"{base}/status")  # type: ignore[arg-type]  # one of two outcomes
    return Result(text, path)
