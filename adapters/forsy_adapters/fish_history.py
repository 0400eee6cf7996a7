"""Fish histories: `~/.local/share/fish/fish_history`, `- cmd: git pull`, then `  when: 1732150000`.

It looks like YAML and is none: only `\\n` and `\\\\` are escaped, nothing is quoted. Fish keeps
each command once, at the time of its last run; a last line that was not ended does not count.
`paths` names arguments that were files then, which proves little. Learnt from fish 3 and 4.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from forsy_retrace.events import Event, Skipped
from forsy_retrace.sdk import Shows, later
from forsy_retrace.source import Line, Record, Source, entry

from ._history.lines import is_text, left_out, tell
from ._history.ran import CANNOT, NO_STATUS

SHOWS = Shows(
    calls="mostly",
    time="yes",
    harness="fish history",
    stores=("~/.local/share/fish/fish_history",),
    cannot=(*CANNOT, *NO_STATUS, "how often a command was run, and when before its last run"),
    is_history=True,
)

LIMIT = "Each command is kept once, at its last run: a retry in the same words cannot be seen."
BEGINS = b"- cmd:"
WHEN = later(rb"  when: \d{1,11}\s*")


def sniff(source: Source) -> bool:
    """A command and its time on the next line."""
    lines = source.first_lines
    pairs = pairwise(lines)
    found = any(a.data.startswith(BEGINS) and WHEN.fullmatch(b.data) for a, b in pairs)
    return found and is_text(source)


def read(source: Source) -> Iterator[Event]:
    """A call for each entry, in the order of their last runs."""
    found = list(entries(list(source.lines())))
    yield from tell(found, "fish", "when", limits=(LIMIT,))


def entries(lines: Sequence[Line]) -> Iterator[Record | Skipped]:
    """Entries with their indented lines; other lines are none."""
    held: list[Line] = []
    for line in lines:
        if held and (not line.whole or not line.data.startswith(b"  ")):
            yield entry(held, "fish")
            held = []
        if not line.whole and line.data.strip():
            yield left_out(entry([line]), "unreadable: cut off")
        elif held or line.data.startswith(BEGINS):
            held.append(line)
        elif line.data.strip():
            yield left_out(entry([line]), "a line of no entry")
    if held:
        yield entry(held, "fish")
