"""Claude.ai's conversations: an answer of many blocks, pasted texts, lines without parents."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from forsy_retrace import Event, Message, Skipped, ToolCall, ToolResult, read
from forsy_retrace.registry import identify
from forsy_retrace.source import Source

AT = "2026-09-24T08:00:{:02d}Z"


def message(number: int, sender: str, *content: Any, **more: Any) -> dict[str, Any]:
    return {
        "uuid": f"m{number}",
        "sender": sender,
        "text": "",
        "content": list(content),
        "created_at": AT.format(number),
        **more,
    }


def conversation(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"uuid": "c1", "created_at": AT.format(0), "chat_messages": list(messages), **more}


def events(path: Path, *found: dict[str, Any]) -> list[Event]:
    log = path / "conversations.json"
    log.write_text(json.dumps(found))
    return list(read(log, "claude-ai"))


def use(tool: str, sent: Any, ident: str = "") -> dict[str, Any]:
    return {"type": "tool_use", "name": tool, "input": sent, **({"id": ident} if ident else {})}


def came(content: Any, ident: str = "", **more: Any) -> dict[str, Any]:
    named = {"tool_use_id": ident} if ident else {}
    return {"type": "tool_result", "content": content, **named, **more}


def printed(code: int, out: str, err: str = "") -> list[dict[str, str]]:
    told = json.dumps({"returncode": code, "stdout": out, "stderr": err})
    return [{"type": "text", "text": told}]


def test_an_export_is_read_from_its_zip_as_from_its_file(tmp_path: Path) -> None:
    said = conversation(message(1, "human", {"type": "text", "text": "Say tea."}))
    plain = events(tmp_path, said)
    packed = tmp_path / "data.zip"
    with zipfile.ZipFile(packed, "w") as file:
        file.write(tmp_path / "conversations.json", "conversations.json")
        file.writestr("users.json", "[]")
    assert identify(Source(packed)) == ["claude-ai"]
    told = [one for one in read(packed) if not isinstance(one, Skipped)]
    assert [type(one) for one in told] == [type(one) for one in plain]


@pytest.mark.parametrize(
    ("content", "flag", "outcome", "code", "output"),
    [
        (printed(0, "ok\n"), False, "ok", 0, "ok\n"),
        (printed(3, "", "no\n"), False, "failed", 3, "no\n"),
        (printed(1, "a\n", "b\n"), False, "failed", 1, "a\n\n\nb\n"),
        (printed(0, ""), False, "ok", 0, ""),
        ([{"type": "text", "text": "timed out"}], False, "unknown", None, "timed out"),
        ([{"type": "text", "text": "no sandbox"}], True, "failed", None, "no sandbox"),
    ],
)
def test_a_commands_end_is_in_its_text(
    content: Any, flag: bool, outcome: str, code: int | None, output: str, tmp_path: Path
) -> None:
    answer = message(2, "assistant", use("bash_tool", {"command": "make"}, "t"))
    answer["content"].append(came(content, "t", is_error=flag))
    found = events(tmp_path, conversation(message(1, "human"), answer))
    (result,) = (one for one in found if isinstance(one, ToolResult))
    assert (result.outcome, result.exit_code, result.output) == (outcome, code, output)


def test_what_comes_behind_results_is_another_answer_of_the_model(tmp_path: Path) -> None:
    blocks = [
        use("view", {"path": "/a"}, "1"),
        use("view", {"path": "/b"}, "2"),
        came("a", "1", is_error=False),
        came("b", "2", is_error=False),
        use("view", {"path": "/c"}, "3"),
    ]
    found = events(tmp_path, conversation(message(1, "human"), message(2, "assistant", *blocks)))
    calls = [one for one in found if isinstance(one, ToolCall)]
    assert [one.origin.message for one in calls] == ["m2", "m2", "m2#2"]


def test_a_result_without_a_name_is_that_of_the_only_call_that_waits(tmp_path: Path) -> None:
    blocks = [
        *(use("web_search", {"query": "tea"}), came("leaves", name="web_search")),
        *(use("web_search", {"query": "a"}), use("web_search", {"query": "b"})),
        *(came("of b", name="web_search"), came("of a", name="web_search")),
    ]
    found = events(tmp_path, conversation(message(1, "human"), message(2, "assistant", *blocks)))
    assert [one.output for one in found if isinstance(one, ToolResult)] == ["leaves"]
    assert sum(isinstance(one, Skipped) and "which call" in one.reason for one in found) == 2


def test_a_pasted_text_is_the_users_and_a_files_text_is_not(tmp_path: Path) -> None:
    files = [
        {"file_name": name, "extracted_content": f"text of {name}"}
        for name in ("paste.txt", "paste-2.txt", "notes.txt")
    ]
    said = message(1, "human", {"type": "text", "text": "Look."}, attachments=files)
    found = events(tmp_path, conversation(said))
    spoken = [one.text for one in found if isinstance(one, Message)]
    assert spoken == ["Look.", "text of paste.txt", "text of paste-2.txt"]


def test_an_export_that_names_no_parents_is_one_line(tmp_path: Path) -> None:
    said = [
        {"uuid": f"m{n}", "sender": who, "text": f"words {n}", "created_at": AT.format(9 - n)}
        for n, who in enumerate(("human", "assistant", "human", "assistant"))
    ]
    found = [one for one in events(tmp_path, conversation(*said)) if isinstance(one, Message)]
    assert [one.text for one in found] == ["words 0", "words 1", "words 2", "words 3"]
    assert {one.origin.branch for one in found} == {""}


def test_a_long_line_of_messages_takes_no_more_stack(tmp_path: Path) -> None:
    said = [
        message(
            1,
            "human" if n % 2 else "assistant",
            {"type": "text", "text": f"{n}"},
            uuid=f"m{n}",
            parent_message_uuid=f"m{n - 1}",
        )
        for n in range(5000)
    ]
    found = [one for one in events(tmp_path, conversation(*said)) if isinstance(one, Message)]
    assert [one.text for one in found] == [str(n) for n in range(5000)]
