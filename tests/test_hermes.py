"""Hermes Agent's sessions: which rows are one conversation, whose words, how calls end."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from asked import run

from forsy_retrace import Event, Message, Skipped, ToolCall, ToolResult, read
from forsy_retrace.events import Delegation, Fact, Notice, SessionStart
from forsy_retrace.frames import shown_of
from forsy_retrace.registry import identify
from forsy_retrace.source import Source

FIXTURES = Path(__file__).parents[1] / "fixtures" / "hermes"
START = 1772442000.0
HEAD = {
    "source": "cli",
    "model": "mock-1",
    "model_config": "{}",
    "parent_session_id": None,
    "started_at": START,
    "ended_at": None,
    "end_reason": None,
    "chat_type": None,
    "display_name": None,
    "cwd": "/home/dev/shop",
}
SAID = {
    "content": None,
    "tool_calls": None,
    "tool_call_id": None,
    "tool_name": None,
    "finish_reason": None,
    "active": 1,
    "compacted": 0,
    "observed": 0,
}
SUMMARY = "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted."
Json = dict[str, Any]


def session(*said: Json, name: str = "s1", every: float = 3.0, **more: Any) -> Json:
    """A session as it is exported; a message has its own time, or comes some seconds later."""
    head, at = {"id": name, **HEAD, **more}, more.get("started_at", START)
    messages = []
    for number, one in enumerate(said, 1):
        told = one.get("timestamp", at + every)
        messages.append({"id": number, "session_id": name, **SAID, **one, "timestamp": told})
        at = told if isinstance(told, float) else at
    return {**head, "messages": messages}


def user(text: Any, **more: Any) -> Json:
    return {"role": "user", "content": text, **more}


def agent(text: str | None = None, *calls: tuple[str, str, Json], **more: Any) -> Json:
    made = [
        {"id": name, "type": "function", "function": {"name": tool, "arguments": json.dumps(sent)}}
        for name, tool, sent in calls
    ]
    why = "tool_calls" if made else "stop"
    return {
        "role": "assistant",
        "content": text,
        "tool_calls": made or None,
        "finish_reason": why,
        **more,
    }


def result(name: str, content: Any, **more: Any) -> Json:
    text = content if isinstance(content, str) else json.dumps(content)
    return {"role": "tool", "tool_call_id": name, "content": text, **more}


def exported(path: Path, *sessions: Json) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in sessions))
    return path


def database(path: Path, *sessions: Json) -> Path:
    """The rows of which sessions are exported."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"CREATE TABLE sessions (id TEXT PRIMARY KEY, {', '.join(HEAD)})")
        columns = f"session_id, role, timestamp, {', '.join(SAID)}"
        connection.execute(f"CREATE TABLE messages (id INTEGER PRIMARY KEY, {columns})")
        for table, row in (one for session in sessions for one in rows_of(session)):
            marks = ", ".join("?" * len(row))
            names = ", ".join(row)
            connection.execute(
                f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(row.values())
            )
        connection.commit()
    return path


def rows_of(exported: Json) -> Iterator[tuple[str, Json]]:
    yield "sessions", {name: exported[name] for name in ("id", *HEAD)}
    for one in exported["messages"]:
        calls = json.dumps(one["tool_calls"]) if one["tool_calls"] else None
        row = {**one, "tool_calls": calls}
        row.pop("id")
        yield "messages", row


def events(path: Path, *sessions: Json) -> list[Event]:
    return list(read(exported(path / "export.jsonl", *sessions), "hermes"))


def said(told: list[Event]) -> list[str]:
    return [one.text for one in told if isinstance(one, Message) and one.role == "user"]


def skipped(told: list[Event]) -> list[str]:
    return [one.reason for one in told if isinstance(one, Skipped)]


@pytest.mark.parametrize(
    "case", ["fix-and-check", "branched", "a-snapshot", "in-anothers-form", "lines-of-a-gateway"]
)
def test_its_logs_are_claimed_by_it_alone(case: str) -> None:
    log = next((FIXTURES / case).glob("input.*"))
    assert identify(Source(log)) == ["hermes"]


def test_plain_messages_are_left_to_the_api_they_are_of(tmp_path: Path) -> None:
    log = tmp_path / "session.jsonl"
    log.write_text(json.dumps({"role": "user", "content": "Hi."}) + "\n")
    assert identify(Source(log)) == ["openai-chat"]


