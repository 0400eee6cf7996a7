"""What a trace is held against is the log that the user named, and a spoilt trace is no crash."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asked import refused, run
from test_adapters import CASES
from test_cli import LOG

from forsy_retrace.convert import Options, convert
from forsy_retrace.show import explained
from forsy_retrace.trace_folder import load_folder, sources_of
from forsy_retrace.verify import Logs, held, verify

FIXTURES = Path(__file__).parents[1] / "fixtures"
CHANGED = (b"git pull --rebase", b"git pull --ff-onl")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a log and its trace, which is also the working directory."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(LOG, tmp_path / "s.jsonl")
    assert run("claude-code", "s.jsonl", "-o", "trace", "-q").exit_code == 0
    return tmp_path


def found(folder: Path, name: str) -> list[tuple[int, str]]:
    return [(one.step, one.field) for one in verify(folder / "trace", folder / name)]


def test_a_changed_copy_beside_the_log_is_what_is_read(here: Path) -> None:
    (here / "copy.jsonl").write_bytes(LOG.read_bytes().replace(*CHANGED))
    assert found(here, "copy.jsonl") == [(3, "input")]
    assert "--ff-onl" in explained(here / "trace", 3, "input", here / "copy.jsonl")
    assert found(here, "s.jsonl") == []


def test_why_shows_no_text_of_a_log_that_a_users_own_words_were_masked_in(here: Path) -> None:
    asked = ["--redact-term", "origin", "--redact-pattern", "fast-forw\\w+"]
    assert run("claude-code", "s.jsonl", "-o", "masked", "-q", *asked).exit_code == 0
    for field in ("input", "output"):
        why = ("show", "masked", "--step", "2", "--why", field, "--source", "s.jsonl")
        closed, opened = run(*why).output, run(*why, *asked).output
        assert "--redact-" in closed
        assert "\n    " not in closed
        assert "[TERM_" in opened
        assert not any(word in closed + opened for word in ("origin", "fast-forward"))


def test_a_log_under_another_name_holds(here: Path) -> None:
    shutil.copy(LOG, here / "copy.jsonl")
    (here / "link.jsonl").symlink_to("copy.jsonl")
    assert found(here, "copy.jsonl") == found(here, "link.jsonl") == []


def test_another_log_is_told_first(here: Path) -> None:
    shutil.copy(FIXTURES / "claude-code" / "plan-accepted" / "input.jsonl", here / "other.jsonl")
    (here / "empty.jsonl").touch()
    for name in ("other.jsonl", "empty.jsonl"):
        assert found(here, name)[0] == (0, "source")
        assert (1, "records") in found(here, name)


def test_a_log_that_grew_still_holds(here: Path) -> None:
    (here / "s.jsonl").write_bytes(LOG.read_bytes() + b'{"type":"summary","summary":"x"}\n')
    assert found(here, "s.jsonl") == []


def test_what_is_no_file_is_no_log(here: Path) -> None:
    os.mkfifo(here / "pipe")
    assert "not a regular file" in refused(65, "verify", "trace", "--source", "pipe")


@pytest.mark.parametrize("case", ["subagent-directory", "subagent-sibling-file"])
def test_companions_are_found_beside_a_log_that_was_moved_and_converted_from_afar(
    case: str, tmp_path: Path
) -> None:
    shutil.copytree(FIXTURES / "claude-code" / case, tmp_path / "logs" / "deep")
    shutil.rmtree(tmp_path / "logs" / "deep" / "trace")
    assert run("claude-code", tmp_path / "logs", "-o", tmp_path / "traces", "-q").exit_code == 0
    (tmp_path / "logs").rename(tmp_path / "moved")
    (trace,) = (tmp_path / "traces").iterdir()
    assert verify(trace, tmp_path / "moved" / "deep" / "input.jsonl") == []
    assert verify(trace, tmp_path / "moved") == []


@pytest.mark.parametrize("case", ["browsing-2023", "browsing-2025", "browsing-2026", "file-search"])
def test_a_text_of_several_places_holds_where_it_is_cut(case: str, tmp_path: Path) -> None:
    log, trace = FIXTURES / "chatgpt" / case / "input.json", tmp_path / "trace"
    list(convert(log, "chatgpt", trace, Options(max_output=8)))
    assert b'"rule":"pieces-joined"' in (trace / "evidence.jsonl").read_bytes()
    assert verify(trace, log) == []
    for artifact in (trace / "artifacts").iterdir():
        artifact.write_bytes(artifact.read_bytes() + b".")
    assert {one.text for one in verify(trace, log)} == {
        "the artifact with its whole text was changed"
    }


def test_a_thumb_is_held_against_the_file_that_shows_it(tmp_path: Path) -> None:
    here = tmp_path / "export"
    shutil.copytree(FIXTURES / "chatgpt" / "thumbs", here, ignore=shutil.ignore_patterns("trace"))
    assert list(convert(here / "input.json", "chatgpt", here / "trace"))
    assert found(here, "input.json") == []
    thumbs = here / "message_feedback.json"
    thumbs.write_bytes(thumbs.read_bytes().replace(b"thumbs_up", b"thumbs_no"))
    assert found(here, "input.json")[:2] == [(2, "eval"), (2, "eval_reason")]


def test_words_in_several_places_hold_around_a_mask_and_in_their_order(tmp_path: Path) -> None:
    data = (FIXTURES / "codex" / "half-told-calls" / "input.jsonl").read_bytes()
    log, trace = tmp_path / "rollout.jsonl", tmp_path / "trace"
    log.write_bytes(data)
    assert run("codex", log, "-o", trace, "-q").exit_code == 0
    assert "[USER_1]" in (trace / "trace.json").read_text()
    assert verify(trace, log) == []
    log.write_bytes(data.replace(b'and say \\"done\\"', b'and say \\"gone\\"'))
    found = [(one.step, one.field) for one in verify(trace, log)]
    assert found == [(1, "input"), (0, "task"), (0, "manifest.task")]


def test_what_stands_around_a_mask_may_not_lose_its_ends(tmp_path: Path) -> None:
    log = tmp_path / "s.jsonl"
    log.write_bytes(
        LOG.read_bytes().replace(b"git push origin main", b"git push kim@zentra.dev me")
    )
    assert run("claude-code", str(log), "-o", str(tmp_path / "trace"), "-q").exit_code == 0
    path = tmp_path / "trace" / "trace.json"
    trace = json.loads(path.read_bytes())
    step = next(one for one in trace["steps"] if "[EMAIL_1]" in (one["input"] or ""))
    head, mark, tail = step["input"].partition("[EMAIL_1]")
    assert verify(path.parent, log) == []
    for less in (head[3:] + mark + tail, head + mark + tail[:-3]):
        step["input"] = less
        path.write_text(json.dumps(trace), "utf-8")
        assert "input" in {one.field for one in verify(path.parent, log)}, less


def test_a_log_that_shows_the_cuts_of_another_trace_holds(here: Path) -> None:
    mark = f"[… 5 tokens omitted, full text: artifacts/{'0' * 16}.txt, sha256:{'0' * 64} …]"
    shown = " ".join(f"{mark} {number}" for number in range(40))
    rows = [json.loads(row) for row in LOG.read_text().splitlines()]
    next(block for row in rows for block in results(row))["content"] = shown
    (here / "s.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    list(convert(here / "s.jsonl", "claude-code", here / "trace", Options(max_output=200)))
    step = json.loads((here / "trace" / "trace.json").read_bytes())["steps"][1]
    assert step["output"].startswith(mark)
    assert len(step["output"]) < len(shown)
    assert found(here, "s.jsonl") == []
    (artifact,) = (here / "trace" / "artifacts").glob("*.txt")
    artifact.unlink()
    assert found(here, "s.jsonl") == [(2, "output")]


def results(row: Any) -> list[Any]:
    content = row.get("message", {}).get("content")
    blocks = content if isinstance(content, list) else []
    return [block for block in blocks if block.get("type") == "tool_result"]


def test_a_call_of_a_server_without_arguments_holds(tmp_path: Path) -> None:
    data = (FIXTURES / "codex" / "exec-json-2025" / "input.jsonl").read_bytes()
    data = data.replace(b'"mcp_tool_call_begin"', b'"mcp_tool_call_note"')
    steps = holding(
        tmp_path, "codex", data.replace(b'"arguments":{"name":"csv"}', b'"arguments":null')
    )
    asked = '{"server":"docs","tool":"lookup","arguments":null}'
    assert [step["input"] for step in steps if step["tool"] == "mcp__docs__lookup"] == [asked]


def test_an_answer_that_stands_behind_an_odd_part_holds(tmp_path: Path) -> None:
    case = FIXTURES / "codex" / "code-that-shows-an-exit-status" / "input.jsonl"
    old, answer = b'"text":"Script completed', b'"text":"{\\"answers'
    head, mark, tail = case.read_bytes().partition(answer)
    before, _, after = head.rpartition(old)
    odd = b'"text":null,"was":"Script completed'
    steps = holding(tmp_path, "codex", before + odd + after + mark + tail)
    assert "Total, in lower case" in [step["input"] for step in steps]


def holding(folder: Path, adapter: str, data: bytes) -> Any:
    """The steps of a log's trace, which it bears out."""
    (folder / "log.jsonl").write_bytes(data)
    assert run(adapter, folder / "log.jsonl", "-o", folder / "trace", "-q").exit_code == 0
    assert verify(folder / "trace", folder / "log.jsonl") == []
    return json.loads((folder / "trace" / "trace.json").read_bytes())["steps"]


