"""Splits any shell line into its simple commands by the grammar of bash (tree-sitter)."""

from __future__ import annotations

import re
import shlex
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

import msgspec
from msgspec.structs import replace

from forsy_retrace.commands import lexer
from forsy_retrace.commands.lexer import unquote
from forsy_retrace.commands.model import Part
from forsy_retrace.patterns import later

_DEEPEST = 60  # deeper nesting is no shell that anyone wrote, and would exhaust the stack
_LONGEST = 8192
"""Past so many characters a line is judged by its head: for some marks the grammar's scanner reads
to the end of the text, again at each."""
_BLOCKS = {
    "for_statement": "loop",
    "c_style_for_statement": "loop",
    "while_statement": "loop",
    "if_statement": "branch",
    "case_statement": "branch",
    "function_definition": "function",
    "negated_command": "not",
}
_MANY = 200
"""Rounds, or commands, of a line past which a loop is taken but once."""
_VARIABLE = later(r"\$(?:(\w+)|\{(\w+)\})")
_PLAIN = bytes(range(128)) + b"x" * 128
"""The grammar's scanner looks letters up in a table of 256, whatever they are, and reads beyond it
for others: it only gets ASCII. Each byte stands where it stood."""
_JOINTS = frozenset({"&&", "||", "|", "|&", ";", "&", "\n", ";;"})


@lru_cache(maxsize=1)
def _parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def posix(line: str) -> list[Part]:
    """The simple commands of a line in order; by the grammar only where the lexer can't tell."""
    parts = lexer.split(line)
    return split(line) if parts is None else parts


def split(line: str) -> list[Part]:
    """The simple commands of a line in order; one of all its words where nothing parses."""
    if len(line) > _LONGEST:
        head = line[:_LONGEST]
        parts = split(head[: head.rfind("\n") + 1] or head)
        return [replace(part, literal=False) for part in parts]  # one text is cut
    return _Splitter(line).parts or _by_words(line)


def _by_words(line: str) -> list[Part]:
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        words = line.split()
    return [Part(words, [], [])] if words else []


class _Redirected(msgspec.Struct):
    """What stands behind a command: its redirects, and its here-document."""

    redirects: list[tuple[str, str]] = []
    body: str | None = None
    quoted: bool = False
    dashed: bool = False
    rest: list[Any] = []
    """Nodes: of `cat <<EOF | sort && next` all behind the mark hangs there."""

    @property
    def literal(self) -> bool:
        """Whether the text goes on as it stands."""
        return self.quoted and not self.dashed


