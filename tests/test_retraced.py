"""Whatever a trace says beside what it copies is held against the log retraced."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asked import run
from test_cli import LOG

from forsy_retrace.convert import Options, convert
from forsy_retrace.redact import Rules
from forsy_retrace.verify import judged

FIXTURES = Path(__file__).parents[1] / "fixtures"
WORKED = {
    "claude-code": FIXTURES / "claude-code" / "push-pull-push" / "input.jsonl",
    "codex": FIXTURES / "codex" / "two-streams" / "input.jsonl",
    "pi": FIXTURES / "pi" / "branches" / "input.jsonl",
}


def changed(value: Any) -> Any:
    """Another value of the same type; where there is none, a made-up one."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1 if value >= 0 else 1
        case str():
            return f"{value} not"
        case list():
            return value[1:] or [1]
        case dict():
            return {**value, "more": 1}
    return value


def traced(log: Path, folder: Path, options: Options = Options()) -> Path:  # noqa: B008
    found = list(convert(log, "auto", folder, options))
    assert found
    return folder


def rewrite(path: Path, change: Callable[[Any], None]) -> None:
    value = json.loads(path.read_bytes())
    change(value)
    path.write_text(json.dumps(value), "utf-8")


@pytest.mark.parametrize("log", WORKED.values(), ids=WORKED)
def test_no_value_of_a_step_can_be_changed_unnoticed(log: Path, tmp_path: Path) -> None:
    folder = traced(log, tmp_path / "trace")
    assert judged(folder, log) == ([], "")
    want = set()

    def spoil(trace: Any) -> None:
        for step in trace["steps"]:
            for name, value in step.items():
                if name != "step" and changed(value) != value:
                    step[name] = changed(value)
                    want.add((step["step"], name))

    rewrite(folder / "trace.json", spoil)
    told = {(one.step, one.field.partition("[")[0]) for one in judged(folder, log).found}
    assert len(want) > 30
    assert want - told == set()


def test_no_other_value_of_the_trace_can_be_changed_unnoticed(tmp_path: Path) -> None:
    folder = traced(LOG, tmp_path / "trace")
    whole = json.loads((folder / "trace.json").read_bytes())
    names = [name for name in whole if changed(whole[name]) != whole[name]]
    assert len(names) > 12
    for name in set(names) - {"steps", "trace_mode"}:
        (folder / "trace.json").write_text(json.dumps({**whole, name: changed(whole[name])}))
        found = {re.split(r"[.\[]", one.field)[0] for one in judged(folder, LOG).found}
        assert name in found, name


def _confidence(rows: list[dict[str, Any]]) -> None:
    rows[2]["fields"]["success"]["confidence"] = 0.99


def test_neither_can_evidence_or_the_files_beside_the_trace(tmp_path: Path) -> None:
    folder = traced(LOG, tmp_path / "trace")
    rows = [json.loads(line) for line in (folder / "evidence.jsonl").read_bytes().splitlines()]
    _confidence(rows)
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "evidence.jsonl").write_text(text, "utf-8")
    rewrite(folder / "manifest.json", lambda told: told.update(agent_confidence=99))
    card = (folder / "README.md").read_text("utf-8")
    (folder / "README.md").write_text(card.replace("not shown", "yes"), "utf-8")
    found = {(one.step, one.field) for one in judged(folder, LOG).found}
    assert found == {
        (3, "evidence of success"),
        (0, "manifest.agent_confidence"),
        (0, "README.md"),
    }


WRITTEN = {"generator", "adapter", "formats_available", "sources", "redaction"}
"""What of a manifest tells of its making, and not of the session."""


def test_figures_that_are_counted_when_a_trace_is_written_are_counted_again(tmp_path: Path) -> None:
    history = FIXTURES / "zsh-history" / "extended" / "input.zsh_history"
    for name, log in {**WORKED, "zsh-history": history}.items():
        folder = traced(log, tmp_path / name)
        whole = json.loads((folder / "manifest.json").read_bytes())
        for place, key in (
            (whole["tokens"], list(whole["tokens"])[-1]),
            (whole["sources"][0], "records"),
        ):
            place[key] += 1
            (folder / "manifest.json").write_text(json.dumps(whole), "utf-8")
            place[key] -= 1
            (found,) = {one.field for one in judged(folder, log).found}
            assert found in ("manifest.tokens", "manifest.sources"), name


def test_no_value_of_the_manifest_can_be_changed_unnoticed(tmp_path: Path) -> None:
    folder = traced(LOG, tmp_path / "trace")
    whole = json.loads((folder / "manifest.json").read_bytes())
    names = [name for name in whole if name not in WRITTEN and changed(whole[name]) != whole[name]]
    assert len(names) > 20
    for name in names:
        (folder / "manifest.json").write_text(json.dumps({**whole, name: changed(whole[name])}))
        found = {re.split(r"[.\[]", one.field)[1] for one in judged(folder, LOG).found[:1]}
        assert found == {name}


def test_a_digest_that_no_content_bears_out_is_a_finding(tmp_path: Path) -> None:
    log = FIXTURES / "claude-code" / "approval-with-new-task" / "input.jsonl"
    folder = traced(log, tmp_path / "trace")
    whole = json.loads((folder / "trace.json").read_bytes())
    (one,) = whole["static_output"]["artifacts"]
    assert one["content"]
    one["hash"] = "sha256:" + "0a" * 32
    (folder / "trace.json").write_text(json.dumps(whole), "utf-8")
    fields = [one.field for one in judged(folder, log).found]
    assert fields == ["static_output.artifacts[0].hash"]


