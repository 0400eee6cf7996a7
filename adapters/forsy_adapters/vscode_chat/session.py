"""The requests of a session: what the user asked, and what the agent did for it."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

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
    Via,
)
from forsy_retrace.sdk import base64_size, named, parsed, subagent, when, words

from .._patches import changes as patched
from .._patches import patch_in
from . import results
from .replay import NOTHING, Node, Operations, Turn
from .results import CANCELLED
from .rounds import CALL, FENCE, INNER, Round, kind_of, rounds_of

FACTS = (
    # Facts of a session, and where they stand.
    ("title", ("customTitle",)),
    ("branch", ("repoData", "localBranch")),
)
LIMITS = ("isQuotaExceeded", "isRateLimited")
KINDS = {
    "mcpServersStarting": "state of the client",
    "prepareToolInvocation": "state of the client",
    "undoStop": "a point to go back to",
    "codeblockUri": "repeated: what a call edited",
    "textEditGroup": "repeated: what a call edited",
    "notebookEditGroup": "repeated: what a call edited",
    "workspaceEdit": "repeated: what a call edited",
    "multiDiffData": "repeated: what a call edited",
    "progressMessage": "progress of the client",
    "progressTaskSerialized": "progress of the client",
    "progressTask": "progress of the client",
    "warning": "notice of the client",
    "info": "notice of the client",
    "confirmation": "a question of the client",
    "elicitation": "a question of the client",
    "elicitationSerialized": "a question of the client",
    "command": "a button of the client",
    "hook": "what a hook said",
    "thinking": "repeated: what Copilot kept, or hidden reasoning",
    "questionCarousel": "a question that nobody answered",
    "inlineReference": "repeated: words that Copilot kept",
    "": "repeated: words that Copilot kept",
    CALL: "repeated: a call that Copilot kept",
}
"""Parts of a response that tell no step, and why they are left out."""
THUMBS = {0: "down", 1: "up"}
"""What the user thought of an answer (ChatAgentVoteDirection)."""
DEEPEST = 5
"""How deep a part of a response stands below its record at most."""


Head = tuple[tuple[str, int, int], str]


class Opened(NamedTuple):
    """A call that was told: its id, its tool, what it was given, and where it stands."""

    call: str
    tool: str
    sent: Any
    node: Node
    part: Node


class Session:
    """Tells a session's requests in the order in which they came."""

    def __init__(self, operations: Operations) -> None:
        self.root, self.turns = operations.root, operations.turns
        self.calls = Calls()
        self.agents: Counter[str] = Counter()
        self.cwd = ""

    def events(self) -> Iterator[Event]:
        """All of it; nothing where no operation held a session."""
        if self.root is NOTHING:
            return
        name = self.root.get("sessionId")
        start = name if name.text else self.root
        yield SessionStart(Origin(start.here, None, "system"), name.text)
        for fact, keys in FACTS:
            node = self.root.get(*keys)
            if node.text:
                yield Fact(Origin(node.here, None, "system"), fact, node.text)
        for turn in self.turns:
            yield from Request(self, turn).events()


