"""OpenCode's database: the same as an export, with the subagents, and nothing of its accounts."""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from asked import refused, run

from forsy_retrace import read
from forsy_retrace.events import Attachment, Fact, Message, SessionStart, Skipped, ToolCall
from forsy_retrace.registry import load
from forsy_retrace.source import Source

FIXTURES = Path(__file__).parents[1] / "fixtures" / "opencode"
DATABASE = FIXTURES / "database" / "input.db"
EXPORTS = sorted(FIXTURES.glob("*/input.json"))
TABLES = """
CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text, title text,
  version text, revert text, time_created integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, time_created integer,
  data text);
"""


def rows_of(export: dict[str, Any]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """The rows that OpenCode keeps of what it exports."""
    info = export["info"]
    head = [info.get(key) for key in ("id", "parentID", "directory", "title", "version")]
    revert = json.dumps(info["revert"]) if "revert" in info else None
    yield "session", (*head, revert, info["time"]["created"])
    for said in export["messages"]:
        data = {key: one for key, one in said["info"].items() if key not in ("id", "sessionID")}
        name, at = said["info"]["id"], said["info"]["time"]["created"]
        yield "message", (name, info["id"], at, json.dumps(data))
        for part in reversed(said["parts"]):
            ids = ("id", "messageID", "sessionID")
            data = {key: one for key, one in part.items() if key not in ids}
            yield "part", (part["id"], name, info["id"], at + 1, json.dumps(data))


def database(path: Path, *exports: dict[str, Any]) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(TABLES)
        for table, row in (one for export in exports for one in rows_of(export)):
            marks = ",".join("?" * len(row))
            connection.execute(f"INSERT INTO {table} VALUES ({marks})", row)
        connection.commit()
    return path


def trace_of(path: Path, out: Path) -> Any:
    assert run("auto", path, "-o", out, "-q").exit_code == 0
    assert run("verify", out, "--source", path).exit_code == 0
    return json.loads((out / "trace.json").read_bytes())


def session(name: str, parent: str | None = None) -> dict[str, Any]:
    """A session of one question and its answer."""
    at = {"created": 1772442000000}
    said = {"type": "text", "text": f"Hello {name}"}
    return {
        "info": {"id": name, "parentID": parent, "directory": "/home/dev", "time": at},
        "messages": [
            {
                "info": {"id": f"m-{name}", "role": "user", "time": at},
                "parts": [{"id": f"p-{name}", **said}],
            }
        ],
    }


@pytest.mark.parametrize("path", EXPORTS, ids=lambda path: path.parent.name)
def test_an_export_and_its_database_give_the_same_trace(path: Path, tmp_path: Path) -> None:
    export = json.loads(path.read_bytes())
    other = database(tmp_path / "opencode.db", export)
    assert trace_of(path, tmp_path / "one") == trace_of(other, tmp_path / "other")


def test_the_subagents_of_a_database_stand_in_the_trace_of_their_session() -> None:
    events = list(read(DATABASE))
    assert len([one for one in events if isinstance(one, SessionStart)]) == 2
    calls = [(one.origin.actor, one.tool) for one in events if isinstance(one, ToolCall)]
    assert calls[:6] == [
        ("agent", "task"),
        ("agent", "task"),
        ("subagent:explore_1", "read"),
        ("subagent:general_2", "grep"),
        ("agent", "task"),
        ("subagent:general_3", "bash"),
    ]


def test_the_log_of_writes_is_read_and_left_as_it_is(tmp_path: Path) -> None:
    whole = database(tmp_path / "whole.db", session("one"), session("two"))
    path = database(tmp_path / "opencode.db", session("one"))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        for table, row in rows_of(session("two")):
            connection.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(row))})", row)
        connection.commit()
        copy = tmp_path / "copy.db"
        for end in ("", "-wal"):
            shutil.copy(f"{path}{end}", f"{copy}{end}")
    words = [[one.text for one in read(at) if isinstance(one, Message)] for at in (whole, copy)]
    assert words[0] == words[1] == ["Hello one", "Hello two"]
    assert Path(f"{copy}-wal").stat().st_size > 0


def test_nothing_of_an_account_is_told(tmp_path: Path) -> None:
    assert b"not-a-token" in DATABASE.read_bytes()
    assert run("auto", DATABASE, "-o", tmp_path / "out", "-q").exit_code == 0
    files = [one for one in (tmp_path / "out").rglob("*") if one.is_file()]
    assert files
    assert not any(b"not-a-token" in one.read_bytes() for one in files)


def test_sessions_that_name_each_other_as_what_sent_them_are_told(tmp_path: Path) -> None:
    path = database(tmp_path / "opencode.db", session("a", "b"), session("b", "a"))
    starts = [one.id for one in read(path) if isinstance(one, SessionStart)]
    assert starts == ["a", "b"]


def test_a_subagents_session_alone_has_a_brief_and_no_human(tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text(json.dumps(session("child", "gone")))
    events = list(read(path))
    assert not any(isinstance(one, Message) for one in events)
    start = next(one for one in events if isinstance(one, SessionStart))
    assert len(start.limits) == 1


def test_a_picture_may_stand_in_another_row_than_the_words(tmp_path: Path) -> None:
    export = json.loads((FIXTURES / "mentions" / "input.json").read_bytes())
    path, out = database(tmp_path / "opencode.db", export), tmp_path / "out"
    said = next(one for one in read(path) if isinstance(one, Message))
    (shown,) = said.attachments
    assert isinstance(shown, Attachment)
    assert shown.record is not None
    assert shown.record.record != said.origin.evidence.record
    assert run("auto", path, "-o", out, "-q", "--media", "keep").exit_code == 0
    (kept,) = {one.read_bytes() for one in (out / "artifacts").glob("*.png")}
    assert kept.startswith(b"\x89PNG")


def test_a_database_without_a_message_is_refused(tmp_path: Path) -> None:
    empty = session("one") | {"messages": []}
    path = database(tmp_path / "opencode.db", empty)
    assert [type(one) for one in read(path)] == [Skipped, Skipped]
    refused(65, "auto", path, "-o", tmp_path / "out")


@pytest.mark.parametrize(
    "value",
    [
        {"info": {"title": "an API", "version": "1"}, "messages": []},
        {"info": {"id": "one"}, "messages": [{"role": "user", "content": "Hello"}]},
        {"messages": [{"info": {"role": "user"}, "parts": []}]},
    ],
)
def test_what_only_looks_like_an_export_is_left_to_others(value: Any, tmp_path: Path) -> None:
    path = tmp_path / "input.json"
    path.write_text(json.dumps(value))
    assert not load("opencode").sniff(Source(path))


def test_what_approved_a_call_tells_an_export_of_kilo(tmp_path: Path) -> None:
    export = json.loads((FIXTURES / "edit-test-edit" / "input.json").read_text())
    log = tmp_path / "session.json"

    def harnesses() -> list[str]:
        log.write_text(json.dumps(export))
        events = read(log, "opencode")
        return [one.value for one in events if isinstance(one, Fact) and one.name == "harness"]

    assert harnesses() == []
    parts = [part for said in export["messages"] for part in said["parts"]]
    called = next(part for part in parts if part["type"] == "tool")
    called["state"]["metadata"]["approval"] = {"source": "project", "rule": {}}
    assert harnesses() == ["Kilo"]
