"""The spans of a session in one another: in which order they began and ended, and who acted."""

from collections.abc import Iterator
from typing import NamedTuple

from forsy_retrace.sdk import subagent

from .names import AGENT, TOOL, Kind, kind_of
from .spans import Span

MAIN = "agent"
SCOPES: tuple[Kind, ...] = ("agent", "tool")


class Node:
    """A span, with the span around it."""

    def __init__(self, span: Span) -> None:
        self.span = span
        self.kind: Kind = kind_of(span)
        self.above: Node | None = None
        self.below: list[Node] = []
        self.models: list[Node] = []
        """The models asked within it, and within no agent or tool inside of it."""
        self.actor = ""
        self.told_below = False
        """Whether a span within it failed, which tells why this one did."""

        self.scope: Node | None = None
        """The nearest agent or tool around it."""
        self.around: Node | None = None
        """The nearest model, agent or tool around it."""

    @property
    def asks(self) -> bool:
        """Whether a model is asked within it."""
        return bool(self.models)

    @property
    def repeats(self) -> bool:
        """Whether the span around it tells the same: a library's below a framework's."""
        around = self.around
        if around is None or around.kind != self.kind or around.asks:
            return False
        return self.kind == "model" or (self.kind == "tool" and self.tool == around.tool)

    @property
    def tool(self) -> str:
        return self.span.text(TOOL)

    def place(self) -> None:
        """Takes over what the span around it knows, which was placed before it."""
        above = self.above
        if above is None:
            return
        self.scope = above if above.kind in SCOPES else above.scope
        self.around = above if above.kind else above.around


class Moment(NamedTuple):
    """A span begins or ends."""

    node: Node
    begins: bool


class Tree:
    """All spans of a session."""

    def __init__(self, spans: list[Span]) -> None:
        self.nodes = [Node(span) for span in spans]
        self.known: dict[tuple[str, str], Node] = {}
        """The nodes by their spans; of one that was sent before its end too, the whole one's."""
        for node in self.nodes:
            first = self.known.setdefault(node.span.name_of, node)
            if first.span.ended is None and node.span.ended is not None:
                self.known[node.span.name_of] = node
        self.roots: list[Node] = []
        for node in self.nodes:
            above = self.known.get((node.span.trace, node.span.parent))
            if above is None or above is node:
                self.roots.append(node)
            else:
                node.above = above
                above.below.append(node)
        self._unwind()
        downwards = list(self._down(self.roots))
        for node in downwards:
            node.place()
        for node in reversed(downwards):
            if node.above is not None and (node.span.failed or node.told_below):
                node.above.told_below = True
        for node in self.nodes:
            if node.kind == "model" and (scope := node.scope) is not None:
                scope.models.append(node)
        self.agents = 0

    def _unwind(self) -> None:
        """Spans that are around themselves are around nothing."""
        reached = {id(node) for node in self._down(self.roots)}
        for node in self.nodes:
            if id(node) not in reached:
                if node.above is not None:
                    node.above.below.remove(node)
                    node.above = None
                self.roots.append(node)
                reached.update(id(one) for one in self._down([node]))

    @staticmethod
    def _down(nodes: list[Node]) -> Iterator[Node]:
        held = list(nodes)
        while held:
            node = held.pop()
            yield node
            held.extend(node.below)

    def moments(self) -> list[Moment]:
        """Every begin and end in the order of time; where that is one, as the spans are nested."""
        found: list[tuple[int, Moment]] = []
        stack = [(node, True) for node in reversed(_in_time(self.roots))]
        now: dict[int, int] = {}
        while stack:
            node, begins = stack.pop()
            before = now.get(id(node.above), 0)
            began = before if node.span.began is None else node.span.began
            now[id(node)] = began
            if begins:
                found.append((began, Moment(node, True)))
                stack.append((node, False))
                stack.extend((one, True) for one in reversed(_in_time(node.below)))
            else:
                found.append((max(began, node.span.ended or 0), Moment(node, False)))
        return [moment for _, moment in sorted(found, key=lambda item: item[0])]

    def actor(self, node: Node) -> str:
        """Who acts in a span: an agent that a tool runs, or another agent, is a subagent."""
        scope = node.scope
        while scope is not None and scope.kind == "tool" and not scope.asks:
            scope = scope.scope
        if scope is None:
            return MAIN
        return self.actor_in(scope)

    def actor_in(self, scope: Node) -> str:
        """Who acts in an agent's span, or in a tool's that asks a model."""
        if not scope.actor and not _is_below_another(scope):
            scope.actor = MAIN
        elif not scope.actor:
            self.agents += 1
            scope.actor = subagent(_name(scope), self.agents)
        return scope.actor

    @staticmethod
    def runner(node: Node) -> Node | None:
        """The tool in which a span's agent runs."""
        scope = node.scope
        while scope is not None and scope.kind != "tool":
            scope = scope.scope
        return scope


def _is_below_another(scope: Node) -> bool:
    """Whether it is a tool that asks a model, or an agent in a tool or below one that asks too."""
    if scope.kind == "tool":
        return True
    above = scope.scope
    while above is not None:
        if above.kind == "tool" or above.asks:
            return True
        above = above.scope
    return False


def _name(scope: Node) -> str:
    return scope.span.text(TOOL if scope.kind == "tool" else AGENT) or scope.span.name


def _in_time(nodes: list[Node]) -> list[Node]:
    """By their begin; what has none goes on from what stands before it."""
    at, keys = 0, []
    for index, node in enumerate(nodes):
        at = at if node.span.began is None else node.span.began
        keys.append((at, index, node))
    return [node for _, _, node in sorted(keys, key=lambda item: item[:2])]
