"""One run: plan, convert what is new, remember each log as it is done, write what lies beside."""

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence, Set
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from forsy_retrace.convert import Options
from forsy_retrace.errors import RetraceError
from forsy_retrace.logs import named
from forsy_retrace.redact import Rules, as_asked, masker_of
from forsy_retrace.registry import load
from forsy_retrace.source import file_system, is_remote, on_disk
from forsy_retrace.writers.atomic import check_kind, is_made_by_us, is_ours, locked
from forsy_retrace.writers.place import Place, is_shelf, place_of

from .cleanup import drop, settled, tidied
from .dataset import CARD, delete_dataset, files_of, write_dataset
from .engine import Engine, Lost, Progress, Silence
from .ledger import Kept, Ledger
from .listing import listed_elsewhere, rows_of, suffix_of, write_listing
from .parquet import arrow
from .plan import Plan, files_below, fingerprint, planned, stores
from .pool import Pool
from .work import Done, Job, Log, Look, content_of, convert_one


class Batch(msgspec.Struct, frozen=True):
    """What a user may choose of a run."""

    target: str
    roots: tuple[str, ...] = ()
    local: bool = False
    """Also the folders where this machine's harnesses keep their logs."""
    adapter: str = "auto"
    jobs: int = 0
    """Worker processes; 0: one a core."""
    engine: str = "pool"
    """`pool`, `ray`, or the `ray://` address of a cluster."""
    shard: tuple[int, int] = (1, 1)
    """Which part of how many; the same log is the same part's on every machine."""
    limit: int = 0
    """At most so many logs are converted; 0: all."""
    dry_run: bool = False
    fail_fast: bool = False
    dataset: bool = True
    """Writes the tables of `dataset` as JSON lines beside the folders."""
    parquet: bool = False
    ledger: str = ""
    """Where the ledger lies; empty: in the target, or, for an address, with the user's state."""
    options: Options = Options()


DAMAGED = "no whole trace folder; the next run converts its log again"


class Roots(NamedTuple):
    """Where logs are looked for: what the user named, and where harnesses keep theirs."""

    named: tuple[str, ...]
    stores: tuple[str, ...]


class Report(msgspec.Struct, frozen=True):
    """What a run did."""

    plan: Plan
    converted: int = 0
    unchanged: int = 0
    waiting: int = 0
    """Logs that were left for another run by `limit`, `dry_run` or `fail_fast`."""
    traces: int = 0
    copies: int = 0
    """Traces of a session that another log tells at the same length or longer."""
    refused: int = 0
    failed: tuple[tuple[str, str], ...] = ()
    """Logs that gave a problem, by their masked names."""
    gone: int = 0
    """Traces of an earlier run that the same logs no longer give: other sessions are asked for."""
    stale: int = 0
    """Traces of an earlier run that this one could not make anew."""
    unknown: int = 0
    """Trace folders in the target of which no log is known."""
    unknown_kinds: int = 0
    """Traces of logs with kinds of records, or of their parts, that the adapter does not know."""


def batch(
    wish: Batch,
    progress: Progress = Silence(),  # noqa: B008 (it has no state)
    engine: Engine | None = None,
) -> Report:
    """Converts every log below the roots that is new or changed; on your own engine, if given.

    Raises RetraceError where nothing can be read or written, Locked where another run has the
    same target. A bad log is a row of the report.
    """
    wish = replace(wish, target=on_disk(wish.target))
    roots = Roots(tuple(map(on_disk, wish.roots)), tuple(stores() if wish.local else ()))
    if not any(roots) and wish.local:
        raise RetraceError("none of the usual places for logs is here; name a folder with logs")
    if not any(roots):
        raise RetraceError("name a folder with logs, or --local for the usual ones")
    if engine is None and any(one.startswith("memory://") for one in (wish.target, *roots.named)):
        raise RetraceError("memory:// is of one process, and workers have their own; name a folder")
    if wish.parquet and not wish.dataset:
        raise RetraceError("--parquet writes dataset files, and --no-dataset none; leave out one")
    if wish.adapter != "auto":
        load(wish.adapter)
    masker_of(wish.options.rules)  # a wish that can't be followed is no fault of the logs
    for one in filter(is_remote, (wish.target, *roots.named)):
        file_system(one)
    for one in roots.named:
        if not (is_remote(one) or os.path.isdir(one)):
            named(Path(os.path.abspath(one)))  # a wrong name leaves nothing in the target
    if wish.parquet:
        arrow()
    path = _ledger_path(wish)
    _check(wish.target)
    with contextlib.ExitStack() as stack:
        if engine is None:
            engine = stack.enter_context(contextlib.closing(_engine(wish)))
        if wish.dry_run:
            path = _copied(path, Path(stack.enter_context(tempfile.TemporaryDirectory())))
        stack.enter_context(locked(path))
        ledger = stack.enter_context(contextlib.closing(Ledger(path)))
        if not wish.dry_run and not is_remote(wish.target):
            stack.enter_context(locked(Path(wish.target) / "batch", shared=wish.shard != (1, 1)))
        return _run(wish, roots, ledger, engine, progress)


