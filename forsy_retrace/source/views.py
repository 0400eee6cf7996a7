"""Views of a text, by name: a part of it, what a terminal shows of it, a code undone.

A view takes a text and figures, and always gives a text.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import unquote

from forsy_retrace.patterns import later

from .plain import plain
from .screen import screen

ESCAPED = later(r"\\(?:\\|x([0-9a-fA-F]{2}))")


def chars(text: str, start: int, end: int) -> str:
    """The characters of a range."""
    return text[start:end]


def unescaped(text: str) -> str:
    """A command as Visual Studio Code's mark gives it: `\\\\` and `\\xHH` undone, in one pass."""
    return ESCAPED.sub(lambda found: chr(int(found[1], 16)) if found[1] else "\\", text)


class View(NamedTuple):
    """What makes a text of a text, and how many figures it may be given."""

    look: Callable[..., str]
    figures: range


VIEWS: Mapping[str, View] = {
    "chars": View(chars, range(2, 3)),
    "plain": View(plain, range(2)),
    "screen": View(screen, range(3)),
    "unescaped": View(unescaped, range(1)),
    "unquoted": View(unquote, range(1)),
}
"""Behind the name of a form, each with its figures: `chars:12:57`, `screen:80:0`."""
