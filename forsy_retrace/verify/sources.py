"""The log files that a trace's evidence names, and the bytes in them."""

import glob
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from forsy_retrace.errors import UnreadableInput
from forsy_retrace.evidence import Evidence
from forsy_retrace.logs import named
from forsy_retrace.source import Source, discover, reread

from .evidence_rules import PLACEHOLDER
from .retraced import NotRetraced

Json = Mapping[str, Any]


class Logs:
    """The log files that evidence names, read once each.

    A file that the user names is the log of the trace, whatever it is called now: no other stands
    in for it. What the trace names beside it is looked for beside it. Below a folder, every log is
    told by its name.
    """

    def __init__(self, source: Path, sources: Mapping[str, int | None]) -> None:
        self.sizes = sources
        self.main: Source | None = None
        """The file that the user named."""
        self.main_name = next(iter(sources), "")
        """What the trace calls it."""
        if os.path.isdir(source):
            self.found = list(discover(source))
        else:
            self.main = named(source)
            self.found = self._beside(self.main)
        self.held: dict[str, bytes] = {}
        self.last: tuple[Evidence | None, Any] = (None, None)
        """The record that was read last: a conversation is one record of many steps."""

    def _beside(self, main: Source) -> list[Source]:
        """What may belong to a log, under the names that it has from the log's own folder on."""
        stem = main.path.stem
        below = discover(main.path.parent / stem)
        found = [Source(one.path, f"{stem}/{one.name}") for one in below]
        known = {one.name for one in found}
        patterns = ("agent-*.jsonl", "message_feedback.json", f"{glob.escape(stem)}.*")
        for pattern in (*patterns, *self._listed()):
            for one in main.beside(pattern):
                if one.name not in known:
                    known.add(one.name)
                    found.append(one)
        return [Source(one.path, self._lead() + one.name) for one in found]

    def _lead(self) -> str:
        """The folder in which the log lay below what was converted."""
        return self.main_name[: self.main_name.rfind("/") + 1]

    def _listed(self) -> list[str]:
        """Patterns of the files at or below the log's folder that the trace names, masks aside."""
        names = [name.removeprefix(self._lead()) for name in self.sizes if name != self.main_name]
        return [
            "".join("*" if part is None else glob.escape(part) for part in _pieces(name))
            for name in names
            if name.isprintable() and not name.startswith("/") and ".." not in name.split("/")
        ]

    def value(self, row: Json) -> Any:
        """The decoded record; raises LookupError where its bytes are not there."""
        here = Evidence(str(row["file"]), 0, row["start"], row["end"], form=row.get("form", ""))
        if here == self.last[0]:
            return self.last[1]
        data = self.whole(here.file)[here.start : here.end]
        record = reread(data, here)
        if len(data) != here.end - here.start or record.problem:
            raise LookupError(here.file)
        self.last = (here, record.value)
        return record.value

    def whole(self, name: str) -> bytes:
        """All bytes of a log that evidence names."""
        if name not in self.held:
            self.held[name] = self.source(name).whole()
        return self.held[name]

    def source(self, name: str) -> Source:
        """The file that evidence means by a name; raises where there is none."""
        if self.main is not None and name == self.main_name:
            return self.main
        lead = f"{self.main_name}#"
        if self.main is not None and name.startswith(lead):
            return self._member(self.main, name.removeprefix(lead))
        archive, mark, inner = name.rpartition("#")
        exact = [source for source in self.found if source.name == name]
        if exact:
            return exact[0]
        if mark and archive:
            return self._member(self.source(archive), inner)
        pattern = _pattern(name)
        loose = [source for source in self.found if pattern.fullmatch(source.name)]
        sized = [source for source in loose if source.size == self.sizes.get(name)]
        tails = [s for s in self.found if s.path.name == name.rsplit("/", 1)[-1]]
        for found in (loose, sized, tails):
            if len(found) == 1:
                return found[0]
        raise _not_there(name)

    def _member(self, archive: Source, name: str) -> Source:
        pattern = _pattern(name)
        for one in archive.inside():
            is_named = pattern.fullmatch(one.name.removeprefix(f"{archive.name}#"))
            if is_named and isinstance(one, Source):
                return one
        raise _not_there(name)

    def of_the_trace(self) -> Source:
        """The log itself; raises NotRetraced where it, or what belongs to it, is not as it was."""
        for name, size in self.sizes.items():
            if size is None:
                raise NotRetraced("its manifest does not tell how long its log was")
            if self.source(name).size != size:
                raise NotRetraced("its log has grown or was changed since")
        return self.source(self.main_name)

    def is_as_it_was(self) -> bool:
        """Whether the named file has the size that the manifest gives."""
        size = self.sizes.get(self.main_name)
        return self.main is None or size is None or self.main.size == size


def _not_there(name: str) -> UnreadableInput:
    why = "the trace names this log, and it is not there"
    return UnreadableInput(f"{name}: {why}; name the folder that holds it with --source")


def _pieces(name: str) -> list[str | None]:
    parts: list[str | None] = []
    last = 0
    for found in PLACEHOLDER.finditer(name):
        parts += [name[last : found.start()], None]
        last = found.end()
    return [*parts, name[last:]]


def _pattern(name: str) -> re.Pattern[str]:
    """A file's name, with anything where it was masked."""
    loose = ("[^/]+?" if part is None else re.escape(part) for part in _pieces(name))
    return re.compile("".join(loose))
