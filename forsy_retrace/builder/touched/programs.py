"""Which files does a program write that stands in a call itself, as far as its text tells?

A file counts that the writing call names, by its path or by a name that the program gives one path
and no other.
"""

import posixpath
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from forsy_retrace.commands import Command
from forsy_retrace.patterns import later
from forsy_retrace.trace import Step

from ..shells import code_of
from .paths import end_of

MOST = 20_000
"""Characters of a program that are read."""
STRINGS = later(r"(?s)'''.*?'''|\"\"\".*?\"\"\"|`[^`]*`")
"""Texts of several lines: what stands in them is no call."""
ONE = r"(?:(?:pathlib\.)?Path\(\s*)?(?P<{}>['\"][^'\"\n]{{1,300}}['\"]|\b\w{{1,80}})\s*\)?"
"""A path in quotes or a name, by itself or as Python's `Path`."""
PUTS = later(
    rf"\bopen\(\s*{ONE.format('opened')}\s*,\s*(?:mode\s*=\s*)?['\"](?:[wax]|r\+)[b+t]*['\"]"
    rf"|{ONE.format('path')}\.write_(?:text|bytes)\("
    rf"|\b(?:(?:write|append)File(?:Sync)?|writeTextFile(?:Sync)?|File\.write|Bun\.write"
    rf"|file_put_contents)\(\s*{ONE.format('named')}"
    r"|\.(?:to_(?:csv|excel|html|json|parquet|pickle)|savefig)\("
    r"\s*(?P<told>['\"][^'\"\n]{1,300}['\"]|\w{1,80}(?=\s*[,)]))"
    r"|\.save\(\s*(?P<saved>['\"][^'\"\n]{1,300}\.\w{2,5}['\"])"
    r"|(?:\bos\.(?:rename|replace|remove)|\bshutil\.\w+|\b(?:rename|unlink|rm|copyFile)Sync"
    r"|\.(?:unlink|rename))\("
)
"""How a program makes or changes a file; the last ways do not tell here which."""
LOOKS = later(
    rf"\bopen\(\s*{ONE.format('opened')}\s*(?:\)|,(?!\s*(?:mode\s*=\s*)?['\"][wax]))"
    rf"|{ONE.format('path')}\.read_(?:text|bytes)\("
    rf"|\b(?:readFile(?:Sync)?|readTextFile(?:Sync)?|File\.read|Bun\.file)\(\s*{ONE.format('named')}"
)
"""How it reads one."""
BOUND = later(
    r"(?m)^(?:const |let |var )?(\w{1,80})[ \t]*=[ \t]*(?:(?:pathlib\.)?Path\()?"
    r"['\"]([^'\"\n]{1,300})['\"]\)?;?[ \t]*$"
)
"""How it gives a path a name."""
GIVEN = later(r"\b(\w{1,80})[ \t]*(?:=(?!=)|\bin\b)")
"""What is given anything at all."""
BLOCK = later(
    r"^\s|\b(?:if|for|while|def|class|elif|else|try|except|function|and|or|lambda)\b|=>|&&|\|\||\?|(?:^|\s)(?:#|//)"
)
"""What stands before a call that may not be reached."""
CRASHED = later(
    r"(?m)^(?:Traceback \(most recent call last\):|[ \t]*File \"<(?:stdin|string)>\", line|\w*Error\b)"
)
"""How a program ends that did not run to its end."""


class Put(NamedTuple):
    """A file that a program writes."""

    path: str
    """As the program names it; empty where its text does not tell which."""
    surely: bool
    """Whether a program that runs to its end has written it: no block holds the call."""
    is_read: bool
    """Whether the program reads it as well: then it changes it in place."""


def puts(text: str) -> tuple[Put, ...]:
    """The files that a program writes."""
    return _puts(text[:MOST])


@lru_cache(maxsize=1024)
def _puts(text: str) -> tuple[Put, ...]:
    text = STRINGS.sub("''", text)
    is_line = text.count("\n") < 2
    if is_line:
        text = "\n".join(part.strip() for part in text.replace(";", "\n").split("\n"))
    calls = [*PUTS.finditer(text)]
    if not calls:
        return ()
    given = Counter(GIVEN.findall(text))
    bound = {name: path for name, path in BOUND.findall(text) if given[name] == 1}
    reads = {_path(named, bound) for found in LOOKS.findall(text) for named in found if named}
    blocks = is_line and BLOCK.search(text) is not None
    found = []
    for call in calls:
        path = _path(next(filter(None, call.groups()), ""), bound)
        before = text[text.rfind("\n", 0, call.start()) + 1 : call.start()]
        is_reached = not blocks and BLOCK.search(before) is None and not _is_in_a_text(before)
        surely = bool(path) and is_reached
        found.append(Put(path, surely, path in reads))
    return tuple(dict.fromkeys(found))


def _is_in_a_text(before: str) -> bool:
    """Whether a quote is open where a call would begin."""
    return any(before.count(quote) % 2 for quote in "'\"")


def _path(named: str, bound: dict[str, str]) -> str:
    return named[1:-1] if named[:1] in ("'", '"') else bound.get(named, "")


def programs(run: Command) -> Iterator[tuple[int, str]]:
    """The programs on a line, each with its command's place there."""
    places = (at for at, one in enumerate(run.simples) if one.rule == "inline-program")
    yield from zip(places, (text for _, text in run.inline), strict=True)
    yield from _poured(run)


def _poured(run: Command) -> Iterator[tuple[int, str]]:
    """Those that the line put into a file of their own before it ran them."""
    held: dict[str, str] = {}
    put = {one.at: one.text for one in run.poured}
    for at, simple in enumerate(run.simples):
        ran = simple.reads[:1] if simple.rule == "run-program" else ()
        yield from ((at, held[path]) for path in ran if path in held)
        for path in simple.writes:
            held.pop(path, None)
            if at in put and simple.rule == "redirect-write":
                held[path] = put[at]


def programs_in(step: Step) -> tuple[str, ...]:
    """The programs that stand in a call itself."""
    if step.run is not None:
        return tuple(text for _, text in programs(step.run))
    code = code_of(step.like, step.call.input) if step.call else ""
    return (code,) if code else ()


def paths_put(run: Command) -> Iterator[str]:
    """The paths that the programs on a line write, surely or not."""
    yield from (put.path for _, text in programs(run) for put in puts(text) if put.path)


def put_by(texts: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """What some programs write: the text of each, and the path, empty where it does not tell it."""
    return tuple((text, put.path) for text in texts for put in puts(text))


def may_put(found: Collection[tuple[str, str]]) -> Callable[[str], bool]:
    """Tells of a file whether they may have written it."""
    ends = tuple(end_of(path) for _, path in found if path)
    untold = {text for text, path in found if not path}
    return lambda path: (
        path.endswith(ends) or any(posixpath.basename(path) in text for text in untold)
    )


def names_put(found: Collection[tuple[str, str]]) -> frozenset[str] | None:
    """The names of the files that they may have written; None where they do not tell them all."""
    paths = [path.replace("\\", "/") for _, path in found]
    return frozenset(map(posixpath.basename, paths)) if all(paths) else None
