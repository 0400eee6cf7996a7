"""Short names that a program gave: ids of jobs, tasks and terminals, hashes of commits, figures."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from ahocorasick_rs import AhoCorasick

from forsy_retrace.patterns import later

from .distinctive import SHORTEST

IN_A_LINE = later(
    r"(?<![\w#%&=+-])(?<!\d\.)(?!(?:19|20)\d{6}\b)(?=[0-9a-f]*\d)"
    r"(?:(?=\d*[a-f])[0-9a-f]{7,11}|\d{8,11})(?![\w-]|\.\d)"
    r"|(?<=[a-z]=)\d{8,11}(?![\w.-])"
)
"""A short hash or a long figure that is a word of a shell line; a date, a colour, a part of a UUID
and a decimal are none."""
OF_A_PACKAGE = later(r"[\w\])](?:@|==)[~^v]?(\d{1,4}\.\d{1,4}\.\d{1,6})(?![\w.+-])")
"""The version that a word of a shell line names of a package, whole."""
LIKE_ONE = later(r"[\da-f]{7}")
"""What each of these holds, and hardly any other word."""
FIGURE = later(r"(?<![\w.#-])(?!(?:19|20)\d{6}\b)(?!\d*000\b)\d{8,11}(?![\w-]|\.\d)")
"""A long figure that is a word of a file's text; a date and a round figure are none."""
LONG = later(r"\d{8}")
OF_A_KEY = later(r"(?:\w*_)?(?:id|ID)|\w*(?<=[a-z])Id")
"""The name of an argument that holds an id."""
WHOLE = later(r"\w[\w-]{3,10}")
"""An id of fewer letters than other values need, of its own argument."""
ODD = later(r"(?=.{0,200}[\[\]{}()|?!*\\$^&=<>])(?=.{0,200}\w)\S{8,200}")
"""A word with signs that part other values, which nobody types by chance."""
LONGEST = 2000
"""Characters of a line that are read: what follows them is a script, or words."""


def idents_of(line: str | None, sent: Any) -> Iterator[str]:
    """The ids that a call names: in its shell line, and under names of arguments that say so."""
    if line is None and (words := _bare(sent)) is not None:
        yield from filter(ODD.fullmatch, (word.strip("'\"`") for word in words[:LONGEST].split()))
        line = words
    if line is not None:
        line = line[:LONGEST]
        yield from IN_A_LINE.findall(line) if LIKE_ONE.search(line) else ()
        yield from OF_A_PACKAGE.findall(line)
        return
    for name, value in sent.items() if isinstance(sent, dict) else ():
        if (
            isinstance(value, str | int)
            and not isinstance(value, bool)
            and OF_A_KEY.fullmatch(name)
        ):
            told = str(value)
            if len(told) < SHORTEST and WHOLE.fullmatch(told) and any(c.isdigit() for c in told):
                yield told


def figures_of(texts: Iterable[str], olds: Collection[str]) -> Iterator[str]:
    """The long figures that a call puts into a file, but for those of the texts it replaces."""
    likely = filter(LONG.search, texts)
    for figure in (figure for text in likely for figure in FIGURE.findall(text)):
        if not any(figure in old for old in olds):
            yield figure


def _bare(sent: Any) -> str | None:
    """The words of a call that is nothing but one line of them."""
    match sent:
        case str(words) | {"text": str(words)} if "\n" not in words.strip():
            return words
    return None


class Idents:
    """Finds the ids that some call names, in whatever shows them."""

    def __init__(self, wanted: Iterable[str]) -> None:
        self.names = sorted(wanted)
        self.automaton = AhoCorasick(self.names) if self.names else None

    def of(self, text: str) -> Iterator[str]:
        """Those that stand in a text as words, as often as they do."""
        if self.automaton is None:
            return
        passing = f"{text} "  # a string keeps the UTF-8 that the search makes of it
        for index, start, end in self.automaton.find_matches_as_indexes(passing, overlapping=True):
            around = text[max(0, start - 1) : start] + text[end : end + 1]
            name = self.names[index]
            is_part = "." in name and "." in text[max(0, start - 1) : start]
            if not is_part and not any(letter.isalnum() or letter == "_" for letter in around):
                yield name
