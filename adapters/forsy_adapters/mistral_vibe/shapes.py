"""What tells these logs from others, and which of the files beside one belong together."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from forsy_retrace.sdk import later, pointer, words
from forsy_retrace.source import Record, Source

Json = dict[str, Any]

ROLES = ("system", "user", "assistant", "tool")
META = "meta.json"
FIELDS = frozenset(
    [
        *("role", "content", "name", "tool_calls", "tool_call_id", "tool_result", "message_id"),
        *("injected", "images", "resources", "input_text", "user_display_content", "manual_shell"),
        *("reasoning_content", "reasoning_state", "reasoning_signature", "reasoning_message_id"),
        *("reasoning_payloads", "context_boundary"),
    ]
)
"""What a message may hold (LLMMessage, 2.2 to 3.0)."""
IDENT = later(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def is_session(value: Any) -> bool:
    """A whole session in one document, as 1.x writes it."""
    match value:
        case {
            "metadata": {"session_id": str(), "environment": dict(), "stats": dict()},
            "messages": list(),
        }:
            return True
    return False


def is_message(value: Any) -> bool:
    """A message of a session in a folder; from some version on (2.9, not 2.2) with a flag."""
    match value:
        case {"role": str(role)} if role in ROLES:
            return FIELDS.issuperset(value) and _is_marked(value)
    return False


def _is_marked(value: Json) -> bool:
    match value:
        case {"injected": bool(), "message_id": str()} | {
            "injected": bool(),
            "tool_call_id": str(),
        }:
            return True
        case {"message_id": str(ident), "content": str() | None}:
            return IDENT.fullmatch(ident) is not None
    return False


class Log:
    """One agent's messages, and what the client knows of its session."""

    def __init__(self, source: Source, meta: Source | None) -> None:
        self.source = source
        self.records = list(source.records())
        self.metas = list(meta.records()) if meta is not None else []
        self.is_alone = source.path.parent.parent.name == "agents"
        """Whether it lies where a subagent's does."""

    def meta(self) -> Iterator[tuple[Record, str, Json]]:
        """What the client knows of the session, and where it stands."""
        for record in self.metas:
            if isinstance(record.value, dict):
                yield record, "", record.value
        for record in self.records:
            if is_session(record.value):
                yield record, "/metadata", record.value["metadata"]

    def messages(self) -> Iterator[tuple[Record, str, Any]]:
        """Every message, and where it stands in its record."""
        for record in self.records:
            if is_session(record.value):
                for index, one in enumerate(record.value["messages"]):
                    yield record, pointer("messages", index), one
            else:
                yield record, "", record.value

    def told(self, key: str) -> str:
        """A text that the client knows of the session."""
        return next((words(value.get(key)) for _, _, value in self.meta()), "")

    @cached_property
    def brief(self) -> str:
        """The first words in the user's role."""
        for _, _, one in self.messages():
            match one:
                case {"role": "user", "content": str(text)}:
                    return text
        return ""

    def agent(self) -> str:
        """The name of its agent."""
        for _, _, value in self.meta():
            match value.get("agent_profile"):
                case {"name": str(name)}:
                    return name
        return ""


def logs(source: Source, beside: Sequence[Source]) -> list[Log]:
    """The session itself, then its subagents."""
    metas = {one.path.parent: one for one in beside if one.path.name == META}
    others = [one for one in beside if one.path.name != META]
    return [Log(one, metas.pop(one.path.parent, None)) for one in (source, *others)]
