"""Which events stand on lines of the conversation that were left.

Since 1.31 an event names the one before it, and the state the one that the conversation goes on
from; before, each stands behind the last.
"""

from typing import Any

from forsy_retrace.sdk import words

from .shapes import Json

ROOT = "__root__"
"""What an event names that begins anew."""


class Node:
    """An event's place in the tree."""

    def __init__(self, ident: str, above: "Node | None", is_user: bool) -> None:
        self.ident, self.above, self.is_user = ident, above, is_user
        self.is_visible = False
        self.goes_on = False
        """Whether a later event has taken its branch up."""
        self.branch = ""
        self.after: Node | None = above.after if above and not above.is_user else above
        """The nearest user's message above."""


class Tree:
    """The events of a conversation by their ids."""

    def __init__(self) -> None:
        self.nodes: dict[str, Node] = {}
        self.last: Node | None = None
        self.replaces: dict[str, str] = {}
        """A message to the earlier one that the user went back to."""
        self._first: dict[Node | None, Node] = {}

    def add(self, value: Json) -> None:
        """The next event of the log."""
        if value["id"] in self.nodes:
            return
        above = self._above(value.get("parent_id"))
        node = Node(
            value["id"], above, value["kind"] == "MessageEvent" and value["source"] == "user"
        )
        self.nodes[node.ident] = self.last = node
        if node.is_user:
            if (earlier := self._first.get(node.after)) is not None:
                self.replaces[node.ident] = earlier.ident
            self._first[node.after] = node

    def _above(self, named: Any) -> Node | None:
        if named == ROOT:
            return None
        return self.nodes.get(words(named), self.last)

    def grow(self, leaf: Any) -> None:
        """Names the branches: the line that ends in the leaf, or in the last event, is visible."""
        here = self.nodes.get(words(leaf), self.last)
        while here is not None:
            here.is_visible, here = True, here.above
        count = 0
        for node in self.nodes.values():
            if node.is_visible:
                continue
            if node.above is not None and node.above.branch and not node.above.goes_on:
                node.branch, node.above.goes_on = node.above.branch, True
            else:
                count += 1
                node.branch = f"b{count}"

    def branch(self, ident: str) -> str:
        """The branch of an event that the conversation left; empty on the visible one."""
        return self.nodes[ident].branch if ident in self.nodes else ""
