"""Does a trace's confidence say how much of what happened it tells?

Strips rich logs step by step, retraces what is left, and sets the confidence that the stripped
trace claims against its fidelity: the share of the full trace's non-null step fields that the
stripped trace repeats equal. Steps are matched by call id, others by their record; a step that is
missing counts with all its fields. The whole log is left out of the average: it repeats itself by
definition, and no log claims more than 90. `just calibrate`, `benchmarks/calibrate.py [LOG ...]`.
"""

import argparse
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import msgspec

from forsy_retrace.builder import build
from forsy_retrace.builder.confide import HIGHEST
from forsy_retrace.events import (
    Event,
    Message,
    Notice,
    Session,
    SessionStart,
    Thinking,
    ToolCall,
    ToolResult,
    sessions,
)
from forsy_retrace.registry import load
from forsy_retrace.source import Source, discover
from forsy_retrace.trace import FIELDS, Step, Trace

ADAPTER = "claude-code"
LOGS = Path(__file__).resolve().parents[2] / "shared" / "corpus" / "claude-code"
FEWEST_STEPS = 30
MOST_SESSIONS = 25
SHELLS = ("Bash", "PowerShell")

Events = tuple[Event, ...]
Strip = Callable[[Events], Iterable[Event]]


# What can be taken from a log.


def _without_results(events: Events) -> Iterator[Event]:
    return (event for event in events if not isinstance(event, ToolResult))


def _without_outcomes(events: Events) -> Iterator[Event]:
    for event in events:
        if isinstance(event, ToolResult):
            event = msgspec.structs.replace(
                event, outcome="unknown", rule="", basis="", exit_code=None
            )
        yield event


def _without_times(events: Events) -> Iterator[Event]:
    for event in events:
        yield msgspec.structs.replace(event, origin=msgspec.structs.replace(event.origin, at=None))


def _without_reasoning(events: Events) -> Iterator[Event]:
    """No thinking, and no words of the agent that a call of its follows in the same turn."""
    before_calls: set[int] = set()
    held: dict[str, list[int]] = {}
    for index, event in enumerate(events):
        match event:
            case Message(role="agent") if event.via != "notification":
                held.setdefault(event.origin.actor, []).append(index)
            case ToolCall():
                before_calls.update(held.pop(event.origin.actor, ()))
            case Message(role="user") | Notice():
                held.pop("agent", None)
    for index, event in enumerate(events):
        if not isinstance(event, Thinking) and index not in before_calls:
            yield event


def _without_changes(events: Events) -> Iterator[Event]:
    for event in events:
        yield msgspec.structs.replace(event, changes=()) if isinstance(event, ToolResult) else event


def _without_subagents(events: Events) -> Iterator[Event]:
    """Their logs are lost; a report in the main log stays."""
    for event in events:
        reported = isinstance(event, Message) and event.via == "notification"
        if reported or not event.origin.actor.startswith("subagent"):
            yield event


def _without_words(events: Events) -> Iterator[Event]:
    return (e for e in events if not (isinstance(e, Message) and e.role == "user"))


def _without_every_second_record(events: Events) -> Iterator[Event]:
    order = {r: n for n, r in enumerate(dict.fromkeys(e.origin.evidence.record for e in events))}
    for event in events:
        if isinstance(event, SessionStart) or order[event.origin.evidence.record] % 2 == 0:
            yield event


def _only_prompts(events: Events) -> Iterator[Event]:
    for event in events:
        if isinstance(event, SessionStart) or (isinstance(event, Message) and event.role == "user"):
            yield event


def _only_shell_commands(events: Events) -> Iterator[Event]:
    """As in a shell's history: the bare commands, no times, nothing else."""
    for event in _without_times(events):
        if isinstance(event, SessionStart) or (
            isinstance(event, ToolCall) and event.tool in SHELLS
        ):
            here = msgspec.structs.replace(event.origin, message=None)
            yield msgspec.structs.replace(event, origin=here)


def _chain(*strips: Strip) -> Strip:
    def strip(events: Events) -> Iterable[Event]:
        for one in strips:
            events = tuple(one(events))
        return events

    return strip


ABLATIONS: tuple[tuple[str, Strip], ...] = (
    ("no results", _without_results),
    ("no outcomes", _without_outcomes),
    ("no times", _without_times),
    ("no reasoning", _without_reasoning),
    ("no recorded changes", _without_changes),
    ("no subagents' logs", _without_subagents),
    ("no human words", _without_words),
    ("every second record lost", _without_every_second_record),
    ("no results, no times", _chain(_without_results, _without_times)),
    ("no outcomes, no reasoning", _chain(_without_outcomes, _without_reasoning)),
    (
        "calls and words only",
        _chain(_without_results, _without_times, _without_reasoning, _without_subagents),
    ),
    ("every second record, no outcomes", _chain(_without_outcomes, _without_every_second_record)),
    ("human prompts only", _only_prompts),
    ("shell commands only", _only_shell_commands),
)
"""What is taken away, in words."""


# How much of the full trace is left.

NUMBERS = re.compile(r"\b(?:steps?|edits of) (\d+(?:(?:, | and )\d+)*)")
"""Step numbers in the sentences that the builder writes."""
SENTENCES = ("observation", "state_change", "causal_note", "eval_reason", "directive")


class Named(NamedTuple):
    """The steps of a trace by what they are, whatever their numbers."""

    steps: dict[Hashable, Step]
    names: dict[int, Hashable]
    turns: dict[int, Hashable]
    groups: dict[str, frozenset[Hashable]]


