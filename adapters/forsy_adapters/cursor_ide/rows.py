"""What the database holds: conversations, their messages, what files held, the chats of before."""

from collections.abc import Iterator

from forsy_retrace.events import Packed
from forsy_retrace.sdk import parsed, pointer, words
from forsy_retrace.source import Evidence, Record

from .held import Json, Kept, Node, chat_of, message_of, object_in, opened
from .listed import Listed

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

LEFT_OUT = {
    "checkpointId": "state of the files",
    "ofsContent": "state of the files",
    "messageRequestContext": "context of a request",
    "codeBlockDiff": "difference of a code block",
    "inlineDiff": "difference shown in the editor",
    "agentKv": "the agent's own store",
}
"""Rows of the store that are nobody's words, by what their key begins with."""


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
        self.contents: dict[str, Packed] = {}
        """What files held, by the names that edits give it."""
        self.tabs: list[Record] = []
        self.parents: dict[str, str] = {}
        """Subagents' conversations, and those that sent them."""
        self.sent_by: dict[str, str] = {}
        """Calls, and the subagents' conversations that name them as what sent them."""
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
                self._place(Node(object_in(parsed(value)), record.here.at(VALUE)))
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
            self.contents.setdefault(key, Packed(value))
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
        messages[message] = Kept(message_of(held), here)
        if sent := sent_by(object_in(held.get("toolFormerData"))):
            self.parents.setdefault(sent, chat)
        return ""

    def _item(self, key: str, value: str, record: Record) -> str:
        if key == CHATS:
            self.tabs.append(record)
            return ""
        if key in LISTS:
            listed = object_in(parsed(value)).get("allComposers")
            for at, one in enumerate(listed if isinstance(listed, list) else ()):
                node = Node(object_in(one), record.here.at(VALUE + pointer("allComposers", at)))
                self._place(node)
                if isinstance(node.value.get("conversation"), list):
                    name = words(node.value.get("composerId"))
                    self._chat(self.inline, name, node.value, node.here)
            return "the list of conversations"
        return "a setting of the editor"

    def _chat(self, chats: dict[str, Kept], name: str, value: Json, here: Evidence) -> str:
        if name in chats:
            return "repeated row"
        chats[name] = Kept(chat_of(value), here)
        began = value.get("createdAt")
        self.began[name] = began if isinstance(began, (int, float)) else 0
        info = object_in(value.get("subagentInfo"))
        if parent := words(info.get("parentComposerId")):
            self.parents[name] = parent
        if call := words(info.get("toolCallId")):
            self.sent_by.setdefault(call, name)
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

    def messages_of(self, name: str, chat: Node) -> Listed:
        """The messages that a conversation lists, in its order; they are held no longer."""
        return Listed(chat, self.messages.get(name, {}))

    def rest(self) -> Iterator[Evidence]:
        """The messages that no conversation lists."""
        for messages in self.messages.values():
            for one in messages.values():
                yield one.here


def sent_by(call: Json) -> str:
    """The conversation of the subagent that a call sent, where it names one."""
    if call.get("name") not in TASKS:
        return ""
    result, beside = object_in(opened(call.get("result"))), object_in(call.get("additionalData"))
    return words(beside.get("subagentComposerId"), result.get("agentId"))
