"""Learns what is secret in all texts of a trace, then masks it in each of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

import msgspec

from forsy_retrace.patterns import later
from forsy_retrace.redaction import engine, names, printed
from forsy_retrace.redaction.names import PLACEHOLDER, PLACEHOLDER_BYTES
from forsy_retrace.redaction.scan import CREDENTIAL, Find, rules
from forsy_retrace.redaction.spread import Spread, folded, is_worth_spreading
from forsy_retrace.redaction.strength import is_secret, names_a_session, strength

KINDS = (
    CREDENTIAL,
    names.EMAIL,
    names.PHONE,
    names.HOST,
    names.CUSTOMER,
    names.PERSON,
    names.USER,
)
RANK = {kind: rank for rank, kind in enumerate(("TERM", *KINDS))}
SURROGATES = later("[\ud800-\udfff]")
LEAST_PART = 4
SETTLING = 3
REMEMBERED = 64 << 20
"""Bytes of texts whose finds are kept between the passes."""


class Leak(msgspec.Struct, frozen=True):
    """A place where something secret stands; never the value."""

    kind: str
    rule: str
    start: int
    end: int


class Masked(NamedTuple):
    """A text as it is written, and the kinds of what was replaced in it."""

    text: str
    kinds: tuple[str, ...]


AS_IT_WAS = Masked("", ())
"""A text in which nothing was replaced."""


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
        self._remembered: dict[tuple[str, str], tuple[Find, ...] | Masked] = {}
        """What was found in a text under a name, until it is masked: then what became of it."""
        self._printed: dict[str, tuple[Find, ...]] = {}
        """What is secret in a text for the command that printed it."""
        self._room = REMEMBERED
        self._spread: Spread | None = None
        self._numbers: dict[tuple[str, bytes], int] = {}
        self._highest: dict[str, int] = {}
        self._counts: dict[str, int] = {}
        self._clean: set[int] = set()
        """Hashes of texts in which no rule and no learnt value found anything."""
        self._said: list[str] = []
        for term in terms:
            if term.strip():
                self._keep("TERM", _encode(term.strip()))

    def learn(self, text: str, key: str = "", *, is_shown: bool = True) -> None:
        """Takes in the secrets of one text; key is the field that holds it, where there is one.

        `is_shown` says that `mask` will be asked for it.
        """
        key = _telling(key)
        if not text or (text, key) in self._remembered:
            return
        finds = self._finds(text, key)
        for find in finds:
            if value := find.value.strip(b'"'):  # the sign around a text is no part of what it says
                self._keep(find.kind, value)
        for kind, number in PLACEHOLDER.findall(text) if "_" in text and "[" in text else ():
            self._highest[kind] = max(self._highest.get(kind, 0), int(number))
        if is_shown:
            self._remember(text, key, finds)

    def learn_printed(self, asked: str, text: str) -> None:
        """Takes in what of a text is secret for what was asked for: `pass show` and its output.

        Tell it before `learn` is told of the text.
        """
        fired = printed.fired(asked)
        if not fired:
            return
        data = _encode(text)
        found = tuple(
            Find(start, end, CREDENTIAL, rule, printed.value(data, start, end))
            for start, end, rule in printed.spans(fired, data, asked)
        )
        if found:
            known = self._printed.get(text, ())
            self._printed[text] = (*known, *(find for find in found if find not in known))
        for find in found:
            self._keep(find.kind, find.value)

    def seal(self) -> None:
        """Ends the first pass: the values learnt so far are looked for everywhere."""
        worth = [pair for pair in self._values if is_worth_spreading(*pair)]
        self._spread = Spread(worth, plain=self._plain)

    def mask(self, text: str, key: str = "") -> str:
        """The text without what is secret; the same object where nothing is."""
        if not text:
            return text
        masked = self._as_written(text, _telling(key))
        for kind in masked.kinds:
            self._counts[kind] = self._counts.get(kind, 0) + 1
        return masked.text if masked.kinds else text

    def holds(self, text: str) -> bool:
        """Whether `mask` would change a text; it does not count as masked."""
        return bool(text) and bool(self._as_written(text, "").kinds)

    def _as_written(self, text: str, key: str) -> Masked:
        held = self._remembered.get((text, key))
        if isinstance(held, Masked):
            return held
        if held is None:
            held = self._finds(text, key)
            self._remember(text, key, held)
        self._said = []
        new = self._mask(text, key, held)
        masked = Masked(new, tuple(self._said)) if self._said else AS_IT_WAS
        if (text, key) in self._remembered:
            self._remembered[text, key] = masked
        return masked

    def _mask(self, text: str, key: str, own: tuple[Find, ...]) -> str:
        if self._spread is None:
            self.seal()
        data = _encode(text)
        known = self._known(data)
        if not own and not known:
            self._clean.add(hash(text))
            return text
        masked = self._replace(text, data, [*own, *known])
        if _are_within(known, own):
            return masked
        # What was known from elsewhere is gone; what stood against it may now show.
        again = _encode(masked)
        return self._replace(masked, again, self._first_finds(masked, again, key))

    def forget(self) -> None:
        """Lets the texts go that it was shown; what it learnt from them stays."""
        self._remembered.clear()

    @property
    def counts(self) -> dict[str, int]:
        """Occurrences masked, by kind."""
        return dict(sorted(self._counts.items()))

    def leaks(self, data: bytes, *, texts: Iterable[str] | None = None) -> list[Leak]:
        """What is still secret in finished bytes; placeholders are no leak.

        Of a document whose texts are given, the rules read these instead of the bytes, and what
        is known counts where a text holds it, too. A text that went through `mask` and held
        nothing is not read by the same rules a second time.
        """
        leaks: set[Leak] = set()
        said: set[str] = set()
        for part in [data] if texts is None else self._unread(texts):
            leaks |= _unmasked(part, rules(plain=self._plain).scan(part, gate=True))
            said |= {leak.kind for leak in _unmasked(part, self._known(part))}
        # The signs around two texts may spell with them what neither of them says.
        if said:
            known = [find for find in self._known(data) if not _is_a_key(data, find)]
            leaks |= {leak for leak in _unmasked(data, known) if leak.kind in said}
        return sorted(leaks, key=lambda leak: (leak.start, leak.end, leak.rule))

    def _known(self, data: bytes) -> list[Find]:
        """Where the values stand that were learnt."""
        return self._spread.find(data) if self._spread else []

    def _unread(self, texts: Iterable[str]) -> Iterator[bytes]:
        """The texts that the gate has to read, each once."""
        seen: set[int] = set()
        for text in texts:
            key = hash(text)
            if key not in self._clean and key not in seen:
                seen.add(key)
                yield _encode(text)

    def places(self, text: str) -> list[Leak]:
        """What `mask` would replace in a text, in order; bytes of its UTF-8."""
        if self._spread is None:
            self.seal()
        data = _encode(text)
        found = _apart([*self._finds(text, ""), *self._known(data)])
        return [Leak(find.kind, find.rule, find.start, find.end) for find in found]

    def _finds(self, text: str, key: str) -> tuple[Find, ...]:
        """All finds of a text, also those that show only when the others are masked."""
        data = _encode(text)
        found = self._first_finds(text, data, key)
        for _ in range(SETTLING):
            if not found:
                break
            masked, way_back = _stand_ins(data, found)
            more = self._wanted(rules(plain=self._plain).scan(masked))
            more = [find for one in more if (find := way_back(one)) is not None]
            if not more:
                break
            found += more
        return tuple(dict.fromkeys(found))

    def _first_finds(self, text: str, data: bytes, key: str) -> list[Find]:
        found = rules(plain=self._plain).scan(data)
        found += self._printed.get(text, ())
        for pattern in self._patterns:
            found += _by_pattern(pattern, text)
        if key:
            found += _under_key(key, data)
        return self._wanted(found)

    def _wanted(self, found: list[Find]) -> list[Find]:
        return found if self._names else [find for find in found if find.kind != names.PERSON]

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
            for start, end in _around_placeholders(data, *_whole_characters(data, find)):
                if start >= done:
                    pieces += [data[done:start], self._placeholder(find.kind, find.value)]
                    done = end
        if not pieces:
            return text
        pieces.append(data[done:])
        return b"".join(pieces).decode("utf-8", "surrogatepass")

    def _placeholder(self, kind: str, value: bytes) -> bytes:
        self._said.append(kind)
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


def _are_within(finds: Iterable[Find], wider: Iterable[Find]) -> bool:
    """Each of the finds lies within one of the wider ones."""
    spans = sorted((find.start, find.end) for find in wider)
    starts = [start for start, _ in spans]
    reach = list(accumulate((end for _, end in spans), max, initial=0))
    return all(find.end <= reach[bisect_right(starts, find.start)] for find in finds)


def _unmasked(data: bytes, found: list[Find]) -> set[Leak]:
    """Finds that touch no placeholder."""
    if not found:
        return set()
    masked = [match.span() for match in PLACEHOLDER_BYTES.finditer(data)]
    ends = [end for _, end in masked]
    unmasked = set()
    for find in found:
        following = bisect_right(ends, find.start)
        if following == len(masked) or masked[following][0] >= find.end:
            unmasked.add(Leak(find.kind, find.rule, find.start, find.end))
    return unmasked


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


def _stand_ins(data: bytes, finds: list[Find]) -> tuple[bytes, Callable[[Find], Find | None]]:
    """The data as it will look when masked, and the way back for what is found in that."""
    pieces: list[bytes] = []
    starts: list[int] = []
    origins: list[int] = []
    ends: list[int] = []
    length = done = 0
    for find in _apart(list(finds)):
        start, end = _whole_characters(data, find)
        if start < done:
            continue
        pieces += [data[done:start], f"[{find.kind}_0]".encode()]
        starts.append(length)
        origins.append(done)
        ends.append(length + start - done)
        length += start - done + len(pieces[-1])
        done = end
    pieces.append(data[done:])
    starts.append(length)
    origins.append(done)
    ends.append(length + len(data) - done)

    def way_back(find: Find) -> Find | None:
        at = bisect_right(starts, find.start) - 1
        if find.end > ends[at]:
            return None  # it holds a placeholder
        shift = origins[at] - starts[at]
        return find._replace(start=find.start + shift, end=find.end + shift)

    return b"".join(pieces), way_back


def _whole_characters(data: bytes, find: Find) -> tuple[int, int]:
    start, end = find.start, find.end
    while start and data[start] & 0xC0 == 0x80:
        start -= 1
    while end < len(data) and data[end] & 0xC0 == 0x80:
        end += 1
    if data[end - 1 : end + 1] == b'\\"' and end - start > 1:
        head = end
        while head and data[head - 1] == 0x5C:
            head -= 1
        end -= (end - head) % 2  # the sign before a quote that a text holds is none of the secret's
    return start, end


def _around_placeholders(data: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The parts of a span that are not masked yet."""
    place = start
    for masked in PLACEHOLDER_BYTES.finditer(data, start, end):
        if masked.start() - place >= LEAST_PART:
            yield place, masked.start()
        place = masked.end()
    if place == start or end - place >= LEAST_PART:
        yield place, end


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


@lru_cache(maxsize=4096)
def _telling(key: str) -> str:
    """The name of a field if it promises a secret: a text is read once for all that do not."""
    return key if key and strength(_encode(key)[-80:]) else ""


def _under_key(key: str, data: bytes) -> list[Find]:
    """The whole text as a secret, where the field that holds it says so."""
    name = _encode(key)[-80:]
    level = 0 if names_a_session(name, data) else strength(name)
    if not level or len(data) > 4000 or not is_secret(data, level, quoted=True, certain=False):
        return []
    return [Find(0, len(data), CREDENTIAL, "field", data)]


def _is_a_key(data: bytes, find: Find) -> bool:
    """A name of ours that happens to be a learnt name: "steps": …"""
    if find.kind not in (names.USER, names.PERSON):
        return False
    return data[find.start - 1 : find.start] == b'"' and data[find.end : find.end + 2] == b'":'
