"""Anthropic's Messages API: what goes on from what, and whose log a record is."""

import json
from pathlib import Path
from typing import Any

import pytest
from forsy_adapters.anthropic import log

from forsy_retrace import read
from forsy_retrace.events import Message, Notice, SessionStart, Skipped, ToolCall, ToolResult
from forsy_retrace.registry import identify
from forsy_retrace.source import Source

FIXTURES = Path(__file__).parents[1] / "fixtures"
EXCHANGES = FIXTURES / "anthropic" / "requests-and-replies" / "input.jsonl"
Json = dict[str, Any]


def rows() -> list[Json]:
    return [json.loads(line) for line in EXCHANGES.read_text("utf-8").splitlines()]


def written(path: Path, held: list[Json]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in held), "utf-8")
    return path


def test_what_a_request_repeats_is_told_once(tmp_path: Path) -> None:
    told = list(read(EXCHANGES, "anthropic"))
    calls = [one.call for one in told if isinstance(one, ToolCall)]
    results = [one.call for one in told if isinstance(one, ToolResult)]
    assert calls == ["toolu_01", "toolu_02", "toolu_03", "toolu_04", "toolu_05"]
    assert results == calls
    assert sum(isinstance(one, SessionStart) for one in told) == 1
    last = {"messages": rows()[-1]["request"]["messages"], "note": "the last request alone"}
    alone = list(read(written(tmp_path / "last.jsonl", [last]), "anthropic"))
    assert [one.call for one in alone if isinstance(one, ToolCall)] == calls


def test_a_history_that_a_client_rewrote_is_a_conversation_of_its_own(tmp_path: Path) -> None:
    held = rows()[:2]
    held[1]["request"]["messages"][0]["content"] = "Make the tests pass, please."
    told = list(read(written(tmp_path / "log.jsonl", held), "anthropic"))
    assert sum(isinstance(one, SessionStart) for one in told) == 2
    words = [one.text for one in told if isinstance(one, Message) and one.role == "user"]
    assert words == ["Make the tests pass.", "Make the tests pass, please."]


def test_conversations_that_begin_alike_are_not_looked_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So many samples of one prompt stand in a file: each message is looked at but once."""
    made = 0
    behind = log._Log._behind

    def counted(self: log._Log, node: int, message: object) -> int:
        nonlocal made
        made += 1
        return behind(self, node, message)

    monkeypatch.setattr(log._Log, "_behind", counted)
    row = {"request": {"messages": [{"role": "user", "content": "Which day is it?"}]}}
    replies = [{**rows()[0]["response"], "id": f"msg_{n}"} for n in range(50)]
    for n, one in enumerate(replies):
        one["content"] = [{"type": "text", "text": f"Day {n}."}]
    held = [{**row, "response": one} for one in replies]
    told = list(read(written(tmp_path / "log.jsonl", held), "anthropic"))
    assert sum(isinstance(one, SessionStart) for one in told) == len(held)
    assert made == 2 * len(held)


def test_calls_that_code_made_name_the_code() -> None:
    told = read(FIXTURES / "anthropic" / "own-tools" / "input.jsonl", "anthropic")
    made = {one.tool: one.made_by for one in told if isinstance(one, ToolCall)}
    assert made["seats"] == "srvtoolu_7"
    assert not any(by for tool, by in made.items() if tool != "seats")


@pytest.mark.parametrize("key", ["request", "body", "params", "kwargs"])
def test_a_request_is_found_below_whatever_name_it_has(key: str, tmp_path: Path) -> None:
    row = rows()[1]
    path = written(tmp_path / "log.jsonl", [{"call": {key: row["request"]}}])
    assert identify(Source(path)) == ["anthropic"]
    assert any(isinstance(one, ToolResult) for one in read(path, "anthropic"))


def test_words_alone_may_be_of_any_api(tmp_path: Path) -> None:
    said = [{"role": role, "content": "hi"} for role in ("user", "assistant")]
    path = written(tmp_path / "log.jsonl", [{"messages": said}])
    assert "anthropic" not in identify(Source(path))


@pytest.mark.parametrize("wrong", [None, 7, "text", [], {}, [None, 7, "text", {}]])
@pytest.mark.parametrize("key", ["messages", "system", "tools", "model"])
def test_a_request_of_other_types_loses_nothing_else(
    key: str, wrong: object, tmp_path: Path
) -> None:
    held = rows()
    held[0]["request"][key] = wrong
    told = list(read(written(tmp_path / "log.jsonl", held), "anthropic"))
    assert sum(isinstance(one, ToolResult) for one in told) >= 4
    assert {one.origin.evidence.line for one in told} == set(range(1, len(held) + 1))


def test_a_result_that_no_call_waits_for_is_skipped(tmp_path: Path) -> None:
    held = rows()
    held[1]["request"]["messages"][2]["content"] *= 2
    told = list(read(written(tmp_path / "log.jsonl", held), "anthropic"))
    assert any(isinstance(one, Skipped) and "which call's" in one.reason for one in told)


def test_a_stream_ends_with_its_error(tmp_path: Path) -> None:
    start = {"type": "message_start", "message": {"role": "assistant", "id": "m1"}}
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}}
    told = list(read(written(tmp_path / "log.jsonl", [start, error, block]), "anthropic"))
    assert [one.text for one in told if isinstance(one, Notice)] == ["Overloaded"]
    assert {one.origin.evidence.line for one in told} == {1, 2, 3}
