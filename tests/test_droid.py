"""Droid's logs: what the client puts into the user's place, how calls end, what lies beside."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from forsy_retrace import Event, Fact, Message, Notice, Skipped, ToolCall, ToolResult, read
from forsy_retrace.events import Delegation, Hunk
from forsy_retrace.frames import shown_of
from forsy_retrace.registry import identify
from forsy_retrace.source import Source

FIXTURES = Path(__file__).parents[1] / "fixtures" / "droid"
FAILED = "Error: Command failed (exit code: 3)\n\n[Process exited with code 3]"
START = {"type": "session_start", "id": "s1", "title": "Look", "owner": "ana", "version": 2}


def said(number: int, role: str, *blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "type": "message",
        "id": f"m{number}",
        "timestamp": f"2026-05-04T10:00:{number:02}.000Z",
        "message": {"role": role, "content": list(blocks), **more},
    }


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def events(folder: Path, *records: dict[str, Any]) -> list[Event]:
    log = folder / "s1.jsonl"
    log.write_text("".join(json.dumps(one) + "\n" for one in (START, *records)))
    return list(read(log))


def result(folder: Path, tool: str, output: str, **more: Any) -> ToolResult:
    call = {"type": "tool_use", "id": "c1", "name": tool, "input": {"file_path": "a.py"}}
    back = {"type": "tool_result", "tool_use_id": "c1", "content": output, **more}
    found = events(folder, said(1, "assistant", call), said(2, "user", back))
    return next(one for one in found if isinstance(one, ToolResult))


@pytest.mark.parametrize(
    ("tool", "output", "is_error", "outcome", "code"),
    [
        ("Execute", "on\n\n\n[Process exited with code 0]", False, "ok", 0),
        ("Execute", FAILED, True, "failed", 3),
        ("Execute", "Command timed out after 1 seconds.", False, "timed_out", None),
        ("Execute", "Background process started (PID: 7)\n", False, "launched", None),
        ("Execute", "Tool execution cancelled by user", True, "rejected", None),
        ("Execute", "Error: Tool execution cancelled by user", True, "interrupted", None),
        ("Read", "工具执行已被用户取消", True, "rejected", None),
        ("Execute", "Error: Exec ended early: MCP tool x requires more.", True, "blocked", None),
        ("Execute", "Error: Exec 提前结束: 权限不足无法继续。", True, "blocked", None),
        ("Read", "Tool execution cancelled by user", False, "ok", None),
        ("Read", "said [Process exited with code 3]", False, "ok", None),
        ("Edit", '{"success":true,"file_path":"a.py"}', None, "ok", None),
        ("Read", "anything", None, "unknown", None),
        ("ToolSearch", "Error: Not found: X. Check the names.", True, "failed", None),
        ("X", "Error: Not found: X. Check the names.", True, "blocked", None),
    ],
)
def test_a_call_ends_as_the_client_says(
    tool: str, output: str, is_error: bool | None, outcome: str, code: int | None, tmp_path: Path
) -> None:
    flag = {} if is_error is None else {"is_error": is_error}
    told = result(tmp_path, tool, output, **flag)
    assert (told.outcome, told.exit_code) == (outcome, code)


@pytest.mark.parametrize(
    ("output", "printed"),
    [
        ("one\n\n\n[Process exited with code 0]", "one\n"),
        ("Command completed successfully\n\n[Process exited with code 0]", ""),
        ("Error: Command failed (exit code: 1)\n\n[Process exited with code 1]", ""),
        ("Error: Command failed (exit code: 2)\nno\n\n\n[Process exited with code 2]", "no\n"),
        ("it says [Process exited with code 2] here", "it says [Process exited with code 2] here"),
    ],
)
def test_what_the_client_writes_around_an_output_is_none_of_it(output: str, printed: str) -> None:
    assert shown_of(output).rstrip("\n") == printed.rstrip("\n")


def test_a_difference_falls_into_the_pieces_that_its_lines_number(tmp_path: Path) -> None:
    rows = [
        {"type": "removed", "content": "a", "lineNumber": {"old": 1}},
        {"type": "added", "content": "b", "lineNumber": {"new": 1}},
        {"type": "unchanged", "content": "c", "lineNumber": {"old": 2, "new": 2}},
        {"type": "unchanged", "content": "k", "lineNumber": {"old": 9, "new": 9}},
        {"type": "added", "content": "l", "lineNumber": {"new": 10}},
    ]
    output = json.dumps({"success": True, "file_path": "a.py", "diffLines": rows})
    (change,) = result(tmp_path, "Edit", output, is_error=False).changes
    assert change.hunks == (Hunk(1, 1, ("-a", "+b", " c")), Hunk(9, 9, (" k", "+l")))


def test_what_only_one_side_sees_is_no_humans(tmp_path: Path) -> None:
    found = events(
        tmp_path,
        said(1, "user", text("Look at all there is."), visibility="llm_only"),
        {**said(2, "user", text("Look again.")), "visibility": "llm_only"},
        said(3, "user", text("A new version is there."), visibility="user_only"),
        said(4, "user", text("<system-reminder>Be brief.</system-reminder>"), text("Hello")),
    )
    assert [one.text for one in found if isinstance(one, Message)] == ["Hello"]


@pytest.mark.parametrize(
    ("shown", "reason", "kind"),
    [
        ("BYOK Error: 429 rate limit exceeded", None, "limit"),
        ("BYOK Error: 400 bad", None, "model error"),
        ("The service is busy.", "model_provider_unavailable", "model error"),
        ("The service is busy.", "completed", None),
    ],
)
def test_what_the_client_shows_is_an_error_where_it_says_so(
    shown: str, reason: str | None, kind: str | None, tmp_path: Path
) -> None:
    records = [said(1, "user", text("Hi")), said(2, "user", text(shown), visibility="user_only")]
    if reason:
        records.append({"type": "agent_turn_outcome", "turnId": "m1", "reason": reason})
    found = events(tmp_path, *records)
    assert [one.kind for one in found if isinstance(one, Notice)] == ([kind] if kind else [])


def test_an_interruption_is_told_once(tmp_path: Path) -> None:
    found = events(
        tmp_path,
        said(1, "user", text("Hi")),
        said(2, "user", text("Request interrupted by user"), visibility="llm_only"),
        said(3, "user", text("⎿ Interrupted"), visibility="user_only"),
        said(4, "user", text("Request cancelled by user"), visibility="both"),
    )
    assert [one.kind for one in found if isinstance(one, Notice)] == ["interrupted"]


def test_a_subagents_log_stands_where_it_worked_and_alone_has_a_brief(tmp_path: Path) -> None:
    case = FIXTURES / "subagent"
    found = list(read(case / "input.jsonl"))
    (sent,) = [one for one in found if isinstance(one, Delegation)]
    assert any(one.origin.actor == sent.actor for one in found if isinstance(one, ToolResult))
    shutil.copy(case / "input.jsonl", tmp_path / "input.jsonl")
    alone = list(read(tmp_path / "input.jsonl"))
    assert not any(isinstance(one, Delegation) for one in alone)
    aside = list(read(FIXTURES / "subagent-alone" / "input.jsonl"))
    assert [one.name for one in aside if isinstance(one, Fact)].count("brief") == 1
    assert not any(isinstance(one, Message) and one.role == "user" for one in aside)


def test_the_call_that_came_first_started_a_subagent_that_another_resumes(tmp_path: Path) -> None:
    records: list[dict[str, Any]] = []
    for number in (1, 2):
        sent = {"subagent_type": "worker"}
        call = {"type": "tool_use", "id": f"c{number}", "name": "Task", "input": sent}
        back = {"type": "tool_result", "tool_use_id": f"c{number}", "content": "session_id: s2\nok"}
        records += [said(2 * number, "assistant", call), said(2 * number + 1, "user", back)]
    (tmp_path / "s2.jsonl").write_text(json.dumps({**START, "id": "s2"}) + "\n")
    found = events(tmp_path, *records)
    assert [one.call for one in found if isinstance(one, Delegation)] == ["c1"]


@pytest.mark.parametrize(
    ("more", "is_human"),
    [
        ({}, True),
        ({"decompSessionType": "orchestrator"}, True),
        ({"decompSessionType": "worker"}, False),
        ({"callingSessionId": "s0"}, False),
    ],
)
def test_who_speaks_in_the_users_place_is_told_by_the_start(
    more: dict[str, str], is_human: bool, tmp_path: Path
) -> None:
    log = tmp_path / "s1.jsonl"
    records = ({**START, **more}, said(1, "user", text("Look around.")))
    log.write_text("".join(json.dumps(one) + "\n" for one in records))
    assert any(isinstance(one, Message) for one in read(log)) is is_human


def test_sessions_that_name_each_other_end(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "c1", "name": "Task", "input": {"subagent_type": "worker"}}
    for name, other in (("s1", "s2"), ("s2", "s1")):
        back = {"type": "tool_result", "tool_use_id": "c1", "content": f"session_id: {other}\nok"}
        records = [{**START, "id": name}, said(1, "assistant", call), said(2, "user", back)]
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in records))
    found = list(read(tmp_path / "s1.jsonl"))
    assert len([one for one in found if isinstance(one, Delegation)]) <= 2


@pytest.mark.parametrize(("more", "model"), [({"modelId": "first"}, "first"), ({}, "last")])
def test_the_settings_name_the_model_only_where_no_message_does(
    more: dict[str, str], model: str, tmp_path: Path
) -> None:
    state = {"model": "last", "tokenUsage": {"inputTokens": 3}}
    (tmp_path / "s1.settings.json").write_text(json.dumps(state))
    facts = events(tmp_path, said(1, "assistant", text("Hi"), **more))
    told = {one.name: one.value for one in facts if isinstance(one, Fact)}
    assert (told["model"], told["usage"]) == (model, {"input_tokens": 3})


def test_a_start_without_an_owner_is_another_programs(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"type":"session_start","id":"s1","model":"m","cwd":"/home/ana"}\n')
    assert "droid" not in identify(Source(path))


def test_no_record_is_lost_where_a_message_is_none(tmp_path: Path) -> None:
    found = events(tmp_path, {"type": "message", "id": "m1", "message": 7}, {"type": "new"})
    assert len([one for one in found if isinstance(one, Skipped)]) == 2


def test_a_call_without_arguments_names_what_the_log_has(tmp_path: Path) -> None:
    found = events(tmp_path, said(1, "assistant", {"type": "tool_use", "id": "c1", "name": "LS"}))
    (call,) = (one for one in found if isinstance(one, ToolCall))
    assert call.origin.evidence.pointer == "/message/content/0"
