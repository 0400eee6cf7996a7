"""Conversations one by one: which one it is, and its messages."""

from collections.abc import Iterator

from forsy_retrace.calls import Calls
from forsy_retrace.dialects import media_type
from forsy_retrace.events import (
    Attachment,
    Event,
    Fact,
    Message,
    Notice,
    Origin,
    SessionStart,
    Skipped,
    Via,
)
from forsy_retrace.sdk import later, named, number, pointer, when, words
from forsy_retrace.source import Record

from .._trees import departures, said_above
from .answers import Answer
from .tree import Json, Said, in_time

PASTED = later(r"(?:paste(?:-\d+)?\.txt)?")
"""How the client calls a long text that was pasted: the user's words, and no file."""
STOPPED = "user_canceled"
LIMITS = ("max_tokens", "max_conversation_length_exceeded")
"""Why an answer ends, where nobody chose that."""


class Reader:
    """Reads conversations one by one; only their versions are kept in mind."""

    def __init__(self) -> None:
        self.versions: set[tuple[str, str, int]] = set()

    def read(self, record: Record) -> Iterator[Event]:
        """At least one event; only a Skipped where nothing was said."""
        top = record.value
        place = Origin(record.here, when(top.get("created_at")), "system")
        messages = top["chat_messages"]
        version = (top["uuid"], words(top.get("updated_at")), len(messages))
        order = in_time(messages, top.get("current_leaf_message_uuid"))
        if version in self.versions:
            yield Skipped(place, "repeated conversation")
        elif not any(node.is_said for node in order):
            yield Skipped(place, "conversation without messages")
        else:
            self.versions.add(version)
            yield from _opening(top, place)
            yield from Talk(record, order).events()
            if len(order) < len(messages):
                yield Skipped(place, "messages that are none, or copies")


def _opening(top: Json, place: Origin) -> Iterator[Event]:
    yield SessionStart(place.below("/uuid"), top["uuid"])
    if place.at:
        yield Fact(place.below("/created_at"), "began", place.at)
    for key, name in (("name", "title"), ("model", "model")):
        if text := words(top.get(key)):
            yield Fact(place.below(pointer(key)), name, text)


class Talk:
    """The messages of one conversation."""

    def __init__(self, record: Record, order: list[Said]) -> None:
        self.here, self.order = record.here, order
        self.calls = Calls()
        self.ends: dict[str, str] = {}
        """Of each message that holds several answers of the model, what the last is called."""

    def events(self) -> Iterator[Event]:
        jumps = False
        for node, departs in departures(self.order):
            here, jumps = self._origin(node), jumps or departs
            if jumps and node.is_said:
                jumps, before = False, said_above(node)
                above = self.ends.get(before.key, before.key) if before else None
                yield Fact(here, "follows", {"message": above})
            if node.instead_of is not None:
                kind = "edited" if node.role == "user" else "regenerated"
                yield Fact(here, "replaces", {"kind": kind, "message": node.instead_of.key})
            match node.role:
                case "user":
                    yield from _user(node, here)
                case "assistant":
                    yield from self._agent(node, here)
                case _:
                    yield Skipped(here, "message of an unknown sender")

    def _origin(self, node: Said) -> Origin:
        evidence = self.here.at(pointer("chat_messages", node.index))
        actor = "user" if node.role == "user" else "agent"
        at = when(node.message.get("created_at"))
        return Origin(evidence, at, actor, node.key, node.branch)

    def _agent(self, node: Said, here: Origin) -> Iterator[Event]:
        if node.blocks:
            answer = Answer(self.calls, node, here)
            yield from answer.events()
            self.ends[node.key] = answer.ident
        else:
            yield from _plain(node, here)
        match node.message.get("stop_reason"):
            case str(why) if why == STOPPED:
                yield Notice(here.below("/stop_reason"), "interrupted")
            case str(why) if why in LIMITS:
                yield Notice(here.below("/stop_reason"), "limit", why)


def _plain(node: Said, here: Origin) -> Iterator[Event]:
    if text := words(node.message.get("text")):
        yield Message(here.below("/text"), "agent", text)
    else:
        yield Skipped(here, "empty message")


def _user(node: Said, here: Origin) -> Iterator[Event]:
    """What a human wrote and pasted, and behind it the files that came along."""
    via: Via = "edited" if node.instead_of is not None else "typed"
    said = list(_typed(node, here))
    listed = node.message.get("attachments")
    brought: list[Event] = []
    for index, one in enumerate(listed if isinstance(listed, list) else ()):
        place = here.below(pointer("attachments", index, "extracted_content"))
        text = words(one.get("extracted_content")) if isinstance(one, dict) else ""
        if text and PASTED.fullmatch(str(one.get("file_name") or "")):
            said.append((text, place))
        elif text:
            brought.append(Fact(place.by("system"), "brought", {"text": text}))
    files = tuple(_files(node.message, here))
    if not said and files:
        said.append(("", here))
    for number_, (text, place) in enumerate(said):
        yield Message(place, "user", text, via, attachments=files if number_ == 0 else ())
    yield from brought
    for block in node.blocks:
        if not _is_text(block):
            kind = block.get("type") if isinstance(block, dict) else None
            yield Skipped(here, f"unknown content block{named(kind)}")
    if not said:
        yield Skipped(here, "empty message")


def _is_text(block: object) -> bool:
    match block:
        case {"type": "text", "text": str()}:
            return True
    return False


def _typed(node: Said, here: Origin) -> Iterator[tuple[str, Origin]]:
    texts = [(at, block["text"]) for at, block in enumerate(node.blocks) if _is_text(block)]
    texts = [(at, text) for at, text in texts if text.strip()]
    for at, text in texts:
        yield text, here.below(pointer("content", at, "text"))
    if not texts and (text := words(node.message.get("text"))):
        yield text, here.below("/text")


def _files(message: Json, here: Origin) -> Iterator[Attachment]:
    """Files that came with a message, but for pasted texts."""
    for key in ("attachments", "files"):
        listed = message.get(key)
        for index, one in enumerate(listed if isinstance(listed, list) else ()):
            if not isinstance(one, dict):
                continue
            name = words(one.get("file_name"))
            if key == "files" or not PASTED.fullmatch(name):
                kind = words(one.get("file_type"))
                media = kind if "/" in kind and len(kind) < 80 else media_type(name) or "unknown"
                size = max(number(one.get("file_size")) or 0, 0)
                place = here.below(pointer(key, index)).evidence.pointer
                yield Attachment(media, size, place)
