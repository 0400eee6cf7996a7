"""Pictures and documents: dropped, or kept where a user asks for them."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from forsy_retrace.cli import main

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
SVG = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"
TOKEN = b"ghp_" + b"R7k2Vn9QxW4mZp8LtY6sBd3FhJ5cGa1eUo0i"


def block(data: bytes, media: str = "image/png") -> dict[str, Any]:
    text = base64.b64encode(data).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": media, "data": text}}


def retraced(folder: Path, *blocks: dict[str, Any], keep: bool = True) -> dict[str, Any]:
    """The manifest of a session whose one message shows these blocks."""
    content = [{"type": "text", "text": f"use {TOKEN.decode()}"}, *blocks]
    record = {
        "type": "user",
        "uuid": "1",
        "parentUuid": None,
        "sessionId": "5f9c8f9e-0000-4000-8000-000000000001",
        "timestamp": "2026-01-31T12:00:00.000Z",
        "message": {"role": "user", "content": content},
    }
    log = folder / "log.jsonl"
    log.write_text(json.dumps(record) + "\n")
    words = ["claude-code", str(log), "-o", str(folder / "trace"), "-q"]
    done = CliRunner().invoke(main, [*words, *(["--media", "keep"] if keep else [])])
    assert done.exit_code == 0, done.output
    manifest: dict[str, Any] = json.loads((folder / "trace" / "manifest.json").read_bytes())
    return manifest


def artifacts(folder: Path) -> list[bytes]:
    return sorted(path.read_bytes() for path in (folder / "trace" / "artifacts").glob("*"))


def test_pictures_stay_in_the_log_unless_asked_for(tmp_path: Path) -> None:
    manifest = retraced(tmp_path, block(PNG), keep=False)
    assert "media" not in manifest
    assert artifacts(tmp_path) == []


def test_a_kept_picture_lies_under_the_hash_of_its_bytes(tmp_path: Path) -> None:
    (row,) = retraced(tmp_path, block(PNG))["media"]["kept"]
    assert row["step"] == 1
    assert row["media_type"] == "image/png"
    assert (tmp_path / "trace" / row["file"]).read_bytes() == PNG
    assert (
        "documents kept as they stand, unmasked: 1."
        in (tmp_path / "trace" / "README.md").read_text()
    )


@pytest.mark.parametrize("media", ["image/png", "image/svg+xml", "application/pdf"])
def test_what_only_calls_itself_a_picture_is_kept_as_inert_bytes(
    media: str, tmp_path: Path
) -> None:
    (row,) = retraced(tmp_path, block(SVG, media))["media"]["kept"]
    assert row["file"].endswith(".bin")
    assert row["media_type"] == "application/octet-stream"


def test_a_text_is_no_picture_and_is_not_kept(tmp_path: Path) -> None:
    assert retraced(tmp_path, block(SVG, "text/html"))["media"]["kept"] == []
    assert artifacts(tmp_path) == []


def test_a_picture_with_a_known_secret_in_its_bytes_is_withheld(tmp_path: Path) -> None:
    media = retraced(tmp_path, block(PNG + TOKEN), block(PNG))["media"]
    assert media["withheld"] == 1
    assert artifacts(tmp_path) == [PNG]


def test_a_picture_that_the_log_only_links_is_counted(tmp_path: Path) -> None:
    link = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}
    broken = block(PNG)
    broken["source"]["data"] = "not base64!"
    media = retraced(tmp_path, link, broken)["media"]
    assert media == {"kept": [], "withheld": 0, "not_in_the_log": 2}
