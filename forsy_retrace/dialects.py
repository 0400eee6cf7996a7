"""OpenAI's content parts and dialects of tool calls, as that whole family of logs writes them.

Nothing here raises, whatever JSON comes: a part of an unknown kind is shown as its own JSON.
"""

import base64
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

from msgspec.structs import replace

from forsy_retrace.events import Attachment, Message, Origin, Via
from forsy_retrace.sdk import (
    base64_size,
    block_text,
    compact,
    mark_of,
    media_of,
    parsed,
    pointer,
)

Json = dict[str, Any]

TEXTS = (
    *("text", "input_text", "output_text", "summary_text", "reasoning_text"),
    "tool_output",
)
AUDIO = {"wav": "audio/wav", "mp3": "audio/mpeg", "pcm16": "audio/L16"}
GUESSES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "pdf": "application/pdf",
    "mp4": "video/mp4",
    "wav": "audio/wav",
    "mp3": "audio/mpeg",
}
"""Media types by the end of a name or link."""


class Call(NamedTuple):
    """One tool call of a message; `id` is empty where the log gives none (legacy functions)."""

    id: str
    name: str
    input: Any
    pointer: str
    """Where the arguments stand; the call itself where it has none."""
    named: str | None = ""
    """Where the name stands, or a text that it is a part of; empty: `name` beside the input;
    None: nowhere."""


class Media(NamedTuple):
    """A picture, sound or file: its type, its size in bytes (0: not in the log), its place."""

    type: str
    size: int
    path: str


def content_text(content: Any) -> str:
    """The text that a content shows: parts joined by line ends, pictures named by type and size."""
    match content:
        case None:
            return ""
        case str():
            return content
        case list():
            return "\n".join(part_text(part) for part in content)
        case {"type": str()}:
            return part_text(content)
    return compact(content)


def part_text(part: Any) -> str:
    """One content part as text."""
    match part:
        case {"type": str(kind), "text": str(text)} if kind in TEXTS:
            return text
        case {"type": "text", "text": {"value": str(text)}}:
            return text
        case {"type": "text", "content": str(text)}:
            return text
        case {"type": "refusal", "refusal": str(text)}:
            return text
        case {"type": "logs", "logs": str(text)}:
            return text
    found = media(part)
    if found is not None:
        return mark_of(found.type, found.size)
    return block_text(part)


def texts(content: Any) -> Iterator[tuple[str, str]]:
    """The texts of a content, and where they stand below it."""
    if isinstance(content, str):
        yield "", content
    for index, part in enumerate(content if isinstance(content, list) else ()):
        match part:
            case {"type": "text", "text": str(text)}:
                yield pointer(index, "text"), text


def typed(content: Any, here: Origin, via: Via = "typed") -> Message | None:
    """What a user said in a content that stands at `here`, each part of it by its own place; None
    where there is neither a word nor a picture.
    """
    here = here.by("user")
    pictures = attachments(content, here.evidence.pointer)
    parts = [(path, text) for path, text in texts(content) if text.strip()]
    text = "\n".join(part for _, part in parts)
    if not parts:
        text = "\n".join(mark_of(one.media, one.size) for one in pictures)
    if not text:
        return None
    if len(parts) == 1:
        here = here.below(parts[0][0])
    elif parts:
        here = replace(here, pieces=tuple(here.below(path).evidence for path, _ in parts))
    return Message(here, "user", text, via, pictures, within=len(parts) > 1 and not pictures)


def attachments(content: Any, base: str) -> tuple[Attachment, ...]:
    """The pictures, sounds and files of a content (a part or a list of parts) at `base`."""
    match content:
        case dict():
            one = media(content)
            return () if one is None else (Attachment(one.type, one.size, base + one.path),)
        case list():
            parts = (attachments(part, base + pointer(i)) for i, part in enumerate(content))
            return tuple(one for part in parts for one in part)
    return ()


def media(part: Any) -> Media | None:
    """What a part holds that is no text; None for every other part."""
    match part:
        case {"type": "image_url" | "input_image" | "computer_screenshot", "image_url": value}:
            return _linked(value, "/image_url", "image/unknown")
        case {"type": "video_url", "video_url": value}:
            return _linked(value, "/video_url", "video/unknown")
        case {"type": "audio_url", "audio_url": value}:
            return _linked(value, "/audio_url", "audio/unknown")
        case {"type": "image_url" | "imageUrl", "imageUrl": value}:
            return _linked(value, "/imageUrl", "image/unknown")
        case {"type": "video_url", "videoUrl": value}:
            return _linked(value, "/videoUrl", "video/unknown")
        case {"type": "audio_url", "audioUrl": value}:
            return _linked(value, "/audioUrl", "audio/unknown")
        case {"type": "input_audio", "input_audio": {"data": str(data), **rest}}:
            sound = AUDIO.get(str(rest.get("format")), "audio/unknown")
            return Media(sound, payload_size(data), "/input_audio/data")
        case {"type": "file", "file": dict(file)}:
            return _file(file, "/file")
        case {"type": "input_file"}:
            return _file(part, "")
        case {"type": "image" | "audio", "data": str(), "mimeType": str()}:
            kind, size = media_of(part)
            return Media(kind, size, "/data")
        case {"type": "image_file" | "input_image" | "computer_screenshot"}:
            return Media("image/unknown", 0, "")
        case {"type": "input_audio" | "audio"}:
            return Media("audio/unknown", 0, "")
        case {"type": "image" | "document", "source": dict()}:
            kind, size = media_of(part)
            return Media(kind, size, "/source")
        case {"type": "image", "image": value}:
            return _linked(value, "/image", "image/unknown")
        case {"type": "image", "url": value}:
            return _linked(value, "/url", "image/unknown")
        case {"type": "image_generation_call", "result": str(data)}:
            kind = GUESSES.get(str(part.get("output_format")), "image/unknown")
            return Media(kind, payload_size(data), "/result")
    return None


