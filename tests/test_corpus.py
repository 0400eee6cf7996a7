"""Every real log kept beside the checkout converts, or is refused for a reason that is listed here.

Run with `pytest -m corpus -s`: it prints a table of files, steps, unreadable and unknown records.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from folders import call_ids, check, converted, figures, traces

from forsy_retrace.convert import Refused, convert
from forsy_retrace.errors import RetraceError
from forsy_retrace.source import discover

CORPUS = Path(__file__).parents[2] / "shared" / "corpus" / "claude-code"

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="no real logs beside this checkout"),
]

TEXT_LOG = "another program's text log that quotes records"
NO_CALL = "a lone result, whose call is in another file"
NO_WORDS = "lone records that hold no call and no human words"
REFUSED = {
    "utils/__fixtures__/duplicate-assistant-response-2.jsonl": TEXT_LOG,
    "system/file_history_snapshot.jsonl": NO_WORDS,
    "system/summary.jsonl": NO_WORDS,
    "system/system_info.jsonl": NO_WORDS,
    "tools/Artifact-tool_result.jsonl": NO_CALL,
    "tools/AskUserQuestion-tool_result.jsonl": NO_CALL,
    "tools/AskUserQuestion-tool_result_error.jsonl": NO_CALL,
    "tools/Bash-tool_result.jsonl": NO_CALL,
    "tools/Bash-tool_result_error.jsonl": NO_CALL,
    "tools/BashOutput-tool_result.jsonl": NO_CALL,
    "tools/Edit-tool_result.jsonl": NO_CALL,
    "tools/Edit-tool_result_error.jsonl": NO_CALL,
    "tools/ExitPlanMode-tool_result.jsonl": NO_CALL,
    "tools/ExitPlanMode-tool_result_error.jsonl": NO_CALL,
    "tools/Glob-tool_result.jsonl": NO_CALL,
    "tools/Grep-tool_result.jsonl": NO_CALL,
    "tools/KillShell-tool_result.jsonl": NO_CALL,
    "tools/KillShell-tool_result_error.jsonl": NO_CALL,
    "tools/LS-tool_result.jsonl": NO_CALL,
    "tools/MultiEdit-tool_result.jsonl": NO_CALL,
    "tools/MultiEdit-tool_result_error.jsonl": NO_CALL,
    "tools/Read-tool_result.jsonl": NO_CALL,
    "tools/Read-tool_result_error.jsonl": NO_CALL,
    "tools/Task-tool_result.jsonl": NO_CALL,
    "tools/TodoWrite-tool_result.jsonl": NO_CALL,
    "tools/WebFetch-tool_result.jsonl": NO_CALL,
    "tools/WebSearch-tool_result.jsonl": NO_CALL,
    "tools/Write-tool_result.jsonl": NO_CALL,
    "tools/Write-tool_result_error.jsonl": NO_CALL,
    "tools/exit_plan_mode-tool_result.jsonl": NO_CALL,
    "user/bash_output.jsonl": NO_WORDS,
    "user/command_output.jsonl": NO_WORDS,
    "user/user_command.jsonl": NO_WORDS,
    "user/user_sidechain.jsonl": NO_WORDS,
    "user/user_slash_command.jsonl": NO_WORDS,
    "fixtures/medium-conversation.jsonl": NO_WORDS,
    "goal-status/active.jsonl": NO_WORDS,
    "goal-status/cleared.jsonl": NO_WORDS,
    "goal-status/completed.jsonl": NO_WORDS,
    "goal-status/edit-active.jsonl": NO_WORDS,
}
"""Files that give no trace, by the end of their path, and why."""

FILES = [source.path for source in discover(CORPUS)] if CORPUS.is_dir() else []
PROJECTS = sorted(path for path in CORPUS.iterdir()) if CORPUS.is_dir() else []

IDS = ("tool_use", "server_tool_use", "mcp_tool_use")


def calls_in(path: Path) -> set[str]:
    """The distinct ids of tool calls anywhere in a file, found without our reader."""
    data = path.read_bytes()
    found: set[str] = set()
    try:
        _walk(json.loads(data), found)
    except ValueError:
        decoder = json.JSONDecoder()
        for raw in data.split(b"\n"):
            text = raw.decode("utf-8", "replace").strip()
            while text.startswith(("{", "[")):
                try:
                    value, end = decoder.raw_decode(text)
                except ValueError:
                    break
                _walk(value, found)
                text = text[end:].strip()
    return found


def _walk(value: Any, found: set[str]) -> None:
    """Calls stand in the content of an assistant message, at whatever depth a record nests it."""
    if isinstance(value, list):
        for item in value:
            _walk(item, found)
    elif isinstance(value, dict):
        message = value.get("message")
        if value.get("type") == "assistant" and isinstance(message, dict):
            for block in message.get("content") or ():
                if isinstance(block, dict) and block.get("type") in IDS and block.get("id"):
                    found.add(block["id"])
        for item in value.values():
            if isinstance(item, (dict, list)):
                _walk(item, found)


def test_every_file_converts_or_is_refused_for_a_listed_reason(tmp_path: Path) -> None:
    print(f"\n{'steps':>6} {'unread':>6} {'unkn':>5}  file")
    refused = []
    for number, path in enumerate(FILES):
        try:
            results = converted(path, "claude-code", tmp_path / str(number))
        except RetraceError as error:
            refused.append((path, str(error)))
            continue
        found = [call for one in traces(results) for call in call_ids(one.folder)]
        assert len(found) == len(set(found)), path
        want = calls_in(path)
        assert want <= set(found), path
        alone = all(len(one.manifest["sources"]) == 1 for one in traces(results))
        assert not alone or want == set(found), path
        name = path.relative_to(CORPUS).as_posix()
        told = figures(results)
        print(f"{told['steps']:6} {told['unreadable']:6} {told['unknown']:5}  {name}")
    names = {path.relative_to(CORPUS).as_posix(): why for path, why in refused}
    for name, why in names.items():
        print(f"refused  {name}: {why}")
    unlisted = [name for name in names if _listed(name) is None]
    assert unlisted == []
    assert len(names) == len(REFUSED)
    wrong = [path for path, _ in refused if calls_in(path) and _listed(path.as_posix()) != TEXT_LOG]
    assert wrong == []


def _listed(name: str) -> str | None:
    return next((why for end, why in REFUSED.items() if name.endswith(end)), None)


@pytest.mark.parametrize("project", PROJECTS, ids=lambda path: path.name)
def test_every_project_folder_converts_as_a_whole(project: Path, tmp_path: Path) -> None:
    target = tmp_path / "traces"
    results = list(convert(project, "claude-code", target))
    for one in traces(results):
        check(one, project)
    refused = [one for one in results if isinstance(one, Refused)]
    told = figures(results)
    said = f"{told['traces']} traces, {told['steps']} steps, {len(refused)} refused"
    print(f"\n{project.name}: {said}")
    assert [one for one in refused if not _listed(one.name)] == []
    want = {call for path in FILES if project in path.parents for call in calls_in(path)}
    found = {call for one in traces(results) for call in call_ids(one.folder)}
    assert want == found
