"""Conversations, wherever their events lie: a folder, a list, an archive, one a line."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from forsy_retrace.events import Event, Fact, SessionStart, Skipped
from forsy_retrace.source import Record, Source

from .conversation import Folder, agents
from .files import Item, in_order, is_of_sdk, is_page, item, items, listed
from .old import OldReader
from .reader import Reader
from .shapes import (
    OLD_FILE,
    STATE_FILE,
    base_of,
    is_event,
    is_holder,
    is_old_session,
    is_state,
    place_of,
)
from .state import begun, known, opening

META = "meta.json"


def told(source: Source, beside: list[Source]) -> Iterator[Event]:
    """What a log tells, with the files that belong to it."""
    value = source.head[0].value if source.head else None
    if source.is_archive:
        yield from (Skipped(one.here(), "the archive itself") for one in items([source]))
        yield from _packed(beside)
    elif is_state(value):
        yield from _stored(None, [source], beside)
    elif is_old_session(value):
        yield from _old(source, beside)
    elif beside and is_event(value):
        yield from _stored(source, [], beside)
    elif beside:
        yield from _events(partial(items, in_order([source, *beside])))
    else:
        yield from _alone(source)


def _packed(files: list[Source]) -> Iterator[Event]:
    """Conversations in an archive, a folder each; or the events of one that were given out."""
    leads = [one for one in files if base_of(one.name) == STATE_FILE and not _is_agents(one)]
    for lead in leads:
        folder = lead.name.removesuffix(STATE_FILE)
        own = [one for one in files if one.name.startswith(folder) and one is not lead]
        files = [one for one in files if not one.name.startswith(folder)]
        yield from _stored(None, [lead], [one for one in own if one not in leads])
    if leads:
        yield from (Skipped(one.here(), "of no conversation") for one in items(files))
    else:
        yield from _stored(None, [], files)


def _stored(first: Source | None, states: list[Source], beside: list[Source]) -> Iterator[Event]:
    """A conversation as the SDK keeps it, a folder, or as its events were given out."""
    own = [one for one in beside if not _is_agents(one)]
    events = in_order([one for one in own if is_of_sdk(one.name)])
    main = in_order([first, *events]) if first is not None else events
    held = list(items(states))
    state = held[0] if held else None
    meta = [one for file in own if base_of(file.name) == META for one in items([file])]
    yield from begun(state, next(iter(meta), None))
    yield from opening(state) if state is not None else ()
    yield from (Skipped(one.here(), one.why or "state of the conversation") for one in held[1:])
    yield from _beside(one for one in beside if not is_of_sdk(one.name))
    others = agents(one for one in beside if _is_agents(one))
    yield from Reader(Folder(partial(items, main), state), others).told()


def _is_agents(one: Source) -> bool:
    """Whether a file is of a subagent's conversation."""
    return "/subagents/" in f"/{one.name}".replace("#", "/")


def _old(source: Source, beside: list[Source]) -> Iterator[Event]:
    """A session as the server before the SDK kept it; pages repeat its events."""
    for at, lead in enumerate(items([source])):
        if at:
            yield Skipped(lead.here(), lead.why or "state of the session")
            continue
        yield SessionStart(lead.here("/conversation_id"), lead.value["conversation_id"])
        yield from known(lead)
    events = [one for one in beside if place_of(one.name, OLD_FILE) >= 0]
    for one in beside:
        if place_of(one.name, OLD_FILE) < 0:
            why = "repeated event" if is_page(one) else "state of the session"
            yield from (Skipped(found.here(), why) for found in items([one]))
    yield from OldReader(partial(items, in_order(events))).told()


def _alone(source: Source) -> Iterator[Event]:
    """A file that has all: a list of events, or what an evaluation wrote, a conversation a line."""
    if not any(is_holder(record.value) for record in source.head[:1]):
        yield from _events(partial(items, [source]))
        return
    for record in source.records():
        if is_holder(record.value):
            yield from _held(record)
        else:
            yield Skipped(item(record).here(), record.problem or "no conversation")


def _held(record: Record) -> Iterator[Event]:
    one = item(record)
    ident = one.value.get("instance_id")
    if isinstance(ident, str | int):
        yield SessionStart(one.here("/instance_id"), str(ident))
    yield from _events(lambda: listed(record))
    match one.value.get("test_result"):
        case {"git_patch": str(patch)} if patch.strip():
            yield Fact(one.here("/test_result/git_patch"), "submission", patch)


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
    """What else lies in the folder: what the server knows of it, and the plan as it stands."""
    for one in files:
        if base_of(one.name) == STATE_FILE:
            continue
        for found in items([one]):
            if base_of(one.name) == META:
                yield from known(found)
            yield Skipped(found.here(), found.why or "state of the conversation")
