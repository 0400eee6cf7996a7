"""Many logs: found, converted once, remembered, listed; nothing lost whatever stops a run."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from click.testing import CliRunner
from doomed import double, kill_once
from folders import contents, traces
from msgspec.structs import replace
from runs import FIXTURES, LOGS, Here, folders, lay, published, refuses, rows, run

from forsy_retrace.batch import Batch, Report, batch, plan, work
from forsy_retrace.batch.engine import Lost
from forsy_retrace.batch.ledger import Ledger
from forsy_retrace.batch.pool import Pool
from forsy_retrace.batch.report import summary
from forsy_retrace.choose import Choice
from forsy_retrace.cli import main
from forsy_retrace.convert import Options, Refused, convert
from forsy_retrace.errors import DiskTrouble, Locked, RetraceError
from forsy_retrace.redact import Rules
from forsy_retrace.source import Source
from forsy_retrace.writers.atomic import locked

pytestmark = pytest.mark.slow


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    return lay(tmp_path)


def test_every_log_gives_what_it_gives_alone(logs: Path, tmp_path: Path) -> None:
    done = run(logs, tmp_path / "traces")
    assert (len(done.plan.logs), done.converted, done.failed) == (len(LOGS), len(LOGS), ())
    alone = traces(convert(logs, "auto", tmp_path / "alone"))
    assert done.traces == len(alone)
    one_by_one = sorted(sorted(contents(path).items()) for path in (tmp_path / "alone").iterdir())
    together = sorted(
        sorted(contents(tmp_path / "traces" / name).items())
        for name in folders(tmp_path / "traces")
    )
    assert together == one_by_one


def test_what_lies_beside_the_folders_lists_them_all(logs: Path, tmp_path: Path) -> None:
    target = tmp_path / "traces"
    run(logs, target)
    names = folders(target)
    index, manifests = rows(target, "index.jsonl"), rows(target, "manifests.jsonl")
    wholes, steps = rows(target, "traces.jsonl"), rows(target, "steps.jsonl")
    assert [row["folder"] for row in index] == names
    told_by = {row["folder"]: row.get("superseded_by") for row in index}
    ((copy, first),) = ((one, other) for one, other in told_by.items() if other)
    assert copy.startswith(first.rpartition("-")[0])
    listed = [row for row in index if row["folder"] != copy]
    assert [row["trace_slug"] for row in manifests] == [row["folder"] for row in listed]
    assert [len(row["steps"]) for row in wholes] == [row["total_steps"] for row in listed]
    assert len(steps) == sum(row["total_steps"] for row in listed)
    assert all(list(row) == sorted(row) for row in (*manifests, *wholes, *steps))
    columns = {"step_index", "feedback", "trace_slug", "source_trace_id", "original_folder_name"}
    assert columns <= set(steps[0])
    by_step = {(row["original_folder_name"], row["step_index"]): row for row in steps}
    grounds = rows(target, "grounds.jsonl")
    assert all(list(row) == sorted(row) for row in grounds)
    assert {row["grade"] for row in grounds} == {"derived", "inferred"}
    assert all((row["confidence"] is None) == (row["grade"] == "derived") for row in grounds)
    places = [(row["original_folder_name"], row["step_index"]) for row in grounds]
    told = [by_step[name][row["field"]] for name, row in zip(places, grounds, strict=True)]
    assert len(told) > len(steps)
    assert None not in told
    report = json.loads((target / "report.json").read_bytes())
    assert report["skipped"] == {
        "no JSON records in it, and no adapter knows its text; name one that"
        " `forsy-retrace adapters` lists": 1,
        "no adapter knows this format; name one": 1,
    }
    assert report["adapters"] == {"chatgpt": 1, "claude-code": 5}


def test_a_trace_below_the_roots_is_no_log(logs: Path, tmp_path: Path) -> None:
    target = logs / "traces"
    run(logs, target)
    before = folders(target)
    kept = target / before[0] / "artifacts"
    kept.mkdir(exist_ok=True)
    shutil.copyfile(FIXTURES / LOGS["exports/conversations.json"], kept / "chat.json")
    shutil.copytree(target / before[1], logs / "copied")
    told = published(target)
    engine = Here()
    done = run(logs, target, engine)
    assert (engine.converted, len(done.plan.logs)) == ([], len(LOGS))
    assert done.plan.skipped["a folder of a trace, which is no log"] == 1
    shutil.rmtree(logs / "copied")
    run(logs, target)
    assert published(target) == told  # a run does not count what it wrote itself
    found = list(convert(logs, "auto", tmp_path / "alone"))
    refused = [one.name for one in found if isinstance(one, Refused)]
    assert not [name for name in refused if name.startswith(tuple(f"traces/{x}" for x in before))]
    assert len(traces(found)) == len(before)


def test_a_second_run_reads_nothing_and_changes_nothing(logs: Path, tmp_path: Path) -> None:
    run(logs, tmp_path / "traces")
    before = published(tmp_path / "traces")
    engine = Here()
    done = run(logs, tmp_path / "traces", engine)
    assert (engine.converted, done.unchanged) == ([], len(LOGS))
    assert published(tmp_path / "traces") == before


def test_two_targets_hold_the_same_bytes(logs: Path, tmp_path: Path) -> None:
    run(logs, tmp_path / "one")
    moved = logs.rename(tmp_path / "away")
    (tmp_path / "in").mkdir()
    run(moved.rename(tmp_path / "in" / "logs"), tmp_path / "two")
    assert published(tmp_path / "one") == published(tmp_path / "two")


def test_a_log_that_was_only_touched_is_not_read_again(logs: Path, tmp_path: Path) -> None:
    run(logs, tmp_path / "traces")
    os.utime(logs / "claude" / "one.jsonl", (1, 1))
    for _ in range(2):
        engine = Here()
        run(logs, tmp_path / "traces", engine)
        assert engine.converted == []


def test_a_grown_session_replaces_its_folder_whole(logs: Path, tmp_path: Path) -> None:
    log = logs / "claude" / "one.jsonl"
    whole = log.read_bytes()
    log.write_bytes(b"".join(whole.splitlines(keepends=True)[:3]))
    run(logs, tmp_path / "traces")
    log.write_bytes(whole)
    engine = Here()
    run(logs, tmp_path / "traces", engine)
    assert engine.converted == ["claude/one.jsonl"]
    run(logs, tmp_path / "clean")
    assert published(tmp_path / "traces") == published(tmp_path / "clean")


def test_a_session_that_changes_its_name_leaves_no_folder_behind(
    logs: Path, tmp_path: Path
) -> None:
    run(logs, tmp_path / "traces")
    log = logs / "claude" / "one.jsonl"
    log.write_text(log.read_text().replace("2026-", "2025-"))
    run(logs, tmp_path / "traces")
    run(logs, tmp_path / "clean")
    assert published(tmp_path / "traces") == published(tmp_path / "clean")


def test_a_folder_that_was_lost_is_made_again(logs: Path, tmp_path: Path) -> None:
    run(logs, tmp_path / "traces")
    before = published(tmp_path / "traces")
    shutil.rmtree(tmp_path / "traces" / folders(tmp_path / "traces")[0])
    run(logs, tmp_path / "traces")
    assert published(tmp_path / "traces") == before


@pytest.mark.slow
@pytest.mark.parametrize("after", [0, 2, 5])
def test_a_stopped_run_goes_on_where_it_was(after: int, logs: Path, tmp_path: Path) -> None:
    run(logs, tmp_path / "whole")
    first, second = Here(stop_after=after), Here()
    with pytest.raises(KeyboardInterrupt):
        run(logs, tmp_path / "traces", first)
    run(logs, tmp_path / "traces", second)
    assert sorted(first.converted + second.converted) == sorted(LOGS)
    assert published(tmp_path / "traces") == published(tmp_path / "whole")


def test_a_run_that_was_stopped_before_it_listed_is_listed_by_the_next(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The dataset of an earlier run is there, and lacks what was converted since."""
    target = tmp_path / "traces"
    run(logs, target, limit=2)

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("forsy_retrace.batch.run.write_listing", stopped)
        with pytest.raises(KeyboardInterrupt):
            run(logs, target)
    assert run(logs, target).converted == 0
    run(logs, tmp_path / "whole")
    assert published(target) == published(tmp_path / "whole")


