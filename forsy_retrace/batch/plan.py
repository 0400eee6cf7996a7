"""Which logs there are below some roots, which files belong to another, and which are new."""

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path

import msgspec
from msgspec.structs import replace

from forsy_retrace.errors import UnreadableInput
from forsy_retrace.logs import EMPTY, named
from forsy_retrace.patterns import later
from forsy_retrace.redact import Rules, as_asked, mask
from forsy_retrace.registry import bundled, home, load
from forsy_retrace.source import (
    PACKED,
    Source,
    Unread,
    below,
    file_system,
    is_remote,
    remote_files,
)
from forsy_retrace.tokens import method

from .engine import Engine, Lost, Progress
from .ledger import Known, Ledger
from .neighbours import Near
from .work import File, Log, Look, Seen, look

USED = later(r"([\w.-]+)[^;]*(?:;\s*extra == ['\"](?:recordings|tokens|paranoid)['\"])?")
"""A requirement of this package, or of an extra that shapes traces."""
NAMED = 20
"""So many skipped files are named under each reason: a home folder has a hundred thousand."""
NO_STORE = "a place of a harness that holds no file to read"
NOTHING_LEFT = (EMPTY, PACKED)
"""Why a file is no log that may have been one: its traces stay."""
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
    unread_keys: dict[str, str] = {}
    """Why files that are here could not be looked at, by what the ledger calls them."""
    apart: frozenset[str] = frozenset()
    """The files that are here and no logs of their own: of another log, or skipped."""


def stores() -> list[str]:
    """The folders of this machine's user where the adapters say that their logs lie."""
    found = (store for name in bundled() for store in load(name).SHOWS.stores)
    homes = (re.split(r"/[^/]*[*?]", store)[0] for store in found if store.startswith("~/"))
    paths = map(_moved, dict.fromkeys(homes))
    return [path for path in paths if os.path.exists(path)]


MOVED = {"~/.claude/": "CLAUDE_CONFIG_DIR", "~/.codex/": "CODEX_HOME"}
"""Folders of harnesses that their users may have elsewhere, and what says where."""


def _moved(store: str) -> str:
    """The path of a store on this machine."""
    for usual, variable in MOVED.items():
        if store.startswith(usual) and os.environ.get(variable):
            return os.path.join(os.environ[variable], store.removeprefix(usual))
    return os.path.expanduser(store)


def files_below(
    roots: Iterable[str], stores: Iterable[str], target: str
) -> Iterator[File | Unread]:
    """Every file below the roots, once, in their order; links below a root are not followed.

    A file of several names, or below a root and a link to it, is told by the first. A store of a
    harness that is no file or folder is told; a root that the user named is refused.
    The target is not looked into.
    """
    taken: set[str | tuple[int, int]] = set()
    found = [*((root, False) for root in roots), *((store, True) for store in stores)]
    for root, is_store in found:
        for file in _remote(root) if is_remote(root) else _local(Path(root), is_store, target):
            if isinstance(file, Unread):
                yield file
            elif (key := file.uri if is_remote(root) else _identity(file)) not in taken:
                taken.add(key)
                yield file


def _identity(file: File) -> str | tuple[int, int]:
    """What a file is, by whatever name it is reached."""
    try:
        told = os.stat(file.uri)
    except OSError:
        return file.uri
    return (told.st_dev, told.st_ino) if told.st_ino else file.uri


