"""Tasks of Cline and Roo Code: which file is the log, and what a request tells of a call."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from asked import run

from forsy_retrace import Message, ToolResult, read

FIXTURES = Path(__file__).parents[1] / "fixtures" / "roo-code"


@pytest.mark.parametrize(
    ("said", "outcome", "code"),
    [
        ("Command failed with exit code 2.\nOutput:\nno rule", "failed", 2),
        ("Command executed successfully (exit code 0).", "ok", 0),
        ("Command executed.", "unknown", None),
        ("The user denied this operation.", "rejected", None),
        ("Command is still running in the user's terminal.", "launched", None),
    ],
)
def test_a_request_tells_how_the_call_before_it_ended(
    said: str, outcome: str, code: int | None, tmp_path: Path
) -> None:
    request = json.dumps({"request": f"[execute_command for 'make'] Result:\n{said}"})
    items: list[Any] = [
        {"ts": 1751360400000, "type": "say", "say": "task", "text": "Build it."},
        {"ts": 1751360401000, "type": "ask", "ask": "command", "text": "make"},
        {"ts": 1751360402000, "type": "say", "say": "api_req_started", "text": request},
    ]
    log = tmp_path / "ui_messages.json"
    log.write_text(json.dumps(items))
    [result] = [one for one in read(log, "roo-code") if isinstance(one, ToolResult)]
    assert (result.outcome, result.exit_code) == (outcome, code)


def test_of_a_tasks_folder_the_clients_file_is_the_log(tmp_path: Path) -> None:
    task = tmp_path / "tasks" / "1751360400000"
    task.mkdir(parents=True)
    shutil.copy(FIXTURES / "denied" / "input.json", task / "ui_messages.json")
    for name in ("api_conversation_history.json", "task_metadata.json"):
        shutil.copy(FIXTURES / "denied" / name, task)
    assert run("auto", task, "-o", tmp_path / "out", "-q").exit_code == 0
    [manifest] = (tmp_path / "out").rglob("manifest.json")
    sources = json.loads(manifest.read_bytes())["sources"]
    assert [one["name"] for one in sources] == [
        "ui_messages.json",
        "api_conversation_history.json",
        "task_metadata.json",
    ]


@pytest.mark.parametrize(
    ("told", "via"),
    [
        (None, "typed"),  # the client's own file says alike of both
        ("The user denied this operation and provided", "rejection"),
        ("The user approved this operation and provided", "typed"),
    ],
)
def test_words_reject_a_call_where_the_model_was_told_so(
    told: str | None, via: str, tmp_path: Path
) -> None:
    items: list[Any] = [
        {"ts": 1751360400000, "type": "say", "say": "task", "text": "Build it."},
        {"ts": 1751360401000, "type": "ask", "ask": "command", "text": "make"},
        {"ts": 1751360402000, "type": "say", "say": "user_feedback", "text": "No"},
    ]
    log = tmp_path / "ui_messages.json"
    log.write_text(json.dumps(items))
    if told:
        other = "The user approved this operation: <feedback>\nNo hurry.\n</feedback>"
        texts = (other, f"{told} the following context:\n<feedback>\nNo\n</feedback>")
        content = [{"type": "text", "text": text} for text in texts]
        history = tmp_path / "api_conversation_history.json"
        history.write_text(json.dumps([{"role": "user", "content": content}]))
    messages = [one for one in read(log, "roo-code") if isinstance(one, Message)]
    assert [one.via for one in messages] == ["typed", via]
