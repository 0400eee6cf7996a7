"""Every real Codex log kept beside the checkout converts, or is refused for a listed reason.

Run with `pytest -m corpus -s`: it prints a table of files, traces, steps, unreadable records.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from folders import call_ids, converted, figures, traces

from forsy_retrace.errors import RetraceError
from forsy_retrace.registry import identify
from forsy_retrace.source import Source, discover

CORPUS = Path(__file__).parents[2] / "shared" / "corpus" / "codex"

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="no real logs beside this checkout"),
]

OPENED = "a session that was opened and closed: nobody said a word"
REFUSED = {
    "9bcfae4c-164e-4803-b159-81173ebed773.jsonl": OPENED,
    "a65ac334-ba0d-48e4-894e-c2768bffa6fd.jsonl": OPENED,
    "e4ccc4bc-39d1-40e2-8f34-9db4b3bf2835.jsonl": OPENED,
    "6e1a7709-01d5-4a49-9d58-21c51d258895.jsonl": OPENED,
}
"""Files that give no trace, by the end of their path, and why."""

FILES = [source.path for source in discover(CORPUS)] if CORPUS.is_dir() else []

CALLS = ("function_call", "custom_tool_call", "local_shell_call")
RUN = (
    "command_execution",
    "file_change",
    "mcp_tool_call",
    "web_search",
    "collab_tool_call",
    "todo_list",
)
PREFIX = re.compile(r"\[[^\]\n]{1,40}\] \[[A-Z]+\] (?=\{)")


def values(path: Path) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file, found without our reader."""
    text = path.read_text("utf-8", "replace")
    if path.suffix == ".json":
        yield from json.loads(text)["items"]
        return
    for line in text.split("\n"):
        lead = PREFIX.match(line)
        try:
            value = json.loads(line[lead.end() :] if lead else line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def calls_in(path: Path) -> set[str]:
    """The distinct calls of a file: by call id, or by thread and item id.

    Where one id stands for two calls, the second is told apart by its number. A command that
    code spells out is the call which sent that code.
    """
    found: dict[str, list[str]] = {}
    code = ""
    thread = ""
    for value in values(path):
        payload = value.get("payload", value)
        body: Any = payload if isinstance(payload, dict) else {}
        msg: Any = body.get("msg") if isinstance(body.get("msg"), dict) else {}
        item: Any = body.get("item") if isinstance(body.get("item"), dict) else {}
        kind = body.get("type")
        if kind == "thread.started":
            thread = body["thread_id"]
        elif kind in CALLS or kind == "tool_call":
            found.setdefault(body.get("call_id") or body.get("id"), []).append(body["name"])
            code += str(body.get("input")) if body["name"] == "exec" else ""
        elif msg.get("type") in ("exec_command_begin", "patch_apply_begin"):
            found.setdefault(msg["call_id"], []).append("")
        elif item.get("type") == "CommandExecution" and json.dumps(item["command"][-1]) not in code:
            found.setdefault(item["id"], []).append("")
        elif item.get("type") in RUN:
            found.setdefault(f"{thread}/{item['id']}" if thread else item["id"], [""])
        for call in body.get("tool_calls") or ():
            found.setdefault(call["id"], []).append("")
    return {
        ident if number == 0 else f"{ident}#{number + 1}"
        for ident, names in found.items()
        for number, _ in enumerate(dict.fromkeys(names))
    }


UNNAMED = re.compile(r"^unnamed#\d+$|item_\d+@\d+$|^plan-\d+$")
"""Our names of calls without an id, and of a plan's later states, which are calls of their own."""


def test_every_file_converts_or_is_refused_for_a_listed_reason(tmp_path: Path) -> None:
    print(f"\n{'traces':>6} {'steps':>6} {'unread':>6} {'unkn':>5}  file")
    refused: dict[str, str] = {}
    for number, path in enumerate(FILES):
        name = path.relative_to(CORPUS).as_posix()
        try:
            results = converted(path, "codex", tmp_path / str(number))
        except RetraceError as error:
            refused[name] = str(error)
            assert calls_in(path) == set()
            continue
        found = [call for one in traces(results) for call in call_ids(one.folder)]
        assert len(found) == len(set(found)), path
        want = calls_in(path)
        assert want <= set(found), path
        assert all(UNNAMED.search(call) for call in set(found) - want), path
        print("".join(f"{figure:6} " for figure in figures(results).values()), name)
    for name, why in refused.items():
        print(f"refused  {name}: {why}")
    assert [name for name in refused if not name.endswith(tuple(REFUSED))] == []
    assert len(refused) == len(REFUSED)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_one_adapter_knows_each_file(path: Path) -> None:
    assert identify(Source(path)) == ["codex"]
