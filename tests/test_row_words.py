"""What a pattern finds holds one of its row's words: without them it is not searched for."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forsy_retrace.builder.alternatives import ROWS
from forsy_retrace.builder.outputs.runners import RUNNERS

Gate = tuple[re.Pattern[str], tuple[str, ...]]

GATES: dict[str, Gate] = {
    f"{row.rule}-{name}": (pattern, row.words)
    for row in RUNNERS
    for name, pattern in (("failed", row.failed), ("passed", row.passed))
    if pattern is not None
}
LETTERS = st.characters(max_codepoint=126)
SMALL: dict[str, Gate] = {row.rule: (row.pattern, row.words) for row in ROWS}
"""These look for their words in the text's small letters."""


@pytest.mark.slow
@pytest.mark.parametrize("rule", [*GATES, *SMALL])
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_what_a_pattern_finds_holds_one_of_the_words(rule: str, data: st.DataObject) -> None:
    pattern, words = (GATES | SMALL)[rule]
    text = data.draw(
        st.from_regex(
            re.compile(pattern.pattern, pattern.flags), alphabet=LETTERS if rule in SMALL else None
        )
    )
    assert pattern.search(text)
    assert any(word in (text.lower() if rule in SMALL else text) for word in words)
