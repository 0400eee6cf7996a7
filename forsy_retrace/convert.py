"""One log, or a folder of logs, to trace folders."""

import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from forsy_retrace.adapter import companions, files_of
from forsy_retrace.builder import build
from forsy_retrace.choose import Choice, Chosen, Timed
from forsy_retrace.document import Draft, by_file, draft
from forsy_retrace.errors import (
    DiskTrouble,
    Locked,
    Occupied,
    RetraceError,
    Unreachable,
    UnreadableInput,
)
from forsy_retrace.events import Event, Session
from forsy_retrace.evidence import Evidence
from forsy_retrace.logs import adapter_for, named, opened
from forsy_retrace.memory import give_back
from forsy_retrace.printings import printings
from forsy_retrace.redact import Redacted, Rules, leaves, redact
from forsy_retrace.registry import load
from forsy_retrace.sdk import Shows
from forsy_retrace.source import A_TRACE, Source, Unread, below, repaired, reread
from forsy_retrace.writers.atomic import Data, check_target
from forsy_retrace.writers.folder import MAX_OUTPUT, Written, contents, put_folder
from forsy_retrace.writers.media import Medium, media
from forsy_retrace.writers.place import check_shelf, is_shelf

Json = dict[str, Any]


class Options(msgspec.Struct, frozen=True):
    """What a user may choose of a conversion."""

    rules: Rules = Rules()
    max_output: int = MAX_OUTPUT
    """Tokens of one output that stay in trace.json."""
    source_hash: bool = False
    """Adds a digest of each log's raw bytes to the manifest."""
    media: bool = False
    """Keeps the log's pictures and documents in artifacts/, unmasked."""
    choice: Choice = Choice()
    """Which of a log's sessions."""
    plugins: tuple[str, ...] = ()
    """Adapters of other packages that may claim a log too."""


class Refused(msgspec.Struct, frozen=True):
    """A log, or a session of it, that gave no trace, and why, in one line."""

    name: str
    why: str
    is_session: bool = False
    """Other sessions of the log may have given traces."""
    is_missed: bool = False
    """It could not be read now, so that nobody knows what it holds."""


class LeftOut(Refused, frozen=True):
    """Sessions of a log, too short or told by another; the log itself may have given traces."""


Progress = Callable[[str], None]


def convert(
    path: Path,
    adapter: str,
    target: Path,
    options: Options = Options(),  # noqa: B008 (Options is frozen)
    progress: Progress = lambda name: None,
) -> Iterator[Written | Refused]:
    """Writes one trace folder a session: `target` itself for one session, else folders below it.

    Raises RetraceError where nothing can be read or written; a folder's single bad logs come as
    Refused.
    """
    if os.path.isdir(path):
        yield from _folder(path, adapter, target, options, progress)
        return
    check_target(target) if not is_shelf(target) else None
    source = named(path)
    progress(source.name)
    name = adapter_for(source, adapter, options.plugins, is_named=True)
    chosen = _chosen(source, name, options)
    found = _read(source, chosen)
    first = list(islice(found, 2))
    if len(first) == 1:
        if is_shelf(target):
            raise RetraceError("the target holds several traces; name another folder for one")
        (one,) = _folders(_with(first, found), source, name, options, Counter())
        if isinstance(one, Refused):
            raise UnreadableInput(one.why)
        yield _put(one, target)
    else:
        check_shelf(target)
        built = _folders(_with(first, found), source, name, options, Counter())
        written, why = 0, ""
        for result in _each_put(built, target):
            if isinstance(result, Refused):
                why = result.why
            else:
                written += 1
            yield result
        if not written:
            raise UnreadableInput(why)
    yield from _left_out(source, chosen)


class Folder(msgspec.Struct, frozen=True):
    """A trace folder to be written: its readable name, its files by name, its manifest."""

    name: str
    files: Mapping[str, Data]
    manifest: Json


def folders(source: Source, name: str, options: Options) -> Iterator[Folder | Refused]:
    """What becomes of a log under the adapter of that name, one session at a time."""
    chosen = _chosen(source, name, options)
    yield from _folders(_read(source, chosen), source, name, options, Counter())
    yield from _left_out(source, chosen)


def read(path: Path, adapter: str = "auto") -> Iterator[Event]:
    """The events of one log."""
    source, name = opened(path, adapter)
    return load(name).read(source)


def _chosen(source: Source, name: str, options: Options, seen: set[Timed] | None = None) -> Chosen:
    adapter = load(name)
    return Chosen(adapter.read(source), adapter.SHOWS, options.choice, seen)


def _read(source: Source, chosen: Chosen) -> Iterator[Session]:
    """The sessions of a log one at a time; at least one."""
    found = iter(chosen)
    first = list(islice(found, 1))
    if not first:
        none = "no session that was asked for" if chosen.unwanted else "no session in it"
        raise UnreadableInput(f"{source.name}: {next(chosen.told(), none)}")
    return _with(first, found)


def _left_out(source: Source, chosen: Chosen) -> Iterator[LeftOut]:
    yield from (LeftOut(source.name, f"{source.name}: {why}") for why in chosen.told())


def _with(held: list[Session], rest: Iterator[Session]) -> Iterator[Session]:
    """What was looked at, then the rest; nothing is kept."""
    while held:
        yield held.pop(0)
    yield from rest


