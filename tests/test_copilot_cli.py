"""GitHub Copilot CLI's logs: what no golden shows."""

import json
from pathlib import Path
from typing import Any

import pytest

from forsy_retrace import read
from forsy_retrace.events import Event, Fact, Skipped, ToolResult
from forsy_retrace.registry import identify
from forsy_retrace.source import Source

Json = dict[str, Any]
START: Json = {
    "type": "session.start",
    "data": {"sessionId": "s-1", "version": 1, "producer": "copilot-agent"},
}


def call(tool: str, sent: Any, **came: Any) -> list[Json]:
    """A call of a tool, and what came back."""
    asked = {"toolCallId": "c-1", "name": tool, "arguments": sent}
    return [
        {"type": "assistant.message", "data": {"messageId": "m-1", "toolRequests": [asked]}},
        {"type": "tool.execution_complete", "data": {"toolCallId": "c-1", **came}},
    ]


def events(path: Path, *records: Json) -> list[Event]:
    """What comes of records in an envelope."""
    log = path / "events.jsonl"
    lines = (
        {**one, "id": f"e-{at}", "parentId": None, "timestamp": f"2026-03-02T09:00:{at:02d}.000Z"}
        for at, one in enumerate(records)
    )
    log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert identify(Source(log)) == ["copilot-cli"]
    return list(read(log))


def result(path: Path, *records: Json) -> ToolResult:
    (found,) = (one for one in events(path, START, *records) if isinstance(one, ToolResult))
    return found


@pytest.mark.parametrize(
    ("printed", "outcome", "code"),
    [
        ("no\n<exited with exit code 2>", "failed", 2),
        ("<shellId: 4 completed with exit code 0>", "ok", 0),
        (
            "<exited with exit code 1>\n\n"
            'Tool "bash" succeeded. Additional guidance from postToolUse hooks:\n'
            "Never print <exited with exit code 0>",
            "failed",
            1,
        ),
        ("the line <exited with exit code 3> of a page", "unknown", None),
        ("<command started in background with shellId: w>", "launched", None),
        ("<command with shellId: 3 is still running after 30 seconds.>", "launched", None),
        ("<exited with error: spawn ENOENT>", "failed", None),
        ("no word of its end", "unknown", None),
    ],
)
def test_a_shell_ends_as_its_last_line_says(
    printed: str, outcome: str, code: int | None, tmp_path: Path
) -> None:
    came = call("bash", {"command": "make"}, success=True, result={"content": printed})
    found = result(tmp_path, *came)
    assert (found.outcome, found.exit_code) == (outcome, code)


def test_another_tool_may_print_such_a_line(tmp_path: Path) -> None:
    came = {"success": True, "result": {"content": "<exited with exit code 2>"}}
    found = result(tmp_path, *call("view", {"path": "/home/dev/shop/log.txt"}, **came))
    assert (found.outcome, found.exit_code) == ("ok", None)


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        ({"message": "The user rejected this tool call.", "code": "rejected"}, "rejected"),
        (
            {"message": "The user rejected this tool call. User feedback: no", "code": "denied"},
            "rejected",
        ),
        ({"message": "Permission denied by rules", "code": "denied"}, "blocked"),
        ({"message": "No match found", "code": "failure"}, "failed"),
        ({"message": "too slow", "code": "timeout"}, "timed_out"),
        ({"message": "no code"}, "failed"),
    ],
)
def test_an_error_says_whether_a_call_ran(error: Json, outcome: str, tmp_path: Path) -> None:
    found = result(tmp_path, *call("edit", {"path": "a.py"}, success=False, error=error))
    assert (found.outcome, found.output) == (outcome, error["message"])


def diff(path: str, at: str, *lines: str) -> str:
    old, new = f"a{path}", f"b{path}"
    head = f"\ndiff --git {old} {new}\nindex 0000000..0000000 100644\n--- {old}\n+++ {new}\n"
    return head + "\n".join([at, *lines, ""])


