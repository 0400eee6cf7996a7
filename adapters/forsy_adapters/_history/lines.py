"""Histories of plain lines: are they one, what do their stamps say, where does a session end?"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from forsy_retrace.events import SHELL, Event, Origin, Skipped
from forsy_retrace.sdk import later, pointer, when
from forsy_retrace.source import Record, Source

from .._shell import leaves
from .ran import Ran, begins, told

HEADS = (
    "ls cd cat echo sudo vim vi nano rm cp mv mkdir grep find ssh scp exit clear pwd git make man"
    " python python3 pip pip3 npm npx yarn pnpm node docker kubectl apt apt-get brew curl wget tar"
    " chmod chown ps kill top htop less more head tail export source history which touch df du"
    " systemctl ping code cargo go java tmux screen fish bash zsh"
)
COMMON = frozenset(HEADS.split())
"""Words that begin most lines of anybody's history, and few lines of anything else."""
SHARE = 0.3
FEWEST = 3


def is_like(source: Source, name: str, known: re.Pattern[bytes] | None = None) -> bool:
    """Whether a file of this name (a pattern) holds commands: 3 lines or more, 3 of 10 at least."""
    if not re.search(name, source.path.name.lower()) or not is_text(source):
        return False
    lines = [line.data for line in source.first_lines if line.data.strip()]
    hits = sum(bool(known.match(line)) if known else _is_common(line) for line in lines)
    return hits >= max(FEWEST, SHARE * len(lines))


def is_stamped(source: Source, stamped: int, lines: int) -> bool:
    """Whether enough of the first lines bear the stamp of one shell."""
    return stamped > 1 and stamped >= SHARE * lines and is_text(source)


def _is_common(line: bytes) -> bool:
    return line.split(None, 1)[0].decode("utf-8", "replace") in COMMON


def is_text(source: Source) -> bool:
    """Whether a file holds lines of text that are no records of another kind."""
    if source.is_archive or source.is_database:
        return False
    lines = [line.data for line in source.first_lines if line.data.strip()]
    objects = sum(line.startswith(b'{"') for line in lines)
    return bool(lines) and 2 * objects < len(lines) and not any(b"\0" in line for line in lines)


IMPORTED = 20
"""So many commands of one second were stamped when they were read in, not when they ran."""
BLOCK = 3


def trusted(stamps: Sequence[int | None]) -> list[int | None]:
    """The stamps that tell when a command ran; None for those of an import.

    A shell that is told to keep times stamps what it had kept without them with the time of the
    reading: many commands of one second, or a block that is later than what follows it.
    """
    many = {stamp for stamp, count in Counter(stamps).items() if count >= IMPORTED}
    kept: list[int | None] = []
    after: int | None = None
    for stamp, run in groupby(reversed(stamps)):
        count = len(list(run))
        read = stamp is not None and count >= BLOCK and after is not None and after < stamp
        kept += [None if read or stamp in many else stamp] * count
        after = stamp if stamp is not None else after
    return kept[::-1]


def tell(
    found: Sequence[Record | Skipped],
    shell: str,
    time: str = "",
    elapsed: str = "",
    goes_back: bool = False,
    limits: tuple[str, ...] = (),
) -> Iterator[Event]:
    """The events of entries in the order of the file, cut into sessions.

    `time` and `elapsed` name the fields of an entry that hold seconds; `goes_back` says that an
    earlier stamp begins another session's block. Else entries stand in the order of their times.
    """
    records = [one for one in found if isinstance(one, Record)]
    stamps = trusted([one.value.get(time) for one in records])
    limits = tuple(dict.fromkeys((*limits, *_limits(records, stamps, time))))
    basis, latest = "the start of the file", 0
    for one, stamp in _stamped(found, stamps, goes_back):
        if isinstance(one, Skipped):
            yield one
            continue
        if not one.value["command"].strip():
            yield left_out(one, "a stamp without a command")
            continue
        ran = _ran(one, shell, stamp, one.value.get(elapsed) or 0)
        if goes_back and stamp is not None and stamp < latest:
            basis = "a time stamp earlier than the one before"
        if basis:
            yield begins(ran, basis=basis, limits=limits)
        latest = stamp or latest
        yield from told(ran)
        # An inner shell of the same kind ends here, too; that of another kind has its own history.
        basis = "the end of the shell before" if leaves(ran.command) else ""


def _stamped(
    found: Sequence[Record | Skipped], stamps: Sequence[int | None], is_ordered: bool
) -> Iterator[tuple[Record | Skipped, int | None]]:
    """Entries with their stamps, by time; what has no stamp stays behind what it follows."""
    pending, last = iter(stamps), 0
    placed = []
    for one in found:
        stamp = next(pending) if isinstance(one, Record) else None
        last = stamp or last
        placed.append((last, one, stamp))
    if not is_ordered:
        placed.sort(key=lambda entry: entry[0])
    return ((one, stamp) for _, one, stamp in placed)


def left_out(record: Record, reason: str) -> Skipped:
    """A line or entry that is no command."""
    return Skipped(Origin(record.here, None, SHELL), reason)


def _ran(record: Record, shell: str, stamp: int | None, elapsed: int) -> Ran:
    """`elapsed` is seconds, or the end where zsh was told to write it so; 0 is unknown."""
    ended = elapsed if stamp and elapsed >= stamp else (stamp or 0) + elapsed
    return Ran(
        record,
        shell,
        f"line-{record.here.line}",
        record.value["command"],
        pointer("command"),
        at=when(stamp),
        ended=when(ended) if stamp and elapsed else None,
        ended_by="" if ended == elapsed else "start-and-duration",
    )


PASTED = later(r"\[?\[20[01]~|\$ |#{2,6} \S|```|[-*] \[[ x]\] |\d+;\d+(?:;\d+)*c|\[[A-D]$")
"""What a terminal was given that is no command: paste marks, prompts, Markdown, its own replies."""
ENOUGH = 50
REPEATS_DROPPED = (
    "No command stands twice in a row: the shell seems to drop repeats, so that a retry in the same"
    " words cannot be seen."
)
SIZES = (500, 1000, 2000)
"""Lines to which shells cut their history by default."""


def _limits(records: Sequence[Record], stamps: Sequence[int | None], time: str) -> Iterator[str]:
    """What this one file cannot tell, in sentences."""
    commands = [one.value["command"] for one in records]
    untold = sum(
        stamp is None and time in one.value for one, stamp in zip(records, stamps, strict=True)
    )
    if untold:
        yield f"Commands stamped by an import, whose times are left out: {untold}."
    repeated = any(a == b for a, b in pairwise(commands))
    if len(records) >= ENOUGH and not repeated:
        yield REPEATS_DROPPED
    if pasted := sum(PASTED.match(command) is not None for command in commands):
        yield f"Commands that look like pasted text: {pasted}."
    if len(records) in SIZES:
        yield f"The file holds {len(records)} commands, as many as a shell keeps: some may be gone."
