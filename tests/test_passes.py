"""A few events and the steps that they must give: a folder a pass, a file a behaviour.

`fixtures/passes/README.md` says how such a file reads. Where a log would give an event its bytes
and its time, they are made up here, from the event's place.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from forsy_retrace.builder import build
from forsy_retrace.builder.judging.ending import ending
from forsy_retrace.builder.sections import SECTIONS, Listed, Section
from forsy_retrace.events import (
    Attachment,
    Change,
    Delegation,
    Event,
    Fact,
    Message,
    Notice,
    Origin,
    Packed,
    Session,
    Skipped,
    Thinking,
    ToolCall,
    ToolResult,
)
from forsy_retrace.evidence import Evidence, Ground
from forsy_retrace.registry import load
from forsy_retrace.trace import Trace

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "passes"
SECTION = {section.name: section for section in SECTIONS}
SHOWS = load("claude-code").SHOWS
START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)

Named = dict[str, str | list[str]]
"""Field to the rules that gave it, or did not."""


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file: what it shows, the events, and what must come of them."""

    says: str
    events: list[dict[str, Any]]
    cwd: str | None = "/home/dev/shop"
    steps: dict[int, dict[str, Any]] = {}
    rules: dict[int, Named] = {}
    unruled: dict[int, Named] = msgspec.field(name="not", default={})
    checks: dict[int, dict[str, Any] | None] = {}
    trace: dict[str, Any] = {}
    ending: str = ""
    not_ending: list[str] = []
    deductions: dict[str, bool] = {}


PATHS = sorted(FIXTURES.glob("*/*.json"))


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


@cache
def case_of(path: Path) -> Case:
    return msgspec.json.decode(path.read_bytes(), type=Case)


def trace_of(path: Path) -> Trace:
    case = case_of(path)
    events: list[Event] = []
    if case.cwd is not None:
        events.append(Fact(_origin(-1, {}), "cwd", case.cwd))
    for index, given in enumerate(case.events):
        events += _events(given, _origin(index, given), f"c{index}")
    return build(Session("pass", None, tuple(_ended(case, events))), "claude-code", SHOWS)


def _ended(case: Case, events: list[Event]) -> Iterator[Event]:
    """The events; a call that ran on holds what a later one told of its end."""
    came = {event.call: event for event in events if isinstance(event, ToolResult)}
    told = {
        given["ends"]: came[given.get("call", f"c{index}")]
        for index, given in enumerate(case.events)
        if "ends" in given
    }
    for event in events:
        end = told.get(event.call) if isinstance(event, ToolResult) else None
        yield event if end is None else msgspec.structs.replace(event, end=end)


