"""The laws of a hard life: logs that are cut, and records that no writer would have written."""

import os
import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import islice
from operator import getitem
from typing import Any, NamedTuple, TypeVar

from forsy_retrace.adapter import Adapter
from forsy_retrace.events import SessionStart
from forsy_retrace.sdk import compact, pointer
from forsy_retrace.source import Line, Record
from forsy_retrace.testing.account import lost, miscounted
from forsy_retrace.testing.against_log import is_borne_out
from forsy_retrace.testing.case import BrokenLaw, Case
from forsy_retrace.testing.goldens import folder_of
from forsy_retrace.testing.reading import named, reading
from forsy_retrace.testing.stage import Stage, stage

QUICK = os.environ.get("FORSY_LAWS") == "quick"
"""Set by a suite that holds many logs to the laws often; anyone else gets the whole of them."""
CUTS, ENDS = (2, 4) if QUICK else (10, 1000)
"""At how many byte positions, and how many ends of records, a log is cut."""
MUTATIONS = 4 if QUICK else 56
"""Values that are changed in a case; every second record is spoilt at a time."""
JUDGED = 16 if QUICK else 4
"""Of so many spoilt logs one is made into a folder, which is held against it."""
LOSSES = 0 if QUICK else 64
"""Kinds of places of a record of which each, where it first comes in the log, goes missing."""
DEPTH = 5 if QUICK else 8
WORK, FEWEST = 200 << 20, 4
"""Bytes that are read in all the cut or spoilt copies of a log, and copies that are read of any."""
A_SESSION = 80_000
"""What is built of a session takes as long as so many bytes."""

Path = tuple[str | int, ...]
T = TypeVar("T")


