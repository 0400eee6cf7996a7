"""One session's messages, part by part: the main agent's, or a subagent's."""

from typing import TYPE_CHECKING, Any

from forsy_retrace.events import Event, Fact, Message, Notice, Origin, Skipped, Thinking
from forsy_retrace.sdk import named, order, strings, tells_a_limit, when, words
from forsy_retrace.source import Evidence

from .called import Called
from .shapes import Json, is_told, time_of, usage
from .stored import Node, Said, Stored
from .user import User

if TYPE_CHECKING:
    from .teller import Whole

MAIN = "agent"
REVERTED = "reverted"
"""The branch of what the user took back, which stands in the log until other words are sent."""
LEFT_OUT = {
    "step-start": "state of the files",
    "snapshot": "state of the files",
    "patch": "names of files that differ",
    "agent": "wish for a subagent",
    "compaction": "wish to sum up",
}
"""Parts that are nobody's words and no work."""
LIMITS = ("MessageOutputLengthError", "ContextOverflowError")
STOPPED = "MessageAbortedError"


class Line:
    """Tells one session, or the messages of it that came of one call."""

    def __init__(
        self,
        whole: "Whole",
        session: Stored,
        actor: str,
        *,
        since: str = "",
        branch: str = "",
        is_alone: bool = False,
    ) -> None:
        self.whole, self.session, self.actor = whole, session, actor
        self.now = since
        """The time of what was told last."""
        self.branch = branch
        self.step = ""
        """What the calls of one answer of the model have in common."""
        self.busy = ""
        """Until when the agent was at work."""
        self.cwd = words(session.head.value.get("directory")) if actor == MAIN else ""
        self.prompt = ""
        self.user = User(self, is_alone=is_alone)
        self.called = Called(self)

    def tell(self) -> None:
        """All messages."""
        match self.session.head.value.get("revert"):
            case {"messageID": str(message), **rest}:
                back, part = message, words(rest.get("partID"))
            case _:
                back = part = ""
        for said in self.session.messages:
            before = len(self.whole.timed)
            if said.id == back and not part:
                self.branch = REVERTED
            self._message(said, part if said.id == back else "")
            if not self._has_told(said.info, before):
                self.put(Skipped(self.at(said, said.info.here), "a message, told by its parts"))
        self.called.rest()

    def below(self, session: Stored, actor: str, since: str) -> str:
        """The same of a subagent's session within this one; until when it was at work."""
        line = Line(self.whole, session, actor, since=since, branch=self.branch)
        line.tell()
        return line.now

    # What is told, and when.

    def put(self, event: Event) -> None:
        """Tells what nothing that is told later comes before."""
        self.now = max(self.now, order(event.origin.at))
        self.whole.timed.append((self.now, event))

    def put_end(self, event: Event, begun: str) -> None:
        """Tells what ends something that began then; meanwhile others may be told."""
        self.whole.timed.append((max(begun, order(event.origin.at)), event))

    def at(
        self,
        said: Said,
        place: Evidence,
        at: Any = None,
        actor: str = "system",
        message: str | None = None,
    ) -> Origin:
        """An origin; what has no time of its own has its message's."""
        moment, dated = when(at), None
        if moment is None:
            moment = when(time_of(said.info.value, "created"))
            dated = said.info.here if place.record != said.info.here.record else None
        return Origin(place, moment, actor, message, self.branch, dated=dated)

    def is_busy(self, here: Origin) -> bool:
        """Whether the agent was still at work then."""
        return order(here.at) < self.busy

    def leave_out(self, said: Said, part: Node) -> None:
        """A part that is nobody's words and no work, or of a kind that is not known."""
        kind = part.value.get("type")
        why = LEFT_OUT.get(str(kind)) or f"unknown part{named(kind)}"
        self.put(Skipped(self.at(said, part.here), why))

    def _has_told(self, info: Node, since: int) -> bool:
        """Whether an event was told of the record of a message."""
        told = self.whole.timed[since:]
        return any(event.origin.evidence.record == info.here.record for _, event in told)

    # Messages.

    def _message(self, said: Said, back: str) -> None:
        match said.info.value.get("role"):
            case "user":
                self._prompt(said)
                self.user.take(said)
            case "assistant":
                self._prompt(said)
                self._assistant(said, back)
                self.user.ran = False
            case role:
                for node in (said.info, *said.parts):
                    self.put(Skipped(self.at(said, node.here), f"unknown role{named(role)}"))

    def _prompt(self, said: Said) -> None:
        """The system prompt, which messages held until 1.0, and hold where a user set it."""
        held = said.info.value.get("system")
        text = "\n".join(strings(held)) if isinstance(held, list) else words(held)
        if text and text != self.prompt:
            self.prompt = text
            here = self.at(said, said.info.at("system"), actor=self.actor)
            self.put(Fact(here, "system_prompt", text))

    def _assistant(self, said: Said, back: str) -> None:
        info = said.info
        self.step = said.id
        self._model(said)
        match info.value.get("path"):
            case {"cwd": str(folder)} if folder != self.cwd and is_told(folder):
                self.cwd = folder
                here = self.at(said, info.at("path", "cwd"), actor=self.actor)
                self.put(Fact(here, "cwd", folder))
        is_summary = info.value.get("summary") is True
        if is_summary:
            self._summed_up(said)
        steps = 0
        for part in said.parts:
            if back and part.value.get("id") == back:
                self.branch = REVERTED
            if part.value.get("type") == "step-start":
                steps += 1
                if steps > 1:  # until 0.x a message held all answers of the model to a request
                    self.step = words(part.value.get("id")) or said.id
                    self._model(said)
            self._part(said, part, is_summary)
        if not any(part.value.get("type") == "step-finish" for part in said.parts):
            self._used(said, info)
        self.busy = max(self.busy, order(when(time_of(info.value, "completed"))))
        self._ended(said)

    def _model(self, said: Said) -> None:
        if model := words(said.info.value.get("modelID")):
            here = self.at(said, said.info.at("modelID"), None, self.actor, self.step)
            self.put(Fact(here, "model", model))

    def _summed_up(self, said: Said) -> None:
        """The summary that takes the place of what lay before, once it is there."""
        value = said.info.value
        if value.get("error") or not time_of(value, "completed"):
            return
        here = self.at(said, said.info.at("summary"), actor=self.actor)
        self.put(Notice(here, "compacted"))
        asked = next(
            (one for one in self.session.messages if one.id == value.get("parentID")), None
        )
        if asked and any(part.value.get("overflow") is True for part in asked.parts):
            self.user.again = self.user.typed

    def _part(self, said: Said, part: Node, is_summary: bool) -> None:
        value = part.value
        begun = time_of(value, "start")
        match value:
            case {"type": "text", "text": str(text)} if is_summary and text.strip():
                here = self.at(said, part.at("text"), begun)
                self.put(Fact(here, "brought", {"text": text}))
            case {"type": "text", "text": str(text)} if text.strip():
                here = self.at(said, part.at("text"), begun, self.actor, self.step)
                self.put(Message(here, "agent", text))
            case {"type": "reasoning", "text": str(text)} if is_told(text) and not is_summary:
                here = self.at(said, part.at("text"), begun, self.actor, self.step)
                self.put(Thinking(here, text))
            case {"type": "reasoning"}:
                why = "reasoning on a summary" if is_summary else "hidden reasoning"
                self.put(Skipped(self.at(said, part.here), why))
            case {"type": "text"}:
                self.put(Skipped(self.at(said, part.here), "blank words"))
            case {"type": "tool", "tool": str(tool), "state": dict(state)}:
                self.called.take(said, part, tool, state)
            case {"type": "retry", "error": dict(error)}:
                self._failed(said, part, error, time_of(value, "created"))
            case {"type": "step-finish"}:
                self._used(said, part)
            case _:
                self.leave_out(said, part)

    def _used(self, said: Said, node: Node) -> None:
        if used := usage(node.value.get("tokens")):
            here = self.at(said, node.at("tokens"), actor=self.actor, message=self.step)
            self.put(Fact(here, "usage", used))
        elif node is not said.info:
            self.put(Skipped(self.at(said, node.here), "the end of an answer"))

    def _ended(self, said: Said) -> None:
        """How a message ended, where it did not go on with calls."""
        info, at = said.info, time_of(said.info.value, "completed")
        match info.value:
            case {"error": {"name": name}} if name == STOPPED:
                self._turn_ended(Notice(self.at(said, info.at("error"), at), "interrupted"))
            case {"error": dict(error)}:
                self._failed(said, info, error, at)
            case {"finish": "length" | "content-filter" as why}:
                self.put(Notice(self.at(said, info.at("finish"), at), "limit", why))
            case {"finish": "stop"}:
                self._turn_ended(Notice(self.at(said, info.at("finish"), at), "ended"))

    def _turn_ended(self, event: Notice) -> None:
        """The end of a turn; a subagent's ends none of the main agent's."""
        if self.actor == MAIN:
            self.put(event)

    def _failed(self, said: Said, node: Node, error: Json, at: Any) -> None:
        match error:
            case {"data": {"message": str(text)}} if text.strip():
                place = node.at("error", "data", "message")
            case {"name": str(text)}:
                place = node.at("error", "name")
            case _:
                text, place = "", node.at("error")
        is_limit = error.get("name") in LIMITS or tells_a_limit(text)
        self.put(Notice(self.at(said, place, at), "limit" if is_limit else "model error", text))
