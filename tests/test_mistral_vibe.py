"""Mistral Vibe's sessions: what tells them from others, and what the client itself says in them."""

import json
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from asked import run

from forsy_retrace import Event, Message, Skipped, ToolCall, ToolResult, read
from forsy_retrace.events import Delegation, Fact, Notice
from forsy_retrace.frames import shown_of
from forsy_retrace.registry import identify
from forsy_retrace.source import Source

FIXTURES = Path(__file__).parents[1] / "fixtures" / "mistral-vibe"
IDENT = "00000001-0000-4000-8000-000000000001"


def said(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "user", "content": text, "injected": False, "message_id": "m1", **more}


def called(tool: str, sent: Any, ident: str = "c1", **more: Any) -> dict[str, Any]:
    one = {"id": ident, "index": 0, "function": {"name": tool, "arguments": json.dumps(sent)}}
    asked = {"role": "assistant", "injected": False, "tool_calls": [one], "message_id": "m2"}
    return {**asked, **more}


def answered(text: str, ident: str = "c1", **more: Any) -> dict[str, Any]:
    return {"role": "tool", "content": text, "injected": False, "tool_call_id": ident, **more}


def events(path: Path, records: list[dict[str, Any]]) -> list[Event]:
    path.mkdir(parents=True, exist_ok=True)
    log = path / "messages.jsonl"
    log.write_text("".join(json.dumps(one) + "\n" for one in records))
    return list(read(log, "mistral-vibe"))


def result(path: Path, tool: str, text: str, **more: Any) -> ToolResult:
    told = events(path, [said("Go."), called(tool, {}), answered(text, **more)])
    return next(one for one in told if isinstance(one, ToolResult))


def test_messages_of_the_first_folders_have_no_flag(tmp_path: Path) -> None:
    """They could be anybody's; what lies beside them tells whose they are."""
    log = tmp_path / "messages.jsonl"
    log.write_text(json.dumps({"role": "user", "content": "Hi.", "message_id": IDENT}) + "\n")
    assert identify(Source(log)) == ["openai-chat"]
    shutil.copy(FIXTURES / "fix-and-check" / "meta.json", tmp_path)
    assert identify(Source(log)) == ["mistral-vibe"]


@pytest.mark.parametrize(
    ("tool", "text", "outcome", "code"),
    [
        ("bash", "stdout: \nstderr: \nreturncode: 0", "ok", 0),
        ("bash", "stdout: returncode: 3\nstderr: \nreturncode: 0", "ok", 0),
        (
            "bash",
            "<tool_error>bash failed: Command failed: 'exit 7 # Return code: 1'\n"
            "Return code: 7\nStdout: x</tool_error>",
            "failed",
            7,
        ),
        (
            "bash",
            "<tool_error>bash failed: Command timed out after 2s: 'x'</tool_error>",
            "timed_out",
            None,
        ),
        ("bash", "Command denied: 'rm' matches denylist pattern 'rm'.", "blocked", None),
        (
            "bash",
            "<tool_error>Tool 'bash' was denied by hook 'h': no</tool_error>",
            "blocked",
            None,
        ),
        ("nosuch", "<tool_error>nosuch: Unknown tool 'nosuch'</tool_error>", "blocked", None),
        ("bash", "<tool_error>bash: Invalid arguments: no command</tool_error>", "blocked", None),
        ("bash", "<tool_error>bash failed: x: Unknown tool 'y'</tool_error>", "failed", None),
        ("task", "<tool_error>task failed: Unknown agent: x</tool_error>", "blocked", None),
        ("task", "<tool_error>task failed: The model is away</tool_error>", "failed", None),
        ("bash", "The words of another client.", "unknown", None),
        ("edit", "I would rather not.", "unknown", None),
        ("task", "response: x\nturns_used: 1\ncompleted: False", "unknown", None),
        ("task", "response: completed: False\nturns_used: 1\ncompleted: True", "ok", None),
        ("exit_plan_mode", "switched: False\nmessage: Staying in plan mode.", "rejected", None),
        (
            "edit",
            "<user_cancellation>Tool execution interrupted - no response available"
            "</user_cancellation>",
            "interrupted",
            None,
        ),
    ],
)
def test_the_mark_and_the_words_in_it_tell_how_a_call_ended(
    tool: str, text: str, outcome: str, code: int | None, tmp_path: Path
) -> None:
    told = result(tmp_path, tool, text)
    assert (told.outcome, told.exit_code) == (outcome, code)


