"""What an edit replaces, by its arguments and by what the harness recorded of it."""

import difflib
from collections.abc import Iterable, Iterator
from itertools import groupby

from forsy_retrace.events import Change
from forsy_retrace.memory import kept
from forsy_retrace.sdk import lines_of
from forsy_retrace.trace import Step, Touch

from ..classify import patch_of
from ..tools import PATCHERS, replacement_in

RECORDED = ("Edit", "Write", *PATCHERS)
"""Edits of which the log may hold what they replaced, though their arguments do not."""


def replacements(step: Step) -> list[tuple[str, str]]:
    """The pairs of texts that an edit call replaces, those of a patch with the lines around.

    An edit that names lines by their numbers, writes a file anew or was made by the code of another
    call replaces what the log records.
    """
    sent = step.call.input if step.call else None
    pairs = [*replaced(sent), *_hunks(patch_of(step))]
    if not pairs and step.like in RECORDED and step.result is not None:
        hunks = [hunk for change in step.result.changes for hunk in change.hunks]
        return [pair for hunk in hunks for pair in _hunks("\n".join(hunk.lines))]
    return pairs


def only_takes_out(step: Step) -> bool:
    """Whether an edit puts in no line that it does not take out."""
    pairs = replacements(step)
    return bool(pairs) and not lines_put(pairs)


def takes_back(step: Step, other: Step) -> bool:
    """Whether an edit of what another wrote undoes it: it only takes out, or puts back what was there.

    Other lines may come along, as long as most of those put in are put back.
    """
    before, after = replacements(other), replacements(step)
    if not before or not after:
        return False
    if only_takes_out(step) or {(new, old) for old, new in before}.issuperset(after):
        return True
    lost, put = lines_taken(before), lines_put(after)
    return lines_put(before) <= lines_taken(after) and lost <= put and 2 * len(lost) > len(put)


def takes_out_most_of(step: Step, other: Step) -> bool:
    """Whether most of what an edit takes out, if it does nothing else, is what another put in."""
    taken, put = lines_taken(replacements(step)), lines_put(replacements(other))
    return not only_takes_out(step) or not put or 2 * len(taken & put) > len(taken)


def lines_put(pairs: Iterable[tuple[str, str]]) -> set[str]:
    """The telling lines that replacements put in."""
    return {line for old, new in pairs for line in telling(new) - telling(old)}


def lines_taken(pairs: Iterable[tuple[str, str]]) -> set[str]:
    """The telling lines that they take out."""
    return lines_put((new, old) for old, new in pairs)


@kept(256)
def telling(text: str) -> frozenset[str]:
    """Lines without their blanks at the ends, and with one where they have several: aligned anew."""
    bare = (" ".join(line.split()) for line in lines_of(text))
    return frozenset(line for line in bare if len(line) > 2)


def replaced(sent: object) -> list[tuple[str, str]]:
    match sent:
        case {"edits": list(edits)}:
            return [found for edit in edits if (found := replacement_in(edit))]
    found = replacement_in(sent)
    return [found] if found else []


@kept(256)
def _hunks(patch: str) -> tuple[tuple[str, str], ...]:
    """What the pieces of a patch replace; a call is held against each of the last ones."""
    return tuple(_pairs(patch))


def _pairs(patch: str) -> Iterator[tuple[str, str]]:
    old, new = list[str](), list[str]()
    for line in [*lines_of(patch), "@@"]:
        if line.startswith(("@@", "*** ")):
            if old:
                yield "\n".join(old), "\n".join(new)
            old, new = [], []
        else:
            old += [line[1:]] if line[:1] in (" ", "-") else []
            new += [line[1:]] if line[:1] in (" ", "+") else []


def line_changes(old: str, new: str) -> tuple[list[str], list[str]]:
    """The lines that differ between two texts."""
    return _differing(lines_of(old), lines_of(new))


def patch_changes(lines: Iterable[str]) -> tuple[list[str], list[str]]:
    """The lines that a piece of a patch takes out and puts in, but for those that it writes again.

    What it says of the end of a file is no line.
    """
    removed, added = list[str](), list[str]()
    lines = (line for line in lines if not line.startswith("\\"))
    for differs, run in groupby(lines, lambda line: line[:1] in ("-", "+")):
        held = [*run] if differs else []
        before, after = ([line[1:] for line in held if line[0] == sign] for sign in "-+")
        out, put = _differing(before, after)
        removed += out
        added += put
    return removed, added


def _differing(before: list[str], after: list[str]) -> tuple[list[str], list[str]]:
    if len(before) * len(after) > 4_000_000:
        return before, after
    removed, added = list[str](), list[str]()
    for tag, a, b, c, d in difflib.SequenceMatcher(None, before, after).get_opcodes():
        if tag != "equal":
            removed += before[a:b]
            added += after[c:d]
    return removed, added


def leaves_as_it_is(touch: Touch) -> bool:
    """Whether a file was written with what it already held."""
    change = touch.change
    is_known = change is not None and change.kind == "modified" and change.before is not None
    return touch.kind == "write" and is_known and not (touch.added or touch.removed)


def before_of(change: Change | None) -> str | None:
    """A file's whole content before a change, where the log holds it."""
    return None if change is None or change.before is None else str(change.before)


def whole(change: Change | None) -> str | None:
    """The text of a file that was shown from its beginning to its end.

    What stands behind the end of the last line counts as a line, though it is mostly empty.
    """
    if change is None or change.kind != "shown" or change.start != 1 or change.total is None:
        return None
    text = change.text
    return text if text is not None and text.count("\n") + 1 >= change.total else None
