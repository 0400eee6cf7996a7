"""Where trace folders go: a folder on disk, or an address that fsspec knows."""

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from forsy_retrace.errors import DiskTrouble, RetraceError
from forsy_retrace.source import file_system, is_remote
from forsy_retrace.writers.atomic import (
    ARTIFACT,
    ARTIFACTS,
    FILES,
    LEFT,
    Data,
    check_kind,
    delete_file,
    is_ours,
    locked,
    sweep,
    whole,
    write_file,
)
from forsy_retrace.writers.folder import put_folder

MANIFEST = "manifest.json"


class Place(Protocol):
    """Holds trace folders by name, and files of its own beside them."""

    def put(self, name: str, files: Mapping[str, Data]) -> None:
        """Writes one trace folder; whoever finds its manifest finds the whole."""
        ...

    def holds(self, name: str) -> bool:
        """Whether there is a file of that name below the place."""
        ...

    def has_trace(self, name: str) -> bool:
        """Whether a whole trace folder has that name."""
        ...

    def seal(self, name: str) -> str:
        """Another text as soon as a file of a trace folder is gone or has another size."""
        ...

    def remove(self, name: str) -> bool:
        """Takes a trace folder away; gives whether it is, or was, no more there."""
        ...

    def delete(self, name: str) -> None:
        """Takes a file away, if there is one of that name."""
        ...

    def size(self, name: str) -> int | None:
        """The bytes of a file below the place; None where there is none."""
        ...

    def folders(self) -> list[str]:
        """The names of all folders below the place, but hidden ones."""
        ...

    def left(self) -> list[str]:
        """The names of trace folders of which a killed run may have left a part."""
        ...

    def sweep(self, name: str) -> None:
        """Repairs what a killed run left of a trace folder; for the only writer of the place."""
        ...

    def read(self, name: str) -> bytes:
        """The bytes of a file below the place; raises OSError."""
        ...

    def write(self, name: str, path: Path) -> None:
        """Puts a finished file there, in the place of one of that name."""
        ...


def place_of(target: str) -> Place:
    """The place that a target names."""
    return Remote(target) if is_remote(target) else Disk(Path(target))


