"""Lines with something before them: numbers, a diff's signs, times, the name of what printed them.

Where a secret hangs on the line above it, such lines are read once more without that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from forsy_retrace.patterns import later
from forsy_retrace.redaction.views import Pieces, View

LEVELS = rb"TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL"
BAR = rb"(?:\xe2\x94[\x82\x83]|\xe2\x95\x91)"
FIRST = (
    rb"\[?[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.,]{8,24}(?:Z|[+-][0-9:]{4,5})?\]?[ \t]{1,2}",
    rb"[ \t]{0,8}[0-9]{1,7}(?:\xe2\x86\x92|\t|-|[:|] ?)",  # of cat and grep
    rb"[\w./@+-]{1,200}[:-][0-9]{1,7}[:-]",  # of grep over files
    rb"[ \t]{0,40}(?:>{1,3}|#{1,3}|/{2,3}|--|;|\*|%)(?:[ \t]|(?=\r?\n))",  # of mail, of comments
    rb"[-+]",  # of a diff
    rb"[\w.-]{1,60} {1,40}\| ",  # of several containers
    rb"(?:[^\t\n]{1,100}\t){2}[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,18}Z ",  # of `gh run view`
    rb"[A-Z][a-z]{2} [ 0-9][0-9] [0-9:]{8} [\w.-]{1,60} [\w./@-]{1,60}(?:\[[0-9]{1,8}\])?: ",
    rb"\[?(?:" + LEVELS + rb")\]?:?(?:[ \t]{1,3}(?:\[?[\w./-]{1,60}\]?(?::| -) )?|[\w.]{1,60}:)",
    rb"(?:\xe2\x9d\xb1)?[ ]{0,8}(?:[0-9]{1,7} )?" + BAR + rb" ?",  # of boxes
)
"""What may stand before the line on which the others hang."""
OTHERS = (*FIRST[:4], rb"[-+ ]", *FIRST[5:])
"""What then stands before those."""
FIRST_LINE = tuple(map(later, FIRST))
ANY = later(b"|".join(FIRST))
OTHER_LINES = tuple(map(later, OTHERS))
BORDER = rb"(?:[ ]{0,200}" + BAR + rb")?"
APART = tuple(
    later(rb"((?:\A|" + (BORDER if BAR in kind else b"") + rb"\r?\n)" + kind + rb")")
    for kind in OTHERS
)
BLANKS = later(rb"[ \t]{1,40}")
WIDTH = 600
"""Bytes of a line."""
DEPTH = 2
"""How many margins are taken off, one after the other."""


class Unmargined(View):
    """A reading of lines without their margin; a find over lines is one on each of them."""

    def spans(self, start: int, end: int) -> list[tuple[int, int]]:
        found = []
        while 0 <= start < end:
            stop = self.data.find(b"\n", start, end)
            stop = end if stop < 0 else stop
            if stop > start:
                found.append(self.back(start, stop))
            start = stop + 1
        return found


def without_margins(
    data: bytes, hanging: Sequence[tuple[int, int]], under: View | None = None
) -> Iterator[View]:
    """The lines with a margin at these places, with so many below each as may hang on it."""
    hanging = sorted(hanging)
    done = 0
    for at, (place, _) in enumerate(hanging):
        floor = max(0, place - WIDTH)
        begin = data.rfind(b"\n", floor, place) + 1
        if begin < max(done, floor):
            continue  # it was read with the lines above, or its line is too long
        done = place + 1
        if not ANY.match(data, begin):
            continue
        kind, end = _shared(data, begin, hanging, at)
        done = max(end, done)
        if kind is not None:
            apart = partial(_apart, kind, data[begin:end])
            yield Unmargined(b"".join(apart()[1]), apart, under, begin)


def ends(data: bytes, line: int) -> int:
    """Where what a line has before it ends; 0 where it has nothing."""
    margin = ANY.match(data, line)
    return margin.end() if margin else 0


def text_begins(data: bytes, above: int, line: int) -> int:
    """Where the text of a line begins, behind blanks and a margin that a line above has, too."""
    begin = data.rfind(b"\n", max(0, above - WIDTH), above) + 1
    if ANY.match(data, begin):
        kinds = zip(FIRST_LINE, OTHER_LINES, strict=True)
        margins = (other.match(data, line) for first, other in kinds if first.match(data, begin))
        line = next((margin.end() for margin in margins if margin), line)
    blanks = BLANKS.match(data, line)
    return blanks.end() if blanks else line


def _shared(
    data: bytes, begin: int, hanging: Sequence[tuple[int, int]], at: int
) -> tuple[int | None, int]:
    """The margin that the most lines from here on share, and where the last of them ends."""
    shared: int | None = None
    kinds = list(range(len(FIRST)))
    start, stop, left = begin, begin, 1
    while left and start <= len(data):
        end = data.find(b"\n", start, start + WIDTH)
        end = end if end >= 0 else min(len(data), start + WIDTH)
        lines = OTHER_LINES if start > begin else FIRST_LINE
        kinds = [kind for kind in kinds if lines[kind].match(data, start)]
        if not kinds:
            break
        shared = kinds[0] if start > begin else None
        while at < len(hanging) and hanging[at][0] <= end:
            left = max(left, hanging[at][1] + 1)
            at += 1
        left -= 1
        start, stop = end + 1, end
    return shared, stop - data.endswith(b"\r", begin, stop)


def _apart(kind: int, text: bytes) -> Pieces:
    """The lines and what stands between two of them with what that stands for."""
    original = APART[kind].split(text)
    plain = original.copy()
    plain[1::2] = (b"\n" if b"\n" in piece else b"" for piece in original[1::2])
    return original, plain
