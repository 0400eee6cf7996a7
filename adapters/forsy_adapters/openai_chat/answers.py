"""What comes back from the API: a reply, a list of messages or items, a stream; whole or cut."""

from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Any

from forsy_retrace.events import Notice
from forsy_retrace.sdk import streamed as sse
from forsy_retrace.sdk import when

from .chat import Chat, is_message
from .ends import cut, failure
from .items import Items, is_item
from .place import Json, Place, Told, opened, text_in
from .replies import about, body, completion, is_completion, is_response, response
from .speech import beside, choice_branch
from .streams import Chunks, cut_words, is_chunk, items_of, whole_of
from .turns import is_call, turn

REPLIES = ("response", "completion", "output", "result")
COMPARED = ("rejected", "chosen")
PREFERRED = (("non_preferred_output", "preferred_output"), COMPARED)
"""The two answers of a row for preference tuning: OpenAI's, LLaMA-Factory's and TRL's."""


def is_talk(value: Any) -> bool:
    """A list of messages or items; a few strangers among them don't matter."""
    if not isinstance(value, list) or not value:
        return False
    known = [is_message(one) or is_item(one) or turn(one) is not None for one in value]
    return sum(known) * 2 > len(value) and (known[0] or sum(known) > 1)


def read_list(listed: list[Any], here: Place, first: int = 0) -> Iterator[Told]:
    """The messages and items of a list from one on; what one reply said in several items is one
    message.
    """
    items = Items()
    last: Place | None = None
    for index, one in enumerate(listed[first:], first):
        where = here.deeper(index)
        own = isinstance(one, dict) and "type" in one and one.get("type") != "message"
        if is_call(one) or (own and str(one["type"]).endswith(("_call", "reasoning"))):
            last = last or where
            where = where._replace(message=last.name)
        elif own:
            where = where._replace(message=where.name)
            last = None
        else:
            last = None
        yield from items.read(one, where)


def ranked(row: Json, here: Place, first: int = 0) -> Iterator[Told]:
    """The two answers in a row for preference tuning; the other one was not taken up."""
    for other, taken in PREFERRED:
        for index, key in ((1, other), (0, taken)):
            answer, where = opened(row.get(key)), here.deeper(key)
            if not is_talk(answer) and turn(answer) is None:
                continue
            if index:
                where = where._replace(branch=choice_branch(index, here))
                yield beside(where)
            is_list = isinstance(answer, list)
            for told in read_list(answer, where, first) if is_list else Chat().read(answer, where):
                yield told._replace(key=None) if index else told


def compared(row: Json, here: Place) -> Iterator[Told]:
    """Two whole conversations of such a row, which differ in how they end (TRL)."""
    other, taken = (opened(row.get(key)) for key in COMPARED)
    if is_talk(other) and is_talk(taken):
        same = sum(
            1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(other, taken, strict=False))
        )
        yield from read_list(taken[:same], here.deeper(COMPARED[1]))
        yield from ranked(row, here, same)


def answered(value: Any, here: Place) -> tuple[list[Told], str]:
    """What a reply tells, and its id."""
    value, here = body(value, here)
    if isinstance(value, str):
        value = sse(value) or value
    if isinstance(value, dict) and not is_completion(value) and not is_response(value):
        for key in REPLIES:
            if isinstance(value.get(key), (dict, list)):
                return answered(value[key], here.deeper(key))
    match value:
        case dict() if is_completion(value):
            return _of(completion(value, here), text_in(value, "id")), ""
        case dict() if is_response(value):
            ident = text_in(value, "id")
            return _of(response(value, here), ident), ident
        case dict() if is_message(value):
            return list(Chat().read(value, here)), ""
        case dict():
            return list(failure(value, here)), ""
        case list() if is_talk(value):
            return list(read_list(value, here)), ""
        case list():
            places = [body(one, here.deeper(index)) for index, one in enumerate(value)]
            return streamed([(at, one) for one, at in places if isinstance(one, dict)])
    return [], ""


def streamed(parts: list[tuple[Place, Json]]) -> tuple[list[Told], str]:
    """What the chunks or events of one stream tell, and the response's id."""
    told: list[Told] = []
    chunks = [(here, one) for here, one in parts if is_chunk(one)]
    if chunks:
        merged = Chunks()
        first = chunks[0][0]
        for here, one in chunks:
            merged.add(one, _chunk_place(one, here, first))
        told += merged.told()
        for here, one in reversed(chunks):
            if isinstance(one.get("usage"), dict) or here == first:
                known = {key: one.get(key) for key in ("model", "usage")}
                told += about(known, _chunk_place(one, here, first))
                break
        places = [_chunk_place(one, here, first) for here, one in parts]
        failures = [
            one
            for (_, chunk), here in zip(parts, places, strict=True)
            for one in failure(chunk, here)
        ]
        told += failures or merged.end()
        return _of(told, text_in(chunks[0][1], "id")), ""
    whole = whole_of(parts)
    if whole is not None:
        here, event = whole
        ident = _response_id(event)
        return _of(response(event["response"], here.deeper("response")), ident), ident
    opening = next((one for _, one in parts if isinstance(one.get("response"), dict)), {})
    started = opening.get("response", {})
    ident = _response_id(opening)
    items = Items()
    stops: Place | None = None
    for here, found in items_of(parts):
        place = here._replace(message=ident or here.name)
        if isinstance(found, list):
            told.append(cut_words(found))
            stops = found[-1][0]
        else:
            told += items.read(found, place)
    for here, one in parts:
        if one is opening:
            told += about(started, here.deeper("response")._replace(message=ident or here.name))
        elif one.get("type") == "error" or "error" in one:
            told += failure(one if "error" in one else {"error": one}, here)
    told += [cut(stops)] if stops and not any(isinstance(one.event, Notice) for one in told) else []
    return told, ident


def _of(told: Iterable[Told], ident: str) -> list[Told]:
    """What is told, as that reply's."""
    return [one._replace(reply=ident) for one in told]


def _chunk_place(chunk: Json, here: Place, first: Place) -> Place:
    ident = text_in(chunk, "id") or first.name
    return here._replace(at=when(chunk.get("created")) or here.at, message=ident)


def _response_id(event: Json) -> str:
    return text_in(event.get("response"), "id")
