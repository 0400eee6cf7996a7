"""Every real log of Pi, OpenClaw and ATIF kept beside the checkout converts, or is refused.

Run with `pytest -m corpus -s`: it prints a table of files, steps, unreadable and unknown records.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from folders import call_ids, converted, traces, unknown

from forsy_retrace.convert import convert
from forsy_retrace.errors import RetraceError
from forsy_retrace.registry import identify
from forsy_retrace.source import Source, discover

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
FOLDERS = {"pi": "pi", "openclaw": "pi", "atif": "atif"}

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="no real logs beside this checkout"),
]

REFUSED = {
    "75/79a8ba79f3/1/transcript.jsonl": "a checkpoint's unified transcript, which is no Pi log",
    "92/86abb89e34/1/transcript.jsonl": "a checkpoint's unified transcript, which is no Pi log",
    "agents/main/sessions/sessions.json": "OpenClaw's index of its sessions",
}
"""Files that give no trace, by the end of their path, and why."""

FILES = [
    (adapter, source.path)
    for folder, adapter in FOLDERS.items()
    if CORPUS.is_dir()
    for source in discover(CORPUS / folder)
]
TAKEN = [(adapter, path) for adapter, path in FILES if not str(path).endswith(tuple(REFUSED))]


def calls_in(adapter: str, path: Path) -> int:
    """How many calls a file holds, counted without our reader."""
    text = path.read_text("utf-8")
    if adapter == "pi":
        return sum(
            block.get("type") == "toolCall"
            for line in text.splitlines()
            for block in json.loads(line).get("message", {}).get("content", ())
            if isinstance(block, dict)
        )
    run = json.loads(text)
    steps = [step for step in run["steps"] if not step.get("is_copied_context")]
    count = sum(len(step.get("tool_calls", ())) + len(commands(step)) for step in steps)
    goes_on = run.get("continued_trajectory_ref")
    if goes_on:  # these copies bear a lead before Harbor's own names
        rest = path.with_name(path.name.removesuffix("trajectory.json") + goes_on)
        count += calls_in(adapter, rest)
    return count


def commands(step: dict[str, Any]) -> list[Any]:
    """What a step types into a terminal, where its message is JSON."""
    if step["source"] != "agent" or not str(step["message"]).startswith("{"):
        return []
    found: list[Any] = json.loads(step["message"]).get("commands", [])
    return found


@pytest.mark.parametrize(("adapter", "path"), TAKEN, ids=[path.name for _, path in TAKEN])
def test_every_file_converts(adapter: str, path: Path, tmp_path: Path) -> None:
    assert identify(Source(path)) == [adapter]
    (one,) = traces(converted(path, adapter, tmp_path / "one"))
    found = call_ids(one.folder)
    assert len(found) == len(set(found)) == calls_in(adapter, path)
    records = one.manifest["records"]
    assert (records["unreadable"], unknown(one)) == (0, 0)
    print(f"\n{one.manifest['total_steps']:5} steps, {records['read']:4} records  {path.name}")


@pytest.mark.parametrize("end", REFUSED)
def test_what_is_no_such_log_is_refused_in_one_line(end: str, tmp_path: Path) -> None:
    ((adapter, path),) = [one for one in FILES if str(one[1]).endswith(end)]
    no_log = rf"^{path.name}: (?:not a log that {adapter} reads|an Entire checkpoint's digest .*)$"
    with pytest.raises(RetraceError, match=no_log):
        list(convert(path, adapter, tmp_path / "one"))
    assert adapter not in identify(Source(path))
