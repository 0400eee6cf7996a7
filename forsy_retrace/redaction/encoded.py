"""Secrets inside base64 and hex: the image of an anchor is a literal too."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from forsy_retrace.patterns import later
from forsy_retrace.redaction import rules
from forsy_retrace.redaction.names import after_escape
from forsy_retrace.tables import made

if TYPE_CHECKING:
    from forsy_retrace.redaction.scan import Rule, Scan

RUN = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-"
HEX = b"0123456789abcdefABCDEF"
REACH = 8192
DEPTH = 2
LEAST = 4
"""Letters an image must have, to be rare enough."""
HEAD = 6
"""Letters of an image that are looked for; the rest is compared where they stand."""
SHORTEST = 20
"""Letters a run must have, to be decoded."""
NARROWEST, WIDEST = 40, 200
"""Letters of a line of base64 that programs print in several."""
LINES = 400
GAP = 24
"""Bytes of a line's end and the indent of the next."""
BREAK = later(rb"\r?\n[ \t]{0,20}")
# What is said to be base64, so that it is decoded whatever is in it.
GIVEN = later(rb"[ \t\"'(=<:,]{0,12}([A-Za-z0-9+/_-]{16,8000})={0,2}")
PRINTS = later(rb"(?:echo|printf)[ \t]{1,4}(?:-[a-zA-Z]{1,3}[ \t]{1,4})?[\"']?$")

MORE = (
    *(b"-----BEGIN ", b"password", b"PASSWORD", b"secret", b"SECRET", b"_TOKEN", b"api_key"),
    *(b"postgres", b"mysql://", b"mongodb", b"redis://", b"amqp://", b"https://"),
    *(b"eyJhbGciOi", b"eyJ0eXAiOi", b"eyJraWQiOi"),
)


def rows() -> Iterator[tuple[bytes, Rule]]:
    for anchor in sorted(_anchors()):
        yield binascii.hexlify(anchor), _hex
    for head in _images():
        yield head, _base64
    for decoder in rules.load("words.toml")["encoded"]["decoders"]:
        yield decoder.encode(), _decoded
    for flag in rules.load("words.toml")["encoded"]["powershell"]:
        yield flag.encode(), _of_powershell


def _anchors() -> set[bytes]:
    return {row.start.encode() for row in rules.tokens() if len(row.start) >= 4} | set(MORE)


@cache
def _images() -> dict[bytes, tuple[bytes, ...]]:
    """What the anchors look like in base64, encoded once or twice, by heads in small letters.

    Half of all literals are such images; whole they would make the automaton twice as large.
    """
    code = Path(__file__).read_bytes()
    found = made("images", code + b"\n".join(sorted(_anchors())), lambda _: _by_heads())
    return {head: tuple(images) for head, images in found.items()}


def _by_heads() -> dict[bytes, list[bytes]]:
    once = _encoded(_anchors())
    found: dict[bytes, list[bytes]] = {}
    for image in sorted(once | _encoded(once)):
        found.setdefault(image[:HEAD].lower(), []).append(image)
    return found


def _encoded(values: set[bytes]) -> set[bytes]:
    found = (image for value in values for at in range(3) for image in images_at(value, at))
    return {image for image in found if len(image) >= LEAST}


