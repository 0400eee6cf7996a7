"""Faults planted into an adapter that has none: each is caught by the law that it breaks."""

import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from forsy_retrace import testing
from forsy_retrace.adapter import Adapter, companions
from forsy_retrace.errors import Terminated
from forsy_retrace.events import (
    Change,
    Delegation,
    Event,
    Fact,
    Message,
    Origin,
    SessionStart,
    Skipped,
    Thinking,
    ToolCall,
    ToolResult,
)
from forsy_retrace.registry import load
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Source
from forsy_retrace.testing import BrokenLaw, Case, Law, digest, hardship
from forsy_retrace.testing.reading import care

pytestmark = pytest.mark.slow


NAME = "claude-code"
HONEST = load(NAME)
FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / NAME
PLAIN, LINKED, STREAM = "push-pull-push", "subagent-directory", "stream-json-two-runs"
THOUGHT = "split-message-interleaved"

ROLES = ("user", "assistant", "user")

Events = Iterable[Event]
replace = msgspec.structs.replace


class Planted:
    """The honest adapter, but for one fault."""

    def __init__(
        self,
        read: Callable[[Events, Source], Events] = lambda events, source: events,
        sniff: Callable[[Source], Any] = HONEST.sniff,
        beside: Callable[[list[Source]], list[Source]] = lambda found: found,
    ) -> None:
        self.SHOWS = HONEST.SHOWS
        self._read, self._sniff, self._beside = read, sniff, beside

    def sniff(self, source: Source) -> bool:
        claimed: bool = self._sniff(source)
        return claimed

    def companions(self, source: Source) -> list[Source]:
        return self._beside(companions(HONEST, source))

    def read(self, source: Source) -> Iterator[Event]:
        yield from self._read(HONEST.read(source), source)


def moved(event: Event, **changes: Any) -> Event:
    """The event with another origin."""
    return replace(event, origin=replace(event.origin, **changes))


def placed(event: Event, **changes: Any) -> Event:
    """The event with other evidence."""
    return moved(event, evidence=replace(event.origin.evidence, **changes))


def every(kind: type | tuple[type, ...], change: Callable[[Any], Event]) -> Any:
    """A fault in each event of a kind."""

    def fault(events: Events, _: Source) -> Events:
        return [change(event) if isinstance(event, kind) else event for event in events]

    return fault


def loses_a_record(events: Events, _: Source) -> Events:
    held = list(events)
    lost = next(one for one in held if isinstance(one, ToolResult)).origin.evidence.record
    return [one for one in held if one.origin.evidence.record != lost]


def loses_what_is_no_record(events: Events, _: Source) -> Events:
    return [
        one
        for one in events
        if not (isinstance(one, Skipped) and one.reason.startswith("unreadable"))
    ]


def reads_the_log_alone(events: Events, source: Source) -> Events:
    return [one for one in events if one.origin.evidence.file == source.name]


def tells_twice(events: Events, _: Source) -> Events:
    for event in events:
        yield event
        if isinstance(event, Message):
            yield event


def reads_backwards(events: Events, _: Source) -> Events:
    held = list(events)
    words = [one for one in held if isinstance(one, Message)]
    turned = iter(reversed(words))
    return [next(turned) if isinstance(one, Message) else one for one in held]


def reads_companions_last(events: Events, source: Source) -> Events:
    return sorted(events, key=lambda one: one.origin.evidence.file != source.name)


def leaves_out_without_a_reason(events: Events, _: Source) -> Events:
    return [replace(one, reason="") if isinstance(one, Skipped) else one for one in events]


def quotes_what_it_leaves_out(events: Events, _: Source) -> Events:
    held = list(events)
    said = next(one for one in held if isinstance(one, Message) and len(one.text) > 20)
    return [*held, Skipped(said.origin, f"unknown {said.text}")]


def reads_the_clock(events: Events, _: Source) -> Events:
    now = datetime.now(UTC).isoformat()
    return [moved(one, at=now) if isinstance(one, ToolCall) else one for one in events]


