"""What the calls of a session say that an output may have shown: only this is looked for in them."""

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from forsy_retrace.sdk import lines_of
from forsy_retrace.trace import Step

from ..classify import patched_files
from ..shells import command_of
from ..tools import path_of
from ..touched.paths import absolute, base_of, shown
from ..touched.ranges import spans_asked
from ..touched.replaced import replacements
from . import distinctive
from .idents import Idents, figures_of, idents_of
from .imports import stem_of
from .passages import passage
from .phrases import phrases_of

MAX_TEXT = 400_000
"""Characters of one text that are read: past this a value is no longer distinctive."""
MAX_ARGUMENT = 20_000
MAX_ALONE = 2000
ALONE = str.maketrans(dict.fromkeys("|\"'()\\=", " "))
"""What stands, like blanks, around a name that is a word of a command, or an alternative of a pattern."""
MAX_EDITS = 20
MODULE = "module "
"""Before a folder that a module's path named, and nothing else."""
MAX_LINES = 60
UNSOURCED = (
    "description",
    "todos",
    "old_string",
    "oldString",
    "oldText",
    "old_str",
    "file_path",
    "filePath",
    "path",
    "workdir",
    "cwd",
)
"""Arguments that say what is meant, or that have rules of their own."""


class Replaced(NamedTuple):
    """The lines of a text that an edit replaces, but for short ones, and the first with its indent."""

    lines: tuple[str, ...]
    first: str


class Asked(NamedTuple):
    """What a call says: the files it names, values that may come from somewhere, all its values."""

    paths: tuple[str, ...]
    arguments: tuple[str, ...]
    said: frozenset[str]
    replaced: tuple[Replaced, ...]
    short: tuple[str, ...]
    """The texts that it replaces whose lines are all short."""
    put: tuple[str, ...]
    """The lines that it puts into a file, but for short ones."""
    made: tuple[str, ...]
    """The files that its command writes or checks: the actor has named them itself."""
    spans: tuple[tuple[str, int, int | None], ...]
    """Files of which it asks for lines from the middle, with the first and the last, where told."""
    idents: tuple[str, ...]
    """Short ids, in their order."""
    folders: Mapping[str, str]
    """Names of files among the arguments, to the folder that each stands in there."""
    skill: tuple[str, ...]
    """The name of the skill that it calls: the agent has the names of all, from no step."""


class Wanted:
    """All that the calls of a session say."""

    def __init__(self, steps: Iterable[Step]) -> None:
        self.asked: dict[int, Asked] = {}
        self.values: set[str] = set()
        self.parts = Parts(self.values)
        self.lines: set[str] = set()
        """Lines that an edit replaces."""
        self.firsts: set[str] = set()
        """The first of those of each text."""
        self.put: set[str] = set()
        """Lines that a call puts into a file."""
        self.short: dict[str, dict[str, None]] = {}
        """File to the texts of short lines that are replaced in it."""
        self.names: set[str] = {"", ".", ".."}
        """Last parts of the paths that calls name, and of their folders where they are long; and
        those that tell nothing."""
        self.spans: dict[str, dict[str, None]] = {}
        """The files of which calls ask for a range of lines, by their names."""
        self.modules: dict[str, dict[str, None]] = {}
        """The files that calls name, as imports name them."""
        self.spaced: set[str] = set()
        """The paths with a blank that calls name, in whatever form: no word of a text is one."""
        for step in steps:
            if step.call is not None:
                self.asked[step.step] = asked = _asked(step)
                self._take(step, asked)
        self.idents = Idents({one for asked in self.asked.values() for one in asked.idents})

    def _take(self, step: Step, asked: Asked) -> None:
        self.values.update(asked.arguments, asked.skill)
        self.put.update(asked.put)
        for path in asked.paths:
            ways, folder = ways_to_show(step, path), posixpath.dirname(path)
            self.values.update(ways, ways_to_show(step, folder))
            self.spaced.update(way for way in ways if " " in way)
            self.names.add(last_part(path))
            if len(last_part(folder)) >= distinctive.SHORTEST:
                self.names.add(last_part(folder))
            self.modules.setdefault(stem_of(path), {})[path] = None
        for path, _, _ in asked.spans:
            self.spans.setdefault(last_part(path), {})[path] = None
        for lines, _ in asked.replaced:
            self.lines.update(lines)
            self.firsts.update(lines[:1])
        for file in files_edited(step) if asked.short else ():
            self.short.setdefault(file, {}).update(dict.fromkeys(asked.short))


