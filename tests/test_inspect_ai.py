"""Inspect AI's zips: however they were packed, repacked, cut or damaged."""

import json
import zipfile
from pathlib import Path
from typing import BinaryIO

import pytest
from asked import run

from forsy_retrace import Written, convert
from forsy_retrace.convert import Options
from forsy_retrace.redact import Rules
from forsy_retrace.source import Source
from forsy_retrace.source.log import Member

FIXTURES = Path(__file__).parents[1] / "fixtures" / "inspect-ai"
DEFLATED = FIXTURES / "steps-zipped" / "input.eval"
ZSTD = FIXTURES / "handoff-interrupted" / "input.eval"
HASHED = "orders#1/first"


def repacked(path: Path, lead: str, name: str = "") -> Path:
    """The zip packed anew below a folder; its sample under another id."""
    with zipfile.ZipFile(DEFLATED) as old, zipfile.ZipFile(path, "w") as new:
        for one in old.namelist():
            renamed = one.replace("samples/4_", f"samples/{name}_") if name else one
            new.writestr(lead + renamed, old.read(one))
    return path


@pytest.mark.parametrize(("lead", "name"), [("run/", ""), ("", HASHED), ("run/", HASHED)])
def test_a_zip_packed_anew_is_read_and_verified(lead: str, name: str, tmp_path: Path) -> None:
    path, out = repacked(tmp_path / "again.eval", lead, name), tmp_path / "out"
    assert run("auto", path, "-o", out, "-q").exit_code == 0
    assert run("verify", out, "--source", path).exit_code == 0
    sources = [one["name"] for one in json.loads((out / "manifest.json").read_bytes())["sources"]]
    sample = f"again.eval#{lead}samples/{name or '4'}_epoch_1.json"
    assert sources == ["again.eval", f"again.eval#{lead}header.json", sample]


def test_zstd_in_a_zip_is_read_as_it_was_packed() -> None:
    head, sample = Source(ZSTD).inside()
    assert isinstance(head, Source)
    assert isinstance(sample, Source)
    whole = sample.whole()
    assert len(whole) == sample.size
    assert json.loads(whole)["id"] == "stock/lamps"
    assert next(iter(sample.spans([(1, 6)]))) == whole[1:6]


@pytest.mark.parametrize("packed", [DEFLATED, ZSTD])
def test_a_damaged_sample_is_said_to_be_damaged(packed: Path, tmp_path: Path) -> None:
    """No byte of a sample can be another without a word."""
    path = tmp_path / "damaged.eval"
    data = bytearray(packed.read_bytes())
    begin = data.index(b"samples/") + 40
    for at in range(begin, begin + 400, 20):
        data[at] ^= 0x55
        path.write_bytes(data)
        found = run("auto", path, "-o", tmp_path / str(at), "-q")
        assert found.exit_code == 65
        assert "damaged compression" in found.output
        data[at] ^= 0x55


def test_each_sample_is_unpacked_a_few_times_however_many_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "many.eval"
    opened: list[str] = []
    with zipfile.ZipFile(DEFLATED) as old, zipfile.ZipFile(path, "w") as new:
        new.writestr("header.json", old.read("header.json"))
        sample = json.loads(old.read("samples/4_epoch_1.json"))
        for number in range(30):
            new.writestr(f"samples/{number}_epoch_1.json", json.dumps({**sample, "id": number}))
    plain = Member._open

    def opens(one: Member, strict: bool = False) -> BinaryIO:
        opened.append(one.name)
        return plain(one, strict)

    monkeypatch.setattr(Member, "_open", opens)
    found = list(convert(path, "inspect-ai", tmp_path / "out"))
    assert len(found) == 30
    assert len(opened) <= 4 * 30


def test_a_subagents_kind_is_masked_where_the_user_asks_for_it(tmp_path: Path) -> None:
    log = FIXTURES / "handoff-interrupted" / "input.eval"
    (written,) = convert(log, "inspect-ai", tmp_path / "t", Options(rules=Rules(terms=("stock",))))
    assert isinstance(written, Written)
    told = b"".join(path.read_bytes() for path in (tmp_path / "t").iterdir() if path.is_file())
    assert b"subagent:[TERM_1]_1" in told
    assert b"stock" not in told


def test_calls_without_arguments_are_proven_by_themselves(tmp_path: Path) -> None:
    value = json.loads((FIXTURES / "spans" / "input.json").read_bytes())
    models = [one for one in value["samples"][0]["events"] if one["event"] == "model"]
    messages = [choice["message"] for one in models for choice in one["output"]["choices"]]
    calls = [call for one in messages for call in one.get("tool_calls") or ()]
    assert len(calls) > 1
    for one in calls:
        del one["arguments"]
    path, out = tmp_path / "log.json", tmp_path / "out"
    path.write_text(json.dumps(value))
    assert run("auto", path, "-o", out, "-q").exit_code == 0
    assert run("verify", out, "--source", path).exit_code == 0