def shuffles(events: Events, _: Source) -> Events:
    held = list(events)
    tail = held[1:]
    random.SystemRandom().shuffle(tail)
    return [*held[:1], *tail]


COUNT = itertools.count()


def remembers_the_last_reading(events: Events, _: Source) -> Events:
    return [*events, Fact(Origin(next(iter(_.head)).here), "readings", next(COUNT))]


def names_its_folder(events: Events, source: Source) -> Events:
    here = Origin(next(iter(source.head)).here)
    return [*events, Fact(here, "path", str(source.path))]


def iterates_a_set(events: Events, _: Source) -> Events:
    """Facts come in the order of a set of texts: another one for another hash seed."""
    held = list(events)
    facts = {one.name: one for one in held if isinstance(one, Fact)}
    return [*(facts[name] for name in set(facts)), *held]


def repeats_the_history(events: Events, _: Source) -> Events:
    held = list(events)
    return [*held, *(one for one in held if not isinstance(one, SessionStart))]


def answers_twice(events: Events, _: Source) -> Events:
    for event in events:
        yield from [event, event] if isinstance(event, ToolResult) else [event]


def answers_before_the_call(events: Events, _: Source) -> Events:
    held = list(events)
    found = next(one for one in held if isinstance(one, ToolResult))
    rest = [one for one in held if one is not found]
    asked = next(i for i, one in enumerate(rest) if getattr(one, "call", "") == found.call)
    return [*rest[:asked], found, *rest[asked:]]


def trusts_every_value(events: Events, source: Source) -> Events:
    for record in source.records():
        if isinstance(record.value, dict) and record.value.get("type") == "user":
            record.value["message"]["content"][:1]
    return events


def trusts_every_call(events: Events, source: Source) -> Events:
    """What a call was sent is read by its keys, deep in the record."""
    for record in source.records():
        match record.value:
            case {"message": {"content": [{"type": "tool_use", "input": dict(sent)}, *_]}}:
                sent["description"]
    return events


def trusts_the_last_line(events: Events, source: Source) -> Events:
    if any(record.problem == "unreadable: cut off" for record in source.records()):
        raise EOFError
    return events


def follows_parents_to_the_root(events: Events, source: Source) -> Events:
    """Never ends where a record is its own ancestor."""
    values = [one.value for one in source.records() if isinstance(one.value, dict)]
    parents = {str(one.get("uuid")): one.get("parentUuid") for one in values}
    for leaf in parents:
        here: Any = leaf
        while isinstance(here, str):
            here = parents.get(here)
    return events


def invents_an_answer(events: Events, _: Source) -> Events:
    """A call without a result gets one."""
    held = list(events)
    answered = {one.call for one in held if isinstance(one, ToolResult)}
    for event in held:
        yield event
        if isinstance(event, ToolCall) and event.call not in answered:
            yield ToolResult(event.origin, event.call, "done", "ok")


def invents_words(events: Events, _: Source) -> Events:
    held = list(events)
    last = held[-1].origin
    return [*held, Message(replace(last, actor="user"), "user", "Great work, thank you!")]


def swallows_a_call(events: Events, _: Source) -> Events:
    held = list(events)
    lost = next(one for one in held if isinstance(one, ToolCall)).call
    return [
        Skipped(one.origin, "bookkeeping") if getattr(one, "call", "") == lost else one
        for one in held
    ]


def swallows_a_session(events: Events, _: Source) -> Events:
    return [one for one in events if not isinstance(one, SessionStart)]


def yields_a_mapping(events: Events, _: Source) -> Any:
    return [*events, {"event": "Message"}]


def judges_by_no_rule(events: Events, _: Source) -> Events:
    return [replace(one, rule="") if isinstance(one, ToolResult) else one for one in events]


def names_another_file(events: Events, _: Source) -> Events:
    held = list(events)
    return [*held[:-1], placed(held[-1], file="other.jsonl")]


