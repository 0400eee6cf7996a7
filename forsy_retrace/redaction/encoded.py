"""Secrets inside base64 and hex: the image of an anchor is a literal too."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from forsy_retrace.redaction import rules
from forsy_retrace.redaction.names import after_escape

if TYPE_CHECKING:
    from forsy_retrace.redaction.scan import Rule, Scan

RUN = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-"
HEX = b"0123456789abcdefABCDEF"
REACH = 8192
DEPTH = 2
LEAST = 4
"""Letters an image must have, to be rare enough."""
SHORTEST = 20
"""Letters a run must have, to be decoded."""

MORE = (
    *(b"-----BEGIN ", b"password", b"PASSWORD", b"secret", b"SECRET", b"_TOKEN", b"api_key"),
    *(b"postgres", b"mysql://", b"mongodb", b"redis://", b"amqp://", b"https://"),
    *(b"eyJhbGciOi", b"eyJ0eXAiOi", b"eyJraWQiOi"),
)


def rows() -> Iterator[tuple[bytes, Rule]]:
    anchors = {row.start.encode() for row in rules.tokens() if len(row.start) >= 4}
    for anchor in sorted(anchors | set(MORE)):
        yield binascii.hexlify(anchor), _hex
        for image in images(anchor):
            if len(image) >= LEAST:
                yield image.lower(), partial(_base64, image)
            if len(image) >= LEAST:
                for twice in images(image):
                    yield twice.lower(), partial(_base64, twice)


def images(value: bytes) -> list[bytes]:
    """What the value looks like inside base64, at each of the three alignments."""
    return [image for alignment in range(3) for image in images_at(value, alignment)]


def images_at(value: bytes, alignment: int) -> list[bytes]:
    """The letters of base64 that the value alone decides, in both alphabets."""
    text = base64.b64encode(b"\0" * alignment + value)
    image = text[(alignment * 8 + 5) // 6 : (alignment + len(value)) * 8 // 6]
    url = image.replace(b"+", b"-").replace(b"/", b"_")
    return [image] if url == image else [image, url]


def _base64(image: bytes, scan: Scan, start: int, end: int) -> None:
    data = scan.data
    if end <= scan.decoded or scan.depth >= DEPTH or data[start:end] != image:
        return
    window = data[max(0, start - REACH) : start]
    begin = start - (len(window) - len(window.rstrip(RUN)))
    begin = after_escape(data, begin, start)
    window = data[end : end + REACH]
    stop = end + len(window) - len(window.lstrip(RUN))
    while stop < len(data) and data[stop] == 0x3D and stop - end < REACH + 3:
        stop += 1
    scan.decoded = stop
    if stop - begin < SHORTEST:
        return
    run = data[begin:stop].rstrip(b"=").replace(b"-", b"+").replace(b"_", b"/")
    for shift in range(4):
        part = run[shift:]
        plain = base64.b64decode(part + b"A" * (-len(part) % 4))
        values = _secrets(plain, scan.depth + 1)
        if values:
            rest = begin if shift == 0 or stop - begin < 400 else begin + shift
            scan.add(rest, stop, "base64", value=values[0])
            return


def _hex(scan: Scan, start: int, end: int) -> None:
    data = scan.data
    if end <= scan.decoded or scan.depth >= DEPTH:
        return
    window = data[max(0, start - REACH) : start]
    begin = after_escape(data, start - (len(window) - len(window.rstrip(HEX))), start)
    window = data[end : end + REACH]
    stop = end + len(window) - len(window.lstrip(HEX))
    scan.decoded = stop
    if stop - begin < 32:
        return
    begin += (start - begin) % 2
    run = data[begin:stop]
    values = _secrets(binascii.unhexlify(run[: len(run) & ~1]), scan.depth + 1)
    if values:
        scan.add(begin, stop, "hex", value=values[0])


def _secrets(plain: bytes, depth: int) -> list[bytes]:
    """The credentials in decoded bytes."""
    from forsy_retrace.redaction.scan import CREDENTIAL
    from forsy_retrace.redaction.scan import rules as all_rules

    found = all_rules().read(plain, depth, gate=True)
    return [find.value for find in found if find.kind == CREDENTIAL]
