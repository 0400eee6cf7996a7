"""The files of a session."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Origin
from forsy_retrace.sdk import when, words
from forsy_retrace.source import Record, Source

Json = dict[str, Any]

AGENTS = "agent_*.messages.json"
"""How the files of subagents are called."""


class Doc:
    """A file of the session: the one value that it holds."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.value: Json = record.value if isinstance(record.value, dict) else {}

    def here(self, path: str, at: Any = None, actor: str = "system", message: str = "") -> Origin:
        """The origin of an event at a pointer."""
        return Origin(self.record.here.at(path), when(at), actor, message or None)

    @property
    def why(self) -> str:
        """Why a value that is none of a session's is left out."""
        return self.record.problem or "not of a session"

    @property
    def messages(self) -> list[Any]:
        found = self.value.get("messages")
        return found if isinstance(found, list) else []

    @property
    def is_agent(self) -> bool:
        return is_session(self.value)

    @property
    def is_meta(self) -> bool:
        return isinstance(self.value.get("session_id"), str) and "messages" not in self.value

    @property
    def is_compaction(self) -> bool:
        return isinstance(self.value.get("conversation_id"), str)


def is_session(value: Any) -> bool:
    match value:
        case {"sessionId": str(), "agent": str(), "origin": dict(), "messages": list()}:
            return True
    return False


def parent_of(value: Json) -> str:
    """The session that a subagent belongs to."""
    origin = value.get("origin")
    return words(origin.get("parentThreadId")) if isinstance(origin, dict) else ""


def of_session(source: Source, value: Any) -> Iterator[Source]:
    """The files beside a session's messages that belong to it; a subagent has none."""
    if not is_session(value) or parent_of(value):
        return
    ident = value["sessionId"]
    yield from source.called([f"{ident}.json", f"{ident}.compaction.json"])
    for one in source.beside(AGENTS):
        if any(is_session(two.value) and parent_of(two.value) == ident for two in one.head):
            yield one