def takes_whatever_has_a_type(source: Source) -> bool:
    values = [one.value for one in source.head]
    return any(isinstance(one, dict) and "type" in one and "timestamp" in one for one in values)


def presumes_a_type(source: Source) -> bool:
    return "type" in source.head[0].value and HONEST.sniff(source)


miscounts_lines = every(ToolCall, lambda e: placed(e, line=99))
misplaces = every(ToolCall, lambda e: placed(e, start=3))
misplaces_pictures = every(
    Message,
    lambda e: replace(
        e, attachments=tuple(replace(one, pointer="/message/9") for one in e.attachments)
    ),
)
points_elsewhere = every(ToolCall, lambda e: placed(e, start=0, end=2))
swallows_outputs = every(ToolResult, lambda e: replace(e, output=""))
guesses_success = every(ToolResult, lambda e: replace(e, outcome="ok"))
polishes_words = every(Message, lambda e: replace(e, text=e.text + "!"))
changes_inputs = every(ToolCall, lambda e: replace(e, input={"command": "git push --force"}))
renames_tools = every(ToolCall, lambda e: replace(e, tool="Shell"))
invents_reasoning = every(Thinking, lambda e: replace(e, text="I shall be careful."))
invents_times = every(ToolCall, lambda e: moved(e, at="2001-01-01T00:00:00Z"))
blames_the_user = every(ToolCall, lambda e: moved(e, actor="user"))
blames_the_system = every(ToolCall, lambda e: moved(e, actor="system"))


class Fault(msgspec.Struct, frozen=True):
    """What is wrong, on which case it shows, and the law that must say so."""

    name: str
    case: str
    law: Law
    adapter: Planted


GROUND = testing.every_value_has_a_ground_that_the_source_bears_out
CLAIM = testing.is_claimed_by_one_adapter
ACCOUNT = testing.accounts_for_every_record
TWICE = testing.reads_the_same_twice
FOLLOW = testing.answers_follow_calls
ONCE = testing.tells_each_thing_once_and_in_order
SAID = testing.says_what_its_records_say
CUT = testing.survives_a_cut_anywhere
STRANGERS = testing.survives_strangers
EVENTS = testing.matches_golden_events
TRACE = testing.matches_golden_trace