def test_nor_has_a_file_one_whose_content_the_log_lacks(tmp_path: Path) -> None:
    log = FIXTURES / "pi" / "plain-turn" / "input.jsonl"
    folder = traced(log, tmp_path / "trace")
    whole = json.loads((folder / "trace.json").read_bytes())
    unseen = [one for one in whole["static_output"]["artifacts"] if one["content"] is None]
    assert unseen
    unseen[0]["hash"] = "sha256:" + "0a" * 32
    (folder / "trace.json").write_text(json.dumps(whole), "utf-8")
    assert [one.field.split("].")[1] for one in judged(folder, log).found] == ["hash"]


@pytest.mark.parametrize("name", ["ids", "surface", "records"])
def test_what_evidence_tells_of_a_step_cannot_be_changed_unnoticed(
    name: str, tmp_path: Path
) -> None:
    folder = traced(LOG, tmp_path / "trace")
    rows = [json.loads(line) for line in (folder / "evidence.jsonl").read_bytes().splitlines()]
    if name == "records":
        rows[2]["records"][0]["line"] += 1
    else:
        rows[2][name] = changed(rows[2][name])
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "evidence.jsonl").write_text(text, "utf-8")
    found = [(one.step, one.field) for one in judged(folder, LOG).found]
    assert found == [(3, f"evidence of {name}")]


def test_masks_cuts_and_prompts_that_were_asked_for_hold(tmp_path: Path) -> None:
    rules = Rules(terms=("origin",), include=("system_prompt", "memory"))
    options = Options(rules=rules, max_output=8)
    for name, log in WORKED.items():
        folder = traced(log, tmp_path / name, options)
        assert judged(folder, log) == ([], "")
    assert "[TERM_1]" in (tmp_path / "claude-code" / "trace.json").read_text("utf-8")


def test_a_text_that_was_cut_from_a_trace_is_compared_whole(tmp_path: Path) -> None:
    folder = traced(LOG, tmp_path / "trace", Options(max_output=8))
    artifact = next((folder / "artifacts").iterdir())
    artifact.write_bytes(artifact.read_bytes() + b" and more")
    assert any(one.field == "output" for one in judged(folder, LOG).found)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"generator": "forsy-retrace 0.0.1"}, "another version made the trace"),
        ({"adapter": "nobodys"}, "no adapter that is here has the name that it gives"),
        (
            {"sources": [{"name": "input.jsonl", "size": 7}]},
            "its log has grown or was changed since",
        ),
    ],
)
def test_what_is_not_retraced_is_told(tmp_path: Path, change: dict[str, Any], why: str) -> None:
    folder = traced(LOG, tmp_path / "trace")
    rewrite(folder / "manifest.json", lambda told: told.update(change))
    assert judged(folder, LOG) == ([], why)
    done = run("verify", folder, "--source", LOG)
    assert done.exit_code == 0
    assert done.stderr == f"Only the named bytes were read again: {why}.\n"
    assert done.stdout == "Every value that was read again holds.\n"


def test_an_unreadable_manifest_is_a_finding(tmp_path: Path) -> None:
    folder = traced(LOG, tmp_path / "trace")
    for broken in (b"{", b"[]", b"\xff"):
        (folder / "manifest.json").write_bytes(broken)
        assert judged(folder, LOG).not_retraced == "its manifest can't be read"
        done = run("verify", folder, "--source", LOG, "--json")
        assert (done.exit_code, "manifest" in done.stdout) == (1, True)


def test_a_session_that_the_log_does_not_have_is_a_finding(tmp_path: Path) -> None:
    folder = traced(LOG, tmp_path / "trace")
    rewrite(folder / "trace.json", lambda told: told.update(trace_id="forsy_trace_" + "0" * 16))
    assert (0, "trace_id") in {(one.step, one.field) for one in judged(folder, LOG).found}


def test_a_history_that_was_cut_by_other_pauses_is_not_compared(tmp_path: Path) -> None:
    log = tmp_path / "zsh_history"
    lines = [
        f": {1_700_000_000 + minute * 60}:0;make step{minute}" for minute in (0, 1, 2, 50, 51, 52)
    ]
    log.write_text("\n".join(lines) + "\n")
    done = run("zsh-history", log, "-o", tmp_path / "whole", "--idle", "90", "-q")
    assert done.exit_code == 0, done.output
    verdict = judged(tmp_path / "whole", log)
    assert verdict.found == []
    assert "cut out of the log in another way" in verdict.not_retraced
    assert run("zsh-history", log, "-o", tmp_path / "parts", "-q").exit_code == 0
    for part in sorted((tmp_path / "parts").iterdir()):
        if part.is_dir():
            assert judged(part, log) == ([], "")


def test_a_grown_log_is_told(tmp_path: Path) -> None:
    log = tmp_path / "s.jsonl"
    shutil.copy(LOG, log)
    folder = traced(log, tmp_path / "trace")
    with log.open("ab") as more:
        more.write(b"\n")
    assert judged(folder, log) == ([], "its log has grown or was changed since")


def test_of_two_sessions_with_one_id_each_is_compared_with_itself(tmp_path: Path) -> None:
    data = (FIXTURES / "codex" / "exec-json" / "input.jsonl").read_bytes()
    second = data.rindex(b'{"type":"thread.started"')
    log = tmp_path / "streams.jsonl"
    log.write_bytes(data + data[:second].replace(b"1 failed", b"2 failed"))
    found = [path.parent for path in traced(log, tmp_path / "all").glob("*/trace.json")]
    ids = [json.loads((one / "manifest.json").read_bytes())["trace_id"] for one in found]
    assert (len(found), len(set(ids))) == (3, 2)
    for folder in found:
        assert judged(folder, log) == ([], "")
