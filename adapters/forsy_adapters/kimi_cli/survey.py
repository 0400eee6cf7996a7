"""What a file shows as a whole: the parts of calls, which subagents it tells of, its last words."""

from forsy_retrace.events import ToolResult
from forsy_retrace.sdk import words
from forsy_retrace.source import Evidence, Source

from .results import agent_in, end_of, held
from .units import Unit, unit_of

Pieces = list[tuple[str, Evidence]]


class Survey:
    """One look over all records of a file."""

    def __init__(self, source: Source) -> None:
        self.parts: set[int] = set()
        """Records that hold a part of a call's arguments."""
        self.rest: dict[int, Pieces] = {}
        """Record of a call to what followed of its arguments."""
        self.agents: set[str] = set()
        """Subagents whose messages stand in this file."""
        self.launched: dict[str, str] = {}
        """Subagents to the call whose result names them first."""
        self.tasks: dict[str, ToolResult] = {}
        """Commands in the background, and how they ended."""
        self.last: set[int] = set()
        """The last words, if nothing was called behind them."""
        calls: dict[str, int] = {}
        for number, record in enumerate(source.records()):
            if unit := unit_of(number, record):
                self._look(unit, calls)

    def _look(self, unit: Unit, calls: dict[str, int]) -> None:
        if unit.task:
            self.agents.add(unit.agent)
        match unit.kind, unit.body:
            case "ToolCall", _:
                calls[unit.task] = unit.number
                self.last.clear()
            case "ToolCallPart", {"arguments_part": str(text)} if unit.task in calls:
                where = unit.here("/arguments_part").evidence
                self.rest.setdefault(calls[unit.task], []).append((text, where))
                self.parts.add(unit.number)
            case "ContentPart", {"type": "text", "text": str(text)} if text.strip():
                self.last = {unit.number}
            case "ToolResult", {"tool_call_id": str(call)}:
                if agent := agent_in(held(unit.body)):
                    self.launched.setdefault(agent, call)
            case "Notification", _:
                self.tasks |= end_of(unit)
            case "StepBegin" | "StepInterrupted", _:
                calls.pop(unit.task, None)

    def arguments(self, unit: Unit) -> tuple[str | None, tuple[Evidence, ...]]:
        """The text of a call's arguments, and where its pieces stand."""
        first = unit.body["function"].get("arguments")
        rest = self.rest.get(unit.number, [])
        if not isinstance(first, str):
            first = None
        if not rest:
            return (first or None), ()
        where = unit.here("/function/arguments").evidence
        pieces = [(words(first), where)] if first else []
        pieces += rest
        return "".join(text for text, _ in pieces), tuple(place for _, place in pieces)