def survives_a_cut_anywhere(adapter: Adapter | str, case: Case) -> None:
    """Cut at the end of any record or at any byte, a log is read as far as it goes.

    Nothing raises; a log that is still claimed still accounts for every record.
    """
    own = named(adapter)
    with stage(own, case) as copy:
        name = copy.source.name
        data = copy.originals[name]
        whole = [record.here.end for record in copy.records[name]]
        ends = set(whole[:: max(1, len(whole) // ENDS)])
        even = {len(data) * part // CUTS for part in range(CUTS)}
        for position in _some(sorted(even | ends), own, case, copy):
            copy.put(name, data[:position])
            try:
                _survives(own, case, copy, position % JUDGED == 0)
            except BrokenLaw as error:
                if not _is_sound(own, case, copy):
                    return
                raise BrokenLaw(f"cut after {position} bytes: {error}") from None


def survives_strangers(adapter: Adapter | str, case: Case) -> None:
    """Any value may be missing, of another type, or another of the log's values: some are tried.

    Nothing raises or hangs; a log that is still claimed still accounts for every record.
    """
    own = named(adapter)
    with stage(own, case) as copy:
        for index, changes in enumerate(_some(list(_rounds(copy)), own, case, copy)):
            try:
                _spoilt(own, case, copy, changes, index % JUDGED == 0)
            except BrokenLaw as error:
                if not _is_sound(own, case, copy):
                    return
                raise BrokenLaw(_culprit(own, case, copy, changes) or str(error)) from None


def _some(tries: Sequence[T], adapter: Adapter, case: Case, copy: Stage) -> Sequence[T]:
    """All of them, or of a long log, or one of many sessions, as many as can be waited for."""
    sessions = sum(isinstance(one, SessionStart) for one in reading(adapter, case).events)
    size = sum(map(len, copy.originals.values())) + A_SESSION * sessions
    most = max(FEWEST, WORK // max(size, 1))
    return [tries[len(tries) * at // most] for at in range(most)] if len(tries) > most else tries


def _survives(adapter: Adapter, case: Case, copy: Stage, thorough: bool) -> None:
    found = copy.read(adapter, case)
    if thorough:
        is_borne_out(found, partial(folder_of, adapter, case.adapter, found))
    if found.accepted:
        why = lost(found.events, (found.source, *found.companions)) or miscounted(found.traces)
        if why:
            raise BrokenLaw(why)


def _is_sound(adapter: Adapter, case: Case, copy: Stage) -> bool:
    """Whether the log as it is does no harm; the law that it breaks by itself tells of that."""
    copy.restore(copy.source.name)
    try:
        _survives(adapter, case, copy, True)
    except BrokenLaw:
        return False
    return True


class Spoilt(NamedTuple):
    """A record, the place in it, and what is done there."""

    file: str
    number: int
    path: Path
    kind: str


def _rounds(copy: Stage) -> Iterator[list[Spoilt]]:
    """Which values are changed together: one in every second record; the same for the same log."""
    dice = random.Random(b"\0".join(copy.originals.values()))
    rows: list[list[Spoilt]] = []
    count = sum(len(records) for records in copy.records.values())
    seen: set[tuple[Path, tuple[str, ...]]] = set()
    for name, records in copy.records.items():
        owners = _owners(records)
        for index, record in enumerate(records):
            possible = [
                (path, kind)
                for path in _paths(record.value)
                for kind in (LINES if isinstance(record, Line) else KINDS)
                if path or kind != "missing" or record.here.line
            ]
            chosen = dice.sample(possible, min(len(possible), MUTATIONS // count + 1))
            chosen += _circles(record.value, owners)
            chosen += islice(_losses(record.value, seen), 0 if isinstance(record, Line) else LOSSES)
            rows.append([Spoilt(name, index, path, kind) for path, kind in chosen])
    for turn in range(max((len(row) for row in rows), default=0)):
        for half in (0, 1):
            held = [row[turn] for row in rows[half::2] if turn < len(row)]
            if held:
                yield held


def _owners(records: Sequence[Record]) -> dict[str, list[str]]:
    """Under which fields each text stands that is the value of a record's own field."""
    found: dict[str, list[str]] = {}
    for record in records:
        if isinstance(record.value, dict):
            for key, value in record.value.items():
                if isinstance(value, str) and key not in (held := found.setdefault(value, [])):
                    held.append(key)
    return found


def _circles(record: Any, owners: Mapping[str, list[str]]) -> Iterator[tuple[Path, str]]:
    """What points to another record points to its own: a parent that is its own child."""
    for key, value in record.items() if isinstance(record, dict) else ():
        for field in owners.get(value, ()) if isinstance(value, str) else ():
            if field != key and isinstance(record.get(field), str):
                yield (key,), OWN + field


def _losses(value: Any, seen: set[tuple[Path, tuple[str, ...]]]) -> Iterator[tuple[Path, str]]:
    """A field that no record before has beside the same others, missing: a reader that takes one
    for granted does so for the whole of its kind."""
    for path in _paths(value):
        holder = reduce(getitem, path[:-1], value)
        if path and isinstance(holder, dict):
            kind = (tuple(part for part in path if isinstance(part, str)), tuple(sorted(holder)))
            if kind not in seen:
                seen.add(kind)
                yield path, "missing"


def _paths(value: Any, depth: int = DEPTH) -> Iterator[Path]:
    yield ()
    if depth:
        match value:
            case dict():
                inner: Sequence[tuple[str | int, Any]] = list(value.items())
            case list():
                inner = list(enumerate(value[:8]))
            case _:
                return
        for key, item in inner:
            yield from ((key, *path) for path in _paths(item, depth - 1))


def _spoilt(
    adapter: Adapter, case: Case, copy: Stage, changes: list[Spoilt], thorough: bool
) -> None:
    """Reads a copy in which these values are changed, and puts it right again."""
    names = dict.fromkeys(change.file for change in changes)
    for name in names:
        data, parts, last = copy.originals[name], [], 0
        for _, index, path, kind in (change for change in changes if change.file == name):
            record = copy.records[name][index]
            parts += [data[last : record.here.start], _rewritten(record, path, kind)]
            last = record.here.end
        copy.put(name, b"".join([*parts, data[last:]]))
    try:
        _survives(adapter, case, copy, thorough)
    finally:
        for name in names:
            copy.restore(name)


def _rewritten(record: Record, path: Path, kind: str) -> bytes:
    """The bytes of a record with another value at the path, or of a line with other text."""
    if isinstance(record, Line):
        return LINES[kind](record.data)
    value = _changed(record.value, path, kind, record.value)
    return b"" if value is DROP else compact(value).encode("utf-8", "replace")


DROP = object()
OWN = "the record's own "
KINDS: dict[str, Callable[[Any], Any]] = {
    "missing": lambda _: DROP,
    "null": lambda _: None,
    "a number": lambda _: -7,
    "a flag": lambda _: True,
    "a text": lambda _: "stranger",
    "an empty text": lambda _: "",
    "a list": lambda _: ["stranger"],
    "an object": lambda _: {"type": "stranger"},
    "another of its texts": lambda record: _text(record),
}


LINES: dict[str, Callable[[bytes], bytes]] = {
    "missing": lambda _: b"",
    "half of it": lambda data: data[: len(data) // 2],
    "a word": lambda _: b"stranger",
    "an object": lambda _: b'{"type":"stranger"}',
    "without digits": lambda data: data.translate(None, b"0123456789"),
    "with a huge number": lambda data: re.sub(rb"\d+", b"9" * 40, data),
    "with odd bytes": lambda data: data + b"\x83\xff\x00\x1b[201~\r",
    "indented": lambda data: b"    " + data,
    "ending in a backslash": lambda data: data + b"\\",
    "ending in a backtick": lambda data: data + b"`",
    "opening a here-document": lambda data: data + b" <<END",
    "twice": lambda data: data + b"\n" + data,
    "behind a stamp": lambda data: b"#1700000000\n" + data,
}


def _changed(value: Any, path: Path, kind: str, record: Any) -> Any:
    """The value with another one at the path; what is not on the path is shared."""
    if not path:
        return record[kind.removeprefix(OWN)] if kind.startswith(OWN) else KINDS[kind](record)
    new = _changed(value[path[0]], path[1:], kind, record)
    if isinstance(value, dict):
        put = {**value, path[0]: new}
        return {key: item for key, item in put.items() if item is not DROP}
    rest = list(value)
    rest[int(path[0]) : int(path[0]) + 1] = [] if new is DROP else [new]
    return rest


def _text(record: Any) -> str:
    """The last of the record's own texts."""
    held = record.values() if isinstance(record, dict) else ()
    return next((item for item in reversed(list(held)) if isinstance(item, str)), "")


def _culprit(adapter: Adapter, case: Case, copy: Stage, changes: list[Spoilt]) -> str:
    """The one change that does the harm, in a sentence; empty where it takes several."""
    for change in changes:
        try:
            _spoilt(adapter, case, copy, [change], True)
        except BrokenLaw as error:
            name, index, path, kind = change
            line = copy.records[name][index].here.line
            where = pointer(*(_shown(part) for part in path)) or "the record"
            return f"with {where} of {name}, line {line}, {kind}: {error}"
    return ""


def _shown(part: str | int) -> str | int:
    """A field's name; a key that may be somebody's data is not shown."""
    return part if isinstance(part, int) or (part.isidentifier() and len(part) < 40) else "*"
