"""Finds the values learnt elsewhere, in every form that a text may give them."""

from __future__ import annotations

import binascii
import json
import re
import unicodedata
import urllib.parse
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, zip_longest
from typing import Literal, NamedTuple

from forsy_retrace.patterns import later
from forsy_retrace.redaction import encoded, names, scan, shape
from forsy_retrace.redaction.dumps import dumps
from forsy_retrace.redaction.engine import Literals
from forsy_retrace.redaction.scan import CREDENTIAL, Find, in_pieces
from forsy_retrace.redaction.views import resolve, views

SHORTEST = 8
SHORTEST_ALONE = 6
"""So short a value is looked for too, where it stands alone and can't be a word with a figure."""
PART = 12
"""How much of a value's beginning or end is enough to know it."""
SYNTAX = frozenset(b"\"'`\\{}[](),:")
"""Signs of the text around a value: a part with one of them stands in other texts, too."""
TOLD = 256
"""How much of a value tells whether it is random enough for its parts to be known by."""
HEAD = 48
"""How much of a long form is looked for; the rest is compared where it stands."""
AROUND = 64
SIGNED = later(rb"[^A-Za-z0-9._~-]")
"""A sign that programs write as an escape, each in a way of its own."""
PREFIX = later(rb"(?:(?:[a-z]{1,12}|[A-Z]{1,12}|[A-Z][a-z]{1,11})[0-9]{0,2}[-_.]){1,4}")
"""How vendors begin their tokens."""

BY_ALIGNMENT: tuple[Form, ...] = ("base64-0", "base64-1", "base64-2")
BASE64 = frozenset(encoded.RUN)
WRAPPED = later(rb"(?:[A-Za-z0-9+/]{40,200}\r?\n[ \t]{0,20}){1,400}[A-Za-z0-9+/]{4,200}")
"""Base64 as programs print it: in lines of 64 or 76 letters."""
WIDE_LINE = later(rb"\n(?:(?<=[A-Za-z0-9+/]{40}\n)|(?<=[A-Za-z0-9+/]{40}\r\n))")
"""The end of a line of it; a text without one is not read for blocks, which takes far longer."""
FOLDED = frozenset({names.USER, names.PERSON, names.EMAIL, names.HOST, "TERM"})
"""Kinds whose values are one whatever their case."""


Form = Literal["plain", "alone", "folded", "any-case", "part", "base64-0", "base64-1", "base64-2"]


class Known(NamedTuple):
    """One form of a value: its bytes, and from where to where in it they are looked for."""

    kind: str
    value: bytes
    whole: bytes
    form: Form
    first: int = 0
    size: int = HEAD

    @property
    def literal(self) -> bytes:
        """The bytes to look for."""
        return self.whole[self.first : self.first + self.size]


class Spread:
    """The automaton over all values in all forms."""

    def __init__(self, values: Iterable[tuple[str, bytes]], *, plain: bool = False) -> None:
        forms: dict[tuple[str, bytes], Known] = {}
        for kind, value in values:
            for known in _forms(kind, value):
                forms.setdefault((known.form[:4], known.literal), known)
        self.known = list(forms.values())
        self.literals = _literals(self.known, plain)
        signed = {one.whole: one for one in self.known if one.form == "plain" and _signs(one)}
        self.signed = list(signed.values())
        """The values of which a text's escapes may stand for a part."""
        self.signed_literals = _literals(self.signed, plain)
        self.reach = AROUND + max((len(known.whole) for known in self.known), default=0)
        """How far from a place a find at it may depend on the data."""

    def find(self, data: bytes) -> list[Find]:
        """Every place where a value stands, as a find of its kind and value."""
        if self.literals is None:
            return []
        if len(data) <= scan.CHUNK:
            return list(self._look(data))
        return list(in_pieces(data, (0, len(data)), self.reach, self.reach, self._look))

    def _look(self, data: bytes) -> Iterator[Find]:
        """As the data stands and, for values with signs in them, with its escapes resolved."""
        if self.literals is not None:
            yield from _found(self.literals, self.known, data)
            for block in WRAPPED.finditer(data) if WIDE_LINE.search(data) else ():
                yield from _over_breaks(self.literals, self.known, block)
            for dump in dumps(data):
                for find in _found(self.literals, self.known, dump.data):
                    for start, end in dump.spans(find.start, find.end):
                        yield find._replace(start=start, end=end)
        if self.signed_literals is None:
            return
        for view in views(data):
            for find in _found(self.signed_literals, self.signed, view.data):
                start, end = view.back(find.start, find.end)
                yield find._replace(start=start, end=end)


