"""Which edits a read shows again."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence

import msgspec

from forsy_retrace.events import Change
from forsy_retrace.patterns import later
from forsy_retrace.sdk import lines_of, packed
from forsy_retrace.trace import Step, Touch

from ..outputs.printed import bare_output
from .unchecked import NAMED

NUMBERED = later(r"(?m)^ *\d+\t")
"""What `nl` and `cat -n` write in front of a line."""


def with_output(step: Step, touched: list[Touch]) -> list[Touch]:
    """What a step did to files; a read by a shell line showed what the line printed.

    But for what a search on the line printed of others.
    """
    if step.run is None or not any(touch.kind == "read" for touch in touched):
        return touched
    text = NUMBERED.sub("", bare_output(step))
    if any(one.operation == "search" for one in step.run.simples):
        text = HIT.sub("", text)
    return [
        msgspec.structs.replace(touch, change=Change(touch.path, "shown", shown=packed(text)))
        if touch.kind == "read" and touch.change is None
        else touch
        for touch in touched
    ]


HIT = later(r"(?m)^(?!\d+:)[\w./@+-]{1,300}:\d+[:-].*\n?")
"""A line of a search, behind its file and number."""
CONFLICT = later(r"(?m)^<{7} ")
"""How Git marks a place where two sides differ."""
PRINTS_PATCHES = frozenset(["git diff", "git show"])


def patched_lines(text: str) -> dict[str, list[str]]:
    """The lines that the patches of a text put in or keep, by their file's place below the root."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in lines_of(text):
        if line.startswith("+++ b/"):
            lines = found.setdefault(line[6:], [])
        elif line.startswith("diff --git "):
            lines = []
        elif line[:1] in ("+", " "):
            lines.append(line[1:])
    return found


def edits_shown(read: Touch, edits: Sequence[Touch]) -> Sequence[Touch]:
    """The edits of which a read shows half of the lines that they put in, or what stood around them.

    One that shows fewer lines than they put in has to show little else.
    """
    text = read.change.text if read.change is not None else None
    if text is None:
        return edits if read.first is None else []
    if CONFLICT.search(text):
        return []  # Git has put other lines among them
    lines = {line.strip() for line in lines_of(text)}
    found = []
    for edit in edits:
        new = _telling(edit.added) - {line.strip() for line in lines_of(edit.old or "")}
        new = new or _telling(edit.added) or _telling(lines_of(edit.new or ""))
        if not new or 2 * len(new & lines) >= min(len(new), len(lines)) or _within(edit, text):
            found.append(edit)
    return found


def _within(edit: Touch, text: str) -> bool:
    """Whether a text holds what an edit put in, of which the log has but a part of a line."""
    new = (edit.new or "").strip()
    is_part = edit.change is None and edit.old is not None and "\n" not in new
    return is_part and len(new) > 2 and new not in (edit.old or "") and new in text


def _telling(lines: Iterable[str]) -> set[str]:
    return {bare for line in lines if len(bare := line.strip()) > 2}


def _takes_out(edit: Touch, text: str) -> bool:
    """Whether a text holds the beginning or the end of what an edit replaces, or a line of it.

    Of a patch it may hold all lines of a piece, also where that only puts some in between.
    """
    if old := edit.old:
        return old[:200] in text or old[-200:] in text
    shown, hunks = _telling(lines_of(text)), edit.change.hunks if edit.change else ()
    pieces = (_telling(line[1:] for line in hunk.lines if line[:1] in " -") for hunk in hunks)
    return not shown.isdisjoint(_telling(edit.removed)) or any(
        piece and piece <= shown for piece in pieces
    )


def replaced_texts(touched: dict[int, list[Touch]]) -> Callable[[Touch], bool]:
    """Tells whether a later edit replaces text that a read showed: then it was no read-back."""
    later: dict[tuple[str, str], list[Touch]] = {}
    for touches in touched.values():
        for touch in touches:
            if touch.kind == "edit" and (touch.old or touch.removed or touch.change):
                later.setdefault((touch.actor, touch.path), []).append(touch)

    def replaced(read: Touch) -> bool:
        text = read.change.text if read.change is not None else None
        edits = later.get((read.actor, read.path), [])
        after = bisect_right(edits, read.step, key=lambda edit: edit.step)
        return any(text is None or _takes_out(e, text) for e in edits[after : after + NAMED])

    return replaced
