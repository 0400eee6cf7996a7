"""Which records of a log had to be repaired before they could be read.

Bytes that are no UTF-8 and lone surrogates become U+FFFD, NaN a text: what a trace then shows of
them is not what the log holds. Next to no log has any, so its bytes are looked at first.
"""

from codecs import getincrementaldecoder
from collections.abc import Sequence

from forsy_retrace.evidence import Evidence
from forsy_retrace.patterns import later

from .forms import OF_JSON, reread
from .log import Source
from .values import decode

PIECE = 1 << 20
"""Bytes that are looked at in one go."""
ODD = later(rb"\\u[dD][89a-fA-F]|[:\[,]\s{0,8}-?(?:NaN|Infinity)\b")
"""What may be a lone surrogate or no number: only the whole record tells."""
REPLACED = "\ufffd"


def repaired(source: Source, records: Sequence[Evidence]) -> int:
    """How many of the records of one log, which ascend, say something else than their bytes."""
    if not records or not _may_be(source, max(here.end for here in records)):
        return 0
    spans = source.spans((here.start, here.end) for here in records)
    return sum(_is_repaired(data, here) for here, data in zip(records, spans, strict=True))


def _may_be(source: Source, end: int) -> bool:
    """Whether anything in a log up to there is odd."""
    decoder, before = getincrementaldecoder("utf-8")(), b""
    try:
        for data in source.spans((at, min(at + PIECE, end)) for at in range(0, end, PIECE)):
            decoder.decode(data)
            if ODD.search(before + data):
                return True
            before = data[-16:]
    except UnicodeDecodeError:
        return True
    return False


def _is_repaired(data: bytes, here: Evidence) -> bool:
    is_text = here.form and here.form not in OF_JSON
    try:
        if ODD.search(data) is None or is_text:
            data.decode()
            return False
    except UnicodeDecodeError:
        if is_text:
            return REPLACED in str(reread(data, here).value)
    return decode(data, here).repaired
