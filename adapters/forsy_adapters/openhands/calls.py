"""What the calls of OpenHands come to, in words that rules know."""

from typing import Any

from forsy_retrace.events import Meant
from forsy_retrace.sdk import words

EDITORS = ("file_editor", "str_replace_editor", "planning_file_editor", "edit")
COMMANDS = {
    "view": "Read",
    "create": "Write",
    "str_replace": "Edit",
    "insert": "Edit",
    "undo_edit": "Edit",
}
"""What the commands of the editor work like."""
STARTS = ("delegate", "delegate_to_browsing_agent")
"""Tools that hand over to subagents, and may do more than that."""
SHELLS = ("terminal", "execute_bash", "run", "bash")


def meant(tool: str, sent: Any, shows_folder: bool) -> Meant | None:
    """What a call comes to; None where its tool's name says it all."""
    match sent:
        case {"command": "delegate", "tasks": dict()} | {"agent": str(), "inputs": _} if (
            tool in STARTS
        ):
            return Meant("Task", sent)
        case {"command": str(command)} if tool in EDITORS and command in COMMANDS:
            return Meant("LS" if shows_folder else COMMANDS[command], sent)
        case {"offset": int(skipped)} if tool == "read_file":
            return Meant("Read", {**sent, "offset": skipped + 1})
        case {"command": str(line), "is_input": is_input} if tool in SHELLS:
            if is_input is True or is_input == "true":
                return Meant("write_stdin", {"chars": line})
    return None


def served(tool: str, sent: Any) -> Meant:
    """A call of a tool of an MCP server, which the log does not name."""
    return Meant(f"mcp____{tool}", sent)


def closing(tool: str, sent: Any, args: dict[str, Any]) -> Meant | None:
    """The words with which an agent ends its work, where what was sent does not hold them."""
    if tool != "finish" or (isinstance(sent, dict) and words(sent.get("message"))):
        return None
    said = words(args.get("final_thought"), args.get("thought"))
    return Meant("finish", {"message": said}) if said else None
