"""What a call's argument came from."""

from typing import NamedTuple


class Source(NamedTuple):
    """An earlier step that showed a value, by which rule, and how surely it was the source."""

    step: int
    value: str
    rule: str
    confidence: float
    is_use: bool = True
    """False of an edit's echo of its own lines, which a later edit mends: nothing came of them."""
