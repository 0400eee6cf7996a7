"""What the database holds: conversations, their messages, what files held, the chats of before."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from forsy_retrace.events import Packed
from forsy_retrace.sdk import compact, parsed, pointer, words
from forsy_retrace.source import Evidence, Record

Json = dict[str, Any]

STORE, ITEMS, HEADS = "cursorDiskKV", "ItemTable", "composerHeaders"
"""The editor's store, its settings (logins, too: of them only the rows named below are read), and
its list of conversations."""
VALUE = "/row/value"
CHATS = "workbench.panel.aichat.view.aichat.chatdata"
LISTS = ("composer.composerHeaders", "composer.composerData")
"""The rows of the settings that list conversations; in 2024 they held some, too."""
CONTENT = "composer.content."
TASKS = ("task", "task_v2")
"""The tools that send a subagent."""

OF_A_CHAT = (
    *("composerId", "name", "createdAt", "modelConfig", "createdOnBranch", "workspaceIdentifier"),
    *("fullConversationHeadersOnly", "conversation", "conversationMap"),
    *("subagentInfo", "subagentComposerIds"),
)
OF_A_MESSAGE = (
    *("bubbleId", "type", "text", "richText", "thinking", "toolFormerData", "capabilityType"),
    *("createdAt", "tokenCount", "modelInfo", "images", "isSimulatedMsg", "errorDetails"),
)
OF_A_CALL = (
    *("name", "toolCallId", "modelCallId", "rawArgs", "params", "result", "error"),
    *("status", "userDecision", "additionalData"),
)
BESIDE_A_CALL = ("status", "startedAtMs", "subagentComposerId")
"""The fields that are held: a message has a hundred of them, most of which are empty."""

LEFT_OUT = {
    "checkpointId": "state of the files",
    "ofsContent": "state of the files",
    "messageRequestContext": "context of a request",
    "codeBlockDiff": "difference of a code block",
    "inlineDiff": "difference shown in the editor",
    "agentKv": "the agent's own store",
}
"""Rows of the store that are nobody's words, by what their key begins with."""


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

    __slots__ = ("here", "text")

    def __init__(self, value: Json, here: Evidence) -> None:
        self.text, self.here = Packed(compact(value)), here

    def node(self) -> Node:
        """The object."""
        found = parsed(str(self.text))
        return Node(found if isinstance(found, dict) else {}, self.here)


class Content(NamedTuple):
    """What a file held."""

    text: Packed
    here: Evidence


class Rows:
    """The rows of a database, as they come."""

    def __init__(self) -> None:
        self.chats: dict[str, Kept] = {}
        self.inline: dict[str, Kept] = {}
        """Conversations that stand in a list of them."""
        self.messages: dict[str, dict[str, Kept]] = {}
        """By conversation, and by their own names."""
        self.places: dict[str, Node] = {}
        """What the lists say of conversations."""
        self.contents: dict[str, Content] = {}
        self.tabs: list[Record] = []
        self.parents: dict[str, str] = {}
        """Subagents' conversations, and those that sent them."""
        self.began: dict[str, float] = {}

    def take(self, record: Record) -> str:
        """Keeps a row; why it is told by none of its own, if so."""
        match record.value:
            case {"table": table, "row": {"key": str(key), "value": str(value)}} if table == STORE:
                return self._stored(key, value, record.here.at(VALUE))
            case {"table": table, "row": {"key": str(key), "value": str(value)}} if table == ITEMS:
                return self._item(key, value, record)
            case {"table": table, "row": {"composerId": str(), "value": str(value)}} if (
                table == HEADS
            ):
                self._place(Node(_object(parsed(value)), record.here.at(VALUE)))
                return "the list of conversations"
            case {"table": table, "row": {"key": str()}} if table == STORE:
                return "a row without a text"
            case {"database": _}:
                return "the names of tables and columns"
            case {"table": str()}:
                return "a row of another table"
        return record.problem or "unknown record"

    def _stored(self, key: str, value: str, here: Evidence) -> str:
        kind, _, name = key.partition(":")
        if key.startswith(CONTENT):
            self.contents.setdefault(key, Content(Packed(value), here))
            return "what a file held at an edit"
        if kind not in ("composerData", "bubbleId"):
            return LEFT_OUT.get(kind, "a row of no conversation")
        held = parsed(value)
        if not isinstance(held, dict):
            return "a row that holds no object"
        if kind == "composerData":
            return self._chat(self.chats, name, held, here)
        chat, _, message = name.rpartition(":")
        messages = self.messages.setdefault(chat, {})
        if message in messages:
            return "repeated row"
        messages[message] = Kept(_message(held), here)
        if sent := sent_by(_object(held.get("toolFormerData"))):
            self.parents.setdefault(sent, chat)
        return ""

    def _item(self, key: str, value: str, record: Record) -> str:
        if key == CHATS:
            self.tabs.append(record)
            return ""
        if key in LISTS:
            listed = _object(parsed(value)).get("allComposers")
            for at, one in enumerate(listed if isinstance(listed, list) else ()):
                node = Node(_object(one), record.here.at(VALUE + pointer("allComposers", at)))
                self._place(node)
                if isinstance(node.value.get("conversation"), list):
                    name = words(node.value.get("composerId"))
                    self._chat(self.inline, name, node.value, node.here)
            return "the list of conversations"
        return "a setting of the editor"

    def _chat(self, chats: dict[str, Kept], name: str, value: Json, here: Evidence) -> str:
        if name in chats:
            return "repeated row"
        chats[name] = Kept(_chat(value), here)
        began = value.get("createdAt")
        self.began[name] = began if isinstance(began, (int, float)) else 0
        parent = words(_object(value.get("subagentInfo")).get("parentComposerId"))
        if parent:
            self.parents[name] = parent
        listed = value.get("subagentComposerIds")
        for one in listed if isinstance(listed, list) else ():
            if isinstance(one, str):
                self.parents.setdefault(one, name)
        return ""

    def _place(self, node: Node) -> None:
        held = {key: node.value[key] for key in ("workspaceIdentifier",) if key in node.value}
        self.places.setdefault(words(node.value.get("composerId")), Node(held, node.here))

    def all_chats(self) -> dict[str, Kept]:
        """The conversations in the order in which they began."""
        found = {**self.inline, **self.chats}
        return {name: found[name] for name in sorted(found, key=lambda one: self.began[one])}

    def messages_of(self, name: str, chat: Node) -> "Listed":
        """The messages that a conversation lists, in its order; they are held no longer."""
        return Listed(chat, self.messages.get(name, {}))

    def rest(self) -> Iterator[Evidence]:
        """The messages that no conversation lists."""
        for messages in self.messages.values():
            for one in messages.values():
                yield one.here


