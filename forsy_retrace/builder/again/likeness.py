"""Are two texts nearly the same? Judged no further than needed: difflib is slow on long ones."""

from difflib import SequenceMatcher


def are_alike(a: str, b: str, floor: float) -> bool:
    """Whether two texts are at least so alike, from 0 to 1; long ones by their words."""
    if len(a) + len(b) > 4000:
        x, y = set(a.split()), set(b.split())
        return bool(x or y) and 2 * len(x & y) / (len(x) + len(y)) >= floor
    if a == b or 2 * min(len(a), len(b)) / (len(a) + len(b)) < floor:
        return a == b
    if 2 * _in_order(a, b) / (len(a) + len(b)) < floor:
        return False
    return _reaches(SequenceMatcher(None, a, b, autojunk=False), len(a), len(b), floor)


def _in_order(a: str, b: str) -> int:
    """Letters of the longest text whose letters stand in both in its order: no more can match.

    Each row of the classic table is one integer (Hyyrö's bit vectors), which is a thirtieth of
    difflib's work.
    """
    places: dict[str, int] = {}
    for at, letter in enumerate(a):
        places[letter] = places.get(letter, 0) | 1 << at
    every = row = (1 << len(a)) - 1
    for letter in b:
        met = row & places.get(letter, 0)
        row = (row + met | row - met) & every
    return len(a) - row.bit_count()


def _reaches(match: SequenceMatcher[str], a: int, b: int, floor: float) -> bool:
    """Whether difflib's `ratio` is at least so much, told as soon as it is sure."""
    same, held, rest = 0, [(0, a, 0, b)], min(a, b)
    while held and 2 * same / (a + b) < floor <= 2 * (same + rest) / (a + b):
        low, high, from_, to = held.pop()
        rest -= min(high - low, to - from_)
        i, j, size = match.find_longest_match(low, high, from_, to)
        if size:
            same += size
            held += [(low, i, from_, j), (i + size, high, j + size, to)]
            rest += min(i - low, j - from_) + min(high - i - size, to - j - size)
    return 2 * same / (a + b) >= floor