def test_a_command_that_runs_on_was_launched(tmp_path: Path) -> None:
    output = {"output": {"command": "serve", "status": "running", "exit_code": None}}
    assert result(tmp_path, "bash", "status: running", tool_result=output).outcome == "launched"


def test_what_the_client_says_behind_the_words_is_not_the_users(tmp_path: Path) -> None:
    warned = "Go on.\n\n<vibe_warning>You have used 50% of your context</vibe_warning>"
    told = [one for one in events(tmp_path, [said(warned)]) if isinstance(one, Message)]
    assert [one.text for one in told] == ["Go on."]


def test_a_session_that_begins_with_a_summary_was_compacted(tmp_path: Path) -> None:
    summary = said("## 1. User's Primary Goals and Intent\nA shop.")
    told = events(tmp_path, [summary, said("Go on.")])
    assert [one.kind for one in told if isinstance(one, Notice)] == ["compacted"]
    assert [one.text for one in told if isinstance(one, Message)] == ["Go on."]
    again = events(tmp_path / "later", [said("Go on."), summary])
    assert len([one for one in again if isinstance(one, Message)]) == 2


def test_words_on_a_plan_are_the_users(tmp_path: Path) -> None:
    text = "switched: False\nmessage: Staying in plan mode. User feedback: Shorter.\nMuch."
    told = events(tmp_path, [said("Plan."), called("exit_plan_mode", {}), answered(text)])
    last = told[-1]
    assert isinstance(last, Message)
    assert (last.text, last.via, last.answers) == ("Shorter.\nMuch.", "rejection", "c1")


def test_a_file_that_the_agent_reads_is_its_own_call(tmp_path: Path) -> None:
    sent = {"file_path": "/home/ana/shop/a.py"}
    own = events(tmp_path, [said("Read it."), called("read_file", sent, IDENT, content="")])
    named = events(tmp_path, [said("Read @a.py"), called("read_file", sent, IDENT, content="")])
    assert any(isinstance(one, ToolCall) for one in own)
    assert not any(isinstance(one, ToolCall) for one in named)


@pytest.mark.parametrize(
    ("output", "printed"),
    [
        ("stdout: \n1 passed\n\nstderr: \nreturncode: 0", "\n1 passed\n"),
        (
            "command: ls\nshell: \nexit_code: 0\nstdout: a\n\nstderr: no b\nreturncode: 0",
            "a\n\nno b",
        ),
        ("command: ls\nstdout: \nstderr: \nreturncode: 0", ""),
        (
            "<tool_error>bash failed: Command failed: 'x'\nReturn code: 1\n"
            "Stderr: E: no\n\nStdout: 1 failed</tool_error>",
            "E: no\n\n1 failed",
        ),
        ("<tool_error>bash failed: Command timed out after 1s</tool_error>", None),
        ("stdout: a", None),
    ],
)
def test_what_the_client_writes_around_an_output_is_none_of_it(
    output: str, printed: str | None
) -> None:
    assert shown_of(output) == (output if printed is None else printed)


@pytest.mark.slow
def test_very_many_subagents_that_the_client_names_take_linear_time(tmp_path: Path) -> None:
    names = [f"c{number}" for number in range(4000)]
    known = {"session_id": IDENT, "environment": {}, "stats": {}}
    children = [{"tool_call_id": name, "session_id": f"s-{name}"} for name in names]
    (tmp_path / "meta.json").write_text(json.dumps({**known, "child_sessions": children}))
    began = time.process_time()
    told = events(tmp_path, [said("Go."), *(called("task", {}, name) for name in names)])
    assert time.process_time() - began < 2
    assert sum(isinstance(one, ToolCall) for one in told) == 4000


def test_two_subagents_of_one_brief_are_told_of_no_call(tmp_path: Path) -> None:
    for name in ("explore_1", "explore_2"):
        events(tmp_path / "agents" / name, [said("Look around")])
    told = events(tmp_path, [said("Go."), called("task", {"task": "Look around"})])
    assert not any(isinstance(one, Delegation) for one in told)
    left = [one for one in told if isinstance(one, Skipped)]
    assert {one.reason for one in left} == {"a subagent that no call here started"}


