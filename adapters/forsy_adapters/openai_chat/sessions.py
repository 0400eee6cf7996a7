"""Which talks are one session: each request repeats the history, and only its end is new."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from msgspec.structs import replace

from forsy_retrace.events import (
    Event,
    Fact,
    Message,
    Notice,
    Origin,
    SessionStart,
    Skipped,
    ToolResult,
)
from forsy_retrace.sdk import compact
from forsy_retrace.source import Record

from .autogen import executed
from .pairs import paired
from .place import Key, Place, Told
from .swe_agent.fenced import acted
from .tags import parted
from .talks import Talk
from .terminus import terminal

WHEN = "when things happened, but for the time of a reply"
"""What some of these logs tell and others do not."""


class Session:
    """What was told of one session so far, and by what it goes on."""

    def __init__(self, ident: str, prior: "Session | None" = None) -> None:
        self.id = ident
        self.prior = prior
        """The session that it forks from, at an earlier response."""
        self.told: list[Told] = []
        self.keys: list[Key] = []
        self.replies: list[str] = []
        """For each key the id of the reply that told it, where it has one."""
        self.counts: Counter[Key] = Counter()
        self.history = 0
        """Of all keys that a later talk may be known by."""
        self.remembered = 0
        self.facts: set[str] = set()

    @cached_property
    def name(self) -> str:
        """Its id; what was said in it where the log gives none, once all is told."""
        said = [one.event.origin.evidence.start for one in self.told[:1]]
        text = compact(self.keys or said)
        return self.id or f"conversation-{hashlib.sha256(text.encode()).hexdigest()[:16]}"

    @property
    def acted(self) -> bool:
        """Whether there is more than a prompt in it."""
        return any(key[0] != "prompt" for key in self.keys)

    def add(self, told: list[Told]) -> bool:
        """Adds what is new; a fact that says what the last one of its name said is not."""
        new, counted = False, set[str]()
        for one in told:
            event = one.event
            if isinstance(event, Fact) and event.name != "cwd":
                said = f"{event.name} {self._holder(one)} {compact(event.value)}"
                if said in self.facts:
                    continue
                # Two replies of one talk may have cost the same; in a copy of it they are known.
                (counted if event.name == "usage" else self.facts).add(said)
            self.told.append(one)
            new = new or not isinstance(event, Fact)
            if one.key is not None:
                self.keys.append(one.key)
                self.replies.append(one.reply)
                self.counts[one.key] += 1
        self.facts |= counted
        return new

    def _holder(self, one: Told) -> str:
        """Of what a fact is true: a model of its message, usage of the reply that stands here."""
        match one.event:
            case Fact(name="model", origin=origin):
                return f"{origin.message}"
            case Fact(name="usage"):
                return f"{len(self.keys)} {one.reply}"
        return ""

    def is_answered_by_another(self, told: list[Told], start: int = 0) -> bool:
        """Whether the same words stand here in another reply: they were said twice."""
        keyed = (one.reply for one in told if one.key is not None)
        pairs = zip(keyed, self.replies[start:], strict=False)
        return any(reply and held and reply != held for reply, held in pairs)


class Mark(NamedTuple):
    """Where a response stands in its session: how many keys there were before and after it."""

    session: Session
    start: int
    end: int


class Sessions:
    """All sessions of a log, in the order in which they began."""

    def __init__(self) -> None:
        self.all: list[Session] = []
        self.by_id: dict[str, Session] = {}
        self.by_response: dict[str, Mark] = {}
        self.by_reply: dict[str, Session] = {}
        self.by_history: dict[int, Session] = {}
        self.last: Session | None = None

    def add(self, talk: Talk, record: Record | None = None) -> None:
        """A talk goes on a session that it repeats from the first word, or that it names.

        Where nothing in it is new, the record that holds it is left out.
        """
        found, fresh = self._known(talk)
        aside = found is None and self.last is not None and not talk.id and _is_aside(talk.told)
        if aside:
            found = self.last
        if found is None:
            prior = self.by_response.get(talk.after)
            found = Session(talk.id, prior.session if prior else None)
            self.all.append(found)
        start = len(found.keys)
        new = found.add(fresh)
        if (
            record
            and not new
            and (
                (talk.id and found.is_answered_by_another(talk.told))
                or not any(_stands_on(one.event, record) for one in found.told)
            )
        ):
            found.told.append(skipped(record, "repeated history"))
        self._remember(found, talk if not aside else Talk([]), start)

    def _known(self, talk: Talk) -> tuple[Session | None, list[Told]]:
        """The session that a talk belongs to, and what is new in it."""
        keys = [one.key for one in talk.told if one.key is not None]
        if talk.id:
            found = self.by_id.get(talk.id)
            return found, _new(found, talk.told, keys) if found else talk.told
        if talk.response in self.by_response:
            polled = self.by_response[talk.response]
            before = polled.session.keys[: polled.start]
            held = Counter(polled.session.keys[polled.start : polled.end])
            repeats = keys[: polled.start] == before and not talk.after
            told = list(_after(talk.told, polled.start)) if repeats else talk.told
            return polled.session, list(_unseen(told, held))
        if talk.after in self.by_response:
            # Such a request holds the new turn alone; sent again, it repeats what came since.
            mark = self.by_response[talk.after]
            since = mark.session.keys[mark.end :]
            shared = _shared(since, keys)
            again = mark.session.is_answered_by_another(talk.told, mark.end)
            if shared in (len(since), len(keys)) and not again:
                return mark.session, list(_after(talk.told, shared))
            return None, talk.told
        history, length, best = 0, 0, 0
        found = None
        for length, key in enumerate(keys, 1):
            history = hash((history, key))
            held_by = self.by_history.get(history)
            if held_by is None:
                break
            found, best = held_by, length
        if found and found.is_answered_by_another(talk.told):
            found = self.by_reply.get(talk.told[-1].reply)
        if found is None or not found.acted or best != _shared(found.keys, keys):
            return None, talk.told
        if best not in (len(found.keys), len(keys)):
            return None, talk.told
        return found, _new(found, talk.told, keys)

    def _remember(self, session: Session, talk: Talk, start: int) -> None:
        self.last = session
        if talk.id:
            self.by_id[talk.id] = session
        if talk.response:
            held = self.by_response.get(talk.response)
            if held is None or start < len(session.keys):
                start = held.start if held else start
                self.by_response[talk.response] = Mark(session, start, len(session.keys))
        self.by_reply |= {one.reply: session for one in talk.told if one.reply}
        for key in session.keys[session.remembered :]:
            session.history = hash((session.history, key))
            self.by_history[session.history] = session
        session.remembered = len(session.keys)

    def skip(self, record: Record, reason: str) -> None:
        """A record that is no part of any session stands with the one before it."""
        if self.last is None:
            self.last = Session("")
            self.all.append(self.last)
        self.last.told.append(skipped(record, reason))

    def events(self) -> Iterator[Event]:
        """Session by session. What the log gives no id is known by what was said in it."""
        many = sum(not _is_aside(one.told) for one in self.all) > 1
        sessions = _with_words_first(self.all)
        names = _names(self.all)
        for session in sessions:
            ident = names[session] if many else session.id
            prior = names[session.prior] if session.prior else None
            if ident and session.told:
                first = session.told[0].event.origin
                yield SessionStart(Origin(first.evidence.at(""), first.at, "system"), ident, prior)
            told = list(acted(executed(terminal(list(parted(session.told))))))
            yield from paired([*told, *_timed(told)])


def _timed(told: list[Told]) -> Iterator[Told]:
    """That the log tells when things happened: all results have a time, or without any all asks."""
    results = [one.event.origin for one in told if isinstance(one.event, ToolResult)]
    asks = [
        one.event.origin
        for one in told
        if isinstance(one.event, Message) and one.event.role == "user"
    ]
    timed = results or asks
    if timed and all(origin.at for origin in timed):
        yield Told(None, Fact(replace(timed[0], actor="system"), "shows", WHEN))


def _with_words_first(sessions: list[Session]) -> list[Session]:
    """Records before the first session are handed to it, rather than making one of their own."""
    empty = [one for one in sessions if not one.id and _is_aside(one.told)]
    full = [one for one in sessions if one.id or not _is_aside(one.told)]
    if full and empty:
        stray = [told for one in empty for told in one.told]
        full[0].told = [*stray, *full[0].told]
        return full
    return sessions


def _names(sessions: list[Session]) -> dict[Session, str]:
    """Each session under a name of its own: the same may have been said in two."""
    count: Counter[str] = Counter()
    names = {}
    for one in sessions:
        count[one.name] += 1
        names[one] = one.name if count[one.name] == 1 else f"{one.name}#{count[one.name]}"
    return names


def _is_aside(told: list[Told]) -> bool:
    """No words and no calls: an error or a fact, which belongs to what stands around it."""
    return all(isinstance(one.event, (Fact, Notice, Skipped)) for one in told)


def skipped(record: Record, reason: str) -> Told:
    return Told(None, Skipped(Place(record).origin("system"), reason))


def _shared(held: list[Key], keys: list[Key]) -> int:
    for index, (old, new) in enumerate(zip(held, keys, strict=False)):
        if old != new:
            return index
    return min(len(held), len(keys))


def _new(found: Session, told: list[Told], keys: list[Key]) -> list[Told]:
    """What a talk that repeats a session's history adds to it."""
    shared = _shared(found.keys, keys)
    return list(_after(told, shared) if shared == len(found.keys) else _unseen(told, found.counts))


def _after(told: list[Told], count: int) -> Iterator[Told]:
    """What comes behind so many known values; facts of the request count wherever they stand."""
    seen = 0
    for one in told:
        if seen >= count or (
            isinstance(one.event, Fact) and one.event.name != "usage" and one.key is None
        ):
            yield one
        seen += one.key is not None


def _unseen(told: list[Told], held: Counter[Key]) -> Iterator[Told]:
    """What a shortened history adds to the whole one."""
    fresh = True
    again: Counter[Key] = Counter()
    for one in told:
        if one.key is not None:
            again[one.key] += 1
            fresh = again[one.key] > held[one.key]
        if fresh:
            yield one


def _stands_on(event: Event, record: Record) -> bool:
    return event.origin.evidence.record == record.here.record
