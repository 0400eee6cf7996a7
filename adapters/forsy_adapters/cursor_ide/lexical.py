"""What a user typed: as text, or in the form of the editor's field (Lexical)."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.sdk import pointer, words

from .held import Node, opened

MOST_DEEP = 40
MOST = 10_000
"""How deep such a form is read, and how many of its parts."""


def typed_in(node: Node) -> tuple[str, tuple[str, ...]]:
    """The words of a message, and where they stand below it."""
    text, rich = words(node.value.get("text")), words(node.value.get("richText"))
    if text or not rich:
        return text, ("/text",) if text else ()
    match opened(rich):
        case {"root": {"children": [*lines]}}:
            base = pointer("richText", "root", "children")
            found = [list(_texts(one, f"{base}/{at}", 0)) for at, one in enumerate(lines[:MOST])]
            shown = "\n".join("".join(text for text, _ in line) for line in found)
            places = tuple(path for line in found for _, path in line)
            return (shown if len(places) > 1 else shown.strip("\n")), places
        case None:
            return rich, ("/richText",)
    return "", ()


def _texts(part: Any, path: str, deep: int) -> Iterator[tuple[str, str]]:
    """The texts of a part and of those in it."""
    match part:
        case {"text": str(text)}:
            yield text, f"{path}/text"
        case {"children": [*parts]} if deep < MOST_DEEP:
            for at, one in enumerate(parts):
                yield from _texts(one, f"{path}/children/{at}", deep + 1)
