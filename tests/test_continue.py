"""Continue's sessions: how the state of a call tells its end."""

import json
from pathlib import Path
from typing import Any

import pytest
from asked import run

from forsy_retrace import Message, ToolCall, ToolResult, read


def session(path: Path, *items: Any) -> Path:
    value = {"sessionId": "s", "title": "t", "workspaceDirectory": "/home/ana/shop"}
    path.write_text(json.dumps({**value, "history": list(items)}))
    return path


def item(tool: str, status: str, output: str | None, name: str = "c1") -> dict[str, Any]:
    sent = {"name": tool, "arguments": json.dumps({"command": "make"})}
    state: dict[str, Any] = {"toolCallId": name, "toolCall": {"function": sent}, "status": status}
    if output is not None:
        state["output"] = [{"content": output}]
    return {"message": {"role": "assistant", "content": ""}, "toolCallStates": [state]}


@pytest.mark.parametrize(
    ("tool", "status", "output", "outcome", "code"),
    [
        ("Bash", "done", "built", "unknown", None),
        ("Bash", "errored", "Error executing tool Bash: Error (exit code 2): no rule", "failed", 2),
        ("Bash", "errored", "Command timed out", "failed", None),
        ("Bash", "canceled", "Permission denied by user", "rejected", None),
        ("Bash", "canceled", "Command blocked by security policy", "blocked", None),
        ("Edit", "canceled", None, "interrupted", None),
        ("Edit", "done", "Successfully edited a.py", "ok", None),
    ],
)
def test_a_state_tells_how_a_call_ended(
    tool: str, status: str, output: str | None, outcome: str, code: int | None, tmp_path: Path
) -> None:
    log = session(tmp_path / "s.json", item(tool, status, output))
    [result] = [one for one in read(log, "continue") if isinstance(one, ToolResult)]
    assert (result.outcome, result.exit_code) == (outcome, code)


@pytest.mark.parametrize("status", ["calling", "generated", "generating"])
def test_a_call_that_had_not_ended_has_no_result(status: str, tmp_path: Path) -> None:
    log = session(tmp_path / "s.json", item("Bash", status, None))
    events = list(read(log, "continue"))
    assert [one for one in events if isinstance(one, ToolCall)]
    assert not [one for one in events if isinstance(one, ToolResult)]


def test_a_line_of_the_users_is_no_call_of_the_agents(tmp_path: Path) -> None:
    name = "shell-1795888123505-16kk2t"
    log = session(tmp_path / "s.json", item("Bash", "done", "built", name))
    events = list(read(log, "continue"))
    assert [one.text for one in events if isinstance(one, Message)] == ["!make"]
    assert not [one for one in events if isinstance(one, ToolCall)]


def test_words_in_several_parts_hold_against_the_log(tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "Make it."}, {"type": "text", "text": "Then stop."}]
    log = session(tmp_path / "s.json", {"message": {"role": "user", "content": parts}})
    assert run("continue", log, "-o", tmp_path / "out", "-q").exit_code == 0
    assert run("verify", tmp_path / "out", "--source", log).exit_code == 0
    assert "Make it.\\nThen stop." in (tmp_path / "out" / "trace.json").read_text()


def test_a_picture_alone_is_named(tmp_path: Path) -> None:
    picture = {"type": "imageUrl", "imageUrl": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    log = session(tmp_path / "s.json", {"message": {"role": "user", "content": [picture]}})
    assert run("continue", log, "-o", tmp_path / "out", "-q").exit_code == 0
    step = json.loads((tmp_path / "out" / "trace.json").read_bytes())["steps"][0]
    assert step["input"] == "[image: image/png 8 B]"
