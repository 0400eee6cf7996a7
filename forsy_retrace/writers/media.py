"""Pictures and documents of a log, for a user who asks for them: nobody can mask what they show."""

import base64
import binascii
import hashlib
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import unquote_to_bytes

import msgspec

from forsy_retrace.events import Attachment, Event, Message, Origin, ToolResult
from forsy_retrace.sdk import resolve
from forsy_retrace.source import Source, reread
from forsy_retrace.trace import Trace
from forsy_retrace.writers.atomic import ARTIFACTS

KINDS: tuple[tuple[bytes, bytes, str, str], ...] = (
    # first bytes, bytes 8 to 12, suffix, media type
    (b"\x89PNG\r\n\x1a\n", b"", "png", "image/png"),
    (b"\xff\xd8\xff", b"", "jpg", "image/jpeg"),
    (b"GIF8", b"", "gif", "image/gif"),
    (b"RIFF", b"WEBP", "webp", "image/webp"),
    (b"RIFF", b"WAVE", "wav", "audio/wav"),
    (b"%PDF-", b"", "pdf", "application/pdf"),
)
"""What a file is by its own bytes; whatever else it calls itself is kept as inert bytes."""


class Medium(msgspec.Struct, frozen=True):
    """A picture or document that a step shows: its bytes, None where the log only names it."""

    step: int
    data: bytes | None

    @property
    def kind(self) -> tuple[str, str]:
        """Suffix and media type, told from the bytes."""
        data = self.data or b""
        for head, inner, suffix, media in KINDS:
            if data.startswith(head) and data[8:].startswith(inner):
                return suffix, media
        return "bin", "application/octet-stream"

    @property
    def name(self) -> str:
        """Where it lies in the trace folder."""
        return f"{ARTIFACTS}/{hashlib.sha256(self.data or b'').hexdigest()[:16]}.{self.kind[0]}"


def media(trace: Trace, sources: Sequence[Source]) -> Iterator[Medium]:
    """Every picture and document of a trace's steps, in their order."""
    by_name = {one.name: one for one in sources}
    shown = {event.origin: event for event in trace.session.events if _attachments(event)}
    for step in trace.steps:
        event = step.result if step.call else shown.get(step.origin) if step.origin else None
        for one in _attachments(event) if event else ():
            if not one.media.startswith("text/"):
                yield Medium(step.step, _bytes(event.origin, one, by_name) if event else None)


def _attachments(event: Event) -> tuple[Attachment, ...]:
    return event.attachments if isinstance(event, Message | ToolResult) else ()


def _bytes(origin: Origin, one: Attachment, by_name: dict[str, Source]) -> bytes | None:
    here = one.record or origin.evidence
    source = by_name.get(here.file)
    if source is None:
        return None
    (data,) = source.spans([(here.start, here.end)])
    try:
        return _decoded(resolve(reread(data, here).value, one.pointer))
    except LookupError:
        return None


def _decoded(value: Any) -> bytes | None:
    """The bytes of a base64 text, of a data URL, or of a block that holds one of them."""
    match value:
        case {"data": str(text)} | str(text) if text.startswith("data:"):
            head, _, body = text.partition(",")
            return _base64(body) if head.endswith(";base64") else unquote_to_bytes(body)
        case {"data": str(text)} | str(text) if not text.startswith(("http:", "https:")):
            return _base64(text)
    return None


def _base64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True) or None
    except (binascii.Error, ValueError):
        return None
