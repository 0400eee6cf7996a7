"""OpenHands: a conversation is a folder of many files, and one trace."""

import json
import shutil
import zipfile
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from asked import run

from forsy_retrace import Written, convert, read
from forsy_retrace.events import Delegation, Event, Fact, Message, Notice, ToolResult

FIXTURES = Path(__file__).parents[1] / "fixtures" / "openhands"
CASE = FIXTURES / "edits-and-checks"
AGENTS = FIXTURES / "went-back"
Json = dict[str, Any]
LATE = "\n[The command timed out after 1.0 seconds."


def kept(case: Path, folder: Path) -> Path:
    """A case as the client keeps it: its state has the name that it has there."""
    shutil.copytree(case, folder, ignore=shutil.ignore_patterns("trace", "*.jsonl"))
    return (folder / "input.json").rename(folder / "base_state.json")


def ids_of(log: Path, folder: Path) -> list[str]:
    """The ids of the traces that come of a log."""
    found = list(convert(log, "auto", folder / f"{log.parent.name}-{log.stem}-out"))
    return sorted(one.manifest["trace_id"] for one in found if isinstance(one, Written))


def old(folder: Path) -> None:
    """A session from before the SDK, as it lies without a server: its events, and pages of them."""
    shutil.copytree(FIXTURES / "old-session" / "events", folder / "events")
    shutil.copytree(FIXTURES / "old-session" / "event_cache", folder / "event_cache")


def told(tmp_path: Path, *events: Json) -> list[Event]:
    """What comes of a list of events."""
    path = tmp_path / "input.json"
    whole = [
        {
            "id": f"{at:08x}-0000-4000-8000-000000000000",
            "timestamp": "2026-03-02T09:00:00.000001",
            "source": "agent",
            **one,
        }
        for at, one in enumerate(events)
    ]
    path.write_text(json.dumps(whole))
    return list(read(path, "openhands"))


PROMPT: Json = {"kind": "SystemPromptEvent", "system_prompt": {"text": "You help."}, "tools": []}


def call(tool: str, **sent: object) -> Json:
    return {
        "kind": "ActionEvent",
        "tool_name": tool,
        "tool_call_id": "call_1",
        "tool_call": {"id": "call_1", "name": tool, "arguments": json.dumps(sent)},
        "llm_response_id": "answer-1",
        "action": sent,
    }


def came(at: int, **observation: object) -> Json:
    return {
        "kind": "ObservationEvent",
        "source": "environment",
        "tool_name": "terminal",
        "tool_call_id": "call_1",
        "action_id": f"{at:08x}-0000-4000-8000-000000000000",
        "observation": observation,
    }


def said(source: str, text: str, **more: object) -> Json:
    content = [{"type": "text", "text": text}]
    message = {"role": "user", "content": content}
    return {"kind": "MessageEvent", "source": source, "llm_message": message, **more}


@pytest.mark.parametrize("case", [CASE, AGENTS])
def test_a_folder_is_one_trace_whether_it_or_its_state_is_named(case: Path, tmp_path: Path) -> None:
    state = kept(case, tmp_path / "conversation")
    ids = []
    for at, named in enumerate((state.parent, state)):
        found = list(convert(named, "auto", tmp_path / f"out-{at}"))
        ids += [one.manifest["trace_id"] for one in found if isinstance(one, Written)]
        assert not [one for one in found if not isinstance(one, Written)]
    assert len(ids) == 2
    assert len(set(ids)) == 1


def test_what_lies_in_the_store_is_a_trace_a_conversation(tmp_path: Path) -> None:
    store = tmp_path / ".openhands"
    kept(CASE, store / "conversations" / "a")
    kept(AGENTS, store / "conversations" / "b")
    old(store / "sessions" / "c")
    done = run("batch", store, "-o", tmp_path / "out")
    assert done.exit_code == 0
    report = json.loads((tmp_path / "out" / "report.json").read_bytes())
    assert report["traces"] == 3
    assert report["adapters"] == {"openhands": 3}
    assert report["refused"] == report["failed"] == []


