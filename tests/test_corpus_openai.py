"""Every real OpenAI-style log beside the checkout converts, or is refused for a listed reason.

Run with `pytest -m corpus tests/test_corpus_openai.py -s`: it prints a row for each file.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from folders import call_ids, converted, figures, traces

from forsy_retrace.convert import convert
from forsy_retrace.errors import RetraceError
from forsy_retrace.registry import identify, load
from forsy_retrace.source import Source, discover

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
OURS = ("openai-chat", "openai-responses")

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not (CORPUS / OURS[0]).is_dir(), reason="no real logs beside this checkout"),
]

CASSETTE = "a YAML cassette of a test library, and no log of an agent"
NO_WORDS = "an error reply alone, without a request, words or calls"
REFUSED = {".yaml": CASSETTE, "reasoning-model-legacy-parameter-error.json": NO_WORDS}
"""Files that give no trace, by the end of their path, and why."""

ITEMS = frozenset(
    [
        "function_call",
        "custom_tool_call",
        "mcp_call",
        "local_shell_call",
        "shell_call",
        "apply_patch_call",
        "computer_call",
        "tool_search_call",
        "program",
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
    ]
)


def files(*folders: str) -> list[Path]:
    return [one.path for name in folders for one in discover(CORPUS / name)]


def values(path: Path) -> Iterator[Any]:
    """The JSON values of a file, found without our reader."""
    data = path.read_text("utf-8", "replace")
    try:
        yield json.loads(data)
    except ValueError:
        for line in data.split("\n"):
            try:
                yield json.loads(line)
            except ValueError:
                continue


def calls_in(value: Any) -> Iterator[str]:
    """The id of each call that a value issues, however deep; streams as text are looked into."""
    match value:
        case list():
            for item in value:
                yield from calls_in(item)
        case dict():
            if value.get("type") in ITEMS and value.get("status") != "in_progress":
                # A stream announces an item under an id that may be another one when it is done.
                named = value.get("call_id") or value.get("id")
                yield from [named] if named else []
            span = value.get("span_data")
            if isinstance(span, dict) and span.get("type") == "function":
                yield value["id"]
            calls = value.get("tool_calls")
            for call in calls if isinstance(calls, list) else ():
                yield from [call["id"]] if call.get("id") else []
            for item in value.values():
                yield from calls_in(item)
        case str() if value.startswith(("data:", "event:", ":")):
            for line in value.splitlines():
                if line.startswith("data: {"):
                    yield from calls_in(json.loads(line[6:]))


def logged(name: str) -> str:
    """A call's id as the log has it: a repeated one is numbered, a missing one is made up."""
    return "" if name.startswith("no id") else name.partition("#")[0]


def test_every_file_converts_or_is_refused_for_a_listed_reason(tmp_path: Path) -> None:
    print(f"\n{'traces':>6} {'steps':>6} {'unread':>6} {'unkn':>5}  file")
    refused: dict[str, str] = {}
    for number, path in enumerate(files(*OURS)):
        name = path.relative_to(CORPUS).as_posix()
        try:
            results = converted(path, "openai-chat", tmp_path / str(number))
        except RetraceError as error:
            refused[name] = str(error)
            continue
        for one in traces(results):
            ids = call_ids(one.folder)
            assert len(ids) == len(set(ids)), path
        found = {logged(call) for one in traces(results) for call in call_ids(one.folder)} - {""}
        assert found == {ident for value in values(path) for ident in calls_in(value)}, path
        print("".join(f"{figure:6} " for figure in figures(results).values()), name)
    print(Counter(listed(name) for name in refused))
    assert [name for name in refused if listed(name) is None] == []


def listed(name: str) -> str | None:
    return next((why for end, why in REFUSED.items() if name.endswith(end)), None)


def test_every_file_is_known_by_this_adapter_alone() -> None:
    for path in files(*OURS):
        found = identify(Source(path))
        assert found == ([] if listed(path.name) else ["openai-chat"]), path


def test_no_other_harness_log_is_claimed() -> None:
    sniff = load("openai-chat").sniff
    others = sorted(one.name for one in CORPUS.iterdir() if one.is_dir() and one.name not in OURS)
    claimed = [path for path in files(*others) if sniff(Source(path))]
    assert claimed == []


FRIENDS: dict[str, Any] = {
    "claude code": {"type": "user", "sessionId": "s", "uuid": "u", "message": {"role": "user"}},
    "codex": {"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": {"id": "x"}},
    "bare codex": {"id": "x", "timestamp": "2025-08-01T00:00:00Z", "instructions": None},
    "codex exec": {"type": "thread.started", "thread_id": "t"},
    "codex history": {"session_id": "s", "ts": 1760000000, "text": "fix it"},
    "chatgpt": [{"title": "t", "mapping": {}, "current_node": "n"}],
    "claude.ai": [{"uuid": "u", "name": "n", "chat_messages": [{"sender": "human", "text": "t"}]}],
    "atif": {"schema_version": "ATIF-v1.7", "session_id": "s", "agent": {}, "steps": []},
    "cursor": {"role": "user", "message": {"content": [{"type": "text", "text": "t"}]}},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "t"}]}]},
    "anthropic": [
        {"role": "user", "content": "t"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "i", "name": "n"}]},
    ],
    "chat export": {"messages": [{"author": "a", "content": "t"}]},
    "slack": [{"type": "message", "user": "U1", "text": "t", "ts": "1760000000.1"}],
    "package.json": {"name": "shop", "version": "1.0.0", "dependencies": {}},
    "openapi": {"openapi": "3.1.0", "info": {"title": "t"}, "paths": {}},
    "notebook": {"nbformat": 4, "cells": [{"cell_type": "code", "source": []}]},
    "unrelated conversations": {"conversations": [["hello", "hi there"]]},
}


@pytest.mark.parametrize("name", FRIENDS)
def test_a_false_friend_is_not_claimed(name: str, tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(FRIENDS[name]), "utf-8")
    assert load("openai-chat").sniff(Source(path)) is False


def test_a_git_lfs_pointer_is_refused_as_one(tmp_path: Path) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(
        f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 4821\n", "utf-8"
    )
    with pytest.raises(RetraceError, match="Git LFS pointer"):
        list(convert(path, "openai-chat", tmp_path / "out"))
