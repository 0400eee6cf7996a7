"""A folder that is there whole or not at all, even after a crash or a full disk."""

import contextlib
import errno
import hashlib
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from forsy_retrace.errors import DiskTrouble, Locked, Occupied, RetraceError
from forsy_retrace.patterns import later

GENERATOR = "forsy-retrace"
ARTIFACTS = "artifacts"
MANIFEST = "manifest.json"
FILES = frozenset(("README.md", "evidence.jsonl", MANIFEST, "trace.json"))
"""What a trace folder holds, beside its artifacts."""
FRESH, FULL, LOCK = ".forsy-new", ".forsy-full", ".forsy-lock"
"""What a folder that is filled holds meanwhile: files that are being written, all of them, and the
lock where none can be made beside it."""
NOBODYS = (".DS_Store", "Thumbs.db", "desktop.ini")
"""What file managers leave in each folder that they show."""
ARTIFACT = later(r"[0-9a-f]{16}\.[a-z0-9]{1,8}")

Data = bytes | Iterable[bytes]
"""A file: its bytes, or its parts, which are made while they are read, and once only."""


def whole(data: Data) -> bytes:
    """All bytes of a file; what comes in parts is used up."""
    return data if isinstance(data, bytes) else b"".join(data)


def is_ours(folder: Path) -> bool:
    """Whether a folder is a trace folder that this tool wrote, and holds nothing else."""
    return is_made_by_us(folder / MANIFEST) and not _holds_more(folder)


def is_made_by_us(path: Path) -> bool:
    """Whether a JSON file names this tool as what wrote it."""
    return str(_told(path).get("generator", "")).startswith(GENERATOR)


def trace_in(folder: Path) -> str:
    """The id of the trace that lies in a folder; empty where none does."""
    return str(_told(folder / MANIFEST).get("trace_id", ""))


def _told(path: Path) -> dict[str, Any]:
    """The object that a JSON file holds; empty where it holds none."""
    try:
        told = orjson.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


def _holds_more(folder: Path) -> bool:
    """Whether somebody put files of their own into a trace folder."""
    artifacts = folder / ARTIFACTS
    if set(os.listdir(folder)) - {*FILES, ARTIFACTS, FRESH, FULL, LOCK, *NOBODYS}:
        return True
    if artifacts.is_symlink() or not artifacts.is_dir():
        return os.path.lexists(artifacts)
    return not all(map(ARTIFACT.fullmatch, {*os.listdir(artifacts)} - {*NOBODYS}))


def _is_being_filled(folder: Path) -> bool:
    """Whether a run fills a folder now, or was killed while it did."""
    return any((folder / name).is_dir() for name in (FRESH, FULL))


def check_kind(target: Path) -> None:
    """Refuses a target that is there, and no folder itself."""
    if target.is_symlink():
        raise RetraceError("the target is a link; name the folder that it leads to with -o")
    if target.exists() and not target.is_dir():
        raise RetraceError("the target exists and is no folder; name another")
    if any(map(is_ours, Path(os.path.abspath(target)).parents)):
        raise RetraceError("the target lies in the folder of a trace; name another")


def check_target(folder: Path) -> None:
    """Refuses a target that holds anything but a trace of ours."""
    check_kind(folder)
    try:
        is_taken = folder.is_dir() and any(folder.iterdir()) and not is_ours(folder)
        is_taken = is_taken and not (_is_being_filled(folder) and not _holds_more(folder))
    except OSError as error:
        raise DiskTrouble(f"the target can't be written: {_why(error)}") from None
    if is_taken:
        raise Occupied("the target folder holds files that are not ours; name another")


@contextlib.contextmanager
def locked(folder: Path, shared: bool = False) -> Iterator[None]:
    """One writer a target, or several that share it. The system lets go when a process ends.

    What writers share is there until one comes that does not: each may be the last.
    """
    lock = beside(folder, "lock")
    if _stays(folder) and not os.access(folder.parent, os.W_OK):
        lock = folder / LOCK
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        handle = _take(lock, shared)
    except OSError as error:
        raise DiskTrouble(f"the target can't be written: {_why(error)}") from None
    try:
        yield
    finally:
        if not shared:
            with contextlib.suppress(OSError):
                lock.unlink()
        os.close(handle)


