"""Which records of a log had to be repaired before they could be read.

Bytes that are no UTF-8 and lone surrogates become U+FFFD, NaN a text: what a trace then shows of
them is not what the log holds. Next to no log has any, so its bytes are looked at first.
"""

from codecs import getincrementaldecoder
from collections.abc import Sequence
from functools import lru_cache
from itertools import count

from forsy_retrace.evidence import Evidence
from forsy_retrace.patterns import later

from .forms import OF_JSON, reread
from .log import Source
from .values import decode

PIECE = 1 << 20
"""Bytes that are looked at in one go."""
MARKS = (b"\\ud", b"\\uD", b"NaN", b"Infinity")
ODD = later(rb"\\u[dD][89a-fA-F]|[:\[,]\s{0,8}-?(?:NaN|Infinity)\b")
"""What may be a lone surrogate or no number: only the whole record tells."""
REPLACED = "\ufffd"


def repaired(source: Source, records: Sequence[Evidence]) -> int:
    """How many of the records of one log, which ascend, say something else than their bytes."""
    if not records or not _may_be(source):
        return 0
    spans = source.spans((here.start, here.end) for here in records)
    return sum(_is_repaired(data, here) for here, data in zip(records, spans, strict=True))


@lru_cache(maxsize=8)
def _may_be(source: Source) -> bool:
    """Whether anything in a log is odd: looked at once, however many sessions are in it."""
    decoder, before = getincrementaldecoder("utf-8")(), b""
    try:
        for data in source.spans((at, at + PIECE) for at in count(0, PIECE)):
            if not data:
                return False
            decoder.decode(data)
            if _is_odd(before + data):
                return True
            before = data[-16:]
    except UnicodeDecodeError:
        return True
    return False


def _is_odd(data: bytes) -> bool:
    return any(mark in data for mark in MARKS) and ODD.search(data) is not None


def _is_repaired(data: bytes, here: Evidence) -> bool:
    is_text = here.form and here.form not in OF_JSON
    try:
        if is_text or not _is_odd(data):
            data.decode()
            return False
    except UnicodeDecodeError:
        if is_text:
            return REPLACED in str(reread(data, here).value)
    return decode(data, here).repaired
