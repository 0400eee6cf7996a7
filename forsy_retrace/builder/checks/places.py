"""At which files does a check look, as far as its line tells where it looks?

A lint or type-check at what it is given, or at what lies where it or its package's script runs; a
check of one crate at what lies in folders of its name; a Go check at its own packages, and at
those that they take in, but for the tests of these.
"""

import posixpath
from collections.abc import Callable, Container, Iterable, Iterator
from itertools import pairwise

from forsy_retrace.commands import Command
from forsy_retrace.patterns import later

from ..touched.paths import folders_above

PROJECTS = {
    "types": later(r"(?:^|[/\\])[jt]sconfig\b[^/\\]*\.json$"),
    "lint": later(r"\.(?:slnx?|[a-z]+proj)$"),
}
"""Files that say what a project holds: a check that is given one looks at the project."""

PACKAGE = later(r"(?:npm|pnpm|yarn|bun)\b")
"""Runners of the scripts of the package that they stand in."""
GLOB = later(r"(?:\./)?(?:[\w.-]+/)*(?:\*\*/)?\*(?:\.\w+)+")
"""A pattern that means the files of a kind in a folder."""
SPECIAL = later(r"[*?{]")
"""Where a pattern begins."""
EXPANDED = frozenset("$`")
"""Marks of a word that the shell would have changed."""
ROOT = later(r"^(?:[A-Za-z]:|/[A-Za-z](?=/)|~)?/+|^\./")
"""Where a path starts, however the shell writes a drive."""

CRATE = frozenset(["src", "tests", "benches", "examples"])
"""Folders of a crate that has no workspace around it."""
GO = later(r"^(?:go|golangci-lint|staticcheck)\b")
GO_TEST = "_test.go"

Looks = Callable[[str], bool]
"""Whether a check looks at the file of that path."""


Takes = Callable[[Iterable[str], bool], Looks]
"""Tells which other folders a check of some Go packages compiles."""


def looks_at(
    kind: str, run: Command, place: str, start: str, takes: Takes, edited: Container[str]
) -> Looks | None:
    """What tells the files that a check looks at; None where the line limits it to none.

    `place` is the folder where it ran, where the log keeps track of it, and `start` that in which
    the session began; `edited` are the files that were edited and the folders that they lie in.
    """
    go = _by_go(kind, run, place, takes)
    held = (_by_places(kind, run, place, start, edited), _by_crates(kind, run, start), go)
    told = [one for one in held if one is not None]
    return (lambda path: all(one(path) for one in told)) if told else None


def between_slashes(folder: str) -> str:
    """A folder as it stands within the paths below it, however a shell writes its drive."""
    return f"/{ROOT.sub('', folder)}/"


def with_parents(path: str) -> Iterator[str]:
    """A path and the folders around it, the root as an empty text."""
    roots = ("/", "") if path.startswith("/") else ("",)
    return iter(dict.fromkeys((path, *folders_above(path), *roots)))


def _by_places(
    kind: str, run: Command, place: str, start: str, edited: Container[str]
) -> Looks | None:
    """By the files, folders and patterns that a lint or type-check was given.

    These lie below the start; where nothing was edited there, the shell may have gone elsewhere.
    """
    if kind not in PROJECTS:
        return None
    base = base_of(run, place)
    found: list[tuple[str, str]] = []
    near: list[tuple[str, str]] = []
    for one in run.simples:
        if one.check != kind:
            continue
        here = ["."] if not one.covers and PACKAGE.match(one.name) else []
        words = one.looks_at or _files(kind, one.covers) or here
        held = [_place(base, word) for word in words]
        if not held or None in held:
            return None
        found += filter(None, held)
        near += filter(None, (_place(posixpath.join(start, base), word) for word in words))
    near = [one for one in near if one[0] in edited]
    if not found:
        return None
    return lambda path: any(
        folder in f"/{path}/" and path.endswith(ending) for folder, ending in near or found
    )


def _files(kind: str, covers: tuple[str, ...]) -> list[str]:
    """Those of the things that a check is limited to which are files or patterns of them."""
    return [
        one
        for one in covers
        if GLOB.fullmatch(one) or (posixpath.splitext(one)[1] and not PROJECTS[kind].search(one))
    ]


def base_of(run: Command, place: str) -> str:
    """The folder where a run looks, as far as it is known."""
    base = posixpath.join(place.replace("\\", "/"), (run.cwd or "").replace("\\", "/"))
    return "" if "$" in base else base


def _place(base: str, word: str) -> tuple[str, str] | None:
    """The file or folder that a word means, between slashes, and how its pattern ends.

    None where the line does not tell.
    """
    word = word.replace("\\", "/")
    if not EXPANDED.isdisjoint(word):
        return None
    ending = word.partition("*")[2].lstrip("*/") if GLOB.fullmatch(word) else ""
    if found := SPECIAL.search(word):
        word = word[: word.rfind("/", 0, found.start()) + 1]
    path = posixpath.normpath(posixpath.join(base, word.removesuffix("...")))
    folder = ROOT.sub("", path)
    while folder.startswith("../"):
        folder = folder[3:]
    if folder in ("", ".", ".."):
        return ("/", ending) if ending else None
    return f"/{folder}/", ending


def _by_crates(kind: str, run: Command, start: str) -> Looks | None:
    """By the packages of a Cargo workspace to which a check is limited."""
    found: list[str] = []
    for one in run.simples:
        if one.check == kind and one.words[0] == "cargo":
            named = [value for flag, value in pairwise(one.words) if flag in ("-p", "--package")]
            if not named:
                return None
            found += (name.partition("@")[0].replace("_", "-") for name in named)
    return (lambda path: _may_be_of(found, path.removeprefix(start))) if found else None


def _may_be_of(crates: list[str], path: str) -> bool:
    """Whether a file lies in a folder called like one of some crates, or in none of a workspace."""
    folders = path.replace("_", "-").strip("/").split("/")[:-1]
    if not folders or folders[0] in CRATE:
        return True
    return any(
        name == folder or name.endswith(f"-{folder}") or folder.endswith(f"-{name}")
        for name in crates
        for folder in folders
    )


def _by_go(kind: str, run: Command, place: str, takes: Takes) -> Looks | None:
    """By the folders of which a Go check compiles the tests, and by what these take in."""
    base = (run.cwd or place).replace("\\", "/")
    if not GO.match(run.main) or "$" in base:
        return None
    found = [one.covers for one in run.simples if one.check == kind and GO.match(one.name)]
    if kind == "run":
        found = [one.reads for one in run.simples if one.name == "go run"]
    covers = sum(found, ()) if all(found) else ()
    named = [one for one in covers if one.startswith("./")]
    if (not named and any("/" in one for one in covers)) or not (named or base):
        return None
    paths = [posixpath.normpath(f"{base}/{one.removesuffix('...')}") for one in named or [""]]
    folders = tuple(map(between_slashes, paths))
    if any("/../" in one or one == "/./" for one in folders):
        return None
    taken_in = takes(folders, kind == "tests")
    return lambda path: (
        any(folder in f"/{path}" for folder in folders)
        or not path.endswith(".go")
        or (not path.endswith(GO_TEST) and taken_in(posixpath.dirname(path)))
    )
