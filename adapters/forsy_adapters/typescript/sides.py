"""The files that `script` writes beside a typescript, told by their names and their first lines."""

from collections.abc import Sequence

from forsy_retrace.source import Line, Source

from .session import DONE, STARTED
from .timing import CLASSIC, LETTERED

ENDS = ("timing", "tm", "time", "in")


def beside(source: Source) -> list[Source]:
    """The files beside a typescript that are named like it."""
    stem, name = source.path.stem, source.path.name
    return source.called(f"{one}.{end}" for one in (stem, name) for end in ENDS)


def is_timing(source: Source) -> bool:
    """Whether its first lines are delays."""
    lines = source.first_lines
    return bool(lines) and all(
        CLASSIC.match(one.value) or LETTERED.match(one.value) for one in lines[:3]
    )


def is_input(source: Source) -> bool:
    """Whether it is a log of what was typed."""
    lines = source.first_lines
    return bool(lines) and STARTED.match(lines[0].value) is not None and is_typed(lines[1:])


def is_typed(lines: Sequence[Line]) -> bool:
    """Keys end with a carriage return alone: all that was typed is one line of the file."""
    body = [line.data for line in lines if line.value.strip() and not DONE.match(line.value)]
    return len(body) == 1 and b"\r" in body[0] and b"\x1b[?2004" not in body[0]
