"""Records whose bytes had to be repaired are counted in the manifest."""

import json
from pathlib import Path

import pytest

from forsy_retrace import Written, convert
from forsy_retrace.verify import verify

USER = (
    b'{"type":"user","uuid":"u%d","sessionId":"s","timestamp":"2026-01-05T09:00:0%dZ","cwd":"/w",'
)
SAID = USER + b'"message":{"role":"user","content":"%s"}}\n'


def sources(log: Path, adapter: str, out: Path) -> list[dict[str, object]]:
    (written,) = convert(log, adapter, out)
    assert isinstance(written, Written)
    found = written.manifest["sources"]
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize(
    ("said", "count"),
    [
        (b"Mend the cart.", None),
        ("Füg eine Steuer hinzu \u2713".encode(), None),
        (b"caf\xe9", 1),
        (b"half a pair \\ud83d", 1),
        (b"a pair \\ud83d\\ude00", None),
        (b"it prints total: NaN", None),
    ],
)
def test_a_repaired_record_is_counted(said: bytes, count: int | None, tmp_path: Path) -> None:
    log = tmp_path / "s.jsonl"
    log.write_bytes(SAID % (1, 1, b"Begin.") + SAID % (2, 2, said))
    (one,) = sources(log, "claude-code", tmp_path / "out")
    assert one.get("repaired") == count


def test_lines_of_a_history_are_counted_too(tmp_path: Path) -> None:
    log = tmp_path / ".bash_history"
    log.write_bytes(b"make\nls caf\xe9\ngit status\ncd src\n")
    (one,) = sources(log, "bash-history", tmp_path / "out")
    assert one.get("repaired") == 1


def test_what_a_piece_cuts_in_two_is_no_damage(tmp_path: Path) -> None:
    log = tmp_path / "s.jsonl"
    wide = "x" * ((1 << 20) - 200) + "ü" * 400
    log.write_bytes(SAID % (1, 1, wide.encode()))
    (one,) = sources(log, "claude-code", tmp_path / "out")
    assert "repaired" not in one


def test_a_count_that_is_not_the_logs_is_found(tmp_path: Path) -> None:
    log = tmp_path / "s.jsonl"
    log.write_bytes(SAID % (1, 1, b"Begin.") + SAID % (2, 2, b"caf\xe9"))
    sources(log, "claude-code", tmp_path / "out")
    assert verify(tmp_path / "out", log) == []
    manifest = tmp_path / "out" / "manifest.json"
    told = json.loads(manifest.read_bytes())
    del told["sources"][0]["repaired"]
    manifest.write_text(json.dumps(told), "utf-8")
    assert [one.field for one in verify(tmp_path / "out", log)] == ["manifest.sources"]
