"""Removing evidence never raises the confidence, and a bare list of commands has little of it."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from forsy_retrace.builder import build
from forsy_retrace.builder.confide import FACTS, HIGHEST, OfCalls
from forsy_retrace.builder.tools import AGENT_TOOLS
from forsy_retrace.events import (
    NEVER_RAN,
    Change,
    Delegation,
    Event,
    Message,
    Notice,
    Origin,
    Outcome,
    Session,
    Skipped,
    Thinking,
    ToolCall,
    ToolResult,
    Via,
    sessions,
)
from forsy_retrace.evidence import Evidence
from forsy_retrace.registry import load
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Source
from forsy_retrace.testing import cases
from forsy_retrace.trace import Trace

ROOT = Path(__file__).resolve().parent.parent
FIXTURES = ROOT / "fixtures"
DOCUMENT = ROOT / "docs" / "confidence.md"
SHOWS = Shows(results="yes")
"""Of a log's kind, the confidence asks only whether it can show results."""

Events = tuple[Event, ...]
Piece = tuple[str, int | str]
"""A kind of evidence, and the event (or the subagent) that it is of."""


def traced(events: Sequence[Event], shows: Shows = SHOWS) -> Trace:
    return build(Session("", None, tuple(events)), "claude-code", shows)


def confidence(events: Sequence[Event], shows: Shows = SHOWS) -> int:
    return traced(events, shows).confidence


# Pieces of evidence, and logs without them.


def pieces(events: Events) -> Iterator[Piece]:
    """All that can be taken from a log; a result that has lost its call is a mark of loss."""
    calls = {event.call for event in events if isinstance(event, ToolCall)}
    for actor in dict.fromkeys(event.origin.actor for event in events):
        if actor.startswith("subagent"):
            yield "subagent", actor
    for index, event in enumerate(events):
        if event.origin.at is not None:
            yield "time", index
        match event:
            case Thinking() | Delegation() | Message():
                yield "event", index
            case ToolResult(call=call, outcome=outcome, changes=changed):
                if call in calls:
                    yield "event", index
                if outcome != "unknown":
                    yield "outcome", index
                if changed:
                    yield "changes", index


def without(events: Events, taken: Sequence[Piece]) -> Events:
    gone, left = set(taken), []
    for index, event in enumerate(events):
        if ("event", index) in gone or ("subagent", event.origin.actor) in gone:
            continue
        if ("time", index) in gone:
            here = msgspec.structs.replace(event.origin, at=None)
            event = msgspec.structs.replace(event, origin=here)
        if isinstance(event, ToolResult):
            if ("outcome", index) in gone:
                event = msgspec.structs.replace(
                    event, outcome="unknown", rule="", basis="", exit_code=None
                )
            if ("changes", index) in gone:
                event = msgspec.structs.replace(event, changes=())
        left.append(event)
    return tuple(left)


# Small sessions.

PATHS = ("/work/project/src/a.py", "/work/project/src/b.py")
TEXTS = ("", "Done.", f"See {PATHS[0]} please", "No, that is wrong.", "error: cannot open it")
OUTCOMES: tuple[Outcome, ...] = ("ok", "failed", "rejected", "interrupted", "launched", "unknown")
NOTICES: tuple[Literal["interrupted", "compacted", "cleared"], ...] = (
    "interrupted",
    "compacted",
    "cleared",
)
TOOLS = ("Bash", "Read", "Edit", *AGENT_TOOLS)
SUBAGENTS = ("subagent:explore_1", "subagent:explore_2")


def origin(number: int, actor: str, at: bool, message: str | None = None) -> Origin:
    time = f"2026-01-01T00:{number // 60:02}:{number % 60:02}Z" if at else None
    return Origin(
        Evidence("log.jsonl", number + 1, number * 10, number * 10 + 9), time, actor, message
    )


