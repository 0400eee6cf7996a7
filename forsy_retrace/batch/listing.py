"""What lies beside the trace folders: a row a trace, and what was skipped, refused or failed."""

import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import msgspec
from msgspec.structs import replace

from forsy_retrace.version import MADE_BY
from forsy_retrace.writers.folder import encoded
from forsy_retrace.writers.place import Disk, Place

from .plan import Plan
from .row import Row
from .work import Done


class _Listed(msgspec.Struct):
    folder: str


def suffix_of(shard: tuple[int, int]) -> str:
    """What a part's own files are called by, beside those of the others."""
    return "" if shard == (1, 1) else "-{}-of-{}".format(*shard)


def index_of(shard: tuple[int, int]) -> str:
    """The file of a part's rows."""
    return f"index{suffix_of(shard)}.jsonl"


def rows_of(everything: Sequence[tuple[str, Done]]) -> list[Row]:
    """A row a trace folder, sorted."""
    return sorted(_rows(everything), key=lambda row: row.folder)


def write_listing(
    place: Place,
    shard: tuple[int, int],
    plan: Plan,
    everything: Sequence[tuple[str, Done]],
    rows: Sequence[Row],
    damaged: Sequence[tuple[str, str]],
) -> None:
    """Writes index.jsonl and report.json."""
    with finished(place, index_of(shard)) as stream:
        for row in rows:
            stream.write(msgspec.json.encode(row) + b"\n")
    with finished(place, f"report{suffix_of(shard)}.json") as stream:
        stream.write(encoded(_report(plan, everything, rows, damaged)))


def listed_elsewhere(place: Place, shard: tuple[int, int]) -> set[str]:
    """The trace folders that the other parts of a target list as theirs."""
    number, count = shard
    found: set[str] = set()
    for other in range(1, count + 1):
        name = index_of((other, count))
        if other != number and place.size(name) is not None:
            found |= {
                msgspec.json.decode(line, type=_Listed).folder
                for line in place.read(name).splitlines()
            }
    return found


def _rows(everything: Iterable[tuple[str, Done]]) -> Iterator[Row]:
    """A row a trace; of a session that several logs tell, all but the longest name that one.

    It is one session where id and start are the same, and the place among those of one log.
    """
    told: dict[tuple[str, str, int], list[Row]] = {}
    for _, done in everything:
        within: Counter[str] = Counter()
        for row in done.rows:
            within[row.trace_id] += 1
            start = row.activity_started_at
            if start is None:
                yield row
            else:
                key = (row.trace_id, start, within[row.trace_id])
                told.setdefault(key, []).append(row)
    for rows in told.values():
        longest = min(rows, key=lambda row: (-row.total_steps, row.folder))
        for row in rows:
            yield row if row is longest else replace(row, superseded_by=longest.folder)


def _report(
    plan: Plan,
    everything: Sequence[tuple[str, Done]],
    rows: Sequence[Row],
    damaged: Sequence[tuple[str, str]],
) -> dict[str, object]:
    """The state after a run, not the run: the same however often it was begun again."""
    return {
        "generator": MADE_BY,
        "logs": len(plan.logs),
        "companions": plan.companions,
        "skipped": plan.skipped,
        "skipped_files": plan.skipped_files,
        "traces": len(rows),
        "adapters": dict(sorted(Counter(log.adapter for log in plan.logs).items())),
        "unknown_kinds": _unknown_kinds(rows),
        "refused": _pairs(everything, lambda done: done.refused),
        "failed": [
            *({"log": name, "why": why} for name, why in plan.unread),
            *_pairs(everything, lambda done: (done.problem,) if done.problem else ()),
            *({"log": name, "why": why} for name, why in damaged),
        ],
    }


def _unknown_kinds(rows: Iterable[Row]) -> list[dict[str, object]]:
    """What no adapter knew: which one, how often, and in how many traces."""
    counts: Counter[tuple[str, str]] = Counter()
    traces: Counter[tuple[str, str]] = Counter()
    for row in rows:
        for kind, count in (row.unknown_kinds or {}).items():
            counts[row.adapter, kind] += count
            traces[row.adapter, kind] += 1
    return [
        {"adapter": adapter, "kind": kind, "count": count, "traces": traces[adapter, kind]}
        for (adapter, kind), count in sorted(counts.items())
    ]


def _pairs(
    everything: Iterable[tuple[str, Done]], of: Callable[[Done], Sequence[str]]
) -> list[dict[str, str]]:
    return [{"log": name, "why": why} for name, done in everything for why in of(done)]


@contextmanager
def finished(place: Place, name: str, part: str = "") -> Iterator[BinaryIO]:
    """A stream for a file of the place; the file is there whole, or as it was before.

    A file that several parts of a run write is made by each in a `part` of its own.
    """
    folder = place.root if isinstance(place, Disk) else None
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob(f".{name}{part}.*"):  # by a run that was killed
            shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f".{name}{part}.", dir=folder) as away:
        path = Path(away) / name
        with path.open("wb") as stream:
            yield stream
        place.write(name, path)
