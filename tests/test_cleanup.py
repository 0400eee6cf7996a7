"""What earlier runs left: kept, made anew, or taken away, until it is what one run would give."""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from folders import contents
from msgspec.structs import replace
from runs import FIXTURES, LOGS, Here, folders, lay, published, refuses, rows, run

from forsy_retrace.batch import Batch, batch, plan, work
from forsy_retrace.batch.report import summary
from forsy_retrace.errors import Locked
from forsy_retrace.redact import Rules
from forsy_retrace.writers.atomic import locked
from forsy_retrace.writers.place import Disk

pytestmark = pytest.mark.slow


BELONGING = {
    "claude-code/subagent-directory": "input/",
    "atuin/rows-in-the-log-of-writes": "input.db-",
    "atif/continued": "trajectory.cont-",
    "typescript/lettered-timing": "input.timing",
}
"""Cases of logs with companions, and how the companions are called."""


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    return lay(tmp_path)


def is_as_one_run_gives_it(logs: Path, target: Path) -> bool:
    clean = target.with_name("clean")
    run(logs, clean)
    return published(target) == published(clean)


def inputs(case: str, target: Path) -> list[Path]:
    """The log files of a case, copied; they come in order of name."""
    shutil.copytree(FIXTURES / case, target)
    for name in ("trace", "events.jsonl", "README.md"):
        path = target / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    return sorted(path for path in target.rglob("*") if path.is_file())


@pytest.mark.parametrize("case", BELONGING)
def test_what_belongs_to_a_log_may_come_later(case: str, tmp_path: Path) -> None:
    source, logs, target = tmp_path / "all", tmp_path / "logs", tmp_path / "traces"
    files = [path.relative_to(source) for path in inputs(case, source)]
    later = [one for one in files if one.as_posix().startswith(BELONGING[case])]
    assert later
    assert len(later) < len(files)
    for first in ([one for one in files if one not in later], later):
        for name in first:
            (logs / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, logs / name)
        run(logs, target)
    assert is_as_one_run_gives_it(logs, target)


@pytest.mark.parametrize("case", BELONGING)
def test_what_belongs_to_a_log_may_come_before_it(case: str, tmp_path: Path) -> None:
    source, logs, target = tmp_path / "all", tmp_path / "logs", tmp_path / "traces"
    files = [path.relative_to(source) for path in inputs(case, source)]
    first = [one for one in files if one.as_posix().startswith(BELONGING[case])]
    for some in (first, [one for one in files if one not in first]):
        for name in some:
            (logs / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source / name, logs / name)
        run(logs, target)
    assert is_as_one_run_gives_it(logs, target)


def test_a_log_that_cannot_be_read_keeps_what_belongs_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs, target = tmp_path / "logs", tmp_path / "traces"
    inputs("claude-code/subagent-directory", logs)
    run(logs, target)
    (logs / "input.jsonl").write_bytes((logs / "input.jsonl").read_bytes() + b"\n")
    with monkeypatch.context() as patch:
        refuses(patch, "input.jsonl", "open")
        done = run(logs, target)
    assert [why for _, why in done.failed] == ["Permission denied"]
    (row,) = rows(target, "index.jsonl")
    assert row["stale"] == "Permission denied"
    run(logs, target)
    assert is_as_one_run_gives_it(logs, target)


def test_a_ledger_says_no_pattern_that_an_adapter_asked_for(tmp_path: Path) -> None:
    """It holds the names of the log."""
    inputs("claude-code/subagent-directory", tmp_path / "logs")
    run(tmp_path / "logs", tmp_path / "traces")
    held = contents(tmp_path / "traces")[".ledger.sqlite"]
    assert b"subagents" in held  # the name of a source, in the row of the index
    assert b"subagents/*" not in held


# traces of logs that are gone or were left


def test_a_trace_that_newer_options_do_not_reach_says_so(logs: Path, tmp_path: Path) -> None:
    target = tmp_path / "traces"
    run(logs, target)
    (logs / "claude" / "one.jsonl").unlink()
    assert run(logs, target).stale == 0
    options = replace(Batch("").options, rules=Rules(terms=("commit",)))
    done = run(logs, target, options=options)
    (row,) = [row for row in rows(target, "index.jsonl") if "stale" in row]
    assert row["stale"].startswith("made by other options or another version")
    assert done.stale == 1
    assert "1 trace of an earlier run not made anew" in summary(done, Batch(""))