FAULTS = (
    # Which logs are its own?
    Fault("greedy sniff", PLAIN, CLAIM, Planted(sniff=lambda source: True)),
    Fault("sniff by name", PLAIN, CLAIM, Planted(sniff=lambda s: s.path.suffix == ".jsonl")),
    Fault("timid sniff", PLAIN, CLAIM, Planted(sniff=lambda source: False)),
    Fault("vague sniff", PLAIN, CLAIM, Planted(sniff=lambda source: source.head)),
    Fault("sniff that takes any line", PLAIN, CLAIM, Planted(sniff=takes_whatever_has_a_type)),
    Fault("crashing sniff", PLAIN, CLAIM, Planted(sniff=presumes_a_type)),
    # Is nothing lost in silence?
    Fault("lost record", PLAIN, ACCOUNT, Planted(loses_a_record)),
    Fault("lost unreadable lines", "unreadable-lines", ACCOUNT, Planted(loses_what_is_no_record)),
    Fault("dropped companion", LINKED, ACCOUNT, Planted(beside=lambda found: [])),
    Fault("unread companion", LINKED, ACCOUNT, Planted(reads_the_log_alone)),
    Fault("no reason", "unknown-types", ACCOUNT, Planted(leaves_out_without_a_reason)),
    Fault("quoting reason", PLAIN, ACCOUNT, Planted(quotes_what_it_leaves_out)),
    Fault("wrong line", PLAIN, ACCOUNT, Planted(miscounts_lines)),
    Fault("wrong offset", PLAIN, ACCOUNT, Planted(misplaces)),
    Fault("wrong file", PLAIN, ACCOUNT, Planted(names_another_file)),
    Fault("no event", PLAIN, ACCOUNT, Planted(yields_a_mapping)),
    Fault("no rule", PLAIN, ACCOUNT, Planted(judges_by_no_rule)),
    # Does only the log decide?
    Fault("clock", PLAIN, TWICE, Planted(reads_the_clock)),
    Fault("random order", PLAIN, TWICE, Planted(shuffles)),
    Fault("memory", PLAIN, TWICE, Planted(remembers_the_last_reading)),
    Fault("its own folder", PLAIN, TWICE, Planted(names_its_folder)),
    # Is each call there once, and each result behind its call?
    Fault("duplicated history", PLAIN, FOLLOW, Planted(repeats_the_history)),
    Fault("result before its call", PLAIN, FOLLOW, Planted(answers_before_the_call)),
    Fault("result told twice", PLAIN, FOLLOW, Planted(answers_twice)),
    Fault(
        "delegation by no call",
        LINKED,
        FOLLOW,
        Planted(every(Delegation, lambda e: replace(e, call="made-up"))),
    ),
    # Is nothing doubled, and nothing read backwards?
    Fault("words told twice", PLAIN, ONCE, Planted(tells_twice)),
    Fault("words backwards", "sent-by-no-human", ONCE, Planted(reads_backwards)),
    Fault("companions behind the log", LINKED, ONCE, Planted(reads_companions_last)),
    # Are facts and exit codes the log's own?
    Fault("invented fact", PLAIN, SAID, Planted(every(Fact, lambda e: replace(e, value="x9")))),
    Fault(
        "invented skills",
        PLAIN,
        SAID,
        Planted(every(Fact, lambda e: replace(e, name="skills", value=["made-up"]))),
    ),
    Fault(
        "invented commit",
        PLAIN,
        SAID,
        Planted(every(ToolResult, lambda e: replace(e, commit="0a1b2c3d4e"))),
    ),
    Fault(
        "invented exit code",
        PLAIN,
        SAID,
        Planted(
            every(
                ToolResult,
                lambda e: replace(
                    e, rule="exit-code", basis="/message/content/0/content", exit_code=7
                ),
            )
        ),
    ),
    Fault(
        "an exit code from nowhere",
        PLAIN,
        SAID,
        Planted(
            every(
                ToolResult,
                lambda e: replace(e, basis="/message/content/0/is_error", exit_code=417),
            )
        ),
    ),
    Fault(
        "invented change",
        PLAIN,
        SAID,
        Planted(every(ToolResult, lambda e: replace(e, changes=(Change("/x/y.py", "modified"),)))),
    ),
    Fault(
        "words of another", PLAIN, SAID, Planted(every(Message, lambda e: moved(e, actor="agent")))
    ),
    Fault(
        "a record called none",
        "unknown-types",
        SAID,
        Planted(every(Skipped, lambda e: replace(e, reason="unreadable"))),
    ),
    # What if the log is cut, or odd?
    Fault(
        "report of nobody",
        PLAIN,
        SAID,
        Planted(every(Message, lambda e: replace(e, via="notification"))),
    ),
    Fault("crash on None", PLAIN, STRANGERS, Planted(trusts_every_value)),
    Fault("crash on a key", PLAIN, STRANGERS, Planted(trusts_every_call)),
    Fault("cyclic parents", PLAIN, STRANGERS, Planted(follows_parents_to_the_root)),
    Fault("crash on a cut", PLAIN, CUT, Planted(trusts_the_last_line)),
    Fault("loss at a cut", PLAIN, CUT, Planted(loses_what_is_no_record)),
    # Is it true?
    Fault("swallowed output", PLAIN, GROUND, Planted(swallows_outputs)),
    Fault("guessed success", PLAIN, GROUND, Planted(guesses_success)),
    Fault("invented answer", "killed-mid-call", GROUND, Planted(invents_an_answer)),
    Fault("invented user words", PLAIN, GROUND, Planted(invents_words)),
    Fault("polished user words", PLAIN, GROUND, Planted(polishes_words)),
    Fault("changed input", PLAIN, GROUND, Planted(changes_inputs)),
    Fault("renamed tool", PLAIN, GROUND, Planted(renames_tools)),
    Fault("invented reasoning", THOUGHT, GROUND, Planted(invents_reasoning)),
    Fault("invented time", PLAIN, GROUND, Planted(invents_times)),
    Fault("bytes of another record", PLAIN, GROUND, Planted(points_elsewhere)),
    Fault("a picture elsewhere", "images-and-pdf", GROUND, Planted(misplaces_pictures)),
    # Is it what somebody has read?
    Fault("wrong actor", PLAIN, EVENTS, Planted(blames_the_user)),
    Fault("swallowed call", PLAIN, EVENTS, Planted(swallows_a_call)),
    Fault("wrong actor in the trace", PLAIN, TRACE, Planted(blames_the_system)),
    Fault("swallowed session", STREAM, TRACE, Planted(swallows_a_session)),
)


