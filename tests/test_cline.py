"""Cline's sessions: what no golden shows."""

import json
from pathlib import Path
from typing import Any

import pytest

from forsy_retrace import read
from forsy_retrace.events import Event, Message, Notice, ToolResult
from forsy_retrace.registry import identify
from forsy_retrace.source import Source

Json = dict[str, Any]
PERSON = "0a1b2c3d-0000-4000-8000-000000000001"
ABORTED = "Command failed: Command was aborted"


def events(path: Path, *messages: Json, meta: Json | None = None) -> list[Event]:
    """What comes of a session's messages, with what the client knows of it."""
    log = path / "s-1.messages.json"
    head = {"version": 1, "agent": "lead", "sessionId": "s-1", "origin": {"mode": "user"}}
    timed = [{"ts": 1772442000000 + at, **one} for at, one in enumerate(messages)]
    log.write_text(json.dumps({**head, "messages": timed}))
    if meta is not None:
        (path / "s-1.json").write_text(json.dumps({"session_id": "s-1", **meta}))
    assert identify(Source(log)) == ["cline"]
    return list(read(log))


def call(tool: str, sent: Any, content: Any, **more: Any) -> list[Json]:
    """A call of a tool, and what came back."""
    asked = {"type": "tool_use", "id": "c-1", "name": tool, "input": sent}
    came = {"type": "tool_result", "tool_use_id": "c-1", "content": content, **more}
    return [
        {"id": PERSON, "role": "user", "content": [{"type": "text", "text": "Go."}]},
        {"id": "msg_1", "role": "assistant", "content": [asked]},
        {"id": "msg_2", "role": "user", "content": [came]},
    ]


def result(path: Path, *messages: Json) -> ToolResult:
    (found,) = (one for one in events(path, *messages) if isinstance(one, ToolResult))
    return found


@pytest.mark.parametrize(
    ("content", "outcome", "code"),
    [
        ([{"query": "ls", "result": "a\n", "success": True}], "ok", None),
        ([{"result": "[Command exited with code 3]\nno", "success": False}], "failed", 3),
        ([{"result": "", "error": ABORTED, "success": False}], "interrupted", None),
        ([{"result": "a", "success": True}, {"result": "", "success": False}], "failed", None),
        (json.dumps({"query": "q", "result": "", "error": "no", "success": False}), "failed", None),
        ("plain words", "ok", None),
    ],
)
def test_a_call_ends_as_what_came_of_each_thing_says(
    content: Any, outcome: str, code: int | None, tmp_path: Path
) -> None:
    found = result(tmp_path, *call("run_commands", {"commands": ["make"]}, content))
    assert (found.outcome, found.exit_code) == (outcome, code)


@pytest.mark.parametrize(
    ("flag", "rule"),
    [(True, "success-flag"), (None, "no-error-flag"), ("true", "no-error-flag")],
)
def test_only_a_flag_that_is_set_tells_an_end(flag: Any, rule: str, tmp_path: Path) -> None:
    content = [{"query": "make", "result": "a", "success": flag}]
    assert result(tmp_path, *call("run_commands", {"commands": ["make"]}, content)).rule == rule


def test_an_error_flag_that_is_none_tells_nothing(tmp_path: Path) -> None:
    messages = call("run_commands", {"commands": ["make"]}, "a", is_error="perhaps")
    assert result(tmp_path, *messages).outcome == "unknown"


def test_a_call_that_the_user_turned_down_never_ran(tmp_path: Path) -> None:
    told = json.dumps({"error": "This tool call was rejected by the user and not executed."})
    found = result(tmp_path, *call("editor", {"path": "a"}, told, is_error=True))
    assert (found.outcome, found.rule) == ("rejected", "rejected-by-user")


@pytest.mark.parametrize(
    ("printed", "shown"),
    [(" 9 | a\n10 | b", ("a\nb", 9)), ("1 | a\n3 | c", None), ("1 | a\n[cut]", None)],
)
def test_a_file_is_shown_as_far_as_its_lines_follow_one_another(
    printed: str, shown: tuple[str, int] | None, tmp_path: Path
) -> None:
    sent = {"files": [{"path": "/home/dev/shop/a.py"}]}
    content = [{"query": "a.py", "result": printed, "success": True}]
    found = result(tmp_path, *call("read_files", sent, content))
    assert [(one.text, one.start) for one in found.changes] == ([shown] if shown else [])


@pytest.mark.parametrize("is_there", [True, False])
def test_an_answer_is_a_persons_where_somebody_was_there(is_there: bool, tmp_path: Path) -> None:
    asked = call("ask_question", {"question": "Which?", "options": ["EUR"]}, "EUR")
    found = events(tmp_path, *asked, meta={"interactive": is_there})
    said = [one.text for one in found if isinstance(one, Message) and one.via == "answer"]
    assert said == ["EUR"] * is_there


def test_what_the_client_says_in_the_users_place_is_nobodys(tmp_path: Path) -> None:
    texts = ('<user_input mode="act">Go.</user_input>', "A tool was used wrongly 3 times.")
    said = [{"role": "user", "content": [{"type": "text", "text": text}]} for text in texts]
    found = events(tmp_path, *said)
    assert [one.text for one in found if isinstance(one, Message)] == ["Go."]
    assert [one.kind for one in found if isinstance(one, Notice)] == ["ended"]
