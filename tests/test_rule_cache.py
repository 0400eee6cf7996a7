"""What patterns and tables were read to goes from run to run, and changes nothing but the time."""

import ast
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_layers import ADAPTERS, CORE, nodes

from forsy_retrace import patterns, rule_cache, tables

ROOT = CORE.parent
LOG = ROOT / "fixtures" / "claude-code" / "push-pull-push" / "input.jsonl"
ROOMS = ("forsy_retrace.builder", "forsy_retrace.redaction", "forsy_retrace.source")


def ours() -> list[Any]:
    """The patterns that stand in modules of this package under names of their own."""
    for room in ROOMS:
        for one in pkgutil.walk_packages(importlib.import_module(room).__path__, f"{room}."):
            importlib.import_module(one.name)
    modules = [module for name, module in sys.modules.items() if name.startswith(ROOMS)]
    return [
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, patterns._Later)
    ]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "forsy-retrace" / f"kept-{sys.implementation.cache_tag}"


def refuse(*_: object) -> None:
    raise AssertionError("it was compiled anew")


def test_a_pattern_from_its_code_is_the_pattern() -> None:
    found = ours()
    assert len(found) > 300
    for one in found:
        made = rule_cache._pattern(one.pattern, rule_cache._code(one.pattern, one.flags))
        assert made == re.compile(one.pattern, one.flags)
        assert made.groupindex == re.compile(one.pattern, one.flags).groupindex


def test_the_next_run_compiles_nothing(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with rule_cache.between_runs():
        assert patterns.later(r"(?P<word>b+)\d").search("abb1")
    monkeypatch.setattr(rule_cache, "_code", refuse)
    with rule_cache.between_runs():
        found = patterns.later(r"(?P<word>b+)\d").search("abb1")
        with pytest.raises(AssertionError, match="anew"):
            patterns.later(r"(?P<word>c+)\d").search("")
    assert found is not None
    assert (found["word"], found.span()) == ("bb", (1, 4))


def test_text_and_bytes_and_flags_are_kept_apart(cache: Path) -> None:
    for _ in range(2):
        with rule_cache.between_runs():
            assert patterns.later("[\ud800é]+", re.I).findall("É\ud800") == ["É\ud800"]
            assert patterns.later("é").findall("É") == []
            assert patterns.later("é".encode()).findall("é".encode()) == ["é".encode()]
            assert patterns.later(r"\w").findall("é") == ["é"]
            assert patterns.later(r"\w", re.A).findall("é") == []


TABLES = [path.relative_to(CORE).as_posix() for path in sorted(CORE.rglob("*.toml"))]


@pytest.mark.parametrize("name", TABLES)
def test_a_table_that_was_kept_says_the_same(
    name: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with rule_cache.between_runs():
        parsed = tables.table(name)
    monkeypatch.setattr(tables, "_parsed", refuse)
    with rule_cache.between_runs():
        assert tables.table(name) == parsed


def test_what_was_made_of_other_bytes_is_made_anew(cache: Path) -> None:
    for text in (b"1", b"2", b"2"):
        store = rule_cache._Store(cache)
        assert store.made("some", text, lambda of: [of, {"one": of.decode()}])[0] == text
        store.save()
    assert not store.has_news
    assert len(rule_cache._read(cache).tables) == 1


def not_ours(data: bytes) -> bytes:
    return rule_cache._digest(b"x") + b"x"


def other_python(data: bytes) -> bytes:
    ours = rule_cache._made_by().encode()
    changed = data[rule_cache.DIGEST :].replace(ours, ours[:-1] + b"?")
    assert changed != data[rule_cache.DIGEST :]
    return rule_cache._digest(changed) + changed


SPOILT: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda data: data[:-1],
    "a bit turned": lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:],
    "empty": lambda data: b"",
    "none of ours": not_ours,
    "of another Python": other_python,
}