def images_at(value: bytes, alignment: int) -> list[bytes]:
    """The letters of base64 that the value alone decides, in both alphabets."""
    text = binascii.b2a_base64(b"\0" * alignment + value, newline=False)
    image = text[(alignment * 8 + 5) // 6 : (alignment + len(value)) * 8 // 6]
    if b"+" not in image and b"/" not in image:
        return [image]
    return [image, image.replace(b"+", b"-").replace(b"/", b"_")]


def _base64(scan: Scan, start: int, end: int) -> None:
    data = scan.data
    if end <= scan.decoded or scan.depth >= DEPTH:
        return
    if not data.startswith(_images()[scan.low[start:end]], start):
        return
    window = data[max(0, start - REACH) : start]
    begin = start - (len(window) - len(window.rstrip(RUN)))
    begin = after_escape(data, begin, start)
    window = data[end : end + REACH]
    stop = end + len(window) - len(window.lstrip(RUN))
    while stop < len(data) and data[stop] == 0x3D and stop - end < REACH + 3:
        stop += 1
    lines = [*_lines_above(data, begin, stop), (begin, stop)]
    lines += _lines_below(data, begin, stop)
    begin, stop = lines[0][0], lines[-1][1]
    scan.decoded = stop
    if stop - begin < SHORTEST:
        return
    text = b"".join(data[first:last] for first, last in lines)
    run = text.rstrip(b"=").replace(b"-", b"+").replace(b"_", b"/")
    for shift in range(4):
        part = run[shift:]
        plain = base64.b64decode(part + b"A" * (-len(part) % 4))
        values = _secrets(plain, scan.depth + 1)
        if values:
            rest = begin if shift == 0 or stop - begin < 400 else begin + shift
            scan.add(rest, stop, "base64", value=values[0])
            return


def _lines_above(data: bytes, begin: int, stop: int) -> list[tuple[int, int]]:
    """The lines of that width right above, where programs print base64 in lines of one width."""
    found: list[tuple[int, int]] = []
    width = _width(data, begin, stop)
    while width and stop - begin <= width and len(found) < LINES:
        above = data[max(0, begin - GAP) : begin].rstrip(b" \t")
        if not above.endswith(b"\n"):
            break
        last = begin - GAP + len(above) if begin >= GAP else len(above)
        last -= 2 if above.endswith(b"\r\n") else 1
        first = last - width
        if first < 0 or data[first:last].strip(RUN) or (first and data[first - 1] in RUN):
            break
        found.append((first, last))
        begin, stop = first, last
    return found[::-1]


def _lines_below(data: bytes, begin: int, stop: int) -> list[tuple[int, int]]:
    """The lines right below, of that width but for the last."""
    found: list[tuple[int, int]] = []
    width = stop - begin
    while width >= NARROWEST and stop - begin == width and len(found) < LINES:
        if data[stop - 1] == 0x3D:
            break  # base64 ends here
        gap = BREAK.match(data, stop)
        if gap is None:
            break
        window = data[gap.end() : gap.end() + width + 1]
        run = len(window) - len(window.lstrip(RUN))
        if not 0 < run <= width:
            break
        begin, stop = gap.end(), gap.end() + run
        while stop < len(data) and data[stop] == 0x3D and stop - begin < width:
            stop += 1
        found.append((begin, stop))
    return found


def _width(data: bytes, begin: int, stop: int) -> int:
    """How wide the lines above may be: as this one, or wider where it may be the last."""
    above = data.rfind(b"\n", max(0, begin - GAP), begin)
    if above < 0 or data[above + 1 : begin].strip(b" \t"):
        return 0
    line = data[max(0, above - WIDEST) : above].rstrip(b"\r")
    width = len(line) - len(line.rstrip(RUN))
    return width if width >= max(NARROWEST, stop - begin) else 0


def _decoded(scan: Scan, start: int, end: int) -> None:
    """What a command or a call decodes, behind its name or printed into it."""
    data = scan.data
    run = GIVEN.match(data, end)
    begin, stop = run.span(1) if run else (start, start)
    if run is None:
        window = data[max(0, start - REACH) : start]
        text = window.rstrip(b" \t|\"'").rstrip(b"=")
        stop = start - len(window) + len(text)
        begin = stop - len(text) + len(text.rstrip(RUN))
        if b"|" not in data[stop:start] or not PRINTS.search(data, max(0, begin - 20), begin):
            return
    if scan.depth < DEPTH and stop - begin >= SHORTEST:
        _add_decoded(scan, begin, stop, _plain(data[begin:stop]))


def _of_powershell(scan: Scan, start: int, end: int) -> None:
    """A command of PowerShell's, which is UTF-16."""
    run = GIVEN.match(scan.data, end)
    if run and scan.depth < DEPTH:
        wide = _plain(run[1]).decode("utf-16-le", "replace")
        _add_decoded(scan, *run.span(1), wide.encode("utf-8", "replace"))


def _plain(run: bytes) -> bytes:
    run = run.replace(b"-", b"+").replace(b"_", b"/")
    return base64.b64decode(run + b"A" * (-len(run) % 4))


def _add_decoded(scan: Scan, begin: int, stop: int, plain: bytes) -> None:
    values = _secrets(plain, scan.depth + 1)
    if values:
        stop += 2 - len(scan.data[stop : stop + 2].lstrip(b"="))
        scan.add(begin, stop, "base64", value=values[0])


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
