"""What expressions of JavaScript stand for, where the code spells it out.

A name stands for what it was bound to until the code may have changed it. What all values of one
piece of code come to is bounded: a name that is doubled again and again fills no memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forsy_retrace.sdk import later

if TYPE_CHECKING:
    from tree_sitter import Node

DEEPEST = 40
MOST = 2_000_000
"""Letters and values that the values of one piece of code may come to."""
LITERALS = {"true": True, "false": False, "null": None, "undefined": None}
LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
CODED = later(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\})")


class Spelled:
    """What the names of one piece of code stand for, kept up to date as its nodes pass by."""

    def __init__(self) -> None:
        self.names: dict[str, tuple[Any, int]] = {}
        """What a name stands for, and what that comes to."""
        self.spent = 0
        self.bound: set[str] = set()
        """Names that were bound once: bound again, in another block, they may stand for either."""
        self.shared: list[str] = []
        """Names of the lists and objects that the value at hand holds."""

    def take(self, node: Node, is_open: bool) -> None:
        """Takes in what a node does to names; `is_open` where it may not be reached."""
        match node.type:
            case "variable_declarator":
                self._bind(node, is_open)
            case "assignment_expression" | "augmented_assignment_expression" | "for_in_statement":
                self._forget(node.child_by_field_name("left"))
            case "update_expression":
                self._forget(node.child_by_field_name("argument"))
            case "array_pattern" | "object_pattern" | "pair_pattern" | "assignment_pattern":
                for child in node.named_children:
                    self._forget(child)
            case "call_expression" if not called(node):
                self._lend(node)

    def _bind(self, node: Node, is_open: bool) -> None:
        """Remembers what a name stands for, where it is spelled out."""
        name = node.child_by_field_name("name")
        given = node.child_by_field_name("value")
        if name is None or name.type != "identifier":
            return
        is_new = text_of(name) not in self.bound
        self.bound.add(text_of(name))
        self.names.pop(text_of(name), None)
        if given is None or is_open or not is_new:
            return
        before, self.shared = self.spent, []
        try:
            value = self.value(given)
        except ValueError:
            return
        if not self.shared:
            self.names[text_of(name)] = value, self.spent - before
        for other in self.shared:
            self.names.pop(other, None)  # changed under one name, it is under both

    def _forget(self, node: Node | None) -> None:
        """What is written to here, or into, is no longer known."""
        self.names.pop(_root(node), None)

    def _lend(self, call: Node) -> None:
        """A call may change the list or the object that it is made of or is given."""
        function, given = (
            call.child_by_field_name("function"),
            call.child_by_field_name("arguments"),
        )
        lent = given.named_children if given is not None else []
        if function is not None and function.type == "member_expression" and not _joins(function):
            lent = [function, *lent]
        for name in map(_root, lent):
            if name in self.names and isinstance(self.names[name][0], list | dict):
                del self.names[name]

    def value(self, node: Node, depth: int = 0) -> Any:
        """What an expression stands for; ValueError where it isn't spelled out."""
        if depth > DEEPEST:
            raise ValueError("nested too deeply")
        self._spend(1)
        inner = [child for child in node.named_children if child.type != "comment"]
        match node.type:
            case "string" | "template_string":
                text = "".join(map(_piece, inner))
                self._spend(len(text))
                return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            case "number":
                return _number(text_of(node))
            case "true" | "false" | "null" | "undefined":
                return LITERALS[node.type]
            case "identifier" | "shorthand_property_identifier":
                return self._named(text_of(node))
            case "object":
                return dict(self.pair(child, depth) for child in inner)
            case "array":
                return [self.value(child, depth + 1) for child in inner]
            case "parenthesized_expression" if len(inner) == 1:
                return self.value(inner[0], depth + 1)
            case "binary_expression" if text_of(node.child_by_field_name("operator")) == "+":
                left, right = (self.value(child, depth + 1) for child in inner)
                if isinstance(left, str) and isinstance(right, str):
                    return left + right
            case "call_expression":
                return self._computed(node, depth)
        raise ValueError("not spelled out")

    def _spend(self, size: int) -> None:
        self.spent += size
        if self.spent > MOST:
            raise ValueError("comes to too much")

    def _named(self, name: str) -> Any:
        if name not in self.names:
            raise ValueError("not spelled out")
        value, size = self.names[name]
        self._spend(size)
        if isinstance(value, list | dict):
            self.shared.append(name)
        return value

    def pair(self, node: Node, depth: int = 0) -> tuple[str, Any]:
        """A member of an object: its name, and what it stands for."""
        if node.type == "shorthand_property_identifier":
            return text_of(node), self.value(node, depth + 1)
        key, given = node.child_by_field_name("key"), node.child_by_field_name("value")
        if key is None or given is None or key.type not in ("property_identifier", "string"):
            raise ValueError("not spelled out")
        name = text_of(key) if key.type == "property_identifier" else self.value(key, depth + 1)
        return name, self.value(given, depth + 1)

    def _computed(self, node: Node, depth: int) -> str:
        """A text that is spelled out in another way: raw, or as lines that are joined."""
        function, given = (
            node.child_by_field_name("function"),
            node.child_by_field_name("arguments"),
        )
        if function is None or given is None or function.type != "member_expression":
            raise ValueError("not spelled out")
        holder = function.child_by_field_name("object")
        if given.type == "template_string":
            if text_of(function) != "String.raw" or any(
                child.type == "template_substitution" for child in given.named_children
            ):
                raise ValueError("not spelled out")
            text = text_of(given)[1:-1]
            self._spend(len(text))
            return text
        if holder is not None and _joins(function):
            shared = [*self.shared]
            lines, joint = self.value(holder, depth + 1), given.named_children
            self.shared = shared
            between = self.value(joint[0], depth + 1) if joint else ","
            if isinstance(lines, list) and all(isinstance(one, str) for one in (*lines, between)):
                self._spend(len(lines) * len(between))
                return str(between).join(lines)
        raise ValueError("not spelled out")


NAMES = ("identifier", "shorthand_property_identifier_pattern")


def _root(node: Node | None) -> str:
    """The name that an expression like `name.part[0]` begins with."""
    while node is not None and node.type in ("member_expression", "subscript_expression"):
        node = node.child_by_field_name("object")
    return text_of(node) if node is not None and node.type in NAMES else ""


def called(node: Node) -> str:
    """The tool that a call expression calls; empty for everything else."""
    function = node.child_by_field_name("function") if node.type == "call_expression" else None
    if function is None or function.type != "member_expression":
        return ""
    holder = function.child_by_field_name("object")
    if holder is None or holder.type != "identifier" or text_of(holder) != "tools":
        return ""
    return text_of(function.child_by_field_name("property"))


def _joins(function: Node) -> bool:
    return text_of(function.child_by_field_name("property")) == "join"


def _number(text: str) -> float:
    number = float(text) if "." in text else int(text, 0)
    if number in (float("inf"), float("-inf")):
        raise ValueError("no number of JSON")
    return number


def _piece(node: Node) -> str:
    """A part of a text between quotes."""
    text = text_of(node)
    if node.type == "string_fragment":
        return text
    if node.type != "escape_sequence":
        raise ValueError("not spelled out")
    if coded := CODED.match(text):
        return chr(int(coded[1] or coded[2] or coded[3], 16))
    return "" if text[1:] in ("\n", "\r\n") else LETTERS.get(text[1:], text[1:])


def text_of(node: Node | None) -> str:
    return "" if node is None or node.text is None else node.text.decode("utf-8", "surrogatepass")
