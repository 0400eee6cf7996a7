"""Code mode, from 0.14x on: the model sends JavaScript, and the code calls the tools.

A rollout keeps the code and what it printed; of the calls that it made, older files keep no more
than the patches. So a call is read from the code, where nothing there leaves open whether it is
made or with what: it stands in no branch, loop or function, and its argument is spelled out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from forsy_retrace.events import Meant
from forsy_retrace.sdk import later

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

CALLED = "tools."
MOST = 400_000
"""Letters of code that are looked at."""
DEEPEST = 40
OPEN = frozenset(
    [
        "if_statement",
        "for_statement",
        "for_in_statement",
        "while_statement",
        "do_statement",
        "switch_statement",
        "ternary_expression",
        "catch_clause",
        "arrow_function",
        "function_expression",
        "function_declaration",
        "generator_function",
        "generator_function_declaration",
        "method_definition",
    ]
)
"""What may make a call often, later or never."""
AGENTS = "collaboration__"
"""The name space of the tools for subagents, which a call outside code has beside its name."""
SHELL = "exec_command"
STATUS = later(r"-?\d{1,6}(?!\d)")
PLANS = "update_plan"
"""The tool that code calls beside what it is for."""
SHOWN = later(
    r"`(?:\\n){0,3}([^`$\\]{0,60})\$\{\s{0,4}\w{1,40}\??\.exit_code\s{0,4}\}"
    r"([^`$\\]{0,60})(`|\$|\\)"
)
ADDED = later(
    r"text\(\s{0,4}[\"']([^\"'\\\n]{0,60})[\"']\s{0,4}\+\s{0,4}\w{1,40}\.exit_code\s{0,4}\)"
)
"""How code shows the exit status of a command: in a template, or behind words of its own."""
WAITS = "write_stdin"
"""The tool that writes to a command which runs on, or only looks at it."""
PLACE = ("workdir", "shell", "login")
"""Arguments that have to be the same for two commands to be lines of one script."""
LITERALS = {"true": True, "false": False, "null": None, "undefined": None}
LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
CODED = later(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\})")


def joined(found: list[Meant]) -> Meant | None:
    """What some calls come to: the only one, or commands that are lines of one script."""
    found = [one for one in found if one.tool != PLANS] or found
    if len(found) == 1:
        return found[0]
    lines = [one.input["cmd"] for one in found if _is_line(one)]
    if not lines or len(lines) < len(found):
        return None
    first, *rest = (tuple(one.input.get(name) for name in PLACE) for one in found)
    if any(other != first for other in rest):
        return None
    return Meant(SHELL, {**found[0].input, "cmd": "\n".join(lines)})


def _is_line(one: Meant) -> bool:
    return (
        one.tool == SHELL and isinstance(one.input, dict) and isinstance(one.input.get("cmd"), str)
    )


@lru_cache(maxsize=1)
def _parser() -> Parser:
    import tree_sitter_javascript
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_javascript.language()))


def calls(code: Any) -> list[Meant]:
    """The calls of tools in order; none where one of them may be made otherwise than it reads."""
    if not isinstance(code, str) or CALLED not in code or len(code) > MOST:
        return []
    tree = _parser().parse(code.encode("utf-8", "surrogatepass"))
    names: dict[str, Any] = {}
    found: list[Meant] = []
    try:
        for node, is_open in _nodes(tree.root_node):
            if node.type == "variable_declarator":
                _bind(node, {} if is_open else names)
            elif node.type in ("assignment_expression", "augmented_assignment_expression"):
                names.pop(_text(node.child_by_field_name("left")), None)
            elif tool := _called(node):
                sent = node.child_by_field_name("arguments")
                given = sent.named_children if sent is not None else []
                if tool == WAITS and _is_silent(given, names):
                    continue
                if is_open:
                    return []
                found.append(Meant(tool, _value(given[0], names) if given else {}))
    except ValueError:
        return []
    return found


def status_in(code: str, part: str) -> int | None:
    """The exit status that code shows in a part of its output, by the words around it."""
    if ".exit_code" not in code[:MOST]:
        return None
    around = [(one[1], one[2], one[3] == "`") for one in SHOWN.finditer(code, 0, MOST)]
    around += [(one[1], "", True) for one in ADDED.finditer(code, 0, MOST)]
    part = part.lstrip("\n")
    for before, after, ends in around:
        digits = STATUS.match(part, len(before)) if part.startswith(before) else None
        if digits is None or not part.startswith(after, digits.end()):
            continue
        if not ends or len(part) == digits.end() + len(after):
            return int(digits[0])
    return None


def _nodes(root: Node) -> Iterator[tuple[Node, bool]]:
    """The nodes in the order of the code, and whether each stands where it may not be reached."""
    waiting = [(root, False)]
    while waiting:
        node, is_open = waiting.pop()
        yield node, is_open
        is_open = is_open or node.type in OPEN
        waiting += ((child, is_open) for child in reversed(node.named_children))


def _called(node: Node) -> str:
    """The tool that a call expression calls; empty for everything else."""
    function = node.child_by_field_name("function") if node.type == "call_expression" else None
    if function is None or function.type != "member_expression":
        return ""
    if _text(function.child_by_field_name("object")) != "tools":
        return ""
    return _text(function.child_by_field_name("property")).removeprefix(AGENTS)


def _is_silent(given: list[Node], names: Mapping[str, Any]) -> bool:
    """Whether a call only waits for a command of the same code: it says nothing to it."""
    pairs = [child for one in given[:1] for child in one.named_children]
    held = {_text(one.child_by_field_name("key")): one for one in pairs}
    if "session_id" not in held:
        return False
    try:
        words = _pair(held["chars"], names, 0)[1] if "chars" in held else ""
    except ValueError:
        return False
    try:
        _pair(held["session_id"], names, 0)
    except ValueError:
        return not words
    return False


def _bind(node: Node, names: dict[str, Any]) -> None:
    """Remembers what a name stands for, where it is spelled out."""
    name = _text(node.child_by_field_name("name"))
    given = node.child_by_field_name("value")
    names.pop(name, None)  # bound once more, it may stand for something else
    try:
        if given is not None:
            names[name] = _value(given, names)
    except ValueError:
        return


def _value(node: Node, names: Mapping[str, Any], depth: int = 0) -> Any:
    """What an expression stands for; ValueError where it isn't spelled out."""
    if depth > DEEPEST:
        raise ValueError("nested too deeply")
    inner = [child for child in node.named_children if child.type != "comment"]
    match node.type:
        case "string" | "template_string":
            text = "".join(map(_piece, inner))
            return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case "number":
            return float(_text(node)) if "." in _text(node) else int(_text(node), 0)
        case "true" | "false" | "null" | "undefined":
            return LITERALS[node.type]
        case "identifier" | "shorthand_property_identifier" if _text(node) in names:
            return names[_text(node)]
        case "object":
            return dict(_pair(child, names, depth) for child in inner)
        case "array":
            return [_value(child, names, depth + 1) for child in inner]
        case "parenthesized_expression" if len(inner) == 1:
            return _value(inner[0], names, depth + 1)
        case "binary_expression" if _text(node.child_by_field_name("operator")) == "+":
            left, right = (_value(child, names, depth + 1) for child in inner)
            if isinstance(left, str) and isinstance(right, str):
                return left + right
        case "call_expression":
            return _computed(node, names, depth)
    raise ValueError("not spelled out")


