"""What an adapter makes of a log: a closed union of events, in the order in which they happened."""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, Literal

import msgspec

from forsy_retrace.evidence import Evidence
from forsy_retrace.memory import let_go

Outcome = Literal[
    "ok", "failed", "rejected", "blocked", "interrupted", "timed_out", "launched", "unknown"
]
"""How a call ended. `rejected`: the user turned it down; `blocked`: the harness or a rule of its
did; neither ran. `interrupted`: it was stopped before its end. `timed_out`: its time was up.
`launched`: it runs on, and this is not its end. `unknown`: the log does not say.
"""
NEVER_RAN: tuple[Outcome, ...] = ("rejected", "blocked")

SHELL = "agent:shell"
"""Who acts in a shell's history, which does not record who typed."""

Via = Literal[
    "typed",
    "command",
    "queued",
    "rejection",
    "answer",
    "plan accepted",
    "shell line",
    "edited",
    "notification",
]
"""How words came. A human's: `queued` while the agent worked; with a `rejection`, or as the
`answer` to a question; with a `plan accepted`; `edited`, in place of earlier ones; as a `command`
of the client, or a `shell line` that they ran themselves. A `notification` is the report of a
subagent in the background: an agent's words by that subagent; `answers` is the call that started
it.
"""


class Origin(msgspec.Struct, frozen=True, gc=False):
    """Where an event comes from: its bytes, its time (ISO 8601, UTC, `Z`), who acted: `user`,
    `agent`, `system` or `subagent:<type>_<n>`.

    `message` is the harness's message id: calls of one message are parallel. `branch` names an
    abandoned line of the conversation and is empty on the visible one.
    """

    evidence: Evidence
    at: str | None = None
    actor: str = "agent"
    message: str | None = None
    branch: str = ""
    pieces: tuple[Evidence, ...] = ()
    """Every place of a value that a stream spreads over several: their texts joined, in order."""
    reading: str = ""
    """The rule that read the text out of its places, where they hold more than it."""
    clock: tuple[Evidence, ...] = ()
    """Where the time stands, if not in the record: a recording's start, and a time in it."""
    dated: Evidence | None = None
    """The record that names the time, if it is another: a message's, of a part of it."""

    def below(self, path: str) -> "Origin":
        """The same, at a place below this one in the record."""
        evidence = self.evidence.at(self.evidence.pointer + path)
        here = (evidence, self.at, self.actor, self.message, self.branch)
        return Origin(*here, dated=self.dated)

    def joining(self, paths: Sequence[str]) -> "Origin":
        """The same, for a text that is joined of those at places below this one; without any, the
        place itself.
        """
        marks = [self.below(path) for path in paths] or [self]
        places = tuple(mark.evidence for mark in marks) if len(marks) > 1 else ()
        return msgspec.structs.replace(marks[0], pieces=places)

    def by(self, actor: str) -> "Origin":
        """The same place and time, with who acted there."""
        return msgspec.structs.replace(self, actor=actor)


class Attachment(msgspec.Struct, frozen=True, gc=False):
    """A picture or document: its media type, its size in bytes, and where its bytes stand.

    `pointer` starts at the record's root, as `basis`, `named` and `Change.pointer` do.
    """

    media: str
    size: int
    pointer: str
    record: Evidence | None = None
    """The record of its bytes, where that is another than the event's."""


class Hunk(msgspec.Struct, frozen=True, gc=False):
    """One piece of a patch: first line before and after (from 1), lines with ` `, `+` or `-`.

    Where the log does not say at which lines it stands, both are 0. Pieces stand in order.
    """

    old_start: int
    new_start: int
    lines: tuple[str, ...]

    @property
    def is_placed(self) -> bool:
        """Whether the log says at which lines it stands."""
        return bool(self.old_start or self.new_start)


class Packed:
    """A long text that is seldom asked for, held small; `str` gives it back."""

    __slots__ = ("data",)

    WORTH = 8000
    """Characters from which packing a text is worth its time."""

    def __init__(self, text: str) -> None:
        is_long = len(text) >= self.WORTH
        self.data = zlib.compress(text.encode("utf-8", "surrogatepass"), 1) if is_long else text

    def __str__(self) -> str:
        if isinstance(self.data, str):
            return self.data
        return zlib.decompress(self.data).decode("utf-8", "surrogatepass")

    def __repr__(self) -> str:
        return f"Packed({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Packed) and self.data == other.data

    def __hash__(self) -> int:
        return hash(self.data)


