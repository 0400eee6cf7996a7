"""How a reply ended, where it did not end by itself: a limit, a filter, an error, a cut stream."""

from collections.abc import Iterator
from typing import Any, Literal

from forsy_retrace.dialects import content_text
from forsy_retrace.events import Event, Notice
from forsy_retrace.sdk import compact, parsed

from .place import Json, Key, Place, Told, text_in

Kind = Literal["limit", "model error"]

REASONS: dict[str, Kind] = {
    # `finish_reason`; of the others the model stopped by itself, or to call.
    "length": "limit",
    "max_tokens": "limit",
    "model_length": "limit",
    "content_filter": "limit",
    "error": "model error",
}


def finish(choice: Json, here: Place) -> Iterator[Told]:
    """What a choice's `finish_reason` says, in the words of its error where it has one."""
    reason = text_in(choice, "finish_reason")
    kind = REASONS.get(reason)
    if kind is None:
        return
    told = list(failure(choice, here)) if kind == "model error" else []
    event = Notice(here.deeper("finish_reason").origin("system"), kind, reason)
    yield from told or [Told(None, event)]


def incomplete(reply: Json, here: Place) -> Iterator[Told]:
    """Why a response is not whole."""
    if reason := text_in(reply.get("incomplete_details"), "reason"):
        where = here.deeper("incomplete_details", "reason")
        yield Told(None, Notice(where.origin("system"), "limit", reason))


def failure(reply: Json, here: Place, key: str = "error") -> Iterator[Told]:
    """An error that came instead of an answer."""
    error: Any = reply.get(key)
    where = here.deeper(key)
    event: Event
    match error:
        case {"message": str(text)} if text.strip():
            event = Notice(where.deeper("message").origin("system"), "model error", text)
        case str() if error.strip():
            event = Notice(where.origin("system"), "model error", error)
        case dict() if error:
            event = Notice(where.origin("system"), "model error", content_text(error))
        case _:
            return
    yield Told(None, event, refused=_refused(error))


def _refused(error: Any) -> Key | None:
    """The call that the model had made, where the provider would not have it."""
    match error:
        case {"failed_generation": str(text)}:
            match parsed(text):
                case {"name": str(name), "arguments": sent}:
                    return name, compact(sent)
    return None


def cut(here: Place) -> Told:
    """A stream stops at this piece, and nothing says that it had ended."""
    return Told(None, Notice(here.origin("system"), "cut"))