class _Splitter:
    """One line and the commands found in it so far."""

    def __init__(self, line: str) -> None:
        self.source = line.encode("utf-8", "replace")
        self.parts: list[Part] = []
        self.bound: dict[str, str] = {}
        """What the variables of loops stand for in the round at hand."""
        self.rounds = 0
        tree = _parser().parse(self.source.translate(_PLAIN))
        self._walk(tree.root_node, 0, "", 0)

    def _walk(self, node: Node, depth: int, block: str, level: int) -> None:
        """Adds the simple commands under a node; `depth` counts substitutions, `level` nodes."""
        if level > _DEEPEST:
            return
        kind = node.type
        if kind in _JOINTS:
            self._join(depth, kind)
            return
        match kind:
            case "command" | "declaration_command" | "unset_command" | "test_command":
                self._command(node, depth, block, level)
            case "variable_assignment" | "variable_assignments":
                self._inside(node, depth, level)
                self.parts.append(Part([], [], [self._word(node)], "", depth, block))
            case "redirected_statement":
                self._redirected(node, depth, block, level)
            case "command_substitution" | "process_substitution":
                for child in node.named_children:
                    self._walk(child, depth + 1, block, level + 1)
            case "heredoc_body" | "comment" | "string" | "raw_string":
                self._inside(node, depth, level)
            case "for_statement":
                self._loop(node, depth, level)
            case _:
                self._statement(node, depth, _BLOCKS.get(kind, block), level)

    def _loop(self, node: Node, depth: int, level: int) -> None:
        """Walks a loop, once for each word if its line tells them: in place of the variable."""
        values = [self._word(value) for value in node.children_by_field_name("value")]
        variable = node.child_by_field_name("variable")
        name = self._text(variable) if variable else ""
        body = self._text(node)
        is_used = re.search(rf"\$\{{?{re.escape(name)}\b", body) is not None
        is_kept = name != "" and re.search(rf"\b{re.escape(name)}\+?=", body) is None
        outer = self.bound
        for value in values if is_used and is_kept and lexer.tells_rounds(values) else ("",):
            self.bound = {**outer, name: value} if value else outer
            self._statement(node, depth, "loop", level)
            self.rounds += 1
            if self.rounds > _MANY or len(self.parts) > _MANY:
                break
        self.bound = outer

    def _word(self, node: Node) -> str:
        """A word as its command receives it, with what the loops around it put into it."""
        raw = self._text(node)
        word = unquote(raw)
        return self._filled(word) if self.bound and raw[:1] != "'" else word

    def _filled(self, text: str) -> str:
        return _VARIABLE.sub(lambda found: self.bound.get(found[1] or found[2], found[0]), text)

    def _statement(self, node: Node, depth: int, block: str, level: int) -> None:
        """Walks a list, a pipeline, a loop …; a loop's or branch's condition is marked as one."""
        condition = block
        if node.type in ("if_statement", "elif_clause", "while_statement"):
            condition = "condition"
        in_condition = True
        for child in node.children:
            if child.type in ("then", "do_group", "do"):
                in_condition = False
            self._walk(child, depth, condition if in_condition else block, level + 1)

    def _join(self, depth: int, kind: str) -> None:
        for part in reversed(self.parts):
            if part.depth == depth:
                part.after = {"|&": "|", "\n": ";", ";;": ";"}.get(kind, kind)
                return

    def _command(self, node: Node, depth: int, block: str, level: int) -> None:
        words: list[str] = []
        assigns: list[str] = []
        redirects: list[tuple[str, str]] = []
        if node.type == "test_command":
            # The grammar takes the test apart as an expression; its words are enough here.
            self._inside(node, depth, level + 1)
            words = self._filled(self._text(node)).split()
            self.parts.append(Part(words, [], [], "", depth, block))
            return
        for child in node.children:
            match child.type:
                case "variable_assignment" if node.type == "command":
                    assigns.append(self._word(child))
                case "file_redirect" | "herestring_redirect":
                    redirects.extend(self._redirect(child))
                case _:
                    words.append(self._word(child))
            self._inside(child, depth, level + 1)
        self.parts.append(Part(words, redirects, assigns, "", depth, block))

    def _redirected(self, node: Node, depth: int, block: str, level: int) -> None:
        before = len(self.parts)
        found = _Redirected()
        shared = False
        for child in node.children:
            match child.type:
                case "file_redirect" | "herestring_redirect":
                    found.redirects.extend(self._redirect(child))
                    self._inside(child, depth, level + 1)
                case "heredoc_redirect":
                    self._heredoc(child, found, depth, level)
                case kind:
                    shared = kind in ("compound_statement", "subshell")
                    self._walk(child, depth, block, level + 1)
        own = [part for part in self.parts[before:] if part.depth == depth]
        if own:
            own[-1].redirects.extend(found.redirects)
            own[-1].body, own[-1].literal = found.body, found.literal
            own[-1].shared = own[-1].shared or shared
        else:
            self.parts.append(Part([], found.redirects, [], "", depth, block, found.body))
        for piece in found.rest:
            if piece.type == "pipeline":
                self._join(depth, "|")
            self._walk(piece, depth, block, level + 1)

    def _heredoc(self, node: Node, found: _Redirected, depth: int, level: int) -> None:
        for piece in node.children:
            match piece.type:
                case "heredoc_body":
                    found.body = self._text(piece)
                    self._inside(piece, depth, level + 1)
                case "file_redirect":
                    found.redirects.extend(self._redirect(piece))
                case "heredoc_start":
                    found.quoted = self._text(piece)[:1] in ("'", '"', "\\")
                case "<<-":
                    found.dashed = True
                case "heredoc_end" | "<<":
                    continue
                case _:
                    found.rest.append(piece)

    def _redirect(self, node: Node) -> list[tuple[str, str]]:
        descriptor, operator, raw, end = "", "", "", -1
        for child in node.children:
            match child.type:
                case "file_descriptor":
                    descriptor = self._text(child)
                case kind if not child.is_named and not operator:
                    operator = kind
                case _:  # the grammar cuts some words of several variables in two
                    raw = raw + self._text(child) if child.start_byte == end else self._text(child)
                    end = child.end_byte
        return [(("" if descriptor == "1" else descriptor) + operator, self._filled(unquote(raw)))]

    def _inside(self, node: Node, depth: int, level: int) -> None:
        """Adds the commands of the substitutions anywhere inside a word."""
        if level > _DEEPEST or not node.children:
            return
        if node.type in ("command_substitution", "process_substitution"):
            self._walk(node, depth, "", level + 1)
            return
        for child in node.children:
            self._inside(child, depth, level + 1)

    def _text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")
