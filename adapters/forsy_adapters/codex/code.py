"""Code mode, from 0.14x on: the model sends JavaScript, and the code calls the tools.

A rollout keeps the code and what it printed; of the calls that it made, older files keep no more
than the patches. So a call is read from the code, where nothing there leaves open whether it is
made or with what: it stands in no branch, loop or function, and its argument is spelled out.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from forsy_retrace.events import Meant
from forsy_retrace.sdk import later

from .spelled import Spelled, called, text_of

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

CALLED = "tools."
MOST = 100_000
"""Letters of code that are looked at."""
DEEPEST = 200
"""Brackets within brackets."""
COMMENTS = 200
BRACKET = later(r"[](){}[]")
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
        "class_body",
        "labeled_statement",
    ]
)
"""What may make a call often, later or never, as functions may."""
FUNCTIONS = frozenset(
    [
        "arrow_function",
        "function_expression",
        "function_declaration",
        "generator_function",
        "generator_function_declaration",
        "method_definition",
    ]
)
CHOOSES = frozenset(["&&", "||", "??", "&&=", "||=", "??="])
"""Signs of which what stands behind them may not be reached."""
HOLDER = "tools"
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
    if not isinstance(code, str) or CALLED not in code or not _is_borne(code):
        return []
    tree = _parser().parse(code.encode("utf-8", "surrogatepass"))
    spelled, found, ends = Spelled(), list[Meant](), False
    named = made = 0
    try:
        for node, is_open, is_inside in _nodes(tree.root_node):
            spelled.take(node, is_open)
            named += node.type == "identifier" and text_of(node) == HOLDER
            ends = ends or (not is_inside and _ends(node))
            if tool := called(node).removeprefix(AGENTS):
                made += 1
                sent = node.child_by_field_name("arguments")
                given = sent.named_children if sent is not None else []
                if tool == WAITS and _is_silent(given, spelled):
                    continue
                if is_open or ends:
                    return []
                found.append(Meant(tool, spelled.value(given[0]) if given else {}))
    except ValueError:
        return []
    return found if named == made else []  # otherwise tools are called in another way too


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


def _is_silent(given: list[Node], spelled: Spelled) -> bool:
    """Whether a call only waits for a command of the same code: it says nothing to it."""
    pairs = [child for one in given[:1] for child in one.named_children]
    held = {text_of(one.child_by_field_name("key")): one for one in pairs}
    if "session_id" not in held:
        return False
    try:
        said = spelled.pair(held["chars"])[1] if "chars" in held else ""
    except ValueError:
        return False
    try:
        spelled.pair(held["session_id"])
    except ValueError:
        return not said
    return False


def _is_borne(code: str) -> bool:
    """Whether the parser bears it: deep nesting exhausts its stack, open comments its time."""
    if len(code) > MOST or code.count("/*") > COMMENTS:
        return False
    depth = 0
    for bracket in BRACKET.findall(code):
        depth += 1 if bracket in "([{" else -1
        if depth > DEEPEST:
            return False
    return True


def _nodes(root: Node) -> Iterator[tuple[Node, bool, bool]]:
    """The nodes in the order of the code: whether each may not be reached, or is of a function."""
    waiting = [(root, False, False)]
    while waiting:
        node, is_open, is_inside = waiting.pop()
        yield node, is_open, is_inside
        is_inside = is_inside or node.type in FUNCTIONS
        is_open = is_open or is_inside or node.type in OPEN or _chooses(node)
        waiting += ((child, is_open, is_inside) for child in reversed(node.named_children))


def _chooses(node: Node) -> bool:
    if node.type not in ("binary_expression", "augmented_assignment_expression"):
        return False
    return text_of(node.child_by_field_name("operator")) in CHOOSES


def _ends(node: Node) -> bool:
    """Whether the code may end here."""
    if node.type in ("return_statement", "throw_statement"):
        return True
    function = node.child_by_field_name("function") if node.type == "call_expression" else None
    return function is not None and function.type == "identifier" and text_of(function) == "exit"