def test_a_trace_whose_log_waits_says_so(logs: Path, tmp_path: Path) -> None:
    target = tmp_path / "traces"
    before = run(logs, target).traces
    options = replace(Batch("").options, max_output=100)
    assert run(logs, target, options=options, limit=1).stale > 0
    whys = {row["stale"] for row in rows(target, "index.jsonl") if "stale" in row}
    assert whys == {"its log was left for another run"}
    done = run(logs, target, options=options)
    assert (done.stale, done.traces) == (0, before)


def test_a_trace_that_somebody_took_away_is_listed_no_more(logs: Path, tmp_path: Path) -> None:
    target = tmp_path / "traces"
    run(logs, target)
    (row,) = [row for row in rows(target, "index.jsonl") if "one.jsonl" in json.dumps(row)]
    shutil.rmtree(target / row["folder"])
    (logs / "claude" / "one.jsonl").unlink()
    run(logs, target)
    for name in ("index.jsonl", "manifests.jsonl", "steps.jsonl"):
        assert row["folder"] not in (target / name).read_text("utf-8")
    assert is_as_one_run_gives_it(logs, target)


@pytest.mark.parametrize("damage", [b"", b"{}", b"[]", b"null", b'{"steps": [', b'{"steps": [1]}'])
def test_a_trace_damaged_at_its_old_length_stops_no_run_and_is_made_again(
    damage: bytes, logs: Path, tmp_path: Path
) -> None:
    target = tmp_path / "traces"
    run(logs, target, limit=5)
    name = rows(target, "index.jsonl")[0]["folder"]
    trace = target / name / "trace.json"
    trace.write_bytes(damage.ljust(trace.stat().st_size))
    done = run(logs, target)
    assert done.failed == ((name, "no whole trace folder; the next run converts its log again"),)
    assert name not in (target / "steps.jsonl").read_text("utf-8")
    assert [row["folder"] for row in rows(target, "index.jsonl") if "stale" in row] == [name]
    assert run(logs, target).failed == ()
    assert is_as_one_run_gives_it(logs, target)


def test_an_adapter_that_is_asked_for_alone_leaves_its_own(logs: Path, tmp_path: Path) -> None:
    target = tmp_path / "traces"
    before = run(logs, target).traces
    done = run(logs, target, adapter="chatgpt")
    assert (done.traces, done.gone) == (len(folders(target)), before - done.traces)
    assert {row["adapter"] for row in rows(target, "index.jsonl")} == {"chatgpt"}


# what killed runs left


def masks_a_word_of_the_names(target: Path) -> Any:
    words = {word for name in folders(target) for word in name.split("-")[3:-2]}
    return replace(Batch("").options, rules=Rules(terms=tuple(sorted(words))))


def test_a_run_without_its_ledger_leaves_no_folder_of_other_options(
    logs: Path, tmp_path: Path
) -> None:
    target = tmp_path / "traces"
    run(logs, target)
    before, options = folders(target), masks_a_word_of_the_names(target)
    (target / ".ledger.sqlite").unlink()
    done = run(logs, target, options=options)
    assert done.unknown == 0
    assert not set(folders(target)) & set(before)
    run(logs, tmp_path / "clean", options=options)
    assert published(target) == published(tmp_path / "clean")


def test_a_run_killed_before_it_took_a_folder_away_leaves_none(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "traces"
    run(logs, target)
    options = masks_a_word_of_the_names(target)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Disk, "remove", killed)
        with pytest.raises(KeyboardInterrupt):
            run(logs, target, options=options)
    name = folders(target)[0]
    (target / f".{name}.new").mkdir()
    (target / f".{name}.lock").touch()
    run(logs, target, options=options)
    run(logs, tmp_path / "clean", options=options)
    assert published(target) == published(tmp_path / "clean")
    assert {path.name for path in target.glob(".*")} == {".ledger.sqlite"}


