"""What one agent of a session knows: what it was told, and which of its calls are under way."""

from collections import Counter, deque
from typing import Any

from forsy_retrace.sdk import compact, text_or_json

from .parts import Part
from .tools import Run
from .tree import Node


class Mind:
    """What one agent was told and has said so far."""

    def __init__(self, told: Counter[object]) -> None:
        self.told = told
        self.waiting: dict[str, deque[tuple[str, Any]]] = {}
        """Calls by their tool that no span of a tool has run yet: their name, and input."""
        self.answer = ""
        """The span of its model's last answer: calls that no answer tells are that one's."""
        self.held: dict[str, tuple[Node, Run]] = {}
        """Calls that ended, where the span leaves out what came back: a message may have it."""


def waiting_for(mind: Mind, run: Run) -> str | None:
    """The call that a span runs: of its id, or else the first of its tool, best with its input."""
    waiting = mind.waiting.get(run.tool)
    if not waiting:
        return None
    found = [one for one in waiting if one[0] == run.call or one[0].startswith(run.call + "#")]
    if run.call and not found:
        return None
    sent = None if run.sent is None else text_or_json(run.sent)
    alike = [one for one in waiting if sent is not None and text_or_json(one[1]) == sent]
    one = (found if run.call else alike or list(waiting))[0]
    waiting.remove(one)
    return one[0]


def key_of(part: Part) -> object:
    """What tells a part of a conversation from others."""
    if part.kind == "call":
        own = part.id or compact(part.value)
        return "call", own, part.tool
    if part.kind == "result" and part.id:
        return "result", part.id
    said = part.value.strip() if isinstance(part.value, str) else text_or_json(part.value)
    return part.kind, part.role, hash(said)
