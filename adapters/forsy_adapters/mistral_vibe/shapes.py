"""One agent's log: its messages, and what the client knows of them."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from forsy_retrace.sdk import pointer, words
from forsy_retrace.source import Record, Source

from .._vibe import META, Json, is_session


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