def test_a_folder_that_no_log_is_known_of_is_left_and_told(logs: Path, tmp_path: Path) -> None:
    target = tmp_path / "traces"
    run(logs, target)
    shutil.copytree(target / folders(target)[0], target / "put-here-by-hand")
    shutil.copytree(target / folders(target)[0], target / f"another-{folders(target)[0]}")
    (target / f"another-{folders(target)[0]}" / "notes.txt").write_text("mine")
    done = run(logs, target)
    assert done.unknown == 2
    assert "2 trace folders in the target of no log that is" in summary(done, Batch(""))
    assert len(folders(target)) == done.traces + 2


def test_what_another_ledger_knows_is_left(logs: Path, tmp_path: Path) -> None:
    target = tmp_path / "traces"
    run(logs, target)
    before = folders(target)
    options = masks_a_word_of_the_names(target)
    done = run(logs, target, ledger=str(tmp_path / "other.sqlite"), options=options)
    assert set(before) <= set(folders(target))
    assert done.unknown == len(before)


# files of others in trace folders


def test_what_file_managers_leave_is_nobody_s(logs: Path, tmp_path: Path) -> None:
    target = tmp_path / "traces"
    run(logs, target)
    for name in folders(target):
        for inner in filter(Path.is_dir, (target / name, target / name / "artifacts")):
            (inner / ".DS_Store").write_bytes(b"\0\0\0\1Bud1")
    options = replace(Batch("").options, max_output=100)
    assert run(logs, target, options=options).failed == ()
    assert not list(target.rglob(".DS_Store"))


def test_a_note_in_a_trace_folder_keeps_it_and_is_told(logs: Path, tmp_path: Path) -> None:
    target = tmp_path / "traces"
    run(logs, target)
    (row,) = [row for row in rows(target, "index.jsonl") if "one.jsonl" in json.dumps(row)]
    note = target / row["folder"] / "notes.txt"
    note.write_text("mine")
    log = logs / "claude" / "one.jsonl"
    log.write_bytes(log.read_bytes() + b"{}\n")
    why = "its trace folder holds files that are not ours; move them away"
    for _ in range(2):
        done = run(logs, target)
        assert (done.failed, done.gone, done.stale) == ((("claude/one.jsonl", why),), 0, 1)
        assert note.read_text() == "mine"
    note.unlink()
    assert run(logs, target).failed == ()
    assert is_as_one_run_gives_it(logs, target)


# the dataset


@pytest.mark.parametrize("name", ["steps.jsonl", "traces.jsonl", "manifests.jsonl", "README.md"])
def test_a_dataset_file_that_is_gone_or_cut_is_written_again(
    name: str, logs: Path, tmp_path: Path
) -> None:
    target = tmp_path / "traces"
    run(logs, target)
    before = published(target)
    (target / name).unlink()
    run(logs, target)
    assert published(target) == before
    if name != "README.md":
        (target / name).write_bytes(before[name][:-10])
        run(logs, target)
        assert published(target) == before


def test_a_card_that_somebody_edited_stays(logs: Path, tmp_path: Path) -> None:
    target = tmp_path / "traces"
    run(logs, target, limit=2)
    card = target / "README.md"
    card.write_text(f"{card.read_text('utf-8')}\nMine.\n", "utf-8")
    edited = card.read_bytes()
    run(logs, target)
    assert card.read_bytes() == edited
    card.unlink()
    run(logs, target)
    assert is_as_one_run_gives_it(logs, target)


def test_dataset_files_that_are_not_asked_for_go(logs: Path, tmp_path: Path) -> None:
    target = tmp_path / "traces"
    run(logs, target)
    (target / "steps.parquet").write_bytes(b"of a run with --parquet")
    run(logs, target)
    assert not (target / "steps.parquet").exists()
    run(logs, target, dataset=False)
    files = {path.name for path in target.glob("[!.]*") if path.is_file()}
    assert files == {"index.jsonl", "report.json"}
    run(logs, target)
    assert is_as_one_run_gives_it(logs, target)