def test_a_folder_packed_by_the_server_tells_what_the_folder_does(tmp_path: Path) -> None:
    state = kept(AGENTS, tmp_path / "conversation")
    path = tmp_path / "conversation.zip"
    with zipfile.ZipFile(path, "w") as packed:
        for one in sorted(state.parent.rglob("*")):
            if one.is_file():
                packed.write(one, one.relative_to(tmp_path).as_posix())
    for at, named in enumerate((state, path)):
        assert run("auto", named, "-o", tmp_path / f"out-{at}", "-q").exit_code == 0
        assert run("verify", tmp_path / f"out-{at}", "--source", named).exit_code == 0
    first, second = (
        json.loads((tmp_path / f"out-{at}" / "trace.json").read_bytes()) for at in (0, 1)
    )
    assert first["trace_id"] == second["trace_id"]
    assert first["summary"] == second["summary"]


def test_an_archive_may_hold_several_conversations(tmp_path: Path) -> None:
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as packed:
        for case in (CASE, AGENTS):
            kept(case, tmp_path / case.name)
            for one in sorted((tmp_path / case.name).rglob("*")):
                if one.is_file():
                    packed.write(one, one.relative_to(tmp_path).as_posix())
        packed.writestr("notes/else.json", "{}")
    alone = [ids_of(tmp_path / case.name / "base_state.json", tmp_path) for case in (CASE, AGENTS)]
    assert ids_of(path, tmp_path) == sorted(chain.from_iterable(alone))


def test_events_point_to_their_own_files() -> None:
    files = {
        event.origin.evidence.file
        for event in read(CASE / "input.json", "openhands")
        if not isinstance(event, Notice)
    }
    assert {path.name for path in (CASE / "events").iterdir()} <= {
        name.rpartition("/")[2] for name in files
    }


def test_a_page_of_events_is_no_log(tmp_path: Path) -> None:
    old(tmp_path / "session")
    page = tmp_path / "session" / "event_cache" / "0-25.json"
    assert run("auto", page, "-o", tmp_path / "out").exit_code == 65


def test_two_tasks_of_one_brief_are_two_subagents(tmp_path: Path) -> None:
    state = kept(AGENTS, tmp_path / "conversation")
    (first,) = (state.parent / "subagents").iterdir()
    shutil.copytree(first, first.with_name("0" * 32))
    folder = state.parent / "events"
    names = sorted(folder.iterdir())
    action, result = (json.loads(one.read_bytes()) for one in names[2:4])
    for at, one in enumerate((action, result)):
        text = json.dumps(one).replace(action["id"], "f" * 8).replace("call_", "again_")
        (folder / f"event-{90 + at:05d}-{'f' * 8}.json").write_text(
            text.replace(result["id"], "e" * 8)
        )
    found = [one for one in read(state, "openhands") if isinstance(one, Delegation)]
    assert [one.actor for one in found] == [
        "subagent:general-purpose_1",
        "subagent:general-purpose_2",
    ]
    assert len({one.call for one in found}) == 2


@pytest.mark.parametrize(
    ("made", "is_word"),
    [
        (said("user", "Add a flag."), True),
        (said("environment", "Your last response did not include a function call."), False),
        (said("user", "Missing required parameters for function 'terminal': {'command'}"), False),
        (said("user", "Missing required parameters, as I said."), True),
        (said("hook", "Run the tests first."), False),
    ],
)
def test_only_a_persons_words_are_the_users(made: Json, is_word: bool, tmp_path: Path) -> None:
    found = [one for one in told(tmp_path, PROMPT, made) if isinstance(one, Message)]
    assert [one.role for one in found] == ["user"] * is_word


@pytest.mark.parametrize(
    ("observation", "outcome", "code"),
    [
        ({"exit_code": 0, "is_error": False}, "ok", 0),
        ({"metadata": {"exit_code": 2}, "is_error": False}, "failed", 2),
        ({"exit_code": True, "is_error": True}, "failed", None),
        ({"exit_code": -1, "is_error": False, "metadata": {"suffix": ""}}, "unknown", None),
        (
            {"exit_code": -1, "metadata": {"suffix": f"{LATE} You may wait longer.]"}},
            "launched",
            None,
        ),
        ({"exit_code": -1, "metadata": {"suffix": f"{LATE}]"}}, "timed_out", None),
        ({"is_error": "no"}, "unknown", None),
    ],
)
def test_a_command_ends_as_its_exit_code_says(
    observation: Json, outcome: str, code: int | None, tmp_path: Path
) -> None:
    found = told(tmp_path, PROMPT, call("terminal", command="make"), came(1, **observation))
    (result,) = (one for one in found if isinstance(one, ToolResult))
    assert (result.outcome, result.exit_code) == (outcome, code)


