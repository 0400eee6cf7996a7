"""A Claude Code session is read twice: what happens to the file in between is seen."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from forsy_adapters.claude_code.changes import changes
from forsy_adapters.claude_code.results import verdict

from forsy_retrace.events import Event, Fact, Message, Skipped
from forsy_retrace.registry import load
from forsy_retrace.source import Source


def turn(number: int, text: str) -> str:
    """A line of a session: what a human typed."""
    body = {
        "type": "user",
        "uuid": f"u-{number}",
        "parentUuid": f"u-{number - 1}" if number else None,
        "sessionId": "s-1",
        "timestamp": f"2026-01-05T10:00:{number:02}.000Z",
        "message": {"role": "user", "content": text},
    }
    return json.dumps(body) + "\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "s-1.jsonl"
    path.write_text("".join(turn(n, f"Do number {n}.") for n in range(6)))
    return path


def begun(log: Path) -> Iterator[Event]:
    """A reading of which the first event has come: the first of the two passes is over."""
    events = load("claude-code").read(Source(log))
    next(events)
    return events


def words(events: Iterator[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, Message)]


def test_what_is_appended_between_the_readings_is_not_read(log: Path) -> None:
    events = begun(log)
    with log.open("a") as more:
        more.write(turn(6, "Do number 6."))
    assert words(events) == [f"Do number {n}." for n in range(6)]


def test_a_line_that_is_finished_between_the_readings_stays_cut_off(log: Path) -> None:
    last = turn(6, "Do number 6.")
    with log.open("a") as more:
        more.write(last[:60])
    events = begun(log)
    with log.open("a") as more:
        more.write(last[60:])
    found = list(events)
    assert len(words(iter(found))) == 6
    assert [e.reason for e in found if isinstance(e, Skipped)] == ["unreadable: cut off"]


def test_a_file_that_is_replaced_between_the_readings_is_not_taken_for_the_first(log: Path) -> None:
    events = begun(log)
    log.write_text("".join(turn(n, f"Something else, number {n}.") for n in range(6)))
    found = list(events)
    assert words(iter(found)) == []
    assert {e.reason for e in found if isinstance(e, Skipped)} == {
        "unreadable: changed while it was read"
    }


def test_a_file_that_is_cut_between_the_readings_loses_only_what_was_cut(log: Path) -> None:
    events = begun(log)
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines[:4]))
    found = list(events)
    assert words(iter(found)) == [f"Do number {n}." for n in range(4)]
    assert sum(isinstance(e, Skipped) for e in found) == 2


def test_a_nested_message_that_is_gone_at_the_second_reading_is_no_crash(tmp_path: Path) -> None:
    nested = {
        "type": "progress",
        "uuid": "p-1",
        "sessionId": "s-1",
        "timestamp": "2026-01-05T10:01:00.000Z",
        "parentToolUseID": "toolu_01",
        "data": {
            "type": "agent_progress",
            "agentId": "a1",
            "message": {"type": "assistant", "message": {"role": "assistant", "content": "Hm."}},
        },
    }
    log = tmp_path / "s-1.jsonl"
    log.write_text(turn(0, "Do it.") + json.dumps(nested) + "\n")
    events = begun(log)
    text = log.read_text()
    log.write_text(text.replace('"message": {"type"', '"massage": {"type"'))  # no byte longer
    found = list(events)
    assert words(iter(found)) == ["Do it."]
    assert [e.reason for e in found if isinstance(e, Skipped)] == ["not a record"]


@pytest.mark.parametrize(
    "edits", [5, {"old_string": "a"}, [5, {"old_string": "a", "new_string": 1}]]
)
def test_an_edit_of_odd_shape_is_told_as_it_stands(edits: object) -> None:
    patch = [{"oldStart": 0, "newStart": 9, "lines": ["-  a", "+  b", ""]}]
    extra = {"filePath": "a.go", "oldString": "a", "newString": "b", "edits": edits}
    (change,) = changes({**extra, "originalFile": "\ta", "structuredPatch": patch})
    assert change.hunks[0].lines == ("-  a", "+  b", "")


def test_an_edit_that_would_fill_the_memory_is_not_done_again() -> None:
    extra = {"filePath": "a.go", "oldString": "a", "newString": "b" * 100_000, "replaceAll": True}
    patch = [{"oldStart": 1, "newStart": 1, "lines": ["-  a", "+  b"]}]
    (change,) = changes({**extra, "originalFile": "\ta" * 1000, "structuredPatch": patch})
    assert change.hunks[0].lines == ("-  a", "+  b")


def test_edits_that_fill_the_memory_together_are_not_done_again() -> None:
    letters = [chr(0x4E00 + at) for at in range(12)]
    edits = [
        {"old_string": one, "new_string": "z" * 10_000, "replace_all": True} for one in letters
    ]
    patch = [{"oldStart": 1, "newStart": 1, "lines": ["-  a", "+  b"]}]
    before = "\ta\n" + "".join(one * 900 for one in letters)
    began = time.process_time()
    list(
        changes(
            {"filePath": "/a", "edits": edits, "originalFile": before, "structuredPatch": patch}
        )
    )
    assert time.process_time() - began < 1


@pytest.mark.parametrize(("patch", "before"), [([], "a\n"), (None, None)])
def test_only_an_empty_patch_says_that_a_file_was_already_so(
    patch: object, before: str | None
) -> None:
    extra = {"type": "update", "filePath": "a.go", "content": "a\n", "structuredPatch": patch}
    (change,) = changes(extra)
    assert (None if change.before is None else str(change.before)) == before


POLLS = {
    "<status>running</status>\n\n<timestamp>2025-09-03T09:30:19.000Z</timestamp>": "launched",
    "<retrieval_status>not_ready</retrieval_status>\n\n<status>running</status>": "launched",
    "<status>running</status>\n\n<stdout>\nlistening\n</stdout>": "ok",
    "<retrieval_status>success</retrieval_status>\n\n<status>completed</status>": "ok",
}


@pytest.mark.parametrize("text", POLLS)
def test_a_poll_of_what_runs_on_tells_of_no_outcome_without_an_output(text: str) -> None:
    assert verdict({}, text, None, {}).outcome == POLLS[text]


TURNED_DOWN = {"toolDenialKind": "user-rejected"}


@pytest.mark.parametrize(
    ("more", "outcome"),
    [
        ({}, "interrupted"),
        ({"toolDenialBeforeRun": True}, "rejected"),
        ({"userFeedback": "Not so."}, "rejected"),
        ({"permissionDecision": {"decision": "reject", "source": "user_reject"}}, "rejected"),
        ({"toolDenialKind": "permission-rule"}, "blocked"),
    ],
)
def test_a_call_of_a_message_that_was_stopped_had_begun_unless_the_log_says_otherwise(
    more: dict[str, object], outcome: str
) -> None:
    record = {**TURNED_DOWN, **more}
    assert verdict({"is_error": True}, "", None, record, interrupted=True).outcome == outcome
    assert verdict({"is_error": True}, "", None, record).outcome != "interrupted"


def briefs(path: Path, *lines: dict[str, object]) -> list[object]:
    """What a log says a subagent was asked."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    events = load("claude-code").read(Source(path))
    return [event.value for event in events if isinstance(event, Fact) and event.name == "brief"]


