"""Kimi CLI's logs: which call a result answers, whose words are whose, and what lies beside."""

import json
from pathlib import Path
from typing import Any

import pytest
from asked import run

from forsy_retrace import (
    Delegation,
    Event,
    Fact,
    Message,
    Notice,
    Skipped,
    ToolCall,
    ToolResult,
    read,
)
from forsy_retrace.registry import identify
from forsy_retrace.source import Source

FIXTURES = Path(__file__).parents[1] / "fixtures" / "kimi-cli"
TASK = {"task_tool_call_id": "Task:0"}


def wire(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": 1767261600.5, "message": {"type": kind, "payload": payload}}


def call(ident: str, tool: str, **sent: Any) -> dict[str, Any]:
    return wire("ToolCall", id=ident, function={"name": tool, "arguments": json.dumps(sent)})


def result(ident: str, output: Any, message: str = "", *, failed: Any = False) -> dict[str, Any]:
    value = {"is_error": failed, "output": output, "message": message, "display": []}
    return wire("ToolResult", tool_call_id=ident, return_value=value)


def below(one: dict[str, Any]) -> dict[str, Any]:
    return wire("SubagentEvent", **TASK, event=one["message"])


def events(folder: Path, *records: dict[str, Any]) -> list[Event]:
    log = folder / "wire.jsonl"
    log.write_text("".join(json.dumps(one) + "\n" for one in records))
    return list(read(log))


def results(found: list[Event]) -> list[tuple[str, str, int | None]]:
    return [(one.call, one.outcome, one.exit_code) for one in found if isinstance(one, ToolResult)]


def test_a_result_answers_the_latest_call_of_its_id(tmp_path: Path) -> None:
    found = events(
        tmp_path,
        call("Shell:0", "Shell", command="sleep 60"),
        wire("TurnBegin", user_input="Stop."),
        wire("StepBegin", n=1),
        call("Shell:0", "Shell", command="ls"),
        result("Shell:0", "", "Command failed with exit code: 2.", failed=True),
    )
    names = [one.call for one in found if isinstance(one, ToolCall)]
    assert results(found) == [(names[1], "failed", 2)]


def test_a_subagents_call_of_the_same_id_is_another(tmp_path: Path) -> None:
    found = events(
        tmp_path,
        call("Shell:0", "Shell", command="ls"),
        call("Task:0", "Task", subagent_name="coder", prompt="Look."),
        below(call("Shell:0", "Shell", command="pwd")),
        below(result("Shell:0", "/home/ana")),
        result("Shell:0", "a.py"),
    )
    told = {one.call: one.output for one in found if isinstance(one, ToolResult)}
    sent = {one.call: one.input for one in found if isinstance(one, ToolCall)}
    assert {sent[name]["command"]: text for name, text in told.items()} == {
        "ls": "a.py",
        "pwd": "/home/ana",
    }
    assert [one.actor for one in found if isinstance(one, Delegation)] == ["subagent:coder_1"]


@pytest.mark.parametrize(
    ("message", "failed", "outcome"),
    [
        ("Command killed by timeout (5s)", True, "timed_out"),
        ("The tool call is rejected by the user. Stop what you are doing.", True, "rejected"),
        ("Background task started.", False, "launched"),
        ("Command executed successfully.", False, "ok"),
        ("Command executed successfully.", "no", "unknown"),
    ],
)
def test_the_clients_message_says_how_a_command_ended(
    message: str, failed: Any, outcome: str, tmp_path: Path
) -> None:
    asked = call("Shell:0", "Shell", command="make")
    found = events(tmp_path, asked, result("Shell:0", "", message, failed=failed))
    assert [one[1] for one in results(found)] == [outcome]


def test_what_a_program_prints_is_not_the_clients_word(tmp_path: Path) -> None:
    text = "The tool call is rejected by the user. User feedback: none"
    asked = call("Shell:0", "Shell", command="cat log.txt")
    found = events(tmp_path, asked, result("Shell:0", text, "Command executed successfully."))
    assert [one[1] for one in results(found)] == ["ok"]
    assert not [one for one in found if isinstance(one, Message)]


def test_a_turn_that_no_message_ended_was_cut(tmp_path: Path) -> None:
    status = wire("StatusUpdate", message_id="m1")
    found = events(
        tmp_path,
        wire("TurnBegin", user_input="One."),
        *(wire("StepBegin", n=1), wire("ContentPart", type="text", text="Done."), status),
        wire("TurnEnd"),
        wire("TurnBegin", user_input="Two."),
        *(wire("StepBegin", n=1), wire("ContentPart", type="text", text="Do")),
        wire("TurnEnd"),
    )
    assert [one.kind for one in found if isinstance(one, Notice)] == ["ended", "cut"]


def test_a_turn_behind_a_command_of_the_client_is_a_humans(tmp_path: Path) -> None:
    """A compaction that failed ended no turn."""
    found = events(
        tmp_path,
        wire("TurnBegin", user_input="/compact"),
        wire("CompactionBegin"),
        wire("TurnBegin", user_input="Go on."),
    )
    assert [one.text for one in found if isinstance(one, Message)] == ["Go on."]


def test_a_path_is_no_command(tmp_path: Path) -> None:
    found = events(tmp_path, wire("TurnBegin", user_input="/etc/hosts is wrong"))
    assert [(one.text, one.via) for one in found if isinstance(one, Message)] == [
        ("/etc/hosts is wrong", "typed")
    ]


def test_a_subagents_file_by_itself_holds_a_brief_and_no_human(tmp_path: Path) -> None:
    (tmp_path / "meta.json").write_text('{"agent_id": "a1", "subagent_type": "coder"}')
    found = events(
        tmp_path, wire("TurnBegin", user_input="Look."), wire("TurnBegin", user_input="More.")
    )
    assert not [one for one in found if isinstance(one, Message)]
    assert [one.value for one in found if isinstance(one, Fact)] == ["Look."]
    assert "injected: later words to a subagent" in [
        one.reason for one in found if isinstance(one, Skipped)
    ]


def test_a_log_cut_to_its_status_is_still_no_others(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps(wire("StatusUpdate", context_usage=0.1)) + "\n")
    assert identify(Source(log)) == ["kimi-cli"]


def test_arguments_that_only_a_later_part_holds_are_proven_by_it(tmp_path: Path) -> None:
    bare = wire("ToolCall", id="Shell:0", function={"name": "Shell", "arguments": None})
    part = wire("ToolCallPart", arguments_part='{"command": "make"}')
    turn = [wire("TurnBegin", user_input="Build it."), wire("StepBegin", n=1), bare, part]
    [asked] = [one for one in events(tmp_path, *turn) if isinstance(one, ToolCall)]
    assert asked.input == {"command": "make"}
    assert run("auto", tmp_path / "wire.jsonl", "-o", tmp_path / "out", "-q").exit_code == 0
    checked = run("verify", tmp_path / "out", "--source", tmp_path / "wire.jsonl")
    assert checked.exit_code == 0
