"""ToolBench's `tree`: the calls of every line that a search tried, of which it kept one."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from forsy_retrace.events import Skipped

from .place import Json, Place, Told, text_in
from .verdicts import result, verdict

OTHER = "a call on another line of the search"
Calls = list[tuple[str, str]]


class Node(NamedTuple):
    """A call in the tree: its value and place, its tool, and the call before it on its line."""

    value: Json
    here: Place
    tool: str
    before: "Node | None"

    def line(self) -> list["Node"]:
        """The calls from the root to this one."""
        found, node = [self], self.before
        while node is not None:
            found.append(node)
            node = node.before
        return found[::-1]


def searched(tree: Any, run: Any, here: Place) -> Iterator[Told]:
    """What came of the last call of a run, and the calls that are not on its line.

    Nothing where no line of the tree holds the calls of the run.
    """
    kept = [call for message in run if (call := _asked(message))] if isinstance(run, list) else []
    nodes = list(_nodes(tree, here))
    ends = (node for node in nodes if kept and _call(node) == kept[-1])
    line = next((line for end in ends if [*map(_call, line := end.line())] == kept), None)
    if line is None:
        return
    end, told = line[-1], {node.here.pointer for node in line}
    if isinstance(end.value.get("observation"), str):
        yield _result(end)
    for node in nodes:
        if node.here.pointer not in told:
            yield Told(None, Skipped(node.here.origin("system"), OTHER))


def _asked(message: Any) -> tuple[str, str] | None:
    match message:
        case {"function_call": {"name": str(name), "arguments": str(sent)}}:
            return name, sent.strip()
    return None


def _call(node: Node) -> tuple[str, str]:
    return node.tool, text_in(node.value, "description").strip()


def _nodes(tree: Any, here: Place) -> Iterator[Node]:
    """The calls of a tree, in the order in which the search made them."""
    waiting: list[tuple[Any, Place, str, Node | None]] = [(tree, here, "", None)]
    while waiting:
        value, place, tool, before = waiting.pop()
        if not isinstance(value, dict):
            continue
        kind = value.get("node_type")
        if kind == "Action":
            tool = text_in(value, "description")
        elif kind == "Action Input" and tool:
            before = Node(value, place, tool, before)
            yield before
            tool = ""
        children = value.get("children")
        for index, child in reversed(
            list(enumerate(children if isinstance(children, list) else ()))
        ):
            waiting.append((child, place.deeper("children", index), tool, before))


def _result(node: Node) -> Told:
    text, where = node.value["observation"], node.here.deeper("observation")
    found = verdict(node.value, node.here.pointer, "observation")
    event = result(where.origin(), "", text, found)
    return Told(("result", "", text.strip()), event, node.tool)
