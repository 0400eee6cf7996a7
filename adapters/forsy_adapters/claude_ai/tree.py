"""The messages of a conversation, tied to those that they answer.

Each names the one before it; exports before 2025 name none, and hold one line.
"""

from datetime import datetime
from typing import Any

from forsy_retrace.sdk import when, words

from .._trees import Node
from .._trees import in_time as _in_time

Json = dict[str, Any]

ROLES = {"human": "user", "assistant": "assistant"}
PARENT = "parent_message_uuid"


class Said(Node):
    """A message, and where it stands in the list."""

    def __init__(self, index: int, message: Json) -> None:
        self.index, self.message = index, message
        self.ident = words(message.get("uuid"))
        super().__init__(self.ident or f"#{index}")

    @property
    def role(self) -> str:
        return ROLES.get(words(self.message.get("sender")), "")

    @property
    def time(self) -> float | None:
        at = when(self.message.get("created_at"))
        return datetime.fromisoformat(at).timestamp() if at else None

    @property
    def is_said(self) -> bool:
        held = (self.message.get(key) for key in ("text", "content", "attachments", "files"))
        return any(isinstance(one, (str, list)) and one for one in held)

    @property
    def blocks(self) -> list[Any]:
        """What it is made of; exports before 2024-10 have its text alone."""
        content = self.message.get("content")
        return content if isinstance(content, list) else []


def in_time(messages: list[Any], current: Any) -> list[Said]:
    """Every message once, each behind the one it answers, lines in the order of their beginning."""
    found = [Said(index, one) for index, one in enumerate(messages) if isinstance(one, dict)]
    nodes = {node.key: node for node in reversed(found)}
    names_none = not any(PARENT in node.message for node in found)
    before: Said | None = None
    for node in found:
        if nodes[node.key] is not node:
            continue  # a copy
        above = before if names_none else nodes.get(words(node.message.get(PARENT)))
        node.parent = above if above is not node else None
        before = node
    kept = [node for node in found if nodes[node.key] is node]
    return _in_time(kept, nodes.get(words(current)))
