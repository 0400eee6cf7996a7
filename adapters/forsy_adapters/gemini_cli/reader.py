"""One file's records, one by one."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Event, Fact, Notice, Origin, SessionStart, Skipped
from forsy_retrace.sdk import later, named, when, words
from forsy_retrace.source import Record, Source

from .agents import Agents, Started
from .messages import AGENTS, Json, Place, Survey, calls_of, is_header, messages
from .state import BRIEF, State
from .users import Users

SHOWN: tuple[tuple[str, Any, str], ...] = (
    # What the client shows its user of its own: by type, and what it is.
    ("info", later(r"Request cancelled\.|User cancelled the request\."), "interrupted"),
    ("info", later(r"The session has reached the maximum number of turns"), "limit"),
    ("info", later(r"A potential loop was detected\."), "limit"),
    ("error", later(r"\[API Error: .*(?:RESOURCE_EXHAUSTED|quota|\b429\b)"), "limit"),
    ("error", later(r"\[API Error: "), "model error"),
)


class Reader:
    """Reads a file's records; of a subagent's it is told whose they are."""

    def __init__(self, source: Source, actor: str, started: Started) -> None:
        self.source = source
        self.found = Survey(source)
        self.state = State(self.found, actor)
        self.users, self.agents = Users(self.state), Agents(self.state, started)
        self.header = ""
        self.stopped: Event | None = None
        """An interruption, told before the calls that it hit."""

    def events(self) -> Iterator[Event]:
        """At least one event of each record, in the order of the file."""
        for number, record in enumerate(self.source.records()):
            yield from self._record(number, record)
        yield from self._stop()

    def _stop(self) -> Iterator[Event]:
        """The interruption that waits, if one does."""
        if self.stopped is not None:
            yield self.stopped
            self.stopped = None

    def _record(self, number: int, record: Record) -> Iterator[Event]:
        value = record.value
        here = Origin(record.here, None, "system")
        if record.problem:
            yield Skipped(here, record.problem)
            return
        match value:
            case {"$rewindTo": str()}:
                why = self.found.why.get(Place(number, ""), "a way back to an earlier message")
                yield Skipped(here.below("/$rewindTo"), why)
            case {"id": str()}:
                pass
            case {"$set": dict(told)}:
                yield from self._facts(told, here.below("/$set"))
                if not isinstance(told.get("messages"), list) or not told["messages"]:
                    yield Skipped(here, "state of the session")
            case _ if is_header(value):
                yield from self._header(value, here)
            case _:
                yield Skipped(here, "not a record of a session")
        for base, message in messages(value):
            yield from self._message(Place(number, base), message, here.below(base))

    def _header(self, value: Json, here: Origin) -> Iterator[Event]:
        name, began = value["sessionId"], when(value.get("startTime"))
        if name == self.header:
            # The client writes it again when it takes a session up.
            yield Notice(Origin(here.evidence, began, "system"), "resumed")
        elif not self.state.is_main:
            yield Skipped(here, "a subagent's session")
        else:
            yield SessionStart(here.below("/sessionId"), name)
            self.state.is_alone = value.get("kind") == "subagent"
            self.state.nobodys = BRIEF if self.state.is_alone else ""
        self.header = name
        if self.state.is_main:
            yield from self._facts(value, here)

    def _facts(self, told: Json, here: Origin) -> Iterator[Event]:
        if words(told.get("summary")):
            yield Fact(here.below("/summary"), "title", told["summary"])
        match told.get("directories"):
            case [str(folder), *_] if folder:
                yield from self.state.worked(folder, here.below("/directories/0"))

    def _message(self, place: Place, message: Any, here: Origin) -> Iterator[Event]:
        if not isinstance(message, dict) or not isinstance(message.get("id"), str):
            yield Skipped(here, "not a message")
            return
        if why := self.found.why.get(place):
            yield Skipped(here, why)
            return
        ident, role = message["id"], message.get("type")
        branch = self.found.branch(ident)
        at = when(message.get("timestamp"))
        here = Origin(here.evidence, at, "system", ident, branch)
        told: list[Event] = []
        if role == "user":
            told = list(self.users.events(message, here))
        elif isinstance(role, str) and role in AGENTS:
            told = list(self.agents.events(message, here))
        elif role in ("info", "error", "warning"):
            told = [self._shown(str(role), message, here)]
        else:
            told = [Skipped(here, f"unknown type of message{named(role)}")]
        # A call that is stopped is written when it has ended, behind the words that say so.
        if not any(call.get("status") == "cancelled" for _, call in calls_of(message)):
            yield from self._stop()
        match told:
            case [Notice(kind="interrupted") as notice]:
                self.stopped = notice
                return
        yield from told
        yield from self._stop()
        if all(isinstance(event, Fact) for event in told):
            yield Skipped(here, "empty message")

    def _shown(self, kind: str, message: Json, here: Origin) -> Event:
        """What the client showed of its own."""
        text = words(message.get("content"))
        for of, pattern, notice in SHOWN:
            if of == kind and pattern.match(text):
                said = "" if notice == "interrupted" else text
                return Notice(here.below("/content"), notice, said)  # type: ignore[arg-type]  # the table's words are Notice's kinds
        return Skipped(here, f"shown by the client: {kind}")
