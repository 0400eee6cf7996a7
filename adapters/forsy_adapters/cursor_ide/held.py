"""Objects of the log, of which only what is told is held until then."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from forsy_retrace.events import Packed
from forsy_retrace.sdk import compact, parsed, pointer
from forsy_retrace.source import Evidence

Json = dict[str, Any]

OF_A_CHAT = (
    *("composerId", "name", "createdAt", "modelConfig", "createdOnBranch", "workspaceIdentifier"),
    *("fullConversationHeadersOnly", "conversation", "conversationMap"),
    *("subagentInfo", "subagentComposerIds"),
)
OF_A_MESSAGE = (
    *("bubbleId", "type", "text", "richText", "thinking", "toolFormerData", "capabilityType"),
    *("createdAt", "tokenCount", "modelInfo", "images", "isSimulatedMsg", "errorDetails"),
    "isThought",
)
OF_A_CALL = (
    *("name", "toolCallId", "modelCallId", "rawArgs", "params", "result", "error"),
    *("status", "userDecision", "additionalData"),
)
BESIDE_A_CALL = ("status", "startedAtMs", "subagentComposerId")
"""The fields that are held: a message has a hundred of them, most of which are empty."""


class Node(NamedTuple):
    """An object of the log, and where it stands."""

    value: Json
    here: Evidence

    def at(self, *keys: str | int) -> Evidence:
        """The place of what lies below it."""
        return self.here.at(self.here.pointer + pointer(*keys))

    def below(self, *keys: str | int) -> "Node":
        """The object that lies below it; an empty one where there is none."""
        value: Any = self.value
        for key in keys:
            value = opened(value)
            value = value.get(key) if isinstance(value, dict) else None
        found = opened(value)
        return Node(found if isinstance(found, dict) else {}, self.at(*keys))


class Kept:
    """An object of which only some fields are held, packed until it is told."""

    __slots__ = ("asked", "here", "text")

    def __init__(self, value: Json, here: Evidence) -> None:
        self.text, self.here = Packed(compact(value)), here
        self.asked = asked_at(value)

    def node(self) -> Node:
        """The object."""
        found = parsed(str(self.text))
        return Node(found if isinstance(found, dict) else {}, self.here)


def opened(value: Any) -> Any:
    """What a text of JSON holds; any other value itself."""
    return parsed(value) if isinstance(value, str) else value


def object_in(value: Any) -> Json:
    """The value, if it is an object; else an empty one."""
    return value if isinstance(value, dict) else {}


def asked_at(value: Json) -> str:
    """When a human's message was sent, as it is written; empty for any other."""
    is_human = value.get("type") == 1 and value.get("isSimulatedMsg") is not True
    return str(value.get("createdAt") or "") if is_human else ""


def _only(value: Json, names: Iterable[str]) -> Json:
    return {name: value[name] for name in names if name in value}


def message_of(value: Json) -> Json:
    """What is held of a message."""
    kept = _only(value, OF_A_MESSAGE)
    if isinstance(call := kept.get("toolFormerData"), dict):
        kept["toolFormerData"] = call = _only(call, OF_A_CALL)
        beside = object_in(opened(call.get("additionalData")))
        call["additionalData"] = _only(beside, BESIDE_A_CALL)
    return kept


def chat_of(value: Json) -> Json:
    """What is held of a conversation."""
    kept = _only(value, OF_A_CHAT)
    for name, change in _WITHIN.items():
        if name in kept:
            kept[name] = change(kept[name])
    return kept


def _messages(value: Any) -> Any:
    return [message_of(object_in(one)) for one in value] if isinstance(value, list) else []


def _mapped(value: Any) -> Any:
    return {name: message_of(object_in(one)) for name, one in object_in(value).items()}


_WITHIN: Mapping[str, Callable[[Any], Any]] = {
    "conversation": _messages,
    "conversationMap": _mapped,
}
