"""What the content of a message says: its text, the place of it, and the pictures in it."""

from typing import Any, NamedTuple

from forsy_retrace.events import Attachment
from forsy_retrace.sdk import number, pointer, resolve, text_of

Json = dict[str, Any]

FIELDS = {
    "code": ("text",),
    "execution_output": ("text",),
    "system_error": ("text", "name"),
    "tether_quote": ("text", "title", "url"),
    "tether_browsing_display": ("result", "summary"),
    "reasoning_recap": ("content",),
    "computer_output": ("state", "screenshot"),
}
"""Kinds of content without `parts`, and the fields that may hold its words; the first counts."""


class Said(NamedTuple):
    """A text and where it stands below `content`; `within` where it is a part of that place."""

    text: str
    path: str
    within: bool = False
    attachments: tuple[Attachment, ...] = ()
    unknown: tuple[str, ...] = ()
    """Parts of kinds that no export had so far."""
    pieces: tuple[tuple[str, str], ...] = ()
    """Each text of mixed parts, and where it stands."""


def said(content: Any, base: str) -> Said:
    """The words of a content. `base` is the pointer of the content in its record."""
    if isinstance(content, str):
        return Said(content, "")
    if not isinstance(content, dict):
        return Said(text_of(content), "")
    parts = content.get("parts")
    if isinstance(parts, list):
        return _parts(parts, base)
    kind = content.get("content_type")
    names = FIELDS.get(kind, ()) if isinstance(kind, str) else ()
    for name in (*names, "text", "result", "content"):
        text = text_of(content.get(name))
        if text.strip():
            return Said(text, pointer(name), attachments=_screenshot(content, base))
    for name in (*names, "text"):
        if isinstance(blank := content.get(name), str):
            return Said(blank, pointer(name))
    return Said("", "", attachments=_screenshot(content, base))


def is_told(content: Any, found: Said) -> bool:
    """Whether a content has a text, if only an empty one."""
    return bool(found.text) or isinstance(resolve(content, found.path), str)


def _parts(parts: list[Any], base: str) -> Said:
    """Texts joined by line ends; pictures and sounds as attachments."""
    if len(parts) == 1 and isinstance(parts[0], str):
        return Said(parts[0], "/parts/0")
    texts: list[tuple[str, str]] = []
    media: list[Attachment] = []
    unknown: list[str] = []
    for index, part in enumerate(parts):
        place = f"{base}/parts/{index}"
        match part:
            case str():
                texts.append((part, f"/parts/{index}"))
            case {"content_type": "audio_transcription", "text": str(text)}:
                texts.append((text, f"/parts/{index}/text"))
            case {"content_type": "image_asset_pointer"}:
                media.append(_asset("image", part, place))
            case {"content_type": "audio_asset_pointer"}:
                media.append(_asset("audio", part, place))
            case {"content_type": "real_time_user_audio_video_asset_pointer"}:
                inner = part.get("audio_asset_pointer")
                sound = inner if isinstance(inner, dict) else {}
                media.append(_asset("audio", sound, f"{place}/audio_asset_pointer"))
            case {"text": str(text)}:
                texts.append((text, f"/parts/{index}/text"))
            case _:
                kind = part.get("content_type") if isinstance(part, dict) else None
                unknown.append(kind if isinstance(kind, str) else "")
    heard = [one for one in texts if one[0].strip()]
    if len(heard) == 1:
        return Said(*heard[0], False, tuple(media), tuple(unknown))
    plain = all(isinstance(part, str) for part in parts)
    text = "\n".join(text for text, _ in texts)
    return Said(text, "/parts", not plain, tuple(media), tuple(unknown), tuple(heard))


def _asset(kind: str, part: Json, place: str) -> Attachment:
    form = part.get("format")
    subtype = form if isinstance(form, str) and form.isalnum() and len(form) < 20 else "unknown"
    return Attachment(f"{kind}/{subtype}", max(number(part.get("size_bytes")) or 0, 0), place)


def _screenshot(content: Json, base: str) -> tuple[Attachment, ...]:
    shot = content.get("screenshot")
    return (_asset("image", shot, f"{base}/screenshot"),) if isinstance(shot, dict) else ()


def uploads(metadata: Json, base: str, shown: tuple[Attachment, ...]) -> tuple[Attachment, ...]:
    """Files that came with a user's message; a picture that its parts show takes its type here."""
    listed = metadata.get("attachments")
    found: list[Attachment] = []
    left = list(shown)
    for index, one in enumerate(listed if isinstance(listed, list) else ()):
        if not isinstance(one, dict):
            continue
        media = one.get("mime_type") or one.get("mimeType")
        media = media if isinstance(media, str) and 0 < len(media) < 80 else "unknown"
        size = max(number(one.get("size")) or 0, 0)
        place = f"{base}/attachments/{index}"
        match = next((a for a in left if media.startswith("image/") and a.size == size), None)
        if match is not None:
            left.remove(match)
        found.append(Attachment(media, size, match.pointer if match else place))
    return (*left, *found)
