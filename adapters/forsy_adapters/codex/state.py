"""What a reader of a Codex log remembers: the session's facts, open calls, who spoke last."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.calls import Calls
from forsy_retrace.events import Delegation, Event, Fact, Origin, Skipped
from forsy_retrace.sdk import subagent

from .._patches import Patch
from .survey import Survey
from .units import Json, Unit

USAGE = (
    "input_tokens",
    "cached_input_tokens",
    "cache_write_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
    "total_tokens",
)


class State:
    """One file's state; the readers of items and of events share it."""

    def __init__(self, found: Survey) -> None:
        self.found = found
        self.calls = Calls()
        self.session = ""
        self.facts: dict[str, Any] = {}
        self.home: tuple[Event, ...] = ()
        """Where the client was started: all sessions of a screen's log are there."""
        self.tools: dict[str, str] = {}
        self.patches: dict[str, Patch] = {}
        self.script = ""
        """The call whose code is running."""
        self.scripts: dict[str, int] = {}
        """The places of the records that sent code which has not ended."""
        self.agents: dict[str, tuple[str, str]] = {}
        self.response = 0
        self.heard = True
        """Whether something came in since the model last spoke: then it answers anew."""
        self.model: tuple[str, Origin] | None = None
        self.modelled = 0
        self.totals: dict[str, int] = {}
        self.compacted = False
        self.planned = False
        """Whether the agent's last words propose a plan."""
        self.reviewing = False
        """Whether what comes is of a review that the human asked for by a command."""
        self.asked: set[str] = set()
        """What the human asked for by commands."""

    def here(self, unit: Unit, path: str, actor: str = "system", message: str = "") -> Origin:
        """The origin of an event at a pointer below the unit."""
        evidence = unit.record.here.at(unit.prefix + path)
        branch = self.found.branches.get(unit.number, "")
        return Origin(evidence, unit.at, actor, message or None, branch)

    def agent(self, unit: Unit, path: str) -> Origin:
        """The origin of something that the model said or asked for."""
        if self.heard:
            self.response += 1
            self.heard = False
        self.compacted = False
        return self.here(unit, path, "agent", f"response-{self.response}")

    def under_way(self, unit: Unit, path: str) -> Origin:
        """The origin of what code does that the model sent: it runs beside its message's calls."""
        return self.here(unit, path, "agent", f"response-{self.response}")

    def models(self, unit: Unit) -> Iterator[Event]:
        """Which model gives the answer under way, told once for each."""
        if self.model is not None and self.modelled < self.response:
            self.modelled = self.response
            name, place = self.model
            where = Origin(place.evidence, unit.at, "system", f"response-{self.response}")
            yield Fact(where, "model", name)

    def fact(self, unit: Unit, path: str, name: str, value: Any) -> Iterator[Event]:
        """A fact of the session where it is new."""
        if isinstance(value, str) and value and self.facts.get(name) != value:
            self.facts[name] = value
            yield Fact(self.here(unit, path), name, value)

    def briefed(self, unit: Unit, path: str, text: str) -> Event:
        """The brief of a subagent; what it is told later in a human's role adds to it."""
        told = list(self.fact(unit, path, "brief", text)) if "brief" not in self.facts else []
        return told[0] if told else Skipped(self.here(unit, path), "a subagent's brief")

    def delegated(self, unit: Unit, call: str, agent: Any) -> Iterator[Event]:
        """A subagent that a call started, told by its output or by the client."""
        if isinstance(agent, str) and agent not in self.agents:
            actor = subagent("", len(self.agents) + 1)
            self.agents[agent] = (call, actor)
            yield Delegation(self.here(unit, "", "agent"), call, actor)

    def speaks(self, unit: Unit, path: str, name: Any) -> None:
        """From here on this model answers."""
        if isinstance(name, str) and name:
            self.model = (name, self.here(unit, path))

    def usage(self, unit: Unit, path: str, totals: Json) -> Event:
        """What running totals grew by: most of them repeat the one before."""
        counted = {name: totals[name] for name in USAGE if _is_count(totals.get(name))}
        if counted == self.totals or not counted:
            return Skipped(
                self.here(unit, path), "repeated token count" if counted else "telemetry"
            )
        old = self.totals
        if any(counted.get(name, 0) < value for name, value in old.items()):
            old = {}
        self.totals = counted
        grown = {name: value - old.get(name, 0) for name, value in counted.items()}
        return Fact(self.here(unit, path), "usage", grown)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
