"""The gate reads the finished bytes: what slipped past the masker is withheld, whole."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forsy_retrace.convert import retrace
from forsy_retrace.document import draft
from forsy_retrace.errors import RetraceError
from forsy_retrace.redact import Redacted, Rules, leaves, redact
from forsy_retrace.registry import load
from forsy_retrace.source import Source
from forsy_retrace.writers.folder import contents

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
    (trace,) = retrace(Source(log), "claude-code")
    return redact(draft(trace), also=[(said, "")])


def test_a_masked_trace_passes() -> None:
    assert "trace.json" in contents(made(), [], load("claude-code").SHOWS)[0]


@pytest.mark.parametrize("fault", [in_an_output, in_a_pointer, in_a_tag, in_the_manifest])
def test_a_secret_that_slipped_past_the_masker_is_withheld(fault: Callable[..., None]) -> None:
    redacted = made()
    fault(redacted.trace, redacted.evidence, redacted.manifest)
    with pytest.raises(RetraceError, match=r"withheld: \w+\.jsonl? would still hold a secret"):
        contents(redacted, [], load("claude-code").SHOWS)


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
    assert "trace.json" in contents(redacted, [], load("claude-code").SHOWS)[0]


@pytest.mark.parametrize("term", ["claude", "forsy", "record", "json", "sha256", "CREDENTIAL"])
def test_a_term_that_is_a_word_of_the_format_stops_no_trace(term: str) -> None:
    (trace,) = retrace(Source(LOG), "claude-code")
    redacted = redact(draft(trace), Rules(terms=(term,)))
    assert "trace.json" in contents(redacted, [], load("claude-code").SHOWS)[0]


def test_a_word_of_the_format_is_a_secret_where_the_log_says_it() -> None:
    redacted = made("DB_PASSWORD=feedback_content")
    redacted.trace["steps"][1]["output"] = "it is feedback_content"
    with pytest.raises(RetraceError, match=r"withheld: trace\.json"):
        contents(redacted, [], load("claude-code").SHOWS)
    redacted = made("DB_PASSWORD=feedback_content")
    redacted.evidence[1]["records"][0]["file"] = "feedback_content"
    with pytest.raises(RetraceError, match=r"withheld: evidence\.jsonl"):
        contents(redacted, [], load("claude-code").SHOWS)


def test_no_field_of_a_log_holds_words_of_the_format() -> None:
    assert leaves({"name": "correct-horse", "field": "battery"}) == []
    assert leaves({"name": "correct-horse", "field": "battery"}, ours=False) == [
        ("correct-horse", "name"),
        ("battery", "field"),
    ]
