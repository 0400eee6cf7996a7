"""The gate reads the finished bytes: what slipped past the masker is withheld, whole."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import folders
import pytest
from folders import retraced

from forsy_retrace.document import draft
from forsy_retrace.errors import RetraceError
from forsy_retrace.redact import Redacted, Rules, leaves, redact
from forsy_retrace.registry import load
from forsy_retrace.source import Source
from forsy_retrace.writers.atomic import whole
from forsy_retrace.writers.folder import contents, encoded, write_folder

LOG = Path(__file__).parents[1] / "fixtures" / "claude-code" / "push-pull-push" / "input.jsonl"
CORRECTED = LOG.parents[1] / "correction" / "input.jsonl"
TOKEN = "ghp_" + "R7k2Vn9QxW4mZp8LtY6sBd3FhJ5cGa1eUo0i"
LEARNT = "correct-Horse7-battery-staple"


def in_an_output(trace: dict[str, Any], evidence: list[Any], manifest: dict[str, Any]) -> None:
    trace["steps"][1]["output"] = f'two\nlines "{TOKEN}"'


def in_a_pointer(trace: dict[str, Any], evidence: list[Any], manifest: dict[str, Any]) -> None:
    evidence[1]["records"][0]["file"] = f"{LEARNT}.jsonl"


def in_a_tag(trace: dict[str, Any], evidence: list[Any], manifest: dict[str, Any]) -> None:
    trace["dataset_summary"]["tags"].append(LEARNT)


def in_the_manifest(trace: dict[str, Any], evidence: list[Any], manifest: dict[str, Any]) -> None:
    manifest["records"]["omitted"][f"seen {TOKEN}"] = 0


def made(said: str = f"DB_PASSWORD={LEARNT}", log: Path = LOG) -> Redacted:
    (trace,) = retraced(Source(log), "claude-code")
    return redact(draft(trace), also=[(said, "")])


def written(redacted: Redacted) -> dict[str, bytes]:
    files, _ = contents(redacted, [], load("claude-code").SHOWS)
    return {name: whole(data) for name, data in files.items()}


def test_a_masked_trace_passes() -> None:
    assert "trace.json" in written(made())


@pytest.mark.parametrize("fault", [in_an_output, in_a_pointer, in_a_tag, in_the_manifest])
def test_a_secret_that_slipped_past_the_masker_is_withheld(fault: Callable[..., None]) -> None:
    redacted = made()
    fault(redacted.trace, redacted.evidence, redacted.manifest)
    with pytest.raises(RetraceError, match=r"withheld: \w+\.jsonl? would still hold a secret"):
        written(redacted)


def test_a_file_made_in_many_parts_has_the_bytes_of_one_made_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    at_once = written(made())
    monkeypatch.setattr("forsy_retrace.writers.folder.PORTION", 1)
    parts = contents(made(), [], load("claude-code").SHOWS)[0]["trace.json"]
    assert not isinstance(parts, bytes)
    assert len(list(parts)) > 5
    assert written(made()) == at_once
    assert at_once["trace.json"] == encoded(json.loads(at_once["trace.json"]))


def test_a_secret_in_a_late_part_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forsy_retrace.writers.folder.PORTION", 1)
    target = tmp_path / "trace"
    write_folder(made(), target, [], load("claude-code").SHOWS)
    before = folders.contents(tmp_path)
    redacted = made()
    redacted.trace["steps"][-1].update(dict.fromkeys(("input", "output"), f"it was {LEARNT}"))
    with pytest.raises(RetraceError, match=r"withheld: trace\.json"):
        write_folder(redacted, target, [], load("claude-code").SHOWS)
    assert folders.contents(tmp_path) == before


@pytest.mark.parametrize(
    "word",
    [
        "feedback_content",
        "confidence_deductions",
        "answer_to_agent_question",
        "retraced_from_logs",
        "shortest-passage-that-judges",
    ],
)
def test_a_secret_that_is_a_word_of_the_format_stops_no_trace(word: str) -> None:
    redacted = made(f"DB_PASSWORD={word}", CORRECTED)
    assert "trace.json" in written(redacted)


@pytest.mark.parametrize("term", ["claude", "forsy", "record", "json", "sha256", "CREDENTIAL"])
def test_a_term_that_is_a_word_of_the_format_stops_no_trace(term: str) -> None:
    (trace,) = retraced(Source(LOG), "claude-code")
    redacted = redact(draft(trace), Rules(terms=(term,)))
    assert "trace.json" in written(redacted)


def test_a_word_of_the_format_is_a_secret_where_the_log_says_it() -> None:
    redacted = made("DB_PASSWORD=feedback_content")
    redacted.trace["steps"][1]["output"] = "it is feedback_content"
    with pytest.raises(RetraceError, match=r"withheld: trace\.json"):
        written(redacted)
    redacted = made("DB_PASSWORD=feedback_content")
    redacted.evidence[1]["records"][0]["file"] = "feedback_content"
    with pytest.raises(RetraceError, match=r"withheld: evidence\.jsonl"):
        written(redacted)


def test_no_field_of_a_log_holds_words_of_the_format() -> None:
    assert leaves({"name": "correct-horse", "field": "battery"}) == []
    assert leaves({"name": "correct-horse", "field": "battery"}, ours=False) == [
        ("correct-horse", "name"),
        ("battery", "field"),
    ]