class Parts(dict[str, tuple[str, ...]]):
    """Tokens that were asked for of late, each with those of its values that are wanted."""

    MOST = 100_000

    def __init__(self, wanted: set[str]) -> None:
        super().__init__()
        self.wanted = wanted

    def __missing__(self, token: str) -> tuple[str, ...]:
        found = [part for part in distinctive.parts(token) if part in self.wanted]
        found += (f"{MODULE}{p}" for p in distinctive.folders(token) if p in self.wanted)
        if len(self) >= self.MOST:
            self.clear()
        self[token] = held = tuple(found)
        return held


def ways_to_show(step: Step, path: str) -> tuple[str, ...]:
    """A path as an output may print it: below the working directory, or whole."""
    return shown(path, step.cwd), path.strip("/")


def files_edited(step: Step) -> frozenset[str]:
    """The files that an edit names."""
    target = path_of(step.call.input) if step.call else None
    named = [*patched_files(step), *([target] if target else [])]
    return frozenset(absolute(path, step.cwd) for path in named)


def lines_edited(step: Step, path: str) -> list[tuple[int, int]]:
    """The first and the last lines of what an edit changed of a file, with the few around them."""
    changes = step.result.changes if step.result else ()
    here = (one for one in changes if absolute(one.path, step.cwd) == path)
    hunks = [hunk for one in here for hunk in one.hunks if hunk.is_placed]
    return [(one.old_start, one.old_start + _size(one.lines) - 1) for one in hunks]


def _size(lines: Iterable[str]) -> int:
    """How many lines a piece of a patch had before it."""
    return sum(not line.startswith("+") for line in lines)


def last_part(path: str) -> str:
    """The name of what a path leads to."""
    if "\\" in path:
        path = path.replace("\\", "/")
    return path.rstrip("/").rpartition("/")[2]


def _asked(step: Step) -> Asked:
    assert step.call is not None
    held: dict[str, tuple[str, ...]] = {}
    for text in texts(step.call.input):
        held[text] = tuple(distinctive.values(text[:MAX_TEXT]))
    replaced = replacements(step)
    there = {value for old, _ in replaced for value in distinctive.values(old[:MAX_ARGUMENT])}
    if (run := step.run) is not None:
        there |= run.programs  # whoever calls a program knows it
    arguments: list[str] = []
    folders: dict[str, str] = {}
    skill = _skill(step)
    told = command_of(step.like, step.call.input)
    named = idents_of(told[0] if told else None, step.call.input)
    put = _put(step, replaced)
    figures = figures_of(put, [old for old, _ in replaced])
    idents = tuple(dict.fromkeys((*named, *figures, *phrases_of(step))))
    for text in _sourced(step.call.input):
        is_whole = len(text) <= MAX_ARGUMENT
        found = held[text] if is_whole else tuple(distinctive.values(text[:MAX_ARGUMENT]))
        alone = (
            frozenset(text.translate(ALONE).split())
            if found and len(text) < MAX_ALONE
            else frozenset()
        )
        folders |= distinctive.placed(text[:MAX_ARGUMENT]) if "/" in text else {}
        arguments += (
            value
            for value in dict.fromkeys(found)
            if value not in there
            and value not in skill
            and distinctive.tells(value, alone=value in alone)
        )
    stood = _stood(step)
    olds = [_in_whole_lines(old, stood) for old, _ in replaced[:MAX_EDITS]]
    return Asked(
        paths=tuple(_paths(step)),
        arguments=tuple(arguments),
        said=frozenset(idents).union(*held.values()),
        replaced=tuple(map(_replaced, olds)),
        short=tuple(old for old in olds if old.strip() and not _lines(old)),
        put=passage(put, {line.strip() for old, _ in replaced for line in lines_of(old)}),
        made=tuple(_made(step)),
        spans=tuple(_spans(step)),
        idents=idents,
        folders=folders,
        skill=skill,
    )


