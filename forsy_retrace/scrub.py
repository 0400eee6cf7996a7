"""Masks any text on its own, or says what in it would be masked: for files that are no trace."""

import io
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from forsy_retrace.errors import RetraceError, UnreadableInput
from forsy_retrace.logs import named
from forsy_retrace.printings import learn_log
from forsy_retrace.redact import Rules, masker_of
from forsy_retrace.source import Source, Unread, below, is_sealed, text_in

PIECE = 1 << 20
"""Bytes that are looked at together, cut at a line end."""


class Place(msgspec.Struct, frozen=True):
    """Where something private stands: never the value."""

    name: str
    line: int
    """From 1; 0 for the file's own name."""
    kind: str
    rule: str


def redacted(
    stream: BinaryIO,
    rules: Rules = Rules(),  # noqa: B008 (Rules is frozen)
    name: str = "",
    log: Path | None = None,
) -> Iterator[bytes]:
    """The text without what is private; equal values get equal placeholders all through it.

    What is packed, or in a wide encoding, comes out as plain UTF-8; what is no text is refused.
    Of a file that is a log, what its commands printed is judged by the commands.
    """
    data = text_in(stream.read(), name)
    texts = [_text(piece) for piece in _pieces(io.BytesIO(data))]
    masker = masker_of(rules)
    if log is not None:
        learn_log(masker, named(log))
    for text in texts:
        masker.learn(text)
    masker.seal()
    for text in texts:
        yield masker.mask(text).encode("utf-8", "surrogateescape")


def scanned(path: Path, rules: Rules) -> Iterator[Place | Unread]:
    """Every place in a file, or in the files below a folder, that holds something private.

    A zip's files are looked at one by one. What can't be looked at is named with the reason.
    What several names hold, as those below one folder do, is told of the first.
    """
    told: set[bytes] = set()
    for one in _contents(path):
        name = one.name if isinstance(one, Unread) else one[0]
        for leak in masker_of(rules).places(name):
            value = name.encode("utf-8", "surrogatepass")[leak.start : leak.end]
            if value not in told:
                told.add(value)
                yield Place(name, 0, leak.kind, leak.rule)
        if isinstance(one, Unread):
            yield one
            continue
        whole = one[1]
        masker = masker_of(rules)
        learn_log(masker, one[2])
        first = 1
        text = _text(whole)
        masker.learn(text)
        data = text.encode("utf-8", "surrogatepass")  # what the places count
        starts = [0]
        while (stop := data.find(b"\n", starts[-1])) >= 0:
            starts.append(stop + 1)
        for leak in masker.places(text):
            while first < len(starts) and starts[first] <= leak.start:
                first += 1
            yield Place(name, first, leak.kind, leak.rule)


def second_opinion(path: Path) -> Iterator[Place]:
    """What another engine's rules find in the same files: Kingfisher's, offline, in process."""
    from forsy_retrace.redaction.engine import optional

    kingfisher = optional("kingfisher_sdk")
    if kingfisher is None:
        raise RetraceError(
            "a second opinion needs kingfisher: pip install 'forsy-retrace[paranoid]'"
        )
    scanner = kingfisher.Scanner(kingfisher.Rules(cache=False), redact=True)
    for one in _contents(path):
        if isinstance(one, Unread):
            continue
        for found in scanner.scan(one[1]):
            if found.visible:
                told = found.to_dict()
                yield Place(one[0], told["location"]["line"], "CREDENTIAL", told["rule_id"])


def _contents(path: Path) -> Iterator[tuple[str, bytes, Source] | Unread]:
    """The name and the plain bytes of each file, or why there are none."""
    for source in below(path) if os.path.isdir(path) else (named(path),):
        yield from _unpacked(source)


def _unpacked(source: Source | Unread) -> Iterator[tuple[str, bytes, Source] | Unread]:
    if isinstance(source, Unread):
        yield source
        return
    try:
        if source.is_archive:
            for one in source.inside():
                yield from _unpacked(one)
        elif is_sealed(data := source.whole(strict=True)):
            yield Unread(source.name, "packed within, or in a way that is not read here")
        else:
            yield source.name, data, source
            if b"\0" in data:
                yield Unread(source.name, "zero bytes in it: not all of it may be text")
    except UnreadableInput as error:
        yield Unread(source.name, str(error).removeprefix(f"{source.name}: "))


def _pieces(stream: BinaryIO) -> Iterator[bytes]:
    held: list[bytes] = []
    size = 0
    for line in stream:
        held.append(line)
        size += len(line)
        if size >= PIECE:
            yield b"".join(held)
            held, size = [], 0
    if held:
        yield b"".join(held)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
