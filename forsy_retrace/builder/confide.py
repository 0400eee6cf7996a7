"""How sure can a reader be that the trace tells what happened?

A table of facts that a log could have shown, each with its points: what is missing is deducted in
proportion, and each deduction is listed. Removing evidence never raises the figure: a share counts
what is there against calls that nobody removed, and a subagent weighs the same with and without
its log. The points are set by `benchmarks/calibrate.py`; docs/confidence.md tells how.
"""

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from forsy_retrace.events import (
    SHELL,
    Event,
    Message,
    Notice,
    Skipped,
    Thinking,
    ToolCall,
    ToolResult,
)
from forsy_retrace.events import (
    Fact as SessionFact,
)
from forsy_retrace.frames import shown_of
from forsy_retrace.sdk import Shows
from forsy_retrace.trace import Deduction, Step, Trace, long_tokens

from .finishes import closing_words
from .outcome import never_ran
from .shells import SHELLS, command_of
from .tools import AGENT_TOOLS

HIGHEST = 90
"""A trace made from a log never claims more."""

LANE = 18
"""How many calls a subagent counts for, whether its log is there or not: the mean of 56 real ones.

A count of its own would shrink with its log, and what is left would look the better for it.
"""
ENOUGH = 0.25
"""Words and thoughts of the agent for each message that makes calls, in a log that keeps them."""

FEW = 2
"""Results that every log is taken to have more: one stray result condemns no short log."""

DISTINCTIVE = 12
"""So long a value is too distinctive to stand in two places by chance."""
MAX_INPUT, MAX_OUTPUT = 20_000, 400_000
"""Characters of a call's arguments and of one output that are looked at for values."""

MAIN = ""
"""The lane of all but subagents; a subagent's lane has its name."""


class Told:
    """What a log tells of a session: its calls with their weights, and what stands around them."""

    def __init__(self, trace: Trace, shows: Shows) -> None:
        self.trace = trace
        self.shows_results = shows.results != "no"
        self.spoken = any(isinstance(e, Message | Thinking) for e in trace.session.events)
        self.several_tools = len({_tool(step) for step in trace.steps if step.call}) > 1
        self.calls: dict[str, list[Step]] = {}
        for step in trace.steps:
            if step.call is not None:
                self.calls.setdefault(_lane(step.actor), []).append(step)
        self.main = self._main()
        """The lane of the agent whose session it is."""
        self.events = [
            e for e in trace.session.events if _lane(e.origin.actor) in (self.main, MAIN)
        ]
        """What the main log holds: a subagent's own log is judged by its calls alone."""
        finishes = map(closing_words, self.calls.get(self.main, ()))
        self.answered = _answered(self.events) or any(finishes) or _hands_in(trace)
        self.borne_out = _borne_out(self)
        self.weights: dict[int, float] = {}
        """Each call's part of the whole, by its step."""
        self.lost = 0.0
        """The part that is lost with subagents' logs."""
        self._weigh()

    def _main(self) -> str:
        """The main agent's; of a log that is a subagent's alone, as its brief says, that one's."""
        briefed = {_lane(fact.origin.actor) for fact in self.trace.session.facts("brief")}
        lanes = briefed & self.calls.keys()
        return lanes.pop() if len(lanes) == len(self.calls) == 1 else MAIN

    def over_calls(self, good: Callable[["Told", Step], float]) -> float:
        """1, less the parts of the calls for which something is missing."""
        steps = self.trace.steps
        return 1 - sum(part * (1 - good(self, steps[n - 1])) for n, part in self.weights.items())

    def has_result(self, step: Step) -> bool:
        """Whether the log holds what a call gave; in a log that shows no results, a bare status."""
        if step.actor == SHELL:
            return step.output is not None
        return step.result is not None and self.shows_results

    def _weigh(self) -> None:
        """A call of the main agent weighs 1, all that a call to a subagent started weighs LANE.

        Where the log holds no main agent, the subagent that is told best stands for it. A
        subagent's own subagents count as its one call.
        """
        subagents = [lane for lane in self.calls if lane != self.main]
        if self.main not in self.calls:
            if subagents and not self.answered:
                self._share(max(subagents, key=self._worth), 1.0)
            return
        started = self._started()
        own = len(self.calls[self.main])
        whole = own + LANE * len(started)
        self._share(self.main, own / whole)
        for lanes in started.values():
            if lanes:
                self._share(max(lanes, key=self._worth), LANE / whole)
            else:
                self.lost += LANE / whole

    def _share(self, lane: str, part: float) -> None:
        calls = self.calls.get(lane, ())
        self.weights.update((step.step, part / len(calls)) for step in calls)

    def _started(self) -> dict[int, list[str]]:
        """The main agent's calls that started a subagent, and the subagents that left a log."""
        present = {step.actor for step in self.trace.steps if step.via != "notification"}
        present |= {e.origin.actor for e in self.trace.session.events if isinstance(e, Notice)}
        found: dict[int, list[str]] = {
            step.step: [] for step in self.calls[self.main] if step.like in AGENT_TOOLS
        }
        for actor, number in self.trace.delegations.items():
            if actor in present and number in found:
                found[number].append(actor)
        steps = self.trace.steps
        return {n: lanes for n, lanes in found.items() if lanes or not never_ran(steps[n - 1])}

    def _worth(self, lane: str) -> tuple[float, str]:
        """How little a lane's calls lack by themselves, in points."""
        calls = self.calls.get(lane, ())
        rows = [(fact.points, fact.share) for fact in FACTS]
        lacks = sum(
            points * (1 - share.good(self, step))
            for step in calls
            for points, share in rows
            if isinstance(share, OfCalls)
        )
        return (-lacks / max(1, len(calls)), lane)


