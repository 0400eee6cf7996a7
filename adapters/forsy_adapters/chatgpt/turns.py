"""The messages of one conversation as events: each by what it says, and to whom."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from forsy_retrace.events import (
    Event,
    Fact,
    Message,
    Notice,
    Origin,
    Skipped,
    Thinking,
    ToolCall,
    Via,
)
from forsy_retrace.sdk import parsed, pointer, when
from forsy_retrace.source import Record

from .._trees import departures, said_above
from .calls import answers, at, kind_of, recipient_of, result
from .canvas import Docs, changes
from .feedback import Feedback
from .tree import Node, is_one_of_several
from .words import is_told, said, uploads

CONTEXT = ("user_profile", "user_instructions", "model_set_context")
"""Custom instructions and memories, which some hidden messages bring along."""
BY_CONTEXT = ("user_editable_context", "model_editable_context")


class Talk:
    """The messages of one conversation."""

    def __init__(
        self,
        record: Record,
        base: str,
        order: list[Node],
        feedback: Feedback,
    ) -> None:
        self.here, self.base, self.order = record.here, base, order
        self.feedback = feedback
        self.answers = answers(order)
        self.ends = {tools[-1].key: key for key, tools in self.answers.items()}
        self.parts = {tool.key for tools in self.answers.values() for tool in tools}
        self.names: dict[str, str] = {}
        self.counts: dict[str, int] = {}
        self.sent: dict[str, tuple[str, Any, str]] = {}
        self.docs: dict[str, Docs] = {}

    def events(self) -> Iterator[Event]:
        last: Node | None = None
        jumps = False
        for node, departs in departures(self.order):
            above = node.parent
            if above is None and last and last.role == node.role == "assistant":
                # What came between is missing: these words lead to something else.
                yield Notice(replace(self._origin(last), at=None), "cut")
            jumps, last = jumps or departs, node
            self.docs[node.key] = self.docs.get(above.key, {}) if above is not None else {}
            if not node.message:
                continue
            here = self._origin(node)
            if jumps:
                jumps, before = False, said_above(node)
                yield Fact(here, "follows", {"message": ident_of(before) if before else None})
            if node.instead_of is not None:
                yield from self._instead(node, node.instead_of, here)
            match node.role:
                case "user":
                    yield from self._user(node, here)
                case "assistant":
                    yield from self._assistant(node, here)
                case "tool":
                    yield from self._tool(node, here)
                case "system":
                    yield from _context(node, here, "system message")
                case _:
                    yield Skipped(here, "message of an unknown role")
            yield from self.feedback.on(ident_of(node), node.key)

    def _instead(self, node: Node, earlier: Node, here: Origin) -> Iterator[Event]:
        """Why there are two: the user wrote or asked again, or was shown both answers at once."""
        if node.role != "user" and (is_one_of_several(node) or is_one_of_several(earlier)):
            for one in (earlier, node):
                if one.branch:
                    yield Fact(self._origin(one), "beside", "shown side by side")
            return
        kind = "edited" if node.role == "user" else "regenerated"
        yield Fact(here, "replaces", {"kind": kind, "message": ident_of(earlier)})

    def _origin(self, node: Node) -> Origin:
        evidence = self.here.at(self.base + pointer(node.key, "message"))
        actor = node.role if node.role in ("user", "system") else "agent"
        at = when(node.message.get("create_time"))
        return Origin(evidence, at, actor, ident_of(node), node.branch)

    def _user(self, node: Node, here: Origin) -> Iterator[Event]:
        if node.is_hidden or kind_of(node) in BY_CONTEXT:
            yield from _context(node, here, "hidden message")
            return
        spoken = said(node.content, here.evidence.pointer + "/content")
        path = here.evidence.pointer + "/metadata"
        files = uploads(node.metadata, path, spoken.attachments)
        quoted = node.metadata.get("targeted_reply")
        if isinstance(quoted, str) and quoted.strip():
            yield Skipped(at(here, "/metadata/targeted_reply"), "words that the user replied to")
        for _ in spoken.unknown:
            yield Skipped(here, "unknown content part")
        if not spoken.text.strip() and not files:
            yield Skipped(here, "empty message")
            return
        via: Via = "edited" if node.instead_of is not None else "typed"
        place = at(here, f"{node.content_path}{spoken.path}")
        yield Message(place, "user", spoken.text, via, attachments=files, within=spoken.within)

    def _assistant(self, node: Node, here: Origin) -> Iterator[Event]:
        model = node.metadata.get("model_slug")
        if isinstance(model, str) and model:
            yield Fact(at(here, "/metadata/model_slug"), "model", model)
        tool = recipient_of(node)
        kind = kind_of(node)
        if tool:
            yield self._call(node, here, tool)
        elif kind == "thoughts":
            yield from _thoughts(node, here)
        elif kind == "reasoning_recap":
            yield Skipped(here, "recap of reasoning")
        elif node.is_hidden:
            yield Skipped(here, "hidden message")
        else:
            yield from _words(node, here)
        # The time of an answer is when it began; when it was stopped, nothing tells.
        end = replace(at(here, "/metadata/finish_details/type"), at=None)
        match node.metadata.get("finish_details"):
            case {"type": "interrupted"}:
                yield Notice(end, "interrupted")
            case {"type": "max_tokens"}:
                yield Notice(end, "limit", "max_tokens")

    def _call(self, node: Node, here: Origin, tool: str) -> Event:
        spoken = said(node.content, "")
        inner = parsed(spoken.text) if spoken.text.lstrip()[:1] == "{" else None
        sent: Any = inner if isinstance(inner, dict) else spoken.text
        if not is_told(node.content, spoken):
            sent = None
        name = self.names[node.key] = self._unique(ident_of(node))
        place = at(here, f"{node.content_path}{spoken.path}")
        self.sent[node.key] = (tool, sent, place.evidence.pointer)
        return ToolCall(place, name, tool, sent, named=here.evidence.pointer + "/recipient")

    def _unique(self, ident: str) -> str:
        """The call's name: two messages of one id are two calls."""
        count = self.counts[ident] = self.counts.get(ident, 0) + 1
        return ident if count == 1 else f"{ident}#{count}"

    def _tool(self, node: Node, here: Origin) -> Iterator[Event]:
        call = self.ends.get(node.key)
        if call is not None:
            yield self._result(call)
        elif node.key in self.parts:
            yield Skipped(here, "part of a result")
        else:
            yield from _context(node, here, "tool message without a call")

    def _result(self, call: str) -> Event:
        tools = self.answers[call]
        places = [self._origin(tool) for tool in tools]
        tool, sent, place = self.sent[call]
        found = result(self.names[call], tools, places, ())
        if not tool.startswith("canmore.") or found.outcome == "failed":
            return found
        docs = dict(self.docs[tools[-1].key])
        self.docs[tools[-1].key] = docs
        return result(self.names[call], tools, places, changes(tool, sent, tools, docs, place))