@pytest.mark.parametrize(
    ("printed", "code", "suffix", "output"),
    [
        ("a\n", -1, f"{LATE} You may wait longer.]", f"a\n{LATE} You may wait longer.]"),
        ("", -1, f"{LATE}]", f"{LATE}]"),
        ("a\n", 0, "\n[The command completed with exit code 0.]", "a\n"),
    ],
)
def test_what_stands_behind_the_output_of_a_command_without_an_end_is_shown(
    printed: str, code: int, suffix: str, output: str, tmp_path: Path
) -> None:
    held = {"content": [{"type": "text", "text": printed}], "metadata": {"suffix": suffix}}
    found = told(
        tmp_path, PROMPT, call("terminal", command="make"), came(1, **held, exit_code=code)
    )
    (result,) = (one for one in found if isinstance(one, ToolResult))
    assert result.output == output


@pytest.mark.parametrize(
    ("reason", "source", "outcome", "words"),
    [
        ("User rejected the action", "user", "rejected", []),
        ("Not there.", "user", "rejected", ["Not there."]),
        ("Not there.", "hook", "blocked", []),
        ("Superseded by a new user message", "user", "blocked", []),
    ],
)
def test_who_turned_a_call_down(
    reason: str, source: str, outcome: str, words: list[str], tmp_path: Path
) -> None:
    down = {
        **came(1),
        "kind": "UserRejectObservation",
        "rejection_reason": reason,
        "rejection_source": source,
    }
    found = told(tmp_path, PROMPT, call("terminal", command="make"), down)
    (result,) = (one for one in found if isinstance(one, ToolResult))
    assert result.outcome == outcome
    assert [one.text for one in found if isinstance(one, Message)] == words


@pytest.mark.parametrize("pause", ["PauseEvent", "InterruptEvent"])
def test_a_pause_where_nothing_ran_stopped_nothing(pause: str, tmp_path: Path) -> None:
    stop = {"kind": pause, "source": "user"}
    answer = said("agent", "Done.", llm_response_id="answer-1")
    busy = told(tmp_path, PROMPT, said("user", "Go."), stop)
    idle = told(tmp_path, PROMPT, said("user", "Go."), answer, stop)
    assert [one.kind for one in busy if isinstance(one, Notice)] == ["interrupted"]
    kinds = [one.kind for one in idle if isinstance(one, Notice)]
    assert kinds == ([] if pause == "PauseEvent" else ["interrupted"])


def test_a_state_of_another_program_is_no_log(tmp_path: Path) -> None:
    path = tmp_path / "base_state.json"
    path.write_text(json.dumps({"id": "a", "agent": {"kind": "Agent"}, "workspace": {}}))
    assert run("auto", path, "-o", tmp_path / "out").exit_code == 65


def test_a_subagents_conversation_alone_is_no_persons(tmp_path: Path) -> None:
    kept(AGENTS, tmp_path / "conversation")
    (state,) = (tmp_path / "conversation" / "subagents").glob("*/base_state.json")
    found = list(read(state, "auto"))
    assert not [one for one in found if isinstance(one, Message) and one.role == "user"]
    briefs = [one.value for one in found if isinstance(one, Fact) and one.name == "brief"]
    assert briefs == ["Count the lines of cart.py."]
    assert {one.origin.actor for one in found if isinstance(one, ToolResult)} == {
        "subagent:agent_1"
    }


@pytest.mark.parametrize("key", ["history", "trajectory", "events"])
def test_an_object_may_hold_a_conversation(key: str, tmp_path: Path) -> None:
    whole = json.loads((FIXTURES / "old-trajectory" / "input.json").read_bytes())
    path = tmp_path / "given.json"
    path.write_text(json.dumps({key: whole}))
    kinds = [type(one) for one in read(FIXTURES / "old-trajectory" / "input.json", "openhands")]
    assert [type(one) for one in read(path, "auto")] == kinds


def test_a_hook_may_stand_before_the_prompt(tmp_path: Path) -> None:
    hook = {"kind": "HookExecutionEvent", "source": "hook", "hook_event_type": "SessionStart"}
    told(tmp_path, hook, PROMPT, said("user", "Go."))
    assert [one.text for one in read(tmp_path / "input.json") if isinstance(one, Message)] == [
        "Go."
    ]
