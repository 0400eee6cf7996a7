"""What the tests ask of trace folders, whichever log they come from."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from forsy_retrace import build, sessions
from forsy_retrace.convert import Refused, convert
from forsy_retrace.registry import load
from forsy_retrace.release import unfit
from forsy_retrace.show import found_problems
from forsy_retrace.source import Source
from forsy_retrace.trace import Trace
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


def retraced(source: Source, adapter: str) -> list[Trace]:
    """The traces of one log, before redaction."""
    module = load(adapter)
    return [build(one, adapter, module.SHOWS) for one in sessions(module.read(source))]


def check(one: Written, log: Path) -> None:
    """A written trace is valid, holds against its log, and accounts for every record."""
    records = one.manifest["records"]
    total = records["used"] + sum(records["omitted"].values()) + records["unreadable"]
    assert records["read"] == total, log
    assert [*found_problems(one.folder), *unfit(one.folder)] == [], log
    assert verify(one.folder, log) == [], log


def converted(log: Path, adapter: str, target: Path) -> list[Written | Refused]:
    """What a log gives: traces that hold, and the same bytes a second time."""
    results = list(convert(log, adapter, target))
    for one in traces(results):
        check(one, log)
    again = target.with_name(f"{target.name}-again")
    list(convert(log, adapter, again))
    assert contents(target) == contents(again), log
    return results


def figures(results: Iterable[Written | Refused]) -> Counter[str]:
    """How many traces, steps, unreadable records, and records of unknown kinds."""
    told: Counter[str] = Counter()
    for one in traces(results):
        told["traces"] += 1
        told["steps"] += one.manifest["total_steps"]
        told["unreadable"] += one.manifest["records"]["unreadable"]
        told["unknown"] += unknown(one)
    return told


def unknown(one: Written) -> int:
    """How many records a trace left out because their kind is not known."""
    omitted = one.manifest["records"]["omitted"]
    return sum(count for reason, count in omitted.items() if reason.startswith("unknown"))
