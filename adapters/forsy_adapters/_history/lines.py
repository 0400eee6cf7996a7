"""Histories of plain lines: are they one, what do their stamps say, where does a session end?"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from forsy_retrace.events import SHELL, Event, Origin, Skipped
from forsy_retrace.sdk import later, pointer, when
from forsy_retrace.source import Record, Source

from .._shell import LONGEST, leaves
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


STAMPS = {
    "bash": later(rb"#\d{9,10}\s*\Z"),
    "zsh": later(rb": \d{9,10}:\d+;"),
    "fish": later(rb"- cmd:|  when: \d{1,11}\s*\Z"),
}
"""Lines that one shell alone writes around its commands."""


def is_unstamped(source: Source, own: str = "") -> bool:
    """Whether a file holds lines of text that no other shell has stamped: commands, if any."""
    lines = [line.data for line in source.first_lines if line.data.strip()]
    others = [form for shell, form in STAMPS.items() if shell != own]
    counts = (sum(form.match(line) is not None for line in lines) for form in others)
    return is_text(source) and not any(is_stamped(source, count, len(lines)) for count in counts)


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
    earlier time begins another session's block. Else entries stand in the order of their times.
    """
    records = [one for one in found if isinstance(one, Record)]
    ends = trusted([_end(one.value.get(time), one.value.get(elapsed) or 0) for one in records])
    stamps = [
        one.value.get(time) if end is not None else None
        for one, end in zip(records, ends, strict=True)
    ]
    limits = tuple(dict.fromkeys((*limits, *_limits(records, stamps, time))))
    sessions = _Sessions(shell if elapsed else "", goes_back)
    for one, stamp in _stamped(found, stamps, goes_back):
        if isinstance(one, Skipped):
            yield one
            continue
        if not one.value["command"].strip():
            yield left_out(one, "a stamp without a command")
            continue
        lasted = one.value.get(elapsed) or 0
        ran = _ran(one, shell, stamp, lasted)
        if basis := sessions.begins(_end(stamp, lasted)):
            yield begins(ran, basis=basis, limits=limits)
        yield from told(ran)
        sessions.take(ran.command, is_timed=stamp is not None, is_open=not lasted)


class _Sessions:
    """Where another session begins, and how that is known.

    A line stands where its command ended, or where it began if nothing tells how long it took. A
    shell begun in a line of the second kind was open when the next lines were written: the `exit`
    behind them is its own, as long as times go on. `shell` is empty where no line is of that kind.
    """

    def __init__(self, shell: str, goes_back: bool) -> None:
        self.shell, self.goes_back = shell, goes_back
        self.basis = "the start of the file"
        self.latest = 0
        self.inner = 0
        """Shells of the same kind that were begun in this one, and may not have ended."""
        self.left_inner = False

    def begins(self, end: int | None) -> str:
        """How it is known that a command that ended then is the first of a session; else empty."""
        basis, self.basis = self.basis, ""
        if self.left_inner and end is not None:
            basis = ""
        if self.goes_back and end is not None and end < self.latest:
            basis = "a time earlier than the one before"
        if basis:
            self.inner = 0
        self.latest = end or self.latest
        return basis

    def take(self, command: str, is_timed: bool, is_open: bool) -> None:
        self.left_inner = False
        if leaves(command):
            # A shell of another kind has its own history: its `exit` is not in this one.
            self.basis = "the end of the shell before"
            self.left_inner = is_timed and self.inner > 0
            self.inner -= self.left_inner
        elif self.shell and is_timed and is_open and _begins(self.shell, command):
            self.inner += 1


def _begins(shell: str, command: str) -> bool:
    """Whether a command is a shell of this kind to type into: its name, and options alone."""
    words = command[:LONGEST].split()
    is_shell = bool(words) and words[0].rpartition("/")[2] == shell
    return is_shell and all(word.startswith("-") and "c" not in word for word in words[1:])


def _end(stamp: int | None, elapsed: int) -> int | None:
    """When a command ended; when it began where 0 tells nothing more.

    `elapsed` is seconds, or the end where zsh was told to write it so.
    """
    if stamp is None:
        return None
    return elapsed if elapsed >= stamp else stamp + elapsed


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
    ended = _end(stamp, elapsed) if elapsed else None
    return Ran(
        record,
        shell,
        f"line-{record.here.line}",
        record.value["command"],
        pointer("command"),
        at=when(stamp),
        ended=when(ended),
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
