"""A log file and its records, in the order of the file."""

import io
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from glob import escape
from itertools import dropwhile, islice
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from forsy_retrace.errors import Unreachable
from forsy_retrace.evidence import Evidence

from .cut import Cutter, Piece, first_line, lines
from .forms import Line, line_of
from .layout import MARK, NOWHERE, assigned, first_value, glued, opens_array
from .order import leading
from .ttyrec import begins_frame, framed, is_ttyrec
from .unpack import (
    PARQUET,
    SEALED,
    SQLITE,
    ZIP,
    Bounded,
    Unpacked,
    contents,
    decoded,
    everything,
    is_packed,
    is_tar,
    member,
)
from .values import MAX_LINE, NOT_JSON, Problem, Record, decode

if TYPE_CHECKING:
    from zipfile import ZipInfo

LEAD = 1 << 16
"""Bytes from which the layout of a file is told."""
CUT_OFF: Problem = "unreadable: cut off"
HEAD = 40
FEWEST_LINES = 20
"""Lines that are no JSON, from which on a text may be prose that quotes a record."""
HEAD_BYTES = 1 << 20
FIRST_LINES = 400
COMMENT = b"//"
FIELDS = (b"data:", b"event:", b"id:", b"retry:", b": ")
"""How a stream begins that was kept as its server sent it."""
EVENT = b"data:"
FRAME = re.compile(rb"data: ?\[DONE\]|(?:event|id|retry|):.*")
"""What stands around its events: their names, its end, signs of life."""
CACHE = "-shm"
BESIDE = ("-wal", "-journal", CACHE)
"""Ends of the names of files beside a database; the last rows may stand only there."""


class Unread(NamedTuple):
    """What lies among the files of a folder or zip and can't be read, and why."""

    name: str
    why: str
    is_passing: bool = False
    """It is no property of the file: another time it may be read."""


