"""An answer's blocks, in their order: thoughts, words, calls, and what came back."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.calls import Calls
from forsy_retrace.events import Event, Meant, Message, Origin, Skipped, Thinking, ToolCall
from forsy_retrace.sdk import named, pointer, when, words

from .results import result
from .tree import Json, Said

STATE = ("token_budget",)
"""Blocks that tell of the client, and not of the answer."""


class Answer:
    """One message of the agent."""

    def __init__(self, calls: Calls, node: Said, here: Origin) -> None:
        self.calls, self.node, self.here = calls, node, here
        self.open: list[tuple[str, str, str]] = []
        """Calls without an answer: the id that the log gives, the call's own, the tool."""
        self.rounds, self.is_answered = 1, False

    def events(self) -> Iterator[Event]:
        """At least one event."""
        for index, block in enumerate(self.node.blocks):
            self._count(block)
            match block:
                case {"type": "text", "text": str(text)}:
                    place = self._place(index, block, "text")
                    if text.strip():
                        yield Message(place, "agent", text)
                    else:
                        yield Skipped(place, "empty message")
                case {"type": "thinking"}:
                    yield from self._thoughts(index, block)
                case {"type": "tool_use", "name": str(tool)}:
                    yield self._call(index, block, tool)
                case {"type": "tool_result"}:
                    yield self._result(index, block)
                case {"type": str(kind)} if kind in STATE:
                    yield Skipped(self._place(index, block), f"state of the client{named(kind)}")
                case {"type": kind}:
                    yield Skipped(self._place(index, block), f"unknown content block{named(kind)}")
                case _:
                    yield Skipped(self.here.below(pointer("content", index)), "not a block")

    def _count(self, block: Any) -> None:
        """What comes behind results is another answer of the model, though of the same message."""
        is_result = isinstance(block, dict) and block.get("type") == "tool_result"
        self.rounds += self.is_answered and not is_result
        self.is_answered = is_result

    @property
    def ident(self) -> str:
        """The message's id, with a number for each answer of the model behind the first."""
        return f"{self.node.key}#{self.rounds}" if self.rounds > 1 else self.node.key

    def _place(self, index: int, block: Json, *path: str | int) -> Origin:
        """The place of a block, or of a part of it, and when that began.

        Old exports have the time of the message alone, at which all its calls were over.
        """
        below = self.here.below(pointer("content", index, *path))
        is_call = block.get("type") in ("tool_use", "tool_result")
        began = when(block.get("start_timestamp")) or (None if is_call else self.here.at)
        return Origin(below.evidence, began, "agent", self.ident, below.branch)

    def _thoughts(self, index: int, block: Json) -> Iterator[Event]:
        """The reasoning as it is shown; where it is hidden, its summaries."""
        if text := words(block.get("thinking")):
            yield Thinking(self._place(index, block, "thinking"), text)
            return
        listed = block.get("summaries")
        found: list[Event] = [
            Thinking(self._place(index, block, "summaries", at, "summary"), text)
            for at, one in enumerate(listed if isinstance(listed, list) else ())
            if isinstance(one, dict) and (text := words(one.get("summary")))
        ]
        yield from found or [Skipped(self._place(index, block), "hidden reasoning")]

    def _call(self, index: int, block: Json, tool: str) -> Event:
        sent = block.get("input")
        within = sent.get("_tool_call_id") if isinstance(sent, dict) else None
        ident = words(block.get("id"), within)
        call = self.calls.issue(ident, self.node.key, index)
        place = self._place(index, block, "input")
        if call is None:
            return Skipped(place, "repeated history")
        self.open.append((ident, call, tool))
        return ToolCall(place, call, tool, sent, meant=_meant(tool, sent))

    def _result(self, index: int, block: Json) -> Event:
        place = self._place(index, block)
        found = self._answered(words(block.get("tool_use_id")), words(block.get("name")))
        if found is None:
            return Skipped(place, "a result, and no word of which call's")
        self.open.remove(found)
        return result(block, place, found[1], found[2])

    def _answered(self, ident: str, tool: str) -> tuple[str, str, str] | None:
        """The call that a result names; without a name, the only one that waits."""
        if ident:
            return next((one for one in self.open if one[0] == ident), None)
        fits = [one for one in self.open if one[2] == tool or not tool]
        return fits[0] if len(fits) == 1 else None


def _meant(tool: str, sent: Any) -> Meant | None:
    """What the client's own tools work like: an artifact is a file, a connector an MCP server."""
    if tool == "artifacts":
        return _written(sent)
    server, mark, name = tool.partition(":")
    return Meant(f"mcp__{server}__{name}", sent) if mark and server and name else None


def _written(sent: Any) -> Meant | None:
    """The file that a call for an artifact writes or edits; its id is its name."""
    match sent:
        case {"command": "create" | "rewrite", "id": str(name), "content": str(text)}:
            return Meant("Write", {"file_path": name, "content": text})
        case {"command": "update", "id": str(name), "old_str": str(old), "new_str": str(new)}:
            return Meant("Edit", {"file_path": name, "old_string": old, "new_string": new})
    return None