class OfCalls:
    """The share of a fact that each call can have for itself."""

    def __init__(self, good: Callable[[Told, Step], float]) -> None:
        self.good = good

    def __call__(self, told: Told) -> float:
        return told.over_calls(self.good)


def _lane(actor: str) -> str:
    return actor if actor.startswith("subagent") else MAIN


def _tool(step: Step) -> str | None:
    """The tool of a call; all shells are one."""
    if step.call is not None and step.like in SHELLS and command_of(step.like, step.call.input):
        return "shell"
    return step.tool


def _answered(events: list[Event]) -> bool:
    """Whether the agent said anything that no call of its followed in the turn.

    Steps would not do: a thought at the end of a turn makes the words before it no answer.
    """
    held = False
    for event in events:
        match event:
            case Message(role="agent"):
                held = True
            case Message() if held:
                return True
            case ToolCall() | Notice(kind="interrupted" | "model error" | "limit"):
                held = False
    return held


def _hands_in(trace: Trace) -> bool:
    """Whether the run's own writer kept the work that the agent handed in."""
    return any(fact.value for fact in trace.session.facts("submission"))


def _borne_out(told: Told) -> dict[int, float]:
    """How far something in the log bears out why a call was made, by its step.

    Half where what it follows is logged: human words, a brief, the results that came before it;
    half where its arguments repeat a value that human words or an earlier result showed.
    """
    values = {
        step.step: _values((step.input or "").replace("\\n", "\n"), MAX_INPUT)
        for calls in told.calls.values()
        for step in calls
    }
    wanted = set().union(*values.values())
    lanes: dict[str, _Lane] = {}
    found: dict[int, float] = {}
    alone = (fact.origin.actor for fact in told.trace.session.facts("brief"))
    briefed = {"agent" if actor == "system" else actor for actor in alone}
    briefed |= told.trace.delegations.keys()
    for step in told.trace.steps:
        by_user = step.action == "user_message"
        actor = "agent" if by_user else step.actor
        lane = lanes.setdefault(_lane(actor), _Lane(actor in briefed))
        if step.call is not None:
            found[step.step] = (
                1.0  # the log says which code made it
                if step.call.made_by
                else lane.call(step.parallel_group, values[step.step])
            )
            if told.has_result(step):
                tokens = told.trace.tokens.of(shown_of(step.output or "")[:MAX_OUTPUT])
                lane.results.append(wanted.intersection(tokens))
        elif by_user:
            lane.asked = True
            lane.shown |= _values(step.input, MAX_OUTPUT) & wanted
    return found


def _values(text: str | None, most: int) -> set[str]:
    return set(long_tokens((text or "")[:most], DISTINCTIVE))


class _Lane:
    """What an actor had to go by so far."""

    def __init__(self, briefed: bool) -> None:
        self.asked = briefed
        """Whether words or a brief came since its last calls."""
        self.shown: set[str] = set()
        self.group: str | None = None
        self.follows = False
        self.results: list[set[str]] = []
        """What the results of its last calls showed."""

    def call(self, group: str | None, values: set[str]) -> float:
        """How far a call is borne out; the calls of one message follow the same."""
        if group is None or group != self.group:
            self.group = group
            self.follows = self.asked or bool(self.results)
            self.shown.update(*self.results)
            self.asked, self.results = False, []
        return (self.follows + (not values.isdisjoint(self.shown))) / 2


# What each call can have.


def _result(told: Told, step: Step) -> float:
    return float(told.has_result(step))


def _success(told: Told, step: Step) -> float:
    return float(step.result is not None and step.result.outcome != "unknown")


