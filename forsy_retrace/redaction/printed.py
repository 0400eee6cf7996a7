"""What a command prints alone: of a word on a line only the command tells that it is secret."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, chain
from typing import NamedTuple

from forsy_retrace.commands.printing import Pipeline, pipelines
from forsy_retrace.patterns import later
from forsy_retrace.redaction import rules, shape
from forsy_retrace.redaction.dumps import dumps
from forsy_retrace.redaction.engine import Literals
from forsy_retrace.redaction.strength import PASSWORD, TOKEN, is_secret, strength

ENDS = r"(?:[\s\"'`)\]}|;&>,{]|$)"
"""What ends an argument."""
BESIDE = " | "
"""What parts the commands of a pipeline."""
READ = 1 << 18
"""Bytes of an output that are read."""
# A line with nothing but a word or a text in quotes, as an item of a list, in a box, with a number
# before it, or between the tags of a tool.
LINE = later(
    rb"(?:^|\n|(?<=>))(?:[ \t]{0,8}L?[0-9]{1,7}(?:\xe2\x86\x92|\t|: ?| ?\| ?)|[ \t]{0,40})"
    rb"(?:[-*] |\| {1,20}|\[|b(?=[\"']))?"
    rb"(?:(?P<quote>[\"'])(?P<text>[^\n]{3,4000}?)(?P=quote)|(?P<word>[^\s\"'|<\[][^\s|<]{2,8000}))"
    rb"(?:,| {0,20}\||\]|</[a-z_]{2,20}>)?[ \t]{0,40}\r?(?=\n|$|</)"
)
MEMBER = later(
    rb"\"\s{0,4}:\s{0,4}\"((?:[^\"\\\n]|\\.){4,8000})\""
    rb"|(?:map\[| )[\w./-]{1,80}:([A-Za-z0-9+/=]{4,8000})"
)


class Span(NamedTuple):
    """Where a secret stands in an output, and the rule that says so."""

    start: int
    end: int
    rule: str


class Fired(NamedTuple):
    """A row whose command stands in a text, and how much the name in it promises a secret."""

    row: rules.Printing
    level: int

    @property
    def judges(self) -> tuple[str, int, bool, bool]:
        """What rows that judge alike have in common."""
        return self.row.part, self.level, self.row.sure, self.row.members


def fired(asked: str) -> Sequence[Fired]:
    """The commands of a line that print a secret; one of those that are judged alike."""
    return _kept(asked) if len(asked) < SHORT else _fired(asked)


def names_a_command(text: str) -> bool:
    """Whether a text names a command that may print a secret at all."""
    return bool(_literals().find(text.lower().encode("utf-8", "surrogatepass")))


def _fired(asked: str) -> Sequence[Fired]:
    if not names_a_command(asked):
        return ()
    found = chain.from_iterable(_of_pipeline(one) for one in pipelines(asked) if not one.into)
    return tuple({one.judges: one for one in found}.values())


SHORT = 300
"""Characters of a line that may come again, as a look at a file does."""
_kept = lru_cache(maxsize=4096)(_fired)


def spans(printing: Sequence[Fired], output: bytes) -> list[Span]:
    """What of an output is secret for the commands that were asked for."""
    words = list(_words(output))
    members = list(_members(output))
    dumped = [span for dump in dumps(output) for span in dump.spans(0, len(dump.data))]
    is_all = len(words) == 1 and len(output.split()) == 1
    found: dict[tuple[int, int], Span] = {}
    for row, level in printing:
        rule = f"prints-{row.id}"
        for start, end in words:
            if _is_secret(output[start:end], row.part, level, sure=row.sure and is_all):
                found[start, end] = Span(start, end, rule)
        for start, end in members:
            if row.members or _is_secret(output[start:end], row.part, level, sure=False):
                found[start, end] = Span(start, end, rule)
        for start, end in dumped:
            found[start, end] = Span(start, end, rule)
    return list(found.values())


def is_named(text: bytes, level: int, *, quoted: bool, sure: bool = False) -> bool:
    """Whether a value is secret by what the name of its variable, field or file promises."""
    if level < TOKEN:
        return False
    if sure and level == PASSWORD:
        return shape.is_password(text, quoted=True, certain=True)
    looks_so = shape.is_password(text, quoted=quoted, certain=False)
    return looks_so or is_secret(text, level, quoted=quoted, certain=False)


def _is_secret(text: bytes, part: str, level: int, *, sure: bool) -> bool:
    if shape.is_placeholder(text) or shape.is_reference(text, quoted=True) or _states().match(text):
        return False
    match part:
        case "token":
            return shape.is_token(text, 12)
        case "named":
            return is_named(text, level, quoted=False, sure=sure)
        case _:
            return shape.is_password(text, quoted=sure, certain=sure)


def _of_pipeline(one: Pipeline) -> Iterator[Fired]:
    """The rows that fire in a pipeline whose later commands pass on what the earlier print."""
    asked = [stage.encode("utf-8", "surrogatepass") for stage in one.stages]
    text = BESIDE.encode().join(asked)
    starts = list(accumulate((len(stage) + len(BESIDE) for stage in asked), initial=0))
    passing = _passing(one.stages)
    low = text.lower()
    for index, start, end in _literals().find(low):
        row = rules.prints()[index]
        at = bisect_right(starts, start) - 1
        if at < passing or not _begins(row, text, starts[at], start):
            continue
        argument = _leads()[index].match(low if row.low else text, end)
        if argument is None or any(map(_public().search, asked[: at + 1])):
            continue
        level = strength(argument["name"]) if row.part == "named" else 0
        if row.part != "named" or level >= TOKEN:
            yield Fired(row, level)


def _begins(row: rules.Printing, text: bytes, stage: int, start: int) -> bool:
    """Whether the literal begins a command, or stands in one as its row says."""
    if row.left:
        return _lefts()[row.id].search(text, 0, start) is not None
    head = text[stage:start]
    if row.of:
        return _heads()[row.id].match(head) is not None
    return not head or (head.endswith(b"/") and b" " not in head)


def _passing(stages: Sequence[str]) -> int:
    """From which command on all behind it pass on what they are handed."""
    passing = len(stages) - 1
    while passing and stages[passing].split(" ", 1)[0] in _filters():
        passing -= 1
    return passing


@lru_cache(maxsize=1)
def _filters() -> frozenset[str]:
    return frozenset(rules.load("prints.toml")["filters"])


@lru_cache(maxsize=1)
def _states() -> re.Pattern[bytes]:
    return rules.bounded(rules.load("prints.toml")["states"])


@lru_cache(maxsize=1)
def _public() -> re.Pattern[bytes]:
    return rules.bounded(rules.load("prints.toml")["public"])


@lru_cache(maxsize=1)
def _heads() -> dict[str, re.Pattern[bytes]]:
    return {row.id: rules.bounded(f"(?:{row.of})[ \\t]") for row in rules.prints() if row.of}


@lru_cache(maxsize=1)
def _lefts() -> dict[str, re.Pattern[bytes]]:
    begins = r"(?:^|\| |\n)"
    return {row.id: rules.bounded(f"{begins}(?:{row.left})$") for row in rules.prints() if row.left}


@lru_cache(maxsize=1)
def _leads() -> list[re.Pattern[bytes]]:
    return [rules.bounded(row.lead + ENDS) for row in rules.prints()]


@lru_cache(maxsize=1)
def _literals() -> Literals:
    return Literals([row.on.encode() for row in rules.prints()])


def _words(output: bytes) -> Iterator[tuple[int, int]]:
    for line in LINE.finditer(output, 0, READ):
        yield line.span("word") if line["word"] else line.span("text")


def _members(output: bytes) -> Iterator[tuple[int, int]]:
    """The values of an object on one line or on several, in JSON or as Go prints it."""
    for member in MEMBER.finditer(output, 0, READ):
        yield member.span(member.lastindex or 0)
