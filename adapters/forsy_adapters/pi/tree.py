"""What a file shows as a whole: branches, forks, whose brief it is, and ends of long commands."""

from collections.abc import Iterable
from typing import Any

from forsy_retrace.events import Origin, ToolResult
from forsy_retrace.sdk import number, order, when, words
from forsy_retrace.source import Record

from .._trees import Entry, grown
from .results import answer, ended

Json = dict[str, Any]

STOPS = ("kill", "clear", "remove")
"""What the agent may do to a command that runs on, besides looking at it and writing to it."""


def is_header(value: Any) -> bool:
    """Whether a session begins here: in Pi's own form, or as Hugging Face shows one."""
    match value:
        case {"type": "session", "id": str(), "timestamp": _, "cwd": str()}:
            return True
        case {"type": "session", "id": str(), "harness": str()}:
            return True
    return False


class Node(Entry):
    """An entry's place in the tree."""

    def __init__(self, place: int, value: Json, parent: "Node | None") -> None:
        super().__init__(parent)
        self.place = place
        self.ident = value["id"]
        self.is_aside = value.get("appendMode") == "side"
        """Whether it hangs on the line and does not go on with it."""
        message = value.get("message")
        self.role = message.get("role") if isinstance(message, dict) else None
        self.after: Node | None = (
            parent if parent is None or parent.role is not None else parent.after
        )
        """The message that it follows."""


class Survey:
    """What a file shows as a whole."""

    def __init__(self) -> None:
        self.ids: set[str] = set()
        self.copies: set[int] = set()
        self.branches: dict[int, str] = {}
        self.replaces: dict[int, str] = {}
        """A message's place to the earlier message that the user went back to and typed anew."""
        self.shared: dict[int, int] = {}
        """A header's place to the entries that a fork took over: older than the header."""
        self.briefed: set[int] = set()
        """The headers of subagents' sessions."""
        self.running: dict[str, str] = {}
        """Commands of OpenClaw that run on, by their names, and the call that ran each."""
        self.ends: dict[str, ToolResult] = {}
        """What a later call told of the end of such a command, by the call that ran it."""

    def runs_on(self, message: Any, here: Origin) -> None:
        """Joins a command that ran on with its end; one that the agent stopped has none."""
        match message:
            case {"role": "assistant", "content": list(blocks)}:
                for block in blocks:
                    match block:
                        case {"name": "process", "arguments": {"action": str(act), **sent}}:
                            if act in STOPS:
                                self.running.pop(words(sent.get("sessionId")), None)
            case {
                "role": "toolResult",
                "toolCallId": str(call),
                "details": {"sessionId": str(name), **told},
            }:
                if told.get("status") == "running" and message.get("toolName") != "process":
                    self.running[name] = call
                elif name in self.running and number(told.get("exitCode")) is not None:
                    output, where = answer(message, here)
                    end = ended({**message, "toolName": ""}, output or "", here)
                    first = self.running.pop(name)
                    self.ends[first] = ToolResult(where, first, output, *end)


def survey(records: Iterable[Record]) -> Survey:
    """Reads the entries once; holds the tree, and the ends of commands that ran on."""
    found = Survey()
    tree: dict[str, Node] = {}
    header, session, begun = 0, "", ""
    for place, record in enumerate(records):
        value = record.value
        if is_header(value):
            if value["id"] != session:
                _grown(found, list(tree.values()))
                tree, header, session = {}, place, value["id"]
                begun = when(value.get("timestamp")) or ""
                found.ids.add(session)
            continue
        if not isinstance(value, dict) or not isinstance(value.get("id"), str):
            continue
        if value["id"] in tree:
            found.copies.add(place)
            continue
        found.ids.add(value["id"])
        last = next(reversed(tree.values()), None)
        found.runs_on(value.get("message"), Origin(record.here))
        tree[value["id"]] = Node(place, value, _parent(value, tree, last))
        at = when(value.get("timestamp"))
        if at is not None and order(at) < order(begun):
            found.shared[header] = found.shared.get(header, 0) + 1
        if words(value.get("name")).startswith("subagent-") and value.get("type") == "session_info":
            found.briefed.add(header)
    _grown(found, list(tree.values()))
    return found


def _parent(value: Json, tree: dict[str, Node], last: Node | None) -> Node | None:
    """The entry that it names; where the file lacks that one, what stands before it.

    OpenClaw's `leaf` goes back to the entry that it aims at: what follows goes on from there.
    """
    key = "targetId" if value.get("type") == "leaf" and "targetId" in value else "parentId"
    if value.get(key) is None:
        return None if key in value else last
    above = tree.get(value[key]) if isinstance(value[key], str) else None
    return above if above is not None else last


def _grown(found: Survey, nodes: list[Node]) -> None:
    """Names the branches, and tells what the user typed anew."""
    grown(nodes, next((node for node in reversed(nodes) if not node.is_aside), None))
    begun: dict[Node | None, Node] = {}
    for node in nodes:
        if node.branch:
            found.branches[node.place] = node.branch
        if node.role == "user":
            if (earlier := begun.get(node.after)) is not None:
                found.replaces[node.place] = earlier.ident
            begun[node.after] = node
