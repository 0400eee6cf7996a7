"""Kimi Code's logs: who spoke, what was taken back, who started whom, and how a call ended."""

import json
from pathlib import Path
from typing import Any

import pytest

from forsy_retrace import (
    Delegation,
    Event,
    Fact,
    Message,
    Notice,
    SessionStart,
    ToolResult,
    read,
)
from forsy_retrace.registry import identify
from forsy_retrace.source import Source

USER = {"kind": "user"}
REJECTED = 'Tool "Bash" was not run because the user rejected the approval request.'
STATE = {
    "id": "session_1",
    "version": 2,
    "cwd": "/home/ana/shop",
    "agents": {"main": {"homedir": "/home/ana/x", "type": "main"}},
    "isCustomTitle": False,
}


def op(kind: str, at: int, **more: Any) -> dict[str, Any]:
    return {"type": kind, **more, "time": 1767261600000 + at}


def turn(at: int, text: str, **origin: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return op("turn.prompt", at, input=content, origin=origin or USER, turnId=at)


def loop(at: int, **event: Any) -> dict[str, Any]:
    return op("context.append_loop_event", at, event=event)


def call(at: int, ident: str, name: str, **args: Any) -> dict[str, Any]:
    return loop(at, type="tool.call", stepUuid="s", toolCallId=ident, name=name, args=args)


def result(at: int, ident: str, output: Any, **more: Any) -> dict[str, Any]:
    return loop(at, type="tool.result", toolCallId=ident, result={"output": output, **more})


def log(path: Path, *records: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def events(folder: Path, *records: dict[str, Any]) -> list[Event]:
    return list(read(log(folder / "wire.jsonl", *records)))


def said(found: list[Event]) -> list[tuple[str, str]]:
    return [(one.text, one.via) for one in found if isinstance(one, Message) and one.role == "user"]


@pytest.mark.parametrize(
    ("output", "failed", "outcome", "code"),
    [
        ("a\nCommand failed with exit code: 2.", True, "failed", 2),
        ("a\nCommand killed by timeout (5s)", True, "timed_out", None),
        ("a\nInterrupted by user", True, "interrupted", None),
        (REJECTED, True, "rejected", None),
        ("task_id: b1\npid: 4\nautomatic_notification: true", None, "launched", None),
        ("Command failed with exit code: 2.", None, "ok", None),
        ("a", "yes", "unknown", None),
    ],
)
def test_the_flag_and_the_clients_words_say_how_a_command_ended(
    output: str, failed: Any, outcome: str, code: int | None, tmp_path: Path
) -> None:
    more = {} if failed is None else {"isError": failed}
    found = events(tmp_path, call(1, "c", "Bash", command="x"), result(2, "c", output, **more))
    ended = [one for one in found if isinstance(one, ToolResult)]
    assert [(one.outcome, one.exit_code) for one in ended] == [(outcome, code)]


def test_who_put_a_turns_words_there_stands_beside_them(tmp_path: Path) -> None:
    found = events(
        tmp_path,
        turn(1, "Hello."),
        turn(2, "A task ended.", kind="task"),
        turn(3, "Now and then.", kind="cron_job"),
    )
    assert said(found) == [("Hello.", "typed")]
    assert [one.text for one in found if isinstance(one, Notice)] == [
        "notice: background task ended",
        "injected: cron_job",
    ]


def test_turns_that_are_taken_back_one_by_one_stand_on_branches(tmp_path: Path) -> None:
    undo = [op("context.undo", at, count=1) for at in (4, 5)]
    found = events(tmp_path, turn(1, "One."), turn(2, "Two."), *undo, turn(6, "Three."))
    words = [one for one in found if isinstance(one, Message)]
    assert [bool(one.origin.branch) for one in words] == [True, True, False]
    earlier = [one.value["message"] for one in found if isinstance(one, Fact)]
    assert earlier == [words[0].origin.message]


def test_a_turn_cancelled_by_no_user_is_only_cut(tmp_path: Path) -> None:
    ended = op("turn.ended", 3, turnId=1, reason="cancelled")
    cancel = op("turn.cancel", 2, turnId=1, reason="aborted")
    found = events(tmp_path, turn(1, "Go."), cancel, ended)
    assert [one.kind for one in found if isinstance(one, Notice)] == ["cut"]


def test_a_session_is_read_from_its_state(tmp_path: Path) -> None:
    """Its subagent's call has the id of one of the main agent's."""
    asked = call(2, "c", "Agent", prompt="Look.", subagent_type="explore")
    report = result(9, "c", "agent_id: agent-0\nactual_subagent_type: explore\n\n[summary]\nOk.")
    log(tmp_path / "agents" / "main" / "wire.jsonl", turn(1, "Go."), asked, report)
    brief = turn(3, "Look.", kind="system_trigger", name="subagent")
    inner = (call(4, "c", "Bash", command="ls"), result(5, "c", "a.py"))
    log(tmp_path / "agents" / "agent-0" / "wire.jsonl", brief, *inner)
    found = list(read(log(tmp_path / "state.json", STATE)))
    assert [one.id for one in found if isinstance(one, SessionStart)] == ["session_1"]
    assert said(found) == [("Go.", "typed")]
    assert [one.actor for one in found if isinstance(one, Delegation)] == ["subagent:explore_1"]
    ended = [(one.origin.actor, one.output) for one in found if isinstance(one, ToolResult)]
    assert ended == [("subagent:explore_1", "a.py"), ("agent", report["event"]["result"]["output"])]


def test_a_subagents_log_by_itself_holds_a_brief_and_no_human(tmp_path: Path) -> None:
    brief = turn(1, "Look.", kind="system_trigger", name="subagent")
    found = events(tmp_path, brief, turn(2, "More.", kind="system_trigger", name="subagent"))
    assert said(found) == []
    assert [one.value for one in found if isinstance(one, Fact)] == ["Look."]


@pytest.mark.parametrize("value", [STATE, op("usage.record", 1), turn(1, "Hello.")])
def test_each_file_of_a_session_is_known(value: dict[str, Any], tmp_path: Path) -> None:
    assert identify(Source(log(tmp_path / "log.jsonl", value))) == ["kimi-code"]
