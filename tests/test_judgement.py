"""The page on judgement says what the rules are, and every rule that speaks is on it."""

import json
import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forsy_retrace.builder.page import page
from forsy_retrace.builder.sections import SECTIONS, sentence_of

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "judgement.md"
EVIDENCE = sorted(ROOT.glob("fixtures/*/*/trace/**/evidence.jsonl"))

ROWS = [(section.name, row) for section in SECTIONS for row in section.rows]
OF_COMMANDS = frozenset(re.split(r"[\s`,.:|]+", (ROOT / "docs" / "commands.md").read_text("utf-8")))
"""The words of the page of commands, whose rows are the rules of shell lines."""


def rows_of_evidence() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every ground of every golden trace, with its field."""
    for path in EVIDENCE:
        for line in path.read_text("utf-8").splitlines():
            yield from json.loads(line)["fields"].items()


def test_the_page_is_the_one_that_the_rules_give() -> None:
    assert PAGE.read_text("utf-8") == page(), (
        "python -m forsy_retrace.builder.page > docs/judgement.md"
    )


def test_each_rule_has_a_sentence_and_a_figure() -> None:
    for section, row in ROWS:
        assert re.fullmatch(r"[a-z][a-z0-9-]*", row.name)
        assert row.sentence.endswith((".", "`")), row.name
        assert len(row.sentence) > 15, row.name
        if section in ("result", "ending", "confide"):
            assert row.between is None, row.name
            continue
        assert row.between is not None, row.name
        low, high = row.between
        assert 0 < low <= high <= 1, row.name


@pytest.mark.parametrize("section", SECTIONS, ids=lambda one: one.name)
def test_no_rule_stands_twice(section: Any) -> None:
    names = [row.name for row in section.rows]
    assert len(names) == len(set(names))


def test_every_rule_that_speaks_in_a_golden_trace_is_on_the_page() -> None:
    known = {row.name for _, row in ROWS}
    spoken: set[str] = set()
    of_commands: set[str] = set()
    for field, ground in rows_of_evidence():
        if ground["grade"] == "inferred":
            (of_commands if field == "operation" else spoken).add(ground["rule"])
        spoken.update(vote["rule"] for vote in ground.get("votes", ()))
    assert spoken
    assert spoken <= known
    first = {re.split("[: ]", one)[0] for one in of_commands - known}
    assert "git" in first
    assert first <= OF_COMMANDS


def test_a_rule_on_the_page_is_found_by_the_field_that_it_gave() -> None:
    known = {row.name for _, row in ROWS}
    for field, ground in rows_of_evidence():
        if ground.get("rule") in known:
            assert sentence_of(field, ground["rule"]), (field, ground["rule"])
    assert sentence_of("eval", "exit-code") is None


def test_the_script_on_the_page_reads_a_golden_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = re.findall(r"```python\n(.*?)```", page(), re.S)
    assert len(script) == 1
    voted = next(path for path in EVIDENCE if '"says-it-is-wrong"' in path.read_text("utf-8"))
    (tmp_path / "evidence.jsonl").write_bytes(voted.read_bytes())
    (tmp_path / "weigh.py").write_text(script[0], "utf-8")
    monkeypatch.chdir(tmp_path)
    runpy.run_path("weigh.py")
    assert "direct_request" in capsys.readouterr().out
