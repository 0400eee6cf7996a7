"""Where did a call's arguments come from? An index over all earlier outputs of distinctive values.

A value counts when it first appeared in an earlier step's output and the agent uses it here for
the first time: paths, identifiers, URLs, hashes and phrases of 12 characters or more; a path
that is a listing's folder joined with one of its entries, or that a file loads from where it lies;
a line range that holds a line which a hit, an error or a report named.
"""

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from string import ascii_letters, digits

from forsy_retrace.frames import shown_of
from forsy_retrace.patterns import later
from forsy_retrace.sdk import without
from forsy_retrace.trace import Step, Tokens, Touch

from ..classify import reports
from ..outcome import never_ran
from ..rule import Rule
from ..touched.listings import entries, folder_of, placed
from ..touched.paths import absolute, base_of, shown
from ..words.cited import lines_named
from .distinctive import SHORTEST, is_anybodys, values
from .hits import BLAMED_THERE, HOLDS_A_HIT, Hits, Shown, lines_alone, lines_hit
from .imports import imported
from .named_by_user import Brought, Given
from .needles import (
    MAX_TEXT,
    MODULE,
    Asked,
    Wanted,
    files_edited,
    last_part,
    ways_to_show,
)
from .passages import COPIED, Passages
from .source import Source, surest
from .texts import SHOWED, Texts, unnumbered
from .used_values import Used

LISTED = Rule(
    "listed-entry",
    "A path that is a listing's or a hit's folder joined with its entry, or a folder that a report names joined with a file below it.",
    0.85,
)
FOLDER_SHOWN = Rule(
    "folder-first-shown",
    "A file in a folder that an earlier output brought up, for a read also by the name of its module; no output names the file.",
    0.7,
)
IMPORTED = Rule(
    "imported-from-there",
    "A file that another loads by a path from where it lies (`./tax`, `from .prices import cart`), or by the name of a module of Python's from there or a folder above, where nothing else brought it up.",
    0.75,
)
OF_A_PATH = 0.8
"""How sure the first showing of a file's path is."""
RARER = 0.3
"""How much surer that of another value is if it was shown but once."""
FIRST_SHOWN = Rule(
    "value-first-shown",
    "A distinctive value that an earlier output showed first: the rarer, the surer; or a short id that stands alone, such as a commit's hash, a figure of eight digits (also one put into a file), an argument named `task_id`, the version that a line asks of a package; or several words that a command or a search is given at once, and one with braces. For the name of a skill, an output just received, or another skill's text.",
    0.6,
    0.9,
)
RULES = (SHOWED, COPIED, LISTED, FOLDER_SHOWN, IMPORTED, HOLDS_A_HIT, BLAMED_THERE, FIRST_SHOWN)


FOLDER = later(r"`((?:[A-Za-z]:)?[\w./@+-]{0,300}/)`")
"""A folder in a report, marked as code."""
MARKED = later(r"`([\w@+-][\w.@+-]{0,80}\.\w{1,8})`")
"""A file there by its name alone."""


