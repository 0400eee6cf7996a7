"""The tables of a batch, asked as docs/datasets.md says."""

import re
import shutil
from pathlib import Path

import duckdb
import pytest
from runs import FIXTURES, run

PAGE = (Path(__file__).parents[1] / "docs" / "datasets.md").read_text("utf-8")
SECTIONS = [part.partition("\n") for part in PAGE.split("\n## ")[1:]]
QUERIES = [
    (title, body)
    for title, _, section in SECTIONS
    for body in re.findall(r"^```sql\n(.*?)^```", section, re.M | re.S)
]
LOGS = ("push-pull-push", "correction", "test-edit-test-approved", "shell-edits-recorded")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tables of some sessions below `traces`."""
    folder = tmp_path_factory.mktemp("place")
    for name in LOGS:
        (folder / "logs" / name).mkdir(parents=True)
        shutil.copy(FIXTURES / "claude-code" / name / "input.jsonl", folder / "logs" / name)
    run(folder / "logs", folder / "traces")
    return folder


def asked(query: str) -> list[tuple[object, ...]]:
    """The rows that a query gives, by the tables of the working folder."""
    with duckdb.connect() as base:
        return base.execute(query).fetchall()


@pytest.mark.parametrize(("title", "query"), QUERIES, ids=[title for title, _ in QUERIES])
def test_a_query_of_the_page_finds_what_it_asks_for(
    title: str, query: str, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    found = asked(query.replace(".parquet'", ".jsonl'"))
    assert found, title


def test_pairs_are_a_failed_attempt_and_the_one_that_worked(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    (query,) = (query for title, query in QUERIES if title.startswith("Attempts"))
    pushes = [
        row for row in asked(query.replace(".parquet'", ".jsonl'")) if "git push" in str(row[1])
    ]
    ((tool, failed, why, worked, rule),) = pushes
    assert (tool, failed, rule) == ("Bash", worked, "same-command-after-failure")
    assert "rejected" in str(why)


def test_the_lines_of_python_run(
    place: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(place)
    (lines,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)
    exec(lines, {})
    told = capsys.readouterr().out.splitlines()
    assert len(told) == len(LOGS)
    assert any(line.endswith("5 steps, of no use: [2]") for line in told)


def test_parquet_answers_the_same(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    run(place / "logs", tmp_path / "traces", parquet=True)
    for _, query in QUERIES:
        monkeypatch.chdir(tmp_path)
        packed = asked(query)
        monkeypatch.chdir(place)
        assert sorted(map(repr, packed)) == sorted(
            map(repr, asked(query.replace(".parquet'", ".jsonl'")))
        )
