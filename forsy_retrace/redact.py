"""The only door to a Redacted trace, and every writer demands one.

All texts of a trace are learnt first, so that a secret known from one place is masked in every
other; then each is masked where it stands. Counts, ids, times and the format's own words pass.
"""

import hashlib
import io
import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import orjson

from forsy_retrace.document import Draft, Json
from forsy_retrace.errors import RetraceError, UnreadableInput
from forsy_retrace.patterns import later
from forsy_retrace.printings import looked_at
from forsy_retrace.redaction import Leak, Masker
from forsy_retrace.redaction import mask as mask
from forsy_retrace.redaction.masker import RANK
from forsy_retrace.redaction.spread import is_worth_spreading
from forsy_retrace.source import text_in
from forsy_retrace.tokens import ESTIMATE, EXACT, LOGGED

__all__ = ["Redacted", "Rules", "mask", "redact"]


OFF = "off"
"""What a manifest says in place of counts where nothing was looked for."""


class Rules(msgspec.Struct, frozen=True):
    """What a user asks of redaction beyond the built-in rules; `off` only by a second yes."""

    terms: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    names: bool = True
    off: bool = False
    include: tuple[str, ...] = ()
    """Of `system_prompt` and `memory`, what is to stand in the trace beside its digest."""


MOST_TERMS = 1 << 26
"""Bytes of a file of texts to mask."""


