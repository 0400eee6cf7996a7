"""A command line as a terminal showed it when Enter was pressed: edits, recalls, wraps resolved.

The terminal is pyte's (the extra `recordings`). It sees only characters and the sequences that
move and erase, and never more than a command line needs, so that no recording can stall it.
"""

from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING
from unicodedata import combining

from forsy_retrace.errors import RetraceError

from .plain import tokens

if TYPE_CHECKING:
    from pyte.screens import Cursor

LINES = 100
"""Rows of the screen: no command line is longer."""
WIDEST = 1000
LONGEST = 1 << 16
"""Characters that are shown of what was sent while a command was typed; more is no command."""
MOST_MARKS = 8
"""Combining marks on one character; each costs as much as all before it."""
KEPT = ("\r", "\b", "\t", "\x1b7", "\x1b8")
MOVES = {**dict.fromkeys("ABCDGJKLMPX@d`", 1), "H": 2, "f": 2}
"""Sequences that move, erase or shift, and how many figures each takes; terminals ignore more."""
GAP = "  "
"""What parts the command from a prompt at the right edge."""


@cache
def has_screen() -> bool:
    """Whether a terminal emulator is installed."""
    return find_spec("pyte") is not None


def screen(text: str, width: int = 80, lead: int = 0) -> str:
    """The rows up to the cursor, wrapped ones joined, behind the first `lead` characters' place.

    Empty where the text is no command line. Raises RetraceError where no emulator is installed.
    """
    if not has_screen():
        raise RetraceError("a terminal is needed: pip install 'forsy-retrace[recordings]'")
    if len(text) > LONGEST or text.count("\n") >= LINES:
        return ""
    from .emulator import Terminal

    terminal = Terminal(min(max(width, 2), WIDEST), LINES)
    terminal.show("".join(_harmless(text[:lead])))
    start = terminal.cursor
    column, row = start.x, start.y
    terminal.show("".join(_harmless(text[lead:])).rstrip("\r\n"))
    return _shown(terminal.rows(), row, column, terminal.cursor, terminal.columns)


def _harmless(text: str) -> Iterator[str]:
    """What moves, erases and writes; what colours, asks or names is left out."""
    for token in tokens(text):
        match token.group(1, 2, 3):
            case str(line), _, _:
                yield _visible(line) + token[0][len(line) :]
            case _, str(parameters), str(final):
                figures = parameters.split(";")[: MOVES.get(final, 0)]
                if figures and all(one.isdigit() or not one for one in figures):
                    yield f"\x1b[{';'.join(one[:9] for one in figures)}{final}"
            case _ if token[0] in KEPT:
                yield token[0]
            case _ if token[0] >= " " and not "\x7f" <= token[0] <= "\x9f":
                yield _visible(token[0])


def _visible(text: str) -> str:
    """Characters that have a place, and a few marks on each; pyte stops at any other."""
    if text.isascii():
        return text
    from wcwidth import wcwidth

    marks, kept = 0, []
    for character in text:
        marks = 0 if wcwidth(character) > 0 else marks + 1
        if not marks or (combining(character) and marks <= MOST_MARKS):
            kept.append(character)
    return "".join(kept)


def _shown(rows: list[list[str]], row: int, column: int, cursor: "Cursor", width: int) -> str:
    """The text from a place to the cursor; what follows it at once was typed before it."""
    parts: list[str] = []
    for number in range(row, min(cursor.y, len(rows) - 1) + 1):
        cells = rows[number]
        first = column if number == row else 0
        shown = "".join(cells[first:])
        if number == cursor.y:
            behind = "".join(cells[cursor.x :])
            before = "".join(cells[first : cursor.x])
            shown = before if behind.startswith(GAP) or not behind.strip() else before + behind
        below = rows[number + 1][:2] if number + 1 < len(rows) else []
        if below[1:] == [""] and cells[width - 1 :] in ([], [" "]) and len(cells) >= width - 1:
            parts.append("".join(cells[first : width - 1]))  # a wide character did not fit
        else:
            parts.append(shown if len(cells) >= width else shown.rstrip(" ") + "\n")
    return "".join(parts).rstrip("\n")