def _put(step: Step, replaced: list[tuple[str, str]]) -> list[str]:
    """The texts that a call puts into a file."""
    texts = [new for _, new in replaced]
    match step.call.input if step.call and step.like == "Write" else None:
        case {"content": str(content)} | {"file_text": str(content)}:
            texts.append(content)
    return [text[:MAX_ARGUMENT] for text in texts]


def _skill(step: Step) -> tuple[str, ...]:
    match step.call.input if step.call and step.like == "Skill" else None:
        case {"skill": str(name)}:
            return tuple(v for v in distinctive.values(name) if distinctive.tells(v, alone=True))
    return ()


def _sourced(sent: object) -> Iterator[str]:
    """The texts in a call's arguments that could have come from somewhere."""
    match sent:
        case dict():
            for key, value in sent.items():
                if key not in UNSOURCED:
                    yield from texts(value)
        case _:
            yield from texts(sent)


def texts(value: object) -> Iterator[str]:
    """Every text in a call's arguments."""
    held = [value]
    while held:
        one = held.pop(0)
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            held.extend(one.values())
        elif isinstance(one, list):
            held.extend(one)


def _paths(step: Step) -> Iterator[str]:
    """The files and folders that a call names."""
    assert step.call is not None
    named = path_of(step.call.input)
    if named is not None:
        yield absolute(named, step.cwd)
    match step.call.input:
        case {"pattern": str(pattern)} if step.like == "Glob" and (told := _told(pattern)):
            yield absolute(told, absolute(named, step.cwd) if named else step.cwd)
    run = step.run
    if run is not None:
        base = base_of(step)
        for simple in run.simples:
            for path in simple.reads:
                if told := _told(path):
                    yield absolute(told, base)


OPEN = frozenset("*?$`{")
"""Marks of a path that is more than one, or that the shell puts together."""


def _told(pattern: str) -> str:
    """The path itself, or the folder in which a pattern matches; empty where it says none."""
    at = min((pattern.find(mark) for mark in OPEN if mark in pattern), default=len(pattern))
    return pattern[:at].rpartition("/")[0] if at < len(pattern) else pattern


def _made(step: Step) -> Iterator[str]:
    run = step.run
    if run is not None:
        base = base_of(step)
        yield from (absolute(path, base) for path in run.writes)
        checked = (path for simple in run.simples for path in simple.covers)
        yield from (absolute(path, base) for path in checked)


def _spans(step: Step) -> Iterator[tuple[str, int, int | None]]:
    assert step.call is not None
    match step.call.input:
        case {"offset": int(first), **rest} if first > 1 and (named := path_of(step.call.input)):
            limit = rest.get("limit")
            last = first + limit - 1 if isinstance(limit, int) else None
            yield absolute(named, step.cwd), first, last
        case {"line_number": int(at)} if step.like == "Read" and (
            named := path_of(step.call.input)
        ):
            yield absolute(named, step.cwd), at, at
    run = step.run
    if run is not None:
        base = base_of(step)
        for path, first, last in spans_asked(run):
            yield absolute(path, base), first, last


def _stood(step: Step) -> list[str]:
    """The lines that stood where an edit changed its file, as the harness recorded them."""
    changes = step.result.changes if step.result is not None else ()
    lines = (line for change in changes for hunk in change.hunks for line in hunk.lines)
    return [line[1:] for line in lines if line[:1] in (" ", "-")]


def _in_whole_lines(old: str, stood: list[str]) -> str:
    """A text that an edit replaces, where it is a piece of one line with the whole of that line."""
    if len(old.strip()) < distinctive.SHORTEST or "\n" in old.strip("\n"):
        return old
    around = {line for line in stood if old.strip() in line}
    return around.pop() if len(around) == 1 else old


def _replaced(old: str) -> Replaced:
    lines = _lines(old)
    whole = (line for line in lines_of(old) if lines and line.strip() == lines[0])
    return Replaced(lines, next(whole, ""))


def _lines(old: str) -> tuple[str, ...]:
    bare = (line.strip() for line in lines_of(old)[:MAX_LINES])
    return tuple(line for line in bare if len(line) >= distinctive.SHORTEST)
