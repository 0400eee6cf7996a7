"""One recording of a typescript: from script's first line to its last."""

import re
from collections.abc import Iterator

from forsy_retrace.events import Event, Fact, Origin, SessionStart, Skipped
from forsy_retrace.sdk import later, when
from forsy_retrace.source import Line, Source

from .._terminal import Places, Program, Tape, steps
from .timing import timed

STARTED = later(r"Script started on ([^\[\n]{1,80}?)(?: \[(.{0,2000})\])?\r?$")
DONE = later(r"Script done on ([^\[\n]{1,80}?)(?: \[(.{0,2000})\])?\r?$")
NAMED = later(r'([A-Z_]{2,40})="([^"]{0,1000})"')
"""What newer versions tell in brackets: COMMAND, COLUMNS, COMMAND_EXIT_CODE."""


class Session:
    """What one recording printed, and script's own two lines around it."""

    def __init__(self, first: Line) -> None:
        self.first = first
        self.last: Line | None = None
        started = STARTED.match(first.value)
        self.began = started[1].strip() if started else ""
        self.told = dict(NAMED.findall((started and started[2]) or ""))
        self.tape = Tape(Places(first.here.file, "text"), _figure(self.told.get("COLUMNS")) or 0)
        self.data = bytearray()
        """The bytes on the tape, which the timing counts."""

    def take(self, line: Line) -> None:
        """The next line of output."""
        self.tape.add(line.here, -1.0, line.value + "\n" * line.whole)
        if not self.tape.is_full:
            self.data += line.data + b"\n" * line.whole

    def events(self, timing: Source | None) -> Iterator[Event]:
        """The recording's commands, with their moments where a timing file tells them."""
        here = Origin(self.first.here, None, "system")
        yield SessionStart(here, "")
        if began := when(self.began):
            yield Fact(here, "began", began)
        if timing is not None:
            yield timed(self.tape, bytes(self.data), timing, self.began, self.first.here)
        status: int | None = None
        if self.last is not None:
            here = Origin(self.last.here, None, "system")
            done = DONE.match(self.last.value)
            told = dict(NAMED.findall((done and done[2]) or ""))
            status = _figure(told.get("COMMAND_EXIT_CODE"))
            ended = when(done[1].strip()) if done else None
            if ended is not None:
                yield Fact(here, "ended", ended)
            if status is not None:
                yield Fact(here, "run_end", {"exit_code": status})
            elif ended is None:
                yield Skipped(here, "the recorder's last line")
        command = self.told.get("COMMAND", "")
        where = self.first.here if command else None
        yield from steps(
            self.tape, Program(command, where, status, self.last.here if self.last else None)
        )


def _figure(text: str | None) -> int | None:
    return int(text) if text and re.fullmatch(r"[0-9]{1,5}", text) else None
