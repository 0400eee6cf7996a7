"""Turns a row of the table and the words of a command into what it does to which targets."""

from __future__ import annotations

import re
from itertools import takewhile

from forsy_retrace.commands.model import REWRITES, Limits, Simple
from forsy_retrace.commands.queries import asks
from forsy_retrace.commands.scripts import run_script, script_called
from forsy_retrace.commands.table import Choice, table

Redirects = tuple[tuple[str, str], ...]
_NOWHERE = ("/dev/null", "/dev/stderr", "/dev/stdout", "/dev/tty", "NUL", "$null", "nul")
_SPLIT = frozenset({"redis-cli", "valkey-cli", "etcdctl"})
"""Prompts of databases that take a query as words of the line."""
_EVERYTHING = frozenset({".", "./", "./...", "...", "all", "--"})
_NOWHERE_TO = frozenset({*_NOWHERE, "-"})
_SHOWN = frozenset({"reads", "pattern"})
"""The kinds of operands whose contents a reading command prints."""
_PROJECT = frozenset({"-p", "--project"})
_OUT = frozenset({"-o", "--output", "--outfile", "--out", "-O", "--output-document", "--dir"})


def applied(
    choice: Choice,
    words: tuple[str, ...],
    operands: list[str],
    flags: list[str],
    piped: bool,
    heredoc: bool,
) -> Simple:
    """What the command does when this row of the table holds for it."""
    row = choice.row
    operation, check, role, name = row.operation, row.check or None, row.role, choice.label
    rule = name
    reads: list[str] = []
    writes: list[str] = []
    urls: list[str] = []
    packages: list[str] = []
    limits: Limits = ()
    looks_at: tuple[str, ...] | None = None
    kinds = choice.operands
    if operation == "verb":
        verb = next((v for v in operands[:4] if v.partition("-")[0] in table().verbs), "")
        operation = table().verbs.get(verb.partition("-")[0], "execute")
        name = f"{name} {verb}".strip()
        if operation in ("read", "search"):
            role = "view"
    for kind in kinds:
        match kind:
            case "reads" | "about":
                reads = operands
            case "writes":
                writes = operands
            case "copies":
                writes = [word for word in operands if word not in _NOWHERE]
                if not writes:
                    operation, role = "read", "view"  # `tee /dev/stderr` only shows
            case "moves":
                reads, writes = operands[:-1], operands[-1:]
            case "renames":
                reads, writes = operands[:-1], operands
            case "pattern":
                asked = not {"-e", "-f", "--regexp", "--expression"}.isdisjoint(flags)
                reads = operands if asked else operands[1:]
            case "pattern-writes":
                asked = not {"-e", "-f", "--expression"}.isdisjoint(flags)
                writes = operands if asked else operands[1:]
            case "where":
                reads = operands[:1]
            case "urls":
                urls = [word for word in operands if "." in word or "/" in word or ":" in word]
            case "clone":
                writes = _cloned(operands)
            case "packages":
                packages = [word for word in operands if word not in _EVERYTHING]
            case "out":
                writes = [*writes, *_values(words, _OUT)]
                if operation == "download" and not writes and not _NOWHERE_TO.isdisjoint(words):
                    operation = "read"  # `curl -o /dev/null`, `wget -O -`
            case "api":
                urls = operands[:1]
                if urls == ["graphql"] or method(words) == "GET":
                    changes = any("mutation" in word for word in words)
                    operation = "execute" if changes else "read"
            case "inline-work":
                rule = "inline-program"
            case "inline":
                rule = "inline-program"
                role = "view" if piped and not heredoc else role
            case "program":
                return _program(choice, words, operands)
            case "script":
                return _script(choice, words, operands)
            case "sql":
                texts = [word for word in words[1:] if " " in word or word[:1] in "\\."]
                query = " ".join(operands) if name in _SPLIT else texts[-1] if texts else ""
                if not heredoc and asks(query):
                    operation, role, rule = "read", "view", "sql-read"
    if check:
        limits = _limits(words, operands, check)
    if "looks" in kinds and (operands or not limits):
        named = [word for word in operands if word[:1] != "!"] or ["."]
        looks_at = tuple("." if word in _EVERYTHING else word for word in named)
    elif "project" in kinds:
        looks_at = _project(_values(words, _PROJECT)) if limits else (".",)
    if role in REWRITES and not writes:
        writes = [word for word in operands if word not in _EVERYTHING]
    return Simple(
        words,
        name,
        operation,
        rule,
        row.surface,
        check,
        limits,
        tuple(reads),
        tuple(writes),
        tuple(urls),
        tuple(packages),
        role,
        operation == "read" and not _SHOWN.isdisjoint(kinds),
        looks_at,
    )


