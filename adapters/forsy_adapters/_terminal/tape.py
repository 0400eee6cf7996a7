"""What a recording printed, with the record and the moment of every character."""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from forsy_retrace.events import Origin
from forsy_retrace.sdk import when
from forsy_retrace.source import Evidence

MOST_TEXT = 32 << 20
"""Characters of a recording that are read; what was printed later is left out, and said to be."""
MOST_RECORDS = 1 << 20
TOO_LONG = "beyond the first 32 MB of a recording"
TYPED = "typed input, never copied"
UNSEEN = "what was typed and not echoed"


class Places:
    """Records in the order of the text, each with the first character that it gave."""

    def __init__(self, file: str, form: str) -> None:
        self.file, self.form = file, form
        self.firsts = array("q")
        self.lines = array("q")
        self.begins = array("q")
        self.ends = array("q")
        self.times = array("d")

    def add(self, first: int, here: Evidence, time: float) -> None:
        """The next record; its time in seconds from the start of the recording."""
        for column, value in (
            (self.firsts, first),
            (self.lines, here.line),
            (self.begins, here.start),
            (self.ends, here.end),
        ):
            column.append(value)
        self.times.append(time)

    def holding(self, place: int) -> int:
        """The number of the record that gave a character; -1 where there is none."""
        return bisect_right(self.firsts, place) - 1

    def with_bytes(self, first: int, last: int) -> tuple[int, int]:
        """The same records; as a blank line has no bytes, with the next one, or the one before."""
        while self.ends[last] == self.begins[first] and last + 1 < len(self.ends):
            last += 1
        while self.ends[last] == self.begins[first] and first > 0:
            first -= 1
        return first, last

    def between(self, first: int, last: int, form: str, pointer: str = "") -> Evidence:
        """The records from one to another, and one beside them where they have no bytes."""
        first, last = self.with_bytes(first, last)
        begin, end = self.begins[first], self.ends[last]
        return Evidence(self.file, self.lines[first], begin, end, pointer, form)


WIDEST = 10_000


class Widths:
    """How many columns the screen had, and from which character on; 0 where that is not known.

    A figure that no screen has tells nothing.
    """

    def __init__(self, width: int = 0) -> None:
        self.firsts, self.figures = [0], [0]
        self.add(0, width)

    def add(self, first: int, width: int) -> None:
        """The width from a character on, behind all those before."""
        width = width if 0 < width < WIDEST else 0
        if width == self.figures[-1]:
            return
        if first == self.firsts[-1]:
            self.figures[-1] = width
        else:
            self.firsts.append(first)
            self.figures.append(width)

    def over(self, start: int, end: int) -> int:
        """The columns all along a part of the text; 0 where it was resized meanwhile."""
        first = bisect_right(self.firsts, start) - 1
        last = max(bisect_left(self.firsts, end) - 1, first)
        return self.figures[first] if first == last else 0

    def before(self, end: int) -> int:
        """The columns when a character was printed: a shell draws its line anew for a new width."""
        return self.figures[bisect_left(self.firsts, max(end, 1)) - 1]


class Tape:
    """A stream of output. `clock` has the places of the times, `start` the moment of second 0.

    `intervals`: a record's own time counts from the record before, so that none tells the moment.
    """

    def __init__(self, places: Places, width: int = 0, whole: bool = False) -> None:
        self.places, self.widths = places, Widths(width)
        self.whole = whole
        """The document is one record, whose bytes hold all of the text."""
        self.clock = places
        self.start: tuple[float, Evidence] | None = None
        self.intervals = False
        self.parts: list[str] = []
        self.length = self.seen = 0
        self.holds_typed = False
        """The log has what was typed, which is left out."""
        self.is_full = False
        self.rest: Evidence | None = None
        """The records behind those that it took, as one."""

    def add(self, here: Evidence, time: float, text: str) -> None:
        """What the next record printed; where the tape is full, the record counts as the rest."""
        if self.length + len(text) > MOST_TEXT:
            self.is_full = True
        if self.passes(here):
            self.places.add(self.length, here, time)
            self.parts.append(text)
            self.length += len(text)

    def passes(self, here: Evidence) -> bool:
        """Whether the tape is still to be filled when this record comes; else it is the rest."""
        self.seen += 1
        self.is_full = self.is_full or self.seen > MOST_RECORDS
        if self.is_full:
            first = self.rest or here
            self.rest = Evidence(here.file, first.line, first.start, here.end, form="text")
        return not self.is_full

    @property
    def text(self) -> str:
        """All that was printed."""
        if len(self.parts) > 1:
            self.parts = ["".join(self.parts)]
        return self.parts[0] if self.parts else ""

    @property
    def breaks(self) -> Sequence[int]:
        """Where the pieces begin in which it was printed; none where no times tell them."""
        return self.clock.firsts if any(time >= 0 for time in self.clock.times[:1]) else ()

    def span(self, start: int, end: int, view: str = "") -> Evidence:
        """The records that hold a part of the text, and how it is read out of them."""
        first = self.places.holding(start if end > start else max(start - 1, 0))
        last = self.places.holding(max(end - 1, start - 1, 0))
        first, last = self.places.with_bytes(first, last)
        base = 0 if self.whole else self.places.firsts[first]
        form = f"{self.places.form}|chars:{start - base}:{end - base}"
        return self.places.between(first, last, f"{form}|{view}" if view else form)

    def origin(self, here: Evidence, place: int, actor: str = "agent:shell") -> Origin:
        """Where an event stands, and the moment at which a character was printed."""
        number = self.clock.holding(place)
        if self.start is None or number < 0 or self.clock.times[number] < 0:
            return Origin(here, None, actor)
        begin, source = self.start
        at = when(begin + self.clock.times[number])
        form = "text" if self.clock is not self.places or self.clock.form == "text" else "json"
        pointer = "" if self.intervals or form == "text" else "/0"
        tick = self.clock.between(number, number, form, pointer)
        clock = (tick,) if source is NOWHERE else (source, tick)
        return Origin(here, at, actor, clock=clock if at else ())


NOWHERE = Evidence("", 0, 0, 0)
"""The source of a start that the times themselves hold."""
