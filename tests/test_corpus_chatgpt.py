"""Every real ChatGPT log kept beside the checkout converts, or is refused for a listed reason.

Run with `pytest -m corpus -s`: it prints a table of files, conversations and steps.
"""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from folders import call_ids, converted, figures, traces

from forsy_retrace.errors import RetraceError
from forsy_retrace.registry import identify
from forsy_retrace.source import Source, discover

CORPUS = Path(__file__).parents[2] / "shared" / "corpus" / "chatgpt"

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="no real logs beside this checkout"),
]

REFUSED = {
    "EXCERPT-export_manifest.json": "the list of an export's files, without a conversation",
    "src/mock/conversation.js": "a program's test data: several values in one module, no export",
}
"""Files that give no trace, by the end of their path, and why."""

FILES = [source.path for source in discover(CORPUS)] if CORPUS.is_dir() else []


def calls_in(path: Path) -> Counter[str]:
    """The ids of assistant messages to a tool, each as often as a conversation has it."""
    text = path.read_text("utf-8-sig")
    start = re.search(r"[\[{]", text)
    value, _ = json.JSONDecoder().raw_decode(text[start.start() :]) if start else (None, 0)
    found: Counter[str] = Counter()
    _walk(value, found)
    return found


def _walk(value: Any, found: Counter[str]) -> None:
    if isinstance(value, dict) and isinstance(value.get("author"), dict):
        if value["author"].get("role") == "assistant" and value.get("recipient") not in (
            None,
            "all",
        ):
            found[value["id"]] += 1
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            _walk(item, found)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_file_converts_or_is_refused_for_a_listed_reason(path: Path, tmp_path: Path) -> None:
    name = path.relative_to(CORPUS).as_posix()
    why = next((why for end, why in REFUSED.items() if name.endswith(end)), None)
    try:
        results = converted(path, "chatgpt", tmp_path / "once")
    except RetraceError as error:
        print(f"\nrefused  {name}: {error}")
        assert why is not None
        assert identify(Source(path)) == []
        return
    assert why is None
    assert identify(Source(path)) == ["chatgpt"]
    written = traces(results)
    assert len(written) == len(results) > 0
    calls = [call.partition("#")[0] for one in written for call in call_ids(one.folder)]
    assert Counter(calls) == calls_in(path)
    print(f"\n{len(written):4} conversations {figures(results)['steps']:5} steps  {name}")
