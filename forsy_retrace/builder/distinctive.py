"""Which values of a text are distinctive: long tokens, their parts, and names that somebody coined."""

import re
from collections.abc import Iterator

SHORTEST = 12
TOKEN = re.compile(rf"[\w./@:~#%+-]{{{SHORTEST},}}", re.A)
WORD = re.compile(rf"[A-Za-z_$][\w$]{{{SHORTEST - 1},}}")


PLAIN = re.compile(r"[.]{0,3}[A-Za-z]+(?:['-][A-Za-z]+)*")
"""A word of a language, or several joined by hyphens."""


def values(text: str) -> Iterator[str]:
    """The distinctive values of a text, in order; one that stands often comes often."""
    for token in TOKEN.findall(text):
        yield from parts(token)


def parts(token: str) -> Iterator[str]:
    """The values in one token."""
    value = token.rstrip(".:-#/+%").lstrip(":-#+%").removeprefix("./")
    if len(value) < SHORTEST:
        return
    if not PLAIN.fullmatch(value) or _is_identifier(value):
        yield value
    if "/" in value:
        name = value.rsplit("/", 1)[-1].split(":")[0]
        if len(name) >= SHORTEST:
            yield name
    for word in WORD.findall(value):
        if word != value and _is_identifier(word):
            yield word


def is_camel(word: str) -> bool:
    """Mixed case beyond a capital at the start: `camelCase`, `PascalCase`."""
    return word[1:] != word[1:].lower() and word != word.upper()


def _is_identifier(word: str) -> bool:
    """A name that somebody coined: mixed case, an underscore or a digit."""
    return "_" in word or any(c.isdigit() for c in word) or is_camel(word)
