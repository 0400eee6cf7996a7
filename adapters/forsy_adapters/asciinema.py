"""asciinema casts of the versions 1, 2 and 3: what a terminal printed, with the time of each piece.

They lie where `asciinema rec FILE` was told. Version 1 is one JSON object; later ones are a header
and an array a line, timed from the start (2) or from the line before (3). Learnt from
asciinema's own casts, and from casts of bash 5.2 and nushell 0.108.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from forsy_retrace.events import Event, Fact, Origin, SessionStart, Skipped
from forsy_retrace.sdk import number
from forsy_retrace.source import Line, Source, entry, frames, seconds

from ._terminal import SHOWN, TYPED, Places, Program, Tape, steps

SHOWS = msgspec.structs.replace(
    SHOWN,
    harness="asciinema",
    stores=("*.cast files, wherever `asciinema rec` was told to write",),
)

CODES = {"i": TYPED, "r": "terminal resized", "m": "marker"}
"""Events that are no output, and why they are left out."""


def sniff(source: Source) -> bool:
    """The first record is a cast's header, or a cast of version 1."""
    return bool(source.head) and is_header(source.head[0].value)


def is_header(value: Any) -> bool:
    """Whether a value opens a cast."""
    match value:
        case {"version": 1, "stdout": list()}:
            return True
        case {"version": 2, "width": int(), "height": int()} | {"version": 3, "term": dict()}:
            return True
    return False


def read(source: Source) -> Iterator[Event]:
    """The commands of a recording; each line gives an event or is part of one."""
    lines = (line for line in source.lines() if line.value.strip())
    first = next(lines, None)
    if first is None:
        return
    header = entry([first], "json")
    if isinstance(header.value, dict) and header.value.get("version") in (2, 3):
        yield from _read_lines(source.name, first, header.value, lines)
    else:
        yield from _read_document([first, *lines])


def _read_lines(
    file: str, first: Line, header: dict[str, Any], lines: Iterator[Line]
) -> Iterator[Event]:
    yield from _opened(first, header)
    term = header.get("term")
    width = header.get("width") if header["version"] == 2 else None
    if isinstance(term, dict):
        width = term.get("cols")
    tape = Tape(Places(file, "cast"), number(width) or 0)
    tape.intervals = header["version"] == 3
    tape.start = _start(first, header)
    now, ended = 0.0, None
    for line in lines:
        value = entry([line], "json").value
        told = _time(value, now, tape.intervals)
        now = max(told, now)
        outputs = [text for _, text in frames(value) if text]
        here = Origin(line.here, None, "system")
        match value:
            case _ if outputs:
                tape.add(line.here, told, outputs[0])
            case _ if not tape.passes(line.here):
                continue
            case [_, "x", said] if (status := _status(said)) is not None:
                ended = (status, line)
                yield Fact(here, "run_end", {"exit_code": status})
            case [_, "r", said]:
                tape.widths.add(tape.length, _columns(said))
                yield Skipped(here, CODES["r"])
            case [_, str(code), _]:
                tape.holds_typed = tape.holds_typed or code == "i"
                yield Skipped(here, CODES.get(code, "no output" if code == "o" else UNKNOWN))
            case None:
                comment = line.value.lstrip().startswith("#")
                yield Skipped(here, "comment line" if comment else "unreadable: not JSON")
            case _:
                yield Skipped(here, UNKNOWN)
    yield from steps(tape, _program(first, header, ended))


UNKNOWN = "unknown kind of event"


def _read_document(lines: list[Line]) -> Iterator[Event]:
    """Version 1: all of the recording is one record."""
    record = entry(lines, "json")
    here = Origin(record.here, None, "system")
    if not isinstance(record.value, dict) or not is_header(record.value):
        yield Skipped(here, "unreadable: no cast")
        return
    yield from _opened(record, record.value)
    width = number(record.value.get("width"))
    tape = Tape(Places(record.here.file, "cast"), width or 0, whole=True)
    text = "".join(text for _, text in frames(record.value))
    tape.add(record.here, -1.0, text)
    yield from steps(tape, _program(record, record.value, None))


def _opened(first: Any, header: dict[str, Any]) -> Iterator[Event]:
    here = Origin(first.here, None, "system")
    yield SessionStart(here, "")
    if isinstance(title := header.get("title"), str) and title.strip():
        yield Fact(here, "title", title)


def _start(first: Line, header: dict[str, Any]) -> tuple[float, Any] | None:
    """When the recording began, and where the header says so."""
    start = seconds(header.get("timestamp"))
    if start is None or start <= 0:
        return None
    return start, entry([first], "json").here.at("/timestamp")


NO_TIME = -1.0
LONGEST = 1e9
"""Seconds that no recording takes."""


def _time(value: Any, now: float, intervals: bool) -> float:
    """The seconds since the start of the recording; NO_TIME where the record tells none."""
    time = seconds(value[0]) if isinstance(value, list) and value else None
    if time is None or not 0 <= time < LONGEST:
        return now if intervals else NO_TIME
    return now + time if intervals else time


def _status(value: Any) -> int | None:
    """asciinema writes an exit status as text."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 6:
        return int(value)
    return number(value)


def _columns(size: Any) -> int:
    """The columns of `80x24`."""
    columns = size.split("x")[0] if isinstance(size, str) else ""
    return int(columns) if columns.isascii() and columns.isdigit() and len(columns) < 5 else 0


def _program(first: Any, header: dict[str, Any], ended: tuple[int, Line] | None) -> Program:
    command = header.get("command")
    exit, exit_here = (ended[0], ended[1].here.at("/2")) if ended else (None, None)
    if not isinstance(command, str) or not command.strip():
        return Program(exit=exit, exit_here=exit_here)
    header_here = first.here.at("/command")
    if header_here.form != "json":
        header_here = entry([first], "json").here.at("/command")
    return Program(command, header_here, exit, exit_here)
