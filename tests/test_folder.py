"""A trace folder is there whole or not at all: kills, full disks, Ctrl-C and two runs at once.

Children are forked, so that each may die at a chosen system call: an audit hook and a patched
fsync count what touches the disk, and the one counted last is never made.
"""

import contextlib
import fcntl
import json
import os
import resource
import secrets
import shutil
import signal
import string
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from forsy_retrace import cli
from forsy_retrace.convert import convert
from forsy_retrace.errors import DiskTrouble, Locked, RetraceError
from forsy_retrace.writers import atomic
from forsy_retrace.writers.atomic import check_target, is_ours, locked, sweep, write_whole

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills need forked children")

LOG = Path(__file__).parents[1] / "fixtures" / "claude-code" / "push-pull-push" / "input.jsonl"
TOUCHES = ("open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "os.listdir")

Files = Mapping[str, bytes]


def files(word: str) -> Files:
    """A trace folder of one kind: its manifest says that it is ours."""
    return {
        "manifest.json": b'{"generator": "forsy-retrace 0.1.0"}\n',
        "trace.json": word.encode() * 1000,
        f"artifacts/{word.encode().hex():0>16}.txt": word.encode(),
    }


OLD, NEW = files("old"), files("new")


def put(target: Path, content: Files) -> None:
    """What a writer does once its files are made."""
    with locked(target):
        check_target(target)
        write_whole(target, content)


def held(folder: Path) -> Files | None:
    """Every file below a folder; None where there is no folder."""
    if not folder.exists():
        return None
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def beside(target: Path) -> set[str]:
    return {path.name for path in target.parent.iterdir()} - {target.name}


def child(work: Callable[[], None]) -> int:
    """The exit status of a forked process that does the work: 0, or 3 where it raised."""
    process = os.fork()
    if process:
        return os.waitpid(process, 0)[1]
    status = 3
    try:
        work()
        status = 0
    finally:
        os._exit(status)


def at_touch(number: int, strike: Callable[[], None]) -> None:
    """Strikes before this process touches the disk for the n-th time."""
    left = iter(range(number - 1, -1, -1))

    def hook(event: str, _: object) -> None:
        if event in TOUCHES and next(left, -1) == 0:
            strike()

    def synced(handle: Any) -> None:
        hook("open", None)

    setattr(os, "fsync", synced)  # noqa: B010 (mypy holds the plain form for a mistake)
    sys.addaudithook(hook)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def interrupt() -> None:
    raise KeyboardInterrupt


def killed_at(number: int, work: Callable[[], None]) -> bool:
    """Whether a process that does the work touches the disk so often that the kill comes."""

    def doomed() -> None:
        at_touch(number, die)
        work()

    status = child(doomed)
    assert os.WIFSIGNALED(status) or os.waitstatus_to_exitcode(status) == 0
    return os.WIFSIGNALED(status)


def kills(target: Path, before: Files | None) -> Iterator[int]:
    """Every moment at which a run that writes NEW can be killed, with the target as it was."""
    for number in count(1):
        for path in target.parent.iterdir():
            assert path == target
        if before is not None:
            put(target, before)
        if not killed_at(number, lambda: put(target, NEW)):
            assert number > 10
            return
        yield number


@pytest.fixture(autouse=True)
def _no_disk_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Processes die here, machines do not: nothing needs to reach the disk itself."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path / "out" / "trace"


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_no_part_of_a_new_folder(target: Path) -> None:
    for number in kills(target, None):
        assert held(target) in (None, NEW), number
        put(target, OLD)
        assert held(target) == OLD, number
        assert beside(target) == set(), number
        for path in sorted(target.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        target.rmdir()


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_the_old_folder_or_the_new_one(target: Path) -> None:
    seen = set()
    for number in kills(target, OLD):
        now = held(target)
        if now is None:  # between two renames: the old one lies beside, whole
            (aside,) = target.parent.glob(".trace.old")
            assert held(aside) == OLD, number
        seen.add("absent" if now is None else "old" if now == OLD else "new")
        assert now in (None, OLD, NEW), number
        put(target, NEW)
        assert held(target) == NEW, number
        assert beside(target) == set(), number
    assert seen == {"absent", "old", "new"}


@pytest.mark.slow
def test_a_run_that_writes_nothing_still_brings_the_old_folder_back(target: Path) -> None:
    for number in kills(target, OLD):
        if held(target) is None:
            sweep(target)
            assert held(target) == OLD, number
            return
        put(target, OLD)
    pytest.fail("no kill came between the renames")


@pytest.mark.slow
def test_an_interrupt_at_any_moment_keeps_the_old_folder_or_the_new_one(target: Path) -> None:
    for number in count(1):
        put(target, OLD)

        def stopped(number: int = number) -> None:
            at_touch(number, interrupt)
            put(target, NEW)

        status = child(stopped)
        assert held(target) in (OLD, NEW), number
        put(target, OLD)
        assert beside(target) == set(), number
        if status == 0:
            return


def test_a_folder_that_waits_to_be_named_is_closed_to_others(target: Path) -> None:
    waited = 0
    for number in kills(target, None):
        for fresh in target.parent.glob(".trace.new"):
            waited += 1
            assert fresh.stat().st_mode & 0o077 == 0 or held(fresh) == NEW, number
        sweep(target)
        put(target, NEW)
        for path in sorted(target.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        target.rmdir()
    assert waited


def test_the_leftovers_of_another_target_are_not_touched(target: Path) -> None:
    strangers = target.parent / ".trace2.new"
    strangers.mkdir()
    put(target, NEW)
    assert beside(target) == {strangers.name}


@pytest.mark.parametrize("limit", [0, 100, 2000])
def test_a_disk_that_fills_leaves_what_was_there(limit: int, target: Path) -> None:
    """A cap on the size of files stands in for a full disk: writes fail with an OSError."""
    for before in (None, OLD):
        if before is not None:
            put(target, before)

        def cramped() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            with pytest.raises(DiskTrouble, match="grow too large"):
                put(target, NEW)

        assert child(cramped) == 0
        assert held(target) == before
        assert beside(target) == set()


def test_a_second_run_is_told_that_the_first_one_writes(target: Path) -> None:
    with locked(target):
        with pytest.raises(Locked), locked(target):
            pass
        assert child(lambda: put(target, NEW)) != 0
    assert held(target) is None
    assert beside(target) == set()


def test_the_lock_of_a_process_that_died_is_taken_over(target: Path) -> None:
    def killed_inside() -> None:
        with locked(target):
            die()

    assert os.WIFSIGNALED(child(killed_inside))
    assert beside(target) == {".trace.lock"}
    put(target, NEW)
    assert held(target) == NEW
    assert beside(target) == set()


def test_a_lock_file_that_nobody_holds_is_no_lock(target: Path) -> None:
    (target.parent / ".trace.lock").write_text(str(os.getpid()))
    put(target, NEW)
    assert beside(target) == set()


@pytest.mark.parametrize("before", [None, OLD])
@pytest.mark.parametrize("name", [".trace.new", ".trace.old"])
def test_the_leftovers_of_a_run_that_was_killed_are_swept(
    name: str, before: dict[str, bytes] | None, target: Path
) -> None:
    if before is not None:
        put(target, before)
    (target.parent / name).mkdir()
    (target.parent / name / "trace.json").write_bytes(b"{")
    put(target, NEW)
    assert held(target) == NEW
    assert beside(target) == set()


@pytest.mark.parametrize("name", [".trace.new", ".trace.old"])
def test_a_folder_beside_the_target_that_is_the_users_is_not_swept(name: str, target: Path) -> None:
    (target.parent / name).mkdir()
    (target.parent / name / "mine.txt").write_bytes(b"mine")
    with pytest.raises(RetraceError, match="files that are not ours"):
        put(target, NEW)
    assert (target.parent / name / "mine.txt").read_bytes() == b"mine"
    assert held(target) is None


@pytest.fixture
def filled(target: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, which is filled, with a trace in it."""
    target.mkdir()
    monkeypatch.chdir(target)
    put(target, OLD)
    return target


@pytest.mark.parametrize("name", [".forsy-full", "artifacts"])
def test_a_link_in_a_folder_that_is_filled_is_not_followed(name: str, filled: Path) -> None:
    victim = filled.parent / "victim"
    victim.mkdir()
    (victim / "precious.txt").write_bytes(b"precious")
    if (filled / name).is_dir():
        (filled / name).rename(filled.parent / "artifacts")
    (filled / name).symlink_to(victim)
    before = (filled / "manifest.json").read_bytes()
    with contextlib.suppress(RetraceError):
        atomic.mend(filled)
        put(filled, NEW)
    assert (victim / "precious.txt").read_bytes() == b"precious"
    assert (filled / "manifest.json").read_bytes() in (before, NEW["manifest.json"])


def test_artifacts_that_may_not_be_written_are_made_anew_in_a_folder_that_is_filled(
    filled: Path,
) -> None:
    (filled / "artifacts").chmod(0o555)
    put(filled, NEW)
    assert held(filled) == NEW


def test_what_a_killed_run_left_beside_a_folder_goes_when_that_is_filled(filled: Path) -> None:
    (filled.parent / ".trace.new").mkdir()
    put(filled, NEW)
    assert beside(filled) == set()


def test_a_folder_that_is_filled_is_locked_within_where_nothing_may_be_made_beside_it(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = os.access
    monkeypatch.setattr(os, "access", lambda path, how: path != filled.parent and honest(path, how))
    with locked(filled):
        assert (filled / ".forsy-lock").exists()
        assert beside(filled) == set()
        with pytest.raises(Locked), locked(filled):
            raise AssertionError
        check_target(filled)
        write_whole(filled, NEW)
    assert held(filled) == NEW


def test_a_shelf_is_never_listed_for_one_folder(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its folders may be a million."""
    listed = []
    for name in ("listdir", "scandir"):
        own = getattr(os, name)

        def spied(path: Any = ".", own: Any = own) -> Any:
            listed.append(Path(os.fspath(path)) if not isinstance(path, int) else path)
            return own(path)

        monkeypatch.setattr(os, name, spied)
    put(target, OLD)
    put(target, NEW)
    assert listed
    assert target.parent not in listed


def test_a_lock_holds_from_the_moment_that_it_is_taken(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run comes right behind the lock."""
    refused = []
    lock = fcntl.flock

    def then_another(handle: int, how: int) -> None:
        lock(handle, how)
        monkeypatch.setattr(fcntl, "flock", lock)
        refused.append(child(lambda: put(target, OLD)))

    monkeypatch.setattr(fcntl, "flock", then_another)
    put(target, NEW)
    assert [bool(status) for status in refused] == [True]
    assert held(target) == NEW


def test_a_lock_file_that_was_removed_before_it_was_locked_locks_nothing(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run writes, and removes the file, between our opening and our locking of it."""
    lock = fcntl.flock
    handles = []

    def late(handle: int, how: int) -> None:
        handles.append(handle)
        if len(handles) == 1:
            assert child(lambda: put(target, OLD)) == 0
        lock(handle, how)

    monkeypatch.setattr(fcntl, "flock", late)
    with locked(target):
        assert child(lambda: put(target, NEW)) != 0
    assert held(target) == OLD
    assert len(handles) == 2


def test_many_runs_at_once_leave_one_whole_folder(target: Path) -> None:
    """Each writes its own content until it was let in once."""
    kinds = {word: files(word) for word in ("one", "two", "three", "four")}
    running = []
    for content in kinds.values():
        process = os.fork()
        if not process:
            status = 3
            try:
                for _ in range(2000):
                    try:
                        put(target, content)
                    except (Locked, DiskTrouble, RetraceError):
                        time.sleep(0.001)
                    else:
                        status = 0
                        break
            finally:
                os._exit(status)
        running.append(process)
    for process in running:
        assert os.waitpid(process, 0)[1] == 0
    assert held(target) in kinds.values()
    assert beside(target) == set()


def test_all_is_synced_before_the_folder_gets_its_name(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[int | str] = []
    rename = Path.rename

    def renamed(path: Path, new: Path) -> Path:
        told.extend(one.stat().st_ino for one in (path, *path.rglob("*")))
        told.append("renamed")
        return rename(path, new)

    synced: list[int | str] = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_ino))
    monkeypatch.setattr(Path, "rename", renamed)
    put(target, NEW)
    assert set(told[:-1]) == set(synced[:-1])
    assert len(told) == 1 + len(NEW) + len(["artifacts/", "trace/"])
    assert synced[-1] == target.parent.stat().st_ino


def test_a_folder_is_ours_by_its_manifest_only(tmp_path: Path) -> None:
    for number, (text, ours) in enumerate(
        (
            ('{"generator":"forsy-retrace 0.1.0"}', True),
            ('{"generator":"something else"}', False),
            ('{"generator":null}', False),
            ("[]", False),
            ("not json", False),
        )
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "manifest.json").write_text(text)
        assert is_ours(folder) is ours
    assert not is_ours(tmp_path / "none")


def test_an_old_folder_is_replaced_whole(target: Path) -> None:
    put(target, OLD)
    put(target, NEW)
    assert held(target) == NEW
    assert target.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize("name", ["notes.txt", ".git/HEAD", "inner/trace.json", "artifacts/a.txt"])
def test_a_trace_folder_with_files_of_others_is_left_as_it_is(name: str, target: Path) -> None:
    put(target, OLD)
    (target / name).parent.mkdir(exist_ok=True)
    (target / name).write_text("mine")
    with pytest.raises(RetraceError, match="not ours"):
        put(target, NEW)
    assert held(target) == {**OLD, name: b"mine"}


@pytest.mark.parametrize("name", ["x" * 255, "é" * 127])
def test_a_target_may_have_the_longest_name(name: str, tmp_path: Path) -> None:
    target = tmp_path / name
    for content in (OLD, NEW):
        put(target, content)
        assert (held(target), beside(target)) == (content, set())


def test_a_link_planted_as_target_is_not_followed(target: Path) -> None:
    victim = target.parent / "victim"
    put(victim, OLD)
    target.symlink_to(victim)
    with pytest.raises(RetraceError, match="is a link"):
        put(target, NEW)
    assert held(victim) == OLD
    assert target.is_symlink()


def canary() -> str:
    """A token that was never issued, put together when the test runs."""
    letters = string.ascii_letters + string.digits
    return "gh" + "p_" + "".join(secrets.choice(letters) for _ in range(36))


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_no_secret_on_the_disk(tmp_path: Path) -> None:
    token = canary()
    source = tmp_path / "in" / "session.jsonl"
    source.parent.mkdir()
    text = LOG.read_bytes().replace(b"git pull --rebase", f"export T={token}; git pull".encode())
    source.write_bytes(text.replace(b'"gitBranch":"main"', f'"gitBranch":"{token}"'.encode()))
    assert source.read_bytes().count(token.encode()) > 5
    out = tmp_path / "out"
    target = out / "trace"
    list(convert(source, "claude-code", tmp_path / "warm"))  # imports are no part of the run
    moments = 0
    for number in count(1, 3):
        out.mkdir(exist_ok=True)

        def run() -> None:
            list(convert(source, "claude-code", target))

        alive = not killed_at(number, run)
        for path in out.rglob("*"):
            assert token.encode() not in os.fsencode(path)
            assert path.is_dir() or token[8:30].encode() not in path.read_bytes()
            moments += path.is_file()
        if alive:
            break
    assert moments > 10
    assert json.loads((target / "manifest.json").read_bytes())["redaction"]


def test_the_command_exits_with_74_when_the_disk_is_full(tmp_path: Path) -> None:
    def cramped() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))

    out = tmp_path / "out"
    out.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "forsy_retrace", "claude-code", str(LOG), "-o", out / "trace"],
        preexec_fn=cramped,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},  # Python would cut its own files off
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (74, "")
    assert done.stderr.count("\n") == 1
    assert list(out.iterdir()) == []


