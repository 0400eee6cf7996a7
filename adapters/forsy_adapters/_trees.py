"""A conversation that is a tree, as a line of messages in time, each with the branch it lies on.

What was edited or asked again stays beside what came in its place. The visible line ends at the
message that the log names, or at the newest; whatever hangs elsewhere was left behind.
"""

import heapq
from collections.abc import Iterable, Iterator, Sequence
from typing import Self, TypeVar


class Node:
    """A message: its neighbours, and where it came in time. What it says, a format tells."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.parent: Self | None = None
        self.children: list[Self] = []
        self.rank: tuple[float, ...] = ()
        """Where it stands among its siblings, which else stand as the log has them."""
        self.branch = ""
        self.visible = False
        self.instead_of: Self | None = None
        """The first message of the earlier line that this one was written in place of."""
        self.place = 0
        self.moment = 0.0
        self.first_said: Self | None = None
        self.is_looked_through = False
        self.said_above: Self | None = None
        self.is_looked_above = False

    @property
    def role(self) -> str:
        """`user`, `assistant`, or another."""
        raise NotImplementedError

    @property
    def time(self) -> float | None:
        """When it was said, in seconds; None where the log has no time that tells."""
        raise NotImplementedError

    @property
    def is_said(self) -> bool:
        """Whether somebody saw it: words or a call, not hidden."""
        raise NotImplementedError

    def above(self) -> Iterator[Self]:
        """The nodes on the way to the root, nearest first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent


N = TypeVar("N", bound=Node)


def in_time(nodes: Sequence[N], current: N | None) -> list[N]:
    """Every node once, parents first, lines in the order in which they were begun.

    The nodes' parents are set, and may go in circles.
    """
    _cut_circles(nodes)
    for node in nodes:
        if node.parent is not None:
            node.parent.children.append(node)
    for node in nodes:
        node.children.sort(key=lambda one: one.rank)
    roots = [node for node in nodes if node.parent is None]
    _date(roots)
    _show(current, roots)
    order = list(_walk(roots))
    _name_branches(order)
    return order


def _cut_circles(nodes: Iterable[N]) -> None:
    sound: set[str] = set()
    for node in nodes:
        path: dict[str, N] = {}
        here: N | None = node
        while here is not None and here.key not in sound:
            if here.key in path:
                here.parent = None  # a circle: it is cut where it was first met
                break
            path[here.key] = here
            here = here.parent
        sound.update(path)


def _date(roots: Sequence[N]) -> None:
    """Gives each node its place in the tree and its moment: its time, else that of its parent."""
    place = 0
    stack = list(roots[::-1])
    while stack:
        node = stack.pop()
        node.place, place = place, place + 1
        before = node.parent.moment if node.parent is not None else 0.0
        node.moment = before if node.time is None else node.time
        stack.extend(node.children[::-1])


def _show(current: N | None, roots: Iterable[N]) -> None:
    """Marks the visible line: the one through the current node, else the one that came last.

    Parts that hang on nothing have a visible line of their own.
    """
    if current is not None:
        _mark(_newest(current))
    for root in roots:
        if not root.visible:
            _mark(_newest(root))


def _newest(start: N) -> N:
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


def _walk(roots: Iterable[N]) -> Iterator[N]:
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


def _name_branches(order: Iterable[N]) -> None:
    """Gives each line off the visible one a name, and each later sibling the one it replaces."""
    count = 0
    begun: dict[str, N] = {}
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


def _first_said(node: N) -> N | None:
    """The first message of a line that somebody saw, behind hidden nodes and empty ones."""
    passed: list[N] = []
    here: N | None = node
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


def said_above(node: N) -> N | None:
    """The nearest message on the way to the root that somebody saw."""
    passed: list[N] = []
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


def departures(order: Iterable[N]) -> Iterator[tuple[N, bool]]:
    """Each node of a line in time, and whether it goes on elsewhere than at the one before it."""
    last: N | None = None
    for node in order:
        above = node.parent
        yield node, above is not last or (above is not None and above.branch != node.branch)
        last = node


class Entry:
    """An entry of a log that only grows, and names the one before it."""

    def __init__(self, parent: Self | None) -> None:
        self.parent = parent
        self.branch = ""
        self.visible = False
        self.goes_on = False
        """Whether a later entry has taken its branch up."""


E = TypeVar("E", bound=Entry)


def grown(entries: Sequence[E], end: E | None = None) -> None:
    """Names the branches: the line that ends there, or in the last entry, is the visible one."""
    here: Entry | None = end if end is not None else entries[-1] if entries else None
    while here is not None:
        here.visible, here = True, here.parent
    count = 0
    for entry in entries:
        above = entry.parent
        if entry.visible:
            continue
        if above is not None and above.branch and not above.goes_on:
            entry.branch, above.goes_on = above.branch, True
        else:
            count += 1
            entry.branch = f"b{count}"
