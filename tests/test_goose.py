"""Goose's database: the same as its exports, with the subagents, whoever sent them."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from asked import run

from forsy_retrace import read
from forsy_retrace.events import Delegation, Message, SessionStart, Skipped, ToolCall, ToolResult
from forsy_retrace.registry import load
from forsy_retrace.source import Source

FIXTURES = Path(__file__).parents[1] / "fixtures" / "goose"
EXPORTS = [
    path
    for path in sorted(FIXTURES.glob("*/input.json"))
    if "conversation" in json.loads(path.read_bytes())
]
TABLES = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, session_type TEXT, working_dir TEXT,
  accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER, model_config_json TEXT,
  recipe_json TEXT, goose_mode TEXT, parent_session_id TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT,
  role TEXT, content_json TEXT, created_timestamp INTEGER, metadata_json TEXT);
"""
TOLD = ("actor", "action", "tool", "input", "output", "success", "caused_by", "started_at")


def database(path: Path, *exports: dict[str, Any]) -> Path:
    """A database as Goose keeps it of what it exports."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(TABLES)
        for one in exports:
            head = [one.get(key) for key in ("id", "name", "session_type", "working_dir")]
            connection.execute(
                "INSERT INTO sessions (id, name, session_type, working_dir) VALUES (?,?,?,?)", head
            )
            for said in one["conversation"]:
                row = (said.get("id"), one["id"], said["role"], json.dumps(said["content"]))
                more = (said["created"], json.dumps(said.get("metadata")))
                connection.execute(
                    "INSERT INTO messages (message_id, session_id, role, content_json,"
                    " created_timestamp, metadata_json) VALUES (?,?,?,?,?,?)",
                    (*row, *more),
                )
        connection.commit()
    return path


def trace_of(path: Path, out: Path) -> Any:
    assert run("auto", path, "-o", out, "-q").exit_code == 0
    assert run("verify", out, "--source", path).exit_code == 0
    return json.loads((out / "trace.json").read_bytes())


def said(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "created": 1772528000, "content": list(parts)}


def asked(call: str, tool: str = "delegate") -> dict[str, Any]:
    value = {"name": tool, "arguments": {"instructions": "Look."}}
    request = {"type": "toolRequest", "id": call}
    return said("assistant", {**request, "toolCall": {"status": "success", "value": value}})


def came(call: str, child: str = "") -> dict[str, Any]:
    value: dict[str, Any] = {"content": [{"type": "text", "text": "Done."}], "isError": False}
    if child:
        value["_meta"] = {"subagent_session_id": child}
    answer = {"type": "toolResponse", "id": call}
    return said("user", {**answer, "toolResult": {"status": "success", "value": value}})


def session(name: str, kind: str, *conversation: dict[str, Any]) -> dict[str, Any]:
    words = said("user", {"type": "text", "text": f"Hello {name}"})
    told = [words, *conversation]
    return {"id": name, "session_type": kind, "working_dir": "/home/ana", "conversation": told}


@pytest.mark.parametrize("path", EXPORTS, ids=lambda path: path.parent.name)
def test_an_export_and_its_database_give_the_same_steps(path: Path, tmp_path: Path) -> None:
    kept = database(tmp_path / "sessions.db", json.loads(path.read_bytes()))
    exported, stored = trace_of(path, tmp_path / "one"), trace_of(kept, tmp_path / "two")
    assert exported["trace_id"] == stored["trace_id"]
    assert [[one[key] for key in TOLD] for one in exported["steps"]] == [
        [one[key] for key in TOLD] for one in stored["steps"]
    ]


def test_a_result_that_was_written_before_its_call_stands_behind_it(tmp_path: Path) -> None:
    told = session("s", "user", came("c"), asked("c", "tree"))
    events = list(read(database(tmp_path / "sessions.db", told), "goose"))
    kinds = [type(one) for one in events if isinstance(one, (ToolCall, ToolResult))]
    assert kinds == [ToolCall, ToolResult]


def test_a_subagent_that_no_call_sent_is_told_with_the_session_that_names_it(
    tmp_path: Path,
) -> None:
    child = session("b", "sub_agent", said("assistant", {"type": "text", "text": "Seen."}))
    kept = database(tmp_path / "sessions.db", session("a", "user", came("lost", "b")), child)
    events = list(read(kept, "goose"))
    assert [one.id for one in events if isinstance(one, SessionStart)] == ["a"]
    assert not [one for one in events if isinstance(one, Delegation)]
    words = [one for one in events if isinstance(one, Message) and one.role == "agent"]
    assert [one.origin.actor for one in words] == ["subagent:agent_1"]


def test_subagents_that_send_each_other_are_told_once(tmp_path: Path) -> None:
    one = session("a", "sub_agent", asked("c"), came("c", "b"))
    other = session("b", "sub_agent", asked("d"), came("d", "a"))
    events = list(read(database(tmp_path / "sessions.db", one, other), "goose"))
    assert len([event for event in events if isinstance(event, SessionStart)]) == 1
    assert len([event for event in events if isinstance(event, ToolCall)]) == 2


def test_a_long_chain_of_subagents_is_told_whole(tmp_path: Path) -> None:
    kinds = ["user", *["sub_agent"] * 300]
    chain = [
        session(f"s{at}", kind, asked(f"c{at}"), came(f"c{at}", f"s{at + 1}"))
        for at, kind in enumerate(kinds)
    ]
    events = list(read(database(tmp_path / "sessions.db", *chain), "goose"))
    assert len([event for event in events if isinstance(event, ToolCall)]) == len(chain)
    assert len([event for event in events if isinstance(event, SessionStart)]) == 1


def test_messages_of_a_session_that_is_gone_are_told(tmp_path: Path) -> None:
    kept = database(tmp_path / "sessions.db", session("s", "user"))
    with closing(sqlite3.connect(kept)) as connection:
        connection.execute("DELETE FROM sessions")
        connection.commit()
    assert trace_of(kept, tmp_path / "out")["task"] == "Hello s"


def test_text_alone_is_no_session_of_goose(tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps(said("user", {"type": "text", "text": "Hello"})) + "\n")
    assert not load("goose").sniff(Source(path))


def test_what_a_call_was_given_when_it_was_stopped_is_no_failure(tmp_path: Path) -> None:
    events = list(read(FIXTURES / "older-lines" / "input.jsonl", "goose"))
    outcomes = [one.outcome for one in events if isinstance(one, ToolResult)]
    assert outcomes == ["ok", "unknown", "ok", "ok", "failed", "interrupted", "failed"]
    assert not [one for one in events if isinstance(one, Skipped) and "unknown" in one.reason]
