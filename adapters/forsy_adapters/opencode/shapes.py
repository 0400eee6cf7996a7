"""Parts and calls by their shapes: when, whose words, which pictures, what was sent and shown."""

from typing import Any

from forsy_retrace.events import Attachment, Meant
from forsy_retrace.sdk import base64_size, counts, words
from forsy_retrace.source import Evidence

from .outcome import INVALID

Json = dict[str, Any]

USAGE = {"input": "input_tokens", "output": "output_tokens"}
CACHE = {"read": "cache_read_input_tokens", "write": "cache_creation_input_tokens"}
TAKEN_OUT = "[redacted:"
"""How what `opencode export --sanitize` puts in the place of a text begins."""
TEXTS = ("text/plain", "application/x-directory")
"""What OpenCode gives to the agent as text."""


def inner(value: Json, key: str) -> Json:
    """An object within one; empty where there is none."""
    held = value.get(key)
    return held if isinstance(held, dict) else {}


def is_told(text: str) -> bool:
    """Whether a text says something, and was not taken out of an export."""
    return bool(text.strip()) and not text.startswith(TAKEN_OUT)


def time_of(value: Json, key: str) -> Any:
    """A time of a message, a part or a call's state, as it is written."""
    return inner(value, "time").get(key)


def is_typed(value: Json) -> bool:
    """Whether a part of a user's message is words that a human typed."""
    match value:
        case {"type": "text", "text": str()}:
            return not (value.get("synthetic") is True or value.get("ignored") is True)
    return False


def is_picture(value: Json) -> bool:
    """Whether a part is a file that the agent was not given as text."""
    match value:
        case {"type": "file", "mime": str(media), "url": str()}:
            return media not in TEXTS
    return False


def attachment(value: Json, place: Evidence, beside: Evidence) -> Attachment:
    """A picture of a message, which may stand in another record than the words beside it."""
    record = place if place.record != beside.record else None
    return Attachment(value["mime"], _size(value["url"]), place.pointer, record)


def attachments(state: Json, base: str) -> tuple[Attachment, ...]:
    """The pictures and documents that a call came back with."""
    held = state.get("attachments")
    return tuple(
        Attachment(one["mime"], _size(one["url"]), f"{base}/attachments/{at}/url")
        for at, one in enumerate(held if isinstance(held, list) else ())
        if isinstance(one, dict) and is_picture({"type": "file", **one})
    )


def _size(url: str) -> int:
    """The bytes of a data URL; 0 for any other."""
    return base64_size(url.partition(",")[2]) if url.startswith("data:") else 0


def usage(tokens: Any) -> dict[str, int]:
    """The tokens of an answer; those of its input without what was cached."""
    cached = counts(tokens.get("cache"), CACHE) if isinstance(tokens, dict) else {}
    return {**counts(tokens, USAGE), **cached}


def sent_in(state: Json) -> tuple[Any, tuple[str, ...]]:
    """The arguments of a call, and where; None where it ended before the model had sent them."""
    if "raw" in state:
        return (state["raw"], ("raw",)) if words(state["raw"]) else (None, ())
    sent = state.get("input")
    if isinstance(sent, dict) and sent.keys() == {"redacted"}:
        return None, ()
    return (sent, ("input",)) if isinstance(sent, dict | str) else (None, ())


def meant_by(tool: str, sent: Any) -> Meant | None:
    """The tool that the model called, where OpenCode put its own in that one's place."""
    match sent:
        case {"tool": str(name), "error": str()} if tool == INVALID and name:
            return Meant(name, {})
    return None


def shown_in(state: Json) -> tuple[str | None, tuple[str, ...]]:
    """What the agent was given; of a call that was stopped, what it had printed."""
    match state:
        case {"status": "error", "metadata": {"interrupted": True, "output": str(text)}}:
            return text, ("metadata", "output")
        case {"status": "error", "error": str(text)}:
            return text, ("error",)
        case {"output": str(text)} if not text.startswith(TAKEN_OUT):
            return text, ("output",)
    return None, ()
