"""Zsh histories: `~/.zsh_history`, `: 1700000000:5;command` where EXTENDED_HISTORY is set.

A line that ends in a backslash goes on. Bytes that zsh uses itself are stored escaped, so that a
file is often no UTF-8. The seconds behind the start are 0 unless the shell wrote the line after
the command had ended: 0 is unknown. Unless they share it, windows write their blocks one behind the
other: an end that goes back (a start, where no end is told) begins another session. Learnt from zsh
5.9 and the histories of 16 people.
"""

from collections.abc import Iterator, Sequence

from forsy_retrace.events import Event
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Line, Record, Source, entry

from ._history.lines import STAMPS, is_like, is_stamped, is_unstamped, tell
from ._history.ran import CANNOT, NO_STATUS

SHOWS = Shows(
    calls="yes",
    time="sometimes",
    harness="zsh history",
    stores=("~/.zsh_history", "~/.zsh_sessions/*.history"),
    cannot=(*CANNOT, *NO_STATUS),
    is_history=True,
)

EXTENDED = STAMPS["zsh"]


def sniff(source: Source) -> bool:
    """Stamps on a third of the lines; or the name, and commands that everybody uses."""
    lines = [line for line in source.first_lines if line.data.strip()]
    stamped = sum(EXTENDED.match(line.data) is not None for line in lines)
    return is_stamped(source, stamped, len(lines)) or is_like(source, "zsh_history")


def accepts(source: Source) -> bool:
    """Lines of text: a list of commands may hold anything."""
    return is_unstamped(source, "zsh")


def read(source: Source) -> Iterator[Event]:
    """A call for each command, cut where a block of another session begins."""
    lines = list(source.lines())
    damaged = sum("\ufffd" in line.value and not line.repaired for line in lines)
    limits = [f"Lines damaged when an editor saved the file: {damaged}."] if damaged else []
    found = list(entries(lines))
    yield from tell(found, "zsh", "start", "elapsed", goes_back=True, limits=tuple(limits))


def entries(lines: Sequence[Line]) -> Iterator[Record]:
    """Commands with all their lines."""
    held: list[Line] = []
    for line in lines:
        # a command that ends in a backslash of its own: the next stamp is no part of it
        if held and EXTENDED.match(line.data):
            yield entry(held, "zsh")
            held = []
        if held or line.data.strip():
            held.append(line)
        if held and not line.data.endswith(b"\\"):
            yield entry(held, "zsh")
            held = []
    if held:
        yield entry(held, "zsh")