def _project(named: list[str]) -> tuple[str, ...] | None:
    """The folder of a project that is named by it, or by the file that holds all of it."""
    if not named:
        return None
    folder, _, name = named[0].rpartition("/")
    if name in ("tsconfig.json", "jsconfig.json"):
        return (folder or ".",)
    return None if name.endswith(".json") else (named[0],)


def _cloned(operands: list[str]) -> list[str]:
    """Where a clone goes: the folder that is named, or the last part of the address."""
    named = list(takewhile(lambda word: word[:1] != "-", operands))  # `gh` hands on what is behind
    if not named:
        return []
    name = re.split(r"[/:\\]", named[0].rstrip("/"))[-1].removesuffix(".git")
    return named[1:2] or ([name] if name else [])


def _values(words: tuple[str, ...], flags: frozenset[str]) -> list[str]:
    """The values of some flags, `-o out`, `--output=out` and the bundled `-sSLo out` alike."""
    found = []
    for at, word in enumerate(words[:-1], 1):
        if word in flags or (len(word) > 2 and word[0] == "-" != word[1] and word[-1] == "o"):
            found.append(words[at])
    for word in words:
        flag, equals, value = word.partition("=")
        if equals and flag in flags:
            found.append(value)
    return [value for value in found if value not in _NOWHERE and value != "-"]


def method(words: tuple[str, ...]) -> str | None:
    """The HTTP method that `-X POST`, `--request=POST` or PowerShell's `-Method Post` asks for."""
    for at, word in enumerate(words):
        flag, equals, value = word.partition("=")
        if flag in ("-X", "--request", "--method") or flag.lower() == "-method":
            return (value if equals else words[at + 1] if at + 1 < len(words) else "").upper()
        if word[:2] == "-X":
            return word[2:].upper()
    return None


def _limits(words: tuple[str, ...], operands: list[str], check: str) -> Limits:
    """What a check is limited to: its operands, and the values of its filters, as they stand."""
    filters = table().filters
    chosen: dict[str, tuple[str, ...]] = {}
    values: set[int] = set()
    for at, word in enumerate(words):
        if word[:1] != "-":
            continue
        flag, equals, value = word.partition("=")
        # `-t` names a test for a runner of tests, and the result for a build of an image.
        if flag not in filters or (flag == "-t" and check == "build"):
            continue
        if not equals and at + 1 < len(words):
            value = words[at + 1]
            values.add(at + 1)
        # `-p 4` (go) and `-p no:cacheprovider` (pytest) limit nothing.
        if value and value[0] != "-" and not value.isdigit() and value[:3] != "no:":
            chosen[flag] = (*chosen.get(flag, ()), value)
    taken = [words[at] for at in sorted(values)]
    # Behind a `--` stand flags too, and those of `cargo test -- --nocapture` limit nothing.
    rest = tuple(
        word
        for word in operands
        if word not in taken and word not in _EVERYTHING and word[:1] != "-"
    )
    return ((("", rest),) if rest else ()) + tuple(chosen.items())


def _program(choice: Choice, words: tuple[str, ...], operands: list[str]) -> Simple:
    """An interpreter with a file: the program that it runs stands in `reads`, if before a `--`."""
    if not operands:
        return Simple(words, choice.label, "execute", choice.label)
    at = words.index(operands[0])
    if choice.row.name.split()[0] == "bash" and (script := run_script(words, at)):
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
    """A task runner: what it does is in the name of the script or target."""
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
        limits=_limits(words, rest, script.check) if script.check else (),
        packages=tuple(rest) if script.operation == "install" else (),
        role=script.role,
    )


LOG = ".log"
"""How a file ends in which the output of commands is kept: it is not what they are for."""


def redirected(done: Simple, redirects: Redirects) -> Simple:
    """The command with what it reads from and writes to by redirection."""
    reads, writes = done.reads, done.writes
    written = kept = ""
    for operator, target in redirects:
        if target in _NOWHERE or operator[-1] == "&" or not target:
            continue
        if operator in ("<", "0<"):
            reads = (*reads, target)
        elif ">" in operator and operator[0] not in "23456789":
            writes = (*writes, target)
            written, kept = operator, target
        elif ">" in operator:
            writes = (*writes, target)
    operation, rule, role = done.operation, done.rule, done.role
    prints = done.operation in ("read", "search") or done.words in (("true",), (":",))
    is_kept = prints and kept.endswith(LOG)
    if written and not is_kept and done.operation in ("read", "search", "other"):
        appended = ">>" in written
        operation, role = ("edit" if appended else "write"), "work"
        rule = "redirect-append" if appended else "redirect-write"
        if done.surface == "api":
            operation = "download"
        elif done.words[:1] in (("echo",), ("printf",)):
            role = "prep"  # `echo x > file && git add .`: a line of text is seldom the point
    return Simple(
        done.words, done.name, operation, rule, done.surface, done.check, done.limits,
        reads, writes, done.urls, done.packages, role, done.shows and not written,
        done.looks_at,
    )  # fmt: skip