def told(text: str, **more: object) -> dict[str, object]:
    """The first record of a subagent's log."""
    side = {"isSidechain": True, "agentId": "a1", **more}
    return {**json.loads(turn(0, text)), "uuid": "side-0", **side}


def test_the_first_words_of_a_subagent_whose_log_is_alone_are_its_brief(tmp_path: Path) -> None:
    path = tmp_path / "agent-a1.jsonl"
    assert briefs(path, told("List the modules.")) == ["List the modules."]
    reminder = "<system-reminder>\nThe date is late.\n</system-reminder>"
    assert briefs(path, told(reminder)) == []
    assert briefs(path, told(f"{reminder}\nList them.")) == ["List them."]


def test_no_brief_is_told_where_the_main_agent_has_a_message(tmp_path: Path) -> None:
    path = tmp_path / "s-1.jsonl"
    assert briefs(path, json.loads(turn(0, "Do it.")), told("List the modules.")) == []


def run(session: str, said: str | None, result: str) -> list[dict[str, object]]:
    """A run of `stream-json`: its opening, an answer if it is there, and its end."""
    opening = {"subtype": "init", "claude_code_version": "2.0.36"}
    message = {"id": f"msg_{session}", "content": [{"type": "text", "text": said}]}
    lines: list[dict[str, object]] = [{"type": "system", **opening}]
    lines += [{"type": "assistant", "message": message}] if said else []
    lines.append({"type": "result", "subtype": "success", "result": result})
    return [{**line, "session_id": session} for line in lines]


@pytest.mark.parametrize(
    ("second", "versions", "said"),
    [
        (run("s-2", None, "Done."), 2, ["Done.", "Done."]),
        (run("s-2", "Done.", "Done."), 2, ["Done.", "Done."]),
        (run("s-1", None, "Done."), 1, ["Done."]),
    ],
)
def test_a_session_in_a_file_of_several_is_told_whole(
    tmp_path: Path, second: list[dict[str, object]], versions: int, said: list[str]
) -> None:
    path = tmp_path / "runs.jsonl"
    lines = run("s-1", "Done.", "Done.") + second
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    events = list(load("claude-code").read(Source(path)))
    facts = [event.value for event in events if isinstance(event, Fact) and event.name == "version"]
    assert facts == ["2.0.36"] * versions
    assert words(iter(events)) == said
