"""A call as a log tells of it, wherever each part stands."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from forsy_retrace.events import Attachment
from forsy_retrace.sdk import base64_size, compact, pointer

Json = dict[str, Any]

RENAMED = {"absolute_path": "file_path", "dir_path": "path"}
"""Arguments that other harnesses' tools call otherwise."""


class Told(NamedTuple):
    """A call's tool, arguments, status, what went back to the model, and what the client showed."""

    tool: str
    sent: Any
    status: Any
    status_at: str
    answer: Json
    answer_at: str
    display: Any
    display_at: str

    def output(self) -> tuple[str | None, str]:
        """The text that the model got back, and where it stands."""
        for key in ("output", "error"):
            if isinstance(self.answer.get(key), str):
                return self.answer[key], f"{self.answer_at}/{key}"
        return (compact(self.answer), self.answer_at) if self.answer else (None, "")


def renamed(sent: Json) -> Json:
    """Arguments under the names and counts of other harnesses: lines from 1, a folder is a path."""
    found = {RENAMED.get(key, key): value for key, value in sent.items()}
    match sent:
        case {"start_line": int(first), "end_line": int(last)}:
            found |= {"offset": first, "limit": last - first + 1}
        case {"start_line": int(first)}:
            found["offset"] = first
        case {"offset": int(skipped)}:
            found["offset"] = skipped + 1
    return found


def parts_of(content: Any) -> Iterator[tuple[str, Any]]:
    """The parts of a content, and where they stand below it; a text is one of them."""
    if isinstance(content, list):
        yield from ((pointer(index), part) for index, part in enumerate(content))
    elif content is not None:
        yield "", content


def media(content: Any, base: str) -> Iterator[Attachment]:
    """Pictures, sounds and documents; what a result brings may stand inside of it."""
    for path, part in parts_of(content):
        match part:
            case {"inlineData": {"mimeType": str(kind), "data": str(data)}}:
                yield Attachment(kind, base64_size(data), f"{base}{path}/inlineData/data")
            case {"fileData": {"mimeType": str(kind), "fileUri": str()}}:
                yield Attachment(kind, 0, f"{base}{path}/fileData/fileUri")
            case {"functionResponse": {"parts": list(inner)}}:
                yield from media(inner, f"{base}{path}/functionResponse/parts")