def _folder(
    path: Path, adapter: str, target: Path, options: Options, progress: Progress
) -> Iterator[Written | Refused]:
    """Every log below a folder; what belongs to another log goes with it."""
    check_shelf(target)
    found_below = list(below(path, traces=False))
    logs = [one for one in found_below if isinstance(one, Source)]
    owned: set[Path] = set()
    names: dict[Path, str] = {}
    refused: dict[Path, Refused] = {}
    for source in logs:
        try:
            owned.update(one.path for one in source.parts())
            names[source.path] = adapter_for(source, adapter, options.plugins)
        except RetraceError as error:
            refused[source.path] = _refused(source, error)
    for source in logs:
        if source.path in names:
            found = companions(load(names[source.path]), source)
            owned.update(one.path for one in found)
    taken: Counter[str] = Counter()
    seen: set[Timed] = set()
    done = False
    for source in logs:
        if source.path not in names or source.path in owned:
            continue
        progress(source.name)
        try:
            name = names[source.path]
            chosen = _chosen(source, name, options, seen)
            built = _folders(_read(source, chosen), source, name, options, taken)
            for result in _each_put(built, target):
                done = done or isinstance(result, Written)
                yield result
            yield from _left_out(source, chosen)
        except (DiskTrouble, Locked, Occupied):
            raise  # it is the same for every log
        except RetraceError as error:
            yield _refused(source, error)
    left = [one for path, one in refused.items() if path not in owned]
    left += [
        Refused(one.name, f"{one.name}: {one.why}", is_missed=one.is_passing)
        for one in found_below
        if isinstance(one, Unread) and one.why != A_TRACE
    ]
    yield from left
    if not done:
        why = "".join(f"; {one.why}" for one in left[:1])
        raise UnreadableInput(f"{path.name or path}: no session below this folder{why}")


def _refused(source: Source, error: RetraceError) -> Refused:
    return Refused(source.name, str(error), is_missed=isinstance(error, Unreachable))


def _folders(
    found: Iterable[Session], source: Source, name: str, options: Options, taken: Counter[str]
) -> Iterator[Folder | Refused]:
    adapter = load(name)
    logs = files_of(adapter, source)
    size = sum(one.size for one in logs)
    for session in found:
        printed = list(printings(session.events))
        held = [build(session, name, adapter.SHOWS)]
        del session  # each stage lets go of what only the one before it needed
        if not held[0].steps:
            yield Refused(source.name, f"{source.name}: no steps in it", is_session=True)
            continue
        kept = list(media(held[0], logs)) if options.media else None
        give_back(size)
        content = draft(held.pop())
        give_back(size)
        origins = origins_of(content, logs, options)
        redacted = redact(content, options.rules, unwritten(content, logs), printed)
        del content, printed
        give_back(size)
        yield folder_of(redacted, origins, adapter.SHOWS, options, taken, kept)
        del redacted


def folder_of(
    redacted: Redacted,
    origins: Sequence[Mapping[str, Any]],
    shows: Shows,
    options: Options,
    taken: Counter[str],
    kept: Sequence[Medium] | None = None,
) -> Folder:
    """The folder of one trace, under a name that is not taken."""
    name = slug(redacted, taken)
    files, manifest = contents(redacted, origins, shows, options.max_output, kept)
    return Folder(name, files, manifest)


def _each_put(found: Iterator[Folder | Refused], target: Path) -> Iterator[Written | Refused]:
    for one in found:
        yield _put(one, target / one.name) if isinstance(one, Folder) else one
        del one


def _put(one: Folder, folder: Path) -> Written:
    return Written(folder, one.manifest, put_folder(folder, one.files))


MOST_LEARNT = 200_000
"""Bytes of a record left out that redaction learns from; a larger one is a picture or snapshot."""


def unwritten(content: Draft, logs: Sequence[Source]) -> Iterator[tuple[str, str]]:
    """The records that gave nothing to the trace: a secret may stand whole only there."""
    places: dict[str, list[Evidence]] = {}
    for here, why, _ in content.fates:
        if why and here.end - here.start <= MOST_LEARNT:
            places.setdefault(here.file, []).append(here)
    for one in logs:
        if (small := places.get(one.name)) is None:
            continue  # of an archive's ten thousand files a session is in two
        spans = one.spans((here.start, here.end) for here in small)
        for here, data in zip(small, spans, strict=True):
            yield from leaves(reread(data, here).value, ours=False)


def origins_of(content: Draft, logs: Sequence[Source], options: Options) -> list[Mapping[str, Any]]:
    """The files of a trace: size in bytes, records, where the first and the last one stand.

    `repaired` counts those that say something else than their bytes, if there are any.
    """
    records = by_file(content.fates)
    found: list[Mapping[str, Any]] = []
    for one in logs:
        places = records.get(one.name, [])
        if not places and one is not logs[0] and one.path.suffix != ".txt":
            continue
        entry: Json = {"name": one.name, "size": one.size, "records": len(places)}
        if places:
            entry["first_record"] = f"{places[0].line}:{places[0].start}"
            entry["last_record"] = f"{places[-1].line}:{places[-1].start}"
        if count := repaired(one, places):
            entry["repaired"] = count
        if options.source_hash:
            entry["sha256"] = hashlib.sha256(one.raw()).hexdigest()
        found.append(entry)
    return found


def slug(trace: Redacted, taken: Counter[str]) -> str:
    """A stable, readable name: the day, words of the masked task, part of the trace's id.

    One of several of that name has its number; it is counted among the names that are taken.
    """
    day = (trace.trace["started_at"] or "undated")[:10]
    title = re.sub(r"\[[A-Z_]+(?:_\d+)?\]", " ", trace.trace["dataset_summary"]["title"])
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40].strip("-")
    name = "-".join(part for part in (day, words, trace.trace["trace_id"][-8:]) if part)
    taken[name] += 1
    return name if taken[name] == 1 else f"{name}-{taken[name]}"