class Source:
    """A log file, read as far as it reached when it was opened.

    `name` is the path relative to what the user named, and stands in every Evidence.
    """

    def __init__(self, path: Path, name: str | None = None) -> None:
        self.path = path
        self.name = readable(name if name is not None else path.name)
        self.asked: set[str] = set()
        """Patterns of the files beside it that anybody asked for, from the log's own folder."""
        self.within = ""
        """The folder of a file beside a log, from the log's own."""

    def records(self) -> Iterator[Record]:
        """Every record in the order of the file, without blank lines."""
        if self.is_archive:
            yield Record(Evidence(self.name, 0, 0, self.size), problem="archive of files")
            return
        with self._open() as stream:
            last = Record(Evidence(self.name, 0, 0, 0))
            for record in self._records(stream):
                yield (last := record)
            packed = getattr(stream, "raw", None)
            if isinstance(packed, Unpacked) and packed.is_cut and last.problem != CUT_OFF:
                start = min(last.here.end, packed.count - 1)
                here = Evidence(self.name, last.here.line, start, packed.count)
                yield Record(here, problem=CUT_OFF)

    def _records(self, stream: BinaryIO) -> Iterator[Record]:
        lead = stream.read(LEAD)
        if is_tar(lead):
            yield Record(Evidence(self.name, 0, 0, self.size), problem="archive of files")
            return
        body = lead.removeprefix(MARK).lstrip()
        if body[:1] == b"[" and self._is_array(body, len(lead) < LEAD):
            yield from self._document(Cutter(stream, lead), array=True)
        elif body[:1] == b"{" and self._are_values(body):
            yield from self._document(Cutter(stream, lead), array=False)
        elif found := assigned(body, lead):
            yield from self._script(stream, lead, found)
        else:
            read = self._sent if body.startswith(FIELDS) else self._line
            for line, start, end, data, whole in lines(stream, lead, MAX_LINE):
                if end - start > MAX_LINE:
                    here = Evidence(self.name, line, start, end)
                    yield Record(here, problem="unreadable: line too long")
                else:
                    yield from read(line, start, data, whole)

    def lines(self) -> Iterator[Line]:
        """Every physical line of a text log, blank ones too."""
        with self._open() as stream:
            yield from self._lines(stream)

    @cached_property
    def first_lines(self) -> tuple[Line, ...]:
        """The first lines, for telling what a text log is; fewer where they are long."""
        with self._open() as stream:
            data = stream.read(HEAD_BYTES)
        if is_tar(data):
            return ()
        found = tuple(islice(self._lines(io.BytesIO(data)), FIRST_LINES))
        # a log may be one line of 100 MB
        return found if len(data) < HEAD_BYTES else tuple(one for one in found if one.whole)

    @cached_property
    def head(self) -> tuple[Record, ...]:
        """The first 40 records, for telling what the log is; fewer where they are large.

        Code and documents quote a record here and there: what they quote is left out.
        """
        found = self._first(HEAD)
        if _lines(found) >= FEWEST_LINES and _is_prose(found) and self._goes_on_as_prose():
            return tuple(record for record in found if record.problem)
        return tuple(found)

    def _goes_on_as_prose(self) -> bool:
        """Whether most is prose from the first record on, too, not only what stands before it."""
        found = self._first(FIRST_LINES)
        return _is_prose(list(dropwhile(lambda record: record.problem == NOT_JSON, found)))

    def _first(self, count: int) -> list[Record]:
        found = []
        for record in islice(self.records(), count):
            found.append(record)
            if record.here.end > HEAD_BYTES:
                break
        return found

    @cached_property
    def size(self) -> int:
        """Bytes on disk when it was first asked for; what is written later is not read."""
        try:
            return self.path.stat().st_size
        except OSError as error:
            raise Unreachable(f"{self.name}: {error.strerror or 'cannot be read'}") from None

    @cached_property
    def _magic(self) -> bytes:
        """The first bytes on disk."""
        with self._raw() as stream:
            return stream.read(len(SQLITE))

    @cached_property
    def is_archive(self) -> bool:
        """Whether it is a zip, whose files are `members`."""
        return self._magic.startswith(ZIP)

    @cached_property
    def is_database(self) -> bool:
        """Whether it is a SQLite database."""
        return self._magic == SQLITE

    @cached_property
    def is_parquet(self) -> bool:
        """Whether it is a table in Parquet."""
        return self._magic.startswith(PARQUET)

    @cached_property
    def is_sealed(self) -> bool:
        """Whether it is an archive, or packed in a way that is not read here."""
        return self._magic.startswith(SEALED)

    @cached_property
    def is_ttyrec(self) -> bool:
        """Whether it is a recording in frames of binary, which reads as JSON lines."""
        if not is_packed(self._magic) and not begins_frame(self._magic):
            return False
        with self._raw() as stream:
            text = decoded(stream, self.name)
            lead = text.read(LEAD)
            return is_ttyrec(lead, not text.read(1))

    def members(self, *patterns: str) -> list["Source"]:
        """The files of a zip, or of its one folder, so named; nothing is ever extracted."""
        if not self.is_archive:
            return []
        with self._raw() as stream:
            return [Member(self, info) for info in contents(stream, self.name, patterns)]

    def inside(self) -> Iterator["Source | Unread"]:
        """Every file of a zip, in its folders too."""
        with self._raw() as stream:
            for info, is_plain in everything(stream, self.name):
                one = Member(self, info)
                yield one if is_plain else Unread(one.name, "a link, or locked by a password")

    def beside(self, pattern: str) -> list["Source"]:
        """The regular files next to this log that match a glob pattern, in order of name."""
        self.asked.add(escape(self.within) + pattern)
        found = self._beside(pattern)
        folder = len(self.name) - len(self.path.name)
        for one in found:
            one.asked = self.asked
            one.within = self.within + one.name[folder : len(one.name) - len(one.path.name)]
        return found

    def called(self, names: Iterable[str]) -> list["Source"]:
        """The same of whole names; one that leads to another folder is none."""
        plain = sorted(name for name in set(names) if name and not {"/", os.sep} & set(name))
        return [one for name in plain for one in self.beside(escape(name))]

    def _beside(self, pattern: str) -> list["Source"]:
        folder = self.path.parent
        lead = self.name[: len(self.name) - len(self.path.name)]
        found = sorted(folder.glob(pattern)) if "/" in pattern else _within(folder, pattern)
        return [
            Source(path, lead + path.relative_to(folder).as_posix())
            for path in found
            if path != self.path and is_regular(path)
        ]

    def text(self, limit: int) -> str | None:
        """The whole text where it has at most `limit` bytes; for spilled outputs."""
        with self._open() as stream:
            data = stream.read(limit + 1)
        return data.decode("utf-8", "replace") if len(data) <= limit else None

    def whole(self, strict: bool = False) -> bytes:
        """All bytes, as the offsets of `records` count them; `strict` refuses a file cut off."""
        with self._open(strict) as stream:
            return stream.read()

    def spans(self, ranges: Iterable[tuple[int, int]]) -> Iterator[bytes]:
        """The bytes of ranges, as the offsets of `records` count them.

        Of a packed file, ranges that ascend are read in one pass.
        """
        stream, here = self._open(), 0
        try:
            for start, end in ranges:
                if isinstance(stream, (Bounded, io.BytesIO)):
                    stream.seek(start)
                else:
                    if start < here:
                        stream.close()
                        stream, here = self._open(), 0
                    for at in range(here, start, LEAD):
                        stream.read(min(LEAD, start - at))
                    here = end
                yield stream.read(end - start)
        finally:
            stream.close()

    def raw(self) -> bytes:
        """The bytes as they lie on disk; of a zip's file, unpacked."""
        with self._raw() as stream:
            return stream.read()

    def on_disk(self) -> Bounded:
        """The bytes as they lie on disk, as a stream."""
        return self._raw()

    def parts(self) -> list["Source"]:
        """The files that SQLite keeps beside a database."""
        if not self.is_database:
            return []
        return [one for end in BESIDE for one in self.called([self.path.name + end])]

    def _raw(self) -> Bounded:
        try:
            flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
            handle = os.open(self.path, flags)
        except OSError as error:
            raise Unreachable(f"{self.name}: {error.strerror or 'cannot be opened'}") from None
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            os.close(handle)
            raise Unreachable(f"{self.name}: not a regular file")
        size = min(found.st_size, self.size)
        return Bounded(os.fdopen(handle, "rb"), size, self.name)

    def _open(self, strict: bool = False) -> BinaryIO:
        if self.is_database:
            from .database import database

            written = [one for one in self.parts() if not one.path.name.endswith(CACHE)]
            return database(self, [one for one in written if one.size])
        if self.is_parquet:
            from .parquet import table

            return table(self._raw(), self.name)
        stream = decoded(self._raw(), self.name, strict)
        return framed(stream) if self.is_ttyrec else stream

    def _is_array(self, body: bytes, whole: bool) -> bool:
        """Whether the file is one array, and not lines that are arrays each."""
        line, ended, rest = body.partition(b"\n")
        if ended or whole:
            record = decode(line.strip(), NOWHERE)
            if not record.problem:
                return isinstance(record.value, list) and not rest.strip()
            return first_value(line) is None and opens_array(body)
        return opens_array(body) and not self._is_line()

    def _is_line(self) -> bool:
        """Whether the first line, a long one, is an array of its own, and others follow."""
        with self._open() as stream:
            end, goes_on = first_line(stream)
        if not goes_on:
            return False
        with self._open() as stream:
            cutter = Cutter(stream)
            return all(piece.end <= end for piece in cutter.elements()) and cutter.place <= end

    def _are_values(self, body: bytes) -> bool:
        """Whether objects of several lines stand one after another."""
        line, ended, _ = body.partition(b"\n")
        if not ended or not decode(line.strip(), NOWHERE).problem or first_value(line) is not None:
            return False
        with self._open() as stream:
            first = next((piece for piece in Cutter(stream).values() if not piece.text), None)
        return first is not None and first.closed and not self._of(first).problem

    def _lines(self, stream: BinaryIO) -> Iterator[Line]:
        for number, start, _, data, whole in lines(stream):
            body = data[:-1] if whole else data
            if number == 1 and body.startswith(MARK):
                body, start = body[len(MARK) :], start + len(MARK)
            here = Evidence(self.name, number, start, start + len(body), form="text")
            yield line_of(here, body, whole)

    def _line(self, line: int, start: int, data: bytes, whole: bool) -> Iterator[Record]:
        body = data.strip(b" \t\r\n\v\f")
        if body.startswith(MARK):
            body = body[3:]
        if not body:
            return
        start += data.index(body[:64])
        here = Evidence(self.name, line, start, start + len(body))
        if body.startswith(COMMENT):
            yield Record(here, problem="comment line")
            return
        record = decode(body, here)
        if record.problem != NOT_JSON:
            yield record
            return
        bare = body.strip(b"\0 \t\r\n\v\f")
        if bare and len(bare) < len(body):
            yield from self._amid_zeros(here, body, bare, whole)
            return
        values = list(glued(body, here))
        if values and all(not value.problem for value in values):
            yield from values
        else:
            cut = not whole and body[:1] in b"{["
            yield Record(here, problem="unreadable: cut off" if cut else NOT_JSON)

    def _sent(self, line: int, start: int, data: bytes, whole: bool) -> Iterator[Record]:
        """A line of a stream as its server sent it: an event, or the frame around it."""
        bare = data.rstrip()
        if FRAME.fullmatch(bare):
            here = Evidence(self.name, line, start, start + len(bare))
            yield Record(here, problem="frame of a stream")
        else:
            lead = len(EVENT) if data.startswith(EVENT) else 0
            yield from self._line(line, start + lead, data[lead:], whole)

    def _amid_zeros(
        self, here: Evidence, body: bytes, bare: bytes, whole: bool
    ) -> Iterator[Record]:
        """A record before or behind bytes that were never written, as a crash leaves them."""
        at = body.index(bare[:64])
        parts = ((0, at), (at, at + len(bare)), (at + len(bare), len(body)))
        for first, last in parts:
            place = Evidence(self.name, here.line, here.start + first, here.start + last)
            if body[first:last] == bare:
                yield from self._line(here.line, place.start, bare, whole)
            elif first < last:
                yield Record(place, problem=NOT_JSON)

    def _document(self, cutter: Cutter, array: bool) -> Iterator[Record]:
        for piece in cutter.elements() if array else cutter.values():
            if piece.data != MARK:
                yield self._of(piece)
        if array and (rest := cutter.rest()):
            yield self._of(rest)

    def _script(self, stream: BinaryIO, lead: bytes, start: int) -> Iterator[Record]:
        """A page or module: what stands around the value, and the value's records."""
        around: Problem = "text around records"
        before = lead[:start].strip()
        begin = lead.index(before[:64])
        yield Record(Evidence(self.name, 0, begin, begin + len(before)), problem=around)
        cutter = Cutter(stream, lead[start:], start)
        array = lead[start : start + 1] == b"["
        for piece in cutter.elements() if array else cutter.values():
            yield self._of(piece)
            if not array:
                break
        if rest := cutter.rest():
            yield Record(Evidence(self.name, 0, rest.start, rest.end), problem=around)

    def _of(self, piece: Piece) -> Record:
        here = Evidence(self.name, 0, piece.start, piece.end)
        if piece.data is None:
            return Record(here, problem=_unheld(piece))
        record = decode(piece.data, here)
        if record.problem == NOT_JSON and not piece.closed and not piece.text:
            return Record(here, problem="unreadable: cut off")
        return record