def test_a_log_that_grows_while_it_is_read_is_read_again(logs: Path, tmp_path: Path) -> None:
    log = logs / "claude" / "one.jsonl"
    whole = log.read_bytes()
    log.write_bytes(b"".join(whole.splitlines(keepends=True)[:3]))

    class Growing(Here):
        def map(self, work_on: Callable[[Any], Any], tasks: Iterable[Any]) -> Any:
            for task, done in super().map(work_on, tasks):
                if work_on is work.convert_one and task.log.file.name == "claude/one.jsonl":
                    log.write_bytes(whole)
                yield task, done

    run(logs, tmp_path / "traces", Growing())
    engine = Here()
    run(logs, tmp_path / "traces", engine)
    assert engine.converted == ["claude/one.jsonl"]


def test_other_wishes_and_other_rules_make_every_log_new(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(logs, tmp_path / "traces")
    engine = Here()
    run(logs, tmp_path / "traces", engine, options=replace(Batch("").options, max_output=100))
    assert sorted(engine.converted) == sorted(LOGS)
    monkeypatch.setattr("forsy_retrace.batch.run.fingerprint", lambda plugins: b"another version")
    engine = Here()
    run(logs, tmp_path / "traces", engine)
    assert sorted(engine.converted) == sorted(LOGS)


def test_another_package_or_way_to_count_tokens_is_another_version(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = plan.fingerprint()
    assert plan._packages()["msgspec"]
    assert "pytest" not in plan._packages()
    monkeypatch.setattr(plan, "_packages", lambda: {"msgspec": "0"})
    another = plan.fingerprint()
    monkeypatch.setattr(plan, "method", lambda: "by eye")
    assert len({made, another, plan.fingerprint()}) == 3


HONEST = vars(work)["folders"]


def faulty(source: Any, name: str, options: Any) -> Any:
    """Fails at one of the logs."""
    if source.name == "claude/one.jsonl":
        raise ValueError("ghp_secret")
    return HONEST(source, name, options)


def test_a_fault_of_ours_is_a_row_that_quotes_nothing(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "folders", faulty)
    done = run(logs, tmp_path / "traces")
    ((name, problem),) = done.failed
    assert name == "claude/one.jsonl"
    assert problem.startswith("our own fault: ValueError in test_batch.py")
    assert done.converted == len(LOGS) - 1
    report = json.loads((tmp_path / "traces" / "report.json").read_bytes())
    assert report["failed"] == [{"log": name, "why": problem}]
    stopped = run(logs, tmp_path / "other", fail_fast=True)
    assert stopped.converted + len(stopped.failed) + stopped.waiting == len(LOGS)
    (logs / "claude" / "one.jsonl").unlink()
    assert run(logs, tmp_path / "traces").failed == ()


def test_what_could_not_be_made_anew_stays_and_says_so(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "traces"
    run(logs, target)
    before = folders(target)
    log = logs / "claude" / "one.jsonl"
    log.write_bytes(log.read_bytes() + b"{}\n")
    with monkeypatch.context() as patch:
        patch.setattr(work, "folders", faulty)
        for _ in range(2):  # the second run does not try it again
            done = run(logs, target)
            assert [name for name, _ in done.failed] == ["claude/one.jsonl"]
            assert done.gone == 0
            assert folders(target) == before
            (stale,) = (row for row in rows(target, "index.jsonl") if "stale" in row)
            assert stale["stale"].startswith("our own fault: ValueError in test_batch.py")
            assert "claude/one.jsonl" in json.dumps(stale["sources"])
    monkeypatch.setattr("forsy_retrace.batch.run.fingerprint", lambda plugins: b"mended")
    assert run(logs, target).failed == ()
    assert not any("stale" in row for row in rows(target, "index.jsonl"))


def test_limit_leaves_the_rest_for_another_run(logs: Path, tmp_path: Path) -> None:
    run(logs, tmp_path / "whole")
    done = run(logs, tmp_path / "traces", limit=2)
    assert (done.converted, done.waiting) == (2, len(LOGS) - 2)
    run(logs, tmp_path / "traces")
    assert published(tmp_path / "traces") == published(tmp_path / "whole")


def test_shards_share_the_logs_out(logs: Path, tmp_path: Path) -> None:
    run(logs, tmp_path / "whole", dataset=False)
    for number in (1, 2, 3):
        run(logs, tmp_path / "traces", shard=(number, 3), dataset=False)
    assert folders(tmp_path / "traces") == folders(tmp_path / "whole")
    parts = [rows(tmp_path / "traces", f"index-{n}-of-3.jsonl") for n in (1, 2, 3)]
    together = sorted((row for part in parts for row in part), key=lambda row: row["folder"])
    whole = rows(tmp_path / "whole", "index.jsonl")
    for row in (*together, *whole):
        row.pop("superseded_by", None)  # a part knows no log of another
    assert together == whole


def test_a_part_leaves_alone_what_another_lists(tmp_path: Path) -> None:
    """Two logs whose masked names are the same get one key where each part met its own first."""
    logs = tmp_path / "logs"
    logs.mkdir()

    def named(part: int, before: str) -> str:
        names = (f"{before}{n}@acme-corp.io.jsonl" for n in range(100))
        return next(n for n in names if plan.is_of(work.File("", n, "logs", 0, ""), (part, 2)))

    shutil.copyfile(FIXTURES / LOGS["exports/conversations.json"], logs / named(1, "bob"))
    run(logs, tmp_path / "traces", shard=(1, 2))
    (first,) = folders(tmp_path / "traces")
    shutil.copyfile(FIXTURES / "claude-code/push-pull-push/input.jsonl", logs / named(2, "amy"))
    run(logs, tmp_path / "traces", shard=(2, 2))
    both = folders(tmp_path / "traces")
    assert len(both) == 2
    assert len({name.rpartition("-")[2] for name in both}) == 1
    assert first in both


def test_a_log_below_a_root_and_a_link_to_it_is_one(logs: Path, tmp_path: Path) -> None:
    (tmp_path / "again").symlink_to(logs)
    wish = Batch(str(tmp_path / "traces"), (str(logs), str(tmp_path / "again")))
    done = batch(wish, engine=Here())
    assert (len(done.plan.logs), done.copies) == (len(LOGS), 1)  # one of them is told twice


def test_the_target_of_a_batch_holds_no_logs(logs: Path, tmp_path: Path) -> None:
    run(logs, logs / "out")
    found = list(convert(logs, "auto", tmp_path / "alone"))
    assert not [one.name for one in found if isinstance(one, Refused) and "out" in one.name]


def test_a_dry_run_writes_nothing(logs: Path, tmp_path: Path) -> None:
    done = run(logs, tmp_path / "traces", dry_run=True)
    assert done.waiting == len(LOGS)
    assert not (tmp_path / "traces").exists()


def test_a_dry_run_beside_another_run_takes_a_whole_ledger(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run(logs, tmp_path / "traces")
    assert done.failed == ()
    ledger, copyfile = tmp_path / "traces" / ".ledger.sqlite", shutil.copyfile
    whole, empty = ledger.read_bytes(), bytes(len(ledger.read_bytes()))
    ledger.write_bytes(empty)
    copied = []

    def copy(source: Path, target: Path) -> None:
        copyfile(source, target)
        copied.append(source.name)
        if copied == [ledger.name]:  # the journal of the other run goes into it now
            ledger.write_bytes(whole)
            os.utime(ledger, ns=(1, 1))

    monkeypatch.setattr(shutil, "copyfile", copy)
    dry = run(logs, tmp_path / "traces", dry_run=True)
    assert dry.waiting == 0
    assert dry.unchanged > 0
    assert copied.count(ledger.name) == 2


def test_a_dry_run_names_what_could_not_be_read(logs: Path, tmp_path: Path) -> None:
    (logs / "cut.jsonl.gz").write_bytes(b"\x1f\x8b\x08\0 and no more")
    words = ["batch", str(logs), "-o", str(tmp_path / "traces"), "--dry-run"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 1
    assert done.stdout.endswith("1 log failed:\n  cut.jsonl.gz: damaged compression\n")
    assert not (tmp_path / "traces").exists()


def test_two_runs_on_one_target_exclude_each_other(logs: Path, tmp_path: Path) -> None:
    with locked(tmp_path / "traces" / ".ledger.sqlite"), pytest.raises(Locked):
        run(logs, tmp_path / "traces")


def test_a_target_with_other_files_is_refused(logs: Path, tmp_path: Path) -> None:
    target = tmp_path / "documents"
    target.mkdir()
    (target / "letter.txt").write_text("Dear all")
    with pytest.raises(RetraceError, match="not ours"):
        run(logs, target)
    assert [path.name for path in target.iterdir()] == ["letter.txt"]


def test_a_damaged_ledger_is_named(logs: Path, tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / ".ledger.sqlite").write_bytes(b"no database at all" * 100)
    with pytest.raises(RetraceError, match="no ledger of batch"):
        run(logs, tmp_path / "traces")


def test_the_ledger_may_be_moved_away(logs: Path, tmp_path: Path) -> None:
    run(logs, tmp_path / "traces")
    before = published(tmp_path / "traces")
    (tmp_path / "traces" / ".ledger.sqlite").unlink()
    run(logs, tmp_path / "traces")
    assert published(tmp_path / "traces") == before


@pytest.mark.parametrize("name", ["trace.json", "evidence.jsonl", "README.md"])
def test_a_folder_that_lost_a_file_is_made_again(name: str, logs: Path, tmp_path: Path) -> None:
    run(logs, tmp_path / "traces")
    before = published(tmp_path / "traces")
    (tmp_path / "traces" / folders(tmp_path / "traces")[0] / name).unlink()
    log = logs / "claude" / "one.jsonl"
    log.write_bytes(log.read_bytes() + b"\n")
    assert run(logs, tmp_path / "traces").converted > 0
    assert published(tmp_path / "traces").keys() == before.keys()


@pytest.mark.parametrize("name", ["trace.json", "evidence.jsonl", "README.md", "artifacts/*"])
def test_a_folder_of_which_a_file_is_cut_or_gone_is_made_again(
    name: str, logs: Path, tmp_path: Path
) -> None:
    target = tmp_path / "traces"
    run(logs, target)
    before = published(target)
    one = next(target.glob(f"*/{name}"))
    one.write_bytes(one.read_bytes()[:1])
    assert run(logs, target).converted == 1
    assert published(target) == before
    one.unlink()
    assert run(logs, target).converted == 1
    assert published(target) == before
    assert run(logs, target).converted == 0


def test_a_folder_whose_manifest_is_cut_is_told_and_let_be(logs: Path, tmp_path: Path) -> None:
    target = tmp_path / "traces"
    run(logs, target)
    before = published(target)
    manifest = next(target.glob("*/manifest.json"))
    manifest.write_bytes(b"{")
    assert work.OCCUPIED in [why for _, why in run(logs, target).failed]
    assert manifest.read_bytes() == b"{"
    shutil.rmtree(manifest.parent)
    assert run(logs, target).failed == ()
    assert published(target) == before


def with_a_damaged_page(path: Path) -> None:
    with path.open("r+b") as stream:
        stream.seek(4096)
        stream.write(b"\xff" * (path.stat().st_size - 4096))


def with_another_table(path: Path) -> None:
    with sqlite3.connect(path) as base:
        base.execute("DROP TABLE logs")
        base.execute("CREATE TABLE logs (line TEXT)")


def with_other_values(path: Path) -> None:
    with sqlite3.connect(path) as base:
        base.execute("UPDATE logs SET done = '[1]'")


@pytest.mark.parametrize("damage", [with_a_damaged_page, with_another_table, with_other_values])
def test_a_damaged_ledger_is_one_line(
    damage: Callable[[Path], None], logs: Path, tmp_path: Path
) -> None:
    run(logs, tmp_path / "traces")
    damage(tmp_path / "traces" / ".ledger.sqlite")
    with pytest.raises(RetraceError, match="the ledger is damaged; move it away"):
        run(logs, tmp_path / "traces")


def test_what_is_no_ledger_is_left_as_it_is(logs: Path, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "mine.db") as base:
        base.execute("CREATE TABLE notes (text)")
    shutil.copyfile(logs / "claude" / "one.jsonl", tmp_path / "log.jsonl")
    for name in ("mine.db", "log.jsonl"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(RetraceError, match=f"{name}: no ledger of batch; name another"):
            run(logs, tmp_path / "traces", ledger=str(tmp_path / name))
        assert (tmp_path / name).read_bytes() == before
        assert not (tmp_path / "traces").exists()
    with pytest.raises(RetraceError, match="the ledger is a file"):
        run(logs, tmp_path / "traces", ledger=str(logs))
    with pytest.raises(DiskTrouble, match="the ledger can't be opened"):
        Ledger(logs)


def test_what_an_extra_brings_is_missed_before_anything_is_read(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package, wishes in (
        ("pyarrow", {"parquet": True}),
        ("ray", {"engine": "ray"}),
        ("fsspec", {"roots": ("s3://bucket/logs",)}),
    ):
        wish = Batch(str(tmp_path / "traces"), **{"roots": (str(logs),), **wishes})  # type: ignore[arg-type]  # a wish each
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, package, None)
            with pytest.raises(RetraceError, match=r"pip install"):
                batch(wish)
        assert not (tmp_path / "traces").exists()


def test_parquet_without_dataset_files_is_refused(logs: Path, tmp_path: Path) -> None:
    with pytest.raises(RetraceError, match="leave out one"):
        run(logs, tmp_path / "traces", parquet=True, dataset=False)
    assert not (tmp_path / "traces").exists()


def test_the_report_names_what_was_skipped(logs: Path, tmp_path: Path) -> None:
    for number in range(25):
        (logs / f"{number:02}-kmeyerling@zentra.dev.txt").write_text(f"nothing of note {number}")
    run(logs, tmp_path / "traces")
    report = json.loads((tmp_path / "traces" / "report.json").read_bytes())
    assert report["skipped"].keys() == report["skipped_files"].keys()
    ((why, names),) = [
        (why, names) for why, names in report["skipped_files"].items() if len(names) == 20
    ]
    assert report["skipped"][why] >= 25
    assert names == sorted(names)
    assert "kmeyerling" not in json.dumps(report)


def test_a_full_disk_is_no_damage(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger._base.execute("PRAGMA max_page_count = 12")
    with pytest.raises(DiskTrouble, match="no space left"):
        ledger.keep_folder_keys((f"{n:032}", f"{n:06}") for n in range(10_000))
    ledger.close()
    Ledger(tmp_path / "ledger.sqlite").close()


def test_a_ledger_elsewhere_opens_no_folder_of_others(logs: Path, tmp_path: Path) -> None:
    ledger = str(tmp_path / "ledger.sqlite")
    run(logs, tmp_path / "traces", ledger=ledger)
    assert run(logs, tmp_path / "traces", ledger=ledger).unchanged == len(LOGS)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "README.md").write_text("mine")
    with pytest.raises(RetraceError, match="not ours"):
        run(logs, tmp_path / "docs", ledger=ledger)
    assert contents(tmp_path / "docs") == {"README.md": b"mine"}


def test_what_could_not_be_read_once_is_tried_again(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(logs, tmp_path / "whole")
    with monkeypatch.context() as patch:
        refuses(patch, "one.jsonl", "open")
        first = run(logs, tmp_path / "traces")
    assert first.failed == (("claude/one.jsonl", "Permission denied"),)
    report = json.loads((tmp_path / "traces" / "report.json").read_bytes())
    assert report["failed"] == [{"log": "claude/one.jsonl", "why": "Permission denied"}]
    assert run(logs, tmp_path / "traces").failed == ()
    assert published(tmp_path / "traces") == published(tmp_path / "whole")


def test_a_log_that_could_not_be_read_now_loses_no_trace(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(logs, tmp_path / "traces")
    before = folders(tmp_path / "traces")
    other_wish = replace(Batch("").options, max_output=100)
    with monkeypatch.context() as patch:
        refuses(patch, "one.jsonl", "open")
        first = run(logs, tmp_path / "traces", options=other_wish)
    assert [name for name, _ in first.failed] == ["claude/one.jsonl"]
    assert folders(tmp_path / "traces") == before
    again = run(logs, tmp_path / "traces", options=other_wish)
    assert (again.converted, again.failed) == (1, ())


@pytest.mark.parametrize("spoilt", [b"", b"\x1f\x8b\x08nothing", b"BZh91AY&SY", b"\0" * 400])
def test_a_log_of_which_nothing_can_be_read_any_more_loses_no_trace(
    spoilt: bytes, logs: Path, tmp_path: Path
) -> None:
    run(logs, tmp_path / "traces")
    before = folders(tmp_path / "traces")
    held = (logs / "claude" / "one.jsonl").read_bytes()
    (logs / "claude" / "one.jsonl").write_bytes(spoilt)
    for _ in range(2):
        done = run(logs, tmp_path / "traces")
        assert [name for name, _ in done.failed] == ["claude/one.jsonl"]
        assert (folders(tmp_path / "traces"), done.gone) == (before, 0)
    assert any("stale" in row for row in rows(tmp_path / "traces", "index.jsonl"))
    (logs / "claude" / "one.jsonl").write_bytes(held)
    assert run(logs, tmp_path / "traces").failed == ()
    assert folders(tmp_path / "traces") == before


def test_a_log_that_could_not_be_read_and_is_gone_fails_no_later_run(
    logs: Path, tmp_path: Path
) -> None:
    class Vanishing(Here):
        def map(self, work_on: Callable[[Any], Any], tasks: Iterable[Any]) -> Any:
            if work_on is work.convert_one:
                (logs / "claude" / "one.jsonl").unlink()
            return super().map(work_on, tasks)

    first = run(logs, tmp_path / "traces", Vanishing())
    assert first.failed == (("claude/one.jsonl", "No such file or directory"),)
    assert run(logs, tmp_path / "traces").failed == ()
    run(logs, tmp_path / "clean")
    assert published(tmp_path / "traces") == published(tmp_path / "clean")


def test_a_log_that_becomes_a_pipe_stops_no_run(logs: Path, tmp_path: Path) -> None:
    log, target = logs / "claude" / "one.jsonl", tmp_path / "traces"
    run(logs, target)
    before = folders(target)
    log.write_bytes(log.read_bytes() + b"\n")

    class Swapping(Here):
        def map(self, work_on: Callable[[Any], Any], tasks: Iterable[Any]) -> Any:
            if work_on is work.convert_one:
                log.unlink()
                os.mkfifo(log)
            return super().map(work_on, tasks)

    found: list[Report] = []
    whole = Thread(target=lambda: found.append(run(logs, target, Swapping())), daemon=True)
    whole.start()
    whole.join(20)
    ((name, why),) = found[0].failed
    assert (name, why) == ("claude/one.jsonl", "not a regular file")
    assert folders(target) == before


def test_a_log_for_which_memory_was_short_loses_no_trace_and_is_tried_again(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(logs, tmp_path / "traces")
    before = folders(tmp_path / "traces")

    def short(*_: object) -> Any:
        raise MemoryError

    other_wish = replace(Batch("").options, max_output=100)
    with monkeypatch.context() as patch:
        patch.setattr(work, "folders", short)
        first = run(logs, tmp_path / "traces", options=other_wish)
    assert {why for _, why in first.failed} == {"not enough memory for it now"}
    assert folders(tmp_path / "traces") == before
    assert run(logs, tmp_path / "traces", options=other_wish).converted == len(LOGS)


def test_folders_that_may_not_be_listed_and_links_are_told(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (logs / "link.jsonl").symlink_to("streams.jsonl")
    refuses(monkeypatch, "exports", "scandir")
    done = run(logs, tmp_path / "traces")
    assert done.failed == (("exports", "Permission denied"),)
    assert [count for why, count in done.plan.skipped.items() if why.startswith("a link")] == [1]
    told = list(convert(logs, "auto", tmp_path / "alone"))
    assert {one.name for one in told if isinstance(one, Refused)} >= {"exports", "link.jsonl"}


def test_a_link_that_is_named_is_followed(logs: Path, tmp_path: Path) -> None:
    (tmp_path / "link.jsonl").symlink_to(logs / "claude" / "one.jsonl")
    assert run(tmp_path / "link.jsonl", tmp_path / "traces").traces == 1
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(RetraceError, match="a link that leads nowhere"):
        run(tmp_path / "loop", tmp_path / "traces")


def test_logs_of_one_name_below_two_roots_keep_their_own_folders(
    logs: Path, tmp_path: Path
) -> None:
    for root in ("a", "b"):
        (tmp_path / root / "logs").mkdir(parents=True)
        shutil.copyfile(logs / "claude" / "one.jsonl", tmp_path / root / "logs" / "x.jsonl")
        run(tmp_path / root / "logs", tmp_path / "traces")
    first, second = rows(tmp_path / "traces", "index.jsonl")
    assert second["superseded_by"] == first["folder"]
    assert [row["trace_slug"] for row in rows(tmp_path / "traces", "manifests.jsonl")] == [
        first["folder"]
    ]
    changed = tmp_path / "a" / "logs" / "x.jsonl"
    changed.write_text(changed.read_text().replace("Publish my commit", "Push what I have"))
    run(tmp_path / "a" / "logs", tmp_path / "traces")
    assert len(folders(tmp_path / "traces")) == 2
    assert len(rows(tmp_path / "traces", "index.jsonl")) == 2


def test_of_a_session_at_several_lengths_the_longest_wins(logs: Path, tmp_path: Path) -> None:
    whole = (logs / "claude" / "one.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "in").mkdir()
    for size in (3, len(whole), 5):
        (tmp_path / "in" / f"{size}.jsonl").write_bytes(b"".join(whole[:size]))
    run(tmp_path / "in", tmp_path / "traces")
    index = rows(tmp_path / "traces", "index.jsonl")
    (winner,) = (row for row in index if "superseded_by" not in row)
    assert winner["total_steps"] == max(row["total_steps"] for row in index)
    assert {row.get("superseded_by", row["folder"]) for row in index} == {winner["folder"]}
    (tmp_path / "in").rename(tmp_path / "moved")
    run(tmp_path / "moved", tmp_path / "traces")
    assert len(rows(tmp_path / "traces", "traces.jsonl")) == 1


def test_nothing_beside_the_folders_names_a_private_path(tmp_path: Path) -> None:
    root = tmp_path / "home" / "zebulon.quux" / "logs"
    root.mkdir(parents=True)
    shutil.copyfile(FIXTURES / "claude-code/push-pull-push/input.jsonl", root / "a.jsonl")
    (root / "b.json").write_text("{}")
    run(root, tmp_path / "traces")
    assert not [n for n, data in contents(tmp_path / "traces").items() if b"zebulon" in data]


def test_nothing_beside_the_folders_names_what_is_asked_to_be_masked(tmp_path: Path) -> None:
    root = tmp_path / "logs" / "zorblatt"
    root.mkdir(parents=True)
    shutil.copyfile(FIXTURES / "claude-code/push-pull-push/input.jsonl", root / "a.jsonl")
    (root / "notes.txt").write_text("nothing of note")
    (root / ".bash_history").write_text("make\n")  # too short for a trace
    (root / "cut.jsonl.gz").write_bytes(b"\x1f\x8b\x08\0 and no more")
    options = Options(rules=Rules(terms=("zorblatt",)))
    done = run(tmp_path / "logs", tmp_path / "traces", options=options)
    assert (done.traces, done.refused, len(done.failed)) == (1, 1, 1)
    assert not [n for n, data in contents(tmp_path / "traces").items() if b"zorblatt" in data]
    assert "zorblatt" not in summary(done, Batch("traces"))


def test_companions_are_no_logs_of_their_own(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "claude-code/subagent-directory", tmp_path / "logs")
    shutil.rmtree(tmp_path / "logs" / "trace")
    (tmp_path / "logs" / "events.jsonl").unlink()
    done = run(tmp_path / "logs", tmp_path / "traces")
    assert len(done.plan.logs) == done.traces == 1
    assert done.plan.companions > 0
    companion = next((tmp_path / "logs" / "input").rglob("*.jsonl"))
    companion.write_bytes(companion.read_bytes() + b"{}\n")
    engine = Here()
    run(tmp_path / "logs", tmp_path / "traces", engine)
    assert engine.converted == ["input.jsonl"]


def test_the_stores_of_this_machine_are_those_that_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert plan.stores() == []
    (tmp_path / ".claude" / "projects").mkdir(parents=True)
    (tmp_path / ".codex" / "sessions").mkdir(parents=True)
    assert [Path(store).name for store in plan.stores()] == ["projects", "sessions"]


def test_parquet_holds_the_same_rows(logs: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="the extra parquet is not installed")
    run(logs, tmp_path / "traces")
    run(logs, tmp_path / "traces", parquet=True)
    for table in ("manifests", "traces", "steps", "grounds"):
        told = rows(tmp_path / "traces", f"{table}.jsonl")
        held = parquet.read_table(tmp_path / "traces" / f"{table}.parquet").to_pylist()
        assert len(held) == len(told)
        for row, cells in zip(told, held, strict=True):
            more = json.loads(cells.pop("more") or "{}")
            assert {**cells, **more}.keys() == row.keys()
            for name, value in row.items():
                cell = more[name] if name in more else cells[name]
                if name not in more and not isinstance(value, dict | list):
                    assert cell == value, name  # figures stay figures
                assert cell == value or json.loads(cell) == value


def test_an_address_gets_the_same_files(logs: Path, tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec", reason="the extra cloud is not installed")
    memory = fsspec.filesystem("memory")
    memory.put(str(logs), "/in/logs", recursive=True)
    run(logs, tmp_path / "disk")
    for target in ("memory://out/traces", str(tmp_path / "traces")):
        wish = Batch(target, ("memory://in/logs",), ledger=str(tmp_path / f"{len(target)}.sqlite"))
        first = batch(wish, engine=Here())
        assert (first.converted, first.failed) == (len(LOGS), ())
        assert batch(wish, engine=Here()).converted == 0
    memory.get("/out/traces", str(tmp_path / "fetched"), recursive=True)
    assert published(tmp_path / "fetched") == published(tmp_path / "disk")
    assert published(tmp_path / "traces") == published(tmp_path / "disk")


def test_an_address_of_a_disk_is_its_path(logs: Path, tmp_path: Path) -> None:
    """Also for databases, which a store can't give."""
    shutil.copyfile(FIXTURES / "atuin" / "schema-of-2026" / "input.db", logs / "history.db")
    run(logs, tmp_path / "disk")
    for _ in range(2):
        done = batch(Batch(f"file://{tmp_path}/traces", (f"file://{logs}",)), engine=Here())
        assert done.failed == ()
    assert done.converted == 0
    assert published(tmp_path / "traces") == published(tmp_path / "disk")


def test_an_address_where_nothing_lies_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("fsspec", reason="the extra cloud is not installed")
    with pytest.raises(RetraceError, match="memory://absent/x: nothing lies there"):
        batch(Batch(str(tmp_path / "t"), ("memory://absent/x",)), engine=Here())


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("batch", "memory://x", "-o", "t"), "memory:// is of one process"),
        (("batch", "nope://x", "-o", "t"), "fsspec knows no addresses of the kind nope://"),
        (("batch", "github://x", "-o", "t"), "github:// needs more than its address tells"),
        (("auto", "nope://x", "-o", "t"), "'PATH': is an address; batch alone takes those"),
        (("auto", "x", "-o", "s3://x/t"), "'-o' / '--output': is an address; batch alone"),
        (("show", "s3://x/t"), "is an address; batch alone takes those"),
        (("show", "file:///no/where"), "where: no trace folder, trace.json is missing"),
    ],
)
def test_an_address_that_is_of_no_use_here_is_told_why(
    words: tuple[str, ...], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("fsspec", reason="the extra cloud is not installed")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(main, words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert why in done.stderr
    assert [path.name for path in tmp_path.iterdir()] in ([], ["t"])


def test_a_store_without_the_bucket_is_named_as_the_target_s_trouble(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was called our own fault in each log, whose trace of an earlier run went away for it."""
    fsspec = pytest.importorskip("fsspec", reason="the extra cloud is not installed")
    memory = type(fsspec.filesystem("memory"))

    def gone(*_: object, **__: object) -> None:
        raise FileNotFoundError

    for way in ("pipe_file", "put_file"):
        with monkeypatch.context() as patch:
            patch.setattr(memory, way, gone)
            wish = Batch(f"memory://{way}/traces", (str(logs),), ledger=str(tmp_path / way))
            with pytest.raises(DiskTrouble, match="no such bucket or folder"):
                batch(wish, engine=Here())


# the command


def test_the_command_says_what_it_did(logs: Path, tmp_path: Path) -> None:
    words = ["batch", str(logs), "-o", str(tmp_path / "traces"), "--jobs", "1"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    assert "6 logs, 0 files belonging to them, 2 other files skipped" in done.output
    assert "report.json names them\n6 converted" in done.output
    assert "7 traces, 1 of them copies: `superseded_by` in index.jsonl" in done.output
    again = CliRunner().invoke(main, [*words, "--json"])
    assert json.loads(again.output)["unchanged"] == len(LOGS)


def test_kinds_that_no_adapter_knows_are_counted(tmp_path: Path) -> None:
    target = tmp_path / "traces"
    for name in ("a", "b"):
        log = tmp_path / "logs" / name / "input.jsonl"
        log.parent.mkdir(parents=True)
        shutil.copy(FIXTURES / "claude-code" / "unknown-types" / "input.jsonl", log)
    words = ["batch", str(tmp_path / "logs"), "-o", str(target), "--jobs", "1"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0
    assert "2 traces of logs with kinds of records that are not" in done.output
    each = [row["unknown_kinds"] for row in rows(target, "index.jsonl")]
    assert each[0] == each[1]
    assert each[0]
    told = json.loads((target / "report.json").read_bytes())["unknown_kinds"]
    assert {one["kind"]: one["count"] for one in told} == {k: 2 * n for k, n in each[0].items()}
    assert {(one["adapter"], one["traces"]) for one in told} == {("claude-code", 2)}
    again = CliRunner().invoke(main, [*words, "--strict", "-q"])
    assert (again.exit_code, again.stdout) == (1, "")
    assert again.stderr == "forsy-retrace: logs have kinds of records that are not known\n"


@pytest.mark.parametrize("shard", ["0/2", "3/2", "x", "1/0", "-1/2", "\u00b2/2", "1/2/3"])
def test_a_part_that_is_none_is_refused(shard: str, logs: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(
        main, ["batch", str(logs), "-o", str(tmp_path / "t"), f"--shard={shard}"]
    )
    assert done.exit_code == 2


def test_more_processes_than_a_machine_has_are_a_typo(logs: Path, tmp_path: Path) -> None:
    for jobs in ("0", "-3", "1001", "99999999999999999999"):
        done = CliRunner().invoke(main, ["batch", str(logs), "-o", str(tmp_path), f"--jobs={jobs}"])
        assert done.exit_code == 2
        assert "is not in the range 1<=x<=1000" in done.output


def test_an_adapter_that_is_none_is_refused(logs: Path, tmp_path: Path) -> None:
    with pytest.raises(RetraceError, match="has that name; known: "):
        run(logs, tmp_path / "t", adapter="nope")


def test_a_pattern_that_cannot_be_followed_costs_no_trace(logs: Path, tmp_path: Path) -> None:
    run(logs, tmp_path / "traces")
    before = published(tmp_path / "traces")
    for pattern in ("(", "\udcff"):
        options = replace(Batch("").options, rules=Rules(patterns=(pattern,)))
        with pytest.raises(RetraceError, match="pattern 1 is refused"):
            run(logs, tmp_path / "traces", options=options)
    assert published(tmp_path / "traces") == before


def test_a_term_that_is_no_utf_8_is_a_wish_like_any_other(logs: Path, tmp_path: Path) -> None:
    options = replace(Batch("").options, rules=Rules(terms=("\udcff",)))
    assert run(logs, tmp_path / "traces", options=options).failed == ()


def test_an_engine_that_is_none_is_refused(logs: Path, tmp_path: Path) -> None:
    with pytest.raises(RetraceError, match="an engine is pool, ray"):
        batch(Batch(str(tmp_path / "t"), (str(logs),), engine="spark"))


def test_what_was_not_asked_for_is_said_to_be_so(logs: Path, tmp_path: Path) -> None:
    before = run(logs, tmp_path / "traces")
    options = replace(Batch("").options, choice=Choice(since="2999-01-01"))
    done = run(logs, tmp_path / "traces", options=options)
    assert (done.traces, done.gone) == (0, before.traces)
    wish = Batch(str(tmp_path), ())
    assert f"{before.traces} traces of an earlier run gone" in summary(done, wish)
    report = json.loads((tmp_path / "traces" / "report.json").read_bytes())
    whys = {row["why"] for row in report["refused"]}
    assert whys == {"no session that was asked for"}


def test_no_roots_and_absent_roots_are_refused(tmp_path: Path) -> None:
    for roots in ((), (str(tmp_path / "absent"),)):
        done = CliRunner().invoke(main, ["batch", *roots, "-o", str(tmp_path / "t")])
        assert (done.exit_code, done.stdout) == (2, "")


def test_a_machine_without_the_usual_places_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "absent"))
    done = CliRunner().invoke(main, ["batch", "--local", "-o", str(tmp_path / "t")])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "none of the usual places for logs is here" in done.stderr


# dying workers


@pytest.mark.slow
def test_a_task_that_kills_its_worker_is_named_and_no_other_is_lost() -> None:
    pool = Pool(2)
    found = dict(pool.map(double, range(8)))
    pool.close()
    assert isinstance(found.pop(3), Lost)
    assert found == {number: 2 * number for number in range(8) if number != 3}


@pytest.mark.slow
def test_a_task_given_to_a_pool_that_just_broke_is_not_lost() -> None:
    pool = Pool(1)

    def tasks() -> Iterator[int]:
        yield 3
        latest = time.monotonic() + 60
        while pool._pool is not None and not pool._pool._broken and time.monotonic() < latest:
            time.sleep(0.01)
        yield from (4, 5)

    found = dict(pool.map(double, tasks()))
    pool.close()
    assert isinstance(found.pop(3), Lost)
    assert found == {4: 8, 5: 10}


@pytest.mark.slow
def test_a_worker_that_dies_once_costs_nothing(tmp_path: Path) -> None:
    pool = Pool(2)
    found = dict(pool.map(kill_once, [tmp_path / "a", tmp_path / "b"]))
    pool.close()
    assert sorted(map(str, found.values())) == ["a", "b"]


@pytest.mark.slow
def test_a_worker_is_deaf_to_ctrl_c_from_its_first_moment() -> None:
    """It is started with the signal blocked, and so prints no traceback while it starts.

    In a process of its own: what Python starts before the first pool must not unblock the signal.
    """
    program = "from doomed import *; print(any(dict(Pool(2).map(hears_ctrl_c, range(4))).values()))"
    words = [sys.executable, "-c", f"from forsy_retrace.batch.pool import Pool; {program}"]
    done = subprocess.run(words, cwd=Path(__file__).parent, stdout=subprocess.PIPE)
    assert done.stdout == b"False\n"


def test_a_name_is_readable_in_a_locale_that_lacks_its_letters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "fsencode", lambda name: name.encode("ascii", "surrogateescape"))
    once = Source(Path("\udcf0\udc9f\udc98\udc80.jsonl")).name
    assert (once, Source(Path("x"), once).name) == ("\U0001f600.jsonl", once)


def test_a_name_is_masked_by_what_its_log_knows_everywhere_also_in_the_ledger(
    tmp_path: Path,
) -> None:
    secret = "Kx92LmQ0zvT4Rw8n"
    (tmp_path / "in").mkdir()
    text = (FIXTURES / "claude-code/push-pull-push/input.jsonl").read_text("utf-8")
    told = text.replace("git push origin main", f"export DB_PASSWORD={secret}")
    (tmp_path / "in" / f"shop-{secret}.jsonl").write_text(told, "utf-8")
    run(tmp_path / "in", tmp_path / "traces")
    held = contents(tmp_path / "traces")
    assert ".ledger.sqlite" in held
    assert not [name for name, data in held.items() if secret.encode() in data]
