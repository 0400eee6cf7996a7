"""What `forsy-retrace audit` prints, writes and refuses; hybrid traces; strangers' traces."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from asked import refused, run
from audits import FIXTURES, PLAIN, PUSH, audited, told
from folders import contents
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from forsy_retrace.audit.page import page
from forsy_retrace.audit.report import as_json, encoded, table
from forsy_retrace.errors import RetraceError
from forsy_retrace.show import found_problems
from forsy_retrace.verify import verify

PAGE = Path(__file__).parents[1] / "docs" / "audit.md"
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
Json = dict[str, Any]


def written(folder: Path, trace: object, name: str = "claimed.json") -> Path:
    path = folder / name
    text = trace if isinstance(trace, str) else json.dumps(trace)
    path.write_text(text, "utf-8", "surrogatepass")
    return path


# the page


def test_the_page_is_the_one_that_the_tables_give() -> None:
    assert PAGE.read_text("utf-8") == page(), "python -m forsy_retrace.audit.page > docs/audit.md"


def test_the_example_on_the_page_is_what_the_command_prints(tmp_path: Path) -> None:
    (claim,) = re.findall(r"^```json\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)
    (shown,) = re.findall(r"^```text\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)
    log = tmp_path / "session.jsonl"
    log.write_bytes(PUSH.read_bytes())
    done = run("audit", written(tmp_path, claim), "--against", log)
    assert (done.stdout.rstrip(), done.exit_code) == (shown.rstrip(), 1)


# the command


def test_a_true_trace_exits_with_0_and_a_false_one_with_1(tmp_path: Path) -> None:
    claim = told(PLAIN)
    assert run("audit", written(tmp_path, claim), "--against", PLAIN).exit_code == 0
    claim["steps"][1]["success"] = True
    done = run("audit", written(tmp_path, claim), "--against", PLAIN)
    assert done.exit_code == 1
    assert "The log shows the opposite." in done.stdout


def test_json_has_a_verdict_for_each_step_and_both_sides_of_a_difference(tmp_path: Path) -> None:
    claim = told(PLAIN)
    claim["steps"][4]["input"] = "python -m pytest -q tests/test_billing.py"
    done = run("audit", written(tmp_path, claim), "--against", PLAIN, "--json")
    said = json.loads(done.stdout)
    assert [step["verdict"] for step in said["steps"]].count("altered") == 1
    (one,) = said["steps"][4]["differences"]
    assert one["field"] == "input"
    assert "billing" in one["claimed"]
    assert "pricing" in one["log"]


def test_nothing_is_written_unless_it_is_asked_for(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    written(folder, told(PLAIN), "trace.json")
    before = contents(tmp_path)
    assert run("audit", folder, "--against", PLAIN).exit_code == 0
    assert contents(tmp_path) == before


def test_an_audit_is_written_where_it_is_asked_for_and_over_an_audit_only(tmp_path: Path) -> None:
    claim = written(tmp_path, told(PLAIN))
    report = tmp_path / "audit.json"
    for _ in range(2):
        assert run("audit", claim, "--against", PLAIN, "-o", report).exit_code == 0
        assert json.loads(report.read_bytes())["faults"] == 0
    line = refused(2, "audit", claim, "--against", PLAIN, "-o", claim)
    assert "is no audit" in line
    assert sorted(path.name for path in tmp_path.iterdir()) == ["audit.json", "claimed.json"]


def test_a_folder_takes_the_report_and_is_no_log(tmp_path: Path) -> None:
    claim = written(tmp_path, told(PLAIN))
    (tmp_path / "reports").mkdir()
    words = ("audit", claim, "--against")
    assert run(*words, PLAIN, "-o", tmp_path / "reports").exit_code == 0
    assert [path.name for path in (tmp_path / "reports").iterdir()] == ["audit.json"]
    assert "reports: a folder; name one log" in refused(65, *words, tmp_path / "reports")


def test_the_same_audit_gives_the_same_bytes(tmp_path: Path) -> None:
    claim = written(tmp_path, told(PUSH))
    first, second = (run("audit", claim, "--against", PUSH, "--json").stdout for _ in range(2))
    assert first == second


def test_the_session_of_a_log_that_holds_many_is_found(tmp_path: Path) -> None:
    log = FIXTURES / "openai-chat" / "fine-tuning-rows" / "input.jsonl"
    claim = told(log)
    del claim["trace_id"]
    said = json.loads(run("audit", written(tmp_path, claim), "--against", log, "--json").stdout)
    assert said["log"]["trace_id"] == told(log)["trace_id"]


# what can't be read


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", 65),
        ("no trace", 65),
        ("[]", 65),
        ("[1, 2]", 65),
        ("null", 65),
        ('{"steps": 3}', 65),
        ('{"task": "x"}', 65),
        ("[" * 5000, 65),
        ('{"steps": ' + "[" * 600 + "]" * 600 + "}", 65),
    ],
)
def test_what_is_no_trace_is_refused_in_one_line(text: str, code: int, tmp_path: Path) -> None:
    refused(code, "audit", written(tmp_path, text), "--against", PLAIN)


def test_a_missing_trace_or_log_is_refused_in_one_line(tmp_path: Path) -> None:
    refused(2, "audit", tmp_path / "none.json", "--against", PLAIN)
    refused(2, "audit", tmp_path, "--against", PLAIN)
    refused(2, "audit", written(tmp_path, told(PLAIN)), "--against", tmp_path / "none.jsonl")


def test_a_trace_of_another_session_is_told_so(tmp_path: Path) -> None:
    other = FIXTURES / "codex" / "patches" / "input.jsonl"
    claim = told(other)
    done = run("audit", written(tmp_path, claim), "--against", PUSH)
    assert done.exit_code == 1
    assert "it may be of another session" in done.stdout
    row = {"step_index": 1, "action": "user_message", "actor": "user", "input": "Publish my commit"}
    assert "1 confirmed" in run("audit", written(tmp_path, row), "--against", PUSH).stdout


STRANGE = some.recursive(
    some.none()
    | some.booleans()
    | some.integers()
    | some.floats()
    | some.text(max_size=20)
    | some.sampled_from(["user", "user_message", "Bash", "…", "[REDACTED]", "9" * 5000]),
    lambda inner: (
        some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
FIELDS = sorted(told(PUSH)["steps"][0])
WHOLE = sorted(told(PUSH))


@pytest.mark.slow
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    step=some.integers(0, 4),
    changes=some.dictionaries(some.sampled_from(FIELDS), STRANGE, max_size=6),
    others=some.dictionaries(some.sampled_from(WHOLE), STRANGE, max_size=3),
)
def test_a_field_of_any_type_is_borne(step: int, changes: Json, others: Json) -> None:
    claim = told(PUSH)
    claim["steps"][step].update(changes)
    claim.update(others)
    try:
        found = audited(claim, PUSH)
    except RetraceError:
        return  # no list of steps is left
    said = as_json(found)
    assert encoded(found, said)
    assert not CONTROLS.search(table(said).replace("\n", ""))


def test_a_thousand_equal_steps_are_told_apart_by_their_number() -> None:
    claim = told(PUSH)
    again = [dict(claim["steps"][2]) for _ in range(1000)]
    claim["steps"][3:3] = again
    found = audited(claim, PUSH)
    counts = [step.verdict for step in found.steps]
    assert counts.count("confirmed") == 5
    assert counts.count("unsupported") == 1000


def test_a_secret_that_is_a_word_of_the_format_stops_no_audit() -> None:
    claim = told(PUSH)
    claim["steps"][2]["output"] = "DB_PASSWORD=validation_level"
    found = audited(claim, PUSH)
    data = encoded(found, as_json(found))
    assert b'"validation_level"' in data
    assert b"DB_PASSWORD=validation_level" not in data


def test_control_characters_of_a_claim_are_never_printed(tmp_path: Path) -> None:
    claim = told(PUSH)
    claim["steps"][2]["tool"] = "\x1b]0;owned\x07\u202eBash"
    claim["validation_level"] = "\x1b[2J"
    done = run("audit", written(tmp_path, claim), "--against", PUSH)
    assert done.exit_code == 1
    assert not CONTROLS.search(done.stdout.replace("\n", ""))


# what is private


def test_no_secret_of_the_claim_or_the_log_is_shown(tmp_path: Path) -> None:
    mine = "ghp_" + "Zk3vQ9pLm2Xw8RtY5bNc7HdJ4fGs1AeU6oTi"
    theirs = "ghp_" + "w8RtY5bNc7HdJ4fGs1AeU6oTiZk3vQ9pLm2X"
    log = tmp_path / "session.jsonl"
    log.write_bytes(PUSH.read_bytes().replace(b"push origin main", f"push {theirs} x".encode()))
    claim = told(PUSH)
    claim["steps"][1]["input"] = f"git push {mine} main"
    claim["steps"][2]["output"] = f"token {mine}, mail carla.voss@northwind-traders.de"
    claim["final_output"] = f"{mine} is the token"
    claim["trace_mode"] = mine
    claim["static_output"] = {"artifacts": [{"path": f"dist/{mine}.txt", "type": "created"}]}
    path, report, hybrid = written(tmp_path, claim), tmp_path / "audit.json", tmp_path / "hybrid"
    shown = run("audit", path, "--against", log, "-o", report, "--write-hybrid", hybrid).stdout
    shown += run("audit", path, "--against", log, "--json").stdout
    texts = [shown, report.read_text("utf-8"), *map(str, contents(hybrid).values())]
    for text in texts:
        assert mine not in text
        assert theirs not in text
        assert mine[:24] not in text
        assert "carla.voss@" not in text
    assert "CREDENTIAL" in shown


def test_what_a_user_names_as_private_is_masked(tmp_path: Path) -> None:
    claim = told(PUSH)
    claim["steps"][1]["input"] = "git push Bluebird main"
    words = ("audit", written(tmp_path, claim), "--against", PUSH, "--redact-term", "Bluebird")
    assert "Bluebird" not in run(*words).stdout


# hybrid


def hybrid_of(claim: Json, log: Path, folder: Path) -> Path:
    target = folder / "hybrid"
    done = run("audit", written(folder, claim), "--against", log, "--write-hybrid", target)
    assert done.exit_code in (0, 1)
    return target


def test_a_hybrid_keeps_the_reasoning_of_confirmed_steps_and_passes_every_check(
    tmp_path: Path,
) -> None:
    claim = told(PUSH)
    assert claim["steps"][3]["reasoning"] is None
    claim["trace_mode"] = "live"
    for step in claim["steps"][1:]:
        step["reasoning"] = "A push is the last thing to do."
        step["alternatives_considered"] = "A merge."
    claim["steps"][4]["output"] = claim["steps"][4]["input"] = "Nothing was done."
    target = hybrid_of(claim, PUSH, tmp_path)
    assert found_problems(target) == []
    assert verify(target, PUSH) == []
    trace = json.loads((target / "trace.json").read_bytes())
    rows = [json.loads(row) for row in (target / "evidence.jsonl").read_bytes().splitlines()]
    assert (trace["trace_mode"], trace["validation_level"]) == ("hybrid", "retraced_from_logs")
    assert trace["steps"][3]["reasoning"] == "A push is the last thing to do."
    assert rows[3]["fields"]["reasoning"] == {"grade": "self-reported", "claimed_step": 4}
    assert trace["steps"][1]["reasoning"] == told(PUSH)["steps"][1]["reasoning"], "the log's own"
    assert trace["steps"][4]["reasoning"] is None, "the step was altered"
    manifest = json.loads((target / "manifest.json").read_bytes())
    assert manifest["self_reported"] == {"alternatives_considered": 3, "reasoning": 1}
    assert "no log bears them out" in (target / "README.md").read_text("utf-8")


def test_a_lesson_is_kept_only_from_a_trace_that_nothing_speaks_against(tmp_path: Path) -> None:
    claim = told(PUSH)
    claim["learning"] = "Pull before a push."
    target = hybrid_of(claim, PUSH, tmp_path)
    assert json.loads((target / "trace.json").read_bytes())["learning"] == "Pull before a push."
    claim["steps"][1]["success"] = True
    target = hybrid_of(claim, PUSH, tmp_path)
    assert json.loads((target / "trace.json").read_bytes())["learning"] is None


def test_a_self_report_stands_in_a_hybrid_alone(tmp_path: Path) -> None:
    claim = told(PUSH)
    claim["steps"][3]["reasoning"] = "A push is the last thing to do."
    target = hybrid_of(claim, PUSH, tmp_path)
    trace = json.loads((target / "trace.json").read_bytes())
    written(target, {**trace, "trace_mode": "retraced"}, "trace.json")
    found = [(one.step, one.field, one.rule) for one in found_problems(target)]
    assert found == [
        (None, "manifest.trace_mode", "manifest-repeats"),
        (4, "evidence.reasoning", "evidence-grades"),
    ]