def arguments(tool: str, path: str) -> dict[str, str]:
    match tool:
        case "Bash":
            return {"command": f"pytest {path}"}
        case "Read":
            return {"file_path": path}
        case "Edit":
            return {"file_path": path, "old_string": "a = 1", "new_string": "a = 2"}
    return {"prompt": f"look at {path}", "subagent_type": "explore"}


@st.composite
def logs(draw: st.DrawFn) -> Events:
    """Sessions of up to twenty acts, whole or with anything missing from the start."""
    events: list[Event] = []
    calls: list[tuple[str, str, str]] = []
    begun = {"agent"}

    def here(actor: str, message: str | None = None) -> Origin:
        return origin(len(events), actor, draw(st.booleans()), message)

    for number in range(draw(st.integers(1, 20))):
        actor = draw(st.sampled_from(("agent", "agent", *SUBAGENTS)))
        text = draw(st.sampled_from(TEXTS))
        match draw(st.sampled_from("umtccrrrdns")):
            case "u":
                vias: tuple[Via, ...] = ("typed", "rejection", "answer")
                to = draw(st.sampled_from([None, *(call for call, _, _ in calls)]))
                via = draw(st.sampled_from(vias)) if to else "typed"
                events.append(Message(here("user"), "user", text, via, answers=to))
            case "m":
                events.append(Message(here(actor, f"m{number}"), "agent", text))
            case "t":
                events.append(Thinking(here(actor, f"m{number}"), text))
            case "c":
                tool, path = draw(st.sampled_from(TOOLS)), draw(st.sampled_from(PATHS))
                group = f"g{number // 3}"
                events.append(
                    ToolCall(here(actor, group), f"c{number}", tool, arguments(tool, path))
                )
                calls.append((f"c{number}", tool, actor))
                begun.add(actor)
            case "r" if calls:
                call, tool, who = draw(st.sampled_from(calls))
                calls.remove((call, tool, who))
                outcome = draw(st.sampled_from(OUTCOMES))
                changed = (Change(PATHS[0], "modified"),) if tool == "Edit" else ()
                result = ToolResult(here(who), call, text, outcome, "a-rule", changes=changed)
                events.append(result)
            case "d" if actor not in begun:
                starts = [c for c, tool, who in calls if tool in AGENT_TOOLS and who == "agent"]
                if starts:
                    events.append(Delegation(here(actor), draw(st.sampled_from(starts)), actor))
            case "n":
                events.append(Notice(here("system"), draw(st.sampled_from(NOTICES))))
            case "s":
                events.append(Skipped(here("system"), "unreadable: not JSON"))
    return tuple(events)


@pytest.mark.slow
@settings(max_examples=250, deadline=None)
@given(logs(), st.data())
def test_no_piece_of_evidence_lowers_the_confidence_by_being_there(
    events: Events, data: st.DataObject
) -> None:
    """From the whole log to one that lacks some pieces, to one that lacks more.

    A call that the log says never ran, and whose subagent it shows at work, contradicts itself:
    without the subagent all is told of it.
    """
    started = {event.call for event in events if isinstance(event, Delegation)}
    refused = {e.call for e in events if isinstance(e, ToolResult) and e.outcome in NEVER_RAN}
    assume(not started & refused)
    order = data.draw(st.permutations(list(pieces(events))))
    few = data.draw(st.integers(0, len(order)))
    more = data.draw(st.integers(few, len(order)))
    left = [confidence(without(events, order[:count])) for count in (0, few, more)]
    assert left == sorted(left, reverse=True)


def sessions_of_fixtures() -> list[tuple[str, Session]]:
    module = load("claude-code")
    return [
        (case.folder.name, session)
        for case in cases(FIXTURES, "claude-code")
        if case.refused is None
        for session in sessions(module.read(Source(case.path)))
    ]


SESSIONS = [pytest.param(session, id=name) for name, session in sessions_of_fixtures()]


