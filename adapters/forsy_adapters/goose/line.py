"""One session's messages, part by part: the main agent's, or a subagent's."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msgspec import structs

from forsy_retrace.events import (
    Delegation,
    Event,
    Fact,
    Message,
    Notice,
    Origin,
    Skipped,
    Thinking,
    ToolCall,
    ToolResult,
    Via,
)
from forsy_retrace.sdk import (
    compact,
    later,
    mark_of,
    media_of,
    named,
    order,
    tells_a_limit,
    when,
    words,
)

from . import results
from .stored import Node, Said, Stored, below_of

if TYPE_CHECKING:
    from .teller import Whole

MAIN = "agent"
SKILLS = ("load_skill", "skills__loadSkill")
DEEPEST = 8
"""Subagents that are told within one another; what they send in turn is told by itself."""
REQUESTS = ("toolRequest", "frontendToolRequest")
LEFT_OUT = {
    "redactedThinking": "hidden reasoning",
    "systemNotification": "a notice to the user",
    "conversationCompacted": "a notice to the user",
    "contextLengthExceeded": "a notice to the user",
    "summarizationRequested": "a notice to the user",
    "toolConfirmationRequest": "asks for leave, as its call tells",
}
"""Parts that are nobody's words and no work."""
ASKED = {
    "toolConfirmation": "asks for leave, as its call tells",
    "elicitation": "a server's question to the user",
}
COMMANDS = ("/compact", "/summarize", "/clear")
"""What the user types to Goose itself."""
HISTORY = later(r"<shell_history>\n(?:[^<]|<(?!/shell_history>)){0,20000}</shell_history>\n\n")
"""What `goose term` puts before the user's words."""
ON = r" How would you like to proceed\?\Z"
SAID: tuple[tuple[re.Pattern[str], str, str], ...] = (
    # What Goose says in the agent's place (`agent.rs`, the command line's session): what it tells
    # of, or why it is left out.
    (
        later(r"Ran into this error: .*\n\nPlease retry if you think this is", re.S),
        "model error",
        "",
    ),
    (
        later(r"I've reached the maximum number of actions I can do without user input\."),
        "limit",
        "",
    ),
    (later(r"The tool calling loop was interrupted\." + ON), "interrupted", ""),
    (later(r"The existing call to \S{1,200} was interrupted\." + ON), "", "injected: question"),
    (later(r"We interrupted the existing call to \S{1,200}\." + ON), "", "injected: question"),
    (later(r"Interrupted before the model replied and removed"), "", "injected: question"),
    (later(r"Compaction complete\Z"), "", "the end of a compaction"),
)