def _linked(value: Any, path: str, otherwise: str) -> Media:
    """A link as a text or as `{"url": …}`; its bytes are in the log only as a data URL."""
    if isinstance(value, dict):
        value, path = value.get("url"), f"{path}/url" if "url" in value else path
    if not isinstance(value, str):
        return Media(otherwise, 0, path)
    return Media(media_type(value) or otherwise, payload_size(value, True), path)


def _file(file: Json, path: str) -> Media:
    name = file.get("filename")
    named = media_type(name) if isinstance(name, str) else ""
    for key in ("file_data", "file_url", "file_id"):
        value = file.get(key)
        if isinstance(value, str) and value:
            kind = media_type(value) or named or "application/octet-stream"
            return Media(kind, payload_size(value) if key == "file_data" else 0, f"{path}/{key}")
    return Media(named or "application/octet-stream", 0, path)


def media_type(link: str) -> str:
    """The media type that a data URL names, or that the end of a link tells; else empty."""
    if link.startswith("data:"):
        kind = link[5:100].partition(",")[0].partition(";")[0]
        return kind if "/" in kind and kind.isprintable() and len(kind) < 60 else ""
    end = link[-200:].partition("?")[0].rpartition(".")[2].lower()
    return GUESSES.get(end, "")


def payload_size(text: str, link: bool = False) -> int:
    """How many bytes a data URL stands for, or (unless it is a link) a bare base64 text."""
    if text.startswith("data:"):
        head, _, data = text.partition(",")
        return base64_size(data) if head.endswith(";base64") else len(unquote_to_bytes(data))
    return 0 if link else base64_size(text)


def text_of_bytes(value: Any) -> str | None:
    """The text that bytes hold, given as numbers or as base64; None where they are no UTF-8."""
    if not isinstance(value, (list, str)):
        return None
    try:
        data = base64.b64decode(value, validate=True) if isinstance(value, str) else bytes(value)
        return data.decode()
    except (TypeError, ValueError):  # no list of such numbers, no base64, a letter cut in two
        return None


ANY_VALUES = {
    form: kind
    for kind in ("string", "bool", "int", "double", "array", "kvlist", "bytes")
    for form in (f"{kind}Value", f"{kind}_value")
}
"""How OTLP in JSON names the type of a value, in its own case or protobuf's."""


def any_value(value: Any) -> Any:
    """What OTLP's `AnyValue` holds, which names the type of each value; of bytes None."""
    match value:
        case dict() if len(value) == 1:
            form, held = next(iter(value.items()))
        case _:
            return None
    match ANY_VALUES.get(form), held:
        case "array", {"values": list(values)}:
            return [any_value(one) for one in values]
        case "kvlist", {"values": list(values)}:
            found: dict[str, Any] = {}
            for one in values:
                if isinstance(one, dict) and isinstance(one.get("key"), str):
                    found.setdefault(one["key"], any_value(one.get("value")))
            return found
        case "int", str() if held.lstrip("-").isdecimal() and len(held) < 21:
            return int(held)
        case "string", str():
            return held
        case "bool" | "int" | "double", bool() | int() | float():
            return held
    return None


def arguments(value: Any) -> Any:
    """A call's arguments: the object that a text of JSON holds, else the text as it was sent."""
    match value:
        case None:
            return ""
        case str():
            inner = parsed(value)
            return inner if isinstance(inner, dict) else value
    return value


def calls(message: Any, base: str) -> Iterator[Call]:
    """The tool calls of an assistant's message that stands at the pointer `base`, in order."""
    if not isinstance(message, dict):
        return
    listed = message.get("tool_calls")
    for index, call in enumerate(listed if isinstance(listed, list) else ()):
        found = call_of(call, base + pointer("tool_calls", index))
        if found is not None:
            yield found
    if not listed:
        legacy = message.get("function_call")
        if isinstance(legacy, dict) and isinstance(legacy.get("name"), str):
            yield _sent("", legacy["name"], legacy, base + pointer("function_call"))
        yield from _used(message.get("content"), base)


def call_of(call: Any, base: str) -> Call | None:
    """One entry of `tool_calls` in any dialect; None where it names no tool."""
    if not isinstance(call, dict):
        return None
    ident = next((c for c in (call.get("id"), call.get("call_id")) if isinstance(c, str) and c), "")
    match call:
        case {"function": dict(sent)} if isinstance(sent.get("name"), str):
            return _sent(ident, sent["name"], sent, base + pointer("function"))
        case {"custom": dict(sent)} if isinstance(sent.get("name"), str):
            return _sent(ident, sent["name"], sent, base + pointer("custom"))
        case {"function": str(name)} | {"name": str(name)}:
            return _sent(ident, name, call, base)
    return None


def _used(content: Any, base: str) -> Iterator[Call]:
    """Calls among the parts of a content: `{"type": "tool_use", "id", "name", "input"}`."""
    for index, part in enumerate(content if isinstance(content, list) else ()):
        match part:
            case {"type": "tool_use", "id": str(ident), "name": str(name)}:
                yield _sent(ident, name, part, base + pointer("content", index))


def _sent(ident: str, name: str, holder: Json, base: str) -> Call:
    for key in ("arguments", "input", "args", "parameters"):
        if key in holder:
            named = "" if holder.get("name") == name else base + pointer("function")
            return Call(ident, name, arguments(holder[key]), base + pointer(key), named)
    key = "name" if holder.get("name") == name else "function"
    return Call(ident, name, holder, base, base + pointer(key))
