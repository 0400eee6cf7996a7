"""Gemini CLI's logs: what versions write in words of their own, and what no fixture shows."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from forsy_retrace import (
    Event,
    Fact,
    Message,
    Notice,
    Skipped,
    Thinking,
    ToolCall,
    ToolResult,
    read,
)
from forsy_retrace.frames import shown_of

FIXTURES = Path(__file__).parents[1] / "fixtures" / "gemini-cli"
HEAD = {
    "sessionId": "0b5e1c1e-0000-4000-8000-000000000001",
    "projectHash": "5f",
    "startTime": "2026-03-02T09:00:00.000Z",
    "lastUpdated": "2026-03-02T09:00:00.000Z",
    "kind": "main",
}
OLD = (
    "Command: make\nDirectory: (root)\nOutput: done\nError: (none)\nExit Code: {}\nSignal: {}\n"
    "Background PIDs: (none)\nProcess Group PGID: 41"
)
NEW = "<untrusted_context>\nOutput: done{}\nProcess Group PGID: 41\n</untrusted_context>"


def message(name: str, kind: str, content: Any, **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "timestamp": "2026-03-02T09:00:01.000Z",
        "type": kind,
        "content": content,
    } | more


def call(name: str, response: Any, status: str = "success", **more: Any) -> dict[str, Any]:
    result = [{"functionResponse": {"id": "c1", "name": name, "response": response}}]
    return {
        **{"id": "c1", "name": name, "args": {"command": "make"}, "result": result},
        **{"status": status, "timestamp": "2026-03-02T09:00:02.000Z", **more},
    }


def events(path: Path, records: Sequence[Any]) -> list[Event]:
    log = path / "session-2026-03-02T09-00-0b5e1c1e.jsonl"
    log.write_text("".join(json.dumps(one) + "\n" for one in (HEAD, *records)))
    return list(read(log))


def result(path: Path, told: dict[str, Any]) -> ToolResult:
    found = events(path, [message("m1", "gemini", "", toolCalls=[told])])
    return next(one for one in found if isinstance(one, ToolResult))


@pytest.mark.parametrize(
    ("output", "outcome", "code"),
    [
        (OLD.format("0", "(none)"), "ok", 0),
        (OLD.format("2", "(none)"), "failed", 2),
        (OLD.format("(none)", "9"), "failed", None),
        (OLD.format("(none)", "(none)"), "unknown", None),
        (NEW.format(""), "ok", None),
        (NEW.format("\nExit Code: 3"), "failed", 3),
        (NEW.format(" said `exit code 7`\nExit Code: 3"), "failed", 3),
        (NEW.format("\nSignal: 15"), "failed", None),
        ("The build went well.", "unknown", None),
        ("Command moved to background (PID: 41). Output hidden.", "launched", None),
        ("Command was cancelled by user before it could complete.", "interrupted", None),
        (
            "Command was automatically cancelled because it exceeded the timeout of 5.0 minutes.",
            "timed_out",
            None,
        ),
    ],
)
def test_the_end_of_a_command_is_told_below_its_output(
    output: str, outcome: str, code: int | None, tmp_path: Path
) -> None:
    found = result(tmp_path, call("run_shell_command", {"output": output}))
    assert (found.outcome, found.exit_code) == (outcome, code)


def test_an_error_under_a_status_of_success_is_a_failure(tmp_path: Path) -> None:
    found = result(tmp_path, call("get_rows", {"error": "no such table"}))
    assert (found.outcome, found.output) == ("failed", "no such table")


def test_a_call_that_was_running_has_no_result(tmp_path: Path) -> None:
    told = call("run_shell_command", {}, "executing") | {"result": None}
    found = events(tmp_path, [message("m1", "gemini", "", toolCalls=[told])])
    assert any(isinstance(one, ToolCall) for one in found)
    assert not any(isinstance(one, ToolResult) for one in found)


def test_calls_recorded_at_other_times_were_not_sent_together(tmp_path: Path) -> None:
    first = call("read_file", {"output": "1"}, id="c1")
    second = call("read_file", {"output": "2"}, id="c2", timestamp="2026-03-02T09:00:02.001Z")
    third = call("read_file", {"output": "3"}, id="c3", timestamp="2026-03-02T09:00:04.000Z")
    found = events(tmp_path, [message("m1", "gemini", "", toolCalls=[first, second, third])])
    calls = [one for one in found if isinstance(one, ToolCall | ToolResult)]
    assert [one.call for one in calls] == ["c1", "c2", "c1", "c2", "c3", "c3"]
    assert [one.origin.message for one in calls] == ["m1"] * 4 + ["m1+1"] * 2


def test_what_only_the_context_has_is_told(tmp_path: Path) -> None:
    """Some sessions have messages nowhere but in what is set before the model."""
    said = [message("u1", "user", [{"text": "Hello"}]), message("g1", "gemini", [{"text": "Hi"}])]
    again = [*said, message("u2", "user", [{"text": "Bye"}])]
    found = events(tmp_path, [{"$set": {"messages": said}}, {"$set": {"messages": again}}])
    assert [one.text for one in found if isinstance(one, Message)] == ["Hello", "Hi", "Bye"]


def test_words_said_twice_are_two_messages(tmp_path: Path) -> None:
    said = [message("u1", "user", "Go on"), message("u2", "user", "Go on")]
    found = events(tmp_path, [*said, {"$set": {"messages": said}}])
    assert [one.text for one in found if isinstance(one, Message)] == ["Go on", "Go on"]


def test_a_conversation_told_anew_hides_nothing_that_is_said_later(tmp_path: Path) -> None:
    def turn(number: int) -> list[Any]:
        words = message(f"g{number}", "gemini", [{"text": "Yes"}])
        return [message(f"u{number}", "user", [{"text": "Go on"}]), words]

    first, anew, later = turn(1), turn(2), turn(3)
    given = [{"$set": {"messages": listed}} for listed in (anew, [*anew, *later])]
    found = events(tmp_path, [*first, *anew, given[0], *later, given[1]])
    told = [one for one in found if isinstance(one, Message)]
    assert [one.origin.message for one in told] == ["u1", "g1", "u3", "g3"]


def test_a_way_back_to_what_is_not_here_leaves_nothing_behind(tmp_path: Path) -> None:
    found = events(tmp_path, [message("u1", "user", "Hello"), {"$rewindTo": "lost"}])
    assert all(not one.origin.branch for one in found)
    assert found[-1] == Skipped(found[-1].origin, "a way back to a message that is not here")


def test_files_that_the_words_name_are_none_of_them(tmp_path: Path) -> None:
    """Until 2026 they stand in one text with the words."""
    files = "\n--- Content from referenced files ---\nContent from @a.py:\nx = 1\n"
    found = events(tmp_path, [message("u1", "user", f"See @a.py{files}")])
    said = next(one for one in found if isinstance(one, Message))
    assert (said.text, said.within) == ("See @a.py", True)
    assert any(isinstance(one, Fact) and one.name == "brought" for one in found)


def test_a_thought_that_grew_is_one_and_another_harness_is_named(tmp_path: Path) -> None:
    grown = ["", "**Look", "**Look**", "I look", "I look around."]
    thoughts = [
        {"subject": "Look" if n > 2 else "", "description": text} for n, text in enumerate(grown)
    ]
    found = events(tmp_path, [message("b1", "bob-shell", "Fine.", thoughts=thoughts)])
    assert [one.text for one in found if isinstance(one, Thinking)] == ["Look", "I look around."]
    assert [one.value for one in found if isinstance(one, Fact)] == ["Bob Shell"]


def test_an_interruption_that_hits_nothing_stands_alone(tmp_path: Path) -> None:
    shown = message("i1", "info", "Request cancelled.")
    found = events(tmp_path, [message("u1", "user", "Hello"), shown])
    assert isinstance(found[-1], Notice)
    assert found[-1].kind == "interrupted"


def test_a_subagents_file_alone_is_a_session_without_a_user(tmp_path: Path) -> None:
    file = next((FIXTURES / "subagents").glob("*-*/*.jsonl"))
    found = list(read(Path(shutil.copy(file, tmp_path / "alone.jsonl"))))
    assert any(isinstance(one, Fact) and one.name == "brief" for one in found)
    assert not any(isinstance(one, Message) and one.role == "user" for one in found)
    assert {one.origin.actor for one in found if isinstance(one, ToolCall)} == {"agent"}


@pytest.mark.parametrize(
    ("output", "printed"),
    [
        (OLD.format("0", "(none)"), "done"),
        (NEW.format("\nSignal: 15\nBackground PIDs: 4, 5"), "done"),
        ("Output: (empty)\nProcess Group PGID: 41", ""),
        ("<untrusted_context>\n3 euros\n</untrusted_context>", "3 euros"),
        ("Output: of a program", "Output: of a program"),
    ],
)
def test_what_a_command_printed_is_told_from_what_stands_around_it(
    output: str, printed: str
) -> None:
    assert shown_of(output) == printed
