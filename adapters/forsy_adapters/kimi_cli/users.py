"""What stands in the user's place: words, commands of the client, and its own prompts."""

import re
from collections.abc import Iterator
from typing import Any

from forsy_retrace.dialects import texts, typed
from forsy_retrace.events import Event, Notice, Skipped, Via
from forsy_retrace.sdk import later, words

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
    yield _words(unit, content, "command" if name else via)


def _words(unit: Unit, content: Any, via: Via) -> Event:
    here = unit.here("/user_input")
    return typed(content, here, via) or Skipped(here, "empty message")


def text_in(unit: Unit) -> str:
    """All that stands in the user's place."""
    return "\n".join(words(text) for _, text in texts(unit.body.get("user_input")))
