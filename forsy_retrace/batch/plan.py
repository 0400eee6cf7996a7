"""Which logs there are below some roots, which files belong to another, and which are new."""

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import count
from pathlib import Path

import msgspec

from forsy_retrace.logs import named
from forsy_retrace.redact import mask
from forsy_retrace.registry import bundled, home, load
from forsy_retrace.source import Source, Unread, below, file_system, is_remote, remote_files

from .engine import Engine, Lost, Progress
from .ledger import Known, Ledger
from .work import File, Log, Look, Seen, look

NAMED = 20
"""So many skipped files are named under each reason: a home folder has a hundred thousand."""
TOGETHER = 100
"""Files that a worker looks at before it reports."""


class Plan(msgspec.Struct, frozen=True):
    """The logs below the roots, the largest first, and what became of every other file."""

    logs: tuple[Log, ...]
    companions: int
    skipped: dict[str, int]
    skipped_files: dict[str, tuple[str, ...]] = {}
    """Under each reason the first of those files, by their masked names."""
    unread: tuple[tuple[str, str], ...] = ()
    """What could not be looked at or read in this run, by its masked name, and why."""


def stores() -> list[str]:
    """The folders of this machine's user where the adapters say that their logs lie."""
    found = (store for name in bundled() for store in load(name).SHOWS.stores)
    homes = (re.split(r"/[^/]*[*?]", store)[0] for store in found if store.startswith("~/"))
    paths = (os.path.expanduser(home) for home in dict.fromkeys(homes))
    return [path for path in paths if os.path.exists(path)]


def files_below(roots: Iterable[str]) -> Iterator[File | Unread]:
    """Every file below the roots, once, in their order; links below a root are not followed."""
    taken: set[str] = set()
    for root in roots:
        for file in _remote(root) if is_remote(root) else _local(Path(root)):
            if isinstance(file, Unread):
                yield file
            elif file.uri not in taken:
                taken.add(file.uri)
                yield file


def _local(root: Path) -> Iterator[File | Unread]:
    if os.path.isdir(root):
        root = Path(os.path.abspath(root))
        for one in below(root, traces=False):
            yield one if isinstance(one, Unread) else _file(one, root.name)
    else:
        yield _file(named(Path(os.path.abspath(root))), "")


def _file(source: Source, root: str) -> File | Unread:
    try:
        told = source.path.stat()
    except OSError as error:
        return Unread(source.name, error.strerror or "cannot be read", is_passing=True)
    return File(str(source.path), source.name, root, told.st_size, str(told.st_mtime_ns))


def _remote(root: str) -> Iterator[File]:
    system, _ = file_system(root)
    for path, name, size, mark in remote_files(root):
        yield File(system.unstrip_protocol(path), name, root.rpartition("/")[2], size, mark)


def planned(
    found_below: Iterable[File | Unread],
    ledger: Ledger,
    engine: Engine,
    task: Look,
    made: str,
    progress: Progress,
    shard: tuple[int, int] = (1, 1),
) -> Plan:
    """Looks at every file that is new or changed, and tells logs from all else."""
    everything = list(found_below)
    files = [one for one in everything if isinstance(one, File)]
    strangers = [one for one in everything if isinstance(one, Unread)]
    known = dict(_known(files, ledger, engine, task, made, progress))
    owned = {key for one in known.values() for key in one.companions}
    by_key = {ledger.key(file.uri): file for file in files}
    logs: list[Log] = []
    unread = [(mask(one.name), mask(one.why)) for one in strangers if one.is_passing]
    skipped = [(one.why, one.name) for one in strangers if not one.is_passing]
    keys = _keys(files, ledger)
    for key, file in by_key.items():
        found = known[file.uri]
        if key in owned or not is_of(file, shard):
            continue
        if found.is_passing:
            unread.append((mask(file.name), found.why))
            continue
        if not found.adapter:
            skipped.append((found.why, file.name))
            continue
        beside = tuple(by_key[one] for one in found.companions if one in by_key)
        logs.append(Log(file, found.adapter, keys[file.uri], beside))
    logs.sort(key=lambda log: (-log.size, log.file.root, log.file.name))
    mine = sum(key in owned and is_of(file, shard) for key, file in by_key.items())
    names: dict[str, list[str]] = {}
    for why, name in sorted(skipped):
        names.setdefault(why, []).append(name)
    counts = {why: len(held) for why, held in names.items()}
    first = {why: tuple(map(mask, held[:NAMED])) for why, held in names.items()}
    return Plan(tuple(logs), mine, counts, first, tuple(sorted(unread)))


