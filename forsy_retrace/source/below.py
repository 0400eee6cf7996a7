"""The files below a folder; links are not followed."""

import os
from collections.abc import Iterator
from pathlib import Path

from forsy_retrace.patterns import later

from .log import Source, Unread, is_regular, readable

A_LINK = "a link; links below a folder are not followed"
A_TRACE = "a folder of a trace, which is no log"
TRACE = frozenset(["trace.json", "evidence.jsonl"])
"""Files that stand together in the folder of a trace."""
TARGET = later(r"\.ledger(?:-\d+-of-\d+)?\.sqlite")
"""What lies in the target of a batch, beside what it wrote there and its trace folders."""


def discover(root: Path) -> Iterator[Source]:
    """Every regular file below a folder, in order of name."""
    return (one for one in below(root) if isinstance(one, Source))


def below(root: Path, *, traces: bool = True, without: str = "") -> Iterator[Source | Unread]:
    """The same, with links, folders that may not be listed, and whatever else is no file.

    Without `traces`, the folder of one is told as such, and what lies in it is passed over, as the
    files beside them in the target of a batch are. The folder `without` is as if it were not there.
    """
    missed: list[OSError] = []
    for folder, folders, files in os.walk(root, onerror=missed.append):
        yield from _untold(missed, root)
        name = os.path.basename(without)
        if name in folders and _is_same(os.path.join(folder, name), without):
            folders.remove(name)
        if not traces and TRACE.issubset(files):
            folders.clear()
            yield Unread(readable(Path(folder).relative_to(root).as_posix()), A_TRACE)
            continue
        if not traces and any(map(TARGET.fullmatch, files)):
            files.clear()
        folders.sort()
        for name in sorted([*files, *(one for one in folders if _is_link(folder, one))]):
            path = Path(folder) / name
            shown = path.relative_to(root).as_posix()
            if is_regular(path):
                yield Source(path, shown)
            else:
                yield Unread(readable(shown), A_LINK if path.is_symlink() else "not a regular file")
    yield from _untold(missed, root)


def _untold(missed: list[OSError], root: Path) -> Iterator[Unread]:
    for error in missed:
        shown = os.path.relpath(error.filename, root)
        yield Unread(readable(shown), error.strerror or "cannot be listed", is_passing=True)
    missed.clear()


def _is_link(folder: str, name: str) -> bool:
    return os.path.islink(os.path.join(folder, name))


def _is_same(folder: str, other: str) -> bool:
    try:
        return os.path.samefile(folder, other)
    except OSError:
        return False
