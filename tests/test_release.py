"""`validate` stops a trace that shows a secret, or lacks what it names, before it is given away."""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forsy_retrace.convert import Options, convert
from forsy_retrace.release import unfit

Json = Any
TOKEN = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
IDS = {"sessionId": "5f9c8f9e-0000-4000-8000-000000000001", "timestamp": "2026-01-31T12:00:00.000Z"}
LINES = "\n".join(f"line {n} of a long list" for n in range(200))


def said(n: int, role: str, *blocks: Json) -> str:
    parent = str(n - 1) if n > 1 else None
    message = {"role": role, "content": list(blocks)}
    return json.dumps(
        {"type": role, "uuid": str(n), "parentUuid": parent, **IDS, "message": message}
    )


def called(n: int, tool: str, **given: str) -> Json:
    return {"type": "tool_use", "id": f"call_{n}", "name": tool, "input": given}


def gave(n: int, text: str) -> Json:
    return {"type": "tool_result", "tool_use_id": f"call_{n}", "content": text}


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """A trace with a picture, a file that was written, and an output that was cut."""
    data = base64.b64encode(PNG).decode()
    picture = {"type": "base64", "media_type": "image/png", "data": data}
    records = [
        said(1, "user", {"type": "text", "text": "List it"}, {"type": "image", "source": picture}),
        said(2, "assistant", called(1, "Write", file_path="/srv/app/a.txt", content="one\n")),
        said(3, "user", gave(1, "File created successfully at: /srv/app/a.txt")),
        said(4, "assistant", called(2, "Bash", command="cat /srv/app/list.txt")),
        said(5, "user", gave(2, LINES)),
    ]
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(records) + "\n")
    list(convert(log, "claude-code", tmp_path / "trace", Options(max_output=64, media=True)))
    return tmp_path / "trace"


def found(trace: Path) -> list[tuple[int | None, str, str]]:
    problems = unfit(trace)
    assert not any(TOKEN[:8] in one.text + one.field for one in problems)
    return [(one.step, one.field, one.rule) for one in problems]


def edited(trace: Path, edit: Callable[[Json], None]) -> Path:
    path = trace / "trace.json"
    whole = json.loads(path.read_bytes())
    edit(whole)
    path.write_text(json.dumps(whole))
    return trace


def artifact(trace: Path, suffix: str, of: bytes) -> Path:
    (one,) = [p for p in (trace / "artifacts").glob(f"*{suffix}") if of in p.read_bytes()]
    return one


def test_a_trace_as_it_was_written_is_fit(trace: Path) -> None:
    assert found(trace) == []
    assert found(trace / "trace.json") == []


def test_a_secret_in_the_open_is_told_by_its_step(trace: Path) -> None:
    def leak(whole: Json) -> None:
        whole["steps"][1]["input"] += f" {TOKEN}"
        whole["steps"][2][TOKEN] = "a field of their own"
        whole["task"] = f"Use {TOKEN}"

    wanted = [(None, "trace", "secrets"), (2, "input", "secrets"), (3, "steps", "secrets")]
    assert found(edited(trace, leak)) == wanted
    assert found(trace / "trace.json") == wanted


def test_what_only_looks_like_a_secret_is_let_be(trace: Path) -> None:
    def mask(whole: Json) -> None:
        whole["steps"][1]["input"] = "password=[CREDENTIAL_1] ghp_ 7c547d44 sha256:" + "ab" * 32

    assert found(edited(trace, mask)) == []


def test_a_secret_in_the_files_beside_the_trace_is_told(trace: Path) -> None:
    with (trace / "README.md").open("a") as card:
        card.write(TOKEN)
    whole = artifact(trace, ".txt", b"line 150")
    whole.write_text(LINES + TOKEN)
    name = f"artifacts/{whole.name}"
    assert found(trace) == [
        (None, "README.md", "secrets"),
        (None, name, "secrets"),
        (None, name, "files"),
    ]


def test_a_secret_in_a_file_that_is_none_of_the_trace_is_told(trace: Path) -> None:
    (trace / "artifacts" / "more").mkdir()
    names = ["artifacts/more/one", "artifacts/notes.txt", f"{TOKEN}.log", "notes.txt"]
    for name in names:
        (trace / name).write_text(f"Use {TOKEN} here.")
    (trace / "harmless.txt").write_text("Nothing to see.")
    masked = [name.replace(TOKEN, "[CREDENTIAL_1]") for name in names]
    told = found(trace)
    assert sorted(told) == [(None, name, "secrets") for name in sorted(masked)]


@pytest.mark.parametrize("name", ["README.md", "evidence.jsonl", "manifest.json"])
def test_a_file_that_the_folder_lacks_is_named(name: str, trace: Path) -> None:
    (trace / name).unlink()
    assert found(trace) == [(None, name, "files")]
    assert found(trace / "trace.json") == []


def test_the_live_trace_of_an_agent_needs_no_evidence(trace: Path) -> None:
    (trace / "evidence.jsonl").unlink()
    assert found(edited(trace, lambda whole: whole.update(trace_mode="live"))) == []


@pytest.mark.parametrize(
    ("suffix", "of", "step", "field"),
    [
        (".txt", b"line 150", 3, "output"),
        (".txt", b"one\n", None, "static_output.artifacts[0]"),
        (".png", PNG, None, "manifest.media.kept[0]"),
    ],
)
def test_an_artifact_that_is_missing_or_changed_is_told(
    suffix: str, of: bytes, step: int | None, field: str, trace: Path
) -> None:
    one = artifact(trace, suffix, of)
    data = one.read_bytes()
    one.write_bytes(data + b"x")
    assert found(trace) == [(None, f"artifacts/{one.name}", "files")]
    one.unlink()
    assert found(trace) == [(step, field, "files")]
    one.write_bytes(data)
    assert found(trace) == []


def test_odd_values_stop_no_judgement(trace: Path) -> None:
    (trace / "evidence.jsonl").write_text('7\n{"fields":[]}\n{"fields":{"output":{"cut":true}}}\n')
    manifest = json.loads((trace / "manifest.json").read_bytes())
    manifest["media"] = {"kept": [7, {"file": 7}, {"file": "../" * 9000}]}
    (trace / "manifest.json").write_text(json.dumps(manifest))
    assert found(trace) == [(None, "manifest.media.kept[2]", "files")]
    for whole in ("7", "[]", '{"steps": 7}', '{"steps": [7, null]}', "[" * 900 + "]" * 900):
        (trace / "trace.json").write_text(whole)
        found(trace)