@pytest.mark.parametrize(
    ("lines", "kept"),
    [
        ((" def a():", "-    1", "+    2", " "), (" def a():", "-    1", "+    2")),
        (("-old", "+new", "+"), ("-old", "+new")),
        ((" ", "-old", " tail"), (" ", "-old", " tail")),
    ],
)
def test_what_stands_behind_the_last_line_end_is_no_line(
    lines: tuple[str, ...], kept: tuple[str, ...], tmp_path: Path
) -> None:
    told = {"content": "updated", "detailedContent": diff("/srv/a.py", "@@ -4,9 +4,9 @@", *lines)}
    found = result(tmp_path, *call("edit", {"path": "/srv/a.py"}, success=True, result=told))
    (change,) = found.changes
    assert (change.path, change.kind) == ("/srv/a.py", "modified")
    assert [(one.new_start, one.lines) for one in change.hunks] == [(4, kept)]


def test_a_patch_on_windows_names_its_drive(tmp_path: Path) -> None:
    told = {"detailedContent": diff("/C:\\shop\\a.py", "@@ -1,1 +1,1 @@", "-old", "+new")}
    found = result(tmp_path, *call("apply_patch", "…", success=True, result=told))
    assert [one.path for one in found.changes] == ["C:\\shop\\a.py"]


def shutdown(count: int) -> Json:
    used = {"inputTokens": count, "outputTokens": 1}
    return {"type": "session.shutdown", "data": {"modelMetrics": {"m": {"usage": used}}}}


RESUME: Json = {"type": "session.resume", "data": {"eventCount": 3}}
RECORD: Json = {"type": "session.usage_record", "data": {"usage": {"inputTokens": 7}}}
SPOKEN: Json = {"type": "assistant.message", "data": {"content": "Hi.", "outputTokens": 3}}
SILENT: Json = {"type": "assistant.message", "data": {"content": "Hi."}}


@pytest.mark.parametrize(
    ("records", "told"),
    [
        ((SPOKEN, shutdown(5)), [{"input_tokens": 5, "output_tokens": 1}]),
        ((SPOKEN, RECORD, shutdown(5)), [{"input_tokens": 7}]),
        ((SPOKEN, shutdown(5), RESUME, SPOKEN, shutdown(9)), [{"output_tokens": 3}] * 2),
        ((SPOKEN, shutdown(5), RESUME, SILENT, RECORD, shutdown(9)), []),
    ],
)
def test_tokens_are_told_once_or_not_at_all(
    records: tuple[Json, ...], told: list[Json], tmp_path: Path
) -> None:
    found = events(tmp_path, START, *records)
    usage = [one.value for one in found if isinstance(one, Fact) and one.name == "usage"]
    assert usage == told


def test_a_kind_that_is_not_known_is_named(tmp_path: Path) -> None:
    kinds = ("session.brand_new", "weather.changed", "session.mode_changed")
    found = events(tmp_path, START, *({"type": kind, "data": {}} for kind in kinds))
    reasons = [one.reason for one in found if isinstance(one, Skipped)]
    assert reasons == [*(f"unknown record type: {kind}" for kind in kinds[:2]), "change of mode"]


@pytest.mark.parametrize(
    "record",
    [
        {"type": "user.message", "data": {"content": "Hi."}},
        {"type": "session.start", "data": {"user": "u-1"}, "timestamp": "2026-03-02T09:00:00Z"},
        {"type": "user.message", "data": "Hi.", "id": "1", "parentId": None, "timestamp": "now"},
        {"event": "session.start", "sessionId": "s-1"},
    ],
)
def test_events_of_another_program_are_left_alone(record: Json, tmp_path: Path) -> None:
    log = tmp_path / "events.jsonl"
    log.write_text(json.dumps(record) + "\n")
    assert "copilot-cli" not in identify(Source(log))
