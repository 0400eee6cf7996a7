"""Logs that are tables in Parquet: each row reads as a line of JSON lines would."""

import builtins
import json
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from forsy_retrace.convert import Refused, convert
from forsy_retrace.errors import UnreadableInput
from forsy_retrace.source import Source
from forsy_retrace.verify import verify

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "openai-chat"


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path, compression="zstd")
    return path


def conversations() -> list[dict[str, Any]]:
    rows = json.loads((FIXTURES / "sharegpt-rows" / "input.json").read_text())
    return [row for row in rows if "conversations" in row and "chosen" not in row]


def test_a_row_gives_the_trace_that_a_line_gives(tmp_path: Path) -> None:
    table = written(tmp_path / "train.parquet", conversations())
    lines = tmp_path / "train.jsonl"
    lines.write_bytes(b"".join(json.dumps(row).encode() + b"\n" for row in conversations()))
    told = {}
    for log in (table, lines):
        found = [*convert(log, "auto", tmp_path / f"of-{log.name}")]
        for one in found:
            assert not isinstance(one, Refused)
            assert verify(one.folder, log) == []
        told[log] = [
            json.loads((one.folder / "trace.json").read_text())["steps"]
            for one in found
            if not isinstance(one, Refused)
        ]
    assert len(told[table]) == 2
    assert told[table] == told[lines]


def test_values_that_json_lacks(tmp_path: Path) -> None:
    row = {
        "at": datetime(2026, 1, 5, 9, tzinfo=UTC),
        "cost": Decimal("1.50"),
        "image": {"bytes": b"\x89PNG", "path": "door.png"},
        "parts": [b"ab", None],
        "share": float("nan"),
    }
    (record,) = Source(written(tmp_path / "t.parquet", [row])).records()
    assert record.value == {
        "at": "2026-01-05T09:00:00Z",
        "cost": "1.50",
        "image": {"bytes": {"blob": 4}, "path": "door.png"},
        "parts": [{"blob": 2}, None],
        "share": None,
    }
    assert (record.here.line, record.here.start) == (1, 0)


@pytest.mark.parametrize("cut", [5, 40, -9])
def test_a_damaged_table_is_refused(tmp_path: Path, cut: int) -> None:
    table = written(tmp_path / "t.parquet", conversations())
    table.write_bytes(table.read_bytes()[:cut])
    with pytest.raises(UnreadableInput, match=r"t\.parquet: damaged table"):
        list(Source(table).records())


def test_rows_that_repeat_a_long_text_are_read_as_far_as_is_sane(tmp_path: Path) -> None:
    """A column keeps such a text once, and says of each row that it is this one."""
    table = written(tmp_path / "t.parquet", [{"text": "x" * 100_000}] * 300)
    with pytest.raises(UnreadableInput, match="holds more than is sane"):
        list(Source(table).records())


def test_without_its_reader_a_table_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = written(tmp_path / "t.parquet", conversations())
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UnreadableInput, match=r"pip install 'forsy-retrace\[parquet\]'"):
        list(convert(table, "auto", tmp_path / "trace"))
