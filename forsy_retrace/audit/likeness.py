"""Does a claimed text say what the log's text says? Masks and marked cuts may stand for parts.

Every search is a `str.find` over folded text, each run of pieces tried at a bounded number of
places: the time is linear in the texts, whatever they hold.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from typing import Literal, NamedTuple

from .fold import Places, fold, without_halves
from .marks import BAD_NEWS, FAILING, LONGEST_MASKED, MARKS, MASKS, PLACEHOLDER

Way = Literal["same", "masked", "excerpt", "part", "silent", "other"]
"""`excerpt`: cuts are marked; `part`: whole words of the log's text, with no mark that it goes on;
`silent`: the claim says nothing that could be compared; `other`: it says something else."""

MOST_PIECES = 500
"""A text that is cut into more of them tells nothing."""
MOST_MASKS = 5000
TRIES = 64
"""Places at which one run of pieces is tried."""


class Piece(NamedTuple):
    """A literal piece; the mask before it, if one stands there; whether it was cut in a word."""

    text: str
    mask: str | None = None
    cut_start: bool = False
    cut_end: bool = False


Run = tuple[Piece, ...]
"""Pieces with nothing but masks between them."""


class Pattern(NamedTuple):
    """The runs between the marks of a cut; whether it starts and ends where the text does."""

    runs: tuple[Run, ...]
    whole: tuple[bool, bool]


def likeness(claim: str, log: str, places: Places) -> Way:
    """How the claimed text stands to the log's."""
    said, shown = fold(claim, places), fold(log, places)
    if said == shown:
        return "same"
    if not said:
        return "silent"
    if PLACEHOLDER.search(said):
        if not PLACEHOLDER.sub("", said).strip(" .,;:"):
            return "silent"
        if _holds([_run(said)], shown, whole=(True, True)):
            return "masked"
    if PLACEHOLDER.search(shown) and _holds([_run(shown)], said, whole=(True, True)):
        return "masked"
    return _excerpt(claim, shown, places)


def is_part(claim: str, log: str, places: Places = ()) -> bool:
    """Whether the claim is a piece of the log's text, or lines of it in order; no word cut."""
    shown = fold(log, places)
    if stands_in(claim, shown, places):
        return True
    if fold(claim.lstrip().partition("\n")[0], places) not in shown:
        return False
    return _excerpt("\n…\n".join(["", *claim.splitlines(), ""]), shown, places) == "excerpt"


def hides_a_failure(claim: str, log: str) -> bool:
    """Whether a piece of a text speaks of none of the failures that the whole speaks of."""
    return BAD_NEWS.search(log) is not None and BAD_NEWS.search(claim) is None


def stands_in(claim: str, shown: str, places: Places) -> bool:
    """Whether a claimed text stands anywhere in a text that is folded, no word or number cut."""
    return _excerpt(f"… {claim} …", shown, places) != "other"


def _excerpt(claim: str, shown: str, places: Places) -> Way:
    pattern = _pattern(claim, places)
    if pattern is None:
        return "other"
    if not pattern.runs:
        return "silent"
    return "excerpt" if _holds(pattern.runs, shown, pattern.whole) else "other"


@lru_cache(maxsize=4096)
def _pattern(claim: str, places: Places) -> Pattern | None:
    """The pieces between the marks; None without a mark, or with more than any honest excerpt."""
    parts = [without_halves(part) for part in MARKS.split(claim, MOST_PIECES)]
    if not 1 < len(parts) <= MOST_PIECES:
        return None
    runs, kept = [], []
    for number, part in enumerate(parts):
        folded = fold(part, places)
        if folded.strip(" .,;:"):
            start = number > 0 and not part[:1].isspace()
            end = number < len(parts) - 1 and not part[-1:].isspace()
            runs.append(_run(folded, start, end))
            kept.append(number)
    whole = bool(kept) and kept[0] == 0, bool(kept) and kept[-1] == len(parts) - 1
    return Pattern(tuple(runs), whole)


def forget() -> None:
    """Lets go of the texts that were kept."""
    fold.cache_clear()
    _pattern.cache_clear()
    _run.cache_clear()


@lru_cache(maxsize=4096)
def _run(text: str, cut_start: bool = False, cut_end: bool = False) -> Run:
    pieces, at, mask = [], 0, None
    for found in islice(PLACEHOLDER.finditer(text), MOST_MASKS):
        pieces.append(Piece(text[at : found.start()], mask))
        at, mask = found.end(), found[0]
    pieces.append(Piece(text[at:], mask))
    pieces[0] = pieces[0]._replace(cut_start=cut_start)
    pieces[-1] = pieces[-1]._replace(cut_end=cut_end)
    return tuple(pieces)


def _holds(runs: Sequence[Run], text: str, whole: tuple[bool, bool]) -> bool:
    """Whether the runs stand in the text in order; `whole`: from its start, to its end."""
    at = 0
    for number, run in enumerate(runs):
        first, last = number == 0 and whole[0], number == len(runs) - 1 and whole[1]
        end = _placed(run, text, at, first, last)
        if end < 0:
            return False
        at = end
    return True


def _placed(run: Run, text: str, at: int, first: bool, last: bool) -> int:
    """Where the run ends in the text, or -1."""
    lead = run[0].text
    if last and len(run) == 1:
        start = len(text) - len(lead)
        fits = start >= at and text.endswith(lead) and (not first or start == 0)
        return len(text) if fits and _is_apart(run[0], text, start) else -1
    start = at
    for _ in range(1 if first else TRIES):
        start = 0 if first else text.find(lead, start)
        if start < 0 or (first and not text.startswith(lead)):
            return -1
        if _is_apart(run[0], text, start):
            end = _followed(run[1:], text, start + len(lead), last)
            if end >= 0:
                return end
        start += 1
    return -1


def _followed(run: Run, text: str, at: int, last: bool) -> int:
    for number, piece in enumerate(run):
        ends = number == len(run) - 1
        if ends and last:
            start = len(text) - len(piece.text)
            if start < at or not text.endswith(piece.text):
                return -1
        elif not piece.text.strip():
            start = text.find(" ", at)
            start = len(text) if start < 0 else start
        else:
            start = text.find(piece.text, at, at + LONGEST_MASKED + len(piece.text))
        if start < 0 or not _may_hide(piece.mask or "", text[at:start]):
            return -1
        at = min(len(text), start + len(piece.text))
    return at


def _may_hide(mask: str, hidden: str) -> bool:
    """Whether a placeholder of this kind can stand for that text."""
    if len(hidden) > LONGEST_MASKED or FAILING.search(hidden):
        return False
    if hidden.startswith("-----BEGIN"):
        return True
    word = re.sub(r"[_-]?[0-9]*[\]>]$", "", mask[1:])
    most = next((most for words, most in MASKS if re.fullmatch(words, word)), 5)
    return len(hidden.split()) <= most


def _is_apart(piece: Piece, text: str, start: int) -> bool:
    """No number is cut in two, and no word that the claim does not cut itself."""
    end = start + len(piece.text)
    return not (
        _splits(text[start - 1 : start], piece.text[:1], piece.cut_start)
        or _splits(piece.text[-1:], text[end : end + 1], piece.cut_end)
    )


def _splits(left: str, right: str, allowed: bool) -> bool:
    if left.isdigit() and right.isdigit():
        return True
    return not allowed and left.isalnum() and right.isalnum()
