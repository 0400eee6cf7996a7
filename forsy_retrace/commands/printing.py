"""What of a line reaches who reads its output: pipelines that print, and files that take it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from forsy_retrace.commands import foreign, lexer, tree
from forsy_retrace.commands.model import Part
from forsy_retrace.commands.wrappers import found, program, unwrap
from forsy_retrace.patterns import later

_DEEPEST = 4
_LONGEST = 16 * 1024
"""Characters of a line that are read: a longer one carries data."""
_BODY = 4000
"""Characters of a here-document that are taken for a program."""
_SAYS = frozenset({"echo", "printf", "print", "Write-Output", "Write-Host", "cat"})
_POWERSHELL = later(
    r"\$env:|\[(?:System\.)?Environment\]::|\b(?:Get|Write|Select|Set|Where|ForEach)-[A-Z]\w"
)
_TAKES = frozenset({">", ">>", ">|", "&>", "&>>"})
"""Redirects of what a command prints."""
_INTERPRETERS = frozenset(
    {"python", "node", "ruby", "perl", "php", "psql", "mysql", "mariadb", "sqlite3", "duckdb"}
)
_SHOWN = frozenset({"/dev/stdout", "/dev/stderr", "/dev/tty"})
"""Files that whoever reads the output sees."""
_SET = later(r"\w{1,60}=[\"']?(?:\$\(|`)")
"""A variable that is set to what a command prints."""
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "ssh"})
"""Programs that run the lines of their here-document."""


class Pipeline(NamedTuple):
    """Commands of which each prints to the next: each as its words, without quotes and wrappers."""

    stages: tuple[str, ...]
    into: str
    """The file that takes what the last one prints; empty where it is printed."""


def pipelines(line: str) -> list[Pipeline]:
    """The pipelines of a line that print, or put what they print into a file.

    What a `$(…)` captures is not printed, unless `echo` is what it is handed to.
    """
    return list(_pipelines(_parts(line[:_LONGEST]), 0))


def poured(line: str) -> Iterator[tuple[str, str]]:
    """The files into which a line puts texts that it holds itself, each with its text."""
    for part in _parts(line[:_LONGEST]):
        into = next((target for mark, target in part.redirects if mark in _TAKES), "")
        here = next((target for mark, target in part.redirects if mark == "<<<"), "")
        if not into and part.words[:1] == ["tee"]:
            into = next((word for word in part.words[1:] if word[:1] != "-"), "")
        said = part.words[-1] if len(part.words) > 1 and part.words[0] in _SAYS else ""
        if into and (text := part.body or here or said):
            yield into, text


def _parts(line: str) -> list[Part]:
    if _POWERSHELL.search(line):
        return foreign.split(line, "cmd")  # all words of it, and no more, as they stand
    return tree.posix(line)


def _pipelines(parts: Sequence[Part], level: int) -> Iterator[Pipeline]:
    held: list[tuple[str, ...]] = []  # what prints into the command that comes
    kept: dict[str, str] = {}  # what a variable was set to, as the command that printed it
    for part in parts:
        if part.depth:
            continue  # captured
        for assign in filter(_SET.match, part.assigns):
            name, _, captured = assign.partition("=")
            kept[name] = captured
        words, line = unwrap(_of_find(tuple(part.words)))
        if part.body is not None and words and words[0] in _SHELLS:
            line = part.body[:_BODY]
        into = next((target for mark, target in part.redirects if mark in _TAKES), "")
        into = "" if into in _SHOWN else into
        if line is not None and level < _DEEPEST and not held:
            printed = list(_pipelines(_parts(line[:_LONGEST]), level + 1))
        else:
            text = _text(words, part)
            printed = [Pipeline((*one, text), "") for one in held or [()]]
            if words and words[0] in _SAYS and level < _DEEPEST:
                said = " ".join(kept.get(word.strip("${}"), word) for word in words)
                for printing in lexer.substitutions(f'"{said}"'):
                    printed += _pipelines(_parts(printing), level + 1)
        held = []
        for one in printed:
            if part.after == "|" and not into and not one.into:
                held.append(one.stages)
            else:
                yield one._replace(into=into or one.into)
    yield from (Pipeline(one, "") for one in held)


def _of_find(words: tuple[str, ...]) -> tuple[str, ...]:
    """What `find … -exec` runs, on what it looks for; any other command as it is."""
    if not (runs := found(words)):
        return words
    names = [then for word, then in pairwise(words) if word in ("-name", "-iname", "-path")]
    return tuple(names[0] if names and word == "{}" else word for word in runs)


def _text(words: Sequence[str], part: Part) -> str:
    """A command's words, what it reads, and the program that it is handed."""
    if words and (name := program(words[0])) != words[0]:
        words = (name, *words[1:])
    reads = [f"{mark} {target}" for mark, target in part.redirects if mark in ("<", "<<<")]
    body = part.body[:_BODY] if part.body and words and words[0] in _INTERPRETERS else ""
    return " ".join([*words, *reads, *([body] if body else [])])
