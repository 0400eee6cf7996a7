"""The Assistants API: threads, their messages, runs, and the steps in which tools were used."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.calls import Verdict
from forsy_retrace.dialects import Call, arguments, content_text
from forsy_retrace.events import Message, Skipped
from forsy_retrace.sdk import named, when

from .ends import failure
from .place import Json, Place, Told, text_in
from .replies import about, instructions
from .speech import called, offered, printed, said
from .talks import Talk
from .verdicts import in_content, result

Held = list[tuple[Place, Json]]
OBJECTS = ("thread", "thread.message", "thread.run", "thread.run.step")
DEPTH = 5


def is_thread_object(value: Any) -> bool:
    """A thread or anything in it."""
    match value:
        case {"object": str(kind), "id": str()} if kind in OBJECTS:
            return True
    return False


def objects(value: Any, here: Place, depth: int = DEPTH) -> Iterator[tuple[Place, Json]]:
    """Every thread object in a record: polls, lists and recorded exchanges hold them."""
    if is_thread_object(value):
        yield here, value
    elif depth and isinstance(value, dict):
        for key in ("response", "body", "data"):
            if key in value:
                yield from objects(value[key], here.deeper(key), depth - 1)
    elif depth and isinstance(value, list):
        for index, one in enumerate(value):
            yield from objects(one, here.deeper(index), depth - 1)


def threads(held: Held) -> Iterator[Talk]:
    """One talk for each thread, in order of time: lists come newest first, polls repeat."""
    last: dict[str, int] = {one["id"]: index for index, (_, one) in enumerate(held)}
    groups: dict[str, list[tuple[str, int, Place, Json]]] = {}
    for index, (here, one) in enumerate(held):
        ident = text_in(one, "thread_id") or (one["id"] if one["object"] == "thread" else "")
        at = when(one.get("created_at")) or ""
        if last[one["id"]] == index:
            groups.setdefault(ident, []).append((at, index, here, one))
    for ident, group in groups.items():
        told: list[Told] = []
        for at, _, here, one in sorted(group, key=lambda item: (item[0], _rank(item[3]), item[1])):
            where = here._replace(at=at or None, message=one["id"])
            told += _object(one, where)
        yield Talk(told, ident)


def _rank(one: Json) -> int:
    """In one second the run begins before its steps, and its calls come before its words."""
    kind = one["object"]
    if kind == "thread.message":
        return 0 if one.get("role") == "user" else 3
    return {"thread": 0, "thread.run": 1}.get(kind, 2)


def _object(one: Json, here: Place) -> Iterator[Told]:
    match one:
        case {"object": "thread.message"}:
            yield from _message(one, here)
        case {"object": "thread.run"}:
            yield from instructions(one, here)
            yield from offered(one, here)
            yield from about({**one, "error": None}, here)
            yield from failure(one, here, "last_error")
            yield Told(None, Skipped(here.origin("system"), "bookkeeping: run"))
        case {"object": "thread.run.step", "step_details": {"tool_calls": list(calls)}}:
            for index, call in enumerate(calls):
                yield from _call(call, index, one, here)
        case _:
            kind = one["object"].rpartition(".")[2]
            yield Told(None, Skipped(here.origin("system"), f"bookkeeping{named(kind)}"))


def _message(one: Json, here: Place) -> Iterator[Told]:
    parts = one.get("content")
    found = False
    for index, part in enumerate(parts if isinstance(parts, list) else ()):
        where = here.deeper("content", index)
        match part:
            case {"text": {"value": str(text)}} if text.strip():
                where = where.deeper("text", "value")
            case _:
                text = content_text([part])
        if not text.strip():
            continue
        found = True
        if one.get("role") == "user":
            origin = where.origin("user")
            yield Told(("user", text.strip()), Message(origin, "user", text))
        else:
            yield said(text, where.origin())
    if not found:
        yield Told(None, Skipped(here.origin("system"), "blank text"))


def _call(call: Any, index: int, step: Json, run: Place) -> Iterator[Told]:
    here = run.deeper("step_details", "tool_calls", index)
    kind = text_in(call, "type")
    holder = call.get(kind) if kind else None
    if not isinstance(holder, dict):
        yield Told(None, Skipped(here.origin("system"), f"unknown tool call{named(kind)}"))
        return
    where = here.deeper(kind)
    path = where.pointer
    ident = text_in(call, "id") or here.name
    name = text_in(holder, "name") or kind
    key = next((k for k in ("arguments", "input") if isinstance(holder.get(k), str)), "")
    is_named = holder.get("name") == name
    if key:
        named_at = "" if is_named else f"{here.pointer}/type"
        one = Call(ident, name, arguments(holder[key]), f"{path}/{key}", named_at)
    else:
        named_at = f"{path}/name" if is_named else f"{here.pointer}/type"
        one = Call(ident, name, holder, path, named_at)
    yield called(one, where)
    failed = step.get("status") in ("failed", "cancelled", "expired")
    for name in ("output", "outputs", "results"):
        output = holder.get(name)
        if output:
            text, at = printed(output, where.deeper(name))
            found = in_content(output, f"{path}/{name}")
            if failed:
                found = Verdict("failed", "status", f"{run.pointer}/status")
            at = at._replace(at=when(step.get("completed_at")))
            yield Told(("result", ident, ""), result(at.origin(), ident, text, found))
            return