def test_a_database_and_its_export_give_the_same_trace(tmp_path: Path) -> None:
    one = session(
        user("List it."),
        agent("I look.", ("c1", "terminal", {"command": "ls"})),
        result("c1", {"output": "price.py", "exit_code": 0, "error": None}),
        agent("There is one file."),
    )
    logs = (exported(tmp_path / "log.jsonl", one), database(tmp_path / "state.db", one))
    traces = []
    for log in logs:
        out = tmp_path / log.suffix[1:]
        assert run("auto", log, "-o", out, "-q").exit_code == 0
        assert run("verify", out, "--source", log).exit_code == 0
        traces.append(json.loads((out / "trace.json").read_bytes()))
    assert traces[0] == traces[1]


# How calls end.


@pytest.mark.parametrize(
    ("tool", "content", "outcome", "code"),
    [
        ("terminal", {"output": "", "exit_code": 0, "error": None}, "ok", 0),
        ("terminal", {"output": "x", "exit_code": 2, "error": None}, "failed", 2),
        ("terminal", {"output": "", "exit_code": -1, "error": "no shell"}, "failed", None),
        ("terminal", {"output": "", "exit_code": -1, "error": ""}, "unknown", None),
        (
            "terminal",
            {"output": "", "exit_code": -1, "error": "BLOCKED: User denied this command. Stop."},
            "rejected",
            None,
        ),
        (
            "terminal",
            {"output": "", "exit_code": -1, "error": "BLOCKED (hardline): rm", "status": "blocked"},
            "blocked",
            None,
        ),
        (
            "terminal",
            {"output": "", "exit_code": -1, "error": "", "status": "pending_approval"},
            "blocked",
            None,
        ),
        (
            "terminal",
            {"output": "\n[Command timed out after 9s]", "exit_code": 124, "error": None},
            "timed_out",
            124,
        ),
        ("terminal", {"output": "[Command interrupted]", "exit_code": 130}, "interrupted", 130),
        ("terminal", {"output": "[Command interrupted]", "exit_code": 0}, "ok", 0),
        (
            "terminal",
            {"output": "Background process started", "session_id": "p", "pid": 7, "exit_code": 0},
            "launched",
            None,
        ),
        (
            "terminal",
            {"output": "", "exit_code": 1, "error": "Blocked: not here", "status": "error"},
            "blocked",
            None,
        ),
        ("execute_code", {"status": "success", "output": "2"}, "ok", None),
        ("execute_code", {"status": "error", "output": "", "exit_code": 1}, "failed", 1),
        ("execute_code", {"status": "timeout", "output": ""}, "timed_out", None),
        ("patch", {"success": False, "error": "no match"}, "failed", None),
        ("read_file", {"content": "", "error": "File not found: a"}, "failed", None),
        ("read_file", {"content": "1|a"}, "ok", None),
        ("web_extract", {"results": [{"url": "u", "error": "gone"}]}, "failed", None),
        ("web_extract", {"results": [{"error": "gone"}, {"content": "x"}]}, "unknown", None),
        ("delegate_task", {"results": [{"status": "completed"}]}, "ok", None),
        ("delegate_task", {"results": [{"status": "error"}]}, "failed", None),
        (
            "delegate_task",
            {"results": [{"status": "completed"}, {"status": "error"}]},
            "unknown",
            None,
        ),
        ("process", {"status": "running"}, "unknown", None),
        ("mcp_shop_find", "plain text", "unknown", None),
        ("x", "Tool 'x' does not exist. Available tools: patch", "blocked", None),
        ("patch", "Error executing tool 'patch': timed out after 60s", "timed_out", None),
        ("patch", "Error executing tool 'patch': boom", "failed", None),
        ("patch", "[Tool execution cancelled — patch was skipped]", "interrupted", None),
        ("patch", [1], "unknown", None),
    ],
)
def test_outcomes(tool: str, content: Any, outcome: str, code: int | None, tmp_path: Path) -> None:
    told = events(
        tmp_path, session(user("Go."), agent(None, ("c", tool, {})), result("c", content))
    )
    found = next(one for one in told if isinstance(one, ToolResult))
    assert (found.outcome, found.exit_code) == (outcome, code)


NOTE = "\n\n[Tool loop warning: repeated_exact_failure_warning; count=2; look again.]"


