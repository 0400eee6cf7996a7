"""Cursor's editor database: what is in no golden."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from forsy_retrace import (
    Delegation,
    Event,
    Fact,
    Message,
    SessionStart,
    Skipped,
    ToolCall,
    ToolResult,
    convert,
    read,
)
from forsy_retrace.registry import identify
from forsy_retrace.source import Source

FIXTURES = Path(__file__).parents[1] / "fixtures" / "cursor-ide"
TABLES = ("ItemTable", "cursorDiskKV")
TABLE = "CREATE TABLE {} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
CHAT = "c-1"
Json = dict[str, Any]
WRONG: Sequence[Any] = (None, 7, -1.5, "x", "", [], {}, [None], {"a": 1}, True, "[]", "{}", 10**30)


def made(folder: Path, rows: Iterable[tuple[str, Any]]) -> Path:
    path = folder / "state.vscdb"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        for name in TABLES:
            connection.execute(TABLE.format(name))
        connection.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", rows)
    return path


def chat(names: Iterable[str], name: str = CHAT, **more: Any) -> tuple[str, str]:
    listed = [{"bubbleId": one} for one in names]
    value = {"composerId": name, "fullConversationHeadersOnly": listed, **more}
    return f"composerData:{name}", json.dumps(value)


def message(name: str, kind: int, text: str = "", within: str = CHAT, **more: Any) -> Any:
    value = {"_v": 3, "bubbleId": name, "type": kind, "text": text, **more}
    return f"bubbleId:{within}:{name}", json.dumps(value)


def called(name: str, tool: str, result: Any = None, **more: Any) -> Any:
    held = {"name": tool, "toolCallId": name, "status": "completed", "params": '{"a": 1}', **more}
    if result is not None:
        held["result"] = json.dumps(result)
    return message(name, 2, toolFormerData=held)


def events(folder: Path, *rows: Any) -> list[Event]:
    return list(read(made(folder, rows), "cursor-ide"))


def ended(folder: Path, tool: str, result: Any = None, **more: Any) -> ToolResult | None:
    found = events(
        folder, chat(["q", "t"]), message("q", 1, "Go."), called("t", tool, result, **more)
    )
    return next((one for one in found if isinstance(one, ToolResult)), None)


def said(found: Iterable[Event]) -> list[str]:
    return [one.text for one in found if isinstance(one, Message)]


SHELL = "run_terminal_command_v2"
ERROR = "modelVisibleErrorMessage"
DENIED: Json = {"userDecision": "rejected"}


def beside(status: str) -> Json:
    return {"additionalData": {"status": status}}


def error(text: str, status: str = "error") -> Json:
    return {"status": status, "error": {ERROR: text}}


@pytest.mark.parametrize(
    ("tool", "result", "more", "outcome", "code"),
    [
        (SHELL, {"output": "a", "exitCode": 3}, {}, "failed", 3),
        (SHELL, {"output": "a", "exitCode": 0, "exitCodeV2": 2}, {}, "failed", 2),
        (SHELL, {"output": "a"}, beside("success"), "ok", None),
        (SHELL, {"output": "a"}, beside("error"), "failed", None),
        (SHELL, {"output": "a", "exitCode": 0}, beside("running"), "unknown", None),
        (SHELL, {"output": "a"}, {}, "unknown", None),
        (SHELL, {"output": "a", "backgroundShellId": 4}, {}, "launched", None),
        (SHELL, {"rejected": True, "exitCode": 1, "output": "Rejected: "}, {}, "rejected", None),
        (
            SHELL,
            {"rejected": True, "output": "Rejected: not in sandbox policy"},
            {},
            "blocked",
            None,
        ),
        (SHELL, {"exitCode": 0}, DENIED, "ok", 0),
        (SHELL, None, {**DENIED, "status": "cancelled"}, "rejected", None),
        (SHELL, None, {"status": "cancelled"}, "unknown", None),
        (SHELL, None, error("Command execution timed out"), "timed_out", None),
        (SHELL, None, error("Permission denied: no"), "blocked", None),
        (SHELL, None, {"status": "error", "error": "git: command not found"}, "failed", None),
        ("read_file_v2", None, error("Permission denied: no"), "failed", None),
        ("read_file_v2", {"contents": "a"}, {}, "ok", None),
        ("search_replace", None, error("Edit rejected: no", "cancelled"), "rejected", None),
        ("edit_file_v2", {"afterContentId": "composer.content.1"}, DENIED, "unknown", None),
        ("edit_file", {"isApplied": True, "rejected": True}, {}, "unknown", None),
        ("edit_file", {"rejected": True}, {}, "rejected", None),
        ("edit_file", {"applyFailed": True}, {}, "failed", None),
        ("delete_file", {"fileNonExistent": True}, {}, "failed", None),
        ("ripgrep_raw_search", {"error": {"error": "bad pattern"}}, {}, "failed", None),
        ("create_plan", {"rejected": {}, "planUri": "a"}, {}, "rejected", None),
        ("ask_question", {"answers": []}, beside("cancelled"), "rejected", None),
        ("task_v2", {"agentId": "x", "isBackground": True}, {}, "launched", None),
        ("mcp-a-b", {"selectedTool": "b", "result": '{"isError": true}'}, {}, "failed", None),
    ],
)
def test_how_a_call_ended_is_what_its_message_says(
    tool: str, result: Any, more: Json, outcome: str, code: int | None, tmp_path: Path
) -> None:
    found = ended(tmp_path, tool, result, **more)
    assert found is not None
    assert (found.outcome, found.exit_code) == (outcome, code)
    assert found.outcome == "ok" or not found.changes


@pytest.mark.parametrize("status", ["loading", "running", "", None])
def test_a_call_that_goes_on_has_no_end(status: str | None, tmp_path: Path) -> None:
    assert ended(tmp_path, SHELL, {"output": "so far"}, status=status) is None


def test_only_the_list_of_a_conversation_orders_its_messages(tmp_path: Path) -> None:
    late, early = "2026-03-02T11:00:00Z", "2026-03-02T10:00:00Z"
    found = events(
        tmp_path,
        message("b", 2, "Second.", createdAt=early),
        message("dead", 2, "Never."),
        message("a", 1, "First.", createdAt=late),
        chat(["a", "b", "a"]),
    )
    assert said(found) == ["First.", "Second."]
    why = [one.reason for one in found if isinstance(one, Skipped)]
    assert "a message that no conversation lists" in why


@pytest.mark.parametrize(
    ("written", "at"),
    [
        (1772445600000, "2026-03-02T10:00:00Z"),
        ("2026-03-02T10:00:00.5Z", "2026-03-02T10:00:00.500Z"),
        ("2026-03-02T10:00:00", None),
        (4745281.3, None),
        (0, None),
        (True, None),
        ("yesterday", None),
    ],
)
def test_a_time_counts_from_no_start_of_the_client(
    written: Any, at: str | None, tmp_path: Path
) -> None:
    found = events(tmp_path, chat(["a"]), message("a", 1, "Go.", createdAt=written))
    assert [one.origin.at for one in found if isinstance(one, Message)] == [at]


def test_times_that_were_set_at_once_are_left_out(tmp_path: Path) -> None:
    at = "2026-03-02T10:00:00.123Z"
    turns = [(name, index % 2 + 1) for index, name in enumerate("abcd")]
    rows = [message(name, kind, f"{name}.", createdAt=at) for name, kind in turns]
    found = events(tmp_path, chat("abcd"), *rows)
    assert said(found) == ["a.", "b.", "c.", "d."]
    assert {one.origin.at for one in found if isinstance(one, Message)} == {None}
    (start,) = (one for one in found if isinstance(one, SessionStart))
    assert any("set at once" in limit for limit in start.limits)
    two = events(tmp_path, chat("ab"), *rows[:2])
    assert {one.origin.at for one in two if isinstance(one, Message)} == {at}


def test_a_value_says_the_same_as_text_and_as_a_blob(tmp_path: Path) -> None:
    rows = [chat(["a", "b"]), message("a", 1, "Größe?"), message("b", 2, "Ja.")]
    blobs = [(key, value.encode()) for key, value in rows]
    other = tmp_path / "blobs"
    other.mkdir()
    assert events(tmp_path, *rows) == events(other, *blobs)


def test_subagents_that_name_each_other_are_told_once(tmp_path: Path) -> None:
    def info(parent: str) -> Json:
        return {"subagentInfo": {"parentComposerId": parent}}

    found = events(
        tmp_path,
        *(chat(["a"], "one", **info("two")), message("a", 1, "One.", "one")),
        *(chat(["b"], "two", **info("one")), message("b", 2, "Two.", "two")),
        *(chat(["c"], "own", **info("own")), message("c", 1, "Own.", "own")),
    )
    assert sorted(said(found)) == ["One.", "Own.", "Two."]
    assert [one.id for one in found if isinstance(one, SessionStart)] == ["own", "one"]


def test_a_subagent_without_times_stands_behind_the_call_that_sent_it(tmp_path: Path) -> None:
    found = events(
        tmp_path,
        chat(["q", "t", "end"]),
        message("q", 1, "Go."),
        called("t", "task_v2", {"agentId": "kid"}),
        message("end", 2, "All done."),
        chat(["k", "l"], "kid"),
        message("k", 1, "Look.", "kid"),
        message("l", 2, "Looked.", "kid"),
    )
    told = [
        type(one).__name__
        for one in found
        if isinstance(one, Message | ToolCall | ToolResult | Delegation)
    ]
    assert told == ["Message", "ToolCall", "Delegation", "Message", "ToolResult", "Message"]
    assert [one.value for one in found if isinstance(one, Fact) and one.name == "brief"] == [
        "Look."
    ]


def test_subagents_within_one_another_are_told_however_deep(tmp_path: Path) -> None:
    rows: list[Any] = []
    for number in range(300):
        info = {"subagentInfo": {"parentComposerId": str(number - 1)}} if number else {}
        name = str(number)
        rows += [chat(["a"], name, **info), message("a", 2, f"From {name}.", name)]
    found = events(tmp_path, *rows)
    assert said(found) == [f"From {number}." for number in range(300)]
    assert sum(isinstance(one, SessionStart) for one in found) > 1


def test_ids_that_a_provider_uses_again_name_calls_of_their_own(tmp_path: Path) -> None:
    held = {"name": SHELL, "toolCallId": "call_0", "status": "completed"}
    calls = [
        message(name, 2, toolFormerData={**held, "params": json.dumps({"command": name})})
        for name in ("a", "b")
    ]
    found = events(tmp_path, chat(["a", "b", "c"]), *calls, (calls[0][0][:-1] + "c", calls[0][1]))
    assert [one.call for one in found if isinstance(one, ToolCall)] == ["call_0", "call_0#2"]
    assert "repeated call" in [one.reason for one in found if isinstance(one, Skipped)]


def test_no_login_and_no_key_of_the_client_reaches_a_trace(tmp_path: Path) -> None:
    secrets = ("invented-access", "invented-refresh", "aW52ZW50ZWQta2V5", "dev@example.com")
    log = FIXTURES / "agent-of-2026" / "input.vscdb"
    held = log.read_bytes()
    assert all(secret.encode() in held for secret in secrets)
    assert list(convert(log, "cursor-ide", tmp_path / "out"))
    for path in (tmp_path / "out").rglob("*"):
        if path.is_file():
            assert not [one for one in secrets if one.encode() in path.read_bytes()], path.name


def test_a_field_of_another_type_loses_no_message(tmp_path: Path) -> None:
    tool = {
        "name": "edit_file_v2",
        "toolCallId": "t",
        "status": "completed",
        "params": {
            "relativeWorkspacePath": "a.py",
            "todos": "[]",
            "questions": [{"options": [{}]}],
        },
        "result": {"beforeContentId": "a", "answers": [{}], "diff": {"chunks": [{}]}},
        "error": {ERROR: "no"},
        "additionalData": {"status": "success"},
    }
    whole = {"type": 2, "bubbleId": "b", "text": "t", "richText": "{}", "thinking": {"text": "t"}}
    whole |= {"toolFormerData": tool, "images": [{}], "errorDetails": {"message": "m"}}
    bad = [{**whole, key: value} for key in whole for value in WRONG]
    bad += [{**whole, "toolFormerData": {**tool, key: value}} for key in tool for value in WRONG]
    bad += [{**one, "type": 1, "text": None} for one in bad]
    rows = [(f"bubbleId:{CHAT}:{index}", json.dumps(one)) for index, one in enumerate(bad)]
    path = made(tmp_path, [chat(map(str, range(len(bad)))), *rows])
    told = {one.origin.evidence.record for one in read(path, "cursor-ide")}
    assert told == {one.here.record for one in Source(path, path.name).records()}


def test_another_editors_settings_are_not_claimed(tmp_path: Path) -> None:
    path = tmp_path / "state.vscdb"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(TABLE.format("ItemTable"))
        connection.execute("INSERT INTO ItemTable VALUES ('workbench.colorTheme', 'Dark')")
    assert identify(Source(path)) == []
    assert identify(Source(FIXTURES / "subagents" / "input.vscdb")) == ["cursor-ide"]
