"""What a long session leaves behind while it is made into a trace, and what it holds once."""

import json
from pathlib import Path
from sys import getrefcount

import pytest
from folders import retraced

from forsy_retrace.builder.causes.named_by_user import Given, Named
from forsy_retrace.builder.causes.needles import Parts
from forsy_retrace.builder.causes.passages import Passages
from forsy_retrace.choose import Choice, Chosen
from forsy_retrace.document import draft
from forsy_retrace.events import LONG, Event, Message, Origin, SessionStart, ToolResult, sessions
from forsy_retrace.evidence import Evidence
from forsy_retrace.memory import kept, let_go
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Source
from forsy_retrace.trace import Step, Tokens

LOG = Path(__file__).parents[1] / "fixtures" / "claude-code" / "push-pull-push" / "input.jsonl"


def test_what_was_read_has_left_the_list() -> None:
    values = ["a", "b", "c"]
    given = let_go(values)
    assert next(given) == "a"
    assert sorted(values) == ["b", "c"]
    assert list(given) == ["b", "c"]
    assert not values


def test_equal_entries_of_evidence_are_kept_once() -> None:
    (trace,) = retraced(Source(LOG), "claude-code")
    rows = draft(trace).evidence
    entries = [entry for row in rows for entry in row["fields"].values()]
    assert len({id(entry) for entry in entries}) == len({json.dumps(entry) for entry in entries})
    assert len({id(entry) for entry in entries}) < len(entries) / 2


def test_an_output_that_an_earlier_one_had_to_the_letter_is_kept_once() -> None:
    here = Origin(Evidence("log", 1, 0, 1))
    results: list[Event] = [ToolResult(here, call, "x" * LONG) for call in ("a", "b")]
    results += [ToolResult(here, "c", "y" * LONG)]
    (session,) = sessions(results)
    outputs = [event.output for event in session.events if isinstance(event, ToolResult)]
    assert outputs == ["x" * LONG, "x" * LONG, "y" * LONG]
    assert outputs[0] is outputs[1]
    assert [event.call for event in session.events if isinstance(event, ToolResult)] == [*"abc"]


def test_a_session_that_was_handed_on_is_held_by_nobody_else() -> None:
    here = Origin(Evidence("log", 1, 0, 1))
    said: list[Event] = [
        event
        for name in ("one", "two")
        for event in (SessionStart(here, name), Message(here, "user", "Do it."))
    ]
    found = iter(Chosen(said, Shows(), Choice()))
    first = next(found)
    held = getrefcount(first), getrefcount(first.events)
    assert max(held) <= 2  # the name or the session, and the question itself
    assert [one.id for one in found] == ["two"]


def test_a_session_of_more_tokens_than_are_kept_gives_the_same_trace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    logs = [*map(Source, sorted(LOG.parents[1].glob("*/input.jsonl"))[:12])]

    def told() -> list[tuple[Step, ...]]:
        return [trace.steps for log in logs for trace in retraced(log, "claude-code")]

    known = told()
    monkeypatch.setattr(Tokens, "MOST", 20)
    monkeypatch.setattr(Parts, "MOST", 5)
    assert told() == known
    assert sum(len(steps) for steps in known) > 50


def test_what_the_user_named_is_held_once_for_all_actors_that_heard_it() -> None:
    named = Named()
    first = Given(named)
    named.take(["src/cart.py"])
    second = Given(named)
    second.add(["src/tax.py"])
    held = ("src/cart.py" in first, "src/cart.py" in second, "src/tax.py" in first)
    assert held == (True, False, False)
    named.take(["src/cart.py", "src/prices.py"])
    assert all(
        value in actor for value in ("src/cart.py", "src/prices.py") for actor in (first, second)
    )
    assert first.own == set()
    assert second.own == {"src/tax.py"}


def test_the_lines_that_calls_write_are_held_once_for_all_actors() -> None:
    wanted = {"return the sum of all prices"}
    assert Passages(wanted).wanted is Passages(wanted).wanted


def test_what_is_made_of_a_long_text_is_not_kept() -> None:
    made: list[int] = []

    @kept(4)
    def length(text: str) -> int:
        made.append(len(text))
        return len(text)

    for text in ("short", "short", "x" * 30_000, "x" * 30_000):
        assert length(text) == len(text)
    assert made == [5, 30_000, 30_000]
