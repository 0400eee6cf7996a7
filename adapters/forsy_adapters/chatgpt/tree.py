"""The nodes of a conversation, as ChatGPT's exports have them.

Nodes name their parent; their children are named in most exports only. The visible line ends at
`current_node`. Where a program wrote the nodes without either, they are one line.
"""

from itertools import pairwise
from typing import Any

from .._trees import Node as Place
from .._trees import in_time as _in_time
from .words import said

Json = dict[str, Any]


class Node(Place):
    """A node of the mapping, with its message."""

    def __init__(self, key: str, value: Json) -> None:
        super().__init__(key)
        self.value = value
        message = value.get("message")
        self.message: Json = message if isinstance(message, dict) else {}

    @property
    def role(self) -> str:
        author = self.message.get("author")
        role = author.get("role") if isinstance(author, dict) else None
        return role if isinstance(role, str) else ""

    @property
    def time(self) -> float | None:
        # A system message may carry the time at which the conversation was last opened.
        return None if self.role == "system" else self.written

    @property
    def written(self) -> float | None:
        """The time that the message carries."""
        value = self.message.get("create_time")
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        return float(value) if abs(value) < 1e15 else None

    @property
    def metadata(self) -> Json:
        found = self.message.get("metadata")
        return found if isinstance(found, dict) else {}

    @property
    def content(self) -> Any:
        return self.message.get("content")

    @property
    def content_path(self) -> str:
        """Where the content stands in the message; where there is none, the message itself."""
        return "" if self.content is None else "/content"

    @property
    def is_hidden(self) -> bool:
        return self.metadata.get("is_visually_hidden_from_conversation") is True

    @property
    def is_said(self) -> bool:
        """Whether somebody saw it: words or a call, not hidden."""
        return self.role in ("user", "assistant") and not self.is_hidden and self.is_heard

    @property
    def is_heard(self) -> bool:
        """Whether the message holds anything: words, pictures, thoughts, a call."""
        found = said(self.content, "")
        thoughts = self.content.get("thoughts") if isinstance(self.content, dict) else None
        return bool(found.text.strip() or found.attachments or thoughts)


def in_time(mapping: Json, current: Any) -> list[Node]:
    """Every node once, parents first, lines in the order in which they were begun."""
    nodes = {key: Node(key, value) for key, value in mapping.items() if isinstance(value, dict)}
    tie = _tie if any(map(_names_another, nodes.values())) else _line_up
    tie(nodes)
    end = nodes.get(current) if isinstance(current, str) else None
    return _in_time(list(nodes.values()), end)


def _tie(nodes: dict[str, Node]) -> None:
    """Ties nodes to the parent that they name, or that names them, and ranks them there."""
    places: dict[str, dict[str, int]] = {}
    claimed: dict[str, str] = {}
    for key, node in nodes.items():
        places[key] = {child: at for at, child in enumerate(_named(node))}
        for child in places[key]:
            claimed.setdefault(child, key)
    for key, node in nodes.items():
        said = node.value.get("parent", node.metadata.get("parent_id"))
        above = said if isinstance(said, str) and said in nodes else claimed.get(key)
        if above is None or above == key:
            continue
        node.parent, named = nodes[above], places[above]
        node.rank = named.get(key, len(named)), node.written or 0.0


def _names_another(node: Node) -> bool:
    """Whether a node says where it stands, if only that it stands below none."""
    return not {"parent", "children"}.isdisjoint(node.value) or "parent_id" in node.metadata


def _line_up(nodes: dict[str, Node]) -> None:
    """One line of nodes that programs wrote without their ties: by their times, or as listed."""
    listed = list(nodes.values())
    times = [node.written for node in listed]
    if None not in times:
        listed.sort(key=lambda node: node.written or 0.0)
    for above, node in pairwise(listed):
        node.parent, node.rank = above, (0, 0.0)


def _named(node: Node) -> list[str]:
    children = node.value.get("children")
    return [one for one in children if isinstance(one, str)] if isinstance(children, list) else []


def is_one_of_several(node: Node) -> bool:
    """Whether an answer, from its first message on, was shown side by side with another."""
    here: Node | None = node
    while here is not None and here.role != "user":
        if here.metadata.get("paragen_variants_info"):
            return True
        here = here.children[-1] if here.children else None
    return False