def _words(node: Node, here: Origin) -> Iterator[Event]:
    spoken = said(node.content, here.evidence.pointer + "/content")
    for _ in spoken.unknown:
        yield Skipped(here, "unknown content part")
    if not spoken.text.strip():
        yield Skipped(here, "empty message")
        return
    pieces = spoken.pieces if spoken.within else ((spoken.text, spoken.path),)
    for number, (text, path) in enumerate(pieces):
        media = spoken.attachments if number == 0 else ()
        yield Message(at(here, f"/content{path}"), "agent", text, attachments=media)


WAITING = "Thinking longer for a better answer"
"""What the client shows in the place of thoughts while there are none."""


def _thoughts(node: Node, here: Origin) -> Iterator[Event]:
    """The summaries of its reasoning that ChatGPT showed."""
    listed = node.content.get("thoughts")
    found: list[Event] = []
    for index, thought in enumerate(listed if isinstance(listed, list) else ()):
        for key in ("content", "summary"):
            text = thought.get(key) if isinstance(thought, dict) else None
            where = at(here, pointer("content", "thoughts", index, key))
            if text == WAITING:
                found.append(Skipped(where, "the client's words while there are no thoughts"))
            elif isinstance(text, str) and text.strip():
                found.append(Thinking(where, text))
                break
    if any(isinstance(one, Thinking) for one in found):
        yield from found
    else:
        yield Skipped(here, "hidden reasoning")


def _context(node: Node, here: Origin, otherwise: str) -> Iterator[Event]:
    """Custom instructions and memories, which are nobody's turn; or why a message is left out."""
    told = False
    brought = node.metadata.get("user_context_message_data")
    keys = [("content", key, node.content) for key in CONTEXT]
    keys += [
        ("metadata/user_context_message_data", key, brought)
        for key in ("about_user_message", "about_model_message")
    ]
    for path, key, holder in keys:
        text = holder.get(key) if isinstance(holder, dict) else None
        if isinstance(text, str) and text.strip():
            told = True
            yield Fact(at(here, f"/{path}/{key}"), "memory", text)
    if not told:
        yield Skipped(here, otherwise)


def ident_of(node: Node) -> str:
    """The message's own id; that of its node where it has none."""
    ident = node.message.get("id")
    return ident if isinstance(ident, str) and ident else node.key
