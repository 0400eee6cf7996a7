"""The messages of a log, and which of their records says what each came to."""

import hashlib
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from forsy_retrace.sdk import pointer, when, words
from forsy_retrace.source import Source

from .._gemini.told import Told, parts_of
from .speech import texts_of, why_injected

Json = dict[str, Any]

PLACE = "where the agent worked"
GROWN = "an earlier state of a message"
CONTEXT = "repeated: what the model was given"
AGENTS = {"gemini": "", "bob-shell": "Bob Shell"}
"""The types of an agent's messages, and the harness where it is another that keeps the form."""
APART = timedelta(milliseconds=20)
"""More than lies between two calls as they are recorded, and less than a model takes to answer."""


class Place(NamedTuple):
    """A record by its number, and where in it a message stands."""

    record: int
    base: str


def is_header(value: Any) -> bool:
    """What a file begins with; the older form has the messages too."""
    match value:
        case {"sessionId": str(), "projectHash": str(), **rest}:
            return "id" not in rest
    return False


def messages(value: Any) -> Iterator[tuple[str, Any]]:
    """The messages of a record, and where they stand in it."""
    match value:
        case {"$rewindTo": _}:
            return
        case {"id": str()}:
            yield "", value
        case {"$set": {"messages": list(listed)}}:
            yield from (
                (pointer("$set", "messages", index), one) for index, one in enumerate(listed)
            )
        case {"sessionId": str(), "messages": list(listed)}:
            yield from ((pointer("messages", index), one) for index, one in enumerate(listed))


def calls_of(message: Json) -> Iterator[tuple[int, Json]]:
    """The recorded calls of an agent's message."""
    listed = message.get("toolCalls")
    for index, call in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(call, dict):
            yield index, call


def batches(message: Json) -> list[list[tuple[int, Json]]]:
    """The calls of a message, those together that were recorded at one time: sent together."""
    found: list[list[tuple[int, Json]]] = []
    last: datetime | None = None
    for index, call in calls_of(message):
        told = when(call.get("timestamp"))
        at = datetime.fromisoformat(told) if told else None
        if not found or (at and last and at - last > APART):
            found.append([])
        found[-1].append((index, call))
        last = at or last
    return found


def told_of(call: Json, base: str) -> Told:
    """A recorded call that stands at the pointer `base`."""
    answer, where = {}, f"{base}/result"
    result = call.get("result")
    for index, part in enumerate(result if isinstance(result, list) else ()):
        match part:
            case {"functionResponse": {"response": dict(held)}}:
                answer, where = held, f"{base}/result/{index}/functionResponse/response"
                break
    return Told(
        words(call.get("name")),
        call.get("args"),
        call.get("status"),
        f"{base}/status",
        answer,
        where,
        call.get("resultDisplay"),
        f"{base}/resultDisplay",
    )


class Entry:
    """A message: where its last state stands, and what it holds."""

    def __init__(self, number: int, ident: str, place: Place, message: Json) -> None:
        self.number, self.ident, self.place = number, ident, place
        self.role = words(message.get("type"))
        self.is_bare = not place.base
        self.is_typed = self.role == "user" and any(True for _ in texts_of(message.get("content")))
        self.atoms: set[bytes] = set()
        self.branch = ""


