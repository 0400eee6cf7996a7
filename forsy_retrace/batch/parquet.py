"""Rows as Parquet, with columns that are the same in every file."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

import orjson

from forsy_retrace.errors import RetraceError

Json = dict[str, Any]
GROUP = 2000
"""Rows that are held before they are written."""

KINDS = {
    "step_index": "int64",
    "turn": "int64",
    "eval": "int64",
    "retry_of": "int64",
    "success": "bool",
    "total_steps": "int64",
    "total_turns": "int64",
    "positive_pct": "int64",
    "agent_confidence": "int64",
    "directive_signals": "int64",
    "goal_achieved": "bool",
    "confidence": "float64",
}
"""Columns that are no text. A value that is neither that nor step numbers stands as JSON text."""
STEPS = ("caused_by", "from_steps")
"""Columns that are lists of step numbers."""
MORE = "more"
"""The column of whatever a row has beside its table's columns, as one JSON object."""


def arrow() -> Any:
    """pyarrow; RetraceError where it is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        why = "--parquet needs pyarrow: pip install 'forsy-retrace[parquet]'"
        raise RetraceError(why) from None
    return pyarrow


class Table:
    """Writes the rows of one table, a group at a time."""

    def __init__(self, columns: Sequence[str], stream: BinaryIO) -> None:
        self._arrow = pyarrow = arrow()
        self._columns = columns
        self._held: list[Json] = []
        kinds = {"int64": pyarrow.int64(), "bool": pyarrow.bool_(), "float64": pyarrow.float64()}
        types = {name: kinds.get(KINDS.get(name, ""), pyarrow.string()) for name in columns}
        types |= {name: pyarrow.list_(pyarrow.int64()) for name in STEPS if name in types}
        self._schema = pyarrow.schema([*types.items(), (MORE, pyarrow.string())])
        self._writer = pyarrow.parquet.ParquetWriter(stream, self._schema, compression="zstd")

    @classmethod
    @contextmanager
    def of(cls, columns: Sequence[str], stream: BinaryIO) -> Iterator["Table"]:
        """A table whose last rows are written at its end."""
        table = cls(columns, stream)
        try:
            yield table
            table._flush()
            table._writer.close()
        finally:
            table._writer.is_open = False  # after an error it would close what is closed

    def add(self, row: Json) -> None:
        """One more row."""
        rest = {key: value for key, value in row.items() if key not in self._columns}
        cells = {name: _cell(name, row.get(name)) for name in self._columns}
        self._held.append({**cells, MORE: _text(rest) if rest else None})
        if len(self._held) == GROUP:
            self._flush()

    def _flush(self) -> None:
        batch = self._arrow.RecordBatch.from_pylist(self._held, schema=self._schema)
        self._writer.write_batch(batch)
        self._held = []


def _cell(name: str, value: Any) -> Any:
    if value is None or name in KINDS or name in STEPS or isinstance(value, str):
        return value
    return _text(value)


def _text(value: Any) -> str:
    return orjson.dumps(value).decode()
