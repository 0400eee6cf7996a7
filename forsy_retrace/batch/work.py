"""What a worker does with one log. Everything it takes and gives can be sent to another machine."""

import hashlib
from pathlib import Path

import msgspec

from forsy_retrace.adapter import companions
from forsy_retrace.convert import Folder, Options, folders
from forsy_retrace.errors import (
    DiskTrouble,
    Occupied,
    RetraceError,
    StrangersFault,
    Unreachable,
    UnreadableInput,
)
from forsy_retrace.logs import adapter_for
from forsy_retrace.redact import Rules, as_asked
from forsy_retrace.registry import blamed, load
from forsy_retrace.source import RemoteSource, Source, file_system, is_remote
from forsy_retrace.writers.place import place_of

from .row import Row, row_of

OCCUPIED = "its trace folder holds files that are not ours; move them away"


class File(msgspec.Struct, frozen=True):
    """A file that may be a log: where it is, what it is called, and what marks a change of it."""

    uri: str
    name: str
    """Relative to the root that the user named."""
    root: str
    """What the root is called."""
    size: int
    mark: str

    @property
    def state(self) -> str:
        """Differs as soon as the file does."""
        return f"{self.size}:{self.mark}"


class Look(msgspec.Struct, frozen=True):
    """Files that are looked at together, by which adapters."""

    files: tuple[File, ...]
    adapter: str = "auto"
    plugins: tuple[str, ...] = ()


class Seen(msgspec.Struct, frozen=True):
    """What a file was found to be: the adapter that reads it, or why there is none."""

    uri: str
    adapter: str
    why: str
    companions: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    """Patterns of the files beside it that this rests on, from its own folder."""
    is_passing: bool = False
    """It could not be read or told now; another time it may."""


class Log(msgspec.Struct, frozen=True):
    """A log to convert, and the files that go with it."""

    file: File
    adapter: str
    key: str
    """What tells its folders from those of every other log."""
    companions: tuple[File, ...]

    @property
    def size(self) -> int:
        """Bytes of the log and of what goes with it."""
        return self.file.size + sum(one.size for one in self.companions)

    @property
    def mark(self) -> str:
        """Differs as soon as one of the files does."""
        return "|".join(one.state for one in (self.file, *self.companions))


class Job(msgspec.Struct, frozen=True):
    """One log to convert, and where to."""

    log: Log
    target: str
    options: Options


class Done(msgspec.Struct, frozen=True):
    """What came of a log: a row a trace, sessions without one, or what went wrong. All masked."""

    rows: tuple[Row, ...] = ()
    refused: tuple[str, ...] = ()
    problem: str = ""
    is_passing: bool = False
    """The problem may be gone another time: the log is tried again."""
    is_fault: bool = False
    """The problem is ours, and says nothing against the log."""
    seals: tuple[str, ...] = ()
    """For each row, a salted digest of what files its folder has, and how long."""
    content: bytes = b""
    """A digest of the log as it was before it was read, for the driver to salt; never kept."""


def source_of(file: File) -> Source:
    """The log itself."""
    if is_remote(file.uri):
        system, path = file_system(file.uri)
        return RemoteSource(system, path, file.name)
    return Source(Path(file.uri), file.name)


def look(task: Look) -> tuple[Seen, ...]:
    """Which adapter reads each of some files, and which files belong to another."""
    return tuple(_look(file, task) for file in task.files)


def _look(file: File, task: Look) -> Seen:
    source = source_of(file)
    name, why = "", ""
    beside: tuple[str, ...] = ()
    try:
        name = adapter_for(source, task.adapter, task.plugins)
        beside = tuple(_address(file, source, one) for one in companions(load(name), source))
    except (Unreachable, StrangersFault) as error:
        return Seen(file.uri, "", _without_name(str(error), source), is_passing=True)
    except RetraceError as error:
        name, why = "", _without_name(str(error), source)
    except Exception as error:
        return Seen(file.uri, "", blamed(error), is_passing=True)
    return Seen(file.uri, name, why, beside, tuple(sorted(source.asked)))


def _address(file: File, source: Source, one: Source) -> str:
    """Where a companion is, written as its log's address is."""
    lead = file.uri[: len(file.uri) - len(source.path.name)]
    return lead + str(one.path)[len(str(source.path.parent)) + 1 :]


def convert_one(job: Job) -> Done:
    """Converts one log and writes its trace folders; a bad log is a problem, not an exception.

    Only trouble with the target is raised: it is the same for every log.
    """
    content = content_of(job.log)
    return msgspec.structs.replace(_converted(job), content=content)


def content_of(log: Log) -> bytes:
    """A digest of the bytes of a log's files; an address has the store's own mark."""
    if is_remote(log.file.uri):
        return log.mark.encode()
    found = hashlib.sha256()
    for file in (log.file, *log.companions):
        try:
            with source_of(file).on_disk() as stream:  # a pipe put in its place would never end
                while piece := stream.read(1 << 20):
                    found.update(piece)
        except UnreadableInput:
            return b""
    return found.digest()


def _converted(job: Job) -> Done:
    rows: list[Row] = []
    refused: list[str] = []
    source, rules = source_of(job.log.file), job.options.rules
    try:
        place = place_of(job.target)
        for one in folders(source, job.log.adapter, job.options):
            if isinstance(one, Folder):
                name = f"{one.name}-{job.log.key}"
                place.put(name, one.files)
                rows.append(row_of(name, one.manifest))
            else:
                refused.append(_without_name(one.why, source, rules))
    except DiskTrouble:
        raise
    except Occupied:
        return Done(tuple(rows), tuple(refused), OCCUPIED, is_passing=True)
    except Unreachable as error:
        return Done(tuple(rows), tuple(refused), _without_name(str(error), source, rules), True)
    except UnreadableInput as error:
        return Done(tuple(rows), (*refused, _without_name(str(error), source, rules)))
    except RetraceError as error:
        return Done(tuple(rows), tuple(refused), _without_name(str(error), source, rules))
    except MemoryError:
        return Done(tuple(rows), tuple(refused), "not enough memory for it now", True)
    except Exception as error:
        return Done(tuple(rows), tuple(refused), blamed(error), is_fault=True)
    return Done(tuple(rows), tuple(refused))


def _without_name(why: str, source: Source, rules: Rules = Rules()) -> str:  # noqa: B008 (frozen)
    return as_asked(why.removeprefix(f"{source.name}: "), rules)
