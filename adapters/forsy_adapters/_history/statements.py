"""Statements of several lines, in histories that keep a line an input.

Python and node ask for more while a bracket, a text or a block is open, sqlite3 until a semicolon.
A statement that is given up with ^C leaves its lines behind: where no end is found, each line is an
input of its own.
"""

from collections.abc import Callable, Iterator, Sequence
from re import IGNORECASE
from typing import Protocol

from forsy_retrace.sdk import later
from forsy_retrace.source import Line

LONGEST = 60
"""Lines of a statement that are waited for."""


class Statement(Protocol):
    """The lines of an input so far."""

    @property
    def is_open(self) -> bool:
        """Whether the program asks for more before it runs them."""
        ...

    def takes(self, line: str) -> bool:
        """Whether the next line is more of them; it is taken up then."""
        ...


def statements(
    lines: Sequence[Line], begin: Callable[[str], Statement]
) -> Iterator[Sequence[Line]]:
    """The lines of each statement, in order; blank ones only inside of one.

    The prompt of Python 3.13 ends each line of a statement but the last with a carriage return.
    """
    carried = any(not line.data.endswith(b"\r") for line in lines if line.data.strip())
    at = 0
    while at < len(lines):
        is_carried = carried and lines[at].data.endswith(b"\r")
        end = _uncarried(lines, at) if is_carried else _end(lines, at, begin(_text(lines[at])))
        if any(line.data.strip() for line in lines[at:end]):
            yield lines[at:end]
        at = end


def _text(line: Line) -> str:
    return str(line.value).removesuffix("\r")


def _uncarried(lines: Sequence[Line], at: int) -> int:
    while at < len(lines) and lines[at].data.endswith(b"\r"):
        at += 1
    return min(at + 1, len(lines))


def _end(lines: Sequence[Line], at: int, statement: Statement) -> int:
    """The first line behind the statement that begins here."""
    end, last = at + 1, min(len(lines), at + LONGEST)
    while end < last and statement.takes(_text(lines[end])):
        end += 1
    return at + 1 if statement.is_open else end


TOKENS = later(
    r"(?P<text>'''|\"\"\"|`)|'(?:[^'\\]|\\.)*+'?|\"(?:[^\"\\]|\\.)*+\"?|(?P<note>#|//)"
    r"|(?P<open>[(\[{])|(?P<close>[)\]}])"
)


class _Brackets:
    """What of brackets and texts of several lines is open."""

    def __init__(self, note: str, texts: tuple[str, ...]) -> None:
        self.note, self.texts = note, texts
        self.depth, self.text = 0, ""

    @property
    def is_open(self) -> bool:
        return self.depth > 0 or self.text != ""

    def read(self, line: str) -> None:
        at = 0
        while True:
            if self.text:
                closed = line.find(self.text, at)
                if closed < 0:
                    return
                at, self.text = closed + len(self.text), ""
            found = TOKENS.search(line, at)
            if found is None or found["note"] == self.note:
                return
            at = found.end()
            self.text = found["text"] if found["text"] in self.texts else ""
            self.depth += bool(found["open"]) - bool(found["close"])


BLOCK = later(r"(?:@|(?:async\s+)?(?:def|class|for|while|if|with|try|match)\b)")
CLAUSE = later(r"(?:elif|else|except|finally)\b.*:")


class Python:
    """Brackets take any line; a block takes what is indented, and clauses of its own."""

    def __init__(self, first: str) -> None:
        self.brackets = _Brackets("#", ("'''", '"""'))
        self.begins_block = BLOCK.match(first) is not None
        self.is_block = False
        self._take(first)

    def _take(self, line: str) -> None:
        self.last = line
        self.brackets.read(line)
        ends = line.partition("#")[0].rstrip().endswith(":")
        self.is_block = self.is_block or (self.begins_block and ends)

    @property
    def is_open(self) -> bool:
        return self.brackets.is_open or self.last.endswith("\\")

    def takes(self, line: str) -> bool:
        is_more = self.is_open or (self.begins_block and self.last[:1] == "@")
        if self.is_block and line.strip():
            is_more = is_more or line[:1] in " \t" or CLAUSE.match(line) is not None
        if is_more:
            self._take(line)
        return is_more


class Node:
    """Brackets and templates take any line."""

    def __init__(self, first: str) -> None:
        self.brackets = _Brackets("//", ("`",))
        self.brackets.read(first)

    @property
    def is_open(self) -> bool:
        return self.brackets.is_open

    def takes(self, line: str) -> bool:
        is_more = self.is_open
        if is_more:
            self.brackets.read(line)
        return is_more


ENDS = later(r";\s*(?:--.*)?\Z")
COMMAND = later(r"\s*(?:[.#]|(?:exit|quit|help)\b)", IGNORECASE)
"""What no statement begins with, nor goes on with."""
BEGINS = later(
    r"\s*(?:insert|update|delete|replace|create|drop|alter|pragma|begin|commit|rollback|explain"
    r"|attach|detach|vacuum|analyze|reindex)\b",
    IGNORECASE,
)
ASKS = later(r"\s*(?:select|with|values)\b", IGNORECASE)
HOLDS = later(r"\s*(?:insert|replace|create|explain|with)\b", IGNORECASE)
LEADS = later(r"(?:\(|\b(?:union|all|except|intersect|as))\s*\Z", IGNORECASE)
"""What a `select` may stand behind."""


class Sqlite:
    """A statement ends with a semicolon; one that another begins behind was given up."""

    def __init__(self, first: str) -> None:
        self.last = first
        self.is_command = COMMAND.match(first) is not None
        self.holds = HOLDS.match(first) is not None

    @property
    def is_open(self) -> bool:
        return not self.is_command and ENDS.search(self.last) is None

    def takes(self, line: str) -> bool:
        asks = ASKS.match(line) and not (self.holds or LEADS.search(self.last))
        is_more = self.is_open and not (asks or COMMAND.match(line) or BEGINS.match(line))
        if is_more:
            self.last = line
        return is_more
