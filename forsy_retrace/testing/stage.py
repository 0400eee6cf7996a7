"""A copy of a case elsewhere, for laws that spoil it."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import msgspec

from forsy_retrace.adapter import Adapter
from forsy_retrace.events import Event
from forsy_retrace.source import Record, Source
from forsy_retrace.testing.account import records_of
from forsy_retrace.testing.case import Case
from forsy_retrace.testing.reading import Reading, events_of, read, reading


class Stage(msgspec.Struct, frozen=True):
    """A copy of a case's log and companions that a law may spoil."""

    source: Source
    originals: Mapping[str, bytes]
    """The decoded text of each file, by the name that evidence gives it."""
    records: Mapping[str, list[Record]]

    def put(self, name: str, data: bytes) -> None:
        """Another content for one file, over the old: a file cut to nothing is flushed first."""
        with self._path(name).open("r+b") as file:
            file.write(data)
            file.truncate()

    def restore(self, name: str) -> None:
        self.put(name, self.originals[name])

    def _path(self, name: str) -> Path:
        return self.source.path.parent / name

    def events(self, adapter: Adapter) -> tuple[Event, ...]:
        """What a new reading gives, before anything is built of it."""
        return events_of(adapter, Source(self.source.path, self.source.name))

    def read(self, adapter: Adapter, case: Case) -> Reading:
        """A new reading, as if the log had just been opened."""
        return read(adapter, case.adapter, Source(self.source.path, self.source.name))


@contextmanager
def stage(adapter: Adapter, case: Case) -> Iterator[Stage]:
    """The case's files in a folder of the same name elsewhere."""
    found = reading(adapter, case)
    main = found.source
    with tempfile.TemporaryDirectory(prefix="forsy-") as away:
        folder = Path(away).resolve() / main.path.parent.name
        originals, records = {}, {}
        for one in (main, *found.companions):
            path = folder / one.name
            path.parent.mkdir(parents=True, exist_ok=True)
            originals[one.name], records[one.name] = one.whole(), records_of(one, found.events)
            path.write_bytes(originals[one.name])
        yield Stage(Source(folder / main.name, main.name), originals, records)
