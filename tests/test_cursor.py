"""Cursor's transcripts and what its command line prints: moments in words, pieces, arguments."""

import json
from pathlib import Path
from typing import Any

import pytest

from forsy_retrace import Event, Message, Skipped, Thinking, ToolCall, ToolResult, read
from forsy_retrace.registry import identify
from forsy_retrace.source import Source

FIXTURES = Path(__file__).parents[1] / "fixtures"


def events(path: Path, adapter: str, *records: dict[str, Any]) -> list[Event]:
    log = path / "log.jsonl"
    log.write_text("".join(json.dumps(one) + "\n" for one in records))
    assert identify(Source(log)) == [adapter]
    return list(read(log, adapter))


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "message": {"content": [{"type": "text", "text": text}]}}


@pytest.mark.parametrize(
    ("stamp", "at"),
    [
        ("Friday, May 8, 2026, 6:05 AM (UTC+5:30)", "2026-05-08T00:35:00Z"),
        ("Thursday, Aug 6, 2026, 1:48 PM (UTC-5)", "2026-08-06T18:48:00Z"),
        ("Friday, Sep 25, 2026, 11:59 PM (UTC-3:30)", "2026-09-26T03:29:00Z"),
        ("Monday, December 1, 2025, 12:00 AM (UTC)", "2025-12-01T00:00:00Z"),
        ("Friday, May 8, 2026, 6:05 AM", None),
        ("Friday, Feb 30, 2026, 6:05 AM (UTC+2)", None),
        ("yesterday", None),
    ],
)
def test_a_moment_in_words_is_one_where_its_zone_is_named(
    stamp: str, at: str | None, tmp_path: Path
) -> None:
    said = user(f"<timestamp>{stamp}</timestamp>\n<user_query>\nGo.\n</user_query>")
    (one,) = (one for one in events(tmp_path, "cursor", said) if isinstance(one, Message))
    assert (one.text, one.origin.at) == ("Go.", at)


def test_what_the_client_asks_for_itself_is_nobodys_word(tmp_path: Path) -> None:
    asked = user("<user_query>Briefly inform the user about the task result.</user_query>")
    said = user("<user_query>\nBriefly, why?\n</user_query>")
    found = events(tmp_path, "cursor", asked, said)
    assert [one.text for one in found if isinstance(one, Message)] == ["Briefly, why?"]


def test_a_long_argument_of_a_page_may_hold_lines_like_arguments(tmp_path: Path) -> None:
    log = tmp_path / "page.txt"
    log.write_text((FIXTURES / "cursor" / "page-of-text" / "input.txt").read_text())
    shell, write, edit = (
        one.meant.input
        for one in read(log, "cursor")
        if isinstance(one, ToolCall) and one.meant and one.tool in ("Shell", "Write", "StrReplace")
    )
    assert shell["command"].endswith("\n  description: this line is the file's\nEOF")
    assert shell["description"] == "Write how to start"
    assert "  path: not an argument\n- npm start" in write["content"]
    assert (edit["old_string"], edit["new_string"]) == ("return sum;\n}", "return sum * 1.2;\n}")


def said(text: str, **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": [{"type": "text", "text": text}]}
    return {"type": "assistant", "message": message, "session_id": "s", **more}


INIT = {"type": "system", "subtype": "init", "apiKeySource": "login", "session_id": "s"}


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ([said("Two"), said("Three")], ["Two", "Three"]),
        ([said("Tw", timestamp_ms=1), said("o", timestamp_ms=2), said("Two")], ["Two"]),
        (
            [
                *(said("Tw", timestamp_ms=1), said("o", timestamp_ms=2)),
                *(said("Two", timestamp_ms=3, model_call_id="m"), said("Two")),
            ],
            ["Two"],
        ),
        ([said("Tw", timestamp_ms=1), said("o", timestamp_ms=2)], ["Two"]),
        ([said("Two", timestamp_ms=1), {"type": "result", "result": "Two"}], ["Two"]),
        ([{"type": "result", "result": "Only here"}], ["Only here"]),
    ],
)
def test_words_in_pieces_are_told_once(
    told: list[dict[str, Any]], words: list[str], tmp_path: Path
) -> None:
    found = events(tmp_path, "cursor-cli", INIT, *told)
    assert [one.text for one in found if isinstance(one, Message)] == words


def test_a_thought_in_pieces_is_one_thought(tmp_path: Path) -> None:
    pieces = [
        {"type": "thinking", "subtype": "delta", "text": one} for one in ("It", " rounds", ".")
    ]
    found = events(tmp_path, "cursor-cli", INIT, *pieces, said("Done."))
    (thought,) = (one for one in found if isinstance(one, Thinking))
    assert (thought.text, len(thought.origin.pieces)) == ("It rounds.", 3)
    assert sum(isinstance(one, Skipped) for one in found) == 3  # two pieces, the head of the run


def done(key: str, result: Any, **args: Any) -> dict[str, Any]:
    call = {key: {"args": args, "result": result}}
    return {"type": "tool_call", "subtype": "completed", "call_id": "c", "tool_call": call}


@pytest.mark.parametrize(
    ("result", "outcome", "code"),
    [
        ({"success": {"exitCode": 0, "stdout": "a", "stderr": ""}}, "ok", 0),
        ({"failure": {"exitCode": 2, "stdout": "", "stderr": "no"}}, "failed", 2),
        ({"failure": {"stdout": "", "stderr": "no"}}, "failed", None),
        ({"success": {"isBackground": True, "pid": 7}}, "launched", None),
        ({"rejected": {"reason": "User rejected the command"}}, "rejected", None),
        ({"rejected": {"reason": "needs approval, which is unavailable"}}, "blocked", None),
        ({"error": {"error": "No shell found"}}, "failed", None),
        ({"timeout": {"timeoutMs": 30000}}, "timed_out", None),
        ({"matches": 3}, "unknown", None),
        (None, "unknown", None),
    ],
)
def test_a_calls_end_is_told_by_its_key(
    result: Any, outcome: str, code: int | None, tmp_path: Path
) -> None:
    found = events(tmp_path, "cursor-cli", INIT, done("shellToolCall", result, command="ls"))
    assert [type(one) for one in found if isinstance(one, (ToolCall, ToolResult))] == [
        ToolCall,
        ToolResult,
    ]
    (ended,) = (one for one in found if isinstance(one, ToolResult))
    assert (ended.outcome, ended.exit_code) == (outcome, code)
