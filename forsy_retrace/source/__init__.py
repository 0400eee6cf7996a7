"""The only package that opens a log: records with byte offsets, and the companions beside it.

A record is one JSON value: a line, an element of an array, or one of several values on a line.
Lines are split at `\\n` only. Offsets count bytes of the file; of a gzip, zstd or UTF-16 file,
those of its decoded UTF-8 text. Arrays and pages are read one element at a time.
"""

from .log import Source, discover, is_regular
from .unpack import MAX_RATIO, MAX_UNPACKED
from .values import MAX_DEPTH, MAX_LINE, Problem, Record, decode

__all__ = [
    "MAX_DEPTH",
    "MAX_LINE",
    "MAX_RATIO",
    "MAX_UNPACKED",
    "Problem",
    "Record",
    "Source",
    "decode",
    "discover",
    "is_regular",
]