class Change(msgspec.Struct, frozen=True, gc=False):
    """A file as the harness recorded it at a call: what it did to it, or what it showed of it.

    `start` is the first line (from 1) of a part that was shown; `total` the file's line count.
    """

    path: str
    kind: Literal["created", "modified", "deleted", "shown"]
    hunks: tuple[Hunk, ...] = ()
    before: Packed | None = None
    """All of it, packed: a client writes the file into the log again at each edit."""
    after: str | None = None
    shown: Packed | None = None
    """Of a file that was shown, the part that was; `text` gives it, or what a change left."""
    start: int = 1
    total: int | None = None
    pointer: str = ""
    trimmed: bool = False
    """Blank lines and line ends at the ends of what was shown are not told."""

    @property
    def text(self) -> str | None:
        """What stood in the file, or in the part of it that was shown."""
        return self.after if self.shown is None else str(self.shown)


class SessionStart(msgspec.Struct, frozen=True, gc=False, tag_field="event", tag=True):
    """A new session; `continues` is the session that it goes on from, if the log says so.

    Where the log names no sessions, `basis` says how the adapter told this one from the last;
    `limits` are sentences on what this one log cannot tell.
    """

    origin: Origin
    id: str
    continues: str | None = None
    basis: str = ""
    limits: tuple[str, ...] = ()


class Fact(msgspec.Struct, frozen=True, gc=False, tag_field="event", tag=True):
    """Something true of the session as soon as the log says it: model, cwd, version, usage …"""

    origin: Origin
    name: str
    value: Any


class Message(msgspec.Struct, frozen=True, gc=False, tag_field="event", tag=True):
    """Words. `via` says how they came; `within` that they are a part of their place, of which the
    rest is the harness's own, or marks."""

    origin: Origin
    role: Literal["user", "agent"]
    text: str
    via: Via = "typed"
    attachments: tuple[Attachment, ...] = ()
    answers: str | None = None
    """The call that these words reject or answer."""
    within: bool = False


class Thinking(msgspec.Struct, frozen=True, gc=False, tag_field="event", tag=True):
    """Recorded reasoning, in its own words."""

    origin: Origin
    text: str


class Meant(msgspec.Struct, frozen=True, gc=False):
    """What a call comes to: a tool that is `Known`, and arguments of it."""

    tool: str
    input: Any


CODE_ENDED = "code-ended"
"""The rule of an end that tells of code alone, and not of the call that it makes."""


class ToolCall(msgspec.Struct, frozen=True, gc=False, tag_field="event", tag=True):
    """The exact arguments as sent: an object, or the raw text of a free-form tool."""

    origin: Origin
    call: str
    tool: str
    """Empty where the log names none."""
    input: Any
    """None where the log has none."""
    named: str | None = ""
    """The pointer of the tool's name from the record's root, where it may be a part of a text;
    empty: `name` beside the input; None: nowhere as it is, the record tells the tool by its kind
    or in parts."""
    meant: Meant | None = None
    """The call that rules take this one for: what code makes, if it can make no other, or the tool
    of the builder's tables that a harness's own command works like."""
    made_by: str = ""
    """The call whose code made this one, while it ran; the agent issued only that."""