@pytest.mark.slow
@pytest.mark.parametrize("session", SESSIONS)
def test_no_piece_of_a_fixture_can_be_missed_to_advantage(session: Session) -> None:
    """Each piece by itself, and of the times all together."""
    whole = confidence(session.events)
    every = list(pieces(session.events))
    times = [piece for piece in every if piece[0] == "time"]
    for taken in ([piece] for piece in every if piece not in times):
        assert confidence(without(session.events, taken)) <= whole, taken
    assert confidence(without(session.events, times)) <= whole


@pytest.mark.parametrize("session", SESSIONS)
def test_the_deductions_add_up(session: Session) -> None:
    trace = traced(session.events)
    lost = sum(one.points for one in trace.deductions)
    assert trace.confidence == max(0, round(HIGHEST - lost))
    assert {one.name for one in trace.deductions} <= {fact.name for fact in FACTS}


# What the figure is for kinds of logs.


def worked(calls: int, at: bool = True) -> Events:
    """A whole session: a request, thoughts, commands with results, an answer."""
    events: list[Event] = [Message(origin(0, "user", at), "user", f"Test {PATHS[0]}")]
    for number in range(calls):
        sent = {"command": f"pytest {PATHS[0]}"}
        here = len(events)
        events += [
            Thinking(origin(here, "agent", at, f"m{number}"), "It may fail."),
            ToolCall(origin(here + 1, "agent", at, f"m{number}"), f"c{number}", "Bash", sent),
            ToolResult(origin(here + 2, "agent", at), f"c{number}", "1 passed", "ok", "a-rule"),
        ]
    return (*events, Message(origin(len(events), "agent", at, "m"), "agent", "It works."))


def only(kinds: type[Event] | tuple[type[Event], ...], events: Events) -> Events:
    return tuple(event for event in events if isinstance(event, kinds))


def test_a_whole_log_is_near_the_cap() -> None:
    assert 85 <= confidence(worked(20)) <= HIGHEST


def test_a_chat_without_tools_is_as_sure_as_a_log_gets() -> None:
    assert confidence(worked(0)) == HIGHEST


@pytest.mark.parametrize("at", [True, False], ids=["with times", "without times"])
def test_bare_commands_are_at_most_forty(at: bool) -> None:
    assert 0 < confidence(only(ToolCall, worked(20, at))) <= 40


def test_commands_of_two_shells_are_bare_too() -> None:
    ours = only(ToolCall, worked(20))
    other = ToolCall(origin(99, "agent", False), "c99", "PowerShell", {"command": "ls"})
    assert confidence((*ours, other)) <= 40


def test_commands_with_a_status_but_no_output_are_bare() -> None:
    events = only((ToolCall, ToolResult), worked(20))
    assert confidence(events, Shows(results="no")) <= 40 < confidence(events)


def test_prompts_without_any_work_tell_next_to_nothing() -> None:
    prompts = tuple(e for e in worked(20) if isinstance(e, Message) and e.role == "user")
    assert confidence(prompts) <= 20


def test_results_without_their_calls_tell_of_lost_calls() -> None:
    events = worked(20)
    half = [e for e in events if not (isinstance(e, ToolCall) and int(e.call[1:]) % 2)]
    lost = {one.name: one.points for one in traced(half).deductions}
    assert lost["calls"] > 25
    assert confidence(half) < confidence(events) - 25


def test_a_subagent_without_a_log_costs_what_its_calls_could_bring() -> None:
    of_calls = sum(fact.points for fact in FACTS if isinstance(fact.share, OfCalls))
    assert of_calls <= next(fact.points for fact in FACTS if fact.name == "subagents")


def test_an_empty_log_has_no_confidence() -> None:
    assert confidence(()) == 0


def test_the_document_lists_every_fact_with_its_points() -> None:
    text = DOCUMENT.read_text("utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \|", text, re.M)
    assert rows == [(fact.name, f"{fact.points:g}") for fact in FACTS]