class Flow:
    """What one actor has been shown so far, and which values it has used or written itself.

    Of what outputs show, only that is kept which some call of the session says.
    """

    def __init__(
        self,
        tokens: Tokens,
        wanted: Wanted,
        read: Mapping[int, list[Touch]],
        wrote: Mapping[int, list[Touch]],
        brought: Mapping[str, Brought],
        given: Given,
    ) -> None:
        self.tokens, self.wanted = tokens, wanted
        self.brought = brought
        """Call to what came with it."""
        self.read = read
        """Step to what it read."""
        self.wrote = wrote
        """Step to what it wrote and edited."""
        self.texts = Texts(wanted, read, wrote)
        self.passages = Passages(wanted.put)
        self.first: dict[str, int] = {}
        """Value to the first step whose output held it."""
        self.shown = Shown()
        self.count: dict[str, int] = {}
        self.taught: dict[str, int] = {}
        """Value to the first skill whose text held it."""
        self.received: dict[str, int] = {}
        """Value to the step that showed it since the last call."""
        self.used = Used(wanted)
        self.hits = Hits(self.shown)
        self.given = given
        """Values that the user or the brief named: they need no other source."""
        self.entries: dict[str, int] = {}
        """Absolute path of a listed entry to the step that listed it first."""
        self.imports: dict[str, int] = {}
        """File to the step that first showed an import of it from where another lies."""

    def forget(self) -> None:
        """The context was cleared: what lay before is out of sight."""
        self.first.clear()
        self.taught.clear()
        self.received.clear()
        self.entries.clear()
        self.imports.clear()
        self.hits.forget()
        self.texts.forget()
        self.passages.forget()

    def show(self, step: Step) -> None:
        """Enters a step's output."""
        if self.shown.begins_anew(step):
            self.received.clear()
        whole = shown_of(step.output or "")[:MAX_TEXT]
        if not whole or (step.result is not None and never_ran(step)):
            return
        more = self._brought(step)
        text = _seen(whole, more)
        self.hits.read(self.read.get(step.step, ()))
        if more is not None:
            self._companions(step, more)
        self.shown.add(step)
        tokens = self.tokens.of(text) if text is whole else self.tokens.cut(text)
        parts = chain.from_iterable(filter(None, map(self.wanted.parts.__getitem__, tokens)))
        for value in chain(parts, self.wanted.idents.of(text)):
            self.first.setdefault(value, step.step)
            self.received[value] = step.step
            if step.like == "Skill":
                self.taught.setdefault(value, step.step)
            self.count[value] = self.count.get(value, 0) + 1
        if step.operation not in ("edit", "write") or (step.run and step.success is False):
            self._listing(step, text)
            self._imports(step, text)
        if reports(step):
            self._report(step, text)
        if self.wanted.lines or self.wanted.short or self.wanted.put:
            bare = unnumbered(step, text)
            rows = bare.splitlines()
            lines = {*map(str.strip, rows)}
            self.texts.show(step, bare, rows, lines)
            self.passages.show(step, lines)

    def sources(self, step: Step) -> list[Source]:
        """The steps whose outputs gave this call its arguments; marks the values as used."""
        if step.call is None:
            return []
        self.shown.call()
        asked = self.wanted.asked.pop(step.step)  # no other step asks for it
        if step.cwd is not None and step.cwd not in self.given:
            self.given.add((step.cwd, *values(step.cwd)))
        found = surest(self._found(step, asked))
        wrote = self.wrote.get(step.step, ())
        self.used.take(step, asked, wrote)
        self.hits.take(step, asked, wrote)
        for touch in wrote:
            self.texts.put_in(touch)
        return found

    def _found(self, step: Step, asked: Asked) -> Iterator[Source]:
        files = files_edited(step)
        for text in asked.replaced:
            yield from self.texts.of_edit(text, files)
        for old in asked.short:
            yield from self.texts.of_short(old, files)
        given = {line for line in asked.put if line in self.given}
        yield from self.passages.sources(asked.put, given)
        for path, first, last in asked.spans:
            yield from self.hits.of_span(step, path, first, last)
        yield from self.hits.of_failure(step, files)
        led_to: dict[str, int] = {}
        for path in asked.paths:
            for source in self._of_path(step, path):
                yield source
                if source.rule is not FOLDER_SHOWN:
                    led_to[path] = source.step
        named = {way for path in asked.paths for way in ways_to_show(step, path)}
        own = {last_part(one): posixpath.dirname(one) for one in asked.paths}
        folders = {**asked.folders, **own}
        rest = (
            value
            for value in asked.arguments
            if value not in named and self._is_there(value, folders.get(value))
        )
        yield from self._of_values((*rest, *asked.idents), led_to, base_of(step))
        yield from self._of_skill(asked.skill)

    def _brought(self, step: Step) -> Brought | None:
        return self.brought.get(step.call.call) if step.call else None

    def _is_there(self, name: str, folder: str | None) -> bool:
        """Whether a file's name was first shown by itself, or in the folder that it has here."""
        step = self.shown.steps.get(self.first.get(name, 0)) if folder else None
        if step is None or folder is None:
            return True
        shown_first = _seen(shown_of(step.output or "")[:MAX_TEXT], self._brought(step))
        here = f"/{folder}/"
        return any(
            not one or f"/{one}".endswith(here) or here.endswith(f"/{one.lstrip('./')}")
            for one in _folders_before(name, shown_first)
        )

    def _companions(self, step: Step, more: Brought) -> None:
        """The files that a text names by their places in its folder."""
        for token in self.tokens.of(more.text[:MAX_TEXT]) if more.folder else ():
            path = token.strip(":#").rstrip(".:")
            if path.strip("./") and last_part(path) in self.wanted.names:
                self.entries.setdefault(absolute(path, more.folder), step.step)

    def _listing(self, step: Step, text: str) -> None:
        """Entries of a listing and hits of a search, with their folders joined."""
        folder, run = folder_of(step), step.run
        names = self.wanted.names
        for path, line in lines_hit(step, text):
            if last_part(path) in names:
                name = placed(path, folder, step.cwd)
                self.hits.add(name, line, step)
                self.entries.setdefault(name, step.step)
        if folder and folder != step.cwd and (step.like == "Grep" or run):
            for line in lines_alone(text):
                self.hits.add(folder, line, step)
        for path in entries(step, text, names):
            self.entries.setdefault(path, step.step)

    def _imports(self, step: Step, text: str) -> None:
        """The files that the one file which a step shows, or those of one folder, load from there."""
        shown_files = {one.path for one in self.read.get(step.step, ())}
        if step.operation == "search" and (searched := folder_of(step)):
            shown_files.add(searched)
        if len({posixpath.dirname(file) for file in shown_files}) == 1:
            for stem in chain.from_iterable(imported(text, file) for file in shown_files):
                for path in self.wanted.modules.get(stem, ()):
                    self.imports.setdefault(path, step.step)

    def _report(self, step: Step, text: str) -> None:
        """Lines of files that a report names, and files below the folder that it named before.

        A heading ends a folder.
        """
        for one in lines_named(text) if self.wanted.spans else ():
            for path in filter(one.is_of, self.wanted.spans.get(one.name, ())):
                self.hits.add(path, one.line, step)
        folder = ""
        for line in text.splitlines():
            if line.startswith("#"):
                folder = ""
            if found := FOLDER.search(line):
                folder = found[1]
            for name in MARKED.findall(line) if folder else ():
                if name in self.wanted.names:
                    path = absolute(f"{folder}{name}", step.cwd)
                    self.entries.setdefault(path, step.step)

    def _of_path(self, step: Step, path: str) -> Iterator[Source]:
        """A path from what named it, a listing or a hit: from the first, or the one just received."""
        if path in self.used.paths:
            return
        name = posixpath.basename(path)
        if path in self.given or shown(path, step.cwd) in self.given:
            return
        ways = [
            Source(self.first[value], told, FIRST_SHOWN, OF_A_PATH, found_by=self._found_by(value))
            for value, told in _as_sent(step, path)
            if len(value) >= SHORTEST and value in self.first and value not in self.used.values
        ][:1]
        just_named = bool(ways) and ways[0].step >= self.shown.latest
        if path in self.entries and not (just_named and self.entries[path] < self.shown.latest):
            told = self._told(step, path) if name in self.given else name
            by = max((way.found_by for way in ways), default=0)
            if told == name or not any(way.value == told for way in ways):
                ways.append(Source(self.entries[path], told, LISTED, found_by=by))
        # What was gone through before it was shown is no news.
        led = self.used.through.get(path, step.step)
        named = sorted(w for w in ways if w.step < led)[:1]
        number = self.imports.get(path, led)
        if not named and number < min(led, self.first.get(posixpath.splitext(name)[0], led)):
            named = [Source(number, name, IMPORTED, told="is loaded in what step {} showed")]
        yield from named or self._of_folder(step, path)

    def _told(self, step: Step, path: str) -> str:
        """A listed path as the call has it, where the listing shows it so; else its name."""
        shown_there = self.shown.steps[self.entries[path]].output or ""
        _, told = next(_as_sent(step, path))
        return told if told in shown_there else last_part(path)

    def _of_folder(self, step: Step, path: str) -> Iterator[Source]:
        """A guessed file of a folder that an output brought up, or listed."""
        folder = posixpath.dirname(path)
        name = last_part(folder)
        if folder in self.used.paths or folder in self.used.through or is_anybodys(name):
            return
        for value, told in _as_sent(step, folder):
            shown_as = (value, f"{MODULE}{value}") if step.operation == "read" else (value,)
            steps = [self.first[way] for way in shown_as if way in self.first]
            if len(value) >= SHORTEST and steps and not self._knows(value):
                self.used.values.add(value)
                self.used.through.setdefault(folder, step.step)
                yield Source(min(steps), told, FOLDER_SHOWN)
                return
        if folder in self.entries and len(name) >= SHORTEST and name not in self.given:
            self.used.paths[folder] = step.step
            yield Source(self.entries[folder], name, FOLDER_SHOWN)

    def _knows(self, value: str) -> bool:
        return value in self.used or value in self.given

    def _of_skill(self, names: Iterable[str]) -> Iterator[Source]:
        """The name of a skill from what was just received, or from the text of another."""
        for value in names:
            number = self.received.get(value, self.taught.get(value))
            if number is not None and not self._knows(value):
                yield self._first_shown(number, value)

    def _of_values(
        self, arguments: Iterable[str], led_to: Mapping[str, int], base: str | None
    ) -> Iterator[Source]:
        """Distinctive values that an output brought up first; of a name, its parts say no more.

        Nor do they of a path that is known to come from another step, nor a path that was used in
        another form since it was shown in this one.
        """
        whole = ""  # the last that was found: its parts follow it
        for value in arguments:
            if self._knows(value):
                continue
            number = self.first.get(value)
            if number is None or self.used.through.get(absolute(value, base), number) < number:
                continue
            if self.used.within.get(value, 0) > number:
                continue
            if value in whole and not whole.startswith(f"{value}."):
                continue
            if any(
                self.used.paths.get(path, 0) > number
                for path in (absolute(value, base), f"/{value}")
            ):
                continue
            if any(value in path and number != step for path, step in led_to.items()):
                continue
            whole = value
            yield self._first_shown(number, value)

    def _first_shown(self, number: int, value: str) -> Source:
        rarity = 1 / self.count[value]
        sure = round(FIRST_SHOWN.confidence + RARER * rarity, 2)
        return Source(number, value, FIRST_SHOWN, sure, found_by=self._found_by(value))

    def _found_by(self, value: str) -> int:
        """The search of which the result was just received, and held a value that was shown before."""
        number = self.received.get(value, 0)
        steps = self.shown.steps
        is_search = number in steps and steps[number].operation == "search"
        return number if is_search and number != self.first.get(value) else 0


def _folders_before(name: str, text: str) -> Iterator[str]:
    """The folders with which a text has a file's name, wherever it stands; empty where it is alone."""
    at = text.find(name)
    while at >= 0:
        before = text[max(0, at - MAX_FOLDERS) : at]
        folders = before[len(before.rstrip(IN_PATHS)) :]
        if not folders or folders.endswith("/"):
            yield folders
        at = text.find(name, at + 1)


MAX_FOLDERS = 300
"""Characters of the folders before a name."""
IN_PATHS = f"{ascii_letters}{digits}_./@~-"


def _as_sent(step: Step, path: str) -> Iterator[tuple[str, str]]:
    """The ways to show a path, that of the call first, each with how the call has it."""
    below, whole = ways_to_show(step, path)
    if path in (step.input or ""):
        yield from ((whole, whole), (below, below))
    else:
        yield from ((below, below), (whole, below))


def _seen(output: str, more: Brought | None) -> str:
    """An output without its harness's reminders, and what came with it."""
    text = without(output, "<system-reminder>", "</system-reminder>")
    return text if more is None else f"{text}\n{more.text[:MAX_TEXT]}"
