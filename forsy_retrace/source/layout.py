"""How the first bytes of a file tell what its records are."""

import io
import re
from collections.abc import Iterator

from forsy_retrace.evidence import Evidence
from forsy_retrace.patterns import later

from .cut import Cutter, Piece
from .values import NOT_JSON, Record, decode

MARK = b"\xef\xbb\xbf"
SCRIPT = later(rb"\b(?:var|let|const)\s+\w+\s*=\s*(?=[\[{])")
"""A value that a page or a module assigns: ChatGPT's chat.html holds its conversations so."""
NOWHERE = Evidence("", 0, 0, 0)


def first_value(data: bytes) -> Piece | None:
    """The first whole value in some bytes."""
    found = Cutter(io.BytesIO(data)).values()
    return next((piece for piece in found if piece.closed and not piece.text), None)


def opens_array(body: bytes) -> bool:
    """Whether `[` opens an array, and no line of another log: `[2026-01-31 12:00] INFO`."""
    first = next(Cutter(io.BytesIO(body)).elements(), None)
    if first is None or first.data is None:
        return body.split() == [b"[", b"]"]
    opening = first.data[:1]
    if opening in (b"{", b'"', b"["):
        return opening == b"{" or not first.closed or not decode(first.data, NOWHERE).problem
    return not decode(first.data, NOWHERE).problem


def assigned(body: bytes, lead: bytes) -> int:
    """Where the value begins that a page or module assigns first; 0 where there is none."""
    if body[:1] == b"<" or re.match(rb"(?:export\s+)?(?:var|let|const)\s", body):
        found = SCRIPT.search(lead)
        return found.end() if found else 0
    return 0


def glued(body: bytes, here: Evidence) -> Iterator[Record]:
    """Several values on one line (a lost newline), if nothing else stands between them."""
    for piece in Cutter(io.BytesIO(body)).values():
        if piece.text:
            yield Record(here, problem=NOT_JSON)
        elif piece.closed:
            place = Evidence(here.file, here.line, here.start + piece.start, here.start + piece.end)
            yield decode(piece.data or b"", place)
        else:
            place = Evidence(here.file, here.line, here.start + piece.start, here.end)
            yield Record(place, problem="unreadable: cut off")
