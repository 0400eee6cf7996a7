"""The rule files, each loaded once: bounded patterns, without look-around or back-references."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal

import msgspec

from forsy_retrace.patterns import later
from forsy_retrace.tables import table


class Token(msgspec.Struct, frozen=True):
    """A vendor's token: a literal and what surrounds it."""

    id: str
    start: str
    rest: str
    origin: str
    back: str = ""
    full: int = 0
    edge: bool | None = None
    right: bool = False
    mixed: bool = False
    digits: int = 0
    letters: bool = False
    """Capitals alone will do."""


# Other arguments, up to the end of the command or of the line, and the sign before a flag.
ARGUMENTS = r"""(?:[\s"'][^\n|;&]{0,300}?(?:&[^\n|;&]{1,200}?){0,4}?)??[\s"']"""
SEPARATOR = r"""(?:[ \t]{1,4}|=|["'],[ \t]{0,4})"""
WORD = r"(?:^|[^\w.@-]|(?:^|\n)-|(?:^|[\n:-])[0-9]{1,7}-)"  # or in a line of a diff or of grep


class Command(msgspec.Struct, frozen=True):
    """A command or statement whose argument is a secret."""

    id: str
    on: str
    lead: str = ""
    short: str = ""
    long: str = ""
    joined: Literal["", "may", "must"] = ""
    user: str = ""
    left: str = ""
    edge: bool | None = None
    low: bool = False
    stop: str = ""
    part: str = "word"

    @property
    def to_value(self) -> str:
        """What stands between the literal and the value."""
        between = {"": SEPARATOR, "may": f"{SEPARATOR}?", "must": ""}[self.joined]
        flags = [f"-(?:{self.short}){between}"] if self.short else []
        flags += [f"-{{1,2}}(?:{self.long}){SEPARATOR}"] if self.long else []
        arguments = f"{ARGUMENTS}(?:{'|'.join(flags)})" if flags else ""
        quotes = r"""(?P<quote>[\\"']{0,3})""" if self.user else ""
        return f"{self.lead}{arguments}{quotes}{self.user}"

    @property
    def before(self) -> str:
        """What has to stand before the literal, if anything."""
        begins_a_word = self.on[:1].isalpha() if self.edge is None else self.edge
        return self.left.replace("<word>", WORD) or (WORD if begins_a_word else "")


# What may stand behind such a command on its line: what cuts and turns what it prints.
FILTERS = (
    r"(?:[ \t]{0,2}(?:2?>{1,2}[ \t]?(?:&1|/dev/null)|;[ \t]?echo"
    r"|\|\|[ \t]?(?:true|:|echo[^\n|;&>]{0,60})"
    r"|\|[ \t]?(?:sudo )?(?:head|tail|tr|tee|cut|xargs|base64|sed|awk|cat|jq)\b[^\n|;&>]{0,80}"
    r")){0,4}"
)
TO_LINE_END = r"(?:[ \t\"'`)\]}][^\n|;&>]{0,160})?" + FILTERS + r"\r?\n"


class Printing(msgspec.Struct, frozen=True):
    """A command that prints a secret alone, so that only what stands before it tells of that."""

    id: str
    on: str
    part: str
    lead: str = ""
    left: str = ""
    of: str = ""
    """How the command begins whose argument the literal is."""
    edge: bool | None = None
    low: bool = False
    sure: bool = False
    members: bool = False
    within: bool = False
    """The lead ends where the command ends."""
    file: bool = False
    """It prints a file, which may be a script, or tells what lies in a folder."""
    asked: bool = False
    """Only of calls: in a text the literal is a word as any other."""

    @property
    def command(self) -> Command:
        """The same as a rule of a text in which the command and what it printed stand."""
        lead = self.lead + TO_LINE_END
        return Command(
            f"prints-{self.id}",
            self.on,
            lead,
            left=rf"\b(?:{self.of})[ \t][^\n]{{0,120}}" if self.of else self.left,
            edge=self.edge,
            low=self.low,
            part=self.part,
        )


@cache
def load(name: str) -> dict[str, Any]:
    """One of the rule files beside this module."""
    return table(f"redaction/{name}")


@cache
def tokens() -> tuple[Token, ...]:
    return tuple(msgspec.convert(load("rules.toml")["tokens"]["rows"], list[Token]))


@cache
def commands() -> tuple[Command, ...]:
    rows = (msgspec.convert(row, Command) for row in _each(load("commands.toml")["rows"]))
    return (*rows, *(row.command for row in prints() if not row.asked))


@cache
def prints() -> tuple[Printing, ...]:
    return tuple(msgspec.convert(row, Printing) for row in _each(load("prints.toml")["rows"]))


def _each(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The rows of a table, one for each of the literals of a row that has several."""
    for row in rows:
        for on in [row["on"]] if isinstance(row["on"], str) else row["on"]:
            yield {**row, "on": on}


def bounded(pattern: str, flags: int = 0) -> re.Pattern[bytes]:
    """A pattern for bytes, bounded as a test asks; most rules wait for what never comes."""
    return later(pattern.encode(), flags)


@cache
def words(*path: str) -> frozenset[bytes]:
    """A list of words from words.toml."""
    found: Any = load("words.toml")
    for part in path:
        found = found[part]
    return frozenset(word.encode() for word in found)


def expression(*path: str) -> re.Pattern[bytes]:
    """An expression from words.toml, for lower-cased values of bounded length."""
    found: Any = load("words.toml")
    for part in path:
        found = found[part]
    return later(found.encode())