def test_a_note_behind_an_answer_leaves_it_what_it_is(tmp_path: Path) -> None:
    text = json.dumps({"output": "1 failed", "exit_code": 1, "error": None}) + NOTE
    told = events(
        tmp_path, session(user("Go."), agent(None, ("c", "terminal", {})), result("c", text))
    )
    found = next(one for one in told if isinstance(one, ToolResult))
    assert (found.outcome, found.exit_code, found.basis) == ("failed", 1, "/messages/2/content")
    assert shown_of(text) == "1 failed"
    assert shown_of("{not json}" + NOTE) == "{not json}" + NOTE


def test_a_file_that_was_not_shown_again_is_told_as_that() -> None:
    told = {"status": "unchanged", "message": "File unchanged since last read. See above."}
    answer = json.dumps({**told, "dedup": True, "content_returned": False})
    assert shown_of(answer) == told["message"]


def test_a_patch_tells_each_of_its_files(tmp_path: Path) -> None:
    diff = (
        "--- a/price.py\n+++ b/price.py\n@@ -1,2 +1,2 @@\n def f():\n-    x\n+    y\n"
        "--- /dev/null\n+++ b/notes.md\n@@ -0,0 +1 @@\n+Hi\n"
        "--- a/old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-z\n"
    )
    asked = agent(None, ("c", "patch", {"mode": "patch", "patch": "*** Begin Patch"}))
    told = events(
        tmp_path, session(user("Go."), asked, result("c", {"success": True, "diff": diff}))
    )
    changes = next(one for one in told if isinstance(one, ToolResult)).changes
    assert [(one.path, one.kind) for one in changes] == [
        ("price.py", "modified"),
        ("notes.md", "created"),
        ("old.py", "deleted"),
    ]
    assert changes[1].after == "Hi\n"


def test_a_line_that_is_cut_shows_no_file(tmp_path: Path) -> None:
    shown = {"content": "1|long... [truncated]\n2|b", "total_lines": 2}
    asked = agent(None, ("c", "read_file", {"path": "a.py"}))
    told = events(tmp_path, session(user("Go."), asked, result("c", shown)))
    assert next(one for one in told if isinstance(one, ToolResult)).changes == ()


# Whose words.


@pytest.mark.parametrize(
    "text",
    [
        "[IMPORTANT: Background process p matched watch pattern.\nOutput:\n]",
        "[Your active task list was preserved across context compression]\n- [ ] 1. x",
        "[Continuing toward your standing goal]\nGoal: x",
        "Review the conversation above and update the skill library.",
        "[System: Your previous response was truncated by the output length limit. Continue.]",
        "[IMPORTANT: You are running as a scheduled cron job. x]\n\nDo it.",
        "work kanban task 12",
        "[ASYNC DELEGATION COMPLETE — deleg_1]\nA background subagent has finished.",
        "[System note: The previous turn was interrupted by a restart; the gateway is back.]",
    ],
)
def test_what_nobody_typed_is_nobodys(text: str, tmp_path: Path) -> None:
    told = events(tmp_path, session(user("Hi."), agent("Hi."), user(text), agent("Yes.")))
    assert said(told) == ["Hi."]
    assert any(reason.startswith("injected: ") for reason in skipped(told))


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("[urgent] Fix it", "dm", "[urgent] Fix it"),
        ("[Robin] Fix it", "group", "Fix it"),
        ("[Kim] said this\n\n[New message]\n[Robin] Fix it", "group", "Fix it"),
        ('[Replying to: "a ] b"]\n\nFix it', "dm", "Fix it"),
        ("[System note: You were reset.]\n\n[Note: model was switched.]\n\nFix it", "dm", "Fix it"),
        ("<memory-context>\nold\n</memory-context>\n\nFix it", None, "Fix it"),
        ("[The user sent a document: 'a.txt'. It is saved at: /a.]\n\nFix it", "dm", "Fix it"),
        ("[System: is what my log says]", None, "[System: is what my log says]"),
    ],
)
def test_words_stand_behind_the_clients(
    text: str, kind: str | None, words: str, tmp_path: Path
) -> None:
    assert said(events(tmp_path, session(user(text), agent("Done."), chat_type=kind))) == [words]


