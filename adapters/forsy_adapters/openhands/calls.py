"""What the calls of OpenHands come to, in words that rules know."""

from typing import Any

from forsy_retrace.events import Meant

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
        case {"command": str(line), "is_input": is_input} if tool in SHELLS:
            if is_input is True or is_input == "true":
                return Meant("write_stdin", {"chars": line})
    return None