def _times(told: Told, step: Step) -> float:
    return ((step.started_at is not None) + (step.ended_at is not None)) / 2


def _causes(told: Told, step: Step) -> float:
    return told.borne_out[step.step]


def _context(told: Told, step: Step) -> float:
    """A list of one tool's calls, and nothing else, leaves out what was done by other means."""
    if step.actor == SHELL:
        return float(step.reasoning is not None or told.has_result(step))
    return float(told.spoken or told.several_tools or told.has_result(step))


# What the log as a whole can have.


def _work(told: Told) -> float:
    """Where there is no call, the agent's words are all that could be told."""
    return float(bool(told.weights) or told.answered)


def _words(told: Told) -> float:
    return float(any(step.action == "user_message" for step in told.trace.steps))


def _answers(told: Told) -> float:
    return float(told.answered)


def _reasoning(told: Told) -> float:
    """Words and thoughts of the main agent, for each of its messages that makes calls."""
    calls = told.calls.get(told.main, [])
    issued = (step for step in calls if step.call is None or not step.call.made_by)
    messages = len({step.parallel_group or step.step for step in issued})
    said = sum(
        isinstance(event, Thinking) or (isinstance(event, Message) and event.role == "agent")
        for event in told.events
    )
    return min(1.0, said / (ENOUGH * messages)) if messages else float(told.answered)


def _kept(told: Told) -> float:
    """1, less the share of calls that the log has lost, as results without a call tell it.

    Of the results that are there, so many have lost their call: of all calls as many are lost.
    """
    calls = {event.call for event in told.events if isinstance(event, ToolCall)}
    results = {event.call for event in told.events if isinstance(event, ToolResult)}
    return 1 - len(results - calls) / (len(results) + FEW)


def _readable(told: Told) -> float:
    records = {event.origin.evidence.record for event in told.events}
    broken = {
        event.origin.evidence.record
        for event in told.events
        if isinstance(event, Skipped) and event.reason.startswith("unreadable")
    }
    return 1 - len(broken) / len(records) if records else 1.0


def _subagents(told: Told) -> float:
    return 1 - told.lost


def _uncompacted(told: Told) -> float:
    cuts = sum(isinstance(event, Notice) and event.kind == "compacted" for event in told.events)
    return 1 / (1 + cuts)


def _told_apart(told: Told) -> float:
    """A recording whose commands could not be found is one step that says little of its work."""
    for event in told.events:
        match event:
            case SessionFact(name="recovery", value={"commands_by": "none"}):
                return 0.0
    return 1.0


class Fact(NamedTuple):
    """A kind of fact, the points that it is worth, and the share of it that the log showed."""

    name: str
    points: float
    share: Callable[[Told], float]
    why: str


FACTS: tuple[Fact, ...] = (
    Fact("results", 12, OfCalls(_result), "calls without a result"),
    Fact("success", 5, OfCalls(_success), "calls whose outcome the log does not tell"),
    Fact("times", 4, OfCalls(_times), "calls without a time"),
    Fact("causes", 3, OfCalls(_causes), "causes that only the order of the steps suggests"),
    Fact(
        "context",
        46,
        OfCalls(_context),
        "bare calls of one tool, without words, thoughts or results",
    ),
    Fact("work", 70, _work, "neither a call nor an answer of the agent in the log"),
    Fact("words", 5, _words, "no human words in the log"),
    Fact("answers", 6, _answers, "no answer of the agent in the log"),
    Fact("reasoning", 2, _reasoning, "reasoning that the log hides or lacks"),
    Fact("calls", 70, _kept, "lost calls, by the results that are left of them"),
    Fact("subagents", 70, _subagents, "subagents without a log of their own"),
    Fact("commands", 40, _told_apart, "commands that a recording does not tell apart"),
    Fact("readable", 15, _readable, "records that could not be read"),
    Fact("compaction", 2, _uncompacted, "history that the agent saw only in summary"),
)
"""Every row, with the points that it can cost; nothing costs more than there is."""


def confide(trace: Trace, shows: Shows) -> Trace:
    """The confidence of the trace, and what was deducted for what."""
    told = Told(trace, shows)
    deductions = []
    for fact in FACTS:
        lost = round(fact.points * (1 - fact.share(told)), 1)
        if lost > 0:
            deductions.append(Deduction(fact.name, lost, fact.why))
    total = HIGHEST - sum(deduction.points for deduction in deductions)
    figure = max(0, round(total)) if trace.steps else 0
    ordered = tuple(sorted(deductions, key=lambda d: (-d.points, d.name)))
    return msgspec.structs.replace(trace, confidence=figure, deductions=ordered)