def test_the_command_exits_with_75_when_another_run_writes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with locked(tmp_path / "trace"), pytest.raises(SystemExit) as left:
        cli.main(["claude-code", str(LOG), "-o", str(tmp_path / "trace")])
    assert left.value.code == 75
    assert capsys.readouterr().err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_an_error_while_renaming_brings_the_old_folder_back(
    target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(target, OLD)
    rename = Path.rename

    def refused(path: Path, new: Path) -> Path:
        if path.name.endswith(".new"):
            raise OSError(5, "Input/output error")
        return rename(path, new)

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(DiskTrouble):
        put(target, NEW)
    monkeypatch.undo()
    assert held(target) == OLD
    assert beside(target) == set()
    assert atomic.is_ours(target)


def test_a_session_that_is_withheld_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for name in ("push-pull-push", "compaction", "rewind"):
        shutil.copy(LOG.parents[1] / name / "input.jsonl", logs / f"{name}.jsonl")
    module = sys.modules["forsy_retrace.convert"]
    whole, seen = module.contents, []

    def withheld(*args: Any, **more: Any) -> Any:
        seen.append(args)
        if len(seen) == 2:
            raise RetraceError("withheld")
        return whole(*args, **more)

    monkeypatch.setattr(module, "contents", withheld)
    found = list(convert(logs, "claude-code", tmp_path / "out"))
    assert [type(one).__name__ for one in found] == ["Written", "Refused", "Written"]