class Request:
    """Tells one request."""

    def __init__(self, session: Session, turn: Turn) -> None:
        self.session, self.turn, self.node = session, turn, turn.node
        taken_back = self.node.get("shouldBeRemovedOnSend").held is not None
        self.branch = turn.branch or ("undone" if taken_back else "")
        self.parts = self.node.get("response").items()
        self.results = self.node.get("result", "metadata", "toolCallResults")
        self.state = self.node.get("modelState", "value")
        self.was_stopped = False
        self.last = ""
        """The agent's last message."""
        self.agents: dict[str, str] = {}
        """Subagents by the calls that started them."""

    def at(
        self, node: Node, time: Node = NOTHING, actor: str = "agent", message: str | None = None
    ) -> Origin:
        """The origin of an event, with the time that another value of the request names."""
        at = when(time.held)
        other = at is not None and time.here.record != node.here.record
        dated = time.here if other else None
        return Origin(node.here, at, actor, message, self.branch, dated=dated)

    def events(self) -> Iterator[Event]:
        """What was asked and done, and which parts tell nothing of their own."""
        if not isinstance(self.node.held, dict):
            yield Skipped(self.at(self.node, actor="system"), "not a request")
            return
        told: set[Head] = set()
        for event in self._told():
            told.update(_heads(event.origin))
            yield event
        for part in self.parts:
            if (part.here.record, part.here.pointer) not in told:
                yield Skipped(self.at(part, actor="system"), _reason(part))

    def _told(self) -> Iterator[Event]:
        yield from self._facts()
        yield from self._asked()
        for one in rounds_of(self.node):
            yield from self._round(one)
        yield from self._ended()

    def _facts(self) -> Iterator[Event]:
        resolved = self.node.get("result", "metadata", "resolvedModel")
        model = resolved if resolved.text else self.node.get("modelId")
        version = self.node.get("agent", "extensionVersion")
        level = self.node.get("modeInfo", "permissionLevel")
        for name, node in (("model", model), ("version", version), ("permission_mode", level)):
            if node.text:
                yield Fact(self.at(node, actor="system"), name, node.text)

    def _asked(self) -> Iterator[Event]:
        """The words of the user, or what stands in their place."""
        ident, time = self.turn.ident or None, self.node.get("timestamp")
        message, clicked = self.node.get("message"), self.node.get("confirmation")
        said = message if message.text else message.get("text")
        here = self.at(said if said.text else self.node, time, "user", ident)
        if self.turn.replaces:
            earlier = self.turn.replaces.ident
            yield Fact(here, "replaces", {"kind": "edited", "message": earlier})
        pictures = tuple(self._pictures())
        if self.node.get("isSystemInitiated").held is True:
            yield Notice(here.by("system"), "ended", "injected: notice of the client")
        elif clicked.text:
            yield Message(self.at(clicked, time, "user", ident), "user", clicked.text, "answer")
        elif said.text.strip() or pictures:
            yield Message(here, "user", said.text, self._via(message), pictures)
        else:
            yield Skipped(here.by("system"), "a request without words")

    def _via(self, message: Node) -> Via:
        """A line that begins with a slash is a command, as the client read it."""
        kinds = [one.get("kind").text for one in message.get("parts").items()]
        return "command" if kinds[:1] in (["slash"], ["prompt"]) else "typed"

    def _pictures(self) -> Iterator[Attachment]:
        for one in self.node.get("variableData", "variables").items():
            if one.get("kind").text == "image" or one.get("isImage").held is True:
                value = one.get("value")
                size = base64_size(value.text) if value.text else 0
                media = words(one.get("mimeType").text, "image")
                yield Attachment(media, size, value.here.pointer, value.here)

    # What the agent did.

    def _round(self, one: Round) -> Iterator[Event]:
        """One message of the model: what it thought and said, its calls, what came back."""
        self.last = one.ident or ""
        model = one.node.get("modelId")
        if model.text:
            yield Fact(self.at(model, message=one.ident), "model", model.text)
        for node in one.thoughts:
            where = self.at(node, one.time, message=one.ident)
            yield Thinking(where, node.text)
        if one.words:
            yield self._said(one)
        opened: list[Opened] = []
        for call in one.calls:
            yield from self._call(one, call.node, call.part, "agent", opened)
        for part in one.shown:
            yield from self._shown(one, part, opened)
        for done in opened:
            yield self._result(done, "agent")
            yield from self._answered(done)
        if one.summary.text:
            yield Notice(self.at(one.summary, actor="system"), "compacted")

    def _said(self, one: Round) -> Event:
        first, *rest = one.words
        here = self.at(first, one.time, message=one.ident)
        if rest:
            here = msgspec.structs.replace(here, pieces=tuple(node.here for node in one.words))
        return Message(here, "agent", "".join(node.text for node in one.words))

    def _call(
        self, one: Round, node: Node, part: Node, actor: str, opened: list[Opened]
    ) -> Iterator[Event]:
        """A call as the model sent it, or as the client showed it."""
        if node is not NOTHING:
            name, sent = node.get("name"), node.get("arguments")
            ident = node.get("id").text
            where = sent if isinstance(sent.held, str | dict) else node
        else:
            name, where = part.get("toolId"), results.shown_input(part)
            ident = part.get("toolCallId").text
        held = where.value if where is not NOTHING else None
        told = where if where is not NOTHING else part
        call = str(self.session.calls.issue(ident, *told.here.record, told.here.pointer))
        yield from self._folder(part, actor)
        here = self.at(told, one.time, actor, one.ident)
        started = part.get("toolSpecificData", "terminalCommandState", "timestamp")
        if here.at is None and started.number:
            here = self.at(told, started, actor, one.ident)
        spoken = None if name.here.record != told.here.record else name.here.pointer
        meant = results.meant(name.text, held, part)
        yield ToolCall(here, call, name.text, held, spoken, meant)
        opened.append(Opened(call, name.text, held, node, part))
        if part.get("toolSpecificData", "kind").text == "subagent":
            yield from self._sent_out(call, part, here)

    def _folder(self, part: Node, actor: str) -> Iterator[Event]:
        """Where a command ran."""
        node = part.get("toolSpecificData", "cwd", "path")
        if node.text and node.text != self.session.cwd and actor == "agent":
            self.session.cwd = node.text
            yield Fact(self.at(node, actor=actor), "cwd", node.text)

    def _sent_out(self, call: str, part: Node, here: Origin) -> Iterator[Event]:
        data = part.get("toolSpecificData")
        kind = words(data.get("agentName").text, "")
        self.session.agents["all"] += 1
        actor = subagent(kind, self.session.agents["all"])
        self.agents[part.get("toolCallId").text] = actor
        yield Delegation(here, call, actor)

    def _shown(self, one: Round, part: Node, opened: list[Opened]) -> Iterator[Event]:
        """A call that only the client shows: a subagent's, or one whose message is not kept."""
        parent = part.get("subAgentInvocationId").text
        if not parent and part.get("fromSubAgent").held is not True:
            yield from self._call(one, NOTHING, part, "agent", opened)
            return
        last = next(reversed(self.agents.values()), "")
        actor = self.agents.get(parent) or last
        if not actor:
            why = "a call of a subagent that no call started"
            yield Skipped(self.at(part, actor="system"), why)
            return
        own: list[Opened] = []
        alone = Round(part, f"{one.ident}-{part.here.pointer}")
        yield from self._call(alone, NOTHING, part, actor, own)
        for done in own:
            yield self._result(done, actor)

    def _result(self, opened: Opened, actor: str) -> Event:
        call, tool, sent, node, part = opened
        given = self.results.get(node.get("id").text) if node is not NOTHING else NOTHING
        found = results.output(given, part)
        verdict, place = results.ended(tool, part, found, self.state)
        self.was_stopped = self.was_stopped or verdict.outcome == "interrupted"
        if found.text is None and place is None and not found.attachments:
            complete = part.get("isComplete")
            if complete.held is not True:
                shown = part if part is not NOTHING else node
                return Skipped(self.at(shown, actor="system"), "a call without a result")
            place = complete.here  # it ended, and nothing tells how
        told = place or (found.places[0] if found.places else given.here)
        is_plain = found.places == (told,)
        here = Origin(told, None, actor, None, self.branch)
        if found.places and not is_plain:
            here = msgspec.structs.replace(here, pieces=found.places)
        patch = patch_in("apply_patch", parsed(sent)) if tool.endswith("pply_patch") else None
        made = patched(patch) if patch and verdict.outcome == "ok" else ()
        return ToolResult(
            here, call, found.text, *verdict, changes=tuple(made), attachments=found.attachments
        )

    def _answered(self, opened: Opened) -> Iterator[Event]:
        """What the user chose or wrote in a dialog that a call opened."""
        ident = opened.part.get("toolCallId").text
        for one in self.parts:
            if ident and kind_of(one) == "questionCarousel" and one.get("resolveId").text == ident:
                yield from self._chosen(one, opened.call)

    def _chosen(self, carousel: Node, call: str) -> Iterator[Event]:
        chosen: list[Node] = []
        for _, node in carousel.get("data").pairs():
            if node.text:
                chosen.append(node)
            for key in ("selectedValue", "freeformValue"):
                chosen.append(node.get(key))
            chosen.extend(node.get("selectedValues").items())
        chosen = [node for node in chosen if node.text.strip()]
        if chosen:
            here = self.at(chosen[0], actor="user")
            if len(chosen) > 1:
                here = msgspec.structs.replace(here, pieces=tuple(one.here for one in chosen))
            text = "\n".join(one.text for one in chosen)
            yield Message(here, "user", text, "answer", answers=call)

    # How it ended.

    def _ended(self) -> Iterator[Event]:
        result, time = self.node.get("result"), self.node.get("modelState", "completedAt")
        error = result.get("errorDetails", "message")
        is_limit = any(result.get("errorDetails", one).held is True for one in LIMITS)
        was_cancelled = self.state.number == CANCELLED or self.node.get("isCanceled").held is True
        if was_cancelled and not self.was_stopped:
            place = self.state if self.state is not NOTHING else self.node.get("isCanceled")
            yield Notice(self.at(place, time, "system"), "interrupted")
        elif error.text and not was_cancelled:
            yield Notice(
                self.at(error, time, "system"), "limit" if is_limit else "model error", error.text
            )
        used = self.node.get("completionTokens")
        if used.number:
            yield Fact(self.at(used, actor="system"), "usage", {"output_tokens": used.number})
        yield from self._voted()

    def _voted(self) -> Iterator[Event]:
        """The thumb that the user gave, for the last message of the agent."""
        vote = self.node.get("vote")
        if vote.number in THUMBS and self.last:
            here = self.at(vote, actor="user", message=self.last)
            yield Fact(here, "thumb", {"rating": THUMBS[vote.number]})
        elif vote is not NOTHING:
            yield Skipped(self.at(vote, actor="system"), "a thumb on nothing that was said")


def _heads(origin: Origin) -> Iterator[Head]:
    """The places of an event, and all above them where a part may stand."""
    for place in (origin.evidence, *origin.pieces):
        keys = place.pointer.split("/")
        for end in range(1, min(len(keys), DEEPEST + 1) + 1):
            yield place.record, "/".join(keys[:end])


def _reason(part: Node) -> str:
    """Why a part of a response tells nothing of its own."""
    kind = kind_of(part)
    if kind == "" and FENCE.match(part.get("value").text):
        return KINDS["textEditGroup"]
    if part.get("toolId").text in INNER:
        return "a call that a tool made"
    if not isinstance(part.held, dict):
        return "not a part of a response"
    return KINDS.get(kind) or f"unknown part of a response{named(kind)}"
