"""A pattern that is compiled later is the pattern itself in all it does."""

import re

import pytest

from forsy_retrace.patterns import METHODS, later


def test_it_finds_what_the_pattern_finds() -> None:
    ours, theirs = later(rb"(a+)\d", re.I), re.compile(rb"(a+)\d", re.I)
    text = b"xA1 aa2 b3"
    assert [m.span() for m in ours.finditer(text)] == [m.span() for m in theirs.finditer(text)]
    assert ours.findall(text) == theirs.findall(text)
    assert ours.sub(b"-", text) == theirs.sub(b"-", text)
    assert ours.split(text) == theirs.split(text)
    assert (ours.pattern, ours.groups) == (theirs.pattern, theirs.groups)


def test_it_is_compiled_at_its_first_use() -> None:
    wrong = later("(")
    with pytest.raises(re.error):
        wrong.search("")


def test_every_method_is_the_pattern_s_own() -> None:
    ours = later("a")
    assert all(callable(getattr(ours, method)) for method in METHODS)
