"""Bash histories: `~/.bash_history`, a line a command, and `#epoch` before it where times are kept.

Bash writes a session's block when the session ends, so blocks stand in the order of their ends: a
stamp earlier than the one before begins another session. A here-document stands raw over several
lines, and so does a quote; a block where bash was told to keep line feeds. A typed `#1700000000`
cannot be told from a stamp but by its place.
Learnt from bash 5.2.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from forsy_retrace.events import Event, Skipped
from forsy_retrace.sdk import Shows, later
from forsy_retrace.source import Line, Record, Source, entry

from ._history.lines import STAMPS, is_like, is_stamped, is_unstamped, left_out, tell
from ._history.ran import CANNOT, NO_STATUS
from ._shell import goes_on, opened, unquoted

SHOWS = Shows(
    calls="yes",
    time="sometimes",
    harness="bash history",
    stores=("~/.bash_history",),
    cannot=(*CANNOT, *NO_STATUS),
    is_history=True,
)

STAMP = STAMPS["bash"]
FEWEST_STAMPS = 3
LONGEST = 200
"""Lines of a here-document, of a quote or of a block that are waited for."""
REST = later(r"\s*(?:done|fi|esac|do|then|else|[})])\s*;?\s*")
"""What is no command of its own, where nothing was open before it."""
OPENS = later(rb"(?<!<)<<-?\s*(?:'([^'\s]+)'|\"([^\"\s]+)\"|\\?([A-Za-z_][\w.-]*))")


def sniff(source: Source) -> bool:
    """Stamps before a third of the lines; or the name, and commands that everybody uses."""
    lines = [line for line in source.first_lines if line.data.strip()]
    pairs = pairwise(lines)
    stamped = sum(is_stamp(one) and not is_stamp(after) for one, after in pairs)
    return is_stamped(source, stamped, len(lines)) or is_like(source, "bash_history")


def accepts(source: Source) -> bool:
    """Lines of text: a list of commands may hold anything."""
    return is_unstamped(source, "bash")


def read(source: Source) -> Iterator[Event]:
    """A call for each command, cut where a block of another session begins."""
    yield from tell(list(entries(list(source.lines()))), "bash", "time", goes_back=True)


def entries(lines: Sequence[Line]) -> Iterator[Record | Skipped]:
    """Commands with their stamps and all their lines."""
    first = next((line for line in lines if line.data.strip()), None)
    begins = first is not None and is_stamp(first)
    has_stamps = begins or sum(map(is_stamp, lines)) >= FEWEST_STAMPS
    keeps = _keeps(lines)
    at = 0
    while at < len(lines):
        stamped = has_stamps and is_stamp(lines[at])
        end = _end(lines, at + 1, begins, keeps) if stamped else _behind(lines, at, keeps)
        held = lines[at:end]
        at = end
        while held and not held[-1].data.strip():
            held = held[:-1]
        if stamped and len(held) == 1:
            yield left_out(entry(held), "a stamp without a command")
        elif held:
            found = entry(held, "bash")
            is_rest = REST.fullmatch(found.value["command"]) is not None
            yield left_out(found, "the rest of a block that began elsewhere") if is_rest else found


def is_stamp(line: Line) -> bool:
    """Whether a line is the time of the command behind it: seconds from 1973 to 2096."""
    return STAMP.match(line.data) is not None and 10**8 <= int(line.data[1:]) <= 4 * 10**9


def _end(lines: Sequence[Line], at: int, joined: bool, keeps: bool) -> int:
    """Where the command ends that begins behind a stamp.

    Bash reads lines without a stamp as more of the command only where the file begins with one.
    The first line is the command's even where it looks like a stamp.
    """
    if at < len(lines):
        at = _behind(lines, at, keeps)
    while joined and at < len(lines) and not is_stamp(lines[at]):
        at = _behind(lines, at, keeps)
    return at


def _behind(lines: Sequence[Line], at: int, keeps: bool) -> int:
    """The first line behind a line, and behind the quotes, blocks and documents that it opens.

    Where the file keeps line feeds, a line that ends in `\\`, `|` or `&&` goes on too; elsewhere
    bash would have joined it, and it was given up with ^C.
    """
    first = end = _document(lines, at)
    last = min(len(lines), at + 1 + LONGEST)
    bare, quote = unquoted(lines[at].value)
    blocks, more = opened(bare), keeps and goes_on(bare)
    while (quote or blocks > 0 or more) and end < last and not is_stamp(lines[end]):
        bare, quote = unquoted(lines[end].value, quote)
        blocks, more = blocks + opened(bare), keeps and goes_on(bare)
        end = _document(lines, end)
    return first if quote or blocks > 0 or more else end


def _keeps(lines: Sequence[Line]) -> bool:
    """Whether a block stands over several lines: bash was told to keep their line feeds."""
    return any(
        opened(unquoted(line.value)[0]) > 0 and _behind(lines, at, keeps=False) > at + 1
        for at, line in enumerate(lines)
    )


def _document(lines: Sequence[Line], at: int) -> int:
    found = OPENS.search(lines[at].data)
    if found is None:
        return at + 1
    word = next(part for part in found.groups() if part)
    for end in range(at + 1, min(len(lines), at + 1 + LONGEST)):
        if lines[end].data.strip(b"\t\r") == word:
            return end + 1
    return at + 1