class Member(Source):
    """A file of a zip; `archive.zip#name` is its name, and the zip's other files stand beside."""

    def __init__(self, archive: Source, info: "ZipInfo") -> None:
        super().__init__(archive.path / info.filename, f"{archive.name}#{info.filename}")
        self.archive, self.info = archive, info
        self.size = info.file_size
        self.is_archive = self.is_database = self.is_parquet = self.is_sealed = False

    def _beside(self, pattern: str) -> list[Source]:
        return [one for one in self.archive.members(pattern) if one.name != self.name]

    def raw(self) -> bytes:
        return self.whole()

    def _open(self, strict: bool = False) -> BinaryIO:
        return member(self.archive._raw(), self.info, self.name, strict)


def _within(folder: Path, pattern: str) -> list[Path]:
    """What matches in a folder, which is listed once for the thousands of logs that lie in it."""
    try:
        names = _names(folder, folder.stat().st_mtime_ns)
    except OSError:
        return []
    lead = re.split(r"[*?[]", pattern, maxsplit=1)[0] if os.name == "posix" else ""
    near = (names[at] for at in leading(names, lead))
    return [folder / name for name in near if PurePath(name).match(pattern)]


@lru_cache(maxsize=64)
def _names(folder: Path, changed: int) -> list[str]:
    """The names in a folder, in order, as it was when it last changed."""
    return sorted(os.listdir(folder))


def readable(name: str) -> str:
    """A file's name without the bytes that are no UTF-8; the same where it has none."""
    try:
        return os.fsencode(name).decode("utf-8", "replace")
    except UnicodeEncodeError:  # made readable before, in a locale without these letters
        return name


def is_regular(path: Path) -> bool:
    """A file that can be read as one: no link, pipe or device."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _unheld(piece: Piece) -> Problem:
    return NOT_JSON if piece.text else "unreadable: line too long"


def _is_prose(records: Sequence[Record]) -> bool:
    """Whether most lines of a text are no JSON."""
    return _lines(records) > 3 * (len(records) - _lines(records))


def _lines(records: Iterable[Record]) -> int:
    return sum(record.problem == NOT_JSON for record in records)
