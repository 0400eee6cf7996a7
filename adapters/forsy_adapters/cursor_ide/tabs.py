"""The chats of before 2025: all in one row, words alone, without times."""

from collections.abc import Iterator
from typing import Any, Literal

from forsy_retrace.events import Event, Fact, Message, Origin, SessionStart, Skipped
from forsy_retrace.sdk import pointer, words
from forsy_retrace.source import Record

from .held import opened
from .rows import VALUE

ROLES: dict[str, Literal["user", "agent"]] = {"user": "user", "ai": "agent"}


def tabbed(record: Record) -> Iterator[Event]:
    """The events of a row of chats, one after another."""
    here = Origin(record.here.at(VALUE), None, "system")
    match opened(record.value["row"]["value"]):
        case {"tabs": [_, *_] as tabs}:
            for at, tab in enumerate(tabs):
                yield from _tab(tab, here.below(pointer("tabs", at)))
        case _:
            yield Skipped(here, "chats without a word")


def _tab(tab: Any, here: Origin) -> Iterator[Event]:
    match tab:
        case {"bubbles": [_, *_] as bubbles}:
            name = words(tab.get("tabId"))
            yield SessionStart(here.below("/tabId") if name else here, name)
            if title := words(tab.get("chatTitle")):
                yield Fact(here.below("/chatTitle"), "title", title)
            for at, bubble in enumerate(bubbles):
                yield _said(bubble, here.below(pointer("bubbles", at)))
        case _:
            yield Skipped(here, "a chat without a word")


def _said(bubble: Any, here: Origin) -> Event:
    held = bubble if isinstance(bubble, dict) else {}
    kind = words(held.get("type"))
    for key in ("text", "rawText") if kind == "user" else ("rawText", "text"):
        if (text := words(held.get(key))) and kind in ROLES:
            role = ROLES[kind]
            return Message(here.below(pointer(key)).by(role), role, text)
    return Skipped(here, "empty message")
