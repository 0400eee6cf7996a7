"""Where the conversations of a record lie: a message, a request, a reply, or both of these."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from forsy_retrace.sdk import pointer, streamed, when, words
from forsy_retrace.source import Evidence

from .streams import Stream, assembled, begins, is_stream

Json = dict[str, Any]

BLOCKS = ("tool_use", "thinking", "redacted_thinking", "server_tool_use", "mcp_tool_use")
ANSWERS = "tool_result"
"""How every block of a result is called at its end: `web_search_tool_result`."""
TIMES = ("timestamp", "created_at", "time", "ts", "started_at", "logged_at")
DEEP = 3
"""How far down in a record a request or reply may lie."""
WIDE = 60
"""Keys of an object past which none is looked into: a map of values, and no record."""


class Exchange(NamedTuple):
    """What a model was given, and what it answered, as far as a record has them."""

    given: list[Any]
    given_at: str
    reply: Json | None
    reply_at: str
    head: Json
    head_at: str
    """The request itself: model, instructions, tools."""
    at: str | None
    """When the record was written, as it says."""
    stream: Stream | None = None
    """The stream that the reply was put together of."""
    parts: tuple[Evidence, ...] = ()
    """Its events, where each is a record of its own."""

    def where(self, record: Evidence, number: int, path: str) -> Evidence:
        """A place in an event of the stream."""
        if self.parts:
            return self.parts[number].at(path)
        return record.at(f"{self.reply_at}/{number}{path}")


def is_ours(value: Any) -> bool:
    """Whether a record is of this API, and can be of no other."""
    match value:
        case {"sessionId": str(), "origin": dict()} | {"source_prefix_hash": _}:
            return False  # Cline's
        case {"role": "user" | "assistant", "content": list(blocks)} if _is_plain(value):
            return _has_own(blocks)
        case _ if begins(value):
            return True
    found = next(exchanges(value), None)
    if found is None:
        return False
    contents = [one["content"] for one in found.given if isinstance(one["content"], list)]
    return found.reply is not None or any(map(_has_own, contents))


def _is_plain(value: Json) -> bool:
    """A message that no harness wrote into a record of its own."""
    return not value.keys() & {"sessionId", "uuid", "parentUuid", "parts", "tool_calls", "ts"}


def _has_own(blocks: list[Any]) -> bool:
    kinds = (block.get("type") for block in blocks if isinstance(block, dict))
    return any(kind in BLOCKS or words(kind).endswith(ANSWERS) for kind in kinds)


def exchanges(value: Any) -> Iterator[Exchange]:
    """The exchanges of a record: a request and its reply, or either of them alone."""
    match value:
        case {"role": "user" | "assistant", "content": str() | list()} if not _is_reply(value):
            return
    requests = list(_holders(value, "", DEEP, _is_request))
    is_lone = _is_reply(value) or (isinstance(value, dict) and "custom_id" in value)
    replies = list(_holders(value, "", DEEP, _is_answer)) if requests or is_lone else []
    at = _time(value)
    for index, (request, base) in enumerate(requests):
        held, where = replies[index] if index < len(replies) else (None, "")
        reply, stream = _whole(held)
        listed = base + "/messages"
        yield Exchange(request["messages"], listed, reply, where, request, base, at, stream)
    if not requests:
        for held, where in replies:
            reply, stream = _whole(held)
            yield Exchange([], "", reply, where, {}, "", at, stream)


def _whole(held: Any) -> tuple[Json | None, Stream | None]:
    """A reply, and the stream that it is put together of if it is a text."""
    if isinstance(held, str):
        stream = assembled(streamed(held))
        return stream.reply, stream
    return held, None


def _is_request(value: Any) -> bool:
    match value:
        case {"messages": [{"role": "user" | "assistant"}, *_] as messages}:
            return all(is_message(one) for one in messages)
    return False


def is_message(value: Any) -> bool:
    """A dict with a role of this API and a content."""
    match value:
        case {"role": "user" | "assistant", "content": str() | list()}:
            return "tool_calls" not in value and "tool_call_id" not in value
    return False


def _is_reply(value: Any) -> bool:
    match value:
        case {"type": "message", "role": "assistant", "content": list(), "stop_reason": _}:
            return True
        case {"type": "error", "error": {"type": str(), "message": str()}}:
            return True
    return False


def _is_answer(value: Any) -> bool:
    """A reply, or the stream of one."""
    return _is_reply(value) or is_stream(value)


def _holders(
    value: Any, base: str, deep: int, is_one: Callable[[Any], bool]
) -> Iterator[tuple[Any, str]]:
    """The values of a kind in a record, none of them within another."""
    if is_one(value):
        yield value, base
    elif isinstance(value, dict) and deep and len(value) <= WIDE:
        for key, held in value.items():
            yield from _holders(held, base + pointer(key), deep - 1, is_one)


def _time(value: Any) -> str | None:
    held = (when(value.get(key)) for key in TIMES) if isinstance(value, dict) else ()
    return next((at for at in held if at), None)
