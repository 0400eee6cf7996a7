"""Which records are a session's, and which of them stand on lines that were left."""

from typing import Any

from forsy_retrace.sdk import words
from forsy_retrace.source import Source

from .._trees import Entry, grown

TYPES = ("user", "assistant", "tool_result", "system")
SYSTEM = (
    *("ui_telemetry", "attribution_snapshot", "slash_command", "at_command"),
    *("rewind", "custom_title", "chat_compression"),
)
"""What the client writes of its own."""


def is_record(value: Any) -> bool:
    match value:
        case {"uuid": str(), "sessionId": str(), "type": str(kind)}:
            return kind in TYPES
    return False


def is_ours(value: Any) -> bool:
    match value:
        case {"uuid": str(), "sessionId": str(), "type": "user" | "assistant" | "tool_result"}:
            message = value.get("message")
            return isinstance(message, dict) and isinstance(message.get("parts"), list)
        case {"uuid": str(), "sessionId": str(), "type": "system", "subtype": str(kind)}:
            return kind in SYSTEM and "systemPayload" in value
    return False


class Node(Entry):
    """A record's place in the tree."""

    def __init__(self, number: int, above: "Node | None", is_user: bool, ident: str) -> None:
        super().__init__(above)
        self.number, self.is_user, self.ident = number, is_user, ident

    def before(self) -> "Node | None":
        """The nearest human's message above."""
        one = self.parent
        while one is not None and not one.is_user:
            one = one.parent
        return one


class Tree:
    """What a file shows as a whole: which records stand on lines that were left."""

    def __init__(self, source: Source) -> None:
        self.copies: set[int] = set()
        self.branches: dict[int, str] = {}
        self.replaces: dict[int, str] = {}
        """A message to the earlier one that the user went back to."""
        nodes: dict[str, Node] = {}
        for number, record in enumerate(source.records()):
            value = record.value
            if not is_record(value):
                continue
            if value["uuid"] in nodes:
                self.copies.add(number)
                continue
            above = nodes.get(words(value.get("parentUuid")))
            is_user = value["type"] == "user" and not value.get("subtype")
            nodes[value["uuid"]] = Node(number, above, is_user, value["uuid"])
        self._name(list(nodes.values()))

    def _name(self, nodes: list[Node]) -> None:
        grown(nodes)
        first: dict[Node | None, Node] = {}
        for node in nodes:
            if node.branch:
                self.branches[node.number] = node.branch
            if node.is_user:
                if (earlier := first.get(node.before())) is not None:
                    self.replaces[node.number] = earlier.ident
                first[node.before()] = node
