"""Which lines of its file did a shell line print?

Told by the numbers in front of them, or where a line asked for a range and printed as many lines as
that has. With fewer the file may have ended, or the harness may have left lines out: then the first
alone is known.
"""

from collections.abc import Iterator

from forsy_retrace.commands import Command, Simple
from forsy_retrace.patterns import later
from forsy_retrace.trace import Step

from ..outputs.gaps import is_cut
from ..outputs.printed import bare_output, numbered

RANGE = later(r"(\d{1,7}),(\d{1,7})p\Z")
"""What `sed -n` prints of its file."""
COUNT = later(r"-(?:n|-lines=)?(\d{1,7})\Z")
"""How many lines `head` and `tail` print, in one word."""
NUMBERS = frozenset(["nl", "cat"])
"""Commands that may put a number in front of each line."""


def lines_shown(step: Step) -> tuple[int, int | None] | None:
    """The first line that a call printed of the one file that it reads, and the last if known."""
    run = step.run
    simples = [one for one in run.simples if one.words[:1] != ("cd",)] if run else []
    if not simples or len(simples) > 2 or not simples[0].shows or len(simples[0].reads) != 1:
        return None
    asked = _asked(simples[-1])
    if asked is None or asked == SOME:
        return None
    text, (first, last) = bare_output(step), asked
    if len(simples) == 2:
        if simples[0].words[0] not in NUMBERS or simples[1].reads:
            return None
        found = numbered(text, simples[0].reads[0], first, last - first + 1)
        if found is not None:
            return first, first + (found.text or "").count("\n")
        if simples[0].words != ("cat", simples[0].reads[0]):
            return None
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


def read_in_parts(step: Step) -> dict[str, int]:
    """The files of which a shell line may leave lines out, and up to which line it prints them.

    0 where it leaves out some before what it prints, or in between.
    """
    run = step.run
    spans: dict[str, list[Span]] = {}
    wholes = set[str]()
    for source, asked in _sources(run) if run is not None else ():
        if asked is None or _is_all(asked, source, step):
            wholes.update(source.reads)
            continue
        for path in source.reads:
            spans.setdefault(path, []).append(asked)
    ends = {path: _end(held) for path, held in spans.items() if path not in wholes}
    printed = len(bare_output(step).removesuffix("\n").split("\n")) if ends else 0
    return {path: end for path, end in ends.items() if end <= printed}


Span = tuple[int, int]
SOME: Span = (0, 0)
"""Some lines, or something of them, that the line alone does not tell."""
PICKS = frozenset(
    ["cmp", "diff", "tail", "grep", "egrep", "fgrep", "rg", "awk", "cut", "jq", "yq", "uniq", "wc"]
)
"""Filters that let by some of what they read, whatever they are asked for."""
PASSES = frozenset(
    ["head", "sed", "cat", "nl", "sort", "tr", "tee", "less", "more", "bat", "column"]
)
"""Filters that may let by all of it."""


def _sources(run: Command) -> Iterator[tuple[Simple, Span | None]]:
    """The commands that print their files, with the lines that they and the filters behind let by."""
    for at, one in enumerate(run.simples):
        if not one.shows:
            continue
        asked = _asked(one)
        for after in run.simples[at + 1 :]:
            name = after.words[0] if after.words else ""
            if after.reads or name not in PICKS | PASSES:
                break
            asked = _of_both(asked, _asked(after))
        yield one, asked


def _of_both(span: Span | None, filtered: Span | None) -> Span | None:
    """What a filter lets by of some lines."""
    if span is None or filtered is None:
        return span or filtered
    return (1, min(span[1], filtered[1])) if span[0] == filtered[0] == 1 else SOME


def _is_all(asked: Span, source: Simple, step: Step) -> bool:
    """Whether the end of a file that was asked for is longer than the file."""
    if asked != SOME or source.words[:1] != ("tail",) or len(source.reads) != 1:
        return False
    found = COUNT.match("".join(word for word in source.words[1:] if word not in source.reads))
    most = int(found[1]) if found else 10
    return len(bare_output(step).removesuffix("\n").split("\n")) < most


def _end(spans: list[Span]) -> int:
    """The last of the lines that spans ask for, from the first on; 0 where there are gaps."""
    end = 0
    for first, last in sorted(spans):
        if first > end + 1 or (first, last) == SOME:
            return 0
        end = max(end, last)
    return end


def _asked(one: Simple) -> tuple[int, int] | None:
    """The lines that a command was asked for."""
    match one.words:
        case ("sed", "-n", span, *rest) if len(rest) <= 1 and (found := RANGE.match(span)):
            return int(found[1]), int(found[2])
        case ("head", *rest):
            joined = "".join(word for word in rest if word not in one.reads)
            if found := COUNT.match(joined):
                return 1, int(found[1])
        case ("tail", *rest) if "+1" in "".join(rest):
            return None
        case ("jq", *rest) if "." in rest:
            return None
        case ("sed", *rest) if not any(word.startswith(("-n", "--quiet")) for word in rest):
            return None  # it prints each line, changed or not
        case (name, *_) if name in PICKS or name == "sed":
            return SOME
    return None
