"""What Cursor's logs share: what its tools work like, and who turns a call down."""

from typing import Any

from forsy_retrace.events import Meant
from forsy_retrace.sdk import Known, later

from ._patches import deletes

TOOLS: dict[str, Known] = {
    "Shell": "bash",
    "ReadFile": "Read",
    "StrReplace": "Edit",
    "EditNotebook": "Edit",
    "rg": "Grep",
    "SemanticSearch": "Grep",
    "Subagent": "Task",
    "AskQuestion": "AskUserQuestion",
}
"""The tools by the names that the agent knows them by, and what they work like."""
NOBODY = later(r"(?i)headless|unavailable|not allowed|policy|sandbox")
"""Why a call was turned down, where no person did."""


def meant(tool: str, sent: Any) -> Meant | None:
    """The call that rules take a call for; None for one that they know as it is."""
    match tool, sent:
        case "Write", {"path": str(path), "contents": str(text)}:
            return Meant("Write", {"file_path": path, "content": text})
        case "EditNotebook", {"target_notebook": str(path), "new_string": str(new), **rest}:
            return Meant(
                "Edit", {"file_path": path, "old_string": rest.get("old_string"), "new_string": new}
            )
        case "Delete", {"path": str(path)} if "\n" not in path:
            return deletes(path)
        case "CallMcpTool", {"server": str(server), "toolName": str(name), **rest}:
            return Meant(f"mcp__{server}__{name}", rest.get("arguments"))
    return None
