"""What stands in the user's place: words, commands of the client, and its own prompts."""

import re
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from forsy_retrace.dialects import attachments
from forsy_retrace.events import Event, Message, Notice, Skipped, Via
from forsy_retrace.sdk import later, mark_of, pointer, words

from .units import Unit

COMMAND = later(r"/(?P<name>[a-zA-Z0-9_-]+(?::[a-zA-Z0-9_-]+)?)(?:\s|\Z)")
CLIENTS = frozenset(
    ["compact", "clear", "reset", "yolo", "afk", "plan", "add-dir", "export", "import", "btw"]
)
"""Commands that only change the client (soul/slash.py); all others make the agent work."""
LOOP = later(r".{1,9000}\. \(You are running in an automated loop where the same", re.S)
INJECTED = (
    # What the client writes of its own.
    (later(r"\s*<system-reminder>"), "injected: by the client, once background tasks had ended"),
    (LOOP, "injected: the next round of a loop"),
    (later(r"\[Imported context from [^\n]{1,4000}\]\s*\Z"), "a command of the client"),
)
FLOWS = ("init", "flow")
PROMPTS = (*FLOWS, "skill")


def begins_others(text: str) -> bool:
    """Whether words are a command that begins turns within its own."""
    return _command_in(text).partition(":")[0] in FLOWS


def _command_in(text: str) -> str:
    """The client's command that words begin with; empty where it is none of them."""
    found = COMMAND.match(text.strip())
    name = found["name"] if found else ""
    return name if name in CLIENTS or name.partition(":")[0] in PROMPTS else ""


def user(unit: Unit, via: Via = "typed") -> Iterator[Event]:
    """A human's words, or why they are none."""
    content = unit.body.get("user_input")
    text = text_in(unit)
    name = _command_in(text)
    for pattern, why in INJECTED:
        if pattern.match(text):
            yield Notice(unit.here(), "ended", why)
            return
    if name in CLIENTS:
        yield Skipped(unit.here("/user_input"), "a command of the client")
        return
    yield from _words(unit, content, "command" if name else via)


def _words(unit: Unit, content: Any, via: Via) -> Iterator[Event]:
    pictures = attachments(content, unit.here("/user_input").evidence.pointer)
    parts = [(path, text) for path, text in _texts(content) if text.strip()]
    text = "\n".join(part for _, part in parts)
    path = "/user_input" + (parts[0][0] if len(parts) == 1 else "")
    here = unit.here(path, "user")
    if not parts and pictures:
        text = "\n".join(mark_of(one.media, one.size) for one in pictures)
    if not text:
        yield Skipped(unit.here("/user_input"), "empty message")
        return
    if len(parts) > 1:
        places = tuple(unit.here("/user_input" + one).evidence for one, _ in parts)
        here = replace(here, pieces=places)
    yield Message(here, "user", text, via, pictures, within=len(parts) > 1 and not pictures)


def _texts(content: Any) -> Iterator[tuple[str, str]]:
    """The texts of a message, and where they stand below it."""
    if isinstance(content, str):
        yield "", content
    for index, part in enumerate(content if isinstance(content, list) else ()):
        match part:
            case {"type": "text", "text": str(text)}:
                yield pointer(index, "text"), text


def text_in(unit: Unit) -> str:
    """All that stands in the user's place."""
    return "\n".join(words(text) for _, text in _texts(unit.body.get("user_input")))