def terms_of(path: Path) -> tuple[str, ...]:
    """The texts of a user's file, one a line; blank lines count for nothing."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_TERMS + 1)
        if len(data) > MOST_TERMS:
            raise RetraceError(f"{path.name}: more than {MOST_TERMS >> 20} MB of texts to mask")
        lines = text_in(data, path.name).decode("utf-8-sig").split("\n")
    except OSError:
        raise RetraceError(f"{path.name}: the file of texts to mask can't be read") from None
    except UnicodeDecodeError:
        raise UnreadableInput(f"{path.name}: the texts to mask must be in UTF-8") from None
    terms = tuple(line.strip() for line in lines if line.strip())
    if not terms or not all(map(is_term, terms)):
        why = "a line of it is too short to be masked everywhere" if terms else "no text to mask"
        raise RetraceError(f"{path.name}: {why}")
    return terms


def is_term(text: str) -> bool:
    """Long enough to be looked for everywhere; less stands in every word."""
    return is_worth_spreading("TERM", text.strip().encode("utf-8", "surrogatepass"))


class Redacted:
    """A draft whose every text went through the masker. Made by `redact` alone."""

    def __init__(self, token: object, content: Draft, masker: "Masker | None") -> None:
        if token is not _TOKEN:
            raise TypeError("only redact() makes a Redacted trace")
        self.trace, self.evidence, self.manifest = content.trace, content.evidence, content.manifest
        self.adapter = content.adapter
        self._masker = masker

    @property
    def counts(self) -> "dict[str, int] | str":
        """Occurrences masked, by kind; `off` where redaction was."""
        return dict(sorted(self._masker.counts.items())) if self._masker else OFF

    def mask(self, text: str) -> str:
        """One more text of the same folder, with the same placeholders."""
        return self._masker.mask(text) if self._masker else text

    def leaks(self, data: bytes) -> Sequence[Leak]:
        """What the gate finds in finished bytes."""
        return self._masker.leaks(data) if self._masker else ()

    def leaks_of_document(self, data: bytes) -> Sequence[Leak]:
        """The same of a JSON document, which is read back part by part."""
        return self._leaks(data, (text for part in _parts(data) for text, _ in leaves(part)))

    def leaks_of_rows(self, data: bytes) -> Sequence[Leak]:
        """The same of JSON lines of figures and few texts.

        A quick reading takes names and the format's own words for texts; what it finds, a reading
        of the log's texts alone has to bear out.
        """
        found = self._leaks(data, texts_of(io.BytesIO(data)))
        rows = map(msgspec.json.decode, io.BytesIO(data))
        return found and self._leaks(data, (text for row in rows for text, _ in leaves(row)))

    def leaks_of_text(self, data: bytes) -> Sequence[Leak]:
        """The same of a text file."""
        return self._leaks(data, (data.decode("utf-8", "surrogateescape"),))

    def _leaks(self, data: bytes, texts: Iterable[str]) -> Sequence[Leak]:
        return self._masker.leaks(data, texts=texts) if self._masker else ()


_TOKEN = object()

Shapes = Mapping[str, re.Pattern[str]]

STRUCTURAL: Shapes = {
    "schema_version": later(r"forsy-trace-v0\.1"),
    "trace_id": later(r"forsy_trace_[0-9a-f]{16}"),
    "prior_trace_id": later(r"forsy_trace_[0-9a-f]{16}"),
    "started_at": later(r"\d{4}-\d\d-\d\dT[\d:.]+Z"),
    "ended_at": later(r"\d{4}-\d\d-\d\dT[\d:.]+Z"),
    "parallel_group": later(r"pg_\d+"),
    "actor": later(r"user|agent|system|subagent:agent_\d+"),  # other kinds are the log's words
    "call": later(r"(?:srv)?toolu_01[A-Za-z0-9]{22}|call_[A-Za-z0-9]{24}"),
    "message": later(r"msg_01[A-Za-z0-9]{22}"),
    "generator": later(r"forsy-retrace [0-9][0-9a-z.+]*"),
    "audit": later(r"forsy-retrace [0-9][0-9a-z.+]*"),
    "method": later("|".join(map(re.escape, (ESTIMATE, EXACT, LOGGED)))),
    "hash": later(r"sha256:[0-9a-f]{64}"),
    "memory_hash": later(r"sha256:[0-9a-f]{64}"),
    "system_prompt_hash": later(r"sha256:[0-9a-f]{64}"),
}
"""Fields that pass unread where their value has its one shape; a name alone exempts nothing."""

JSON_TEXT = later(rb'"([^"\\]*(?:\\.[^"\\]*)*)"')
JSON_IDS = later(
    "|".join(f'"{name}":"(?:{STRUCTURAL[name].pattern})"' for name in ("call", "message")).encode()
)
WORDS = later(r"[a-z_-]{1,40}")
NAMES = later("|".join((WORDS.pattern, *RANK)))
FORMAT_WORDS = frozenset(
    [
        "action",
        "operation",
        "execution_mode",
        "causal_type",
        "message_role",
        "feedback_type",
        "termination_reason",
        "trace_mode",
        "validation_level",
        "release_tier",
        "grade",
        "rule",
        "type",
        "role",
        "surface",
        "release_sensitivity",
        "name",
        "adapter",
        "formats_available",
        "field",
        "verdict",
    ]
)
"""Fields that hold one of the format's own words, or a rule's name."""

SHAPES: Shapes = {
    **STRUCTURAL,
    **dict.fromkeys(FORMAT_WORDS, WORDS),
    "claim": later(r"[a-z_.]{1,80}(?:\[\d+\])?"),
}

A_UUID = later(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
IN_LOGS: Shapes = {
    **STRUCTURAL,
    **dict.fromkeys(("uuid", "parentUuid", "logicalParentUuid", "leafUuid"), A_UUID),
    **dict.fromkeys(("messageId", "sourceToolAssistantUUID"), A_UUID),
    **dict.fromkeys(("toolUseID", "parentToolUseID", "tool_use_id", "id"), STRUCTURAL["call"]),
    "timestamp": STRUCTURAL["started_at"],
    "requestId": later(r"req_011[A-Za-z0-9]{21}"),
    # Bytes that begin as no text does: the seal of a thought.
    "signature": later(r"(?:E[a-z]|CA[A-Z])[A-Za-z0-9]{2}[A-Za-z0-9+/]{96,}={0,2}"),
}
"""The same of records of logs."""

HASHED = {"memory": "memory_hash", "system_prompt": "system_prompt_hash"}


def redact(
    content: Draft,
    rules: Rules = Rules(),  # noqa: B008 (Rules is frozen)
    also: Iterable[tuple[str, str]] = (),
    printed: Iterable[tuple[str, str]] = (),
) -> Redacted:
    """Masks every text of a draft; equal values get equal placeholders over the whole folder.

    `also` are texts, with their fields' names, that are not written but may give a secret away;
    `printed` are commands, each with what it printed.
    """
    if rules.off:
        _hash_prompts(content.trace, rules.include)
        return Redacted(_TOKEN, content, None)
    masker = masker_of(rules)
    in_evidence = _texts_of_rows(content.evidence)
    unnamed = ((text, "") for text in in_evidence)
    shown = chain(leaves(content.trace), unnamed, leaves(content.manifest))
    seen = set[int]()
    for artifact in content.trace["static_output"]["artifacts"]:
        if artifact["content"]:
            masker.learn_printed(looked_at(artifact["path"]), artifact["content"])
    for asked, output in printed:
        masker.learn_printed(asked, output)
    for text, key in _once(shown, seen):
        masker.learn(text, key)
    for text, key in _once(also, seen):
        masker.learn(text, key, is_shown=False)
    del seen
    masker.seal()
    trace = masked(content.trace, masker)
    evidence = content.evidence
    if any(map(masker.holds, in_evidence)):
        evidence = [masked(row, masker) for row in evidence]
    manifest = masked(content.manifest, masker)
    for old, new, row in zip(content.trace["steps"], trace["steps"], evidence, strict=True):
        for name, entry in list(row["fields"].items()) if new is not old else ():
            if old[name] != new[name]:
                row["fields"][name] = {**entry, "redacted": True}
    _hash_prompts(trace, rules.include)
    masker.forget()
    told = msgspec.structs.replace(content, trace=trace, evidence=evidence, manifest=manifest)
    return Redacted(_TOKEN, told, masker)


def _once(texts: Iterable[tuple[str, str]], seen: set[int]) -> Iterator[tuple[str, str]]:
    """What was not seen, told by its hash: the texts themselves would fill the memory."""
    for pair in texts:
        if (known := hash(pair)) not in seen:
            seen.add(known)
            yield pair


def masker_of(rules: Rules) -> Masker:
    """A masker by a user's wishes; one that it can't follow is the user's to mend."""
    try:
        return Masker(terms=rules.terms, patterns=rules.patterns, names=rules.names)
    except ValueError as error:
        raise RetraceError(str(error)) from None