def _check(target: str) -> None:
    """Refuses a target with files that no run put there."""
    if is_remote(target):
        return
    folder = Path(target)
    check_kind(folder)
    if is_ours(folder):
        raise RetraceError("the target is one trace; name another folder for many")
    held = folder.exists() and any(path.name[0] != "." for path in folder.iterdir())
    was_ours = any(folder.glob(".ledger*.sqlite")) or any(
        map(is_made_by_us, folder.glob("report*.json"))
    )
    if held and not was_ours and not is_shelf(folder):
        raise RetraceError("the target folder holds files that are not ours; name another")


COPIES = 9
"""How often a ledger is copied, at most."""


def _copied(ledger: Path, folder: Path) -> Path:
    """A ledger of the same content, for a run that changes nothing.

    Another run may write it: a copy over which its journal went into it is made again.
    """
    for _ in range(COPIES):
        before = _written(ledger)
        for name in (ledger.name, f"{ledger.name}-wal"):
            (folder / name).unlink(missing_ok=True)
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(ledger.with_name(name), folder / name)
        if _written(ledger) == before:
            break
    return folder / ledger.name


def _written(path: Path) -> tuple[int, int] | None:
    """When a file was written last, and how long it is; None where it is not there."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_size


def _run(wish: Batch, roots: Roots, ledger: Ledger, engine: Engine, progress: Progress) -> Report:
    code = fingerprint(wish.options.plugins)
    looked = ledger.digest(code, wish.adapter.encode(), *map(str.encode, wish.options.plugins))
    made = ledger.digest(code, repr(wish.options).encode())  # a term may be no UTF-8
    task = Look((), wish.adapter, wish.options.plugins)
    below = files_below(roots.named, roots.stores, wish.target)
    plan = planned(below, ledger, engine, task, looked, progress, wish.shard, wish.options.rules)
    place = place_of(wish.target)
    fresh = [log for log in plan.logs if not _is_done(log, ledger, made, place)]
    fresh.sort(key=lambda log: _failed_now(log, ledger))
    unchanged = len(plan.logs) - len(fresh)
    chosen = fresh[: wish.limit] if wish.limit else fresh
    if wish.dry_run:
        return Report(plan, unchanged=unchanged, waiting=len(fresh), failed=plan.unread)
    if wish.fail_fast and plan.unread:
        chosen = []
    progress.begins("Converting", sum(log.size for log in chosen))
    seen: set[str] = set()
    rules = wish.options.rules
    converted, gone = 0, drop(plan, ledger, place)
    missed = []
    for log, done in _converted(chosen, wish, engine):
        gone += _remember(log, done, ledger, made, place, rules)
        missed += [(_name(log, done, rules), done.problem)] if done.is_passing else []
        seen.add(log.file.uri)
        converted += not done.problem
        progress.advances(log.size)
        if done.problem and wish.fail_fast:
            break
    plan = replace(plan, unread=tuple(sorted((*plan.unread, *missed))))
    waiting = {ledger.key(log.file.uri) for log in fresh if log.file.uri not in seen}
    report = _listed(wish, plan, waiting, ledger, made, place, progress)
    return replace(report, converted=converted, unchanged=unchanged, gone=gone)


def _listed(
    wish: Batch,
    plan: Plan,
    waiting: Set[str],
    ledger: Ledger,
    made: str,
    place: Place,
    progress: Progress,
) -> Report:
    """What lies in the target is made to hold what the ledger says."""
    known = ledger.all()
    is_own, keys = not wish.ledger, ledger.folder_keys()
    unknown = tidied(
        known, waiting, keys, place, is_own, lambda: listed_elsewhere(place, wish.shard)
    )
    here = {ledger.key(log.file.uri) for log in plan.logs}
    everything = settled(known, here, waiting, plan.unread_keys, made, place)
    rows = rows_of(everything)
    folders = [row.folder for row in rows if row.superseded_by is UNSET]
    damaged = dict.fromkeys(_dataset(wish, folders, ledger, place, progress), DAMAGED)
    for one in known:
        if any(row.folder in damaged for row in one.done.rows):
            ledger.redo(one.key)
    rows = [replace(row, stale=DAMAGED) if row.folder in damaged else row for row in rows]
    write_listing(place, wish.shard, plan, everything, rows, list(damaged.items()))
    problems = ((name, done.problem) for name, done in everything if done.problem)
    return Report(
        plan,
        waiting=len(waiting),
        traces=len(rows),
        copies=len(rows) - len(folders),
        refused=sum(len(done.refused) for _, done in everything),
        failed=(*plan.unread, *problems, *damaged.items()),
        stale=sum(row.stale is not UNSET for row in rows),
        unknown_kinds=sum(row.unknown_kinds is not UNSET for row in rows),
        unknown=unknown if wish.shard == (1, 1) else 0,  # another part knows them
    )


def _dataset(
    wish: Batch, folders: Sequence[str], ledger: Ledger, place: Place, progress: Progress
) -> list[str]:
    """The files that are asked for, and no others; gives the folders that hold no whole trace."""
    suffix = suffix_of(wish.shard)
    wanted = files_of(suffix, wish.parquet) if wish.dataset else []
    delete_dataset(place, suffix, wanted)
    if not wanted or ledger.is_listed(_state(folders, wanted, ledger, place)):
        return []
    damaged = write_dataset(place, suffix, folders, wish.parquet, progress)
    if not damaged:
        ledger.listed(_state(folders, wanted, ledger, place))
    return damaged


def _state(folders: Sequence[str], files: Sequence[str], ledger: Ledger, place: Place) -> str:
    """Another one as soon as other traces are told, or a file is not as it was left."""
    sizes = (f"{name}:{place.size(name)}" for name in (*files, CARD))
    return ledger.digest(*map(str.encode, (*folders, *sizes)))


def _failed_now(log: Log, ledger: Ledger) -> bool:
    """Whether a log failed for a reason that may be gone; others are not kept waiting for it."""
    kept = ledger.kept(log.file.uri)
    return kept is not None and kept.done.is_passing


def _converted(logs: Sequence[Log], wish: Batch, engine: Engine) -> Iterator[tuple[Log, Done]]:
    jobs = [Job(log, wish.target, wish.options) for log in logs]
    for job, done in engine.map(convert_one, jobs):
        if isinstance(done, Lost):
            done = Done(problem="it ended its worker twice", is_passing=True)
        yield job.log, done


def _is_done(log: Log, ledger: Ledger, made: str, place: Place) -> bool:
    """Whether a log is as it was when it was converted, and what came of it is still there."""
    kept = ledger.kept(log.file.uri)
    if kept is None or kept.made != made or kept.done.is_passing:
        return False
    if kept.stamp != ledger.digest(log.mark.encode()):
        if kept.content != ledger.digest(content_of(log)):
            return False
        ledger.touched(log.file.uri, ledger.digest(log.mark.encode()))
    return kept.done.seals == _seals(kept.done, ledger, place)


def _seals(done: Done, ledger: Ledger, place: Place) -> tuple[str, ...]:
    """How the trace folders of a log lie there now."""
    return tuple(ledger.digest(place.seal(row.folder).encode()) for row in done.rows)


def _remember(log: Log, done: Done, ledger: Ledger, made: str, place: Place, rules: Rules) -> int:
    """The log is done: what came of an earlier state of it, and no longer does, goes.

    What only could not be read now, or met a fault of ours, takes nothing away: the rows of the
    traces that it could not make anew say why they are `stale`. What could not be read is a problem
    of this run alone: the log may be gone when the next one comes. Gives how many traces fewer
    there are.
    """
    before = ledger.kept(log.file.uri)
    old = before.done.rows if before else ()
    if done.is_passing or done.is_fault:
        stale = (replace(row, stale=done.problem) for row in old if place.has_trace(row.folder))
        told = {row.folder: row for row in (*stale, *done.rows)}
        done = replace(done, rows=tuple(told.values()))
    if done.is_passing:
        done = replace(done, problem="")
    content = ledger.digest(done.content)
    done = replace(done, content=b"", seals=_seals(done, ledger, place))
    ledger.keep(log.file.uri, _name(log, done, rules), _kept(log, done, ledger, made, content))
    now = {row.folder for row in done.rows}
    for row in old:
        if row.folder not in now:
            place.remove(row.folder)
    return max(0, len(old) - len(done.rows))


def _kept(log: Log, done: Done, ledger: Ledger, made: str, content: str) -> Kept:
    return Kept(ledger.digest(log.mark.encode()), content, made, done)


def _name(log: Log, done: Done, rules: Rules) -> str:
    """A log's name without what is secret, also by what its own traces know."""
    names = {row.sources[0].name for row in done.rows if row.sources}
    if not any("[" in name for name in names):
        return as_asked(log.file.name, rules)
    return names.pop() if len(names) == 1 else f"…{Path(log.file.name).suffix}"


def _engine(wish: Batch) -> Engine:
    if wish.engine == "pool":
        return Pool(wish.jobs)
    if wish.engine != "ray" and not wish.engine.startswith("ray://"):
        raise RetraceError("an engine is pool, ray, or the ray:// address of a cluster")
    from .on_ray import OnRay

    return OnRay(wish.engine, wish.jobs)


def _ledger_path(wish: Batch) -> Path:
    if wish.ledger:
        if os.path.isdir(wish.ledger):
            raise RetraceError("the ledger is a file; name one with --ledger, not a folder")
        return Path(wish.ledger)
    name = f"ledger{suffix_of(wish.shard)}.sqlite"
    if not is_remote(wish.target):
        return Path(wish.target) / f".{name}"
    digest = hashlib.sha256(wish.target.encode()).hexdigest()[:16]
    try:
        home = Path.home()
    except RuntimeError:
        raise RetraceError(
            "there is no home folder for the ledger; name one with --ledger"
        ) from None
    return home / ".local" / "state" / "forsy-retrace" / digest / name
