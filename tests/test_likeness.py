"""Two texts are alike where difflib's own ratio says so."""

from difflib import SequenceMatcher

from hypothesis import given
from hypothesis import strategies as st

from forsy_retrace.builder.again.likeness import _in_order, are_alike

SHORT = st.text("ab cd", max_size=40)


@given(SHORT, SHORT, st.sampled_from([0.55, 0.6, 0.7, 0.8]))
def test_texts_are_alike_where_the_ratio_reaches_the_floor(a: str, b: str, floor: float) -> None:
    ratio = SequenceMatcher(None, a, b, autojunk=False).ratio()
    assert are_alike(a, b, floor) == (ratio >= floor)


@given(SHORT, SHORT)
def test_what_stands_in_both_in_order_is_what_the_classic_table_says(a: str, b: str) -> None:
    row = [0] * (len(b) + 1)
    for x in a:
        above = row[:]
        for at, y in enumerate(b, 1):
            row[at] = above[at - 1] + 1 if x == y else max(row[at - 1], above[at])
    assert _in_order(a, b) == row[-1]
    blocks = SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks()
    assert sum(block.size for block in blocks) <= row[-1]


def test_long_texts_are_alike_by_their_words() -> None:
    text = "alpha beta gamma delta " * 100
    assert are_alike(text, text.replace("delta", "epsilon"), 0.7)
    assert not are_alike(text, "omega " * 400, 0.1)
