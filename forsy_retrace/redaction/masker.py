"""Learns what is secret in all texts of a trace, then masks it in each of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from forsy_retrace.redaction import context, engine, identity, shape
from forsy_retrace.redaction.scan import CREDENTIAL, Find, Rules, rules
from forsy_retrace.redaction.spread import Spread, folded, is_worth_spreading

KINDS = (CREDENTIAL, identity.EMAIL, identity.HOST, identity.CUSTOMER, identity.PERSON, identity.USER)
RANK = {kind: rank for rank, kind in enumerate(("TERM", *KINDS))}
PLACEHOLDER = re.compile(r"\[(CREDENTIAL|EMAIL|INTERNAL_URL|CUSTOMER_ID|PERSON|USER|TERM)_([0-9]{1,9})\]")
PLACEHOLDER_BYTES = re.compile(PLACEHOLDER.pattern.encode())
SURROGATES = re.compile("[\ud800-\udfff]")
REMEMBERED = 64 << 20
"""Bytes of texts whose finds are kept between the passes."""


class Leak(msgspec.Struct, frozen=True):
    """A place where something secret is left; never the value."""

    kind: str
    rule: str
    start: int
    end: int


class Masker:
    """`learn` every text, `seal`, then `mask` every text; the numbers follow the output."""

    def __init__(
        self,
        *,
        terms: Sequence[str] = (),
        patterns: Sequence[str] = (),
        names: bool = True,
        plain: bool = False,
    ) -> None:
        """Terms are literals, patterns are expressions for re2; plain does without the wheels."""
        self._names, self._plain = names, plain
        self._patterns = engine.compile_users(patterns)
        self._values: dict[tuple[str, bytes], bytes] = {}
        self._remembered: dict[tuple[str, str], tuple[Find, ...]] = {}
        self._room = REMEMBERED
        self._spread: Spread | None = None
        self._numbers: dict[tuple[str, bytes], int] = {}
        self._highest: dict[str, int] = {}
        self._counts: dict[str, int] = {}
        for term in terms:
            if term.strip():
                self._keep("TERM", _encode(term.strip()))

    def learn(self, text: str, key: str = "") -> None:
        """Takes in the secrets of one text; key is the field that holds it, where there is one."""
        if not text or (text, key) in self._remembered:
            return
        finds = self._finds(text, key)
        for find in finds:
            self._keep(find.kind, find.value)
        for kind, number in PLACEHOLDER.findall(text) if "_" in text and "[" in text else ():
            self._highest[kind] = max(self._highest.get(kind, 0), int(number))
        self._remember(text, key, finds)

    def seal(self) -> None:
        """Ends the first pass: the values learnt so far are looked for everywhere."""
        worth = [pair for pair in self._values if is_worth_spreading(*pair)]
        self._spread = Spread(worth, plain=self._plain)

    def mask(self, text: str, key: str = "") -> str:
        """The text without what is secret; the same object where nothing is."""
        if not text:
            return text
        if self._spread is None:
            self.seal()
        finds: Iterable[Find] = self._remembered.get((text, key), ()) or self._finds_again(text, key)
        data: bytes | None = None
        if self._spread is not None and self._spread.literals is not None:
            data = _encode(text)
            finds = [*finds, *self._spread.find(data)]
        if not finds:
            return text
        return self._replace(text, _encode(text) if data is None else data, list(finds))

    @property
    def counts(self) -> dict[str, int]:
        """Occurrences masked, by kind."""
        return dict(sorted(self._counts.items()))

    def leaks(self, data: bytes) -> list[Leak]:
        """What is still secret in finished bytes; placeholders are no leak."""
        found = list(self._spread.find(data)) if self._spread else []
        found = [find for find in found if not _is_a_key(data, find)]
        found += rules(plain=self._plain, gate=True).scan(data)
        masked = [match.span() for match in PLACEHOLDER_BYTES.finditer(data)]
        leaks = {
            Leak(find.kind, find.rule, find.start, find.end)
            for find in found
            if not any(a < find.end and find.start < b for a, b in masked)
        }
        return sorted(leaks, key=lambda leak: (leak.start, leak.end, leak.rule))

    def _finds_again(self, text: str, key: str) -> tuple[Find, ...]:
        if (text, key) in self._remembered:
            return ()
        finds = self._finds(text, key)
        self._remember(text, key, finds)
        return finds

    def _finds(self, text: str, key: str) -> tuple[Find, ...]:
        data = _encode(text)
        scanner: Rules = rules(plain=self._plain)
        found = scanner.scan(data)
        for pattern in self._patterns:
            found += _by_pattern(pattern, text)
        if key:
            found += _under_key(key, data)
        if not self._names:
            found = [find for find in found if find.kind != identity.PERSON]
        return tuple(dict.fromkeys(found))

    def _remember(self, text: str, key: str, finds: tuple[Find, ...]) -> None:
        if len(text) <= self._room:
            self._room -= len(text)
            self._remembered[text, key] = finds

    def _keep(self, kind: str, value: bytes) -> None:
        self._values.setdefault((kind, folded(kind, value)), value)

    def _replace(self, text: str, data: bytes, finds: list[Find]) -> str:
        pieces: list[bytes] = []
        done = 0
        for find in _apart(finds):
            start, end = _whole_characters(data, find.start, find.end)
            if PLACEHOLDER_BYTES.search(data, start, end) or start < done:
                continue
            pieces.append(data[done:start])
            pieces.append(self._placeholder(find.kind, find.value))
            done = end
        if not pieces:
            return text
        pieces.append(data[done:])
        return b"".join(pieces).decode("utf-8", "surrogatepass")

    def _placeholder(self, kind: str, value: bytes) -> bytes:
        self._counts[kind] = self._counts.get(kind, 0) + 1
        name = kind, folded(kind, value)
        number = self._numbers.get(name)
        if number is None:
            number = self._highest[kind] = self._highest.get(kind, 0) + 1
            self._numbers[name] = number
        return f"[{kind}_{number}]".encode()


def mask(text: str) -> str:
    """One text on its own, masked."""
    masker = Masker()
    masker.learn(text)
    masker.seal()
    return masker.mask(text)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _apart(finds: list[Find]) -> list[Find]:
    """Finds that do not overlap: what overlaps is joined under the weightier kind."""
    finds.sort(key=lambda find: (find.start, -find.end, RANK[find.kind]))
    kept: list[Find] = []
    for find in finds:
        last = kept[-1] if kept else None
        if last is None or find.start >= last.end:
            kept.append(find)
            continue
        end = max(last.end, find.end)
        better = min(last, find, key=lambda one: (RANK[one.kind], one.start - one.end))
        kept[-1] = better._replace(start=last.start, end=end)
    return kept


def _whole_characters(data: bytes, start: int, end: int) -> tuple[int, int]:
    while start and data[start] & 0xC0 == 0x80:
        start -= 1
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    return start, end


def _by_pattern(pattern: Any, text: str) -> list[Find]:
    """What the user's pattern finds, as places in the encoded text."""
    if SURROGATES.search(text):
        text = SURROGATES.sub("\ufffd", text)  # as long in UTF-8 as what it replaces
    found = []
    for match in pattern.finditer(text):
        if match.end() > match.start():
            start = len(text[: match.start()].encode())
            value = match.group().encode()
            found.append(Find(start, start + len(value), "TERM", "pattern", value))
    return found


def _under_key(key: str, data: bytes) -> list[Find]:
    """The whole text as a secret, where the field that holds it says so."""
    level = context.strength(_encode(key).lower()[-80:])
    if not level or len(data) > 4000 or shape.is_reference(data, quoted=True):
        return []
    if level == context.PASSWORD:
        is_secret = shape.is_password(data, quoted=True, certain=False)
    else:
        is_secret = shape.is_token(data, 8 if level == context.TOKEN else 16, hard=level == 1)
    return [Find(0, len(data), CREDENTIAL, "field", data)] if is_secret else []


def _is_a_key(data: bytes, find: Find) -> bool:
    """A name of ours that happens to be a learnt name: "steps": …"""
    if find.kind not in (identity.USER, identity.PERSON):
        return False
    return data[find.start - 1 : find.start] == b'"' and data[find.end : find.end + 2] == b'":'