def test_a_bundle_of_skills_is_what_the_user_typed(tmp_path: Path) -> None:
    text = (
        '[IMPORTANT: The user has invoked the "tea" skill bundle, loading 2 skills together.]\n\n'
        "Bundle: tea\n\nUser instruction: count twice\n\n[Loaded as part of the tea bundle]\n\nx"
    )
    told = events(tmp_path, session(user(text), agent("Done.")))
    assert said(told) == ["/tea count twice"]
    assert [one.value for one in told if isinstance(one, Fact) and one.name == "skills"] == [
        ["tea"]
    ]


def test_an_answer_that_nobody_gave_is_none(tmp_path: Path) -> None:
    asked = agent(None, ("c", "clarify", {"question": "Which?"}))
    given = {"question": "Which?", "user_response": "The user did not provide a response in time."}
    assert said(events(tmp_path, session(user("Go."), asked, result("c", given)))) == ["Go."]
    given["user_response"] = "the red one"
    told = events(tmp_path, session(user("Go."), asked, result("c", given)))
    assert said(told) == ["Go.", "the red one"]


def test_a_picture_in_a_row_stands_beside_the_words(tmp_path: Path) -> None:
    parts = [
        {"type": "text", "text": 'See the "tins"'},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGVsbG8="}},
    ]
    one = session(user("\x00json:" + json.dumps(parts)), agent("Tins."))
    log = database(tmp_path / "state.db", one)
    told = list(read(log))
    found = next(one for one in told if isinstance(one, Message))
    assert found.text == 'See the "tins"'
    assert [(one.media, one.size) for one in found.attachments] == [("image/png", 5)]
    assert run("auto", log, "-o", tmp_path / "out", "-q").exit_code == 0
    assert run("verify", tmp_path / "out", "--source", log).exit_code == 0


def test_who_wrote_in_a_chat_is_not_told(tmp_path: Path) -> None:
    one = session(user("[Robin Quill] Hi."), agent("Hi."), chat_type="group", display_name="Quill")
    log = exported(tmp_path / "export.jsonl", one)
    assert run("auto", log, "-o", tmp_path / "out", "-q").exit_code == 0
    files = [one for one in (tmp_path / "out").rglob("*") if one.is_file()]
    assert files
    assert not any(b"Quill" in one.read_bytes() for one in files)


# Which rows are one conversation.


def test_a_summary_in_place_repeats_what_it_keeps(tmp_path: Path) -> None:
    gone = {"active": 0, "compacted": 1}
    late = START + 100
    one = session(
        user("Again.", **gone),
        agent("Once.", **gone),
        user("Again.", **gone),
        agent("Twice.", **gone),
        user("Again.", timestamp=late),
        agent(SUMMARY, timestamp=late + 1e-6),
        agent("Twice.", timestamp=late + 2e-6),
        user("Again.", timestamp=late + 9),
        agent("Thrice.", timestamp=late + 12),
    )
    told = events(tmp_path, one)
    assert said(told) == ["Again."] * 3
    assert skipped(told) == ["repeated history"] * 2
    assert [one.kind for one in told if isinstance(one, Notice)].count("compacted") == 1


def test_words_that_only_a_summary_holds_are_told(tmp_path: Path) -> None:
    """The turn that goes on was not written before the summary was put behind it."""
    text = (
        "[PRIOR CONTEXT — for reference only; not a new message]\nAnd now the cups.\n\n"
        f"[END OF PRIOR CONTEXT — COMPACTION SUMMARY BELOW]\n\n{SUMMARY}"
    )
    told = events(tmp_path, session(user("Tea?"), agent("Yes."), user(text), agent("Cups.")))
    assert said(told) == ["Tea?", "And now the cups."]


def test_a_session_that_was_summed_up_goes_on_in_its_child(tmp_path: Path) -> None:
    first = session(
        user("Tea?"), agent("Yes."), end_reason="compression", ended_at=START + 50, name="old"
    )
    child = session(
        user("Tea?"),
        agent(SUMMARY),
        user("Cups?", timestamp=START + 90),
        agent("Yes."),
        name="new",
        parent_session_id="old",
        started_at=START + 60,
        every=0.004,
    )
    other = session(user("Pots?"), agent("No."), name="x", started_at=START + 70)
    told = events(tmp_path, other, child, first)
    assert [one.id for one in told if isinstance(one, SessionStart)] == ["old", "x"]
    assert said(told) == ["Tea?", "Cups?", "Pots?"]
    alone = events(tmp_path, child)
    start = next(one for one in alone if isinstance(one, SessionStart))
    assert (start.id, start.continues) == ("new", "old")
    assert start.limits


