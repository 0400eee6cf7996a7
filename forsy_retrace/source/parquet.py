"""A Parquet file as text: an object of its columns a line, as a row of JSON lines would be.

Datasets on a hub are kept so. Bytes are `{"blob": size}`, times in ISO 8601.
"""

import io
from collections.abc import Generator
from typing import Any, BinaryIO

import msgspec

from forsy_retrace.errors import UnreadableInput

from .made import Made
from .unpack import FREE, Bounded

MAX_RATIO = 1000
"""How many times its size a file may hold: a column keeps a text once that all rows repeat."""
TOGETHER = 16
"""Rows that are in memory at once."""
ENCODE = msgspec.json.Encoder().encode
MISSING = "a table in Parquet; to read it: pip install 'forsy-retrace[parquet]'"


def table(stream: Bounded, name: str) -> BinaryIO:
    """The text of a Parquet file, made as it is read; raises UnreadableInput where it is damaged,
    or pyarrow is not installed.
    """
    try:
        import pyarrow.parquet
    except ImportError:
        stream.close()
        raise UnreadableInput(f"{name}: {MISSING}") from None
    damage = (pyarrow.ArrowException, OSError, TypeError, msgspec.MsgspecError)
    most = max(FREE, MAX_RATIO * stream.size)
    lines = _lines(stream, pyarrow.parquet.ParquetFile)
    return io.BufferedReader(Made(name, lines, most, damage, "table"), 1 << 20)


def _lines(stream: Bounded, opened: Any) -> Generator[bytes]:
    with stream, opened(stream) as file:
        for batch in file.iter_batches(TOGETHER, use_threads=False):
            for row in batch.to_pylist():
                yield ENCODE(_plain(row)) + b"\n"


def _plain(value: Any) -> Any:
    match value:
        case bytes():
            return {"blob": len(value)}
        case dict():
            return {key: _plain(one) for key, one in value.items()}
        case list() | tuple():
            return [_plain(one) for one in value]
    return value