def _known(
    files: Sequence[File],
    ledger: Ledger,
    engine: Engine,
    task: Look,
    made: str,
    progress: Progress,
) -> Iterator[tuple[str, Known]]:
    fresh = []
    for file in files:
        before = ledger.seen(file, made)
        if before is None:
            fresh.append(file)
        else:
            yield file.uri, before
    parts = [fresh[at : at + TOGETHER] for at in range(0, len(fresh), TOGETHER)]
    tasks = [Look(tuple(part), task.adapter, task.plugins) for part in parts]
    by_uri = {file.uri: file for file in fresh}
    progress.begins("Looking", len(fresh))
    for asked, seen in engine.map(look, tasks):
        if isinstance(seen, Lost):
            # One of them kills whoever looks at it: each alone shows which.
            alone = [Look((file,), task.adapter, task.plugins) for file in asked.files]
            for one, told in engine.map(look, alone) if len(asked.files) > 1 else ():
                yield from _told(one, told, by_uri, ledger, made)
            if len(asked.files) == 1:
                yield from _told(asked, seen, by_uri, ledger, made)
        else:
            yield from _told(asked, seen, by_uri, ledger, made)
        progress.advances(len(asked.files))


def _told(
    asked: Look, seen: tuple[Seen, ...] | Lost, by_uri: dict[str, File], ledger: Ledger, made: str
) -> Iterator[tuple[str, Known]]:
    if isinstance(seen, Lost):
        (file,) = asked.files
        yield file.uri, Known("", "looking at it ended the worker", is_passing=True)
        return
    found = [
        (by_uri[one.uri], Known(one.adapter, one.why, _keys_of(one, ledger), one.is_passing))
        for one in seen
    ]
    ledger.saw(found, made)
    yield from ((file.uri, known) for file, known in found)


def _keys_of(seen: Seen, ledger: Ledger) -> tuple[str, ...]:
    return tuple(map(ledger.key, seen.companions))


def _keys(files: Sequence[File], ledger: Ledger) -> dict[str, str]:
    """Six hex digits for each file, which no other file of the ledger ever gets.

    They come from its masked name: they are the same wherever the root lies.
    """
    kept = ledger.folder_keys()
    taken = set(kept.values())
    counts: Counter[str] = Counter()
    found: dict[str, str] = {}
    fresh: list[tuple[str, str]] = []
    for file in sorted(files, key=lambda one: (one.root, one.name, one.uri)):
        key = kept.get(ledger.key(file.uri))
        if key is None:
            name = mask(f"{file.root}/{file.name}")
            key = next(key for key in _tries(name, counts) if key not in taken)
            taken.add(key)
            fresh.append((ledger.key(file.uri), key))
        found[file.uri] = key
    ledger.keep_folder_keys(fresh)
    return found


def _tries(name: str, counts: Counter[str]) -> Iterator[str]:
    """One key after another for a name; longer ones where millions of files took the short."""
    for tries in count():
        counts[name] += 1
        text = f"{name}#{counts[name]}".encode("utf-8", "replace")
        yield hashlib.sha256(text).hexdigest()[: 6 + tries // 16]


def is_of(file: File, shard: tuple[int, int]) -> bool:
    """Whether a file is this shard's; the same file is the same shard's on every machine."""
    number, count = shard
    name = f"{file.root}/{file.name}".encode("utf-8", "surrogateescape")
    return int.from_bytes(hashlib.blake2b(name, digest_size=8).digest()) % count == number - 1


def fingerprint(plugins: Iterable[str] = ()) -> bytes:
    """A digest of the code and the rules: another version makes every log new."""
    found = hashlib.sha256(_own_code())
    for name in plugins:
        place = getattr(load(name), "__file__", None)
        found.update(name.encode() + (Path(place).read_bytes() if place else b""))
    return found.digest()


@cache
def _own_code() -> bytes:
    """A digest of what this process runs: read once, however many folders it converts."""
    found = hashlib.sha256()
    for root in (Path(__file__).parents[1], home()):
        for path in sorted(root.rglob("*")):
            if path.suffix in (".py", ".toml", ".json"):
                found.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return found.digest()