def with_all(rows: list[Any], **fields: Any) -> None:
    for row in rows:
        row.update(fields)


def with_grounds(rows: list[Any], **fields: Any) -> None:
    for row in rows:
        for entry in row["fields"].values():
            entry.update(fields)


HALF = "\ud800"
SPOILT: dict[str, Callable[[Any, list[Any]], Any]] = {
    "no summary": lambda trace, rows: trace.pop("summary"),
    "no tool": lambda trace, rows: trace["steps"][1].pop("tool"),
    "an object sent": lambda trace, rows: with_all(trace["steps"], input={"a": 1}),
    "no actor": lambda trace, rows: with_all(trace["steps"], actor=None),
    "step zero": lambda trace, rows: with_all(trace["steps"], caused_by=[0]),
    "rows without fields": lambda trace, rows: [row.pop("fields") for row in rows],
    "rows without records": lambda trace, rows: [row.pop("records") for row in rows],
    "records of text": lambda trace, rows: with_all(rows, records=["x"]),
    "offsets of text": lambda trace, rows: with_all(
        [record for row in rows for record in row["records"]], start="0", end="9"
    ),
    "offsets below zero": lambda trace, rows: with_all(
        [record for row in rows for record in row["records"]], start=-9, end=-1
    ),
    "a record below zero": lambda trace, rows: with_grounds(rows, record=-1),
    "parts of text": lambda trace, rows: with_grounds(rows, parts="x"),
    "votes of text": lambda trace, rows: with_grounds(rows, votes=["x"]),
    "half a surrogate pair": lambda trace, rows: with_grounds(rows, record=HALF),
    "it in a key": lambda trace, rows: [row["fields"].update({HALF: {}}) for row in rows],
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_a_trace_that_somebody_edited_is_refused_in_one_line(
    spoil: Callable[[Any, list[Any]], Any], here: Path
) -> None:
    trace = json.loads((here / "trace" / "trace.json").read_bytes())
    lines = (here / "trace" / "evidence.jsonl").read_bytes().splitlines()
    rows = [json.loads(line) for line in lines]
    spoil(trace, rows)
    (here / "trace" / "trace.json").write_text(json.dumps(trace))
    (here / "trace" / "evidence.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    why = ("--step", 2, "--why", "input", "--source", "s.jsonl")
    for words in (("show", "trace"), ("show", "trace", *why), ("show", "trace", "--step", 1)):
        assert "see validate" in refused(65, *words)
    assert "see validate" in refused(65, "verify", "trace", "--source", "s.jsonl")


def test_a_value_that_the_format_does_not_know_is_shown_and_found(here: Path) -> None:
    text = (here / "trace" / "trace.json").read_text().replace('"eval": -1', '"eval": 5')
    (here / "trace" / "trace.json").write_text(text)
    assert run("show", "trace").exit_code == 0
    assert run("validate", "trace").exit_code == 1


@pytest.mark.parametrize(("field", "value"), [("started_at", {}), ("caused_by", [10**30])])
def test_a_value_of_another_kind_is_no_crash(field: str, value: Any, here: Path) -> None:
    trace = json.loads((here / "trace" / "trace.json").read_bytes())
    trace["steps"][1][field] = value
    (here / "trace" / "trace.json").write_text(json.dumps(trace))
    for words in (("show", "trace", "--step", 2), ("verify", "trace", "--source", "s.jsonl")):
        assert run(*words).exit_code in (0, 1, 65)


@pytest.mark.parametrize("manifest", [[], {"redaction": None}, {"redaction": 7}, {}])
def test_a_manifest_that_somebody_edited_is_no_crash(manifest: Any, here: Path) -> None:
    (here / "trace" / "manifest.json").write_text(json.dumps(manifest))
    done = run("show", "trace", "--step", 2, "--why", "input", "--source", "s.jsonl")
    assert done.exit_code == 0


def test_a_trace_that_may_not_be_read_is_not_said_to_be_missing(here: Path) -> None:
    (here / "trace" / "trace.json").unlink()
    (here / "trace" / "trace.json").mkdir()
    for words in (("show", "trace"), ("validate", "trace")):
        assert "trace.json: Is a directory" in refused(65, *words)


NOT_DECIDED_AGAIN = {"aggregate-result": 5, "error-field": 2, "exit-code": 1, "success-field": 1}
"""Outcomes of the fixtures that `verify` can't decide again: beside the word for success there may
stand an exception, an answer of which the end is lost is named whole, and code may call a status
what it likes."""


def test_an_outcome_that_somebody_turned_round_is_found() -> None:
    turned: dict[str, int] = {}
    for case in CASES:
        for told in sorted((case.folder / "trace").rglob("trace.json")):
            trace, rows = load_folder(told.parent)
            logs = Logs(case.path, sources_of(told.parent, rows))
            for step, row in zip(trace["steps"], rows, strict=True):
                entry = row["fields"].get("success", {})
                if entry.get("grade") != "derived":
                    continue
                other = {**step, "success": not step["success"]}
                if not held(other, row, logs, told.parent):
                    turned[entry["rule"]] = turned.get(entry["rule"], 0) + 1
    assert turned == NOT_DECIDED_AGAIN


def edited(folder: Path, name: str, change: Callable[[Any], None]) -> None:
    """A file of a trace folder with another value in it."""
    path = folder / name
    held = [json.loads(line) for line in path.read_bytes().splitlines()] if name[-1] == "l" else []
    value = held or json.loads(path.read_bytes())
    change(value)
    told = "\n".join(map(json.dumps, held)) if held else json.dumps(value)
    path.write_text(told + "\n", "utf-8")


def test_a_way_of_counting_that_is_no_word_is_told(here: Path) -> None:
    edited(here / "trace", "manifest.json", lambda told: told["tokens"].update(method=[]))
    assert found(here, "s.jsonl") == [(0, "manifest.tokens")]


def test_a_place_in_no_record_makes_no_trace(here: Path) -> None:
    edited(here / "trace", "evidence.jsonl", lambda rows: rows[1].update(records=[]))
    for words in (("show", "trace"), ("verify", "trace", "--source", "s.jsonl")):
        assert "its evidence.jsonl is no trace's" in refused(65, *words)


def test_a_thing_said_twice_makes_no_evidence(here: Path) -> None:
    path = here / "trace" / "evidence.jsonl"
    path.write_text(path.read_text().replace('{"step":2,', '{"step":99,"step":2,', 1))
    assert "says each thing once" in refused(65, "validate", "trace")