def _take(lock: Path, shared: bool) -> int:
    """The file that was locked; one that its holder removed meanwhile locks nothing."""
    while True:
        handle = os.open(lock, os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            _lock(handle, shared)
            if os.path.samestat(os.fstat(handle), os.stat(lock)):
                return handle
        except FileNotFoundError:
            pass
        except BlockingIOError:
            os.close(handle)
            raise Locked("another run is writing this target; wait for it to end") from None
        os.close(handle)


def _lock(handle: int, shared: bool) -> None:
    """Raises BlockingIOError where another holds it."""
    try:
        import fcntl
    except ImportError:  # Windows, which knows no lock that is shared
        import msvcrt

        if shared:
            return

        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        except OSError:
            raise BlockingIOError from None
        return
    fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


def write_whole(folder: Path, files: Mapping[str, Data]) -> None:
    """Puts a folder of files in the place of `folder`, in one rename; raises what a part raises.

    One that can't be moved, or in which somebody stands, is filled.
    """
    sweep(folder)
    if _stays(folder):
        _fill(folder, files)
        return
    fresh, old = beside(folder, "new"), beside(folder, "old")
    for left in filter(os.path.lexists, (fresh, old)):
        raise Occupied(
            f"beside the target lies {left.name}, with files that are not ours; move it away"
        )
    try:
        _make(fresh, files)
        _admit(fresh, folder)
        if folder.exists():
            folder.rename(old)
        fresh.rename(folder)
        _sync(folder.parent)
    except OSError as error:
        raise DiskTrouble(f"the target can't be written: {_why(error)}") from None
    finally:
        if old.exists() and not folder.exists():  # Ctrl-C between the renames, too
            old.rename(folder)
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _make(fresh: Path, files: Mapping[str, Data]) -> None:
    """A folder with these files, all of them on the disk; nobody else may look into it yet."""
    fresh.mkdir(mode=0o700)
    for name, data in files.items():
        path = fresh / name
        path.parent.mkdir(exist_ok=True)
        _write(path, data)
    for inner in {(fresh / name).parent for name in files} | {fresh}:
        _sync(inner)


def _admit(fresh: Path, folder: Path) -> None:
    """Lets in whom the folder lets in that goes, or else whom the user lets into new ones."""
    if folder.exists():
        before = folder.stat()
        with contextlib.suppress(OSError, AttributeError):
            os.chown(fresh, before.st_uid, before.st_gid)
        fresh.chmod(stat.S_IMODE(before.st_mode))
        return
    mask = os.umask(0o077)
    os.umask(mask)
    fresh.chmod(0o777 & ~mask | stat.S_IMODE(fresh.stat().st_mode) & stat.S_ISGID)


def _stays(folder: Path) -> bool:
    """Whether a folder is where the process stands, or holds a disk of its own."""
    try:
        return folder.is_dir() and (os.path.ismount(folder) or os.path.samefile(folder, "."))
    except OSError:
        return False


def _fill(folder: Path, files: Mapping[str, Data]) -> None:
    """Puts files into a folder: all are written first; `mend` puts them in place, now or later."""
    fresh = folder / FRESH
    try:
        shutil.rmtree(fresh, ignore_errors=True)
        _make(fresh, files)
        (fresh / ARTIFACTS).mkdir(exist_ok=True)  # also where the old ones have to go
        fresh.rename(folder / FULL)
        _put_in_place(folder)
    except OSError as error:
        raise DiskTrouble(f"the target can't be written: {_why(error)}") from None
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def mend(folder: Path) -> None:
    """Ends what a run began in a folder that it fills; whoever finds its manifest finds all.

    For the holder of the lock.
    """
    full = folder / FULL
    try:
        if full.is_dir() and not full.is_symlink() and not _holds_more(folder):
            _put_in_place(folder)
    except OSError as error:
        raise DiskTrouble(f"the target can't be written: {_why(error)}") from None
    shutil.rmtree(folder / FRESH, ignore_errors=True)


def _put_in_place(folder: Path) -> None:
    """Puts all files that were written for a folder where they belong, the manifest last."""
    full, artifacts = folder / FULL, folder / ARTIFACTS
    left = sorted(os.listdir(full), key=MANIFEST.__eq__)
    if artifacts.is_dir():
        artifacts.chmod(0o700 | stat.S_IMODE(artifacts.stat().st_mode))
    if MANIFEST in left:
        (folder / MANIFEST).unlink(missing_ok=True)
    for name in left:
        if name == ARTIFACTS and artifacts.is_dir():
            shutil.rmtree(artifacts)
        (full / name).replace(folder / name)
    full.rmdir()
    with contextlib.suppress(OSError):
        artifacts.rmdir()  # where it holds nothing
    _sync(folder)


def write_file(target: Path, finished: Path) -> None:
    """Puts a finished file in the place of `target`, in one rename; both are on one disk."""
    try:
        with finished.open("rb") as file:
            os.fsync(file.fileno())
        finished.replace(target)
        _sync(target.parent)
    except OSError as error:
        raise DiskTrouble(f"the target can't be written: {_why(error)}") from None


def delete_file(target: Path) -> None:
    """Takes a file away, if there is one."""
    try:
        target.unlink(missing_ok=True)
    except OSError as error:
        raise DiskTrouble(f"the target can't be written: {_why(error)}") from None


def replace_file(path: Path, data: bytes) -> None:
    """Puts one file in the place of `path`, in one rename."""
    fresh = beside(path, f"new-{os.getpid()}")
    try:
        fresh.unlink(missing_ok=True)
        _write(fresh, data)
        fresh.replace(path)
        _sync(path.parent)
    except OSError as error:
        raise DiskTrouble(f"the target can't be written: {_why(error)}") from None
    finally:
        fresh.unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Repairs what a killed run left: brings a moved folder back, removes half-written ones.

    For the holder of the lock: nobody else writes this target. A shelf may hold a million folders:
    it is never listed.
    """
    fresh, old = beside(folder, "new"), beside(folder, "old")
    if _is_left(old) and not folder.exists():
        old.rename(folder)
    for left in filter(_is_left, (fresh, old)):
        shutil.rmtree(left, ignore_errors=True)


def _is_left(path: Path) -> bool:
    """Whether a run left a folder beside a target; what holds anything else is somebody's own."""
    return path.is_dir() and not path.is_symlink() and not _holds_more(path)


LONGEST = 200
"""Bytes of a target's name that leave room for the names beside it."""


def beside(target: Path, what: str) -> Path:
    """The lock of a target, where it is made anew, and where the old one goes meanwhile."""
    name = target.name
    if len(os.fsencode(name)) > LONGEST:
        name = hashlib.sha256(os.fsencode(name)).hexdigest()[:32]
    return target.with_name(f".{name}.{what}")


def with_a_name(target: Path) -> Path:
    """The same folder by a name of its own: `.` and `..` have none.

    Raises Locked where another run has just moved the working directory away.
    """
    if target.name not in ("", ".."):
        return target
    named = target.resolve()
    if left := LEFT.fullmatch(named.name):
        with locked(named.with_name(left["name"])):
            pass  # nobody moved it away: it is only called so
    return named


LEFT = later(r"\.(?P<name>.+)\.(?:new|old|lock)")
"""What lies beside a trace folder while it is written."""


def _write(path: Path, data: Data) -> None:
    with path.open("xb") as file:
        file.writelines((data,) if isinstance(data, bytes) else data)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _why(error: OSError) -> str:
    known = {
        errno.ENOSPC: "no space left on the disk",
        errno.EDQUOT: "the quota is used up",
        errno.EFBIG: "a file would grow too large",
        errno.EACCES: "permission denied",
        errno.EPERM: "permission denied",
        errno.EROFS: "the disk is read-only",
        errno.ENOTDIR: "a part of its path is no folder",
        errno.EEXIST: "a part of its path is no folder",
    }
    return known.get(error.errno or 0, os.strerror(error.errno or errno.EIO))
