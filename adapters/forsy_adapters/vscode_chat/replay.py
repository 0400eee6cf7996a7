"""What a log's operations leave of the session, each value with the line that set it.

A push cuts the list at `i`, if it names that, and extends it: a request that was edited, and all
behind it, go so. They were done all the same, and stay here as a line that the user left.
"""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.sdk import number, pointer
from forsy_retrace.source import Evidence, Record

Json = dict[str, Any]

WHOLE, SET, PUSH, DELETE = 0, 1, 2, 3
SETUP = "setup.agent"
"""Who answers for the client as long as Copilot is not there."""
NOWHERE = Evidence("", 0, 0, 0)
UNFIT = "an operation that fits nothing"
REASONS = {"inputState": "state of the input box", "requests": "state of a request"}
"""What an operation is about that tells nothing, and why it is left out."""


class Node:
    """A value, and the record and the pointer where it stands. Nothing is a node too: None."""

    def __init__(self, here: Evidence = NOWHERE, value: Any = None) -> None:
        self.here = here
        self.held = value
        self.parts: dict[str, Node] | list[Node] | None = None
        """What stands below, as soon as somebody asked."""
        self.is_changed = False
        """Whether an operation set something below."""

    def below(self) -> "dict[str, Node] | list[Node]":
        """What stands below: nothing where it is a text or a number."""
        if self.parts is None:
            match self.held:
                case dict() as some:
                    self.parts = {key: self._child(key, one) for key, one in some.items()}
                case list() as some:
                    self.parts = [self._child(at, one) for at, one in enumerate(some)]
                case _:
                    return []
        return self.parts

    def _child(self, key: str | int, value: Any) -> "Node":
        return Node(self.here.at(self.here.pointer + pointer(key)), value)

    def get(self, *keys: str | int) -> "Node":
        """What the keys lead to."""
        node = self
        for key in keys:
            match node.below(), key:
                case dict() as some, str():
                    node = some.get(key, NOTHING)
                case list() as some, int() if 0 <= key < len(some):
                    node = some[key]
                case _:
                    return NOTHING
        return node

    def items(self) -> "list[Node]":
        """The nodes of a list; none of anything else."""
        below = self.below()
        return below if isinstance(below, list) else []

    def pairs(self) -> "Iterator[tuple[str, Node]]":
        """The keys and nodes of an object."""
        below = self.below()
        yield from below.items() if isinstance(below, dict) else ()

    @property
    def value(self) -> Any:
        """The value as all operations left it."""
        if not self.is_changed:
            return self.held
        if isinstance(self.parts, dict):
            return {key: one.value for key, one in self.parts.items()}
        return [one.value for one in self.parts or ()]

    @property
    def text(self) -> str:
        """The text that it is, or none."""
        return self.held if isinstance(self.held, str) else ""

    @property
    def number(self) -> int | None:
        """The whole number that it is."""
        return number(self.held)


NOTHING = Node()


class Turn:
    """A request, and what the user did with it later."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.branch = ""
        self.replaces: Turn | None = None

    @property
    def ident(self) -> str:
        return self.node.get("requestId").text


def _words(turn: Turn) -> str:
    return turn.node.get("message", "text").text


def _handed_on(turn: Turn) -> str | None:
    """What a request says that the client sent again by itself, as soon as Copilot was there."""
    return _words(turn) if turn.node.get("agent", "id").text == SETUP else None


class Operations:
    """The session as far as the operations have come."""

    def __init__(self) -> None:
        self.root = NOTHING
        self.turns: list[Turn] = []
        """Every request in the order in which they came."""
        self.now: list[Turn] = []
        """Those that the session has now."""
        self.left = 0

    def apply(self, record: Record) -> str:
        """Why a record could not be applied."""
        value, here = record.value, record.here
        match value:
            case {"kind": 0, "v": dict(whole)}:
                self.root = Node(here.at("/v"), whole)
                self._replaced(0, self.root.get("requests").items())
            case {"kind": 1 | 3, "k": list(keys)} if keys:
                set_to = Node(here.at("/v"), value.get("v"))
                return self._set(keys, NOTHING if value["kind"] == DELETE else set_to)
            case {"kind": 2, "k": list(keys)} if keys:
                added = Node(here.at("/v"), value.get("v")).items()
                return self._push(keys, added, number(value.get("i")), here)
            case {"requests": list()} if self.root is NOTHING:
                self.root = Node(here, value)
                self._replaced(0, self.root.get("requests").items())
            case _:
                return "not an operation on a session"
        return ""

    def _above(self, keys: list[Any]) -> Node | None:
        """The node that an operation changes something of; all above it are changed as well."""
        path = [self.root]
        for key in keys[:-1]:
            path.append(path[-1].get(key) if isinstance(key, str | int) else NOTHING)
        if path[-1] is NOTHING or not isinstance(path[-1].held, dict | list):
            return None
        for node in path:
            node.below()
            node.is_changed = True
        return path[-1]

    def _set(self, keys: list[Any], node: Node) -> str:
        above = self._above(keys)
        match above.parts if above else None, keys[-1]:
            case dict() as some, str(key):
                some[key] = node
            case list() as some, int(key) if 0 <= key <= len(some):
                some[key : key + 1] = [node]
            case _:
                return UNFIT
        match keys:
            case ["requests"]:
                self._replaced(0, node.items())
            case ["requests", int(at)]:
                rest = self.root.get("requests").items()[at:]
                self._replaced(at, rest)
        return ""

    def _push(self, keys: list[Any], added: list[Node], cut: int | None, here: Evidence) -> str:
        above = self._above(keys)
        key = keys[-1]
        if above is None or not isinstance(key, str | int):
            return UNFIT
        held = above.get(key)
        if not isinstance(held.held, list):
            if self._set(keys, Node(here.at("/v"), [])):
                return UNFIT
            held = above.get(key)
        some = held.below()
        if not isinstance(some, list):
            return UNFIT
        held.is_changed = True
        if cut is not None:
            del some[max(cut, 0) :]
        at = len(some)
        some.extend(added)
        if keys == ["requests"]:
            self._replaced(at, added)
        return ""

    def _replaced(self, at: int, nodes: list[Node]) -> None:
        """Requests from a place on were replaced by these."""
        gone, self.now = self.now[at:], self.now[:at]
        again = {one.ident: one for one in gone if one.ident}
        new = []
        for node in nodes:
            ident = node.get("requestId").text
            if ident in again:
                turn = again.pop(ident)
                turn.node = node
                gone.remove(turn)
            else:
                turn = Turn(node)
                self.turns.append(turn)
                new.append(turn)
            self.now.append(turn)
        if gone and [_handed_on(one) for one in gone] == [_words(one) for one in new[:1]]:
            self.turns.remove(gone[0])
        elif gone:
            self.left += 1
            for turn in gone:
                turn.branch = f"b{self.left}"
            for turn in new[:1]:
                turn.replaces = gone[0]

    def reason(self, record: Record, live: set[tuple[str, int, int]]) -> str:
        """Why an operation is left out that told nothing."""
        if record.here.record not in live:
            return "superseded by a later operation"
        match record.value:
            case {"k": [str(about), *_]}:
                return REASONS.get(about, "state of the session")
        return "state of the session"

    def live(self) -> set[tuple[str, int, int]]:
        """The records of which something is left."""
        waiting = [self.root, *(turn.node for turn in self.turns)]
        found = set()
        while waiting:
            node = waiting.pop()
            found.add(node.here.record)
            if node.is_changed:
                waiting.extend(
                    node.parts.values() if isinstance(node.parts, dict) else node.parts or ()
                )
        return found