def _literals(known: Sequence[Known], plain: bool) -> Literals | None:
    return Literals([one.literal.lower() for one in known], plain=plain) if known else None


def _signs(known: Known) -> bool:
    if SIGNED.search(known.whole) is None:
        return False
    plain = resolve(known.value) if b"\\" in known.value else None
    return known.whole == known.value or (plain is not None and known.whole == plain.data)


def _found(automaton: Literals, forms: Sequence[Known], data: bytes) -> Iterator[Find]:
    low = data.lower()
    for index, start, end in automaton.find(low):
        known = forms[index]
        if known.form in ("folded", "alone"):
            is_same = known.form == "folded" or data[start:end] == known.literal
            if not (is_same and _stands_alone(data, start, end)):
                continue
        elif known.form == "any-case":
            start, end = _grown(low, start, end, known.whole.lower(), known.first)
        elif data[start:end] != known.literal:
            continue
        else:
            start, end = _grown(data, start, end, known.whole, known.first)
        if known.form.startswith("base64"):
            start, end = _with_edges(data, start, end, known.form[-1])
        # The first letter may be an escape's; without it the text would no longer parse.
        start = names.after_escape(data, start, end)
        if data[start] == BACKSLASH and _behind_backslashes(data, start) % 2:
            start += 1
        yield Find(start, end, known.kind, "known-value", known.value)


def _over_breaks(
    automaton: Literals, forms: Sequence[Known], block: re.Match[bytes]
) -> Iterator[Find]:
    """What stands over the ends of a block's lines."""
    lines = encoded.BREAK.split(block[0])
    gaps = [one.end() - one.start() for one in encoded.BREAK.finditer(block[0])]
    ends = list(accumulate(map(len, lines[:-1])))
    shifts = [0, *accumulate(gaps)]
    for find in _found(automaton, forms, b"".join(lines)):
        first, last = bisect_right(ends, find.start), bisect_left(ends, find.end)
        if first < last:
            start, end = find.start + shifts[first], find.end + shifts[last]
            yield find._replace(start=block.start() + start, end=block.start() + end)


def folded(kind: str, value: bytes) -> bytes:
    """The value as it is compared and numbered."""
    return value.lower() if kind in FOLDED else value


def is_worth_spreading(kind: str, value: bytes) -> bool:
    """Long and rare enough to be looked for where nothing else says that it is secret."""
    if kind == "TERM":
        return len(value) >= 2
    low = value.lower()
    if kind in (names.USER, names.PERSON):
        return len(low) >= 3 and low not in names.common() and not low.isdigit()
    if kind == names.CUSTOMER:
        return len(value) >= 8
    if kind == names.EMAIL:
        return len(value) >= 6
    if kind == names.HOST:
        return len(value) >= 6 and low not in names.common()
    if SHORTEST_ALONE <= len(value) < SHORTEST:
        return shape.turns(value) >= 3 and not shape.is_placeholder(value)
    if len(value) < SHORTEST or shape.is_placeholder(value) or len(set(value)) < 4:
        return False
    return not shape.WORD.match(value) or len(value) >= 16


