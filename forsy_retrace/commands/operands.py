"""What the operands of a command are: each kind that a row may name, its meaning and its effect."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import takewhile
from typing import NamedTuple

import msgspec

from forsy_retrace.commands.model import Limits, Simple
from forsy_retrace.commands.options import EVERYTHING, NOWHERE, limits_of, method, values_of
from forsy_retrace.commands.queries import asks
from forsy_retrace.commands.scripts import run_script, script_called
from forsy_retrace.commands.table import Choice

_SPLIT = frozenset({"redis-cli", "valkey-cli", "etcdctl"})
"""Prompts of databases that take a query as words of the line."""
_NOWHERE_TO = frozenset({*NOWHERE, "-"})
_GIVES_PATTERN = frozenset({"-e", "-f", "--regexp", "--expression"})
_PROJECT = frozenset({"-p", "--project"})
_OUT = frozenset({"-o", "--output", "--outfile", "--out", "-O", "--output-document", "--dir"})


class Doing(msgspec.Struct, gc=False):
    """A command whose row is chosen, and what is known so far of what it does."""

    words: tuple[str, ...]
    operands: list[str]
    flags: list[str]
    piped: bool
    heredoc: bool
    name: str
    operation: str
    rule: str
    role: str
    limits: Limits
    reads: list[str] = []
    writes: list[str] = []
    urls: list[str] = []
    packages: list[str] = []
    looks_at: tuple[str, ...] | None = None


class Kind(NamedTuple):
    """What operands may be."""

    says: str
    tells: Callable[[Doing], None]


class Whole(NamedTuple):
    """Operands that decide by themselves what the whole command does."""

    says: str
    tells: Callable[[Choice, tuple[str, ...], list[str]], Simple]


def _reads(it: Doing) -> None:
    it.reads = it.operands


def _writes(it: Doing) -> None:
    it.writes = it.operands


def _copies(it: Doing) -> None:
    it.writes = [word for word in it.operands if word not in NOWHERE]
    if not it.writes:
        it.operation, it.role = "read", "view"  # `tee /dev/stderr` only shows


def _moves(it: Doing) -> None:
    it.reads, it.writes = it.operands[:-1], it.operands[-1:]


def _renames(it: Doing) -> None:
    it.reads, it.writes = it.operands[:-1], it.operands


def _behind_pattern(it: Doing) -> list[str]:
    return it.operands[_GIVES_PATTERN.isdisjoint(it.flags) :]


def _pattern(it: Doing) -> None:
    it.reads = _behind_pattern(it)


def _pattern_writes(it: Doing) -> None:
    it.operands = [word for word in it.operands if word]  # `sed -i '' s/a/b/ file` on a Mac
    it.writes = _behind_pattern(it)


def _where(it: Doing) -> None:
    it.reads = it.operands[:1]


def _urls(it: Doing) -> None:
    it.urls = [word for word in it.operands if "." in word or "/" in word or ":" in word]


def _clone(it: Doing) -> None:
    """The folder that is named, or the last part of the address."""
    # `gh` hands on what is behind a flag.
    named = list(takewhile(lambda word: word[:1] != "-", it.operands))
    if not named:
        it.writes = []
        return
    name = re.split(r"[/:\\]", named[0].rstrip("/"))[-1].removesuffix(".git")
    it.writes = named[1:2] or ([name] if name else [])


def _api(it: Doing) -> None:
    it.urls = it.operands[:1]
    if it.urls == ["graphql"] or method(it.words) == "GET":
        changes = any("mutation" in word for word in it.words)
        it.operation = "execute" if changes else "read"


def _packages(it: Doing) -> None:
    it.packages = [word for word in it.operands if word not in EVERYTHING]


def _out(it: Doing) -> None:
    it.writes = [*it.writes, *values_of(it.words, _OUT)]
    if it.operation == "download" and not it.writes and not _NOWHERE_TO.isdisjoint(it.words):
        it.operation = "read"  # `curl -o /dev/null`, `wget -O -`


def _inline(it: Doing) -> None:
    it.rule = "inline-program"
    if it.piped and not it.heredoc:
        it.role = "view"


def _inline_work(it: Doing) -> None:
    it.rule = "inline-program"


def _looks(it: Doing) -> None:
    if it.operands or not it.limits:
        named = [word for word in it.operands if word[:1] != "!"] or ["."]
        it.looks_at = tuple("." if word in EVERYTHING else word for word in named)


def _project(it: Doing) -> None:
    """The folder of a project that is named by it, or by the file that holds all of it."""
    if not it.limits:
        it.looks_at = (".",)
        return
    named = values_of(it.words, _PROJECT)
    if not named:
        return
    folder, _, name = named[0].rpartition("/")
    if name in ("tsconfig.json", "jsconfig.json"):
        it.looks_at = (folder or ".",)
    elif not name.endswith(".json"):
        it.looks_at = (named[0],)


def _sql(it: Doing) -> None:
    if it.name in _SPLIT:
        query = " ".join(it.operands)
    else:
        texts = [word for word in it.words[1:] if " " in word or word[:1] in "\\."]
        query = texts[-1] if texts else ""
    if not it.heredoc and asks(query):
        it.operation, it.role, it.rule = "read", "view", "sql-read"


def _program(choice: Choice, words: tuple[str, ...], operands: list[str]) -> Simple:
    """The program that an interpreter runs stands in `reads`, if before a `--`."""
    if not operands:
        return Simple(words, choice.label, "execute", choice.label)
    at = words.index(operands[0])
    if choice.row.name.split()[0] in ("bash", "python") and (script := run_script(words, at)):
        return script
    return Simple(
        words,
        choice.label,
        choice.row.operation,
        "run-program",
        choice.row.surface,
        reads=() if "--" in words[:at] else (operands[0],),
        role=choice.row.role,
    )


def _script(choice: Choice, words: tuple[str, ...], operands: list[str]) -> Simple:
    row = choice.row
    targets = [word for word in operands if "=" not in word]
    if not targets:
        return Simple(words, choice.label, row.operation, choice.label, check=row.check or None)
    script = script_called(targets[0])
    name = f"{choice.label} {targets[0]}"
    if script is None:
        return Simple(words, name, "execute", "script-name")
    rest = list(operands)
    rest.remove(targets[0])
    return Simple(
        words,
        name,
        script.operation,
        f"script:{script.words.split()[0]}",
        check=script.check or None,
        limits=limits_of(words, rest, script.check) if script.check else (),
        packages=tuple(rest) if script.operation == "install" else (),
        role=script.role,
    )


KINDS = {
    "reads": Kind(
        "files that it reads; where it is a `read`, it shows what stands in them", _reads
    ),
    "about": Kind("files that it tells of, without showing what stands in them", _reads),
    "writes": Kind("files that it writes, makes or removes", _writes),
    "copies": Kind("files that get a copy of what it is fed; without one it only shows", _copies),
    "moves": Kind("files that it reads, the last one written", _moves),
    "renames": Kind("files that it moves, all of them written", _renames),
    "pattern": Kind("a pattern first, then files that it reads", _pattern),
    "pattern-writes": Kind("a pattern first, then files that it rewrites", _pattern_writes),
    "where": Kind("the folder it looks in comes first", _where),
    "urls": Kind("addresses", _urls),
    "clone": Kind("an address, and the folder that it is cloned into", _clone),
    "api": Kind("an endpoint; `graphql` reads unless it holds a mutation", _api),
    "packages": Kind("packages", _packages),
    "out": Kind("the value of `-o`, `--output` … is a file that it writes", _out),
    "inline": Kind(
        "program text: rule `inline-program`; at the end of a pipe it is a viewer", _inline
    ),
    "inline-work": Kind("program text that acts even at the end of a pipe", _inline_work),
    "looks": Kind("files and folders that the check looks at; without one, where it runs", _looks),
    "project": Kind(
        "the value of `-p` is the folder of the project that the check looks at, or the "
        "`tsconfig.json` in it; without one, and without a file, it is where it runs",
        _project,
    ),
    "sql": Kind("a query: one that only asks is a `read`, rule `sql-read`", _sql),
}
WHOLES = {
    "program": Whole("a program to run, given by its file: rule `run-program`", _program),
    "script": Whole("the name of a script, target or task, which decides (below)", _script),
}
SHOWN = frozenset({"reads", "pattern"})
"""The kinds of operands whose contents a reading command prints."""