class Line:
    """Tells one session: the main agent's, or a subagent's."""

    def __init__(
        self, whole: "Whole", session: Stored, actor: str, *, is_alone: bool = False
    ) -> None:
        self.whole, self.session, self.actor = whole, session, actor
        self.is_briefed = actor == MAIN and not is_alone
        """Whether the brief is told; of a subagent, the first words are it."""
        self.is_human = actor == MAIN and not is_alone
        """Whether a human speaks here."""
        self.typed = ""
        """What was typed last."""
        self.groups = set[str]()
        """The answers of the model that were told."""
        self.group, self.place = "", -1
        """The answer of the model that is told, and the last of its calls."""
        self.thoughts = set[str]()
        """What was thought in it: Goose writes it again with each of its calls."""
        self.answers: dict[str, Said] = {}
        self.sent: dict[str, tuple[str, bool]] = {}
        """Calls that sent a subagent: its session, and whether it was left to itself."""
        self.open: dict[str, tuple[str, Any, Node]] = {}
        """Calls: the tool, what was sent to it, and the part of their message."""
        self._survey()

    def _survey(self) -> None:
        known = set[str]()
        for said in self.session.said:
            for part in said.of("toolResponse"):
                logged = words(part.value.get("id"))
                self.answers.setdefault(logged, said)
                name = below_of(part.value)
                if name and name not in known and logged not in self.sent:
                    known.add(name)
                    launched = results.verdict("", part.value, "").outcome == "launched"
                    self.sent[logged] = name, launched

    def events(self) -> Iterator[Event]:
        """All messages; each gives at least one event of its record."""
        said = self.session.said
        for at, one in enumerate(said):
            here = one.info.here.record
            told = list(self._message(one, at))
            yield from told
            if not any(event.origin.evidence.record == here for event in told):
                yield Skipped(self._at(one, one.info), "empty message")

    def _at(self, said: Said, node: Node, *keys: str | int, actor: str = "system") -> Origin:
        return Origin(node.at(*keys) if keys else node.here, when(said.when), actor)

    # Messages.

    def _message(self, said: Said, place: int) -> Iterator[Event]:
        match said.role:
            case "user":
                yield from self._user(said, place)
            case "assistant" if not said.is_shown and not any(map(list, map(said.of, REQUESTS))):
                yield Skipped(self._at(said, said.info), "injected: how to go on")
            case "assistant":
                yield from self._assistant(said)
            case role:
                yield Skipped(self._at(said, said.info), f"unknown role{named(role)}")

    def _user(self, said: Said, place: int) -> Iterator[Event]:
        if not said.is_shown:
            yield from self._hidden(said, place)
            return
        pictures = [part for part in said.parts if results.is_picture(part.value)]
        has_words = any(words(part.value.get("text")).strip() for part in said.of("text"))
        for part in said.parts:
            match part.value:
                case {"type": "text", "text": str(text)} if text.strip():
                    yield from self._typed(said, part, text, pictures)
                    pictures = []
                case {"type": "text"}:
                    yield Skipped(self._at(said, part), "blank words")
                case {"type": "toolResponse"}:
                    yield from self._result(said, part)
                case {"type": "actionRequired", "data": {"actionType": str(kind), **held}}:
                    yield self._asked(said, part, kind, held)
                case _ if results.is_picture(part.value) and has_words:
                    continue
                case _ if results.is_picture(part.value) and pictures:
                    text = mark_of(*media_of(part.value))
                    yield from self._typed(said, part, text, [part])
                case _:
                    yield self._left(said, part)

    def _hidden(self, said: Said, place: int) -> Iterator[Event]:
        """What Goose puts before the agent alone: where it is, a summary, the last words again."""
        if said.meta.value.get("turnContext") is True:
            yield Skipped(self._at(said, said.info), "injected: turn context")
            return
        after = self.session.said[place + 1 : place + 2]
        is_summary = any(one.role == "assistant" and not one.is_shown for one in after)
        if is_summary:
            yield Notice(self._at(said, said.info, actor=self.actor), "compacted")
        for part in said.parts:
            match part.value:
                case {"type": "text", "text": str(text)} if is_summary:
                    yield Fact(self._at(said, part, "text"), "brought", {"text": text})
                case {"type": "text", "text": str(text)} if text == self.typed:
                    yield Skipped(self._at(said, part), "said again after it was summed up")
                case {"type": "toolResponse"}:
                    yield from self._result(said, part)
                case _:
                    yield Skipped(self._at(said, part), "injected: text for the agent alone")

    def _typed(self, said: Said, part: Node, text: str, pictures: list[Node]) -> Iterator[Event]:
        if not self.is_briefed:
            self.is_briefed = True
            where = self._at(said, part, "text")
            is_root = self.actor == MAIN
            yield Fact(where, "brief", text) if is_root else Skipped(where, "a subagent's brief")
        elif not self.is_human:
            yield Skipped(self._at(said, part), "a subagent's brief")
        elif text.strip() in COMMANDS:
            yield Skipped(self._at(said, part), "a command of the client")
        else:
            self.typed = text
            before = HISTORY.match(text)
            if before:
                yield Skipped(self._at(said, part), "injected: the shell's history")
            shown = tuple(results.picture(one.value, one.here.pointer) for one in pictures)
            key = "text" if "text" in part.value else "data"
            here = self._at(said, part, key, actor="user")
            via: Via = "queued" if said.meta.value.get("steer") is True else "typed"
            own = text[before.end() :] if before else text
            yield Message(here, "user", own, via, shown, within=before is not None)

    def _asked(self, said: Said, part: Node, kind: str, held: Any) -> Event:
        """A question of Goose's, or what the user answered to one."""
        if kind == "elicitationResponse" and self.is_human and "userData" in held:
            text = compact(held.get("userData"))
            here = self._at(said, part, "data", "userData", actor="user")
            return Message(here, "user", text, "answer", within=True)
        return Skipped(self._at(said, part), ASKED.get(kind, "unknown question"))

    def _left(self, said: Said, part: Node) -> Event:
        kind = part.value.get("type")
        why = LEFT_OUT.get(str(kind)) or f"unknown part{named(kind)}"
        return Skipped(self._at(said, part), why)

    # The agent's messages.

    def _assistant(self, said: Said) -> Iterator[Event]:
        self._grouped(said)
        yield from self._inference(said)
        for part in said.parts:
            match part.value:
                case {"type": "text", "text": str(text)} if text.strip():
                    yield self._words(said, part, text)
                case {"type": "thinking", "thinking": str(text)} if text.strip():
                    yield self._thought(said, part, text)
                case {"type": "thinking"}:
                    yield Skipped(self._at(said, part), "hidden reasoning")
                case {"type": "text"}:
                    yield Skipped(self._at(said, part), "blank words")
                case {"type": "toolRequest" | "frontendToolRequest"}:
                    yield from self._call(said, part)
                case {"type": "toolResponse"}:
                    yield from self._result(said, part)
                case {"type": "error", "message": str(text), **rest}:
                    is_limit = rest.get("kind") == "contextLengthExceeded" or tells_a_limit(text)
                    here = self._at(said, part, "message")
                    yield Notice(here, "limit" if is_limit else "model error", text)
                case {"type": "actionRequired", "data": {"actionType": str(kind), **held}}:
                    yield self._asked(said, part, kind, held)
                case _:
                    yield self._left(said, part)
        if said.meta.value.get("outputTokenLimitReached") is True:
            yield Notice(self._at(said, said.meta, "outputTokenLimitReached"), "cut")

    def _grouped(self, said: Said) -> None:
        """Whether a message goes on with the calls of the one before it."""
        calls = [part for kind in REQUESTS for part in said.of(kind)]
        place = results.place_among(calls[0].value) if calls else None
        if not (place and self.group and place == self.place + 1):
            info = said.info.value
            ident = words(info.get("message_id")) or words(info.get("id")) or "message"
            count = len(self.groups)
            self.group = f"{ident}#{count}" if ident in self.groups or ident == "message" else ident
            self.groups.add(self.group)
            self.thoughts.clear()
        places = [results.place_among(part.value) for part in calls]
        self.place = max([one for one in places if one is not None], default=-1)

    def _by(self, said: Said, part: Node, *keys: str | int) -> Origin:
        here = self._at(said, part, *keys, actor=self.actor)
        return Origin(here.evidence, here.at, self.actor, self.group)

    def _inference(self, said: Said) -> Iterator[Event]:
        match said.meta.value.get("inference"):
            case {"requestedModel": str(name)} if name:
                yield Fact(self._by(said, said.meta, "inference", "requestedModel"), "model", name)

    def _words(self, said: Said, part: Node, text: str) -> Event:
        for pattern, kind, why in SAID:
            if not pattern.match(text):
                continue
            if why:
                return Skipped(self._at(said, part), why)
            here = self._at(said, part, "text")
            match kind:
                case "model error" | "limit":
                    is_limit = kind == "limit" or tells_a_limit(text)
                    return Notice(here, "limit" if is_limit else "model error", text)
                case _:
                    return Notice(here, "interrupted")
        return Message(self._by(said, part, "text"), "agent", text)

    def _thought(self, said: Said, part: Node, text: str) -> Event:
        if text in self.thoughts:
            return Skipped(self._at(said, part), "repeated reasoning")
        self.thoughts.add(text)
        return Thinking(self._by(said, part, "thinking"), text)

    # Calls.

    def _call(self, said: Said, part: Node) -> Iterator[Event]:
        logged = words(part.value.get("id"))
        tool, sent = results.name_of(part.value)
        call = self.whole.calls.issue(logged, part.here.record, part.here.pointer)
        self.open[logged] = tool, sent, part
        asked = ("toolCall",) if "toolCall" in part.value else ()
        keys = (*asked, "value", "arguments") if sent is not None else asked
        here = self._begun(self._by(said, part, *keys), logged)
        name = part.at("toolCall", "value", "name").pointer if tool else None
        means = results.meant(tool, sent, results.extension(part.value))
        yield ToolCall(here, str(call), tool, sent, name, means)
        if logged in self.sent:
            yield from self._below(*self.sent[logged], str(call), sent, here)

    def _begun(self, here: Origin, logged: str) -> Origin:
        """When a call began: 1.37 wrote its message when it had ended, and dates what came of it
        by its begin."""
        answer = self.answers.get(logged)
        began = when(answer.when) if answer else None
        if answer is None or began is None or here.at is None or order(began) >= order(here.at):
            return here
        other = answer.info.here
        dated = other if other.record != here.evidence.record else None
        return Origin(here.evidence, began, here.actor, here.message, dated=dated)

    def _below(
        self, name: str, is_behind: bool, call: str, sent: Any, here: Origin
    ) -> Iterator[Event]:
        """The subagent that a call sent."""
        if name not in self.whole.waiting:
            self.whole.elsewhere = True
            return
        if self.whole.depth >= DEEPEST:
            return
        child = self.whole.waiting.pop(name)
        kind = words(sent.get("source")) if isinstance(sent, dict) else ""
        actor = self.whole.agent(kind)
        yield Delegation(here, call, actor)
        told = self.whole.work(child, actor, here.at)
        if is_behind:
            self.whole.behind.append(_reported(told, call))
        else:
            yield from told

    def _result(self, said: Said, part: Node) -> Iterator[Event]:
        logged = words(part.value.get("id"))
        if logged not in self.open:
            yield Skipped(self._at(said, part), "result without its call")
            return
        call = self.whole.calls.answer(logged)
        if call is None:
            yield Skipped(self._at(said, part), "repeated result")
            return
        tool, sent, asked = self.open[logged]
        base = part.here.pointer
        output, places = results.shown(part.value)
        end = results.verdict(tool, part.value, base)
        files = results.changes(tool, sent, part.value, base) if end.outcome == "ok" else ()
        where = Origin(part.here, None, self.actor).joining(places)
        pictures = results.attachments(part.value, base)
        yield ToolResult(where, call, output, *end, tuple(files), pictures)
        match sent:
            case {"name": str(name)} if tool in SKILLS and end.outcome == "ok":
                place = asked.at("toolCall", "value", "arguments", "name")
                yield Fact(Origin(place, None, self.actor), "skills", [name])


def _reported(told: list[Event], call: str) -> list[Event]:
    """A subagent's last words as its report, where it was left to itself."""
    match told[-1]:
        case Message(role="agent") as last:
            return [*told[:-1], structs.replace(last, via="notification", answers=call)]
    return told
