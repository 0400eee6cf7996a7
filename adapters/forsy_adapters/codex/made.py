"""Calls that the client records whole, with their results, after they ended.

From 0.15x on an `item_completed` does, before that an `..._end`. Most repeat what the items say;
for the calls that code makes, theirs is the only word (codex-rs/protocol/src/items.rs, 2026).
"""

from typing import Any, NamedTuple

from forsy_retrace.events import Change
from forsy_retrace.sdk import text_of

from .._patches import kept
from .results import Result, ended
from .units import Json, Unit


class Made(NamedTuple):
    """A call and what came of it."""

    ident: str
    tool: str
    where: str | None
    """Where the tool's name stands below the unit; None: the kind of the record tells it."""
    sent: Any
    path: str
    """Where the input stands below the unit."""
    found: Result
    changed: Any = None
    """The files of a patch, as the client keeps them."""

    @property
    def changes(self) -> tuple[Change, ...]:
        """What it did to files, if it did."""
        return tuple(kept(self.changed)) if self.found.outcome == "ok" else ()


HUMAN = "user_shell"
OTHERS = (HUMAN, "unified_exec_interaction")
"""Sources of a command that no call ran: a human did, or it is another look at one that runs."""


def made(unit: Unit) -> Made | None:
    """The call that an event tells whole; None for any other event."""
    match unit.body:
        case {"source": str(source)} | {"item": {"source": str(source)}} if source in OTHERS:
            return None
        case {"type": "item_completed", "item": {"id": str(ident)} as item}:
            return _item(unit, ident, item)
        case {"type": "exec_command_end", "call_id": str(ident), "command": list(parts)}:
            sent, path = line_of(parts, unit.body, "/command", "")
            found = ended(unit.body, unit.prefix)
            return Made(ident, "exec_command", None, sent, path, found)
        case {"type": "patch_apply_end", "call_id": str(ident), "changes": dict(files)}:
            found = ended(unit.body, unit.prefix)
            return Made(ident, "patch_apply", None, files, "/changes", found, files)
        case {"type": "view_image_tool_call", "call_id": str(ident), "path": str(sent)}:
            found = Result(None, unit.prefix, "ok", "picture-shown", unit.prefix)
            return Made(ident, "view_image", None, sent, "/path", found)
        case {
            "type": "mcp_tool_call_end",
            "call_id": str(ident),
            "invocation": {"server": str(server), "tool": str(tool)} as asked,
        }:
            sent, path = _given(asked, "/invocation")
            name = f"mcp__{server}__{tool}"
            return Made(ident, name, None, sent, path, ended(unit.body, unit.prefix))
    return None


def _item(unit: Unit, ident: str, item: Json) -> Made | None:
    base = f"{unit.prefix}/item"
    match item:
        case {"type": "CommandExecution", "command": list(parts)}:
            sent, path = line_of(parts, item, "/item/command", "/item")
            return Made(ident, "CommandExecution", "/item/type", sent, path, ended(item, base))
        case {"type": "FileChange", "changes": dict() | list() as files}:
            sent = files if isinstance(files, dict) else text_of(files)
            found = ended(item, base)
            return Made(ident, "FileChange", "/item/type", sent, "/item/changes", found, files)
        case {"type": "McpToolCall", "server": str(server), "tool": str(tool)}:
            sent, path = _given(item, "/item")
            return Made(ident, f"mcp__{server}__{tool}", None, sent, path, ended(item, base))
        case {"type": "ImageView", "path": str(sent)}:
            found = Result(None, base, "ok", "picture-shown", base)
            return Made(ident, "view_image", None, sent, "/item/path", found)
        case {"type": "DynamicToolCall", "tool": str(tool)}:
            sent, path = _given(item, "/item")
            return Made(ident, tool, "/item/tool", sent, path, ended(item, base))
    return None


def _given(holder: dict[Any, Any], above: str) -> tuple[Any, str]:
    sent = holder.get("arguments")
    return (sent, f"{above}/arguments") if isinstance(sent, (dict, str)) else (holder, above)


SHELLS = ("-c", "-lc", "-Command", "/c")
"""What stands before the line that a shell is given."""


def line_of(parts: list[Any], holder: Json, path: str, above: str) -> tuple[Any, str]:
    """A command: the shell's line where it is one, else the whole that holds its words."""
    if len(parts) in (3, 4) and parts[-2] in SHELLS and isinstance(parts[-1], str):
        return parts[-1], f"{path}/{len(parts) - 1}"
    return holder, above