def _named(trace: Trace) -> Named:
    names: dict[int, Hashable] = {}
    turns: dict[int, Hashable] = {}
    groups: dict[str, set[Hashable]] = {}
    for step in trace.steps:
        names[step.step] = name = _name(step)
        if step.action == "user_message":
            turns[step.turn] = name
        if step.parallel_group is not None:
            groups.setdefault(step.parallel_group, set()).add(name)
    steps = {names[step.step]: step for step in trace.steps}
    return Named(steps, names, turns, {group: frozenset(who) for group, who in groups.items()})


def _name(step: Step) -> Hashable:
    if step.call is not None:
        return step.call.call
    assert step.origin is not None
    here = step.origin.evidence
    return (here.record, here.pointer, step.action)


def fidelity(full: Trace, stripped: Trace) -> float:
    """The share of the full trace's non-null step fields that the stripped trace repeats equal."""
    want, got = _named(full), _named(stripped)
    equal = whole = 0
    for name, step in want.steps.items():
        other = got.steps.get(name)
        for field in FIELDS:
            value = _value(step, field, want)
            if value is None:
                continue
            whole += 1
            equal += other is not None and _value(other, field, got) == value
    return equal / whole


def _value(step: Step, field: str, trace: Named) -> Any:
    """A field's value with the steps that it speaks of named, not numbered."""
    value = getattr(step, field)
    match field:
        case "step":
            return trace.names[step.step]
        case "turn":
            return ("turn", trace.turns.get(step.turn))
        case "parallel_group":
            return trace.groups.get(value)
        case "retry_of":
            return trace.names.get(value)
        case "caused_by" if value is not None:
            return {trace.names[number] for number in value}
        case "input_source" if value is not None:
            return {**value, "source_step": trace.names.get(value["source_step"])}
    if field in SENTENCES and value is not None:
        told = [trace.names.get(n) for found in NUMBERS.findall(value) for n in _numbers(found)]
        return (NUMBERS.sub("", value), told)
    return value


def _numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", text)]


# The sessions, and the table.


class Pair(NamedTuple):
    """What one stripped session claims, and what it holds."""

    ablation: str
    claimed: float
    measured: float


def rich(paths: Sequence[Path]) -> list[Session]:
    """The sessions that hold every kind of fact, each once, those that hold most of them first."""
    module = load(ADAPTER)
    found: dict[str, tuple[int, Session]] = {}
    for source in (one for path in paths for one in _sources(path)):
        if not module.sniff(source):
            continue
        for session in sessions(module.read(source)):
            trace = build(session, ADAPTER, module.SHOWS)
            held = sum(getattr(s, field) is not None for s in trace.steps for field in FIELDS)
            if _is_rich(trace) and held > found.get(session.id, (0, session))[0]:
                found[session.id] = (held, session)
    ordered = sorted(found.items(), key=lambda item: (-item[1][0], item[0]))
    return [session for _, (_, session) in ordered]


def _is_rich(trace: Trace) -> bool:
    """A long session that has human words, an answer, times, and all its subagents' logs."""
    lacks = {deduction.name for deduction in trace.deductions if deduction.points >= 1}
    whole = not lacks & {"words", "answers", "times", "calls", "subagents", "readable"}
    return len(trace.steps) >= FEWEST_STEPS and whole


def _sources(path: Path) -> Iterable[Source]:
    if path.is_dir():
        return (one for one in discover(path) if one.path.suffix == ".jsonl")
    return (Source(path),)


def measure(session: Session) -> Iterator[Pair]:
    """Every ablation that takes something from a session."""
    shows = load(ADAPTER).SHOWS
    full = build(session, ADAPTER, shows)
    for name, strip in ABLATIONS:
        events = tuple(strip(session.events))
        if events == session.events:
            continue
        stripped = build(msgspec.structs.replace(session, events=events), ADAPTER, shows)
        yield Pair(name, stripped.confidence, 100 * fidelity(full, stripped))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("logs", nargs="*", type=Path, help="logs, or folders of them")
    parser.add_argument("--most", type=int, default=MOST_SESSIONS, help="sessions at most")
    parser.add_argument("--skip", type=int, default=0, help="leave out that many of the richest")
    chosen = parser.parse_args()
    paths = chosen.logs or [LOGS]
    if missing := next((path for path in paths if not path.exists()), None):
        parser.exit(0, f"no logs at {missing}: name some\n")
    found = rich(paths)[chosen.skip :][: chosen.most]
    if not found:
        parser.exit(1, f"no session of {FEWEST_STEPS} steps or more\n")
    shows = load(ADAPTER).SHOWS
    full = [build(session, ADAPTER, shows).confidence for session in found]
    pairs = [pair for session in found for pair in measure(session)]
    print(f"| taken away | sessions | claimed | measured | difference |\n|{'---|' * 5}")
    for name, _ in ABLATIONS:
        rows = [pair for pair in pairs if pair.ablation == name]
        if rows:
            claimed, held = fmean(r.claimed for r in rows), fmean(r.measured for r in rows)
            print(f"| {name} | {len(rows)} | {claimed:.1f} | {held:.1f} | {claimed - held:+.1f} |")
    print(f"| nothing | {len(full)} | {fmean(full):.1f} | ({HIGHEST} at most) | |")
    off = fmean(abs(pair.claimed - pair.measured) for pair in pairs)
    print(f"\nMean absolute difference over {len(pairs)} stripped sessions: {off:.1f}")


if __name__ == "__main__":
    main()
