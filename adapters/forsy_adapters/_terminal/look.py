"""Whether some text is what a terminal was sent, for telling what a log is."""

from .marks import MARK
from .paste import has_toggles
from .prompts import by_prompts
from .tape import Widths


def is_stream(text: str) -> bool:
    """Whether a shell's own signs stand in it: paste toggles in pairs, or marks of output."""
    return has_toggles(text) or any(mark[3] is not None or mark[2] for mark in MARK.finditer(text))


def has_prompts(text: str) -> bool:
    """Whether lines begin with a prompt that returns."""
    return bool(by_prompts(text, Widths()))
