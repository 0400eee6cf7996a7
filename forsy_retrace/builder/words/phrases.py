"""The phrases by which people judge, permit, correct and explain: where a message holds them."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from ahocorasick_rs import AhoCorasick

from forsy_retrace.tables import table

Span = tuple[int, int]
Reads = Callable[[str, int, int], str | None]


class Phrase(NamedTuple):
    """Words that say one kind of thing."""

    kind: str
    words: str
    alone: bool = False
    """Whether a mark or the end must follow."""

    @property
    def is_dense(self) -> bool:
        """Whether its script sets no spaces, so that it may stand within a run of letters."""
        return ord(self.words[0]) >= 0x2E80

    def stands(self, text: str, start: int, end: int) -> bool:
        """Whether it is said at this place, and is no part of another word."""
        after = text[end : end + 1]
        # A yes or no of one letter is one only by itself: `对` agrees, `对这个文件` does not.
        alone = self.alone or (self.is_dense and self.kind in ("yes", "no"))
        if alone and after and after not in PAUSES and not (self.is_dense and after.isspace()):
            return False
        return self.is_dense or not (_is_letter(text[start - 1 : start]) or _is_letter(after))


PAUSES = "，,。.!！、~～\n\ufe0f🏻🏼🏽🏾🏿"
"""What may stand behind words that are said alone: marks, and the shades of a sign."""


def _is_letter(character: str) -> bool:
    return character.isalnum() or character == "_"


class Phrases:
    """The phrases of all languages, found in one reading of a message."""

    def __init__(self, phrases: list[Phrase]) -> None:
        self.phrases = phrases
        self.automaton = AhoCorasick([phrase.words for phrase in phrases])

    def first(self, text: str, reads: Reads = lambda kind, start, end: kind) -> dict[str, Span]:
        """Where the first phrase of each kind stands; the longest of those that begin there.

        `reads` says as which kind a phrase reads where it stands; None for one that is not meant.
        """
        low = text.lower()
        if len(low) != len(text):
            low = "".join(map(_lower, text))
        found: dict[str, Span] = {}
        for index, start, end in self.automaton.find_matches_as_indexes(low, overlapping=True):
            phrase = self.phrases[index]
            if not phrase.stands(text, start, end):
                continue
            kind = reads(phrase.kind, start, end)
            held = found.get(kind) if kind is not None else None
            if kind is not None and (held is None or (start, -end) < (held[0], -held[1])):
                found[kind] = (start, end)
        return found


def _lower(character: str) -> str:
    """In lower case, where that is one character too."""
    low = character.lower()
    return low if len(low) == 1 else character


ALONE = "_alone"


@cache
def phrases() -> Phrases:
    """The table of phrases, read when the first message is."""
    return Phrases(
        [
            Phrase(kind.removesuffix(ALONE), words, kind.endswith(ALONE))
            for language in table("data/feedback.toml").values()
            for kind, listed in language.items()
            for words in listed
        ]
    )