@pytest.fixture(scope="module")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copies of the cases, with goldens that the honest adapter has just written."""
    root = tmp_path_factory.mktemp("fixtures") / NAME
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FORSY_UPDATE_GOLDENS", "1")
        for name in dict.fromkeys(fault.case for fault in FAULTS):
            shutil.copytree(FIXTURES / name, root / name)
            for law in (EVENTS, TRACE):
                law(HONEST, Case(NAME, root / name))
    return root


@pytest.fixture(autouse=True)
def _no_update(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORSY_UPDATE_GOLDENS", raising=False)


@pytest.fixture(autouse=True)
def thorough(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault is looked for with the whole of the laws."""
    monkeypatch.setattr(hardship, "MUTATIONS", 56)
    monkeypatch.setattr(hardship, "LOSSES", 64)
    monkeypatch.setattr(hardship, "DEPTH", 8)
    monkeypatch.setattr(hardship, "CUTS", 10)
    monkeypatch.setattr(hardship, "ENDS", 1000)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_every_fault_breaks_its_law(
    fault: Fault, golden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(fault.adapter, Adapter)
    if fault.name == "cyclic parents":  # it never ends, and is read twice
        monkeypatch.setattr("forsy_retrace.testing.reading.PATIENCE", 0.2)
    with pytest.raises(BrokenLaw):
        fault.law(fault.adapter, Case(NAME, golden / fault.case))


@pytest.mark.parametrize("lost", [0, 2])
def test_a_message_of_a_document_that_is_passed_over_is_named(lost: int, tmp_path: Path) -> None:
    honest, log = load("openai-chat"), tmp_path / "chat.json"
    words = ["How many mugs are left?", "There are nine mugs left.", "And what do they cost?"]
    said = [{"role": role, "content": text} for role, text in zip(ROLES, words, strict=True)]
    log.write_text(json.dumps({"messages": said}))

    class Forgetful:
        SHOWS, sniff = honest.SHOWS, staticmethod(honest.sniff)

        def read(self, source: Source) -> Iterator[Event]:
            for event in honest.read(source):
                if not event.origin.evidence.pointer.startswith(f"/messages/{lost}/"):
                    yield event

    case = Case("openai-chat", tmp_path, log)
    assert testing.broken(honest, case, [ACCOUNT]) == []
    (told,) = testing.broken(Forgetful(), case, [ACCOUNT])
    assert f"nothing is told of /messages/{lost} in chat.json, but of others beside it" in told


@pytest.mark.parametrize("rule", ["status", "http-status", "success-flag"])
def test_a_rule_finds_what_it_reads_where_an_outcome_says_it_stands(rule: str) -> None:
    def judged(event: ToolResult) -> Event:
        return replace(event, outcome="failed", rule=rule, basis="/message/content/0/tool_use_id")

    case = Case("nobody's", FIXTURES / PLAIN)  # nothing is retraced by that name
    (told,) = testing.broken(Planted(every(ToolResult, judged)), case, [GROUND])
    assert "/message/content/0/tool_use_id), success: the log says something else there" in told


def raises_at_an_answer(events: Events, _: Source) -> Events:
    for event in events:
        if isinstance(event, ToolResult):
            raise KeyError
        yield event


def test_what_breaks_several_laws_is_told_once_and_where() -> None:
    (told,) = testing.broken(Planted(raises_at_an_answer), Case(NAME, FIXTURES / PLAIN))
    assert told.startswith("accounts for every record: read raises KeyError at ")
    assert told.endswith(", behind line 3 of input.jsonl.")


def test_a_log_that_does_harm_as_it_is_is_not_blamed_on_a_stranger() -> None:
    """Nor on a cut: what is wrong with it is told by its own law."""
    case = Case("nobody's", FIXTURES / PLAIN)  # nothing is retraced by that name
    halved = every(ToolResult, lambda event: replace(event, output=event.output[:9]))
    (told,) = testing.broken(Planted(halved), case, [*testing.HARDSHIPS, GROUND])
    assert told.startswith("every value has a ground that the source bears out: step 2 ")
    assert told.endswith(" output: the log says more there (and 2 more).")


def test_lines_of_words_stand_in_their_order() -> None:
    def turned(event: Message) -> Event:
        return replace(event, text="\n".join(reversed(event.text.split("\n"))), within=True)

    case = Case("nobody's", FIXTURES / "implement-plan-turn")  # nothing is retraced by that name
    assert testing.broken(Planted(), case, [GROUND]) == []
    assert testing.broken(Planted(every(Message, turned)), case, [GROUND]) != []


def test_who_is_told_to_end_breaks_no_law() -> None:
    with pytest.raises(Terminated), care("read"):
        raise Terminated


def test_a_large_log_may_take_longer_than_a_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forsy_retrace.testing.reading.PATIENCE", 0.05)
    with care("read", 50_000_000):
        time.sleep(0.2)
    with pytest.raises(BrokenLaw, match=r"^read does not end in"), care("read", 50_000):
        time.sleep(0.2)


@pytest.mark.slow
@pytest.mark.parametrize("name", dict.fromkeys(fault.case for fault in FAULTS))
@pytest.mark.parametrize("adapter", [NAME, Planted()], ids=["by name", "planted with nothing"])
def test_an_adapter_without_fault_breaks_none(
    name: str, adapter: Adapter | str, golden: Path
) -> None:
    assert testing.broken(adapter, Case(NAME, golden / name)) == []


def test_every_law_has_a_fault_that_it_alone_must_catch() -> None:
    assert {fault.law for fault in FAULTS} == set(testing.LAWS)


def test_a_broken_law_is_a_sentence_that_quotes_nothing(golden: Path) -> None:
    fault = next(one for one in FAULTS if one.name == "changed input")
    found = testing.broken(fault.adapter, Case(NAME, golden / fault.case))
    assert any(one.startswith("every value has a ground") for one in found)
    for sentence in found:
        assert sentence.endswith(".")
        assert "git" not in sentence


@pytest.mark.parametrize("name", ["events.jsonl", "trace/trace.json", "trace/README.md"])
def test_a_changed_golden_is_seen(name: str, golden: Path, tmp_path: Path) -> None:
    case = Case(NAME, tmp_path / PLAIN)
    shutil.copytree(golden / PLAIN, case.folder)
    path = case.folder / name
    path.write_bytes(path.read_bytes().replace(b"Bash", b"Bush", 1) + b"\n")
    assert [one.partition(":")[0] for one in testing.broken(HONEST, case)] == [
        "matches golden events" if name == "events.jsonl" else "matches golden trace"
    ]


def test_a_file_that_is_no_longer_written_is_seen(golden: Path, tmp_path: Path) -> None:
    case = Case(NAME, tmp_path / PLAIN)
    shutil.copytree(golden / PLAIN, case.folder)
    (case.folder / "trace" / "old.md").write_text("left behind")
    with pytest.raises(BrokenLaw, match="no longer written"):
        TRACE(HONEST, case)


def test_no_golden_comes_of_a_reading_that_loses_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORSY_UPDATE_GOLDENS", "1")
    case = Case(NAME, tmp_path / PLAIN)
    case.folder.mkdir()
    shutil.copy(Case(NAME, FIXTURES / PLAIN).path, case.folder)
    for law in (EVENTS, TRACE):
        with pytest.raises(BrokenLaw, match="no golden is written"):
            law(Planted(loses_a_record), case)
    assert [path.name for path in case.folder.iterdir()] == ["input.jsonl"]


def test_a_missing_golden_says_how_to_make_it(tmp_path: Path) -> None:
    case = Case(NAME, tmp_path / PLAIN)
    case.folder.mkdir()
    shutil.copy(Case(NAME, FIXTURES / PLAIN).path, case.folder)
    for law in (EVENTS, TRACE):
        with pytest.raises(BrokenLaw, match="FORSY_UPDATE_GOLDENS=1"):
            law(HONEST, case)


def test_a_log_that_must_be_refused_is_refused_for_its_reason(tmp_path: Path) -> None:
    case = Case(NAME, tmp_path / "prose")
    case.folder.mkdir()
    (case.folder / "input.txt").write_text("Nothing to see here.\n")
    (case.folder / "refused.txt").write_text("input.txt: no JSON records in it\n")
    assert testing.broken(HONEST, case) == []
    (case.folder / "refused.txt").write_text("input.txt: empty\n")
    with pytest.raises(BrokenLaw, match=r"refused\.txt"):
        TRACE(HONEST, case)


def test_a_log_anywhere_can_be_held_against_the_laws() -> None:
    path = Case(NAME, FIXTURES / PLAIN).path
    assert testing.broken(NAME, Case(NAME, path.parent, path)) == []


@pytest.mark.slow
def test_the_order_of_a_set_shows_under_another_hash_seed(golden: Path) -> None:
    program = "import sys, test_laws_bite as bite; print(bite.digest_of_a_set(sys.argv[1]))"
    found = (
        subprocess.run(
            [sys.executable, "-c", program, str(golden / PLAIN)],
            env={
                **os.environ,
                "PYTHONHASHSEED": str(seed),
                "PYTHONPATH": str(Path(__file__).parent),
            },
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(3)
    )
    first = next(found)
    assert any(other != first for other in found)


def digest_of_a_set(folder: str) -> str:
    """Run by the test above in another process."""
    return digest(Planted(iterates_a_set), Case(NAME, Path(folder)))


def test_a_strangers_test_file_needs_four_lines(golden: Path) -> None:
    test_law: Any = testing.conformance(NAME, golden.parent)
    marks = {mark.args[0]: mark.args[1] for mark in test_law.pytestmark}
    assert marks["law"] == testing.LAWS
    assert {case.folder.name for case in marks["case"]} == {fault.case for fault in FAULTS}


def test_a_strangers_test_names_a_field_of_another_type(golden: Path) -> None:
    planted: Any = every(Message, lambda event: replace(event, text=None))
    test_law: Any = testing.conformance(Planted(planted), golden.parent, NAME)
    with pytest.raises(pytest.fail.Exception, match=r"^read yields a Message whose text is not of"):
        test_law(Case(NAME, golden / PLAIN), ACCOUNT)


def test_a_broken_law_fails_a_strangers_test_with_its_sentence_alone(golden: Path) -> None:
    class Silent:
        SHOWS = Shows()
        sniff = staticmethod(lambda source: True)
        read = staticmethod(lambda source: iter(()))

    test_law: Any = testing.conformance(Silent(), golden.parent, NAME)
    case = Case(NAME, golden / PLAIN)
    with pytest.raises(pytest.fail.Exception, match=r"^no event comes of input\.jsonl") as failed:
        test_law(case, testing.laws.accounts_for_every_record)
    assert not failed.value.pytrace
