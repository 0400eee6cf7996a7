"""A session's events, with those of the subagents that it sent, in the order in which they came."""

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from forsy_retrace.calls import Calls
from forsy_retrace.events import (
    Attachment,
    Delegation,
    Event,
    Fact,
    Message,
    Notice,
    Origin,
    SessionStart,
    Skipped,
    Thinking,
    ToolCall,
    ToolResult,
)
from forsy_retrace.sdk import (
    base64_size,
    in_time,
    later,
    mark_of,
    named,
    number,
    parsed,
    subagent,
    tells_a_limit,
    when,
    words,
)

from .results import changes, noted, verdict
from .stored import Part, Said, Stored

MAIN = "agent"
UNNAMED = later(
    r"(?:Untitled|New|New Agent|Fetch Analysis) Session|Generate a title|Fetch Analysis"
)
"""Titles that nobody gave."""
ALONE = "It is a subagent's session; what sent it is not in this log."
BRIEF = "a subagent's brief"
GOES_ON = later(r"The previous session was interrupted because it got too long, the initial user ")
"""How the words begin that Crush says for the user after it summed up amid the work."""
JOINT = "$$"
"""What stands between the ids of the message and of the call in the id of a subagent's session."""
LIMITS = ("max_tokens", "content_filter")


def told(session: Stored, below: Mapping[str, list[Stored]]) -> Iterator[Event]:
    """The events of a session; `below` has the sessions of subagents by what sent them."""
    if not session.messages:
        yield Skipped(Origin(session.here, None, "system"), "a session without messages")
        return
    is_alone = bool(session.parent)
    key = "/id" if session.row else ""
    here = Origin(session.here, None, "system").below(key)
    yield SessionStart(here, session.id, limits=(ALONE,) if is_alone else ())
    title = words(session.row.get("title"))
    if title and not UNNAMED.fullmatch(title):
        yield Fact(Origin(session.here, None, "system").below("/title"), "title", title)
    yield from Line(Whole(below), session, MAIN, is_briefed=not is_alone).tell()


class Whole:
    """What the sessions of one trace share: the names of calls and subagents."""

    def __init__(self, below: Mapping[str, list[Stored]]) -> None:
        self.below = below
        self.calls = Calls()
        self.agents = 0


