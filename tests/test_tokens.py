"""Counts are exact where the table is at hand, cuts are the same everywhere, nothing is fetched."""

import gzip
import importlib.util
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forsy_retrace import tokens

PACKAGE = importlib.util.find_spec("bpe_openai")
with_table = pytest.mark.skipif(PACKAGE is None, reason="the extra `tokens` is not installed")


def refuse(*_: object, **__: object) -> NoReturn:
    raise AssertionError("the network was called")


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """A machine without any table; tests that need one stand above those that take it away."""
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    monkeypatch.delenv("DATA_GYM_CACHE_DIR", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    forget()
    yield monkeypatch
    forget()


def forget() -> None:
    tokens._encoding.cache_clear()
    tokens._has_table.cache_clear()


def table() -> bytes:
    assert PACKAGE is not None
    assert PACKAGE.submodule_search_locations
    folder = Path(PACKAGE.submodule_search_locations[0])
    return gzip.decompress((folder / "data" / "o200k_base.tiktoken.gz").read_bytes())


# --- counting -----------------------------------------------------------------------------------


@with_table
def test_the_table_of_the_extra_counts_exactly() -> None:
    assert tokens.method().startswith("tiktoken o200k_base")
    assert tokens.count("hello world") == 2
    assert tokens.count("") == 0
    assert "bpe_openai" not in sys.modules


@with_table
def test_a_special_token_is_text_like_any_other() -> None:
    assert tokens.count("<|endoftext|>") > 1


@with_table
def test_half_a_surrogate_pair_is_counted() -> None:
    assert tokens.count("a \ud800 b") > 0


@with_table
def test_our_parameters_are_tiktoken_s_own(monkeypatch: pytest.MonkeyPatch) -> None:
    from tiktoken_ext import openai_public  # type: ignore[import-untyped]  # it has no types

    asked = []

    def load(address: str, expected_hash: str) -> dict[bytes, int]:
        asked.append((address, expected_hash))
        return {}

    monkeypatch.setattr(openai_public, "load_tiktoken_bpe", load)
    theirs = openai_public.o200k_base()
    assert asked == [(tokens.TABLE, tokens.TABLE_SHA256)]
    assert (theirs["pat_str"], theirs["special_tokens"]) == (tokens.PATTERN, tokens.SPECIAL)


@pytest.mark.slow
@with_table
@pytest.mark.parametrize(
    "text",
    [" " * 600_000, "\n" * 600_000, "\t \n" * 200_000, "a" * 900_000, "^" * 600_000, "é" * 600_000],
    ids=["blanks", "newlines", "mixed", "letters", "signs", "accents"],
)
def test_a_text_of_one_long_run_is_counted(text: str) -> None:
    assert 0 < tokens.count(text) <= len(text.encode())


@with_table
def test_pieces_add_up_to_the_whole() -> None:
    lines = "The quick brown fox, 12345 times.\n" * 20_000
    assert "".join(tokens._pieces(lines)) == lines
    assert max(len(piece) for piece in tokens._pieces(lines)) <= tokens.PIECE
    encoding = tokens._encoding()
    assert encoding is not None
    assert tokens.count(lines) == len(encoding.encode_ordinary(lines))
    blanks = "x" + " " * 450_000 + "y"
    assert "".join(tokens._pieces(blanks)) == blanks
    assert max(map(len, tokens._pieces(blanks))) <= tokens.BLANKS + 1


def test_runs_of_white_space_are_cut_in_linear_time() -> None:
    text = (" " * (tokens.BLANKS - 1) + "x") * 4
    began = time.process_time()
    assert "".join(tokens._pieces(text)) == text
    assert time.process_time() - began < 1


def test_without_a_table_the_count_is_an_estimate_and_says_so(bare: pytest.MonkeyPatch) -> None:
    assert tokens.method() == "estimate: utf-8 bytes / 3.5"
    assert [tokens.count(text) for text in ("", "a", "abcdefg", "abcdefgh", "éé")] == [
        0,
        1,
        2,
        3,
        2,
    ]


@with_table
def test_a_table_in_tiktoken_s_cache_is_used(bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # tiktoken names a cached table by the SHA-1 of its address.
    (tmp_path / "fb374d419588a4632f3f557e76b4b70aebbca790").write_bytes(table())
    bare.setenv("DATA_GYM_CACHE_DIR", str(tmp_path))
    assert tokens.method() == tokens.EXACT
    bare.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "none"))
    forget()
    assert tokens.method() == tokens.ESTIMATE