def test_a_turn_that_was_written_at_its_end_has_the_time_of_its_end(tmp_path: Path) -> None:
    one = session(
        user("List."),
        agent(None, ("c", "terminal", {"command": "sleep 9"})),
        result("c", {"output": "", "exit_code": 0}),
        agent("Done."),
        every=0.004,
    )
    told = [
        one for one in events(tmp_path, one) if isinstance(one, (Message, ToolCall, ToolResult))
    ]
    assert [one.origin.at is not None for one in told] == [False, False, False, True]


def test_a_subagent_without_a_mark_is_known_by_what_was_sent(tmp_path: Path) -> None:
    sent = {"tasks": [{"goal": "Count tea"}, {"goal": "Count cups"}]}
    ended = {"results": [{"status": "completed"}, {"status": "completed"}]}
    parent = session(user("Count."), agent(None, ("c", "delegate_task", sent)), result("c", ended))
    below = [
        session(user(goal), agent(goal), name=goal, parent_session_id="s1", started_at=START + 4)
        for goal in ("Count cups", "Count tea")
    ]
    told = events(tmp_path, *below, parent)
    assert len([one for one in told if isinstance(one, SessionStart)]) == 1
    assert [one.actor for one in told if isinstance(one, Delegation)] == [
        "subagent:agent_1",
        "subagent:agent_2",
    ]
    words = [(one.origin.actor, one.text) for one in told if isinstance(one, Message)]
    assert ("subagent:agent_1", "Count tea") in words
    assert said(told) == ["Count."]


def test_a_subagents_ids_are_its_own(tmp_path: Path) -> None:
    """Some providers count calls anew in each session."""
    ended = {"results": [{"status": "completed"}]}
    parent = session(
        user("Count."), agent(None, ("c", "delegate_task", {"goal": "tea"})), result("c", ended)
    )
    below = session(
        user("tea"),
        agent(None, ("c", "terminal", {"command": "ls"})),
        result("c", {"output": "", "exit_code": 3}),
        name="s2",
        source="subagent",
        parent_session_id="s1",
    )
    told = events(tmp_path, parent, below)
    tools = {one.call: one.tool for one in told if isinstance(one, ToolCall)}
    codes = {tools[one.call]: one.exit_code for one in told if isinstance(one, ToolResult)}
    assert codes == {"delegate_task": None, "terminal": 3}


def test_a_subagent_alone_was_asked_by_nobody_here(tmp_path: Path) -> None:
    told = events(tmp_path, session(user("Count tea"), agent("41"), source="subagent"))
    assert said(told) == []
    assert [one.value for one in told if isinstance(one, Fact) and one.name == "brief"] == [
        "Count tea"
    ]


@pytest.mark.parametrize(
    "sessions",
    [
        (session(),),
        (session(agent("Yes."), agent("Still.")),),
        (session(user("a"), parent_session_id="s1"),),
        (
            session(user("a"), name="a", parent_session_id="b", source="subagent"),
            session(user("b"), name="b", parent_session_id="a", source="subagent"),
        ),
        (session(user("a")), session(user("a"))),
        (session({"role": "system", "content": "x"}, {"role": "user"}, user(7), user([])),),
        (session(user("a", timestamp=10**400), agent("b", timestamp="x")),),
    ],
    ids=["empty", "no user", "own parent", "circle", "twice", "odd", "no times"],
)
def test_odd_sessions_are_accounted_for(sessions: tuple[Json, ...], tmp_path: Path) -> None:
    told = events(tmp_path, *sessions)
    assert {one.origin.evidence.line for one in told} == set(range(1, len(sessions) + 1))


def test_subagents_of_subagents_are_told_however_deep(tmp_path: Path) -> None:
    deep = [
        session(
            user(f"goal {n}"),
            agent(None, ("c", "delegate_task", {"goal": f"goal {n + 1}"})),
            name=f"n{n}",
            source="subagent" if n else "cli",
            parent_session_id=f"n{n - 1}" if n else None,
            started_at=START + n,
        )
        for n in range(300)
    ]
    told = events(tmp_path, *deep)
    assert len([one for one in told if isinstance(one, ToolCall)]) == 300
    assert len([one for one in told if isinstance(one, SessionStart)]) == 1
