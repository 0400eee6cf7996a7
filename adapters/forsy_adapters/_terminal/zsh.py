"""Where zsh draws a prompt: it clears the screen from the left edge on, and writes it there.

Only behind the prompt does it turn bracketed paste on: what is typed begins at the cursor.
"""

import re

from forsy_retrace.sdk import later
from forsy_retrace.source import plain

DRAWN = later(r"\r(?:\x1b\[[0-9;]{0,20}m){1,8}\x1b\[J")
LOST_END = (
    r"(?:\x1b\[[0-9;]{0,20}m){1,8}[^\x00-\x20\x7f]{1,16}(?:\x1b\[[0-9;]{0,20}m){1,8} {1,1000}\r \r"
)
"""The sign that the last line had no end, which the prompt overwrites where it had one."""
MENDED = later(LOST_END)
BACK = "\r \r"
"""How it ends."""
WIDEST = 1500
"""Characters of it."""
CLEARED = "\x1b[K"
"""What zsh clears behind the prompt, before it draws a clock at the right edge."""
LONGEST = 1 << 13
"""Characters of a prompt, and of what is printed before it is drawn."""


def has_lost_end(text: str) -> bool:
    """Whether the sign of a lost line end may stand in a text."""
    return BACK in text


def printed_until(text: str, place: int) -> int:
    """Where the output ends before a place, without the sign that its last line had no end."""
    if not text.endswith(BACK, 0, place):
        return place
    mended = _last(MENDED, text, place - WIDEST, place)
    return mended.start() if mended and mended.end() == place else place


def drawn(text: str, first: int, last: int) -> tuple[int, int] | None:
    """Where the output ends, and where the last prompt before a place begins; None without one."""
    begun = _last(DRAWN, text, first, last)
    if begun is None:
        return None
    prompt, cleared, _ = text[begun.end() : last].partition(CLEARED)
    if not cleared or not plain(prompt).strip():
        return None
    ended = _last(MENDED, text, first, begun.start())
    return (ended or begun).start(), begun.end()


def _last(pattern: re.Pattern[str], text: str, first: int, last: int) -> re.Match[str] | None:
    found = list(pattern.finditer(text, max(first, last - LONGEST), last))
    return found[-1] if found else None
