"""One conversation's messages in its order: the main agent's, or a subagent's."""

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from forsy_retrace.events import (
    Attachment,
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
)
from forsy_retrace.sdk import counts, order, tells_a_limit, when, words

from .calls import meant, sent_in
from .files import changes
from .held import Json, Node, opened
from .lexical import typed_in
from .listed import Listed
from .questions import answers_in
from .results import ENDED, shown_in, verdict
from .rows import TASKS, sent_by

if TYPE_CHECKING:
    from .teller import Family

MAIN = "agent"
HUMAN, AGENT = 1, 2
SUMMARY = 22
"""The kind of a message that marks where the client summed up what lay before."""
USAGE = {"inputTokens": "input_tokens", "outputTokens": "output_tokens"}
AUTO = "default"
"""The choice of a model that the client makes itself, and does not name."""
SINCE = 1_000_000_000_000
"""Milliseconds from which a number is a time: a smaller one counts from the client's start."""


def moment(value: Any) -> str | None:
    """A time as the client writes it: milliseconds, or ISO 8601."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value < SINCE:
        return None
    return when(value)


class Line:
    """Tells one conversation."""

    def __init__(
        self, family: "Family", name: str, chat: Node, actor: str, since: str, *, is_dated: bool
    ) -> None:
        self.family, self.name, self.actor = family, name, actor
        self.is_dated = is_dated
        """Whether the times of messages are those of what they tell."""
        self.now = since
        """The time of what was told last."""
        self.model: Fact | None = None
        self.by_model = set[str]()
        """The messages of which the model is told."""
        self._choose(chat, "modelConfig")

    def tell(self, messages: Listed) -> None:
        """All messages."""
        for node in messages:
            before = len(self.family.timed)
            self._message(node)
            if len(self.family.timed) == before:
                self.put(Skipped(self.at(node), "empty message"))
        for name in self.family.children(self.name):  # those that no call is known to have sent
            self._child(name, "")

    # What is told, and when.

    def put(self, event: Event) -> None:
        """Tells what nothing that is told later comes before."""
        self.now = max(self.now, order(event.origin.at))
        if isinstance(event, (Message, Thinking, ToolCall)) and event.origin.actor == self.actor:
            self._by(event.origin.message or "")
        self.family.timed.append((self.now, event))

    def _by(self, message: str) -> None:
        """The model that said a message, once."""
        if self.model is not None and message not in self.by_model:
            self.by_model.add(message)
            origin = replace(self.model.origin, message=message)
            self.family.timed.append((self.now, replace(self.model, origin=origin)))

    def at(self, node: Node, *keys: str | int) -> Origin:
        """The place of something of a message, with the message's time and name."""
        at = moment(node.value.get("createdAt")) if self.is_dated else None
        self.family.is_dated = self.family.is_dated or at is not None
        message = words(node.value.get("bubbleId")) or f"{node.here.start}{node.here.pointer}"
        return Origin(node.at(*keys) if keys else node.here, at, self.actor, message)

    # Messages.

    def _message(self, node: Node) -> None:
        kind = node.value.get("type")
        if kind == HUMAN:
            self._choose(node, "modelInfo")
            self._asked(node)
        elif kind == AGENT:
            self._choose(node, "modelInfo")
            self._answered(node)
        else:
            self.put(Skipped(self.at(node), "a message of nobody"))

    def _choose(self, node: Node, key: str) -> None:
        """The model that a message or a conversation names, for what is said from there on."""
        name = words(node.below(key).value.get("modelName"))
        if name:
            here = Origin(node.at(key, "modelName"), None, self.actor)
            self.model = Fact(here, "model", name) if name != AUTO else None

    def _asked(self, node: Node) -> None:
        """The user's words; of a subagent, what it was sent for."""
        if node.value.get("isSimulatedMsg") is True:
            self.put(Skipped(self.at(node), "injected: the client's own words"))
            return
        text, paths = typed_in(node)
        pictures = _pictures(node)
        if not text.strip() and not pictures:
            return
        here = self.at(node).joining(paths)
        if here.pieces:
            here = replace(here, reading="typed-in-a-field")
        if self.actor != MAIN:
            self.put(Fact(here, "brief", text))
            return
        self.put(Message(here.by("user"), "user", text, attachments=pictures))

    def _answered(self, node: Node) -> None:
        value = node.value
        self._thought(node)
        text = words(value.get("text"))
        if value.get("capabilityType") == SUMMARY:
            self.put(Notice(self.at(node, "capabilityType").by("system"), "compacted"))
        elif text and value.get("isThought") is True:
            self.put(Thinking(self.at(node, "text"), text))
        elif text:
            self.put(Message(self.at(node, "text"), "agent", text))
        if used := counts(value.get("tokenCount"), USAGE):
            self.put(Fact(self.at(node, "tokenCount"), "usage", used))
        call = node.below("toolFormerData")
        if words(call.value.get("name"), call.value.get("toolCallId")):
            self._called(node, call)
        self._failed(node)

    def _thought(self, node: Node) -> None:
        match node.value.get("thinking"):
            case {"text": str(text)} if text.strip():
                self.put(Thinking(self.at(node, "thinking", "text"), text))
            case str(text) if text.strip():
                self.put(Thinking(self.at(node, "thinking"), text))
            case {"signature": str(signature)} if signature:
                self.put(Skipped(self.at(node, "thinking"), "hidden reasoning"))

    def _failed(self, node: Node) -> None:
        """An error of the model or of the client that ended an answer."""
        text = words(node.below("errorDetails").value.get("message"))
        if text:
            is_limit = tells_a_limit(text)
            here = self.at(node, "errorDetails", "message").by("system")
            self.put(Notice(here, "limit" if is_limit else "model error", text))

    # Calls.

    def _called(self, node: Node, call: Node) -> None:
        value = call.value
        tool, logged = words(value.get("name")), words(value.get("toolCallId"))
        sent, path = sent_in(value)
        place = "" if logged else node.here.start
        ident = self.family.calls.issue(logged, self.name, tool, sent, place)
        if ident is None:
            self.put(Skipped(self.at(node), "repeated call"))
            return
        self.family.calls.answer(logged)
        here = self._begun(node, value)
        where = here.below("/toolFormerData" + path)
        name = call.at("name").pointer if tool else None
        self.put(ToolCall(where, ident, tool, sent, name, meant(tool, sent, value)))
        until = self._sent_out(value, ident, logged, here) if tool in TASKS else self.now
        if value.get("status") in ENDED:
            self._result(node, call, ident, until)

    def _begun(self, node: Node, call: Json) -> Origin:
        """Where a call stands, and when it began; the model's own message makes some parallel."""
        here = self.at(node)
        if here.at is None:
            beside = call.get("additionalData")
            at = moment(beside.get("startedAtMs")) if isinstance(beside, dict) else None
            self.family.is_dated = self.family.is_dated or at is not None
            here = replace(here, at=at)
        issued = words(call.get("modelCallId"))
        return replace(here, message=issued) if issued else here

    def _result(self, node: Node, call: Node, ident: str, until: str) -> None:
        value, base = call.value, call.here.pointer
        found = verdict(value, base)
        text, paths = shown_in(value)
        files = changes(value, self.family.contents, base) if found.outcome == "ok" else ()
        origin = replace(self.at(node, "toolFormerData"), at=None)
        result = ToolResult(origin.joining(paths), ident, text, *found, changes=files)
        if found.outcome != "launched":
            self.now = max(self.now, until)
        self.put(result)
        answer, path = answers_in(call)
        if answer and found.outcome == "ok":
            here = replace(origin.below(path), message=None).by("user")
            self.put(Message(here, "user", answer, "answer", answers=ident, within=True))

    # Subagents.

    def _sent_out(self, call: Json, ident: str, logged: str, here: Origin) -> str:
        """A subagent that a call sent; until when it was at work, where it is told here."""
        name = sent_by(call) or self.family.rows.sent_by.get(logged, "")
        if name and name not in self.family.chats:
            self.family.is_elsewhere = True
        if not self.family.is_child(name, self.name):
            return self.now
        return self._child(name, ident, here, call)

    def _child(
        self, name: str, ident: str, here: Origin | None = None, call: Json | None = None
    ) -> str:
        chat = self.family.chats[name].node()
        sent = opened((call or {}).get("params"))
        asked: Json = sent if isinstance(sent, dict) else {}
        kind = words(
            chat.below("subagentInfo").value.get("subagentTypeName"),
            asked.get("name"),
            asked.get("subagentType"),
        )
        actor = self.family.agent(kind)
        if here is not None:
            self.put(Delegation(here, ident, actor))
        told = Origin(chat.here, None, "system")
        self.put(Skipped(told, "a subagent's conversation"))
        return self.family.line(name, actor, self.now)


def _pictures(node: Node) -> tuple[Attachment, ...]:
    """The pictures that came with words; their bytes are not in the log."""
    held = node.value.get("images")
    return tuple(
        Attachment("image/unknown", 0, node.at("images", at).pointer)
        for at, one in enumerate(held if isinstance(held, list) else ())
        if isinstance(one, dict) and one
    )
