"""What the user's or a brief's words name, and what came beside a call's result or behind words."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from forsy_retrace.events import Event, Fact, Message, Notice, Origin
from forsy_retrace.evidence import Evidence
from forsy_retrace.patterns import later

from ..touched.paths import absolute, folders_above
from .distinctive import values
from .needles import MAX_TEXT

NAME = later(r"(?<![\w/-])(?:[\w.@-]{0,80}/){0,20}[\w-]{1,80}\.\w{1,8}\b")
"""A file's name, with the folders that it is named with."""

FOLDERS = later(r"(?<![\w./@~:-])(?:[\w.@-]{1,80}/){1,20}(?=\w)")
"""The folders before a file's name, also where that has a blank."""


ANCHOR = later(r"[#?].*|:\d+(?::\d+)?$")
"""What an address, or the place of a line, has behind the path of a file."""


class Brought(NamedTuple):
    """A text that came beside a call's result or behind a human's words, and its paths' folder."""

    text: str
    folder: str | None
    here: Evidence


class Named:
    """The values that the user's words named so far, each with the number of the last that did."""

    def __init__(self) -> None:
        self.last: dict[str, int] = {}
        self.messages = 0

    def take(self, values: Iterable[str]) -> None:
        """A message names these."""
        self.messages += 1
        self.last.update(dict.fromkeys(values, self.messages))


class Given:
    """The values that one actor has from words: the user's since it began, and its own brief's."""

    def __init__(self, named: Named) -> None:
        self.named, self.since = named, named.messages
        self.own: set[str] = set()

    def add(self, values: Iterable[str]) -> None:
        """This actor alone has these."""
        self.own.update(values)

    def __contains__(self, value: str) -> bool:
        return value in self.own or self.named.last.get(value, 0) > self.since


class Beside:
    """What came in a session beside results, behind words, and in place of what was cut away."""

    def __init__(self, events: Iterable[Event]) -> None:
        self.calls: dict[str, Brought] = {}
        """Call to what came with its result."""
        self.words: dict[Origin, Brought] = {}
        """The place of a human's words to what they brought."""
        self.summaries: list[Brought | None] = []
        """Of each boundary, what it brought of what lay before."""
        said: Origin | None = None
        for event in events:
            match event:
                case Message(role="user"):
                    said = event.origin
                case Notice(kind="compacted" | "cleared"):
                    said = None
                    self.summaries.append(None)
                case Fact(name="brought", value=dict(told)):
                    more = Brought(told["text"], told.get("folder"), event.origin.evidence)
                    if call := told.get("call"):
                        self.calls[call] = more
                    elif said is not None:
                        self.words[said] = more
                    elif self.summaries:
                        self.summaries[-1] = more


def values_given(text: str) -> set[str]:
    """The values that the user's or a brief's words name; of a path, its parts and upper folders.

    A file may be named as a mention (`@src/a.py`) or from where one is (`./src/a.py`).
    """
    text = text[:MAX_TEXT]
    named = {*values(text), *_files_named(text), *FOLDERS.findall(text)}
    paths = [path for path in named if "/" in path]
    parts = (path.split("/") for path in paths)
    return named.union(*parts, *map(_ends_of, paths), *map(folders_above, paths)) - {""}


LONGEST = 2000
"""Characters of a path of which the ends are kept."""


def _ends_of(path: str) -> Iterator[str]:
    """What a path or an address ends in, from each of its folders on."""
    path = ANCHOR.sub("", path)[-LONGEST:]
    at = path.find("/")
    while at >= 0:
        yield path[at + 1 :]
        at = path.find("/", at + 1)


def brought_values(more: Brought) -> set[str]:
    """The same of a text that came behind a human's words, with the files of its folder."""
    files = _files_named(more.text[:MAX_TEXT]) if more.folder else ()
    return values_given(more.text) | {absolute(file, more.folder) for file in files}


def _files_named(text: str) -> Iterator[str]:
    for file in NAME.findall(text.replace("\\", "/")):
        yield file.removeprefix("@").removeprefix("./")
