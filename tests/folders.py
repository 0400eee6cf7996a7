"""What the tests ask of trace folders, whichever log they come from."""

import json
from collections.abc import Iterable
from pathlib import Path

from forsy_retrace.convert import Refused
from forsy_retrace.release import unfit
from forsy_retrace.show import found_problems
from forsy_retrace.verify import verify
from forsy_retrace.writers import Written


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path there."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def traces(results: Iterable[Written | Refused]) -> list[Written]:
    return [one for one in results if isinstance(one, Written)]


def call_ids(folder: Path) -> list[str]:
    """The calls of a trace, as its evidence names them."""
    rows = [json.loads(line) for line in (folder / "evidence.jsonl").read_bytes().splitlines()]
    return [row["ids"]["call"] for row in rows if "call" in row.get("ids", {})]


def check(one: Written, log: Path) -> None:
    """A written trace is valid, holds against its log, and accounts for every record."""
    records = one.manifest["records"]
    total = records["used"] + sum(records["omitted"].values()) + records["unreadable"]
    assert records["read"] == total, log
    assert [*found_problems(one.folder), *unfit(one.folder)] == [], log
    assert verify(one.folder, log) == [], log


def unknown(one: Written) -> int:
    """How many records a trace left out because their kind is not known."""
    omitted = one.manifest["records"]["omitted"]
    return sum(count for reason, count in omitted.items() if reason.startswith("unknown"))
