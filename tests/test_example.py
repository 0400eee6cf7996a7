"""The README's worked example: a push fails, a pull mends it, the second push goes through."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from asked import run

LOG = Path(__file__).parents[1] / "fixtures" / "claude-code" / "push-pull-push" / "input.jsonl"
ASKED, PUSH, PULL, AGAIN, TOLD = 1, 2, 3, 4, 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("example") / "trace"
    done = run("claude-code", LOG, "-o", target, "-q")
    assert done.exit_code == 0
    return target


@pytest.fixture(scope="module")
def steps(folder: Path) -> dict[int, dict[str, Any]]:
    found = json.loads((folder / "trace.json").read_bytes())["steps"]
    return {step["step"]: step for step in found}


@pytest.fixture(scope="module")
def rows(folder: Path) -> dict[int, dict[str, Any]]:
    found = [json.loads(line) for line in (folder / "evidence.jsonl").read_bytes().splitlines()]
    return {row["step"]: row for row in found}


def why(folder: Path, step: int, field: str) -> str:
    done = run("show", folder, "--step", step, "--why", field, "--source", LOG)
    assert done.exit_code == 0, done.stderr
    return done.stdout


def steps_named(text: str) -> set[int]:
    return {int(number) for number in re.findall(r"[Ss]tep (\d+)", text)}


def at(record: dict[str, Any], pointer: str) -> Any:
    """What the log's own bytes say there, found without our reader."""
    value = json.loads(LOG.read_bytes()[record["start"] : record["end"]])
    for part in pointer.split("/")[1:]:
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


def test_the_steps_are_the_request_three_commands_and_the_answer(
    steps: dict[int, dict[str, Any]],
) -> None:
    commands = [json.loads(steps[n]["input"])["command"] for n in (PUSH, PULL, AGAIN)]
    assert list(steps) == [ASKED, PUSH, PULL, AGAIN, TOLD]
    assert commands == [
        "git push origin main",
        "git pull --rebase origin main",
        "git push origin main",
    ]
    assert steps[ASKED]["input"] == "Publish my commit"


def test_the_first_push_failed_and_was_worth_less_than_nothing(
    steps: dict[int, dict[str, Any]],
) -> None:
    assert steps[PUSH]["success"] is False
    assert steps[PUSH]["eval"] == -1
    assert steps[PUSH]["retry_of"] is None


def test_the_directive_of_the_first_push_names_the_step_that_came_instead(
    steps: dict[int, dict[str, Any]],
) -> None:
    assert PULL in steps_named(steps[PUSH]["directive"])
    assert PUSH not in steps_named(steps[PUSH]["directive"])


def test_the_pull_was_caused_by_the_failed_push(steps: dict[int, dict[str, Any]]) -> None:
    assert steps[PULL]["caused_by"] == [PUSH]
    assert steps[PULL]["success"] is True
    assert steps[PULL]["retry_of"] is None
    assert steps[PULL]["directive"] is None


def test_the_second_push_is_a_retry_after_the_failure(steps: dict[int, dict[str, Any]]) -> None:
    assert steps[AGAIN]["retry_of"] == PUSH
    assert steps[AGAIN]["causal_type"] == "retry_after_failure"
    assert steps[AGAIN]["caused_by"] == [PUSH, PULL]
    assert steps[AGAIN]["success"] is True


def test_the_note_of_the_second_push_names_the_pull(steps: dict[int, dict[str, Any]]) -> None:
    assert steps_named(steps[AGAIN]["causal_note"]) == {PUSH, PULL}


@pytest.mark.parametrize("number", [ASKED, PUSH, PULL, AGAIN, TOLD])
def test_why_explains_every_field_that_has_a_ground(
    number: int, folder: Path, steps: dict[int, dict[str, Any]], rows: dict[int, dict[str, Any]]
) -> None:
    for field, entry in rows[number]["fields"].items():
        said = why(folder, number, field)
        value = steps[number][field]
        shown = value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
        assert said.startswith(f"step {number}, {field}: {shown}\n")
        assert f"  grade       {entry['grade']}\n" in said
        if entry["grade"] == "verbatim":
            assert "rule" not in entry
        else:
            assert f"  rule        {entry['rule']}\n" in said
        if entry["grade"] == "inferred":
            assert f"  confidence  {entry['confidence']}\n" in said
        assert re.search(r"  record      input\.jsonl line \d+, bytes \d+-\d+", said)


@pytest.mark.parametrize("number", [ASKED, PUSH, PULL, AGAIN, TOLD])
def test_what_why_quotes_stands_in_the_logs_bytes(
    number: int, folder: Path, steps: dict[int, dict[str, Any]], rows: dict[int, dict[str, Any]]
) -> None:
    for field, entry in rows[number]["fields"].items():
        if "record" not in entry or "pointer" not in entry:
            continue
        record = rows[number]["records"][entry["record"]]
        there = at(record, entry["pointer"])
        text = there if isinstance(there, str) else json.dumps(there, separators=(",", ":"))
        if entry["grade"] == "verbatim":
            assert steps[number][field] == text
        indented = "".join(f"    {line}\n" for line in text.split("\n"))
        place = f"line {record['line']}, bytes {record['start']}-{record['end']}"
        assert f"{place} {entry['pointer']}\n{indented}" in why(folder, number, field)


def test_why_shows_the_error_flag_behind_the_failure(
    folder: Path, rows: dict[int, dict[str, Any]]
) -> None:
    entry = rows[PUSH]["fields"]["success"]
    assert entry["rule"] == "error-flag"
    assert at(rows[PUSH]["records"][entry["record"]], entry["pointer"]) is True
    assert why(folder, PUSH, "success").endswith("/message/content/0/is_error\n    true\n")


def test_why_names_the_steps_that_a_cause_or_a_retry_rests_on(
    folder: Path, rows: dict[int, dict[str, Any]]
) -> None:
    for number, field, others in (
        (PULL, "caused_by", [PUSH]),
        (AGAIN, "caused_by", [PUSH, PULL]),
        (AGAIN, "retry_of", [PUSH]),
    ):
        assert rows[number]["fields"][field]["steps"] == others
        said = [line for line in why(folder, number, field).splitlines() if line.startswith("  ")]
        for other in others:
            assert any(re.match(rf"  (rests on|steps) .*\b{other}\b", line) for line in said)


def test_why_says_null_of_what_the_log_does_not_show(folder: Path) -> None:
    assert "no ground: null" in why(folder, PUSH, "alternatives_considered")


def test_the_overview_shows_the_failure_the_causes_and_the_retry(folder: Path) -> None:
    said = run("show", folder).stdout
    lines = {int(line.split()[0]): line for line in said.splitlines()[3:]}
    assert "FAILED" in lines[PUSH]
    assert "-1" in lines[PUSH].rsplit("[", 1)[1]
    assert f"<- {PUSH}" in lines[PULL]
    assert f"retry of {PUSH}" in lines[AGAIN]