class Survey:
    """What a file shows as a whole: it is read once before the first event."""

    def __init__(self, source: Source) -> None:
        self.entries: dict[str, Entry] = {}
        self.order: list[Entry] = []
        self.alike: dict[bytes, list[int]] = {}
        """What a message holds, and which messages hold it, by their numbers."""
        self.copies: dict[str, Entry] = {}
        """Messages that were told anew under another id."""
        self.why: dict[Place, str] = {}
        """Why a message is passed over."""
        self.replaces: dict[str, str] = {}
        """A message to the earlier one that the user had gone back to."""
        self.recorded: set[str] = set()
        """Calls that stand among the recorded ones of a message."""
        self.answered: set[str] = set()
        """Those that have their result there."""
        self.branches = 0
        self.left = ""
        for number, record in enumerate(source.records()):
            self._record(number, record.value)

    def branch(self, ident: str) -> str:
        """The abandoned line on which a message stands; empty on the visible one."""
        entry = self.entries.get(ident)
        return entry.branch if entry else ""

    def _record(self, number: int, value: Any) -> None:
        match value:
            case {"$rewindTo": str(ident)}:
                self._rewind(Place(number, ""), ident)
            case {"id": str()}:
                self._said(Place(number, ""), value)
            case {"$set": {"messages": list()}}:
                self._given(number, value)
            case _:
                for base, message in messages(value):
                    if isinstance(message, dict) and isinstance(message.get("id"), str):
                        self._said(Place(number, base), message)

    def _said(self, place: Place, message: Json) -> None:
        """A message as it was said, or as it has grown."""
        entry = self.entries.get(message["id"])
        if entry is None:
            entry = Entry(len(self.order), message["id"], place, message)
            self.entries[entry.ident] = entry
            self.order.append(entry)
            if self.left and entry.is_typed:
                self.replaces[entry.ident], self.left = self.left, ""
        elif entry.place != place:
            self.why[entry.place] = GROWN
            entry.place = place
        for atom in _atoms(message) - entry.atoms:
            entry.atoms.add(atom)
            self.alike.setdefault(atom, []).append(entry.number)
        for _, call in calls_of(message):
            ident = words(call.get("id"))
            self.recorded.add(ident)
            if call.get("result") is not None:
                self.answered.add(ident)

    def _given(self, number: int, value: Any) -> None:
        """What is put before the model: mostly what was said before, some of it under new ids.

        Where the client puts it together anew (a call turned down, 0.61) it writes each message
        as if it were said, and then all of them at once.
        """
        listed = [
            (base, one)
            for base, one in messages(value)
            if isinstance(one, dict) and isinstance(one.get("id"), str)
        ]
        names = {one["id"] for _, one in listed}
        first = self.entries.get(listed[0][1]["id"]) if listed else None
        if first is not None and first.is_bare and first.ident not in self.copies:
            run = [one for one in self.order[first.number :] if one.ident in names]
            atoms = set().union(*(one.atoms for one in run))
            if atoms and all(self.alike[atom][0] < first.number for atom in atoms):
                self._told_anew(run)
        at = 0
        for base, one in listed:
            place, atoms = Place(number, base), _atoms(one)
            if one["id"] in self.entries:
                self.why[place] = CONTEXT
            elif atoms and all(atom in self.alike for atom in atoms):
                self.why[place] = CONTEXT
                at = self._copy(one["id"], atoms, at)
            else:
                self._said(place, one)

    def _told_anew(self, run: list[Entry]) -> None:
        at = 0
        for one in run:
            self.why[one.place] = CONTEXT
            for atom in one.atoms:
                self.alike[atom].remove(one.number)
            at = self._copy(one.ident, one.atoms, at)

    def _copy(self, ident: str, atoms: set[bytes], at: int) -> int:
        """Finds what a message repeats, in the order in which it was said."""
        held = [self.alike[atom] for atom in atoms]
        numbers = [next((one for one in some if one >= at), some[0]) for some in held if some]
        if numbers:
            at = max(numbers)
            self.copies[ident] = self.order[at]
        return at

    def _rewind(self, place: Place, ident: str) -> None:
        """That message and all that followed it were left."""
        entry = self.copies.get(ident) or self.entries.get(ident)
        if entry is None:
            self.why[place] = "a way back to a message that is not here"
            return
        self.branches += 1
        for one in self.order[entry.number :]:
            one.branch = one.branch or f"b{self.branches}"
        self.left = entry.ident if entry.is_typed else ""


def _atoms(message: Json) -> set[bytes]:
    """What tells that a message repeats another: its texts, and its calls and results by id."""
    found = set()
    for _, part in parts_of(message.get("content")):
        match part:
            case {"functionCall": {"id": str(ident)}}:
                found.add(_mark("call", ident))
            case {"functionResponse": {"id": str(ident)}}:
                found.add(_mark("result", ident))
    for _, text in texts_of(message.get("content")):
        if text.strip() and not why_injected(text):
            found.add(_mark(words(message.get("type")), text))
    for _, call in calls_of(message):
        found.add(_mark("call", words(call.get("id"))))
    return found


def _mark(kind: str, text: str) -> bytes:
    return hashlib.blake2b(f"{kind} {text}".encode("utf-8", "replace"), digest_size=12).digest()
