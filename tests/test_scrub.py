"""Texts on their own: nothing is masked in part, and nothing unread is called clean."""

import bz2
import gzip
import io
import json
import os
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from asked import refused, run
from click.testing import CliRunner
from test_cli import LOG

from forsy_retrace.cli import main

TOKEN = "ghp_" + "R7k2Vn9QxW4mZp8LtY6sBd3FhJ5cGa1eUo0i"
TEXT = f"first line\ntoken = {TOKEN}\n" + "more\n" * 200


def zipped(data: bytes, name: str = "deep/notes.txt") -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return held.getvalue()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text(TEXT)
    return tmp_path


def test_a_fault_while_a_log_is_read_is_no_reason_to_mask_less(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(source: object) -> object:
        raise KeyError("a fault of ours")

    monkeypatch.setattr("forsy_adapters.claude_code.read", broken)
    with pytest.raises(KeyError):
        run("redact", LOG)


READ: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda data: data,
    "gzip": gzip.compress,
    "zstd": zstandard.ZstdCompressor().compress,
    "two zstd frames": lambda data: b"".join(
        zstandard.ZstdCompressor(write_checksum=True).compress(part) for part in (data, data)
    ),
    "zstd of equal bytes": lambda data: zstandard.ZstdCompressor().compress(data + b"x" * 500_000),
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "UTF-16 without a mark": lambda data: data.decode().encode("utf-16-le"),
}
UNREAD: dict[str, Callable[[bytes], bytes]] = {
    "a gzip cut off": lambda data: gzip.compress(data, 0)[:-300],
    "a zstd cut off": lambda data: zstandard.ZstdCompressor().compress(data)[:-3],
    "a gzip in a gzip": lambda data: gzip.compress(gzip.compress(data)),
    "a bzip2": bz2.compress,
    "a zip in a gzip": lambda data: gzip.compress(zipped(data)),
}


@pytest.mark.parametrize("pack", READ.values(), ids=READ)
def test_a_text_is_masked_whatever_it_was_packed_in(
    pack: Callable[[bytes], bytes], here: Path
) -> None:
    (here / "packed").write_bytes(pack(TEXT.encode()))
    for words, given in ((("redact", "packed"), None), (("redact", "-"), pack(TEXT.encode()))):
        done = CliRunner().invoke(main, words, input=given)
        assert (done.exit_code, TOKEN in done.stdout) == (0, False)
        assert done.stdout.startswith("first line\ntoken = [")
    done = run("scan", "packed")
    assert (done.exit_code, done.stdout.split(" ")[0]) == (1, "packed:2:")


@pytest.mark.parametrize("pack", [*UNREAD.values(), zipped], ids=[*UNREAD, "a zip"])
def test_what_is_no_whole_text_is_not_masked_at_all(
    pack: Callable[[bytes], bytes], here: Path
) -> None:
    (here / "packed").write_bytes(pack(TEXT.encode()))
    refused(65, "redact", "packed")
    refused(65, "redact", LOG, "--redact-file", "packed")


@pytest.mark.parametrize("pack", UNREAD.values(), ids=UNREAD)
@pytest.mark.parametrize("words", [("packed",), (".",)])
def test_what_is_not_read_is_not_called_clean(
    pack: Callable[[bytes], bytes], words: tuple[str, ...], here: Path
) -> None:
    (here / "notes.txt").unlink()
    (here / "packed").write_bytes(pack(TEXT.encode()))
    done = run("scan", *words)
    assert (done.exit_code, "Nothing found" in done.stdout) == (65, False)
    assert done.stdout.startswith("packed: not read: ")


def test_links_pipes_and_closed_folders_are_named(here: Path) -> None:
    (here / "in").mkdir()
    (here / "in" / "link.txt").symlink_to("../notes.txt")
    (here / "in" / "folder").symlink_to("..")
    os.mkfifo(here / "in" / "pipe")
    done = run("scan", "in", "--json")
    assert done.exit_code == 65
    assert [row["file"] for row in json.loads(done.stdout)] == ["folder", "link.txt", "pipe"]
    assert run("scan", "in/link.txt").exit_code == 1
    refused(65, "scan", "in/pipe")


def test_a_folder_that_may_not_be_listed_is_named(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "in" / "closed").mkdir(parents=True)
    listed = os.scandir

    def closed(path: str) -> object:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied", path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", closed)
    done = run("scan", "in")
    assert (done.exit_code, done.stdout.splitlines()[0]) == (
        65,
        "closed: not read: Permission denied",
    )


def test_the_files_of_a_zip_are_scanned_one_by_one(here: Path) -> None:
    (here / "a.zip").write_bytes(zipped(TEXT.encode()))
    (here / "b.zip").write_bytes(zipped(zipped(TEXT.encode()), "inner.zip"))
    assert run("scan", "a.zip").stdout.startswith("a.zip#deep/notes.txt:2: ")
    assert run("scan", "b.zip").stdout.startswith("b.zip#inner.zip: not read: packed")


def test_a_name_that_holds_something_private_is_told_once(here: Path) -> None:
    (here / TOKEN).mkdir()
    for name in ("a.txt", "b.txt"):
        (here / TOKEN / name).write_text("nothing\n")
    done = run("scan", ".")
    lines = [line for line in done.stdout.splitlines() if "its name" in line]
    assert lines == ["[CREDENTIAL_1]/a.txt (its name): CREDENTIAL (github-pat)"]
    assert done.exit_code == 1


def test_the_names_of_files_are_masked_and_stay_on_their_line(here: Path) -> None:
    (here / "in").mkdir()
    (here / "in" / f"{TOKEN}\nNothing found.txt").write_text(TEXT)
    (here / "in" / f"{TOKEN}.gz").write_bytes(b"\x1f\x8bno")
    for words in (("scan", "in"), ("scan", "in", "--json")):
        done = run(*words)
        assert (done.exit_code, TOKEN in done.stdout) == (1, False)
    assert "\nNothing found" not in run("scan", "in").stdout


def test_the_texts_to_mask_may_be_utf16_but_must_be_text(here: Path) -> None:
    (here / "wide.txt").write_text("Publish\n", encoding="utf-16")
    assert "Publish" not in run("redact", LOG, "--redact-file", "wide.txt").stdout
    (here / "latin.txt").write_bytes("Zürich\n".encode("latin-1"))
    refused(65, "redact", LOG, "--redact-file", "latin.txt")


def test_a_database_is_no_text_to_mask(here: Path) -> None:
    base = sqlite3.connect(here / "a.db")
    base.execute("CREATE TABLE notes (text)")
    base.execute("INSERT INTO notes VALUES (?)", (TOKEN,))
    base.commit()
    base.close()
    refused(65, "redact", "a.db")
    assert run("scan", "a.db").exit_code == 1


def test_a_file_with_zero_bytes_is_looked_at_and_not_called_clean(here: Path) -> None:
    (here / "a.bin").write_bytes(b"ab\0\xff" * 99)
    done = run("scan", "a.bin")
    assert (done.exit_code, "zero bytes" in done.stdout) == (65, True)
    (here / "b.bin").write_bytes(b"\0" + TOKEN.encode())
    assert run("scan", "b.bin").exit_code == 1
