"""Reads the value that begins at a place: what stands in quotes, or the run up to its end."""

from __future__ import annotations

from typing import NamedTuple

from forsy_retrace.patterns import later

QUOTES = b"\"'`"
LONGEST = 1000

PREFIX = later(
    rb"(?:[bBrRfFuU]{1,2}|@|\$|N|E)?(\\{0,8})"
    rb"(\"\"\"(?=[^\"\n]{1,400}\"\"\")|'''(?=[^'\n]{1,400}''')|[\"'`])"
)
# The quotes of print: “…”, „…“, « … », 「…」.
SPACES = rb"(?:\xc2\xa0|\xe2\x80\xaf| ){0,2}"
PRINTED = later(
    rb"(?:\xe2\x80[\x98\x9a\x9c\x9e]|\xe3\x80[\x8c\x8e]|\xc2[\xab\xbb]" + SPACES + rb")"
    rb"([^\n]{1,100}?)"
    rb"(?:\xe2\x80[\x98\x99\x9c\x9d]|\xe3\x80[\x8d\x8f]|" + SPACES + rb"\xc2[\xab\xbb])"
)
# Signs of Chinese and Japanese sentences, and a comma before one.
SENTENCE = later(rb"\xef\xbc[\x81\x88\x89\x8c\x9b\x9f]|\xe3\x80[\x81\x82]|[,;](?=[\xe3-\xef])")
# A bare value ends at space, quote, angle or an escape.
BARE = later(
    rb"(?:[^\s\"'`<>\\]|\\[^nrtuvxbf0-9\"'`\\/&\s])[^\s\"'`<>\\]{0,1000}"
    rb"(?:\\[^nrtuvxbf0-9\"'`\\/&\s][^\s\"'`<>\\]{0,100}){0,10}"
)
# A quote that does not close: the text was cut, and the value ends at the next space.
OPEN = later(
    rb"(?:[^\s\"`<>\\]|\\[^nrtuvxbf0-9\"'`\\/&\s])[^\s\"`<>\\]{0,400}"
    rb"(?:\\[^nrtuvxbf0-9\"'`\\/&\s][^\s\"`<>\\]{0,100}){0,10}"
)
ENTITY = later(rb"&(?:quot|apos|amp|lt|gt|#[0-9x])")
PAIR_AFTER = later(rb"[;,](?: ?[A-Za-z_][\w .-]{0,40}=|$|amp;)")
PAIR_OF_FORM = later(rb"&(?: ?[A-Za-z_][\w .-]{0,40}=|[A-Za-z_][\w.-]{0,40}$|$|amp;)")
LINE_END = later(rb"[\"'`]?[ \t,;)]{0,4}(?:</[a-z]{1,10}>)?(?:\r?\n|$)")
# What an earlier run has masked is not looked at again, but what stands before it is.
MASKED = later(rb"\[(?:CREDENTIAL|EMAIL|PHONE|INTERNAL_URL|CUSTOMER_ID|PERSON|USER|TERM)_[0-9]")
TRAILING = b",;"
CLOSING = {0x29: b"(", 0x5D: b"[", 0x7D: b"{"}


class Value(NamedTuple):
    start: int
    end: int
    quoted: bool


def read(data: bytes, place: int, *, in_url: bool = False, in_form: bool = True) -> Value | None:
    """The value that begins here, or None. In a form, `&name=` begins the next one."""
    opening = PREFIX.match(data, place)
    if opening:
        start = opening.end()
        end = _closing(data, start, opening[1] + opening[2], len(opening[1]))
        if end >= 0:
            return Value(start, end, True) if end > start else None
        run = OPEN.match(data, start)
        masked = MASKED.search(run[0]) if run else None
        if run is None or (masked and not masked.start()):
            return None
        return Value(start, start + masked.start() if masked else run.end(), True)
    run = BARE.match(data, place)
    if run is None:
        return None
    printed = PRINTED.match(data, place) if data[place] > 0x7F else None
    if printed:
        return Value(*printed.span(1), True)
    end = _cut(data, place, run.end(), in_url=in_url, in_form=in_form)
    return Value(place, end, False) if end > place else None


def _closing(data: bytes, start: int, quote: bytes, depth: int) -> int:
    """Where the quote of the same depth closes, on the same line; -1 where it does not."""
    place = start
    limit = min(len(data), start + LONGEST)
    while True:
        place = data.find(quote, place, limit)
        if place < 0:
            return -1
        slashes = 0
        while place - slashes > start and data[place - slashes - 1] == 0x5C:
            slashes += 1
        if slashes == 0 or (depth == 0 and slashes % 2 == 0):
            break
        place += len(quote)
    return -1 if b"\n" in data[start:place] else place


def ends_line(data: bytes, value: Value) -> bool:
    """Nothing but a quote or a sign stands behind the value on its line."""
    return LINE_END.match(data, value.end) is not None


def _cut(data: bytes, start: int, end: int, *, in_url: bool, in_form: bool) -> int:
    """The end of a bare value, before what belongs to the text around it."""
    value = data[start:end]
    if in_url:
        for stop in (b"&", b"#", b";"):
            place = value.find(stop)
            if place >= 0:
                value = value[:place]
    entity = ENTITY.search(value)
    if entity:
        value = value[: entity.start()]
    sentence = None if value.isascii() else SENTENCE.search(value)
    if sentence:
        value = value[: sentence.start()]
    masked = MASKED.search(value)
    if masked:
        value = value[: masked.start()]
    for after in (PAIR_AFTER, PAIR_OF_FORM) if in_form else (PAIR_AFTER,):
        pair = after.search(value)
        if pair and pair.start():
            value = value[: pair.start()]
    while value and (value[-1] in TRAILING or value[-1] in CLOSING):
        opener = CLOSING.get(value[-1])
        if opener and opener in value:
            break
        value = value[:-1]
    return start + len(value)
