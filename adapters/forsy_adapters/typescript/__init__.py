"""Typescripts of `script`: what a terminal printed, between `Script started` and `Script done`.

They lie where `script FILE` was told, `typescript` by default. A timing file of the same name
(`.timing`, `.tm`), classic or with the streams' letters, gives the moments; what was typed
(`.in`) is never copied. Since util-linux 2.35 the header tells the command and the width in
brackets; older ones have dates without a zone.
"""

from collections.abc import Iterator

import msgspec

from forsy_retrace.events import Event, Origin, Skipped
from forsy_retrace.source import Source, entry

from .._terminal import SHOWN, TYPED
from .session import DONE, STARTED, Session
from .sides import beside, is_input, is_timing, is_typed
from .timing import OTHER

SHOWS = msgspec.structs.replace(
    SHOWN,
    harness="script",
    stores=("typescript, or wherever `script` was told to write",),
    time="sometimes",
)


def sniff(source: Source) -> bool:
    """The first line is script's own, and what follows is no log of what was typed."""
    lines = source.first_lines
    return bool(lines) and STARTED.match(lines[0].value) is not None and not is_typed(lines[1:])


def companions(source: Source) -> list[Source]:
    """The timing file, and the log of what was typed."""
    return [one for one in beside(source) if is_timing(one) or is_input(one)]


def read(source: Source) -> Iterator[Event]:
    """The commands of each recording in the file (`-a` adds one); each line is part of an event."""
    sides = companions(source)
    timing = next((one for one in sides if is_timing(one)), None)
    session: Session | None = None
    is_only = True
    for line in source.lines():
        if STARTED.match(line.value):
            if session is not None:
                is_only = False
                yield from session.events(None)
            session = Session(line)
            session.tape.holds_typed = any(map(is_input, sides))
        elif session is None or session.last is not None:
            here = Origin(line.here, None, "system")
            yield Skipped(
                here, "text outside the recording" if line.value.strip() else "blank line"
            )
        elif DONE.match(line.value):
            session.last = line
        else:
            session.take(line)
    if session is not None:
        yield from session.events(timing if is_only else None)
    if timing is not None and not is_only:
        yield Skipped(Origin(entry(list(timing.lines())).here, None, "system"), OTHER)
    for side in filter(is_input, sides):
        yield Skipped(Origin(entry(list(side.lines())).here, None, "system"), TYPED)
