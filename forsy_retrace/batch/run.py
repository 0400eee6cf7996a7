"""One run: plan, convert what is new, remember each log as it is done, write what lies beside."""

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from forsy_retrace.convert import Options
from forsy_retrace.errors import RetraceError
from forsy_retrace.redact import mask, masker_of
from forsy_retrace.registry import load
from forsy_retrace.source import file_system, is_remote, on_disk
from forsy_retrace.writers.atomic import check_kind, is_made_by_us, is_ours, locked
from forsy_retrace.writers.place import Place, is_shelf, place_of

from .dataset import has_dataset, write_dataset
from .engine import Engine, Lost, Progress, Silence
from .ledger import Kept, Ledger
from .listing import write_listing
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
    """Writes manifests.jsonl, traces.jsonl and steps.jsonl beside the folders."""
    parquet: bool = False
    ledger: str = ""
    """Where the ledger lies; empty: in the target, or, for an address, with the user's state."""
    options: Options = Options()


class Report(msgspec.Struct, frozen=True):
    """What a run did."""

    plan: Plan
    converted: int = 0
    unchanged: int = 0
    waiting: int = 0
    """Logs that were left for another run by `limit`, `dry_run` or `fail_fast`."""
    traces: int = 0
    refused: int = 0
    failed: tuple[tuple[str, str], ...] = ()
    """Logs that gave a problem, by their masked names."""
    gone: int = 0
    """Traces of an earlier run that the same logs no longer give: other sessions are asked for."""


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
    roots = [*map(on_disk, wish.roots), *(stores() if wish.local else ())]
    if not roots and wish.local:
        raise RetraceError("none of the usual places for logs is here; name a folder with logs")
    if not roots:
        raise RetraceError("name a folder with logs, or --local for the usual ones")
    if engine is None and any(one.startswith("memory://") for one in (wish.target, *roots)):
        raise RetraceError("memory:// is of one process, and workers have their own; name a folder")
    if wish.adapter != "auto":
        load(wish.adapter)
    masker_of(wish.options.rules)  # a wish that can't be followed is no fault of the logs
    for one in filter(is_remote, (wish.target, *roots)):
        file_system(one)
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


def _copied(ledger: Path, folder: Path) -> Path:
    """A ledger of the same content, for a run that changes nothing."""
    copy = folder / ledger.name
    with contextlib.suppress(FileNotFoundError):
        for path in (ledger, ledger.with_name(f"{ledger.name}-wal")):
            shutil.copyfile(path, copy.with_name(path.name))
    return copy


def _run(
    wish: Batch, roots: Sequence[str], ledger: Ledger, engine: Engine, progress: Progress
) -> Report:
    code = fingerprint(wish.options.plugins)
    looked = ledger.digest(code, wish.adapter.encode(), *map(str.encode, wish.options.plugins))
    made = ledger.digest(code, repr(wish.options).encode())  # a term may be no UTF-8
    task = Look((), wish.adapter, wish.options.plugins)
    plan = planned(files_below(roots), ledger, engine, task, looked, progress, wish.shard)
    place = place_of(wish.target)
    fresh = [log for log in plan.logs if not _is_done(log, ledger, made, place)]
    unchanged = len(plan.logs) - len(fresh)
    chosen = fresh[: wish.limit] if wish.limit else fresh
    if wish.dry_run:
        return Report(plan, unchanged=unchanged, waiting=len(fresh))
    progress.begins("Converting", sum(log.size for log in chosen))
    seen = converted = gone = 0
    missed = []
    for log, done in _converted(chosen, wish, engine):
        gone += _remember(log, done, ledger, made, place)
        missed += [(_name(log, done), done.problem)] if done.is_passing else []
        seen += 1
        converted += not done.problem
        progress.advances(log.size)
        if done.problem and wish.fail_fast:
            break
    plan = replace(plan, unread=tuple(sorted((*plan.unread, *missed))))
    everything = ledger.all(log.file.uri for log in plan.logs)
    rows = write_listing(place, _suffix(wish), plan, everything)
    if wish.dataset and not (ledger.is_listed(wish.parquet) and has_dataset(place, _suffix(wish))):
        folders = [row["folder"] for row in rows if "superseded_by" not in row]
        write_dataset(place, _suffix(wish), folders, wish.parquet, progress)
        ledger.listed(wish.parquet)
    return Report(
        plan,
        converted,
        unchanged,
        len(fresh) - seen,
        len(rows),
        sum(len(done.refused) for _, done in everything),
        (*plan.unread, *((name, done.problem) for name, done in everything if done.problem)),
        gone,
    )


