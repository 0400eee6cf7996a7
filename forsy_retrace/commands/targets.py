"""Turns a row of the table and the words of a command into what it does to which targets."""

from __future__ import annotations

from forsy_retrace.commands.conditions import Sent
from forsy_retrace.commands.model import REWRITES, Simple
from forsy_retrace.commands.operands import KINDS, SHOWN, WHOLES, Doing
from forsy_retrace.commands.options import EVERYTHING, NOWHERE, limits_of
from forsy_retrace.commands.table import Choice, table

Redirects = tuple[tuple[str, str], ...]


def applied(choice: Choice, sent: Sent) -> Simple:
    """What the command does when this row of the table holds for it."""
    row, kinds = choice.row, choice.operands
    words, operands = sent.words, sent.operands
    for kind in kinds:
        if kind in WHOLES:
            return WHOLES[kind].tells(choice, words, operands)
    it = Doing(
        *sent,
        name=choice.label,
        operation=row.operation,
        rule=choice.label,
        role=row.role,
        limits=limits_of(words, operands, row.check) if row.check else (),
    )  # fmt: skip
    if row.operation == "verb":
        _by_verb(it)
    for kind in kinds:
        KINDS[kind].tells(it)
    if it.role in REWRITES and not it.writes and "pattern-writes" not in kinds:
        it.writes = [word for word in operands if word not in EVERYTHING]
    return Simple(
        words,
        it.name,
        it.operation,
        it.rule,
        row.surface,
        row.check or None,
        it.limits,
        tuple(it.reads),
        tuple(it.writes),
        tuple(it.urls),
        tuple(it.packages),
        it.role,
        it.operation == "read" and not SHOWN.isdisjoint(kinds),
        it.looks_at,
    )


def _by_verb(it: Doing) -> None:
    """`kubectl get`, `aws s3api list-buckets`: a verb among the first words says what is done."""
    verbs = table().verbs
    verb = next((word for word in it.operands[:4] if word.partition("-")[0] in verbs), "")
    it.operation = verbs.get(verb.partition("-")[0], "execute")
    it.name = f"{it.name} {verb}".strip()
    if it.operation in ("read", "search"):
        it.role = "view"


LOG = ".log"
"""How a file ends in which the output of commands is kept: it is not what they are for."""


def redirected(done: Simple, redirects: Redirects) -> Simple:
    """The command with what it reads from and writes to by redirection."""
    reads, writes = done.reads, done.writes
    written = kept = ""
    for operator, target in redirects:
        if target in NOWHERE or operator[-1] == "&" or not target:
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
