"""Replies of the API: a chat completion, a response, an error, and what each says of its run."""

from collections.abc import Iterator
from typing import Any

from msgspec import structs

from forsy_retrace.events import Fact, ToolResult
from forsy_retrace.sdk import when

from .chat import Chat
from .ends import failure, finish, incomplete
from .items import Items
from .place import Json, Place, Told, opened, text_in
from .speech import beside, choice_branch, offered
from .usage import ran


def is_completion(value: Any) -> bool:
    """A chat reply, also where a gateway left out `object`."""
    match value:
        case {"choices": [{"message": dict()}, *_]}:
            return True
        case {"object": "chat.completion", "choices": list()}:
            return True
    return False


def is_response(value: Any) -> bool:
    """A reply of the Responses API."""
    match value:
        case {"object": "response", "output": list()}:
            return True
    return False


def completion(reply: Json, here: Place) -> Iterator[Told]:
    """A chat reply; every choice but the first is an alternative that was not taken up."""
    here = _placed(reply, here, "created")
    choices = reply.get("choices")
    listed = list(enumerate(choices if isinstance(choices, list) else ()))
    for index, choice in (*listed[1:], *listed[:1]):
        message = choice.get("message") if isinstance(choice, dict) else None
        where = here.deeper("choices", index, "message")
        if index:
            where = where._replace(branch=choice_branch(index, here), message=where.name)
            yield beside(where)
        for told in Chat().read(message, where):
            yield told._replace(key=None) if index else told
        if isinstance(choice, dict) and not reply.get("error"):
            yield from finish(choice, where.to(f"{here.pointer}/choices/{index}"))
    yield from about(reply, here)


def response(reply: Json, here: Place) -> Iterator[Told]:
    """A reply of the Responses API, item by item.

    It has two times: all that stands before the first result of a server's call has that of its
    beginning, a closing answer that of its end, and what lies between has none.
    """
    here = _placed(reply, here, "created_at")
    yield from instructions(reply, here)
    yield from offered(reply, here)
    items = Items()
    output = reply["output"] if isinstance(reply.get("output"), list) else []
    behind = False
    for index, item in enumerate(output):
        is_last = index + 1 == len(output)
        words = isinstance(item, dict) and item.get("type", "message") == "message"
        where = here.deeper("output", index)
        if is_last and words and (end := when(reply.get("completed_at"))):
            where = where._replace(at=end)
        elif behind:
            where = where._replace(at=None)
        told = [_ended(one, reply, is_last) for one in items.read(item, where)]
        behind = behind or any(isinstance(one.event, ToolResult) for one in told)
        yield from told
        alone = {one.event.origin.message for one in told} - {here.message}
        for ident in sorted(name for name in alone if name):
            yield from about({"model": reply.get("model")}, here._replace(message=ident))
    yield from about(reply, here)


def _ended(told: Told, reply: Json, is_last: bool) -> Told:
    """A result that stands in a reply came after it was begun: with its end, if nothing follows."""
    if not isinstance(told.event, ToolResult):
        return told
    at = when(reply.get("completed_at")) if is_last else None
    origin = structs.replace(told.event.origin, at=at)
    return told._replace(event=structs.replace(told.event, origin=origin))


def instructions(holder: Json, here: Place) -> Iterator[Told]:
    """The system prompt of a request, a response, or a row for tuning."""
    for key in ("instructions", "system"):
        if text := text_in(holder, key):
            yield Told(None, Fact(here.deeper(key).origin("system"), "system_prompt", text))


def about(reply: Json, here: Place) -> Iterator[Told]:
    """Model, usage, and how the reply ended."""
    yield from ran(reply, here)
    yield from failure(reply, here)
    yield from incomplete(reply, here)


def body(value: Any, here: Place) -> tuple[Any, Place]:
    """What a request or reply carries, out of the envelopes that recorders put around it."""
    for _ in range(4):
        value = opened(value)
        match value:
            case {"body": dict() | list() | str()}:
                value, here = value["body"], here.deeper("body")
            case {"__data__": dict()}:
                value, here = value["__data__"], here.deeper("__data__")
            case _:
                break
    return value, here


def _placed(reply: Json, here: Place, key: str) -> Place:
    """The reply's own time and id. Recorders write 0 for a time that they left out."""
    ident = text_in(reply, "id")
    return here._replace(at=when(reply.get(key)) or here.at, message=ident or here.name)
