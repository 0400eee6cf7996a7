"""The tree of a conversation as a line of nodes in time, each with the branch that it lies on.

Nodes name their parent; their children are named in most exports only. The visible line ends at
`current_node`, or at the newest message where none is named; whatever hangs elsewhere was edited,
regenerated or left behind.
"""

import heapq
from collections.abc import Iterator
from typing import Any

from .words import said

Json = dict[str, Any]


class Node:
    """A node of the mapping: its message, its neighbours, and where it came in time."""

    def __init__(self, key: str, value: Json) -> None:
        self.key, self.value = key, value
        message = value.get("message")
        self.message: Json = message if isinstance(message, dict) else {}
        self.parent: Node | None = None
        self.children: list[Node] = []
        self.branch = ""
        self.visible = False
        self.instead_of: Node | None = None
        """The first message of the earlier line that this one was written in place of."""
        self.place = 0
        self.moment = 0.0
        self.first_said: Node | None = None
        self.is_looked_through = False
        self.said_above: Node | None = None
        self.is_looked_above = False

    @property
    def role(self) -> str:
        author = self.message.get("author")
        role = author.get("role") if isinstance(author, dict) else None
        return role if isinstance(role, str) else ""

    @property
    def time(self) -> float | None:
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

    def above(self) -> Iterator["Node"]:
        """The nodes on the way to the root, nearest first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent


def in_time(mapping: Json, current: Any) -> list[Node]:
    """Every node once, parents first, lines in the order in which they were begun."""
    nodes = {key: Node(key, value) for key, value in mapping.items() if isinstance(value, dict)}
    roots = _grow(nodes)
    _date(roots)
    _show(nodes.get(current) if isinstance(current, str) else None, roots)
    order = list(_walk(roots))
    _name_branches(order)
    return order


def _grow(nodes: dict[str, Node]) -> list[Node]:
    """Ties nodes to their parents, cuts circles, puts siblings in order; gives the roots."""
    claimed: dict[str, str] = {}
    for key, node in nodes.items():
        for child in _named(node):
            claimed.setdefault(child, key)
    for key, node in nodes.items():
        said = node.value.get("parent", node.metadata.get("parent_id"))
        above = said if isinstance(said, str) and said in nodes else claimed.get(key)
        node.parent = nodes[above] if above is not None and above != key else None
    sound: set[str] = set()
    for node in nodes.values():
        path: dict[str, Node] = {}
        here: Node | None = node
        while here is not None and here.key not in sound:
            if here.key in path:
                here.parent = None  # a circle: it is cut where it was first met
                break
            path[here.key] = here
            here = here.parent
        sound.update(path)
    for node in nodes.values():
        if node.parent is not None:
            node.parent.children.append(node)
    for node in nodes.values():
        named = {child: place for place, child in enumerate(_named(node))}
        last = len(named)
        node.children.sort(key=lambda one: (named.get(one.key, last), one.time or 0.0))
    return [node for node in nodes.values() if node.parent is None]


def _named(node: Node) -> list[str]:
    children = node.value.get("children")
    return [one for one in children if isinstance(one, str)] if isinstance(children, list) else []


def _date(roots: list[Node]) -> None:
    """Gives each node its place in the tree and its moment: its time, else that of its parent."""
    place = 0
    stack = roots[::-1]
    while stack:
        node = stack.pop()
        node.place, place = place, place + 1
        before = node.parent.moment if node.parent is not None else 0.0
        # A system message may carry the time at which the conversation was last opened.
        node.moment = before if node.time is None or node.role == "system" else node.time
        stack.extend(node.children[::-1])


def _show(current: Node | None, roots: list[Node]) -> None:
    """Marks the visible line: the one through the current node, else the one that came last.

    Parts that hang on nothing have a visible line of their own.
    """
    if current is not None:
        _mark(_newest(current))
    for root in roots:
        if not root.visible:
            _mark(_newest(root))


def _newest(start: Node) -> Node:
    """The end of the line below a node that came last; of equals the last child's."""
    found = start
    stack = [start]
    while stack:
        node = stack.pop()
        if not node.children and (found is start or node.moment >= found.moment):
            found = node
        stack.extend(node.children[::-1])
    return found


def _mark(end: Node) -> None:
    node: Node | None = end
    while node is not None:
        node.visible = True
        node = node.parent


def _walk(roots: list[Node]) -> Iterator[Node]:
    """Lines by the time of their first message; a turn is never cut in two by another line."""
    waiting = [(root.moment, root.place, root) for root in roots]
    heapq.heapify(waiting)
    while waiting:
        node = heapq.heappop(waiting)[2]
        yield node
        while len(node.children) == 1 and node.children[0].role != "user":
            node = node.children[0]
            yield node
        for child in node.children:
            heapq.heappush(waiting, (child.moment, child.place, child))


def _name_branches(order: list[Node]) -> None:
    """Gives each line off the visible one a name, and each later sibling the one it replaces."""
    count = 0
    begun: dict[str, Node] = {}
    for node in order:
        above = node.parent
        if above is None:
            continue
        if not node.visible:
            goes_on = above.branch and node is above.children[-1]
            if not goes_on:
                count += 1
            node.branch = above.branch if goes_on else f"b{count}"
        if len(above.children) > 1:
            first = _first_said(node)
            earlier = begun.get(above.key)
            if first is not None:
                if earlier is not None and earlier.role == first.role:
                    first.instead_of = earlier
                begun[above.key] = first


def _first_said(node: Node) -> Node | None:
    """The first message of a line that somebody saw, behind hidden nodes and empty ones."""
    passed: list[Node] = []
    here: Node | None = node
    while here is not None and not here.is_looked_through:
        passed.append(here)
        if here.is_said:
            here.first_said = here
        here.is_looked_through = True
        if here.first_said is not None:
            break
        here = here.children[-1] if here.children else None
    found = here.first_said if here is not None else None
    for one in passed:
        one.first_said = found
    return found


def said_above(node: Node) -> Node | None:
    """The nearest message on the way to the root that somebody saw."""
    passed: list[Node] = []
    here = node.parent
    while here is not None and not here.is_looked_above and not here.is_said:
        passed.append(here)
        here = here.parent
    found = here
    if here is not None and here.is_looked_above:
        found = here.said_above
    for one in passed:
        one.said_above, one.is_looked_above = found, True
    return found


def is_one_of_several(node: Node) -> bool:
    """Whether an answer, from its first message on, was shown side by side with another."""
    here: Node | None = node
    while here is not None and here.role != "user":
        if here.metadata.get("paragen_variants_info"):
            return True
        here = here.children[-1] if here.children else None
    return False
