"""Conversations one by one: which one it is, and its messages."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import (
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
from forsy_retrace.sdk import pointer, strings, when
from forsy_retrace.source import Record

from .calls import at
from .feedback import Feedback
from .tree import Json, Node, in_time
from .turns import Talk

TOLD = (Message, Thinking, ToolCall, ToolResult, Notice)
NODE = ("message", "parent", "children")


def mapping_of(value: Any) -> tuple[Json, str] | None:
    """The nodes of a conversation and where they stand in its record; None where it is none."""
    match value:
        case {"mapping": dict(mapping)}:
            if any(_is_node(node) for node in mapping.values()):
                return mapping, "/mapping"
            known = "current_node" in value or "moderation_results" in value
            return (mapping, "/mapping") if known and not mapping else None
        case dict() if value and all(_is_node(node) for node in value.values()):
            heard = [node.get("message") for node in value.values()]
            whole = any(isinstance(one, dict) and "author" in one for one in heard)
            return (value, "") if whole else None
    return None


def _is_node(node: Any) -> bool:
    return isinstance(node, dict) and "id" in node and any(key in node for key in NODE)


class Reader:
    """Reads conversations one by one; only their versions are kept in mind."""

    def __init__(self, feedback: Feedback) -> None:
        self.feedback = feedback
        self.versions: set[tuple[str, ...]] = set()

    def read(self, record: Record) -> Iterator[Event]:
        """At least one event; only a Skipped where nothing was said."""
        found = mapping_of(record.value)
        assert found is not None
        mapping, base = found
        top: Json = record.value if base else {}
        place = Origin(record.here, when(top.get("create_time")), "system")
        version = (
            *(str(top.get(key)) for key in ("conversation_id", "id", "update_time")),
            *(str(one) for one in (top.get("current_node"), len(mapping))),
        )
        if base and version in self.versions and _name(top)[0]:
            yield Skipped(place, "repeated conversation")
            return
        self.versions.add(version)
        order = in_time(mapping, top.get("current_node"))
        talk = Talk(record, base, order, self.feedback)
        events = list(talk.events())
        if not any(isinstance(event, TOLD) for event in events):
            yield Skipped(place, "conversation without messages")
            return
        yield from _opening(top, place, order)
        yield from events
        broken = sum(not isinstance(node, dict) for node in mapping.values())
        if broken:
            yield Skipped(place, "nodes that are none")


def _name(top: Json) -> tuple[str, str]:
    for key in ("conversation_id", "id"):
        if isinstance(top.get(key), str) and top[key]:
            return top[key], pointer(key)
    return "", ""


def _opening(top: Json, place: Origin, order: list[Node]) -> Iterator[Event]:
    """Which conversation this is, which one it was branched from, what it was started with."""
    name, path = _name(top)
    sources = (node.metadata.get("branching_from_conversation_id") for node in order)
    prior = next((one for one in sources if isinstance(one, str) and one and one != name), None)
    yield SessionStart(at(place, path), name, prior)
    if place.at:
        yield Fact(at(place, "/create_time"), "began", place.at)
    if isinstance(top.get("title"), str) and top["title"]:
        yield Fact(at(place, "/title"), "title", top["title"])
    if isinstance(top.get("gizmo_id"), str) and top["gizmo_id"]:
        yield Fact(at(place, "/gizmo_id"), "skills", [top["gizmo_id"]])
    plugins = list(strings(top.get("plugin_ids")))
    if plugins:
        yield Fact(at(place, "/plugin_ids"), "plugins", plugins)