def test_a_trace_that_was_made_again_is_told_again(logs: Path, tmp_path: Path) -> None:
    target = tmp_path / "traces"
    run(logs, target, limit=5)
    before = published(target)
    name = rows(target, "index.jsonl")[0]["folder"]
    path = target / name / "trace.json"
    path.write_bytes(path.read_bytes().replace(b'"success": true', b'"success": null'))
    run(logs, target)
    assert b'"success": null' in path.read_bytes()
    shutil.rmtree(target / name)
    run(logs, target)
    assert published(target)[f"{name}/trace.json"] == before[f"{name}/trace.json"]
    assert is_as_one_run_gives_it(logs, target)


def test_a_ledger_of_two_targets_keeps_the_dataset_of_each(logs: Path, tmp_path: Path) -> None:
    ledger = str(tmp_path / "ledger.sqlite")
    for name in ("a", "b", "a"):
        run(logs, tmp_path / name, ledger=ledger)
        if name == "a":
            log = logs / "claude" / "one.jsonl"
            log.write_bytes(log.read_bytes() + b"{}\n")
    run(logs, tmp_path / "a", ledger=ledger)
    run(logs, tmp_path / "clean")
    assert published(tmp_path / "a") == published(tmp_path / "clean")


def test_parts_write_one_card(logs: Path, tmp_path: Path) -> None:
    cards = set()
    for number in (1, 2):
        run(logs, tmp_path / "traces", shard=(number, 2))
        cards.add((tmp_path / "traces" / "README.md").read_text("utf-8"))
    (card,) = cards
    assert "data_files: steps-*-of-2.jsonl\n" in card
    assert not list((tmp_path / "traces").glob("README-*"))


# runs beside each other


def test_two_ledgers_are_no_way_around_the_lock_of_a_target(logs: Path, tmp_path: Path) -> None:
    target = tmp_path / "traces"
    with locked(target / "batch"), pytest.raises(Locked):
        run(logs, target, ledger=str(tmp_path / "other.sqlite"))
    with locked(target / "batch", shared=True):
        run(logs, target, shard=(1, 2))
        with pytest.raises(Locked):
            run(logs, target)
    with locked(target / "batch"), pytest.raises(Locked):
        run(logs, target, shard=(1, 2))


# order, and logs that fail


def test_a_log_that_always_fails_keeps_no_other_waiting(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = vars(work)["folders"]

    def short(source: Any, name: str, options: Any) -> Any:
        if source.name == "exports/conversations.json":
            raise MemoryError
        return honest(source, name, options)

    monkeypatch.setattr(work, "folders", short)
    shutil.copyfile(logs / "exports" / "conversations.json", logs / "large.json")
    os.replace(logs / "large.json", logs / "exports" / "conversations.json")
    tries = [run(logs, tmp_path / "traces", limit=1).converted for _ in range(len(LOGS) + 1)]
    assert sum(tries) == len(LOGS) - 1


def test_the_first_failure_of_looking_stops_a_run_that_is_to_fail_fast(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        refuses(patch, "one.jsonl", "open")
        done = run(logs, tmp_path / "traces", fail_fast=True)
    assert (done.converted, done.waiting, len(done.failed)) == (0, len(LOGS) - 1, 1)


def test_a_place_of_a_harness_that_is_no_file_stops_nothing(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    (home / ".bash_history").symlink_to("/dev/null")
    os.mkfifo(home / ".zsh_history")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "elsewhere"))
    shutil.copytree(logs / "claude", tmp_path / "elsewhere" / "projects")
    wish = Batch(target=str(tmp_path / "traces"), local=True)
    done = batch(wish, engine=Here())
    assert (len(done.plan.logs), done.failed) == (4, ())
    assert done.plan.skipped_files[plan.NO_STORE] == (".bash_history", ".zsh_history")


def test_parquet_that_cannot_be_finished_says_nothing_more(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow", reason="the extra parquet is not installed")
    import gc

    from forsy_retrace.batch.parquet import Table

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    told = list[object]()
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    monkeypatch.setattr(Table, "add", full)
    with pytest.raises(OSError, match="No space left"):
        run(logs, tmp_path / "traces", parquet=True)
    gc.collect()
    assert told == []
