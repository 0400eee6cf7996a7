"""Which talks are one session: each request repeats the history, and only its end is new."""

import hashlib
from collections import Counter
from collections.abc import Iterator

from forsy_retrace.events import Event, Fact, Notice, Origin, SessionStart, Skipped
from forsy_retrace.sdk import compact
from forsy_retrace.source import Record

from .pairs import paired
from .place import Key, Place, Told
from .talks import Talk


class Session:
    """What was told of one session so far, and by what it goes on."""

    def __init__(self, ident: str) -> None:
        self.id = ident
        self.told: list[Told] = []
        self.keys: list[Key] = []
        self.counts: Counter[Key] = Counter()
        self.history = 0
        """Of all keys that a later talk may be known by."""
        self.remembered = 0
        self.facts: set[str] = set()

    @property
    def acted(self) -> bool:
        """Whether there is more than a prompt in it."""
        return any(key[0] != "prompt" for key in self.keys)

    def add(self, told: list[Told]) -> bool:
        """Adds what is new; a fact that says what the last one of its name said is not."""
        new = False
        for one in told:
            event = one.event
            if isinstance(event, Fact) and event.name != "usage":
                said = f"{event.name} {event.origin.message} {compact(event.value)}"
                if event.name != "model":
                    said = f"{event.name} {compact(event.value)}"
                if said in self.facts:
                    continue
                self.facts.add(said)
            self.told.append(one)
            new = new or not isinstance(event, Fact)
            if one.key is not None:
                self.keys.append(one.key)
                self.counts[one.key] += 1
        return new


class Sessions:
    """All sessions of a log, in the order in which they began."""

    def __init__(self) -> None:
        self.all: list[Session] = []
        self.by_id: dict[str, Session] = {}
        self.by_response: dict[str, Session] = {}
        self.by_history: dict[int, Session] = {}
        self.last: Session | None = None

    def add(self, talk: Talk, record: Record | None = None) -> None:
        """A talk goes on a session that it repeats from the first word, or that it names.

        Where nothing in it is new, the record that holds it is left out.
        """
        keys = [one.key for one in talk.told if one.key is not None]
        found, shared = self._known(talk, keys)
        fresh: list[Told]
        if found is None and self.last is not None and not talk.id and _is_aside(talk.told):
            found, shared = self.last, len(self.last.keys)
            fresh = talk.told
        elif found is None:
            found = Session(talk.id)
            self.all.append(found)
            fresh = talk.told
        elif shared == len(found.keys):
            fresh = list(_after(talk.told, shared))
        else:
            fresh = list(_unseen(talk.told, found.counts))
        new = found.add(fresh)
        if record and not new and not any(_stands_on(one.event, record) for one in found.told):
            found.told.append(skipped(record, "repeated history"))
        self._remember(found, talk)

    def _known(self, talk: Talk, keys: list[Key]) -> tuple[Session | None, int]:
        """The session that a talk belongs to, and how much of it is repeated."""
        if talk.id:
            found = self.by_id.get(talk.id)
            return (found, _shared(found.keys, keys)) if found else (None, 0)
        found = self.by_response.get(talk.after) if talk.after else None
        if found is not None:
            shared = _shared(found.keys, keys)
            return found, shared if shared == len(found.keys) else 0
        history, length, best = 0, 0, 0
        for length, key in enumerate(keys, 1):
            history = hash((history, key))
            held = self.by_history.get(history)
            if held is None:
                break
            found, best = held, length
        if found is None or not found.acted or best != _shared(found.keys, keys):
            return None, 0
        return (found, best) if best in (len(found.keys), len(keys)) else (None, 0)

    def _remember(self, session: Session, talk: Talk) -> None:
        self.last = session
        if talk.id:
            self.by_id[talk.id] = session
        if talk.response:
            self.by_response[talk.response] = session
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
        for session in _with_words_first(self.all):
            ident = session.id or (_digest(session) if many else "")
            if ident and session.told:
                first = session.told[0].event.origin
                yield SessionStart(Origin(first.evidence.at(""), first.at, "system"), ident)
            yield from paired(session.told)


def _with_words_first(sessions: list[Session]) -> list[Session]:
    """Records before the first session are handed to it, rather than making one of their own."""
    empty = [one for one in sessions if not one.id and _is_aside(one.told)]
    full = [one for one in sessions if one.id or not _is_aside(one.told)]
    if full and empty:
        stray = [told for one in empty for told in one.told]
        full[0].told = [*stray, *full[0].told]
        return full
    return sessions


def _is_aside(told: list[Told]) -> bool:
    """No words and no calls: an error or a fact, which belongs to what stands around it."""
    return all(isinstance(one.event, (Fact, Notice, Skipped)) for one in told)


def skipped(record: Record, reason: str) -> Told:
    return Told(None, Skipped(Place(record).origin("system"), reason))


def _digest(session: Session) -> str:
    said = [one.event.origin.evidence.start for one in session.told[:1]]
    text = compact(session.keys or said)
    return f"conversation-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _shared(held: list[Key], keys: list[Key]) -> int:
    for index, (old, new) in enumerate(zip(held, keys, strict=False)):
        if old != new:
            return index
    return min(len(held), len(keys))


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
