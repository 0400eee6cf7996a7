"""Where a path leads that a call names."""

import posixpath
from collections.abc import Iterator
from functools import lru_cache

from forsy_retrace.commands import Command
from forsy_retrace.patterns import later
from forsy_retrace.trace import Step

DRIVE = later(r"([A-Za-z]):|/([A-Za-z])/")
"""How a path on Windows begins, in its own shells and in those of Git."""


@lru_cache(maxsize=1024)
def absolute(path: str, cwd: str | None) -> str:
    """The path as the working directory makes it; a drive of Windows is spelt as there.

    The shells of Git for Windows write `/d/shop` for `D:\\shop`, some editors `d:/shop`.
    """
    path = path.replace("\\", "/")
    if cwd and cwd[1:2] == ":" and (drive := DRIVE.match(path)):
        letter = drive[1] or drive[2].upper()
        path = f"{cwd[0] if cwd[0].lower() == letter.lower() else letter}:{path[2:]}"
    if path.startswith("/") or path[1:2] == ":" or path.startswith("~") or not cwd:
        return posixpath.normpath(path) if path else path
    return posixpath.normpath(posixpath.join(cwd.replace("\\", "/"), path))


def base_of(step: Step) -> str | None:
    """The folder in which a call's paths lie: where its line goes, else the working directory."""
    run = step.run
    if run is not None and run.cwd:
        return absolute(run.cwd, step.cwd)
    return step.cwd.replace("\\", "/") if step.cwd else step.cwd


def shown(path: str, cwd: str | None) -> str:
    """The path for a sentence: relative to the logged working directory where it lies below it."""
    base = (cwd or "").replace("\\", "/").rstrip("/")
    path = path.replace("\\", "/")
    return path[len(base) + 1 :] if base and path.startswith(base + "/") else path


def end_of(named: str) -> str:
    """How a path ends that a call names so: `./tax.py` and `../tax.py` alike, `.env` as itself."""
    return "/" + STEPS.sub("", named.replace("\\", "/"))


STEPS = later(r"^(?:\.{0,2}/)+")
DEPTH = 64
"""Folders above a path that are looked at: a text of slashes is no path."""


def folders_above(path: str) -> Iterator[str]:
    """The folders that a path leads through, the nearest first."""
    for _ in range(DEPTH):
        path = path.rpartition("/")[0]
        if not path:
            return
        yield path


def known_places(run: Command) -> int:
    """How many commands of a line run where it begins: up to a `cd` that does not lead it."""
    leads = True
    for at, simple in enumerate(run.simples):
        if simple.words[:1] not in (("cd",), ("pushd",), ("popd",)):
            leads = False
        elif not leads:
            return at
    return len(run.simples)
