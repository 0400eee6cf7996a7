"""A session's events, with those of the subagents that it sent, in the order of time."""

from collections.abc import Iterator, Mapping
from typing import Any

from forsy_retrace.calls import Calls
from forsy_retrace.events import (
    Event,
    Fact,
    Origin,
    SessionStart,
    Skipped,
)
from forsy_retrace.sdk import later, number, subagent, words

from .line import MAIN, Line
from .shapes import TAKEN_OUT, inner, is_told
from .stored import Node, Stored

UNNAMED = later(r"(?:New|Child) session - \d{4}-\d\d-\d\dT[\d:.]+Z")
"""The title of a session before the model gave it one."""
ALONE = "It is a subagent's session; what sent it stands in another."
SANITIZED = "It was exported with `--sanitize`: what was said, sent and shown is taken out of it."
COPIED = (
    "It was forked: its first messages are copies from another session, which it does not name."
)
UNDONE = (
    "What the user took back last was undone in the files, too, which no step shows: they are told "
    "as they were before that."
)
ELSEWHERE = "What subagents did stands in sessions of their own, which this log does not hold."


def told(session: Stored, below: Mapping[str, list[Stored]]) -> Iterator[Event]:
    """The events of a session; `below` has the sessions of subagents by what sent them."""
    if not session.messages and not below:
        yield Skipped(Origin(session.head.here, None, "system"), "a session without messages")
        return
    whole = Whole(below)
    is_alone = bool(session.parent)
    Line(whole, session, MAIN, is_alone=is_alone).tell()
    head = session.head
    here = Origin(head.at("id"), None, "system")
    limits = [
        text
        for text, holds in (
            (ALONE, is_alone),
            (SANITIZED, words(head.value.get("title")).startswith(TAKEN_OUT)),
            (COPIED, _is_forked(session)),
            (UNDONE, bool(words(inner(head.value, "revert").get("diff")))),
            (ELSEWHERE, whole.elsewhere),
        )
        if holds
    ]
    yield SessionStart(here, session.id, limits=tuple(limits))
    if session.fork is not None:
        yield Fact(Origin(session.fork, None, "system"), "harness", "Kilo")
    yield from _facts(head)
    yield from whole.events()


class Whole:
    """What the sessions of one trace share: their events, and the names of calls and subagents."""

    def __init__(self, below: Mapping[str, list[Stored]]) -> None:
        self.below = below
        self.calls = Calls()
        self.timed: list[tuple[str, Event]] = []
        self.agents = 0
        self.elsewhere = False
        """Whether a call started a subagent whose session is not here."""

    def events(self) -> Iterator[Event]:
        """All of them in the order of time; those of one moment as they were told."""
        return (event for _, event in sorted(self.timed, key=lambda one: one[0]))

    def agent(self, kind: str) -> str:
        """A name for one more subagent."""
        self.agents += 1
        return subagent(kind, self.agents)


def _facts(head: Node) -> Iterator[Event]:
    for key, name in (("directory", "cwd"), ("version", "version"), ("title", "title")):
        value = head.value.get(key)
        if is_told(words(value)) and not UNNAMED.fullmatch(str(value)):
            yield Fact(Origin(head.at(key), None, "system"), name, value)


def _is_forked(session: Stored) -> bool:
    """Whether messages are older than their session."""
    began = _created(session.head.value)
    first = _created(session.messages[0].info.value) if session.messages else None
    return began is not None and first is not None and first < began


def _created(value: dict[str, Any]) -> int | None:
    match value:
        case {"time": {"created": at}} | {"time_created": at}:
            return number(at)
    return None