def _pair(node: Node, names: Mapping[str, Any], depth: int) -> tuple[str, Any]:
    if node.type == "shorthand_property_identifier":
        return _text(node), _value(node, names, depth + 1)
    key, given = node.child_by_field_name("key"), node.child_by_field_name("value")
    if key is None or given is None or key.type not in ("property_identifier", "string"):
        raise ValueError("not spelled out")
    name = _text(key) if key.type == "property_identifier" else _value(key, names, depth + 1)
    return name, _value(given, names, depth + 1)


def _computed(node: Node, names: Mapping[str, Any], depth: int) -> str:
    """A text that is spelled out in another way: raw, or as lines that are joined."""
    function, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None or given is None:
        raise ValueError("not spelled out")
    if _text(function) == "String.raw" and given.type == "template_string":
        if any(child.type == "template_substitution" for child in given.named_children):
            raise ValueError("not spelled out")
        return _text(given)[1:-1]
    holder = function.child_by_field_name("object")
    if holder is not None and _text(function.child_by_field_name("property")) == "join":
        lines, joint = _value(holder, names, depth + 1), given.named_children
        between = _value(joint[0], names, depth + 1) if joint else ","
        if isinstance(lines, list) and all(isinstance(one, str) for one in (*lines, between)):
            return str(between).join(lines)
    raise ValueError("not spelled out")


def _piece(node: Node) -> str:
    """A part of a text between quotes."""
    text = _text(node)
    if node.type == "string_fragment":
        return text
    if node.type != "escape_sequence":
        raise ValueError("not spelled out")
    if coded := CODED.match(text):
        return chr(int(coded[1] or coded[2] or coded[3], 16))
    return "" if text[1:] in ("\n", "\r\n") else LETTERS.get(text[1:], text[1:])


def _text(node: Node | None) -> str:
    return "" if node is None or node.text is None else node.text.decode("utf-8", "surrogatepass")
