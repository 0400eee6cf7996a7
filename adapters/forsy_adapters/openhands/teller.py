"""Conversations, wherever their events lie: a folder, a list, an archive, one a line."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from forsy_retrace.events import Event, Fact, SessionStart, Skipped
from forsy_retrace.sdk import pointer, words
from forsy_retrace.source import Record, Source

from .conversation import Folder, agents
from .files import Item, in_order, is_page, item, items, listed, members
from .old import OldReader
from .reader import Reader
from .shapes import (
    EVENT_FILE,
    EXPORTED,
    OLD_FILE,
    STATE_FILE,
    is_event,
    is_instance,
    is_old_session,
    is_state,
    place_of,
)
from .state import opening

OLD_FACTS = (("title", "title"), ("llm_model", "model"), ("selected_branch", "branch"))


def told(source: Source, beside: list[Source]) -> Iterator[Event]:
    """What a log tells, with the files that belong to it."""
    value = source.head[0].value if source.head else None
    if source.is_archive:
        yield from _beside([one for one in source.members("*") if not _is_exported(one)])
        yield from _events(partial(items, members(source)))
    elif is_state(value) or (beside and is_event(value)):
        yield from _stored(source, beside)
    elif is_old_session(value):
        yield from _old(source, beside)
    elif beside:
        yield from _events(partial(items, in_order([source, *beside])))
    else:
        yield from _alone(source)


def _stored(source: Source, beside: list[Source]) -> Iterator[Event]:
    """A conversation as the SDK keeps it: a folder."""
    own, others = list[Source](), list[Source]()
    for one in beside:
        (others if "/subagents/" in f"/{one.name}" else own).append(one)
    first = item(source.head[0])
    state = first if is_state(first.value) else None
    if state is not None:
        yield from opening(state)
    events = [one for one in own if place_of(one.name, EVENT_FILE) >= 0]
    main = in_order(events if state else [source, *events])
    yield from _rest(source, state)
    yield from _beside(beside)
    yield from Reader(Folder(partial(items, main), state), agents(others)).told()


def _rest(source: Source, state: Item | None) -> Iterator[Event]:
    """What stands behind the state in its file."""
    for one in list(items([source]))[1:] if state else ():
        yield Skipped(one.here(), one.why or "state of the conversation")


def _old(source: Source, beside: list[Source]) -> Iterator[Event]:
    """A session as the server before the SDK kept it; pages repeat its events."""
    for at, lead in enumerate(items([source])):
        if at:
            yield Skipped(lead.here(), lead.why or "state of the session")
            continue
        yield SessionStart(lead.here("/conversation_id"), lead.value["conversation_id"])
        for key, name in OLD_FACTS:
            if words(lead.value.get(key)):
                yield Fact(lead.here(pointer(key)), name, lead.value[key])
    events = [one for one in beside if place_of(one.name, OLD_FILE) >= 0]
    for one in beside:
        if place_of(one.name, OLD_FILE) < 0:
            why = "repeated event" if is_page(one) else "state of the session"
            yield from (Skipped(found.here(), why) for found in items([one]))
    yield from OldReader(partial(items, in_order(events))).told()


def _alone(source: Source) -> Iterator[Event]:
    """A file that has all: a list of events, or what an evaluation wrote, a conversation a line."""
    first = source.head[0].value if source.head else None
    if not is_instance(first):
        yield from _events(partial(items, [source]))
        return
    for record in source.records():
        if is_instance(record.value):
            yield from _instance(record)
        else:
            yield Skipped(item(record).here(), record.problem or "not an instance")


def _instance(record: Record) -> Iterator[Event]:
    one = item(record)
    ident = one.value["instance_id"]
    yield SessionStart(one.here("/instance_id"), str(ident))
    yield from _events(lambda: listed(record))


def _events(held: Callable[[], Iterator[Item]]) -> Iterator[Event]:
    """Events of either form, as their first one has it."""
    first = next(held(), None)
    if first is None:
        return
    if any(is_event(one.value) for one in held()):
        yield from Reader(Folder(held)).told()
    else:
        yield from OldReader(held).told()


def _beside(files: Iterable[Source]) -> Iterator[Event]:
    """What else lies in the folder: the title, and the plan as it stands."""
    for one in files:
        if place_of(one.name, EVENT_FILE) >= 0 or one.path.name == STATE_FILE:
            continue
        for found in items([one]):
            if one.path.name == "meta.json" and words(found.value.get("title")):
                yield Fact(found.here("/title"), "title", found.value["title"])
            yield Skipped(found.here(), found.why or "state of the conversation")


def _is_exported(one: Source) -> bool:
    return place_of(one.name, EXPORTED) >= 0
