"""What a command prints alone: of a word on a line only the command tells that it is secret."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from itertools import accumulate, chain
from typing import NamedTuple

import msgspec

from forsy_retrace.commands.printing import Pipeline, pipelines
from forsy_retrace.patterns import later
from forsy_retrace.redaction import rules, shape
from forsy_retrace.redaction.dumps import dumps
from forsy_retrace.redaction.engine import Literals
from forsy_retrace.redaction.names import PLACEHOLDER_BYTES
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
    rb"(?:^|\n|<[a-z_]{2,20}>)"
    rb"(?:[ \t]{0,8}L?[0-9]{1,7}(?:\xe2\x86\x92|\t|: ?| ?\| ?)|[ \t]{0,40})"
    rb"(?:[-*] |\| {1,20}|[\[b](?=[\"']))?"
    rb"(?:(?:\"((?:[^\"\\\n]|\\[^\n]){3,4000}+)\"|'([^'\n]{3,4000}+)')(?:,|\])?"
    rb"|([^\s\"'|<\[][^\s|<]{2,8000}+))"
    rb"(?: {0,20}\||</[a-z_]{2,20}>)?[ \t]{0,40}+\r?(?=\n|$|</)"
)
# A member of an object, on one line or on several, in JSON or as Go prints it; an item of a list.
MEMBER = later(
    rb"\"\s{0,4}:\s{0,4}\"((?:[^\"\\\n]|\\.){4,8000}+)\""
    rb"|[\[,]\"((?:[^\"\\\n]|\\.){4,8000}+)\"(?=[,\]])"
    rb"|(?:map\[| )[\w./-]{1,80}+:([A-Za-z0-9+/=]{4,8000}+)"
)
A_NAME = later(rb"[A-Z][A-Z0-9]{0,30}(?:_[A-Z0-9]{1,30}){1,6}$")
"""A variable's name."""
# A setting, a version, a time, code, a heading, a place, an escape: what stands alone beside a
# secret that another command printed.
OTHERS = later(
    rb"^[A-Za-z_][\w.\[\]-]{0,60}(?:==?|@)[^=]|^[a-z_]{2,40}=$|^v?[0-9]{1,4}(?:\.[0-9]{1,6}){1,3}(?:[-+][\w.-]{1,40})?$"
    rb"|^[0-9]{4}-[0-9]{2}-[0-9]{2}T|^(?:[#/@]|\*\*)|:$|\w\(|\)[;,]?$|[;{}]$|^[0-9.:]{1,40}->"
    rb"|^[a-z]{2,20}/[\w./-]{1,200}$"
)
SCRIPT = later(rb"#!")
LISTING = later(rb"(?m)^[ \t-]{0,8}[\w.-]{1,80}/\r?$")
"""A folder's entries, of which one is a folder."""
ODD = later(rb"\\(?:\r?\n)?|[\"']")
"""Signs that a shell takes away."""
BLANKS = later(rb"[ \t]{1,400}")
BYTES = later(rb"\[(?:[0-9]{1,3},){31,63}[0-9]{1,3}\]")
"""A key as the list of its bytes, as Solana's tools keep it."""
REACH = 1000
"""Characters before a literal in which its row's `left` may begin."""
ASKED = 1 << 14
"""Characters of a line in which commands are looked for."""


class Span(NamedTuple):
    """Where a secret stands in an output, and the rule that says so."""

    start: int
    end: int
    rule: str


class Fired(NamedTuple):
    """A row whose command stands in a text, and how much the name in it promises a secret."""

    row: rules.Printing
    level: int
    sure: bool
    """The row says that the command prints nothing else, and nothing else in the line prints."""

    @property
    def judges(self) -> tuple[str, int, bool, bool, bool]:
        """What rows that judge alike have in common."""
        return self.row.part, self.level, self.sure, self.row.members, self.row.file


def fired(asked: str) -> Sequence[Fired]:
    """The commands of a line that print a secret; one of those that are judged alike."""
    return _kept(asked) if len(asked) < SHORT else _fired(asked)


def names_a_command(text: str) -> bool:
    """Whether a text names a command that may print a secret at all."""
    return bool(_plain_literals().find(_plain(text[:ASKED])))


def _plain(text: str) -> bytes:
    """A text in small letters, without quotes and with single blanks between its words."""
    return BLANKS.sub(b" ", ODD.sub(b"", _encode(text.lower())))


def _fired(asked: str) -> Sequence[Fired]:
    if not names_a_command(asked):
        return ()
    told = [one for one in pipelines(asked) if not one.into]
    is_alone = sum(_pattern("silent").match(_encode(one.stages[-1])) is None for one in told) == 1
    found = chain.from_iterable(_of_pipeline(one, is_alone) for one in told)
    return tuple({one.judges: one for one in found}.values())


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


SHORT = 300
"""Characters of a line that may come again, as a look at a file does."""
_kept = lru_cache(maxsize=4096)(_fired)