class Line:
    """Tells one session: the main agent's, or a subagent's."""

    def __init__(self, whole: Whole, session: Stored, actor: str, *, is_briefed: bool) -> None:
        self.whole, self.session, self.actor = whole, session, actor
        self.is_briefed = is_briefed
        """Whether the brief of a subagent is told elsewhere, or there is none."""
        self.summary = words(session.row.get("summary_message_id"))
        self.children = {one.id: one for one in whole.below.get(session.id, ())}
        """The sessions of subagents that were not told yet."""
        self.sent: dict[str, tuple[str, Any]] = {}
        """Open calls, with their tools and what they sent."""
        self.due: list[Iterator[Event]] = []
        """What the subagents do that the calls of a message sent."""
        self.ran = _times(session)
        self.cwd = ""

    def tell(self) -> Iterator[Event]:
        """All messages, and at the end the subagents that were sent by no call that is here."""
        for said in self.session.messages:
            events = list(self._message(said))
            yield from events
            record = said.here.record
            if not any(event.origin.evidence.record == record for event in events):
                yield Skipped(self._at(said), "a message without parts that tell")
        for child in [*self.children.values()]:
            yield from self._child(child, "agent")

    def _at(
        self, said: Said, part: Part | None = None, *keys: str, actor: str = "system"
    ) -> Origin:
        place = said.here if part is None else part.at(*keys) if keys else part.here
        return Origin(place, said.time, actor, said.id if actor == self.actor else None)

    def _message(self, said: Said) -> Iterator[Event]:
        match said.row.get("role"):
            case "user":
                yield from self._user(said)
            case "assistant":
                yield from self._assistant(said)
            case "tool":
                for part in said.parts:
                    yield from self._result(said, part)
            case role:
                yield Skipped(self._at(said), f"unknown role{named(role)}")

    # The user.

    def _user(self, said: Said) -> Iterator[Event]:
        pictures = tuple(_attachment(part) for part in said.parts if _is_picture(part))
        texts = [part for part in said.parts if part.kind == "text"]
        for part in said.parts:
            match part.kind, part.data:
                case "text", {"text": str(text)} if part is texts[0]:
                    yield from self._typed(said, part, text, pictures)
                case "shell_command", {"command": str(line)} if line.strip():
                    yield from self._ran(said, part, line)
                case "finish", _:
                    pass
                case _ if _is_picture(part) and texts:
                    yield Skipped(self._at(said, part), "shown with the words")
                case _ if _is_picture(part):
                    shown = _attachment(part)
                    where = self._at(said, part, actor="user")
                    mark = mark_of(shown.media, shown.size)
                    yield Message(where, "user", mark, "typed", (shown,))
                case _:
                    yield Skipped(self._at(said, part), f"unknown part{named(part.kind)}")

    def _typed(
        self, said: Said, part: Part, text: str, pictures: tuple[Attachment, ...]
    ) -> Iterator[Event]:
        """The words of a message: a human's, but for what Crush says in the human's place."""
        here = self._at(said, part, "text", actor="user")
        if not self.is_briefed:
            self.is_briefed = True
            yield Fact(here.by("system"), "brief", text)
        elif self.actor != MAIN or self.session.parent:
            yield Skipped(here, BRIEF)
        elif part.data.get("hidden") is True or GOES_ON.match(text):
            yield Skipped(here, "injected: continuation")
        elif text.strip() or pictures:
            shown = (
                text
                if text.strip()
                else "\n".join(mark_of(one.media, one.size) for one in pictures)
            )
            yield Message(here, "user", shown, "typed", pictures)
        else:
            yield Skipped(here, "empty message")

    def _ran(self, said: Said, part: Part, line: str) -> Iterator[Event]:
        """A line that the user ran in Crush's shell, and what it printed."""
        here = self._at(said, part, "command", actor="user")
        yield Message(here, "user", f"!{line}", "shell line", within=True)
        if output := words(part.data.get("output")):
            yield Fact(self._at(said, part, "output"), "brought", {"text": output})

    # The agent.

    def _assistant(self, said: Said) -> Iterator[Event]:
        if model := words(said.row.get("model")):
            place = said.here.at(said.here.pointer + "/model")
            yield Fact(Origin(place, said.time, self.actor, said.id), "model", model)
        if said.row.get("is_summary_message") == 1 or (said.id and said.id == self.summary):
            yield from self._summed_up(said)
            return
        for part in said.parts:
            yield from self._part(said, part)
        due, self.due = self.due, []
        yield from in_time(*due)

    def _summed_up(self, said: Said) -> Iterator[Event]:
        """The summary that takes the place of what lay before, once it is there."""
        ends = [part for part in said.parts if part.kind == "finish"]
        if any(part.data.get("reason") == "end_turn" for part in ends):
            yield Notice(self._at(said), "compacted")
        for part in said.parts:
            match part.kind, part.data:
                case "text", {"text": str(text)} if text.strip():
                    yield Fact(self._at(said, part, "text"), "brought", {"text": text})
                case "finish", {"reason": "error"}:
                    yield from self._ended(said, part)
                case "finish", _:
                    pass
                case _:
                    yield Skipped(self._at(said, part), "a part of a summary")

    def _part(self, said: Said, part: Part) -> Iterator[Event]:
        match part.kind, part.data:
            case "text", {"text": str(text)} if text.strip():
                yield Message(self._at(said, part, "text", actor=self.actor), "agent", text)
            case "reasoning", {"thinking": str(text)} if text.strip():
                yield Thinking(self._at(said, part, "thinking", actor=self.actor), text)
            case "reasoning", _:
                yield Skipped(self._at(said, part), "hidden reasoning")
            case "text", _:
                yield Skipped(self._at(said, part), "blank words")
            case "tool_call", {"name": str(tool)} if tool:
                yield from self._call(said, part, tool)
            case "tool_result", _:  # until 2025 a call that was stopped had its result here
                yield from self._result(said, part)
            case "finish", _:
                yield from self._ended(said, part)
            case _:
                yield Skipped(self._at(said, part), f"unknown part{named(part.kind)}")

    def _call(self, said: Said, part: Part, tool: str) -> Iterator[Event]:
        logged = words(part.data.get("id"))
        call = self.whole.calls.issue(logged, self.session.id, said.id, part.here.pointer)
        if call is None:
            yield Skipped(self._at(said, part), "repeated history")
            return
        sent = part.data.get("input")
        held = parsed(sent) if isinstance(sent, str) else None
        self.sent[call] = tool, held
        here = self._at(said, part, "input", actor=self.actor)
        if logged in self.ran:
            at, result = self.ran[logged]
            here = Origin(here.evidence, at, self.actor, here.message, dated=result.here)
        input = held if isinstance(held, dict) else sent if isinstance(sent, str) else None
        yield ToolCall(here, call, tool, input, part.at("name").pointer)
        child = self.children.get(f"{said.id}{JOINT}{logged}") or self.children.get(logged)
        if child is not None:
            self.due.append(self._child(child, tool))
            yield Delegation(here, call, subagent(tool, self.whole.agents))

    def _child(self, child: Stored, kind: str) -> Iterator[Event]:
        """What a subagent did; it has its name from now on."""
        del self.children[child.id]
        self.whole.agents += 1
        line = Line(self.whole, child, subagent(kind, self.whole.agents), is_briefed=True)
        here = Origin(child.here, None, "system")
        return chain([Skipped(here, "a subagent's session")], line.tell())

    # What came of calls.

    def _result(self, said: Said, part: Part) -> Iterator[Event]:
        match part.kind, part.data:
            case "tool_result", {"tool_call_id": str(logged)} if logged:
                call = self.whole.calls.answer(logged)
            case "finish", _:
                return
            case kind, _:
                yield Skipped(self._at(said, part), f"unknown part{named(kind)}")
                return
        if call is None:
            yield Skipped(self._at(said, part), "repeated result")
            return
        tool, sent = self.sent.pop(call, (words(part.data.get("name")), None))
        end = verdict(tool, part)
        files = changes(tool, sent, part) if end.outcome == "ok" else ()
        content = part.data.get("content")
        output = content if isinstance(content, str) else None
        shown = _shown(part)
        where = self._at(
            said, part, *(("content",) if output is not None else ()), actor=self.actor
        )
        where = Origin(where.evidence, where.at, self.actor)
        yield ToolResult(where, call, None if shown and not output else output, *end, files, shown)
        folder = words(noted(part).get("working_directory"))
        if folder and folder != self.cwd:
            self.cwd = folder
            yield Fact(self._at(said, part, "metadata", "working_directory"), "cwd", folder)

    def _ended(self, said: Said, part: Part) -> Iterator[Event]:
        """How an answer ended, where it did not go on with calls."""
        at = when(part.data.get("time") or None) or said.time
        match part.data:
            case {"reason": "canceled"} if self.actor == MAIN:
                yield Notice(Origin(part.at("reason"), at, "system"), "interrupted")
            case {"reason": "error", **rest}:
                key = "details" if words(rest.get("details")) else "message"
                text = words(rest.get(key))
                place = part.at(key) if text else part.at("reason")
                is_limit = tells_a_limit(text)
                here = Origin(place, at, "system")
                yield Notice(here, "limit" if is_limit else "model error", text)
            case {"reason": str(why)} if why in LIMITS:
                yield Notice(Origin(part.at("reason"), at, "system"), "limit", why)
            case {"reason": "end_turn"} if self.actor == MAIN:
                yield Notice(Origin(part.at("reason"), at, "system"), "ended")


def _times(session: Stored) -> dict[str, tuple[str, Part]]:
    """When commands were begun, as their results note it, by the ids of their calls."""
    found: dict[str, tuple[str, Part]] = {}
    for said in session.messages:
        for part in said.parts if said.row.get("role") == "tool" else ():
            logged, begun = words(part.data.get("tool_call_id")), noted(part).get("start_time")
            if logged and number(begun) and (at := when(begun)) is not None:
                found.setdefault(logged, (at, part))
    return found


def _is_picture(part: Part) -> bool:
    return part.kind in ("binary", "image_url")


def _attachment(part: Part) -> Attachment:
    """What the user showed: a file's bytes, or an address."""
    match part.data:
        case {"MIMEType": str(media), "Data": str(data)}:
            return Attachment(media, base64_size(data), part.at("Data").pointer, part.here)
    return Attachment("image", 0, part.here.pointer, part.here)


def _shown(part: Part) -> tuple[Attachment, ...]:
    """A picture that a tool read."""
    match part.data:
        case {"data": str(data), "mime_type": str(media)} if data and media:
            return (Attachment(media, base64_size(data), part.at("data").pointer),)
    return ()