def _origin(index: int, given: Mapping[str, Any]) -> Origin:
    line = index + 2
    moment = (START + timedelta(seconds=line)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Origin(
        Evidence("log.jsonl", line, line * 100, line * 100 + 100, "/content"),
        at=given.get("at", moment),
        actor=given.get("actor", "user" if "user" in given else "agent"),
        message=given.get("message", f"m{line}"),
        branch=given.get("branch", ""),
        reading=given.get("reading", ""),
        clock=(Evidence("log.jsonl", 1, 0, 90, "/timestamp"),) if given.get("clock") else (),
        pieces=tuple(
            Evidence("log.jsonl", line, line * 100 + at, line * 100 + at + 1, "/delta")
            for at in range(given.get("pieces", 0))
        ),
    )


def _events(given: Mapping[str, Any], here: Origin, name: str) -> Iterator[Event]:
    """The event that an entry stands for; a call that says what came back is two."""
    match given:
        case {"user": said, **more}:
            shown = msgspec.convert(more.get("attachments", []), tuple[Attachment, ...])
            via, answers = more.get("via", "typed"), more.get("answers")
            yield Message(here, "user", _text(said), via, shown, answers)
        case {"agent": said, **more}:
            yield Message(
                here, "agent", _text(said), more.get("via", "typed"), (), more.get("answers")
            )
        case {"thinking": thought}:
            yield Thinking(here, _text(thought))
        case {"notice": kind, **more}:
            yield Notice(here, kind, _text(more.get("text", "")))
        case {"fact": fact, "value": value}:
            yield Fact(here, fact, value)
        case {"delegation": call, "to": actor}:
            yield Delegation(here, call, actor)
        case {"skipped": reason}:
            yield Skipped(here, reason)
        case {"result": call}:
            yield _result(given, here, call)
        case _:
            call, (tool, sent) = given.get("call", name), _sent(given)
            named, maker = given.get("named", ""), given.get("made_by", "")
            yield ToolCall(here, call, tool, sent, named, made_by=maker)
            if {"output", "outcome", "exit_code", "shows"} & set(given):
                evidence = msgspec.structs.replace(here.evidence, start=here.evidence.end - 50)
                yield _result(given, msgspec.structs.replace(here, evidence=evidence), call)


def _sent(given: Mapping[str, Any]) -> tuple[str, Any]:
    """The tool of a call, and its arguments."""
    match given:
        case {"tool": tool, "input": sent}:
            return tool, sent
        case {"bash": line}:
            return "Bash", {"command": _text(line)}
        case {"read": path, "offset": first, "limit": count}:
            return "Read", {"file_path": path, "offset": first, "limit": count}
        case {"read": path}:
            return "Read", {"file_path": path}
        case {"edit": path, "old": old, "new": new}:
            return "Edit", {"file_path": path, "old_string": _text(old), "new_string": _text(new)}
        case {"write": path, "content": content}:
            return "Write", {"file_path": path, "content": _text(content)}
    raise AssertionError(f"no event reads so: {given}")


def _packed(kind: type[Packed], text: str) -> Packed:
    """What the fixture has as a text, and an event packed."""
    return kind(text)


def _result(given: Mapping[str, Any], here: Origin, call: str) -> ToolResult:
    code = given.get("exit_code")
    changes = msgspec.convert(given.get("changes", []), list[Change], dec_hook=_packed)
    output = None if given.get("output", "") is None else _text(given.get("output", ""))
    if "shows" in given:
        text = _text(given["shows"])
        start, total = given.get("start", 1), given.get("total", len(text.splitlines()))
        changes.append(Change(given["read"], "shown", shown=Packed(text), start=start, total=total))
        output = output or text
    return ToolResult(
        here,
        call,
        output,
        given.get("outcome", "failed" if code else "ok"),
        given.get("rule", "harness-word"),
        "/content",
        code,
        tuple(changes),
        amended=given.get("amended", False),
        commit=given.get("commit", ""),
        ended_by=given.get("ended_by", ""),
    )


def _text(given: Any) -> str:
    """A text, or its lines."""
    return "\n".join(given) if isinstance(given, list) else str(given)


def holds(wanted: Any, found: Any) -> bool:
    """Whether a value is the wanted one; of an object, only the keys that are wanted count."""
    match wanted:
        case dict():
            return isinstance(found, dict) and all(
                holds(value, found.get(key)) for key, value in wanted.items()
            )
        case list():
            return (
                isinstance(found, list | tuple)
                and len(found) == len(wanted)
                and all(map(holds, wanted, found))
            )
    return type(found) is type(wanted) and bool(found == wanted)


def listed(named: str | list[str]) -> list[str]:
    return [named] if isinstance(named, str) else named


def spoken(ground: Ground | None) -> set[str]:
    """The rules that speak for a value, heard or not."""
    if ground is None:
        return set()
    return {ground.rule, *(vote.rule for vote in ground.votes)}


def ground_of(trace: Trace, step: int, field: str) -> Ground | None:
    return trace.steps[step - 1].grounds.get(field)


@pytest.mark.parametrize("path", PATHS, ids=name_of)
def test_the_events_give_these_steps(path: Path) -> None:
    case, trace = case_of(path), trace_of(path)
    these_steps(case, trace)
    by_these_rules(case, trace)
    as_sure_as_the_page_says(case, trace, SECTION[path.parent.name])


def these_steps(case: Case, trace: Trace) -> None:
    for number, fields in case.steps.items():
        found = msgspec.to_builtins(trace.steps[number - 1], enc_hook=str)
        for field, wanted in fields.items():
            assert field in found, f"no step has the field {field}"
            assert holds(wanted, found[field]), (number, field, found[field])
    for number, check in case.checks.items():
        made = msgspec.to_builtins(trace.checks.get(number))
        assert made is None if check is None else holds(check, made), (number, made)
    for field, wanted in case.trace.items():
        value = msgspec.to_builtins(getattr(trace, field), str_keys=True)
        assert holds(wanted, value), (field, value)


def by_these_rules(case: Case, trace: Trace) -> None:
    for number, named in case.rules.items():
        for field, rules in named.items():
            ground = ground_of(trace, number, field)
            assert ground is not None, (number, field)
            missing = set(listed(rules)) - spoken(ground)
            assert not missing, (number, field, ground.rule, spoken(ground))
            assert not isinstance(rules, str) or ground.rule == rules, (number, field, ground.rule)
    for number, named in case.unruled.items():
        for field, rules in named.items():
            spoke = spoken(ground_of(trace, number, field))
            assert not set(listed(rules)) & spoke, (number, field, spoke)
    end = ending(trace).goal.rule
    assert case.ending in ("", end), end
    assert end not in case.not_ending
    missed = {one.name for one in trace.deductions}
    for fact, wanted in case.deductions.items():
        assert (fact in missed) == wanted, fact


def as_sure_as_the_page_says(case: Case, trace: Trace, section: Section) -> None:
    rows: dict[str, Listed] = {row.name: row for row in section.rows}
    for number, fields in case.rules.items():
        for field, rules in fields.items():
            ground = ground_of(trace, number, field)
            assert ground is not None
            said = {ground.rule: ground.confidence}
            said.update((vote.rule, vote.confidence) for vote in ground.votes)
            for rule in listed(rules):
                row, sure = rows.get(rule), said[rule]
                if row is not None and row.between is not None:
                    low, high = row.between
                    assert low <= (1.0 if sure is None else sure) <= high, (rule, sure)


def seen_in(section: str) -> tuple[set[str], set[str]]:
    """The rules that the files of a pass see at work, and those that they see at rest."""
    for_it: set[str] = set()
    against: set[str] = set()
    for path in FIXTURES.joinpath(section).glob("*.json"):
        case = case_of(path)
        for_it.update(rule for n in case.rules.values() for r in n.values() for rule in listed(r))
        against.update(r for n in case.unruled.values() for rs in n.values() for r in listed(rs))
        for_it.update({case.ending} - {""})
        against.update(case.not_ending)
        for_it.update(fact for fact, missed in case.deductions.items() if missed)
        against.update(fact for fact, missed in case.deductions.items() if not missed)
    return for_it, against


NEVER_AT_WORK = {
    "mypy-summary": "`tsc-errors` reads its words for failure first",
    "ruff-summary": "`tsc-errors` reads its words for failure first",
}
NEVER_AT_REST = {"says-something": "it votes on every message, so that there is a reading"}


BY_ADAPTERS = "result"
"""The section of the rules that no pass has: the goldens of adapters see them."""


@pytest.mark.parametrize(
    "section", [one for one in SECTIONS if one.name != BY_ADAPTERS], ids=lambda one: one.name
)
def test_every_rule_is_seen_at_work_and_at_rest(section: Section) -> None:
    rules = [row.name for row in section.rows]
    for_it, against = seen_in(section.name)
    unseen = [rule for rule in rules if rule not in for_it]
    assert unseen == [rule for rule in rules if rule in NEVER_AT_WORK], "no fixture has it at work"
    active = [rule for rule in rules if rule not in against]
    assert active == [rule for rule in rules if rule in NEVER_AT_REST], "no fixture has it at rest"


def test_what_came_beside_a_result_is_named_with_its_record() -> None:
    trace = trace_of(FIXTURES / "link" / "brought-by-a-call.json")
    (told,) = trace.session.facts("brought")
    assert trace.steps[3].grounds["caused_by"].evidence == (told.origin.evidence,)
    assert trace.steps[5].grounds["caused_by"].evidence == ()
