"""What was printed on a terminal, line by line, without its control sequences.

What overwrote itself on a line (a progress bar, an edited command) stands as it was left; what a
full-screen program drew on the alternate screen is left out. One pass, in time linear in the text.
"""

import re
from collections.abc import Callable, Iterator

from forsy_retrace.patterns import later

TOKEN = later(
    r"([^\x00-\x1f\x7f-\x9f]*+)\r?(?:\n|\Z)"  # the rest of a line that nothing edits
    r"|\x1b\[([0-?]*)[ -/]*([@-~])"  # a control sequence, its parameters and its final letter
    r"|\x1b[\]PX^_][^\x07\x18\x1a\x1b]*(?:\x07|\x1b\\)?"  # a title, a mark, a string for the device
    r"|\x1bk[^\x00-\x1f\x7f]{0,400}\x1b\\"  # the name of a window, as screen and tmux take it
    r"|\x1b[ -/]*[0-Z\\`-~]?|\x1b\["
    r"|[\x00-\x1f\x7f-\x9f]"
    r"|[^\x00-\x1f\x7f-\x9f]+"
)
ALTERNATE = ("?47", "?1047", "?1049")
FARTHEST = 1000
"""Columns that a move may reach where the width is not known."""
LONGEST = 1 << 13
"""Characters of a line that can still be overwritten; those of a longer one stand as they are."""


def plain(text: str, width: int = 0) -> str:
    """The lines that were left, joined by `\\n`; `width` in columns, 0 where it is not known."""
    line = _Line(width, len(text) + LONGEST)
    done: list[str] = []
    hidden = False
    for token in tokens(text):
        final = token[3]
        if final in ("h", "l") and token[2].split(";")[0] in ALTERNATE:
            hidden = final == "h"
        elif hidden:
            continue
        elif token[1] is not None:
            done.append(line.ended(token[1]))
        elif final is not None:
            if final in "Hf" and line.cells:
                done.append(line.ended())
            line.control(token[2], final)
        else:
            line.put(token[0])
    return "\n".join([*done, line.ended()]).rstrip("\n")


class _Line:
    """One logical line; where the width is known, its rows stand one behind the other."""

    def __init__(self, width: int, padding: int) -> None:
        self.width = width
        self.padding = padding
        """Blanks that moves of the cursor may still add: a short one can ask for thousands."""
        self.head: list[str] = []
        self.cells: list[str] = []
        self.at = 0
        self.full = False
        """The last column was just written: the cursor waits there."""
        self.edited = False
        """Written over: blanks at its end may be what wiped something out."""

    def ended(self, rest: str = "") -> str:
        """The line as it was left, once its rest was written; the next one begins."""
        if not self.cells and not self.head and not self.at:
            self.full = self.edited = False
            return rest
        if rest:
            self.put(rest)
        shown = "".join([*self.head, *self.cells])
        shown = shown.rstrip(" ") if self.edited else shown
        self.head, self.cells, self.at = [], [], 0
        self.full = self.edited = False
        return shown

    def put(self, token: str) -> None:
        """A run of characters, or one control character."""
        if token[0] == "\r":
            self.at = self._row()[0]
        elif token[0] == "\b":
            self.at = max(self.at - 1, 0)
        elif (token[0] < " " and token[0] != "\t") or "\x7f" <= token[0] <= "\x9f":
            return
        else:
            self._reach(self.at)
            self.cells[self.at : self.at + len(token)] = token
            self.at += len(token)
            if self.at > LONGEST:
                self.head.append("".join(self.cells))
                self.cells, self.at = [], 0
        self.edited = self.edited or token[0] in "\r\b"
        self.full = token[0] >= " " and self.width > 0 and self.at % self.width == 0

    def control(self, parameters: str, final: str) -> None:
        act = CONTROLS.get(final)
        if act is None:
            return
        figure = parameters.split(";")[0][:4]
        act(self, int(figure) if figure.isascii() and figure.isdigit() else 0)
        self.at = min(max(self.at, 0), LONGEST)
        del self.cells[LONGEST:]
        self.full = False

    def _row(self) -> tuple[int, int]:
        """Where the row of the cursor begins and ends."""
        if not self.width:
            return 0, max(len(self.cells), self.at)
        start = (self.at - self.full) // self.width * self.width
        return start, min(start + self.width, max(len(self.cells), self.at))

    def _reach(self, place: int) -> None:
        missing = max(place - len(self.cells), 0)
        if missing > self.padding:
            self.at = len(self.cells)
            return
        self.padding -= missing
        self.cells.extend(" " * missing)

    def up(self, count: int) -> None:
        self.down(-max(count, 1))

    def down(self, count: int) -> None:
        place = self.at + (count or 1) * self.width
        if 0 <= place <= len(self.cells) + self.width:
            self.at = place

    def forward(self, count: int) -> None:
        self.column(self.at - self._row()[0] + max(count, 1) + 1)

    def back(self, count: int) -> None:
        self.at = max(self.at - max(count, 1), self._row()[0])

    def column(self, count: int) -> None:
        last = self.width or max(FARTHEST, len(self.cells) + 1)
        self.at = self._row()[0] + min(max(count, 1), last) - 1

    def place(self, _: int) -> None:
        self.at = 0

    def erase_row(self, kind: int) -> None:
        start, end = self._row()
        first, last = {0: (self.at, end), 1: (start, self.at + 1)}.get(kind, (start, end))
        self._blank(first, last)

    def erase_rest(self, kind: int) -> None:
        if kind == 0:
            del self.cells[self.at :]
        else:
            self.cells, self.at = [], 0

    def delete(self, count: int) -> None:
        _, end = self._row()
        gone = min(max(count, 1), max(end - self.at, 0))
        if end < len(self.cells):
            self.cells[end:end] = " " * gone
        del self.cells[self.at : self.at + gone]

    def insert(self, count: int) -> None:
        _, end = self._row()
        self._reach(self.at)
        new = min(max(count, 1), FARTHEST, self.padding)
        self.padding -= new
        if end < len(self.cells):
            new = min(new, end - self.at)
            del self.cells[end - new : end]
        self.cells[self.at : self.at] = " " * new

    def erase(self, count: int) -> None:
        self._blank(self.at, min(self.at + max(count, 1), self._row()[1]))

    def _blank(self, first: int, last: int) -> None:
        if last >= len(self.cells):
            del self.cells[first:]
        else:
            self.cells[first:last] = " " * (last - first)


CONTROLS: dict[str, Callable[[_Line, int], None]] = {
    "A": _Line.up,
    "B": _Line.down,
    "C": _Line.forward,
    "D": _Line.back,
    "G": _Line.column,
    "H": _Line.place,
    "f": _Line.place,
    "J": _Line.erase_rest,
    "K": _Line.erase_row,
    "P": _Line.delete,
    "X": _Line.erase,
    "@": _Line.insert,
}


def tokens(text: str) -> Iterator[re.Match[str]]:
    """The control sequences of a text, and the runs between them."""
    return TOKEN.finditer(text)
