"""The values of one block of a message, and where they stand."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Attachment, Origin
from forsy_retrace.sdk import media_of, text_of

from .lines import Json
from .places import deeper


def held_at(here: Origin, block: Json, key: str) -> Origin:
    """The place of a block's own value; the block itself where it has none."""
    return deeper(here, key) if key in block else here


def shown(block: Json) -> str | None:
    """What a result shows; None where it has no content."""
    content = block.get("content")
    return None if content is None else text_of(content)


def is_picture(block: Any) -> bool:
    """Whether a block is a picture or a document."""
    return isinstance(block, dict) and block.get("type") in ("image", "document")


def pictures_in(blocks: Any, base: str) -> Iterator[Attachment]:
    """The pictures and documents among the blocks, below a pointer."""
    for index, block in enumerate(blocks if isinstance(blocks, list) else ()):
        if is_picture(block):
            media, size = media_of(block)
            yield Attachment(media, size, f"{base}/{index}/source/data")
