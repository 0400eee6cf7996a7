"""Logs behind an address that fsspec knows (`s3://`, `gs://`): whole objects, never by line."""

import glob
import io
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from forsy_retrace.errors import RetraceError, Unreachable, UnreadableInput

from .log import Source
from .unpack import Bounded


def is_remote(address: str) -> bool:
    """Whether it is an address and no path of this machine."""
    return "://" in address


def on_disk(address: str) -> str:
    """The same place, by its path where the address is one of this machine's disks."""
    return address.removeprefix("file://").removeprefix("local://") or address


def file_system(address: str) -> tuple[Any, str]:
    """The file system behind an address, and the path there; raises where a package is missing."""
    try:
        import fsspec
    except ImportError:
        raise RetraceError("an address needs fsspec: pip install 'forsy-retrace[cloud]'") from None
    kind = address.split("://")[0]
    try:
        system, path = fsspec.core.url_to_fs(address)
    except ImportError:
        why = f"{kind}:// needs a package of its own beside fsspec; see the extra cloud"
        raise RetraceError(why) from None
    except ValueError:
        raise RetraceError(f"fsspec knows no addresses of the kind {kind}://") from None
    except TypeError:
        raise RetraceError(f"{kind}:// needs more than its address tells; name another") from None
    except Exception as error:  # each service has errors of its own
        raise Unreachable(f"{kind}://: {type(error).__name__} in its store") from None
    return system, path.rstrip("/")


class RemoteSource(Source):
    """A log that is fetched whole when it is first looked at."""

    def __init__(self, system: Any, path: str, name: str) -> None:
        super().__init__(Path(path), name)
        self._system, self._address = system, path

    @cached_property
    def size(self) -> int:
        return len(self._data)

    def _beside(self, pattern: str) -> list[Source]:
        folder = self._address.rpartition("/")[0]
        lead = self.name[: len(self.name) - len(self.path.name)]
        return [
            RemoteSource(self._system, path, lead + path[len(folder) + 1 :])
            for path in sorted(self._system.glob(f"{glob.escape(folder)}/{pattern}"))
            if path != self._address
        ]

    def parts(self) -> list[Source]:
        return []

    @cached_property
    def _data(self) -> bytes:
        try:
            data: bytes = self._system.cat_file(self._address)
        except Exception as error:  # each service has errors of its own
            raise Unreachable(f"{self.name}: {type(error).__name__} in its store") from None
        return data

    def _raw(self) -> Bounded:
        if self._data.startswith(b"SQLite format 3\0"):
            raise UnreadableInput(f"{self.name}: a database is read from a disk; fetch it first")
        return Bounded(io.BytesIO(self._data), len(self._data), self.name)


def remote_files(address: str) -> Iterator[tuple[str, str, int, str]]:
    """Every object below an address: path, name below it, size in bytes, mark of a change."""
    system, root = file_system(address)
    try:
        found = sorted(system.find(root, detail=True).items())
        is_there = bool(found) or system.exists(root)
    except Exception as error:  # each service has errors of its own
        kind = address.split("://")[0]
        raise Unreachable(f"{kind}://: {type(error).__name__} in its store") from None
    if not is_there:
        raise RetraceError(f"{address}: nothing lies there, or it can't be listed")
    for path, told in found:
        mark = next((str(told[key]) for key in MARKS if told.get(key)), "")
        yield path, path[len(root) :].lstrip("/") or Path(path).name, told.get("size") or 0, mark


MARKS = ("ETag", "etag", "md5Hash", "LastModified", "last_modified", "mtime", "created")
"""What stores call the thing that changes when an object does."""