def _forms(kind: str, value: bytes) -> Iterator[Known]:
    """Every form in which a value may stand; one with escapes in it stands for two texts."""
    yield from _folded_forms(kind, value) if kind in FOLDED else _exact_forms(kind, value, value)
    plain = resolve(value) if b"\\" in value else None
    if plain and len(plain.data) >= SHORTEST and kind not in FOLDED:
        yield from _exact_forms(kind, value, plain.data)


def _folded_forms(kind: str, value: bytes) -> Iterator[Known]:
    form: Form = "folded" if kind != "TERM" else "any-case"
    yield Known(kind, value, value, form, size=len(value))
    for other in _cased(value):
        yield Known(kind, value, other, form, size=len(other))
    for escaped in _escaped(value):
        yield Known(kind, value, escaped, "any-case")
    if kind == names.USER and not NAMES_A_FOLDER.fullmatch(value):
        text = value.decode("utf-8", "surrogateescape")
        slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in text).encode()
        yield Known(kind, value, slug, "folded", size=len(slug))
    if kind in (names.EMAIL, names.HOST) or (kind == "TERM" and len(value) >= SHORTEST):
        yield from _base64(kind, value, value)


NAMES_A_FOLDER = later(rb"[A-Za-z0-9]+")
"""An account that Claude Code writes as it is into the name of a project's folder."""


def _cased(value: bytes) -> list[bytes]:
    """The same letters in capitals, small or put together of a letter and its accent."""
    if value.isascii():
        return []
    text = value.decode("utf-8", "surrogateescape")
    found = [
        case(unicodedata.normalize(form, text)).encode("utf-8", "surrogateescape")
        for form in ("NFC", "NFD")
        for case in (str, str.lower, str.upper, str.title)
    ]
    return [one for one in dict.fromkeys(found) if one.lower() != value.lower()]


def _exact_forms(kind: str, value: bytes, text: bytes) -> Iterator[Known]:
    yield Known(kind, value, text, "plain" if len(value) >= SHORTEST else "alone")
    if len(text) < SHORTEST:
        return
    for escaped in _escaped(text):
        yield Known(kind, value, escaped, "any-case" if b"%" in escaped else "plain")
    yield from _base64(kind, value, text)
    if kind == CREDENTIAL and text.isascii():
        wide = text.decode().encode("utf-16-le")  # as Windows encodes it
        yield from _base64(kind, value, wide)
        yield Known(kind, value, binascii.hexlify(wide), "any-case")
    yield Known(kind, value, binascii.hexlify(text), "any-case")
    start = text[:TOLD]
    if len(text) >= PART + 4 and kind == CREDENTIAL and shape.turns(start) * 8 >= len(start):
        # A vendor's prefix stands in every text about the vendor; the part begins behind it.
        behind = min(_behind_prefix(text), len(text) - PART)
        parts = [at for at in (behind, 0) if SYNTAX.isdisjoint(text[at : at + PART])][:1]
        parts += [len(text) - PART] if SYNTAX.isdisjoint(text[-PART:]) else []
        for first in parts:
            yield Known(kind, value, text, "part", first, PART)


def _behind_prefix(value: bytes) -> int:
    prefix = PREFIX.match(value, 0, 24)
    return prefix.end() if prefix else 0