def _converted(logs: Sequence[Log], wish: Batch, engine: Engine) -> Iterator[tuple[Log, Done]]:
    jobs = [Job(log, wish.target, wish.options) for log in logs]
    for job, done in engine.map(convert_one, jobs):
        if isinstance(done, Lost):
            done = Done(problem=done.why, is_passing=True)
        yield job.log, done


def _is_done(log: Log, ledger: Ledger, made: str, place: Place) -> bool:
    """Whether a log is as it was when it was converted, and what came of it is still there."""
    kept = ledger.kept(log.file.uri)
    if kept is None or kept.made != made or kept.done.is_passing:
        return False
    if kept.stamp != ledger.digest(log.mark.encode()):
        if kept.content != ledger.digest(content_of(log)):
            return False
        ledger.keep(
            log.file.uri, _name(log, kept.done), _kept(log, kept.done, ledger, made, kept.content)
        )
    return all(place.has_trace(row["folder"]) for row in kept.done.rows)


def _remember(log: Log, done: Done, ledger: Ledger, made: str, place: Place) -> int:
    """The log is done: what came of an earlier state of it, and no longer does, goes.

    What only could not be read now, or met a fault of ours, takes nothing away: the rows of the
    traces that it could not make anew say why they are `stale`. What could not be read is a problem
    of this run alone: the log may be gone when the next one comes. Gives how many traces fewer
    there are.
    """
    before = ledger.kept(log.file.uri)
    old = before.done.rows if before else ()
    if done.is_passing or done.is_fault:
        stale = ({**row, "stale": done.problem} for row in old if place.has_trace(row["folder"]))
        told = {row["folder"]: row for row in (*stale, *done.rows)}
        done = replace(done, rows=tuple(told.values()))
    if done.is_passing:
        done = replace(done, problem="")
    content, done = ledger.digest(done.content), replace(done, content=b"")
    ledger.keep(log.file.uri, _name(log, done), _kept(log, done, ledger, made, content))
    now = {row["folder"] for row in done.rows}
    for row in old:
        if row["folder"] not in now:
            place.remove(row["folder"])
    return max(0, len(old) - len(done.rows))


def _kept(log: Log, done: Done, ledger: Ledger, made: str, content: str) -> Kept:
    return Kept(ledger.digest(log.mark.encode()), content, made, done)


def _name(log: Log, done: Done) -> str:
    """A log's name without what is secret, also by what its own traces know."""
    names = {row["sources"][0]["name"] for row in done.rows if row["sources"]}
    if not any("[" in name for name in names):
        return mask(log.file.name)
    return names.pop() if len(names) == 1 else f"…{Path(log.file.name).suffix}"


def _engine(wish: Batch) -> Engine:
    if wish.engine == "pool":
        return Pool(wish.jobs)
    if wish.engine != "ray" and not wish.engine.startswith("ray://"):
        raise RetraceError("an engine is pool, ray, or the ray:// address of a cluster")
    from .on_ray import OnRay

    return OnRay(wish.engine, wish.jobs)


def _suffix(wish: Batch) -> str:
    """What a part's own files are called by, beside those of the others."""
    return "" if wish.shard == (1, 1) else "-{}-of-{}".format(*wish.shard)


def _ledger_path(wish: Batch) -> Path:
    if wish.ledger:
        if os.path.isdir(wish.ledger):
            raise RetraceError("the ledger is a file; name one with --ledger, not a folder")
        return Path(wish.ledger)
    name = f"ledger{_suffix(wish)}.sqlite"
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
