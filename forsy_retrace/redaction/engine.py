"""Finds many literals in bytes at once, and compiles a user's patterns where that is safe."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

Hit = tuple[int, int, int]
"""Index of the literal, start, end."""


def optional(module: str) -> Any:
    """The module, or None where its wheel is missing."""
    try:
        return importlib.import_module(module)
    except ImportError:
        return None


class Literals:
    """All places where one of the literals stands, overlapping ones too."""

    def __init__(self, literals: Sequence[bytes], *, plain: bool = False) -> None:
        corasick = None if plain else optional("ahocorasick_rs")
        self.automaton: Any = corasick.BytesAhoCorasick(literals) if corasick else None
        if corasick:
            return
        self.inside = _prefixes(literals)
        self.pattern = re.compile(b"(?=(" + _trie(self.inside) + b"))") if literals else None

    def find(self, data: bytes) -> list[Hit]:
        if self.automaton is None:
            return list(self._find_with_re(data))
        found: list[Hit] = self.automaton.find_matches_as_indexes(data, overlapping=True)
        return found

    def _find_with_re(self, data: bytes) -> Iterator[Hit]:
        if self.pattern is None:
            return
        for match in self.pattern.finditer(data):
            for index, length in self.inside[match[1]]:
                yield index, match.start(), match.start() + length


def _prefixes(literals: Sequence[bytes]) -> dict[bytes, list[tuple[int, int]]]:
    """For each literal, those it begins with, itself among them: index and length."""
    places: dict[bytes, list[int]] = {}
    for index, literal in enumerate(literals):
        places.setdefault(literal, []).append(index)
    return {
        word: [
            (index, length)
            for length in range(1, len(word) + 1)
            for index in places.get(word[:length], ())
        ]
        for word in places
    }


def _trie(words: dict[bytes, Any]) -> bytes:
    """One expression that matches the longest of the words, sharing what they share."""
    ends = b"" in words
    by_first: dict[int, dict[bytes, None]] = {}
    for word in words:
        if word:
            by_first.setdefault(word[0], {})[word[1:]] = None
    if not by_first:
        return b""
    branches = [re.escape(bytes([first])) + _trie(rest) for first, rest in by_first.items()]
    return b"(?:" + b"|".join(branches) + b")" + (b"?" if ends else b"")


def compile_users(patterns: Sequence[str]) -> list[Any]:
    """The user's patterns in re2; one that re2 refuses is named by its place, never shown."""
    if not patterns:
        return []
    re2 = optional("re2")
    if re2 is None:
        raise ValueError("patterns of your own need the google-re2 package; install it")
    options = re2.Options()
    options.log_errors = False  # re2 would print the pattern, which may be a secret itself
    options.max_mem = 64 << 20
    compiled = []
    for index, pattern in enumerate(patterns, 1):
        try:
            compiled.append(re2.compile(pattern, options))
        except (re2.error, UnicodeEncodeError):
            raise ValueError(f"pattern {index} is refused by re2; write it more simply") from None
    return compiled
