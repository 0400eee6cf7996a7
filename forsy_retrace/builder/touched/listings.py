"""Which files does a listing name? `ls`, `find`, `rg --files`, and whatever else was searched for."""

from collections.abc import Container, Iterable, Iterator

from forsy_retrace.events import SHELL
from forsy_retrace.frames import shown_of
from forsy_retrace.trace import Step

from ..causes.needles import last_part
from ..tools import path_of
from .paths import absolute, base_of, shown

LISTS = ("ls", "find", "tree", "fd", "eza", "exa")
"""Commands at the end of a line that list what is in a folder."""
MOST_LINES = 3000
LONGEST = 200
"""Characters of an entry."""


def entries(step: Step, text: str, names: Container[str]) -> Iterator[str]:
    """The files that a listing names, of those whose last part is one of these; whole paths."""
    run = step.run
    lists = run is not None and bool(run.simples) and run.simples[-1].name in LISTS
    if not (step.operation == "search" or lists):
        return
    folder = folder_of(step)
    if not folder and step.actor == SHELL:
        return
    above = [path for one in run.simples if one.name == "ls" for path in one.reads] if run else []
    for line in text.splitlines()[:MOST_LINES]:
        if line.endswith(":") and _heads(line[:-1], above):
            folder = absolute(line[:-1], base_of(step))
            continue
        named = line.strip().lstrip("-").split(maxsplit=1)
        # `docs/log.md:3: see cart.py` is a hit, and `ls: cart.py` a complaint: they list no cart.py.
        named[1:] = () if ":" in "".join(named[:1]) else "".join(named[1:]).rsplit(maxsplit=1)[-1:]
        for entry in dict.fromkeys(named):
            if last_part(entry) in names and len(entry) < LONGEST and entry.strip("./"):
                yield placed(entry, folder, step.cwd)


def _heads(folder: str, above: Iterable[str]) -> bool:
    """Whether a listing of several folders heads with this one what is in it."""
    return any(f"{folder}/".startswith(f"{path.rstrip('/')}/") for path in above)


def named_in(steps: Iterable[Step], paths: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Which of some files the steps list, with the step."""
    wanted = set(paths)
    names = set(map(last_part, wanted))
    for step in steps if wanted else ():
        for path in dict.fromkeys(entries(step, shown_of(step.output or ""), names)):
            if path in wanted:
                yield step.step, path


def placed(path: str, folder: str | None, cwd: str | None) -> str:
    """A file of a listing or hit, which is printed below what was searched or below the cwd.

    Of a file that was searched alone some print the name.
    """
    if folder and last_part(folder) == path:
        return absolute(folder, cwd)
    below = shown(folder, cwd) if folder else ""
    is_whole = below != folder and path.replace("\\", "/").startswith(f"{below}/")
    return absolute(path, cwd if is_whole else folder)


def folder_of(step: Step) -> str | None:
    """The folder that a listing or search speaks of."""
    run = step.run
    if run is not None:
        base = base_of(step)
        for simple in run.simples:
            if simple.operation == "search" and len(simple.reads) == 1:
                return absolute(simple.reads[0], base)
        return base
    target = path_of(step.call.input) if step.call else None
    return absolute(target, step.cwd) if target else step.cwd