def as_asked(text: str, rules: Rules) -> str:
    """One text on its own, masked, with the texts that the user wants masked."""
    masker = masker_of(rules)
    masker.learn(text)
    masker.seal()
    return masker.mask(text)


def _parts(data: bytes) -> Iterator[Any]:
    """The members of a JSON object one by one, those of a long list too."""
    for name, member in msgspec.json.decode(data, type=dict[str, msgspec.Raw]).items():
        if bytes(memoryview(member)[:1]) == b"[":
            for item in msgspec.json.decode(member, type=list[msgspec.Raw]):
                yield {name: msgspec.json.decode(item)}
        else:
            yield {name: msgspec.json.decode(member)}


def texts_of(rows: Iterable[bytes]) -> list[str]:
    """Each distinct text and name in encoded JSON once; ids of one shape pass."""
    found: dict[bytes, None] = {}
    for row in rows:
        row = JSON_IDS.sub(b"", row)
        # Without an escape, every quote begins or ends a text.
        texts = JSON_TEXT.findall(row) if b"\\" in row else row.split(b'"')[1::2]
        found.update(dict.fromkeys(texts))
    return [msgspec.json.decode(b'"%b"' % one, type=str) for one in found]


def _texts_of_rows(rows: Sequence[Json]) -> list[str]:
    """The few texts that thousands of rows of figures hold."""
    try:
        return texts_of(map(orjson.dumps, rows))
    except TypeError:  # half a pair of surrogates
        return [text for text, _ in leaves(rows)]


def leaves(value: Any, key: str = "", *, ours: bool = True) -> list[tuple[str, str]]:
    """Every text of a JSON value with the name of its field; odd names are texts too.

    Only what is ours has fields that hold the format's own words.
    """
    found: list[tuple[str, str]] = []
    _gather(value, key, found, SHAPES if ours else IN_LOGS)
    return found


def _gather(value: Any, key: str, found: list[tuple[str, str]], shapes: Shapes) -> None:
    match value:
        case str():
            if not _is_structural(key, value, shapes):
                found.append((value, key))
        case dict():
            for name, item in value.items():
                if not _is_plain_name(name):
                    found.append((name, ""))
                if item.__class__ is str:  # most are: one call less for each
                    if not _is_structural(name, item, shapes):
                        found.append((item, name))
                elif item.__class__ not in WORDLESS:
                    _gather(item, name, found, shapes)
        case list() | tuple():
            for item in value:
                _gather(item, key, found, shapes)


def masked(value: Any, masker: Masker, key: str = "", *, ours: bool = True) -> Any:
    """The value with every text masked; the same object where nothing in it is."""
    return _masked(value, masker, key, SHAPES if ours else IN_LOGS)


def _masked(value: Any, masker: Masker, key: str, shapes: Shapes) -> Any:
    match value:
        case str():
            if _is_structural(key, value, shapes):
                return value
            if key == "actor" and (named := A_SUBAGENT.fullmatch(value)):
                return f"subagent:{masker.mask(named[1])}_{named[2]}"
            return masker.mask(value, key)
        case dict():
            new = {}
            is_same = True
            for name, item in value.items():
                shown = name if _is_plain_name(name) else masker.mask(name)
                told = item if item.__class__ in WORDLESS else _masked(item, masker, name, shapes)
                new[shown] = told
                is_same = is_same and told is item and shown is name
            return value if is_same else new
        case list() | tuple():
            items = []  # by a loop: a comprehension would take a second frame a level
            for item in value:
                items.append(_masked(item, masker, key, shapes))
            return value if all(map(operator.is_, items, value)) else items
    return value


A_SUBAGENT = later(r"subagent:(.*)_(\d+)", re.S)
"""An actor whose kind is the log's word: its number is ours, whatever a secret takes along."""
WORDLESS = frozenset((int, bool, float, type(None)))
"""What holds no text."""


@lru_cache(maxsize=4096)
def _is_plain_name(name: str) -> bool:
    return NAMES.fullmatch(name) is not None


def _is_structural(key: str, value: str, shapes: Shapes) -> bool:
    shape = shapes.get(key)
    return shape is not None and shape.fullmatch(value) is not None


def _hash_prompts(trace: Json, include: Sequence[str]) -> None:
    """Prompts and memory stand as digests of their masked text, and whole where asked for."""
    config = trace["agent_config"]
    for field, name in HASHED.items():
        if isinstance(config.get(name), str):
            text = config[name]
            if field in include:
                trace[field] = text
            config[name] = f"sha256:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()}"
