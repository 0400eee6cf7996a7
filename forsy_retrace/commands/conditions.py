"""The conditions other than flags under which a row of the table holds: `{none}`, `{heredoc}` …"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from forsy_retrace.commands.options import method
from forsy_retrace.patterns import later

_FOLDER = later(r"(?:\.{1,2}|.*/)$", re.DOTALL)


class Sent(NamedTuple):
    """A simple command as it was sent, taken apart by what its name says of its options."""

    words: tuple[str, ...]
    operands: list[str]
    flags: list[str]
    piped: bool
    """Whether another's output is its input."""
    heredoc: bool


class Condition(NamedTuple):
    """What a condition asks for, in words and as a test."""

    says: str
    holds: Callable[[Sent], bool]


CONDITIONS = {
    "{none}": Condition("no operand", lambda it: not it.operands),
    "{two}": Condition("at least two operands", lambda it: len(it.operands) >= 2),
    "{url}": Condition(
        "an operand that is an address, with `://`",
        lambda it: any("://" in word for word in it.operands),
    ),
    "{folder}": Condition(
        "a folder as the last operand: `.`, `..` or a path that ends in `/`",
        lambda it: bool(it.operands) and _FOLDER.match(it.operands[-1]) is not None,
    ),
    "{dash}": Condition("the operand `-`", lambda it: "-" in it.operands),
    "{check}": Condition("`--check` behind a `--`", lambda it: "--check" in it.operands),
    "{heredoc}": Condition("a here-document or here-string as input", lambda it: it.heredoc),
    "{piped}": Condition(
        "another command's output as input, and no operand",
        lambda it: it.piped and not it.operands,
    ),
    "{behind}": Condition("another command's output as input", lambda it: it.piped),
    "{method}": Condition(
        "an HTTP method other than GET, HEAD and OPTIONS",
        lambda it: method(it.words) not in (None, "GET", "HEAD", "OPTIONS"),
    ),
    "{conclusion}": Condition(
        "a word that asks for the `conclusion` of a run",
        lambda it: any("conclusion" in word for word in it.words),
    ),
}