def spans(printing: Sequence[Fired], output: bytes, asked: str = "") -> list[Span]:
    """What of an output is secret for the commands that were asked for in a line."""
    told = _encode(asked[:ASKED])
    words = list(_words(output))
    members = list(_members(output))
    dumped = [(dump, span) for dump in dumps(output[:READ]) for span in _words(dump.data)]
    whole = output.strip()
    is_all = len(whole.split()) == 1
    is_word = BYTES.fullmatch(whole) is not None or not _is_json(whole)
    if is_all and not words and is_word and any(one.sure for one in printing):
        start = len(output) - len(output.lstrip())
        words = [(start, start + len(whole))]
    is_object = whole[:1] == b"{" or whole[:4] == b"map["
    shows_no_secret = SCRIPT.match(whole) or LISTING.search(output)
    found: dict[tuple[int, int], Span] = {}
    for row, level, is_sure in printing:
        if row.file and shows_no_secret:
            continue
        rule = f"prints-{row.id}"
        sure = is_sure and is_all and len(words) == 1
        for start, end in words:
            text = output[start:end]
            sure = sure and text not in told
            if _is_secret(text, row.part, level, sure=sure):
                found[start, end] = Span(start, end, rule)
        for start, end in members if row.part != "named" or row.members else ():
            is_one = row.members and is_object
            if is_one or _is_secret(output[start:end], row.part, level, sure=False):
                found[start, end] = Span(start, end, rule)
        for dump, (first, last) in dumped:
            if _is_secret(dump.data[first:last], row.part, level, sure=False):
                found |= {span: Span(*span, rule) for span in dump.spans(first, last)}
    return list(found.values())


def value(output: bytes, start: int, end: int) -> bytes:
    """What stands at a place in an output, without the escapes of a text in quotes."""
    text = output[start:end]
    if b"\\" in text and output[start - 1 : start] == output[end : end + 1] == b'"':
        with suppress(msgspec.DecodeError, UnicodeDecodeError):
            return msgspec.json.decode(output[start - 1 : end + 1], type=str).encode()
    return text


def is_named(text: bytes, level: int, *, quoted: bool, sure: bool = False) -> bool:
    """Whether a value is secret by what the name of its variable, field or file promises."""
    if level < TOKEN:
        return False
    if sure and level == PASSWORD:
        return shape.is_password(text, quoted=True, certain=True)
    looks_so = shape.is_password(text, quoted=quoted, certain=False)
    return looks_so or is_secret(text, level, quoted=quoted, certain=False)


def _is_secret(text: bytes, part: str, level: int, *, sure: bool) -> bool:
    if sure and BYTES.fullmatch(text):
        return True
    if (
        shape.is_placeholder(text)
        or shape.is_reference(text, quoted=True)
        or _pattern("states").match(text)
    ):
        return False
    if not sure and OTHERS.search(text):
        return False
    if PLACEHOLDER_BYTES.search(text) or (A_NAME.match(text) and strength(text) >= TOKEN):
        return False
    match part:
        case "token":
            return shape.is_token(text, 12)
        case "named" if level == TOKEN:
            is_made = shape.is_token(text) or (len(text) >= 8 and shape.is_mixed(text))
            return is_made or is_secret(text, level, quoted=False, certain=False)
        case "named":
            return is_named(text, level, quoted=False, sure=sure)
        case _:
            return shape.is_password(text, quoted=sure, certain=sure)


def _of_pipeline(one: Pipeline, is_alone: bool) -> Iterator[Fired]:
    """The rows that fire in a pipeline whose later commands pass on what the earlier print."""
    asked = [_encode(stage) for stage in one.stages]
    text = BESIDE.encode().join(asked)
    starts = list(accumulate((len(stage) + len(BESIDE) for stage in asked), initial=0))
    passing = _passing(one.stages)
    low = text.lower()
    found = _literals().find(low)
    if not found or any(map(_pattern("public").search, asked)):
        return
    for index, start, end in found:
        row = rules.prints()[index]
        at = bisect_right(starts, start) - 1
        if at < passing or not _begins(row, text, starts[at], start):
            continue
        ends = starts[at] + len(asked[at]) if row.within else len(text)
        argument = _leads()[index].match(low if row.low else text, end, ends)
        if argument is None:
            continue
        level = strength(argument["name"]) if row.part == "named" else 0
        if row.part != "named" or level >= TOKEN:
            yield Fired(row, level, row.sure and is_alone)


def _begins(row: rules.Printing, text: bytes, stage: int, start: int) -> bool:
    """Whether the literal begins a command, or stands in one as its row says."""
    if row.left:
        return _lefts()[row.id].search(text, max(0, start - REACH), start) is not None
    head = text[stage:start]
    if row.of:
        return _heads()[row.id].match(head) is not None
    return not head or (head.endswith(b"/") and b" " not in head)


def _passing(stages: Sequence[str]) -> int:
    """From which command on all behind it pass on what they are handed."""
    passing = len(stages) - 1
    while passing and _passes_on(stages[passing]):
        passing -= 1
    return passing


def _passes_on(stage: str) -> bool:
    return stage.split(" ", 1)[0] in _filters() and not _pattern("hides").match(_encode(stage))


@lru_cache(maxsize=1)
def _filters() -> frozenset[str]:
    return frozenset(rules.load("prints.toml")["filters"])


@cache
def _pattern(name: str) -> re.Pattern[bytes]:
    """One of the expressions that stand beside the rows."""
    return rules.bounded(rules.load("prints.toml")[name])


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


@lru_cache(maxsize=1)
def _plain_literals() -> Literals:
    return Literals([_plain(row.on) for row in rules.prints()])


def _words(output: bytes) -> Iterator[tuple[int, int]]:
    for line in LINE.finditer(output, 0, READ):
        start, end = line.span(line.lastindex or 0)
        yield start, end - (line.lastindex == 3 and output[end - 1 : end] == b",")


def _members(output: bytes) -> Iterator[tuple[int, int]]:
    kinds = (1, 2 if output.lstrip()[:1] == b"[" else 0, 3 if b"map[" in output else 0)
    for member in MEMBER.finditer(output, 0, READ):
        if member.lastindex in kinds:
            yield member.span(member.lastindex or 0)


def _is_json(text: bytes) -> bool:
    """Whether a text is an object or a list, which no word is."""
    try:
        return isinstance(msgspec.json.decode(text), (dict, list))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
