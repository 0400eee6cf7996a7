"""Whether the folder that a reading gives keeps the format, and holds against the log."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from forsy_retrace.errors import RetraceError, UnreadableInput
from forsy_retrace.testing.case import BrokenLaw
from forsy_retrace.testing.reading import Reading
from forsy_retrace.validate import problems
from forsy_retrace.verify import verify


def is_borne_out(found: Reading, folder: Callable[[], Mapping[str, bytes]]) -> None:
    """Writes the folder of a reading and reads the named bytes again; a log may be refused."""
    if not found.accepted:
        return
    try:
        files = folder()
    except UnreadableInput:
        return  # whether the log may be refused is for refused.txt to say
    except RetraceError as error:
        raise BrokenLaw(f"no folder can be written: {error}.") from None
    with tempfile.TemporaryDirectory(prefix="forsy-") as away:
        for name, data in files.items():
            path = Path(away) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        for name in files:
            if name.endswith("trace.json"):
                _judge((Path(away) / name).parent, found.source.path)


def _judge(folder: Path, log: Path) -> None:
    rows = [orjson.loads(line) for line in (folder / "evidence.jsonl").read_bytes().splitlines()]
    wrong = problems(
        orjson.loads((folder / "trace.json").read_bytes()),
        evidence=rows,
        manifest=orjson.loads((folder / "manifest.json").read_bytes()),
    )
    if wrong:
        one = wrong[0]
        raise BrokenLaw(f"step {one.step}, {one.field}: breaks {one.rule}, {one.text}.")
    try:
        findings = verify(folder, log)
    except RetraceError as error:
        raise BrokenLaw(f"the trace can't be held against its log: {error}.") from None
    if findings:
        first = findings[0]
        place = _place(rows, first.step, first.field)
        more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
        raise BrokenLaw(f"step {first.step} ({place}), {first.field}: {first.text}{more}.")


def _place(rows: Sequence[Mapping[str, Any]], step: int, field: str) -> str:
    """Where a value is said to stand: the line of its record, and the pointer into it."""
    none: Mapping[str, Any] = {"records": [], "fields": {}}
    row = next((row for row in rows if row["step"] == step), none)
    entry = row["fields"].get(field, {})
    at = entry.get("record", 0)
    line = row["records"][at]["line"] if at < len(row["records"]) else 0
    return " ".join(filter(None, (f"line {line}", entry.get("pointer"))))