def test_a_table_with_another_hash_is_not_used_and_stays_where_it_is(
    bare: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    forged = tmp_path / "fb374d419588a4632f3f557e76b4b70aebbca790"
    forged.write_bytes(b"aGVsbG8= 0\n")
    bare.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert tokens.count("hello") == 2
    assert tokens.method() == tokens.ESTIMATE
    assert forged.exists()


@pytest.mark.parametrize("packed", [b"no gzip", b"", gzip.compress(b"x" * 99, mtime=0)[:-9]])
def test_a_broken_table_in_the_extra_is_not_used(
    bare: pytest.MonkeyPatch, tmp_path: Path, packed: bytes
) -> None:
    (tmp_path / "bpe_openai" / "data").mkdir(parents=True)
    (tmp_path / "bpe_openai" / "__init__.py").write_text("raise AssertionError('imported')")
    (tmp_path / "bpe_openai" / "data" / "o200k_base.tiktoken.gz").write_bytes(packed)
    spec = importlib.util.spec_from_file_location(
        "bpe_openai",
        tmp_path / "bpe_openai" / "__init__.py",
        submodule_search_locations=[str(tmp_path / "bpe_openai")],
    )
    bare.setattr(importlib.util, "find_spec", lambda _: spec)
    assert tokens.method() == tokens.ESTIMATE


def test_nothing_heavy_is_imported_to_ask_whether_a_text_fits() -> None:
    heavy = "{'tiktoken', 'bpe_openai', 'requests', 'regex'} & set(sys.modules)"
    asks = "tokens.fits('x' * 90000, 8192), tokens.head_and_tail('x' * 90000, 8192)"
    code = f"import sys; from forsy_retrace import tokens; {asks}; assert not {heavy}"
    subprocess.run([sys.executable, "-c", code], check=True)


# --- cutting ------------------------------------------------------------------------------------

TEXTS = st.text(
    st.sampled_from("ab \n\r\u0301\u200d\U0001f469\U0001f3fd\U0001f1e9\U0001f1eaé漢\ud83d\ude00"),
    max_size=200,
)


@settings(max_examples=300, deadline=None)
@given(TEXTS, st.integers(-1, 80))
def test_head_and_tail_are_the_text_s_own_and_keep_the_limit(text: str, limit: int) -> None:
    size = len(text.encode("utf-8", "surrogatepass"))
    cut = tokens.head_and_tail(text, limit)
    assert (cut is None) == tokens.fits(text, limit) == (-(-2 * size // 7) <= max(limit, 0))
    if cut is None:
        return
    head, tail, omitted = cut
    kept = len((head + tail).encode("utf-8", "surrogatepass"))
    assert text.startswith(head)
    assert text.endswith(tail)
    assert kept <= max(limit, 0) * 3.5
    assert omitted == -(-2 * (size - kept) // 7) > 0


@pytest.mark.parametrize(
    "one",
    ["e\u0301", "\U0001f469\u200d\U0001f4bb", "\U0001f44d\U0001f3fd", "\r\n", "\ud83d\ude00"],
    ids=["accent", "joined", "coloured", "line end", "pair"],
)
@pytest.mark.parametrize("limit", range(20, 34))
def test_a_cut_leaves_one_character_whole(one: str, limit: int) -> None:
    cut = tokens.head_and_tail(one * 100, limit)
    assert cut is not None
    head, tail, _ = cut
    assert (len(head) % len(one), len(tail) % len(one)) == (0, 0)
    assert head
    assert tail


def test_a_cut_falls_at_the_end_of_a_line_where_one_is_near() -> None:
    cut = tokens.head_and_tail("0123456789\n" * 1000, 100)
    assert cut is not None
    head, tail, omitted = cut
    assert (head, tail) == ("0123456789\n" * 23, "0123456789\n" * 7)
    assert omitted == -(-970 * 11 * 2 // 7)


def test_a_cut_without_a_line_near_takes_three_quarters_and_one() -> None:
    cut = tokens.head_and_tail("x" * 5000, 400)
    assert cut == ("x" * 1050, "x" * 350, -(-3600 * 2 // 7))


def test_a_wall_of_accents_still_has_a_head() -> None:
    cut = tokens.head_and_tail("e" + "\u0301" * 5000, 400)
    assert cut is not None
    assert len(cut[0]) > 400


def test_neither_a_cut_nor_a_huge_text_asks_for_the_table(bare: pytest.MonkeyPatch) -> None:
    bare.setattr(importlib.util, "find_spec", refuse)
    text = "é\n" * 2_000_000
    assert tokens.fits(text, 1_714_286)
    assert not tokens.fits(text, 1_714_285)
    assert tokens.head_and_tail(text, 8192) is not None
    assert tokens.count(text) == 1_714_286
    with pytest.raises(AssertionError):
        tokens.count(text[:9])