def _escaped(value: bytes) -> list[bytes]:
    import html
    from html.entities import codepoint2name

    text = value.decode("utf-8", "surrogateescape")
    once = json.dumps(text)[1:-1]
    found = [once, json.dumps(text, ensure_ascii=False)[1:-1], json.dumps(once)[1:-1]]
    found += [html.escape(text), text.replace("/", "\\/")]
    if not text.isascii():
        entities = {point: f"&{name};" for point, name in codepoint2name.items() if point >= 0x80}
        found += [text.translate(entities), text.encode("ascii", "xmlcharrefreplace").decode()]
    forms = [form.encode("utf-8", "surrogateescape") for form in found]
    percent = urllib.parse.quote(value, safe="").encode()
    forms += [percent, percent.replace(b"%20", b"+"), urllib.parse.quote(value).encode()]
    # A shell's words, bare and in double quotes; what Make and an ini file double.
    forms += [BARE.sub(rb"\\\g<0>", value), IN_QUOTES.sub(rb"\\\g<0>", value)]
    forms += [re.escape(value), value.replace(b"$", b"$$"), value.replace(b"%", b"%%")]
    forms += [FOR_CMD.sub(rb"^\g<0>", value), FOR_POWERSHELL.sub(rb"`\g<0>", value)]
    # A quote between quotes: in a shell, in SQL or YAML, in CSV.
    forms += [value.replace(b"'", one) for one in (b"'\\''", b"'\"'\"'", b"''")]
    forms += [value.replace(b'"', b'""'), value.replace(b"+", b"-").replace(b"/", b"_")]
    forms += [value.replace(b"+", b" "), percent.replace(b"%2B", b"+")]
    return [form for form in dict.fromkeys(forms) if form != value]


BARE, IN_QUOTES = later(rb"[^\w@%+=:,./\x80-\xff-]"), later(rb"[$`\"\\!]")
FOR_CMD, FOR_POWERSHELL = later(rb"[&|<>^]"), later(rb"[$`\"]")
"""The signs that a shell wants escaped."""


def _base64(kind: str, value: bytes, text: bytes) -> Iterator[Known]:
    for alignment in range(3):
        for image in encoded.images_at(text, alignment):
            if len(image) >= 10:
                yield Known(kind, value, image, BY_ALIGNMENT[alignment])


def _stands_alone(data: bytes, start: int, end: int) -> bool:
    """No letter or digit touches the name, though an escape may."""
    if end < len(data) and (data[end] in shape.ALNUM or data[end] >= 0x80):
        return False
    if start == 0:
        return True
    before = data[start - 1]
    if before >= 0x80 and data[max(0, start - 3) : start] not in ARROWS:
        return False
    if before not in shape.ALNUM:
        return True
    two, three = data[max(0, start - 2) : start], data[max(0, start - 3) : start]
    return (
        (two[:1] == b"\\" and two[1:] in (b"n", b"r", b"t"))
        or (three[:1] == b"%" and shape.HEX.fullmatch(three[1:]) is not None)
        or data[max(0, start - 6) : start - 4] == b"\\u"
        or (before == 0x6D and data[max(0, start - 8) : start].find(b"[") >= 0)
    )


BACKSLASH = 0x5C


def _behind_backslashes(data: bytes, start: int) -> int:
    before = data[max(0, start - 40) : start]
    return len(before) - len(before.rstrip(b"\\"))


ARROWS = frozenset(sign.encode() for sign in "→│┃▶•–—“”‘’…├└─✓✔")


def _grown(data: bytes, start: int, end: int, whole: bytes, first: int) -> tuple[int, int]:
    """The part of a form with all that agrees with the form on both its sides."""
    after = whole[first + end - start :]
    if data.startswith(after, end):
        end += len(after)
    else:
        end += next(
            i for i, (a, b) in enumerate(zip_longest(after, data[end : end + len(after)])) if a != b
        )
        # A backslash may belong to the escape behind it; without it the text would no longer parse.
        end = start + len(data[start:end].rstrip(b"\\"))
    here = first
    while here and start and data[start - 1] == whole[here - 1]:
        start, here = start - 1, here - 1
    return start, end


def _with_edges(data: bytes, start: int, end: int, alignment: str) -> tuple[int, int]:
    """The image with the letters at its edges that hold a part of the value."""
    if alignment != "0" and start and data[start - 1] in BASE64:
        start -= 1
    for _ in range(2):
        if end < len(data) and data[end] in BASE64:
            end += 1
    while end < len(data) and data[end] == 0x3D:
        end += 1
    return start, end
