"""Qwen Code's logs: what stands in Claude Code's envelope, and which words are a command's text."""

import json
from pathlib import Path
from typing import Any

import pytest

from forsy_retrace import Event, Message, ToolCall, ToolResult, read
from forsy_retrace.registry import identify
from forsy_retrace.source import Source

FIXTURES = Path(__file__).parents[1] / "fixtures" / "qwen-code"


def record(number: int, at: str, kind: str, **more: Any) -> dict[str, Any]:
    return {
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number else None,
        "sessionId": "s1",
        "timestamp": f"2026-05-04T10:00:{at}Z",
        "type": kind,
        **more,
    }


def said(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


def events(path: Path, records: list[dict[str, Any]]) -> list[Event]:
    log = path / "s1.jsonl"
    log.write_text("".join(json.dumps(one) + "\n" for one in records))
    return list(read(log))


def test_a_log_cut_to_what_the_client_writes_of_its_own_is_still_no_others(tmp_path: Path) -> None:
    lines = (FIXTURES / "fix-and-check" / "input.jsonl").read_text().splitlines()
    kept = [line for line in lines if json.loads(line)["type"] == "system"]
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(kept))
    assert identify(Source(path)) == ["qwen-code"]


@pytest.mark.parametrize(
    ("at", "text", "via"),
    [("01.020", "/greet Ana", "command"), ("09.000", "Greet Ana kindly", "typed")],
)
def test_a_prompt_right_behind_a_command_is_its_text(
    at: str, text: str, via: str, tmp_path: Path
) -> None:
    payload = {"phase": "result", "rawCommand": "/greet Ana"}
    typed = record(0, "01.000", "system", subtype="slash_command", systemPayload=payload)
    sent = record(1, at, "user", message=said({"text": "Greet Ana kindly"}))
    found = [one for one in events(tmp_path, [typed, sent]) if isinstance(one, Message)]
    assert [(one.text, one.via) for one in found] == [(text, via)]


def test_results_of_one_tool_answer_its_calls_in_order(tmp_path: Path) -> None:
    calls = [{"functionCall": {"name": "glob", "args": {"pattern": one}}} for one in "ab"]
    asked = record(0, "01.000", "assistant", message={"role": "model", "parts": calls})
    answers = [
        {"functionResponse": {"id": f"g{one}", "name": "glob", "response": {"output": one}}}
        for one in "ab"
    ]
    results = [
        record(number, f"0{number}.500", "tool_result", message=said(answer))
        for number, answer in enumerate(answers, 1)
    ]
    found = events(tmp_path, [asked, *results])
    made = {one.call: one.input["pattern"] for one in found if isinstance(one, ToolCall)}
    told = {one.call: one.output for one in found if isinstance(one, ToolResult)}
    assert made == told
    assert len(told) == 2
