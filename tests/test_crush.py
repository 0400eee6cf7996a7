"""Crush's databases: writes that stand beside them, seconds or milliseconds, results of old."""

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from forsy_retrace import Delegation, Event, Message, ToolCall, ToolResult, read
from forsy_retrace.frames import shown_of
from forsy_retrace.registry import identify
from forsy_retrace.source import Source

FIXTURES = Path(__file__).parents[1] / "fixtures" / "crush"
TABLES = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, parent_session_id TEXT, title TEXT, created_at INTEGER);
CREATE TABLE messages (
  id TEXT PRIMARY KEY, session_id TEXT, role TEXT, parts TEXT, created_at INTEGER
);
"""
BEGAN = 1793000000


def part(kind: str, **data: Any) -> dict[str, Any]:
    return {"type": kind, "data": data}


def made(path: Path, messages: list[tuple[str, list[dict[str, Any]]]], unit: int = 1) -> Path:
    """A database with one session."""
    with sqlite3.connect(path) as connection:
        connection.executescript(TABLES)
        row = ("s1", None, "Shop", BEGAN * unit)
        connection.execute("INSERT INTO sessions VALUES (?, ?, ?, ?)", row)
        for at, (role, parts) in enumerate(messages):
            told = (f"m{9 - at}", "s1", role, json.dumps(parts), BEGAN * unit)
            connection.execute("INSERT INTO messages VALUES (?, ?, ?, ?, ?)", told)
    connection.close()
    return path


CALL = part("tool_call", id="c1", name="ls", input="{}", finished=True)
RESULT = part("tool_result", tool_call_id="c1", name="ls", content="price.py", is_error=False)
WORDS = part("text", text="What is here?")


def told(path: Path) -> list[Event]:
    return [one for one in read(path) if isinstance(one, Message | ToolCall | ToolResult)]


@pytest.mark.parametrize("unit", [1, 1000])
def test_times_count_by_their_size_and_equals_stand_as_written(unit: int, tmp_path: Path) -> None:
    log = made(
        tmp_path / "crush.db", [("user", [WORDS]), ("assistant", [CALL]), ("tool", [RESULT])], unit
    )
    events = told(log)
    assert [type(one) for one in events] == [Message, ToolCall, ToolResult]
    assert {one.origin.at for one in events} == {"2026-10-26T07:33:20Z"}


def test_a_result_in_the_message_of_its_call_is_its_result(tmp_path: Path) -> None:
    log = made(tmp_path / "crush.db", [("user", [WORDS]), ("assistant", [CALL, RESULT])])
    assert [one.call for one in read(log) if isinstance(one, ToolResult)] == ["c1"]


def test_a_database_whose_rows_all_stand_in_the_log_beside_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "crush.db"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.executescript(TABLES)
        connection.execute("INSERT INTO sessions VALUES ('s1', NULL, 'Shop', 1793000000)")
        row = json.dumps([WORDS])
        connection.execute("INSERT INTO messages VALUES ('m1', 's1', 'user', ?, 1793000000)", [row])
        connection.commit()
        copied = tmp_path / "copied"
        copied.mkdir()
        for one in tmp_path.glob("crush.db*"):
            shutil.copy(one, copied)
    connection.close()
    assert (copied / "crush.db").stat().st_size <= 4096
    assert identify(Source(copied / "crush.db")) == ["crush"]
    assert [one.text for one in told(copied / "crush.db") if isinstance(one, Message)] == [
        "What is here?"
    ]


def test_each_subagent_has_the_name_that_its_call_is_told_with() -> None:
    events = list(read(FIXTURES / "subagent-and-summary" / "input.db"))
    sent = {one.call: one.actor for one in events if isinstance(one, Delegation)}
    assert sent == {"c1": "subagent:agent_1", "c2": "subagent:agentic_fetch_2"}
    assert set(sent.values()) == {
        one.origin.actor for one in events if one.origin.actor.startswith("subagent:")
    }


@pytest.mark.parametrize(
    ("output", "printed"),
    [
        ("price.py\nExit code 3\n\n<cwd>/shop</cwd>", "price.py"),
        ("price.py\n\n<cwd>/shop</cwd>", "price.py"),
        ("Exit code 3\n\n<cwd>/shop</cwd>", ""),
        ("<cwd>/shop</cwd>", "<cwd>/shop</cwd>"),
    ],
)
def test_what_crush_writes_behind_an_output_is_none_of_it(output: str, printed: str) -> None:
    assert shown_of(output) == printed