class Listed:
    """The messages of a conversation, in its order."""

    def __init__(self, chat: Node, stored: dict[str, Kept]) -> None:
        self.chat, self.stored = chat, stored
        self.lost = False
        """Whether it lists one that is not there."""

    def __iter__(self) -> Iterator[Node]:
        inline = self.chat.value.get("conversation")
        if isinstance(inline, list) and inline:
            for at, one in enumerate(inline):
                yield Node(_object(one), self.chat.at("conversation", at))
            return
        headers = self.chat.value.get("fullConversationHeadersOnly")
        told = set[str]()
        for one in headers if isinstance(headers, list) else ():
            name = words(_object(one).get("bubbleId"))
            if name and name not in told:
                told.add(name)
                yield from self._listed(name, _object(one))

    def _listed(self, name: str, header: Json) -> Iterator[Node]:
        if name in self.stored:
            node = self.stored.pop(name).node()
        else:
            node = self.chat.below("conversationMap", name)
        if not node.value:
            self.lost = True
            return
        if _object(header.get("grouping")).get("isSimulatedMsg") is True:
            node.value.setdefault("isSimulatedMsg", True)
        yield node


def opened(value: Any) -> Any:
    """What a text of JSON holds; any other value itself."""
    return parsed(value) if isinstance(value, str) else value


def sent_by(call: Json) -> str:
    """The conversation of the subagent that a call sent, where it names one."""
    if call.get("name") not in TASKS:
        return ""
    result, beside = _object(opened(call.get("result"))), _object(call.get("additionalData"))
    return words(beside.get("subagentComposerId"), result.get("agentId"))


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _only(value: Json, names: Iterable[str]) -> Json:
    return {name: value[name] for name in names if name in value}


def _message(value: Json) -> Json:
    kept = _only(value, OF_A_MESSAGE)
    if isinstance(call := kept.get("toolFormerData"), dict):
        kept["toolFormerData"] = call = _only(call, OF_A_CALL)
        beside = _object(opened(call.get("additionalData")))
        call["additionalData"] = _only(beside, BESIDE_A_CALL)
    return kept


def _chat(value: Json) -> Json:
    kept = _only(value, OF_A_CHAT)
    for name, change in _WITHIN.items():
        if name in kept:
            kept[name] = change(kept[name])
    return kept


def _messages(value: Any) -> Any:
    return [_message(_object(one)) for one in value] if isinstance(value, list) else []


def _mapped(value: Any) -> Any:
    return {name: _message(_object(one)) for name, one in _object(value).items()}


_WITHIN: Mapping[str, Callable[[Any], Any]] = {
    "conversation": _messages,
    "conversationMap": _mapped,
}