@pytest.mark.parametrize("how", SPOILT)
def test_a_spoilt_file_is_not_taken(how: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with rule_cache.between_runs():
        patterns.later("abc").search("")
    whole = cache.read_bytes()
    cache.write_bytes(SPOILT[how](whole))
    with rule_cache.between_runs():
        assert patterns.later("abc").search("xabc")
    assert cache.read_bytes() == whole


def in_reach(cache: Path) -> None:
    cache.chmod(0o620)


def in_a_folder_in_reach(cache: Path) -> None:
    cache.parent.chmod(0o777)


def linked(cache: Path) -> None:
    cache.rename(cache.with_name("elsewhere"))
    cache.symlink_to("elsewhere")


def piped(cache: Path) -> None:
    cache.unlink()
    os.mkfifo(cache)


def of_another(cache: Path) -> None:
    os.chown(cache, 65534, -1)


@pytest.mark.skipif(os.name == "nt", reason="no owners in the mode of a file")
@pytest.mark.parametrize("put", [in_reach, in_a_folder_in_reach, linked, piped, of_another])
def test_what_others_could_have_put_there_is_not_taken(
    put: Callable[[Path], None], cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with rule_cache.between_runs():
        patterns.later("abc").search("")
    if put is of_another and os.getuid():
        pytest.skip("only root gives a file away")
    put(cache)
    monkeypatch.setattr(rule_cache, "_code", refuse)
    with rule_cache.between_runs(), pytest.raises(AssertionError, match="anew"):
        patterns.later("abc").search("")


def test_a_file_in_reach_of_others_is_put_right(cache: Path) -> None:
    for _ in range(2):
        with rule_cache.between_runs():
            patterns.later("abc").search("")
        cache.chmod(0o666)
    with rule_cache.between_runs():
        patterns.later("abc").search("")
    assert cache.stat().st_mode & 0o777 == 0o600
    assert os.listdir(cache.parent) == [cache.name]


def test_a_cache_is_no_folder_below_the_one_where_a_run_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with rule_cache.between_runs():
        patterns.later("abc").search("")
    assert os.listdir(tmp_path) == ["home"]


def test_code_that_the_machine_refuses_is_compiled_anew(cache: Path) -> None:
    store = rule_cache._Store(cache)
    store.kept.codes[b"text 0 abc"] = (32, b"\xff\xff\xff\xff", {}, 1)
    assert store.compiled("abc", 0).search("xabc")


def test_a_compiler_of_another_kind_does_it_by_itself(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(importlib.import_module("re._compiler"), "_code")
    monkeypatch.setattr(re, "compile", lambda pattern, flags: (pattern, flags))
    assert rule_cache._Store(cache).compiled("abc", 2) == ("abc", 2)


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_cannot_be_written_has_none(cache: Path) -> None:
    cache.parent.parent.chmod(0o500)
    with rule_cache.between_runs():
        assert patterns.later("abc").search("abc")
    assert not cache.exists()


def test_a_file_in_the_folder_s_place_is_left(cache: Path) -> None:
    cache.parent.write_text("mine")
    with rule_cache.between_runs():
        assert patterns.later("abc").search("abc")
    assert cache.parent.read_text() == "mine"


def test_a_conversion_leaves_its_patterns_and_no_text_of_the_log(
    cache: Path, tmp_path: Path
) -> None:
    log = tmp_path / "session.jsonl"
    log.write_bytes(
        LOG.read_bytes().replace(b"origin", b"zebra7f").replace(b"my commit", b"zebra8")
    )
    for number in range(2):
        command = [sys.executable, "-m", "forsy_retrace", "claude-code", str(log), "-q"]
        subprocess.run([*command, "-o", str(tmp_path / f"trace-{number}")], check=True)
    assert len(rule_cache._read(cache).codes) > 100
    assert b"zebra" not in cache.read_bytes()
    first, second = (tmp_path / f"trace-{number}" for number in range(2))
    assert all((second / one.name).read_bytes() == one.read_bytes() for one in first.glob("*.*"))


MAKERS = {
    ("builder/outputs/runners.py", "_words"),
    ("redaction/rules.py", "bounded"),
    ("redaction/rules.py", "expression"),
    ("redaction/strength.py", "_words"),
    ("redaction/views.py", "_splitter"),
}
"""Functions that make patterns of the package's own tables."""


def test_patterns_are_made_of_the_package_s_own_text() -> None:
    found = {
        (path.relative_to(base).as_posix(), node.name)
        for base in (CORE, ADAPTERS)
        for path in base.rglob("*.py")
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef) and any(map(makes_a_pattern, ast.walk(node)))
    }
    assert found == MAKERS


def makes_a_pattern(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="later")):
            return True
    return False
