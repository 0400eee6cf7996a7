"""OpenClaw's database: sessions that take turns, packed entries, rows that are no entries."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import zstandard

from forsy_retrace import Message, SessionStart, Skipped, read
from forsy_retrace.registry import identify
from forsy_retrace.source import Source

TABLE = """
CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB,
  PRIMARY KEY (session_id, seq));
"""


def entry(number: int, text: str) -> dict[str, Any]:
    return {
        "type": "message",
        "id": f"e{number}",
        "parentId": f"e{number - 1}" if number > 1 else None,
        "timestamp": f"2026-11-28T09:00:0{number}Z",
        "message": {"role": "user", "content": text},
    }


def header(name: str) -> dict[str, Any]:
    at = "2026-11-28T09:00:00Z"
    return {"type": "session", "version": 4, "id": name, "timestamp": at, "cwd": "/home/ana"}


def made(path: Path, rows: list[tuple[str, int, Any, bool]]) -> Path:
    with sqlite3.connect(path) as connection:
        connection.executescript(TABLE)
        for session, place, value, is_packed in rows:
            text = json.dumps(value)
            packed = zstandard.ZstdCompressor().compress(text.encode()) if is_packed else None
            row = (session, place, None if is_packed else text, packed)
            connection.execute("INSERT INTO transcript_events VALUES (?, ?, ?, ?)", row)
    connection.close()
    return path


def test_sessions_that_take_turns_are_told_one_by_one_in_their_order(tmp_path: Path) -> None:
    log = made(
        tmp_path / "openclaw-agent.sqlite",
        [
            ("a", 0, header("a"), False),
            ("b", 0, header("b"), True),
            ("a", 2, entry(2, "second"), False),
            ("b", 1, entry(1, "other"), False),
            ("a", 1, entry(1, "first"), True),
        ],
    )
    assert identify(Source(log)) == ["pi"]
    events = read(log)
    told = [
        one.id if isinstance(one, SessionStart) else one.text
        for one in events
        if isinstance(one, SessionStart | Message)
    ]
    assert told == ["a", "first", "second", "b", "other"]


def test_an_entry_that_cannot_be_unpacked_is_left_out_with_its_place(tmp_path: Path) -> None:
    log = made(tmp_path / "openclaw-agent.sqlite", [("a", 0, header("a"), False)])
    with sqlite3.connect(log) as connection:
        row = "INSERT INTO transcript_events VALUES ('a', 1, NULL, x'28b52ffd00')"
        connection.execute(row)
    connection.close()
    left = [one for one in read(log) if isinstance(one, Skipped)]
    assert [one.reason for one in left if one.origin.evidence.line == 3] == ["not an entry"]
