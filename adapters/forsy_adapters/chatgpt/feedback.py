"""Thumbs up and down from `message_feedback.json`, by the message that they judge."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Event, Fact, Origin, Skipped
from forsy_retrace.sdk import parsed, strings, when
from forsy_retrace.source import Record, Source

UP = ("thumbsUp", "thumbs_up")
DOWN = ("thumbsDown", "thumbs_down")


class Feedback:
    """The rows of the file, each given out once."""

    def __init__(self) -> None:
        self.by_message: dict[str, list[Record]] = {}
        self.others: list[Event] = []

    def take(self, source: Source) -> None:
        """Reads a file of thumbs. New rows carry the message's id as their own."""
        for record in source.records():
            ident = _message(record.value)
            if record.problem or ident is None:
                why = record.problem or "feedback on no message"
                self.others.append(Skipped(Origin(record.here, None, "system"), why))
            else:
                self.by_message.setdefault(ident, []).append(record)

    def on(self, *messages: str) -> Iterator[Event]:
        """What was thought of a message: `{"rating": "up", "text": …, "tags": […]}`."""
        for ident in dict.fromkeys(messages):
            for record in self.by_message.pop(ident, ()):
                yield Fact(_origin(record, ident), "thumb", _thumb(record.value))

    def rest(self) -> Iterator[Event]:
        """Rows that join nothing: old ones name their conversation in another alphabet."""
        yield from self.others
        for ident, records in self.by_message.items():
            for record in records:
                yield Skipped(_origin(record, ident), "feedback on a message that is not here")


def _message(row: Any) -> str | None:
    match row:
        case {"rating": str(), "message_id": str(ident)} | {"rating": str(), "id": str(ident)}:
            return ident
    return None


def _thumb(row: dict[str, Any]) -> dict[str, Any]:
    rating = row.get("rating")
    said = row.get("content")
    inner = parsed(said) if isinstance(said, str) else said
    found: dict[str, Any] = {
        "rating": "up" if rating in UP else "down" if rating in DOWN else rating
    }
    if isinstance(inner, dict):
        text, tags = inner.get("text"), list(strings(inner.get("tags")))
        if isinstance(text, str) and text.strip():
            found["text"] = text
        if tags:
            found["tags"] = tags
    return found


def _origin(record: Record, message: str) -> Origin:
    row = record.value
    at = when(row.get("create_time")) or when(row.get("update_time"))
    return Origin(record.here.at("/rating"), at, "user", message)