def test_a_subagents_log_alone_has_a_brief_and_no_human(tmp_path: Path) -> None:
    told = events(tmp_path / "agents" / "explore_1", [said("Look around")])
    assert [one.name for one in told if isinstance(one, Fact)] == ["brief"]
    assert not any(isinstance(one, Message) for one in told)


def test_edits_on_one_line_are_no_whole_lines(tmp_path: Path) -> None:
    place = {"start_line": 1, "old_text": "a a", "new_text": "b a"}
    shown = {"file": "/x", "occurrences": [place, place]}
    held = {"output": {"file": "/x"}, "presentation": {"projectedOutput": shown}}
    assert result(tmp_path, "edit", "file: /x", tool_result=held).changes == ()


def test_a_store_takes_no_file_from_elsewhere(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "store", tmp_path / "one")
    manifest = next((tmp_path / "one").glob("generations/*/manifest.json"))
    told = json.loads(manifest.read_bytes())
    told["projection_state"]["chunks"] = ["../../../secret", "*", 3]
    told["recovery_journal_segment"]["path"] = "../two/journal/1.jsonl"
    manifest.write_text(json.dumps(told))
    found = list(read(tmp_path / "one" / "input.json", "mistral-vibe"))
    assert not any(isinstance(one, Message) for one in found)


def test_an_error_of_the_api_ends_a_store() -> None:
    told = list(read(FIXTURES / "store-error-of-the-api" / "input.json"))
    assert isinstance(told[-1], Notice)
    assert told[-1].kind == "model error"


def test_a_subagents_store_has_a_brief_and_no_human(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "store", tmp_path / "one")
    state = next((tmp_path / "one").glob("generations/*/projection-state.json"))
    told = json.loads(state.read_bytes())
    told["snapshot"]["session"]["rootSessionId"] = "another"
    state.write_text(json.dumps(told))
    found = list(read(tmp_path / "one" / "input.json", "mistral-vibe"))
    assert "brief" in [one.name for one in found if isinstance(one, Fact)]
    assert not [one for one in found if isinstance(one, Message) and one.role == "user"]


@pytest.mark.parametrize(
    ("state", "outcome"),
    [
        ({"status": "completed", "output": {"structured_content": {"id": "a"}}}, "launched"),
        ({"status": "failed", "error": {"code": "subagent_type_not_found"}}, "blocked"),
        ({"status": "failed", "error": {"code": "subagent_interrupted"}}, "failed"),
    ],
)
def test_a_subagent_that_was_started_has_not_yet_worked(
    state: dict[str, Any], outcome: str, tmp_path: Path
) -> None:
    shutil.copytree(FIXTURES / "store", tmp_path / "one")
    chunk = next((tmp_path / "one" / "chunks").iterdir())
    entries = json.loads(chunk.read_bytes())
    entry = next(one for one in entries if one["type"] == "effect")
    entry["detail"] |= {"toolName": "agents.spawn", "input": {"task": "Look", "agent": "explore"}}
    entry["state"] = state
    chunk.write_text(json.dumps(entries))
    found = list(read(tmp_path / "one" / "input.json", "mistral-vibe"))
    first = next(one for one in found if isinstance(one, ToolResult))
    assert first.outcome == outcome


def test_words_that_the_harness_took_back_are_not_told(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "store-killed", tmp_path / "one")
    journal = next((tmp_path / "one" / "journal").iterdir())
    entry = {
        **{"id": "a", "type": "message", "role": "assistant", "generationStatus": "in_progress"},
        "content": [{"type": "text", "text": "Half a"}],
    }
    steps = [{"op": "append_entry", "entry": entry}, {"op": "remove_entry", "id": "a"}]
    with journal.open("a") as log:
        log.write(json.dumps({"type": "projection_delta", "payload": {"delta": steps}}) + "\n")
    found = list(read(tmp_path / "one" / "input.json", "mistral-vibe"))
    assert "Half a" not in [one.text for one in found if isinstance(one, Message)]


def test_a_batch_takes_a_session_once(tmp_path: Path) -> None:
    for name in ("store", "a-subagent"):
        shutil.copytree(FIXTURES / name, tmp_path / "logs" / name)
        shutil.rmtree(tmp_path / "logs" / name / "trace")
        (tmp_path / "logs" / name / "events.jsonl").unlink()
    done = run("batch", tmp_path / "logs", "-o", tmp_path / "out")
    assert done.exit_code == 0
    assert "2 traces" in done.stderr + done.stdout
