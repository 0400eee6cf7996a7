"""A typescript's timing file: seconds since the entry before, and how many bytes were printed."""

from codecs import getincrementaldecoder
from collections.abc import Iterator, Sequence
from datetime import datetime

from forsy_retrace.events import Event, Fact, Origin, Skipped
from forsy_retrace.sdk import later, when
from forsy_retrace.source import Evidence, Line, Source, entry

from .._terminal import Places, Tape

CLASSIC = later(r"([0-9]{1,9}\.[0-9]{1,9}) ([0-9]{1,12})\r?$")
LETTERED = later(r"([OISH]) ([0-9]{1,9}\.[0-9]{1,9}) (.{0,4096})$")
"""O output, I input, S a signal, H a header; only output has bytes in the typescript."""
COUNT = later(r"[0-9]{1,12}$")
OTHER = "timing of other output"


def timed(tape: Tape, data: bytes, timing: Source, began: str, header: Evidence) -> Event:
    """Gives the tape its clock, if the timing counts the bytes that are there."""
    lines = list(timing.lines())
    here = Origin(entry(lines).here, None, "system")
    ticks = list(_ticks(lines))
    # The line feed before script's last line is script's own.
    if tape.is_full or sum(count for _, count, _ in ticks) not in (len(data), len(data) - 1):
        return Skipped(here, OTHER)
    start = when(began)
    if start is None:
        return Skipped(here, "timing of a recording whose start has no zone")
    clock = Places(timing.name, "text")
    decoder = getincrementaldecoder("utf-8")("replace")  # pieces may share a character
    at, place, chars = 0.0, 0, 0
    for delay, count, line in ticks:
        at += delay
        if count:
            clock.add(chars, line, at)
            chars += len(decoder.decode(data[place : place + count]))
            place += count
    tape.clock, tape.start = clock, (datetime.fromisoformat(start).timestamp(), header)
    return Fact(here, "timing", len(ticks))


def _ticks(lines: Sequence[Line]) -> Iterator[tuple[float, int, Evidence]]:
    """Seconds since the tick before, bytes of output (0: of another stream), and the line."""
    for line in lines:
        if found := CLASSIC.match(line.value):
            yield float(found[1]), int(found[2]), line.here
        elif found := LETTERED.match(line.value):
            is_output = found[1] == "O" and COUNT.match(found[3])
            yield float(found[2]), int(found[3]) if is_output else 0, line.here
