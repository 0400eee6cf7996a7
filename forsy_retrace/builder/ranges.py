"""Which lines of its file did a shell line print?

Told by the numbers in front of them, or where a line asked for a range and printed as many lines as
that has. With fewer the file may have ended, or the harness may have left lines out: then the first
alone is known.
"""

from collections.abc import Iterator
from itertools import pairwise

from forsy_retrace.commands import Command, Simple
from forsy_retrace.patterns import later
from forsy_retrace.trace import Step

from .classify import command
from .gaps import is_cut
from .printed import bare_output, numbered

RANGE = later(r"(\d{1,7}),(\d{1,7})p\Z")
"""What `sed -n` prints of its file."""
COUNT = later(r"-(?:n|-lines=)?(\d{1,7})\Z")
"""How many lines `head` prints, in one word."""
NUMBERS = frozenset(["nl", "cat"])
"""Commands that may put a number in front of each line."""


def lines_shown(step: Step) -> tuple[int, int | None] | None:
    """The first line that a call printed of the one file that it reads, and the last if known."""
    run = command(step)
    simples = [one for one in run.simples if one.words[:1] != ("cd",)] if run else []
    if not simples or len(simples) > 2 or not simples[0].shows or len(simples[0].reads) != 1:
        return None
    asked = _asked(simples[-1])
    if asked is None:
        return None
    text, (first, last) = bare_output(step), asked
    if len(simples) == 2:
        if simples[0].words[0] not in NUMBERS or simples[1].reads:
            return None
        found = numbered(text, simples[0].reads[0], first, last - first + 1)
        return (first, first + (found.after or "").count("\n")) if found else None
    if is_cut(text) or not text.strip():
        return None
    missing = last - first + 1 - len(text.removesuffix("\n").split("\n"))
    if not missing:
        return asked
    return (first, None) if missing > 0 and first > 1 else None


def spans_asked(run: Command) -> Iterator[tuple[str, int, int]]:
    """The files of which a shell line prints lines from the middle, with the first and the last."""
    for source, asked in _sources(run):
        if asked and asked[0] > 1 and len(source.reads) == 1:
            yield source.reads[0], *asked


def read_in_parts(run: Command) -> frozenset[str]:
    """The files of which a shell line leaves lines out: before what it prints, or in between."""
    spans: dict[str, list[tuple[int, int]]] = {}
    wholes = set[str]()
    for source, asked in _sources(run):
        if asked is None:
            wholes.update(source.reads)
            continue
        for path in source.reads:
            spans.setdefault(path, []).append(asked)
    return frozenset(path for path, held in spans.items() if path not in wholes and _skips(held))


def _sources(run: Command) -> Iterator[tuple[Simple, tuple[int, int] | None]]:
    """The commands that print their files, with the lines that they or a filter behind them let by."""
    for one, after in pairwise((*run.simples, None)):
        if one is not None and one.shows:
            yield one, _asked(one) or (_asked(after) if after and not after.reads else None)


def _skips(spans: list[tuple[int, int]]) -> bool:
    end = 0
    for first, last in sorted(spans):
        if first > end + 1:
            return True
        end = max(end, last)
    return False


def _asked(one: Simple) -> tuple[int, int] | None:
    """The lines that a command was asked for."""
    match one.words:
        case ("sed", "-n", span, *rest) if len(rest) <= 1 and (found := RANGE.match(span)):
            return int(found[1]), int(found[2])
        case ("head", *rest):
            joined = "".join(word for word in rest if word not in one.reads)
            if found := COUNT.match(joined):
                return 1, int(found[1])
    return None