class ToolResult(msgspec.Struct, frozen=True, gc=False, tag_field="event", tag=True):
    """What came back. `rule` and `basis` say what in the record told the outcome, and where.

    `basis` is a pointer from the record's root; empty, all of the record.
    """

    origin: Origin
    call: str
    output: str | None
    """None where the log says that the call ended, and not what came back."""
    outcome: Outcome = "unknown"
    rule: str = ""
    basis: str = ""
    exit_code: int | None = None
    """None where the log does not say."""
    changes: tuple[Change, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    ended_by: str = ""
    """The rule that computed the time of the end; empty where the record names it."""
    end: "ToolResult | None" = None
    """What a later call told of the end of this one, which itself only said that it runs on."""
    amended: bool = False
    """The user changed what was asked for, and then let it be done."""
    commit: str = ""
    """The commit that the harness says it made."""


class Delegation(msgspec.Struct, frozen=True, gc=False, tag_field="event", tag=True):
    """This call started that subagent."""

    origin: Origin
    call: str
    actor: str


class Notice(msgspec.Struct, frozen=True, gc=False, tag_field="event", tag=True):
    """The harness did something. `interrupted` is by a human; `cut` says that words stop here, and
    not why.

    Where something that no human said ends a turn, `ended` says in its text what it was.
    """

    origin: Origin
    kind: Literal[
        "interrupted", "compacted", "cleared", "model error", "limit", "resumed", "ended", "cut"
    ]
    text: str = ""


class Skipped(msgspec.Struct, frozen=True, gc=False, tag_field="event", tag=True):
    """A record read and left out. A reason that starts with `unreadable` says it was no record, one
    with `unknown` that no reader knows it (`--strict` fails); `hidden reasoning` is counted."""

    origin: Origin
    reason: str


Event = (
    SessionStart | Fact | Message | Thinking | ToolCall | ToolResult | Delegation | Notice | Skipped
)


class Session(msgspec.Struct, frozen=True, dict=True):
    """One session's events. `id` is empty where the log names none."""

    id: str
    continues: str | None
    events: tuple[Event, ...]
    basis: str = ""
    limits: tuple[str, ...] = ()

    @cached_property
    def _by_name(self) -> dict[str, list[Fact]]:
        """All facts, gathered once."""
        found: dict[str, list[Fact]] = {}
        for one in self.events:
            if isinstance(one, Fact):
                found.setdefault(one.name, []).append(one)
        return found

    def facts(self, name: str) -> list[Fact]:
        """The facts of a name, in the log's order."""
        return self._by_name.get(name, [])


IDLE = 30.0
"""Minutes without an event that end a session of a log that names none.

Of the gaps between 12,682 commands of one shell user 1 in 140 was longer.
"""


def sessions(events: Iterable[Event], idle: float = IDLE) -> Iterator[Session]:
    """Cuts a stream at each SessionStart. What stands before the first belongs to it.

    A session that is only told from the last by its `basis` is also cut where nothing happened
    for `idle` minutes.
    """
    start: SessionStart | None = None
    held: list[Event] = []
    outputs: dict[str, str] = {}
    for event in events:
        if isinstance(event, SessionStart):
            if start is not None:
                cut, held, outputs = _sessions(start, held, idle), [], {}
                yield from let_go(cut)
            start = event
        held.append(_kept_once(event, outputs))
    if held:
        cut, held, outputs = _sessions(start, held, idle), [], {}
        yield from let_go(cut)


LONG = 500
"""Characters of an output from which it is worth to ask whether it was there before."""


def _kept_once(event: Event, outputs: dict[str, str]) -> Event:
    """An event whose output, where an earlier one had it to the letter, is the same object."""
    if not isinstance(event, ToolResult) or event.output is None or len(event.output) < LONG:
        return event
    first = outputs.setdefault(event.output, event.output)
    return event if first is event.output else msgspec.structs.replace(event, output=first)


def _sessions(start: SessionStart | None, held: list[Event], idle: float) -> list[Session]:
    if start is None:
        return [Session("", None, tuple(held))]
    whole = Session(start.id, start.continues, tuple(held), start.basis, start.limits)
    return list(_parts(whole, idle)) if start.basis else [whole]


def _parts(whole: Session, idle: float) -> Iterator[Session]:
    """A session, cut before each event that came too long after the last."""
    first, basis = 0, whole.basis
    last: datetime | None = None
    for index, event in enumerate(whole.events):
        if event.origin.at is None:
            continue
        now = datetime.fromisoformat(event.origin.at)
        idled = last is not None and (now - last).total_seconds() > 60 * idle
        if idled and not isinstance(event, ToolResult):  # a long run is no idling
            part = whole.events[first:index]
            yield msgspec.structs.replace(whole, events=part, basis=basis)
            first, basis = index, f"idle for more than {idle:g} minutes"
        last = now if last is None else max(last, now)
    yield msgspec.structs.replace(whole, events=whole.events[first:], basis=basis)