def _local(root: Path, is_store: bool, target: str) -> Iterator[File | Unread]:
    if os.path.isdir(root):
        root = Path(os.path.abspath(root))
        for one in below(root, traces=False, without=target):
            yield one if isinstance(one, Unread) else _file(one, root.name)
        return
    try:
        yield _file(named(Path(os.path.abspath(root))), "")
    except UnreadableInput:
        if not is_store:
            raise
        yield Unread(root.name, NO_STORE)


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
    rules: Rules = Rules(),  # noqa: B008 (Rules is frozen)
) -> Plan:
    """Looks at every file that is new or changed, and tells logs from all else."""
    everything = list(found_below)
    files = [one for one in everything if isinstance(one, File)]
    strangers = [one for one in everything if isinstance(one, Unread)]
    known = dict(_known(files, Near(files), ledger, engine, task, made, progress))
    owned = {key for one in known.values() for key in one.companions}
    by_key = {ledger.key(file.uri): file for file in files}
    logs: list[Log] = []
    unread_keys: dict[str, str] = {}
    apart = {key for key in owned if key in by_key}
    unread = [(as_asked(one.name, rules), mask(one.why)) for one in strangers if one.is_passing]
    skipped = [(one.why, one.name) for one in strangers if not one.is_passing]
    keys = _keys(files, ledger)
    for key, file in by_key.items():
        found = known[file.uri]
        if key in owned or not is_of(file, shard):
            continue
        if found.is_passing:
            unread.append((as_asked(file.name, rules), found.why))
            unread_keys[key] = found.why
            continue
        if not found.adapter and found.why in NOTHING_LEFT and ledger.folders_of(key):
            unread.append((as_asked(file.name, rules), found.why))
            unread_keys[key] = found.why
            continue
        if not found.adapter:
            skipped.append((found.why, file.name))
            apart.add(key)
            continue
        beside = tuple(by_key[one] for one in found.companions if one in by_key)
        logs.append(Log(file, found.adapter, keys[file.uri], beside))
    logs.sort(key=lambda log: (-log.size, log.file.root, log.file.name))
    mine = sum(key in owned and is_of(file, shard) for key, file in by_key.items())
    names: dict[str, list[str]] = {}
    for why, name in sorted(skipped):
        names.setdefault(why, []).append(name)
    counts = {why: len(held) for why, held in names.items()}
    first = {
        why: tuple(as_asked(name, rules) for name in held[:NAMED]) for why, held in names.items()
    }
    unread.sort()
    return Plan(tuple(logs), mine, counts, first, tuple(unread), unread_keys, frozenset(apart))


def _known(
    files: Sequence[File],
    near: Near,
    ledger: Ledger,
    engine: Engine,
    task: Look,
    made: str,
    progress: Progress,
) -> Iterator[tuple[str, Known]]:
    fresh = []
    for file in files:
        before = ledger.seen(file, near, made)
        if before is None:
            fresh.append(file)
        else:
            yield file.uri, before
    by_uri = {file.uri: file for file in fresh}
    progress.begins("Looking", len(fresh))
    for asked, seen in _seen(fresh, task, engine):
        found = [(by_uri[one.uri], _known_by(one, by_uri[one.uri], ledger)) for one in seen]
        ledger.saw(found, near, made)
        yield from ((file.uri, known) for file, known in found)
        progress.advances(len(asked.files))


def _seen(
    files: Sequence[File], task: Look, engine: Engine
) -> Iterator[tuple[Look, tuple[Seen, ...]]]:
    parts = [files[at : at + TOGETHER] for at in range(0, len(files), TOGETHER)]
    for asked, seen in engine.map(look, [replace(task, files=tuple(part)) for part in parts]):
        if not isinstance(seen, Lost):
            yield asked, seen
            continue
        # One of them kills whoever looks at it: each alone shows which.
        for one, told in engine.map(look, [replace(task, files=(file,)) for file in asked.files]):
            yield one, (_ended(one),) if isinstance(told, Lost) else told


def _ended(asked: Look) -> Seen:
    (file,) = asked.files
    return Seen(file.uri, "", "looking at it ended the worker", is_passing=True)


def _known_by(seen: Seen, file: File, ledger: Ledger) -> Known:
    """What can't be told now still has the companions that it had."""
    beside = ledger.owned(file) if seen.is_passing else tuple(map(ledger.key, seen.companions))
    return Known(seen.adapter, seen.why, beside, seen.asked, seen.is_passing)


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
    """A digest of all that traces come from beside the logs: another one makes every log new.

    The code and the rules, the packages that they use, and how tokens are counted here.
    """
    found = hashlib.sha256(_own_code() + repr(_packages()).encode() + method().encode())
    for name in plugins:
        place = getattr(load(name), "__file__", None)
        found.update(name.encode() + (Path(place).read_bytes() if place else b""))
    return found.digest()


@cache
def _packages() -> dict[str, str]:
    """The packages that a conversion uses, and the versions that are installed."""
    from importlib.metadata import PackageNotFoundError, requires, version

    found = {}
    with suppress(PackageNotFoundError):
        for used in filter(None, map(USED.fullmatch, requires("forsy-retrace") or ())):
            with suppress(PackageNotFoundError):
                found[used[1]] = version(used[1])
    return found


@cache
def _own_code() -> bytes:
    """A digest of what this process runs: read once, however many folders it converts."""
    found = hashlib.sha256()
    for root in (Path(__file__).parents[1], home()):
        for path in sorted(root.rglob("*")):
            if path.suffix in (".py", ".toml", ".json"):
                found.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return found.digest()