class Disk(Place):
    """A folder of this machine."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def put(self, name: str, files: Mapping[str, Data]) -> None:
        put_folder(self.root / name, files)

    def holds(self, name: str) -> bool:
        return (self.root / name).is_file()

    def has_trace(self, name: str) -> bool:
        return all(self.holds(f"{name}/{one}") for one in FILES)

    def seal(self, name: str) -> str:
        kept = (self.root / name / ARTIFACTS).glob("*")
        artifacts = sorted(one.name for one in kept if ARTIFACT.fullmatch(one.name))
        names = (*sorted(FILES), *(f"{ARTIFACTS}/{one}" for one in artifacts))
        return " ".join(f"{one}:{self.size(f'{name}/{one}')}" for one in names)

    def remove(self, name: str) -> bool:
        folder = self.root / name
        with locked(folder):
            if is_ours(folder):
                shutil.rmtree(folder, ignore_errors=True)
        return not folder.exists()

    def delete(self, name: str) -> None:
        delete_file(self.root / name)

    def size(self, name: str) -> int | None:
        path = self.root / name
        return path.stat().st_size if path.is_file() else None

    def folders(self) -> list[str]:
        return [one.name for one in self._all() if one.name[0] != "." and one.is_dir()]

    def left(self) -> list[str]:
        found = (LEFT.fullmatch(one.name) for one in self._all())
        return sorted({one["name"] for one in found if one})

    def sweep(self, name: str) -> None:
        folder = self.root / name
        with locked(folder):
            sweep(folder)

    def _all(self) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self.root) as found:
                return list(found)
        except FileNotFoundError:
            return []

    def read(self, name: str) -> bytes:
        return (self.root / name).read_bytes()

    def write(self, name: str, path: Path) -> None:
        write_file(self.root / name, path)


class Remote(Place):
    """A prefix of a store without renames: the manifest goes first and comes last."""

    def __init__(self, address: str) -> None:
        self.system, self.root = file_system(address)

    def put(self, name: str, files: Mapping[str, Data]) -> None:
        held = {one: whole(data) for one, data in files.items()}  # before anything goes
        with _told():
            folder = f"{self.root}/{name}"
            before = set(self.system.find(folder)) if self.system.exists(folder) else set()
            if f"{folder}/{MANIFEST}" in before:
                self.system.rm_file(f"{folder}/{MANIFEST}")
            after = [f"{folder}/{one}" for one in held]
            for path in sorted(before - {*after, f"{folder}/{MANIFEST}"}):
                self.system.rm_file(path)
            for one in sorted(held, key=lambda one: one == MANIFEST):
                self.system.pipe_file(f"{folder}/{one}", held[one])

    def holds(self, name: str) -> bool:
        with _told():
            return bool(self.system.exists(f"{self.root}/{name}"))

    def has_trace(self, name: str) -> bool:
        return self.holds(f"{name}/{MANIFEST}")

    def seal(self, name: str) -> str:
        size = None
        with _told(), contextlib.suppress(FileNotFoundError):
            size = self.system.size(f"{self.root}/{name}/{MANIFEST}")
        return f"{MANIFEST}:{size}"

    def remove(self, name: str) -> bool:
        with _told():
            if self.has_trace(name):
                self.system.rm(f"{self.root}/{name}", recursive=True)
        return True

    def delete(self, name: str) -> None:
        with _told():
            if self.system.exists(f"{self.root}/{name}"):
                self.system.rm_file(f"{self.root}/{name}")

    def size(self, name: str) -> int | None:
        with _told():
            path = f"{self.root}/{name}"
            return int(self.system.size(path)) if self.system.exists(path) else None

    def folders(self) -> list[str]:
        with _told():
            found = self.system.ls(self.root, detail=True) if self.system.exists(self.root) else []
        return [one["name"].rsplit("/", 1)[-1] for one in found if one["type"] == "directory"]

    def left(self) -> list[str]:
        return []

    def sweep(self, name: str) -> None: ...

    def read(self, name: str) -> bytes:
        with _told(may_lack=True):
            data: bytes = self.system.cat_file(f"{self.root}/{name}")
        return data

    def write(self, name: str, path: Path) -> None:
        with _told():
            self.system.put_file(str(path), f"{self.root}/{name}")


def is_shelf(target: Path) -> bool:
    """A folder that holds trace folders of ours, and nothing else; or what is left of the first."""
    if not target.is_dir() or is_ours(target):
        return False
    held = list(target.iterdir())
    inner = [path for path in held if not path.name.startswith(".")]
    if not inner:
        return bool(held) and all(LEFT.fullmatch(path.name) for path in held)
    return all(path.is_dir() and is_ours(path) for path in inner)


def check_shelf(target: Path) -> None:
    """Refuses a target for several traces that holds anything but traces of ours."""
    if is_ours(target):
        raise RetraceError("the target is one trace; name another folder for several sessions")
    if target.is_dir() and any(target.iterdir()) and not is_shelf(target):
        raise RetraceError("the target folder holds files that are not ours; name another")
    check_kind(target)


def earlier(target: Path, folders: Sequence[Path]) -> list[str]:
    """The names of trace folders beside those that were just written below a target."""
    now = {folder.name for folder in folders if folder.parent == target}
    if not now:
        return []
    return [
        one.name for one in os.scandir(target) if one.name not in now and is_ours(Path(one.path))
    ]


@contextlib.contextmanager
def _told(may_lack: bool = False) -> Iterator[Any]:
    """Whatever a store raises as one line; each has errors of its own."""
    try:
        yield
    except RetraceError:
        raise
    except FileNotFoundError:
        if may_lack:
            raise
        raise DiskTrouble("the target can't be written: no such bucket or folder") from None
    except Exception as error:
        raise DiskTrouble(f"the target can't be written: {type(error).__name__}") from None
