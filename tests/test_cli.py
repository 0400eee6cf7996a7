"""What a user types, and what comes back: exit codes, one line of error, nothing left behind."""

import bz2
import json
import lzma
import os
import pty
import re
import shutil
import signal
import stat
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from asked import refused, run
from folders import contents
from runs import refuses

from forsy_retrace.cli import main
from forsy_retrace.registry import COMMANDS as NO_ADAPTERS
from forsy_retrace.registry import bundled
from forsy_retrace.version import VERSION
from forsy_retrace.writers.atomic import locked

FIXTURES = Path(__file__).parents[1] / "fixtures" / "claude-code"
LOG = FIXTURES / "push-pull-push" / "input.jsonl"
TWO_RUNS = FIXTURES / "stream-json-two-runs" / "input.jsonl"
UNKNOWN = FIXTURES / "unknown-types" / "input.jsonl"

COMMANDS = sorted(main.list_commands(click.Context(main)))
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("cli") / "trace"
    assert run("claude-code", LOG, "-o", target, "-q").exit_code == 0
    return target


def shell(*words: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """One command in a process of its own, its output in pipes."""
    command = [sys.executable, "-m", "forsy_retrace", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, **options)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# help


def test_no_adapter_may_be_called_like_a_command() -> None:
    assert set(COMMANDS) - set(bundled()) <= set(NO_ADAPTERS)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_has_an_example(command: str) -> None:
    for flag in ("--help", "-h"):
        text = run(command, flag).stdout
        assert re.search(rf"Examples?:\n +forsy-retrace {command}\b", text)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_says_what_it_does(command: str) -> None:
    found = main.get_command(click.Context(main), command)
    assert found is not None
    assert found.get_short_help_str()
    for option in found.params:
        assert not isinstance(option, click.Option) or option.help


def test_the_help_names_every_command_and_every_adapter() -> None:
    text = run("--help").stdout
    for command in set(COMMANDS) - set(bundled()):
        assert re.search(rf"^  {command} ", text, re.M)
    for adapter in bundled():
        assert re.search(rf"(?:^| ){adapter}(?:,|$)", text, re.M)
    assert "Examples:" in text


def test_the_version_is_told() -> None:
    assert VERSION in run("--version").stdout


def test_nothing_asked_is_a_usage_error() -> None:
    assert run().exit_code == 2


# every command of the road


def test_a_log_becomes_a_trace_folder(here: Path) -> None:
    done = run("claude-code", LOG, "-o", "trace")
    assert (done.exit_code, done.stderr) == (0, "")
    found = contents(here / "trace")
    assert {"trace.json", "manifest.json", "evidence.jsonl", "README.md"} <= set(found)
    assert names(here) == ["trace"]
    said = done.stdout
    for word in (
        "steps",
        "in 1 turn\n",
        "failures",
        "retries",
        "feedback",
        "confidence",
        "left out",
    ):
        assert word in said
    assert "masked" in said
    assert said.count("\n") < 25


def test_auto_finds_the_adapter_by_content_not_by_name(here: Path) -> None:
    shutil.copy(LOG, here / "odd.txt")
    done = run("auto", "odd.txt", "-o", "trace", "--json")
    assert done.exit_code == 0
    assert json.loads((here / "trace" / "manifest.json").read_bytes())["adapter"] == "claude-code"


def test_show_prints_the_steps_one_step_or_a_ground(trace: Path) -> None:
    overview = run("show", trace).stdout.splitlines()
    assert [int(line.split()[0]) for line in overview[3:]] == [1, 2, 3, 4, 5]
    step = run("show", trace, "--step", 2).stdout
    assert "tool: Bash\n" in step
    assert "success: false\n" in step
    why = run("show", trace, "--step", 2, "--why", "success", "--source", LOG).stdout
    assert "error-flag" in why
    assert "is_error" in why
    assert "which says  The flag that says" in why
    cause = run("show", trace, "--step", 3, "--why", "caused_by").stdout
    assert re.search(r"^  which says  [A-Z].*\.$", cause, re.M)


def test_show_finds_the_log_that_lies_beside_the_trace(here: Path) -> None:
    shutil.copy(LOG, here / "session.jsonl")
    run("claude-code", "session.jsonl", "-o", "trace", "-q")
    asked = ("--step", 2, "--why", "tool")
    assert run("show", "trace", *asked).stdout.endswith("\n    Bash\n")
    (here / "session.jsonl").unlink()
    assert "--source" in run("show", "trace", *asked).stdout


def test_a_folder_of_traces_is_no_trace_and_told_so(trace: Path, tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    for name in ("a", "b"):
        shutil.copytree(trace, shelf / name)
    for command in (("show",), ("validate",), ("verify", "--source", LOG)):
        done = run(command[0], shelf, *command[1:])
        assert done.exit_code == 2
        assert "shelf: a folder of 2 traces; name one of them" in done.stderr


def test_show_names_the_first_places_of_a_text_in_many_pieces(here: Path) -> None:
    pieces = [
        {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "created": 1760000000,
            "model": "m",
            "choices": [{"index": 0, "delta": {"role": "assistant", "content": f"word{number} "}}],
        }
        for number in range(30)
    ]
    (here / "stream.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in pieces))
    run("openai-chat", "stream.jsonl", "-o", "trace", "-q")
    why = run("show", "trace", "--step", 1, "--why", "output").stdout
    assert "word11" in why
    assert "word12" not in why.split("record", 1)[1]
    assert why.endswith("  … and 18 more places, all in evidence.jsonl\n")


def test_validate_passes_our_trace_and_names_step_and_field_of_a_spoilt_one(
    trace: Path, tmp_path: Path
) -> None:
    assert run("validate", trace).exit_code == 0
    assert run("validate", trace / "trace.json").exit_code == 0
    assert json.loads(run("validate", trace, "--json").stdout) == []
    spoilt = tmp_path / "spoilt"
    shutil.copytree(trace, spoilt)
    text = (spoilt / "trace.json").read_text("utf-8")
    (spoilt / "trace.json").write_text(text.replace('"eval": -1', '"eval": -7'), "utf-8")
    done = run("validate", spoilt)
    assert done.exit_code == 1
    assert "step 2, eval" in done.stdout
    rows = json.loads(run("validate", spoilt, "--json").stdout)
    assert {"step", "field", "problem"} == set(rows[0])


def test_verify_holds_against_the_log_and_finds_a_changed_byte(trace: Path, here: Path) -> None:
    assert run("verify", trace, "--source", LOG).exit_code == 0
    assert run("verify", trace, "--source", LOG, "--json").stdout == "[]\n"
    data = LOG.read_bytes()
    assert data.count(b"git pull --rebase") == 1
    (here / "input.jsonl").write_bytes(data.replace(b"git pull --rebase", b"git pull --ff-onl"))
    done = run("verify", trace, "--source", "input.jsonl")
    assert done.exit_code == 1
    assert done.stdout.startswith("step 3, input: ")
    rows = json.loads(run("verify", trace, "--source", "input.jsonl", "--json").stdout)
    assert [(row["step"], row["field"]) for row in rows] == [(3, "input")]


def test_verify_finds_a_changed_value(trace: Path, tmp_path: Path) -> None:
    spoilt = tmp_path / "spoilt"
    shutil.copytree(trace, spoilt)
    text = (spoilt / "trace.json").read_text("utf-8")
    (spoilt / "trace.json").write_text(text.replace("Publish my", "Delete my"), "utf-8")
    done = run("verify", spoilt, "--source", LOG)
    assert done.exit_code == 1
    assert "step 1, input" in done.stdout


@pytest.mark.parametrize(
    ("step", "field", "value"),
    [(4, "retry_of", 3), (4, "retry_of", None), (4, "caused_by", [2]), (4, "eval", -1),
     (1, "message_role", "correction")],
)  # fmt: skip
def test_verify_finds_a_judged_value_that_its_own_evidence_contradicts(
    trace: Path, tmp_path: Path, step: int, field: str, value: object
) -> None:
    spoilt = tmp_path / "spoilt"
    shutil.copytree(trace, spoilt)
    told = json.loads((spoilt / "trace.json").read_bytes())
    assert told["steps"][step - 1][field] != value
    told["steps"][step - 1][field] = value
    (spoilt / "trace.json").write_text(json.dumps(told))
    done = run("verify", spoilt, "--source", LOG, "--json")
    assert [(row["step"], row["field"]) for row in json.loads(done.stdout)] == [(step, field)]


@pytest.mark.parametrize("adapter", ["claude-code", "auto"])
def test_events_are_json_lines(adapter: str) -> None:
    done = run("events", adapter, LOG)
    assert done.exit_code == 0
    kinds = [json.loads(line)["event"] for line in done.stdout.split("\n")[:-1]]
    assert kinds[0] == "SessionStart"
    assert kinds.count("ToolCall") == kinds.count("ToolResult") == 3


def test_adapters_says_what_each_reads_and_where_it_lies() -> None:
    text = run("adapters").stdout
    for adapter in bundled():
        assert re.search(rf"^{adapter}$", text, re.M)
    assert "~/.claude/projects" in text
    assert "shows: words yes" in text


# the target


def test_a_folder_that_is_not_ours_is_refused(here: Path) -> None:
    (here / "notes").mkdir()
    (here / "notes" / "a.txt").write_text("mine")
    before = contents(here)
    for log in (LOG, TWO_RUNS, LOG.parent):
        assert "not ours" in refused(2, "claude-code", log, "-o", "notes")
    assert contents(here) == before


def test_a_trace_with_notes_in_it_is_not_replaced(here: Path) -> None:
    run("claude-code", LOG, "-o", "trace", "-q")
    (here / "trace" / "notes.txt").write_text("mine")
    before = contents(here)
    assert "not ours" in refused(2, "claude-code", LOG, "-o", "trace")
    assert "not ours" in refused(2, "claude-code", LOG.parent, "-o", ".")
    assert contents(here) == before


def test_the_working_directory_is_a_target(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for log in (UNKNOWN, LOG):
        assert run("claude-code", log, "-o", ".", "-q").exit_code == 0
        monkeypatch.chdir(here)
    assert run("validate", here).exit_code == 0
    assert names(here.parent) == ["here"]


def test_the_working_directory_is_filled_and_not_replaced(here: Path) -> None:
    before = here.stat().st_ino
    for log in (UNKNOWN, LOG):
        assert run("claude-code", log, "-o", ".", "-q").exit_code == 0
        assert here.stat().st_ino == before == Path.cwd().stat().st_ino
    assert run("validate", ".").exit_code == 0
    assert names(here) == ["README.md", "evidence.jsonl", "manifest.json", "trace.json"]
    assert names(here.parent) == ["here"]


@pytest.mark.parametrize("at", range(1, 6))
@pytest.mark.parametrize("function", ["replace", "rename", "unlink"])
def test_a_run_that_fills_a_folder_and_is_stopped_is_ended_by_the_next(
    function: str, at: int, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run("claude-code", UNKNOWN, "-o", ".", "-q").exit_code == 0
    honest, count = getattr(Path, function), 0

    def stopped(path: Path, *words: Any, **more: Any) -> Any:
        nonlocal count
        if path.is_relative_to(here):
            count += 1
            if count == at:
                raise KeyboardInterrupt
        return honest(path, *words, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Path, function, stopped)
        run("claude-code", LOG, "-o", ".", "-q")
    if (here / "manifest.json").exists():
        assert run("validate", ".").exit_code == 0
    assert run("claude-code", LOG, "-o", ".", "-q").exit_code == 0
    assert run("validate", ".").exit_code == 0
    assert names(here) == ["README.md", "evidence.jsonl", "manifest.json", "trace.json"]


def test_what_a_killed_run_left_of_its_first_trace_bars_no_other(here: Path) -> None:
    (here / "traces").mkdir()
    (here / "traces" / ".2026-01-01-a-trace.new").mkdir()
    (here / "traces" / ".2026-01-01-a-trace.lock").touch()
    assert run("claude-code", TWO_RUNS, "-o", "traces", "-q").exit_code == 0


def test_the_working_directory_that_another_run_moved_away_is_no_target(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / ".trace.old").mkdir()
    monkeypatch.chdir(here / ".trace.old")
    with locked(here / "trace"):
        assert "another run is writing" in refused(75, "claude-code", LOG, "-o", ".")
    assert run("claude-code", LOG, "-o", ".", "-q").exit_code == 0  # it only is called so


def test_a_folder_with_a_disk_of_its_own_is_filled(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "disk").mkdir()
    before = (here / "disk").stat().st_ino
    monkeypatch.setattr(os.path, "ismount", lambda path: Path(path).name == "disk")
    assert run("claude-code", LOG, "-o", "disk", "-q").exit_code == 0
    assert (here / "disk").stat().st_ino == before
    assert run("validate", "disk").exit_code == 0


def test_a_target_keeps_its_rights_and_a_new_one_has_the_users(here: Path) -> None:
    (here / "private").mkdir(mode=0o700)
    for _ in range(2):
        assert run("claude-code", LOG, "-o", "private", "-q").exit_code == 0
        assert stat.S_IMODE((here / "private").stat().st_mode) == 0o700
    before = os.umask(0o027)
    try:
        assert run("claude-code", LOG, "-o", "fresh", "-q").exit_code == 0
    finally:
        os.umask(before)
    assert stat.S_IMODE((here / "fresh").stat().st_mode) == 0o750


def test_days_that_exclude_each_other_are_a_usage_error(here: Path) -> None:
    days = ("--since", "2026-06-01", "--until", "2026-01-01")
    for words in (("auto", LOG, "-o", "t"), ("batch", LOG, "-o", "t")):
        assert "before --since" in refused(2, *words, *days)
    assert not (here / "t").exists()


def test_a_wrong_log_is_no_ground_of_a_value(here: Path, trace: Path) -> None:
    words = ("show", trace, "--step", "2", "--why", "success", "--source")
    assert run(*words, LOG).exit_code == 0
    (here / LOG.name).write_bytes(b"{}\n")
    assert "it is another, or was changed" in refused(65, *words, here / LOG.name)


def test_what_may_not_be_opened_is_not_masked(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no such file" in refused(2, "redact", "lost.txt")
    assert "Is a directory" in refused(65, "redact", here)
    assert "zero: a device; name a file" in refused(65, "redact", "/dev/zero")


def test_events_are_told_as_deep_as_they_are_read(here: Path) -> None:
    deep = "[" * 490 + "1" + "]" * 490
    log = LOG.read_text().replace('"input":{', f'"input":{{"deep":{deep},', 1)
    (here / "deep.jsonl").write_text(log)
    assert run("events", "claude-code", "deep.jsonl").exit_code == 0


def test_a_file_or_a_link_as_target_is_refused(here: Path) -> None:
    (here / "file").write_text("mine")
    (here / "empty").mkdir()
    (here / "link").symlink_to("empty")
    (here / "nowhere").symlink_to("none")
    for target in ("file", "link", "nowhere"):
        refused(2, "claude-code", LOG, "-o", target)
    refused(2, "claude-code", LOG.parent, "-o", "file")
    refused(2, "claude-code", TWO_RUNS, "-o", "file")
    assert (names(here), names(here / "empty")) == (["empty", "file", "link", "nowhere"], [])


def test_a_link_as_target_for_several_sessions_is_refused(here: Path) -> None:
    (here / "nowhere").symlink_to("none")
    refused(2, "claude-code", LOG.parent, "-o", "nowhere")


def test_a_link_to_a_folder_is_called_one(here: Path) -> None:
    (here / "folder").mkdir()
    (here / "link").symlink_to("folder")
    for words in (("claude-code", LOG), ("claude-code", LOG.parent), ("batch", LOG)):
        told = refused(2, *words, "-o", "link")
        assert "the target is a link; name the folder that it leads to with -o" in told
    assert names(here / "folder") == []


def test_an_empty_folder_is_taken(here: Path) -> None:
    (here / "trace").mkdir()
    assert run("claude-code", LOG, "-o", "trace", "-q").exit_code == 0


def test_a_trace_of_ours_is_replaced_whole(here: Path) -> None:
    run("claude-code", UNKNOWN, "-o", "trace", "-q")
    run("claude-code", LOG, "-o", "trace", "-q")
    run("claude-code", LOG, "-o", "clean", "-q")
    assert contents(here / "trace") == contents(here / "clean")
    assert names(here) == ["clean", "trace"]


THREADS = """\
{"type":"thread.started","thread_id":"019a0000-0000-7000-8000-000000000051"}
{"type":"thread.started","thread_id":"019a0000-0000-7000-8000-000000000052"}
{"type":"turn.failed","error":{"message":"usage limit"}}
{"type":"thread.started","thread_id":"019a0000-0000-7000-8000-000000000053"}
{"type":"turn.failed","error":{"message":"usage limit"}}
"""


def test_a_session_without_steps_is_told_from_a_file_without_a_trace(here: Path) -> None:
    (here / "logs").mkdir()
    (here / "logs" / "a.jsonl").write_text(THREADS)
    (here / "logs" / "b.jsonl").write_text("no log\n")
    said = run("codex", "logs", "-o", "traces").stdout
    assert said.startswith("2 traces\n")
    assert said.count("  1 step, failures") == 2
    assert "\n1 file gave no trace:\n  b.jsonl: no JSON records in it\n" in said
    assert said.endswith("\n1 session gave no trace:\n  a.jsonl: no steps in it\n")


def test_a_log_of_which_no_session_gives_a_trace_is_one_that_cannot_be_read(here: Path) -> None:
    started = THREADS.splitlines()
    (here / "a.jsonl").write_text("".join(f"{started[n]}\n" for n in (0, 1)))
    done = run("codex", "a.jsonl", "-o", "traces")
    assert (done.exit_code, done.stderr) == (65, "forsy-retrace: a.jsonl: no steps in it\n")
    assert not (here / "traces").exists()


def test_a_batch_of_what_is_not_there_leaves_nothing(here: Path) -> None:
    done = run("batch", "no-logs", "-o", "traces")
    assert (done.exit_code, done.stderr.splitlines()[-1]) == (
        2,
        "forsy-retrace: no-logs: no such file or folder",
    )
    assert not (here / "traces").exists()


def test_who_replaces_the_trace_of_another_session_is_told(here: Path) -> None:
    for log, told in ((UNKNOWN, ""), (UNKNOWN, ""), (LOG, "another trace"), (LOG, "")):
        said = run("claude-code", log, "-o", "trace", "-q").stderr
        assert (told in said) is True
        assert len(said.splitlines()) == bool(told)


@pytest.mark.parametrize("target", ["file/trace", "file/a/trace"])
@pytest.mark.parametrize("log", [LOG, LOG.parent, TWO_RUNS], ids=["one", "folder", "two runs"])
def test_a_target_below_a_file_is_one_line_and_74(target: str, log: Path, here: Path) -> None:
    (here / "file").write_text("mine")
    refused(74, "claude-code", log, "-o", target)
    assert names(here) == ["file"]


def test_missing_parents_of_a_target_are_made(here: Path) -> None:
    assert run("claude-code", LOG, "-o", "a/b/trace", "-q").exit_code == 0
    assert names(here / "a" / "b") == ["trace"]


# the input


def other_format(here: Path) -> str:
    (here / "other.jsonl").write_text('{"role":"user","text":"hello"}\n')
    return "other.jsonl"


def empty_file(here: Path) -> str:
    (here / "empty.jsonl").touch()
    return "empty.jsonl"


def no_json(here: Path) -> str:
    (here / "notes.txt").write_text("dear diary\n")
    return "notes.txt"


def folder_without_sessions(here: Path) -> str:
    (here / "logs").mkdir()
    other_format(here / "logs")
    no_json(here / "logs")
    return "logs"


def pipe(here: Path) -> str:
    os.mkfifo(here / "pipe")
    return "pipe"


@pytest.mark.parametrize("make", [other_format, empty_file, no_json, folder_without_sessions, pipe])
@pytest.mark.parametrize("adapter", ["claude-code", "auto"])
def test_what_is_no_log_is_one_line_and_65(
    make: Callable[[Path], str], adapter: str, here: Path
) -> None:
    name = make(here)
    before = names(here)
    assert name in refused(65, adapter, name, "-o", "trace")
    assert names(here) == before


@pytest.mark.parametrize("make", [other_format, empty_file, no_json])
def test_events_of_what_is_no_log_is_one_line_and_65(
    make: Callable[[Path], str], here: Path
) -> None:
    refused(65, "events", "claude-code", make(here))


def test_a_trace_may_be_named_by_its_document(trace: Path) -> None:
    for words in (("show",), ("show", "--step", "2"), ("verify", "--source", str(LOG))):
        whole, by_document = (
            run(words[0], one, *words[1:]) for one in (trace, trace / "trace.json")
        )
        assert by_document.stdout == whole.stdout != ""


def test_no_number_of_minutes_is_a_usage_error(here: Path) -> None:
    assert "no number of minutes" in run("auto", "x", "--idle", "nan").stderr


def test_a_log_that_is_packed_otherwise_is_said_to_be(here: Path) -> None:
    for name, pack in (("a.jsonl.bz2", bz2.compress), ("a.jsonl.xz", lzma.compress)):
        (here / name).write_bytes(pack(b'{"type":"user"}\n'))
        assert "unpack it first" in refused(65, "auto", name, "-o", "trace")
    (here / "a.jsonl").write_text('{"type":"user"}\n')
    for mode in ("w", "w:gz"):
        for log in (here / "a.jsonl", LOG):
            with tarfile.open(here / "a.tar", mode) as archive:
                archive.add(log, "a.jsonl")
            for command in ("auto", "claude-code", "bash-history"):
                assert "unpack it first" in refused(65, command, "a.tar", "-o", "trace")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("cladue-code", "claude-code"),
        ("bacth", "batch"),
        ("openclaw", "pi"),
        ("new", "new-adapter"),
        ("openai-responses", "openai-chat"),
    ],
)
def test_a_mistyped_command_is_told_the_nearest(typed: str, meant: str, here: Path) -> None:
    done = run(typed, "x")
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"Did you mean '{meant}'?" in done.stderr


@pytest.mark.parametrize("typed", ["zed", "warp", "windsurf2"])
def test_a_harness_that_no_adapter_reads_is_not_taken_for_another(typed: str, here: Path) -> None:
    done = run(typed, "x")
    assert done.exit_code == 2
    assert "`forsy-retrace adapters` lists the logs that can be read" in done.stderr


def test_traces_of_an_earlier_run_that_stay_are_told(here: Path) -> None:
    (here / "logs").mkdir()
    for number in (1, 2):
        shutil.copyfile(LOG, here / "logs" / f"{number}.jsonl")
    assert run("claude-code", "logs", "-o", "traces").stderr == ""
    assert run("claude-code", "logs", "-o", "traces").stderr == ""
    (here / "logs" / "1.jsonl").unlink()
    told = run("claude-code", "logs", "-o", "traces").stderr
    assert "beside these lie 1 folder of an earlier run, not made anew" in told


def test_a_log_of_another_kind_is_told_which(here: Path) -> None:
    (here / "logs").mkdir()
    shutil.copyfile(LOG, here / "logs" / "a.jsonl")
    why = "a.jsonl: not a log that codex reads"
    told = refused(65, "codex", "logs/a.jsonl", "-o", "trace")
    assert told == f"forsy-retrace: {why}; claude-code reads it\n"
    told = refused(65, "codex", "logs", "-o", "trace")
    assert told == f"forsy-retrace: logs: no session below this folder; {why}\n"


def test_the_help_cuts_no_sentence() -> None:
    assert "..." not in run("--help").stdout.replace("[ARGS]...", "")


def test_events_mask_what_is_asked(here: Path) -> None:
    assert "non-fast-forward" in run("events", "auto", LOG).stdout
    assert (
        "fast-forward" not in run("events", "auto", LOG, "--redact-term", "non-fast-forward").stdout
    )


def test_what_is_missing_is_one_line_and_2(here: Path, trace: Path) -> None:
    for words in (
        ("claude-code", "none.jsonl", "-o", "trace"),
        ("auto", "none.jsonl", "-o", "trace"),
        ("events", "auto", "none.jsonl"),
        ("show", "none"),
        ("validate", "none"),
        ("verify", "none", "--source", LOG),
        ("verify", trace, "--source", "none.jsonl"),
        ("show", trace, "--step", 99),
        ("show", trace, "--step", 1, "--why", "beauty"),
        ("events", "no-such-adapter", LOG),
    ):
        refused(2, *words)
    assert names(here) == []


def test_what_cannot_be_asked_is_a_usage_error(here: Path, trace: Path) -> None:
    for words in (
        ("claude-code", LOG),
        ("claude-code", "-o", "trace"),
        ("no-such-adapter", LOG, "-o", "trace"),
        ("claude-code", LOG, "-o", "trace", "--no-such-option"),
        ("claude-code", LOG, "-o", "trace", "--max-output-tokens", "few"),
        ("show", trace, "--why", "eval"),
        ("show", trace, "--source", LOG),
        ("show", trace, "--step", 1, "--source", LOG),
        ("show", trace, "--step", 0),
        ("verify", trace),
    ):
        done = run(*words)
        assert done.exit_code == 2
        assert done.stdout == ""
        assert "Error: " in done.stderr
    assert names(here) == []


def test_a_trace_of_one_step_counts_it_as_one(here: Path) -> None:
    (here / "h").write_text(": 1700000000:0;make\n")
    assert run("zsh-history", "h", "-o", "one", "--min-commands", 1, "-q").exit_code == 0
    told = refused(2, "show", "one", "--step", 2)
    assert told == "forsy-retrace: the trace has 1 step, and no step 2\n"


BROKEN_FOLDERS = ["{}", "[]", "1", '{"steps":1}', '{"steps":[],"summary":1}']


@pytest.mark.parametrize("text", BROKEN_FOLDERS[:3])
@pytest.mark.parametrize("words", [(), ("--step", 1), ("--step", 1, "--why", "eval")])
def test_a_folder_that_holds_other_json_is_one_line(
    text: str, words: tuple[object, ...], here: Path
) -> None:
    for name in ("trace.json", "manifest.json"):
        (here / name).write_text(text)
    (here / "evidence.jsonl").write_text("")
    refused(65, "show", here, *words)
    refused(65, "verify", here, "--source", LOG)


@pytest.mark.parametrize("text", BROKEN_FOLDERS)
def test_validate_judges_any_json(text: str, here: Path) -> None:
    for name in ("trace.json", "manifest.json"):
        (here / name).write_text(text)
    (here / "evidence.jsonl").write_text("[]\n1\n")
    assert run("validate", here).exit_code == 1


def test_a_folder_that_holds_no_json_is_one_line_and_65(here: Path) -> None:
    (here / "trace.json").write_text("{")
    (here / "evidence.jsonl").write_text("")
    for words in (("show", here), ("validate", here), ("verify", here, "--source", LOG)):
        refused(65, *words)


# several sessions


def test_several_sessions_in_one_file_give_a_folder_each(here: Path) -> None:
    done = run("claude-code", TWO_RUNS, "-o", "traces")
    assert done.exit_code == 0
    assert done.stdout.startswith("2 traces\n")
    assert len(names(here / "traces")) == 2
    for name in names(here / "traces"):
        assert name in done.stdout
        assert run("validate", f"traces/{name}").exit_code == 0


def test_what_was_left_out_of_several_sessions_is_said_of_all(here: Path) -> None:
    talk = (
        '{"messages": [{"role": "user", "content": "%s"}, {"role": "assistant", "content": "."}]}'
    )
    rows = [talk % "Open?", '"a stray line"', talk % "Till when?", talk % "Till when?", "{"]
    (here / "rows.jsonl").write_text("\n".join(rows))
    said = run("openai-chat", "rows.jsonl", "-o", "traces").stdout
    assert said.startswith("2 traces\n")
    assert "\n  records     5 read, 2 used, 2 left out, 1 unreadable\n" in said
    assert said.endswith("  1 × no conversation in it\n              1 × repeated history\n")


def test_a_folder_of_logs_gives_a_folder_each_below_the_target(here: Path) -> None:
    (here / "logs" / "deep").mkdir(parents=True)
    shutil.copy(LOG, here / "logs" / "a.jsonl")
    shutil.copy(UNKNOWN, here / "logs" / "deep" / "b.jsonl")
    no_json(here / "logs")
    done = run("claude-code", "logs", "-o", "traces", "--json")
    assert done.exit_code == 0
    said = json.loads(done.stdout)
    assert len(said["traces"]) == 2
    assert [one["name"] for one in said["refused"]] == ["notes.txt"]
    assert sorted(Path(one["folder"]).name for one in said["traces"]) == names(here / "traces")
    first = contents(here / "traces")
    assert run("claude-code", "logs", "-o", "traces", "-q").exit_code == 0
    assert contents(here / "traces") == first


def test_many_copies_of_one_session_give_a_numbered_folder_each(here: Path) -> None:
    (here / "logs").mkdir()
    for number in range(50):
        (here / "logs" / f"{number}.jsonl").write_bytes(LOG.read_bytes())
    assert run("claude-code", "logs", "-o", "traces", "-q").exit_code == 0
    first, *others = sorted(names(here / "traces"), key=lambda name: (len(name), name))
    assert others[0] == f"{first}-2"
    assert len(others) == 49
    assert max(map(len, others)) == len(first) + len("-50")


def test_one_session_does_not_go_among_several(here: Path) -> None:
    run("claude-code", TWO_RUNS, "-o", "traces", "-q")
    before = contents(here)
    told = refused(2, "claude-code", LOG, "-o", "traces")
    assert "the target holds several traces; name another folder for one" in told
    assert contents(here) == before


def test_the_working_directory_is_named_where_it_is_no_trace(here: Path) -> None:
    assert refused(2, "show", ".").startswith("forsy-retrace: .: no trace folder")
    assert refused(65, "auto", ".", "-o", "traces").startswith("forsy-retrace: .: no session")
    told = refused(2, "audit", ".", "--against", LOG)
    assert told.startswith("forsy-retrace: .: no trace.json")


def test_several_sessions_do_not_go_into_one_trace(here: Path) -> None:
    run("claude-code", LOG, "-o", "trace", "-q")
    before = contents(here)
    refused(2, "claude-code", TWO_RUNS, "-o", "trace")
    refused(2, "claude-code", LOG.parent, "-o", "trace")
    assert contents(here) == before


# what is printed


def test_json_is_one_object_and_nothing_else(here: Path) -> None:
    for words in (("-o", "one", "--json"), ("-o", "one", "--json", "-q")):
        done = run("claude-code", LOG, *words)
        assert done.stderr == ""
        assert done.stdout.count("\n") == 1
        (told,) = json.loads(done.stdout)["traces"]
        assert told["total_steps"] == 5
        assert told["counts"] == {"calls": 3, "failed": 1, "errors": 0, "retries": 1}
        assert {"records", "redaction", "agent_confidence", "confidence_deductions"} <= set(told)


def test_quiet_is_silent(here: Path) -> None:
    done = run("claude-code", LOG, "-o", "trace", "-q")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
    assert "no such file" in refused(2, "claude-code", "none.jsonl", "-o", "trace", "-q")


def test_a_pipe_gets_neither_progress_nor_colours(here: Path) -> None:
    done = shell("claude-code", LOG, "-o", "trace", cwd=here, env={**os.environ, "CLICOLOR": "1"})
    assert (done.returncode, done.stderr) == (0, "")
    assert CONTROLS.search(done.stdout) is None
    assert done.stdout == run("claude-code", LOG, "-o", "trace").stdout


def test_a_missing_file_ends_a_real_process_with_one_line_and_2(here: Path) -> None:
    done = shell("claude-code", "none.jsonl", "-o", "trace", cwd=here)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "forsy-retrace: none.jsonl: no such file or folder\n"


def test_a_reader_that_leaves_early_brings_no_traceback(trace: Path) -> None:
    command = [sys.executable, "-m", "forsy_retrace", "events", "auto", str(LOG)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()


STRUCK = """
import os, signal, sys
class Striking:
    def find_spec(self, name, *rest):
        if name == module:
            os.kill(os.getpid(), int(number))
_, module, number, *words = sys.argv
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv[1:] = words
sys.meta_path.insert(0, Striking())
from forsy_retrace.__main__ import run
run()
"""


def struck(module: str, number: int, *words: str) -> subprocess.CompletedProcess[str]:
    """One command that gets a signal when it imports a module."""
    command = [sys.executable, "-c", STRUCK, module, str(int(number)), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_ctrl_c_while_the_program_is_imported_ends_it_without_a_word(here: Path) -> None:
    done = struck("click", signal.SIGINT)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_what_the_caller_ignores_stays_ignored(here: Path) -> None:
    """As a shell has it for what runs in the background."""
    shutil.copy(LOG, here / "s.jsonl")
    for module in ("click", "jsonschema_rs"):
        words = (module, str(int(signal.SIGINT)), "claude-code", "s.jsonl", "-o", module, "-q")
        ignored = STRUCK.replace("signal.default_int_handler", "signal.SIG_IGN")
        done = subprocess.run([sys.executable, "-c", ignored, *words], capture_output=True)
        assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_scheduler_ends_the_program_as_ctrl_c_does(number: int, code: int, here: Path) -> None:
    """When half a trace is written."""
    shutil.copy(LOG, here / "s.jsonl")
    done = struck("jsonschema_rs", number, "claude-code", "s.jsonl", "-o", "trace", "-q")
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.strip() == "forsy-retrace: stopped"
    assert os.listdir(here) == ["s.jsonl"]


def test_strict_finds_unknown_kinds_of_records(here: Path) -> None:
    done = run("claude-code", UNKNOWN, "-o", "trace", "--strict", "-q")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert run("claude-code", UNKNOWN, "-o", "trace", "-q").exit_code == 0
    assert run("claude-code", LOG, "-o", "trace", "--strict", "-q").exit_code == 0
    assert names(here) == ["trace"]


def test_parts_left_out_of_a_record_that_was_used_are_told(here: Path) -> None:
    log = FIXTURES.parent / "chatgpt" / "pictures-and-voice" / "input.json"
    assert run("chatgpt", log, "-o", "trace", "--strict", "-q").exit_code == 1
    card = (here / "trace" / "README.md").read_text("utf-8")
    assert "- 1 × unknown content part, in a record that was used\n" in card
    left_out = card.partition("## What was left out")[2].partition("##")[0]
    assert "Nothing" not in left_out


# masking


def test_nothing_is_left_unmasked_without_a_second_yes(here: Path) -> None:
    assert "--i-know" in refused(2, "claude-code", LOG, "-o", "trace", "--no-redact")
    assert "--i-know" in refused(2, "events", "auto", LOG, "--no-redact")
    assert names(here) == []
    assert run("claude-code", LOG, "-o", "trace", "--no-redact", "--i-know").exit_code == 0
    assert run("events", "auto", LOG, "--no-redact", "--i-know").exit_code == 0


def test_an_unmasked_trace_says_so_wherever_it_is_read(here: Path) -> None:
    open_one = run("claude-code", LOG, "-o", "open", "--no-redact", "--i-know")
    assert "  masked      nothing looked for: redaction was off\n" in open_one.stdout
    assert json.loads((here / "open" / "manifest.json").read_bytes())["redaction"] == "off"
    card = (here / "open" / "README.md").read_text("utf-8").partition("## What was masked")[2]
    assert "redaction was off" in card
    assert "Nothing was found" not in card
    judged = run("validate", "open")
    assert judged.exit_code == 1
    assert judged.stdout.startswith("manifest.redaction: Redaction was off")


def test_a_masked_trace_in_which_nothing_was_found_says_that(here: Path) -> None:
    assert "  masked      nothing found\n" in run("claude-code", LOG, "-o", "trace").stdout
    assert json.loads((here / "trace" / "manifest.json").read_bytes())["redaction"] == {}
    assert "Nothing was found to mask." in (here / "trace" / "README.md").read_text("utf-8")
    assert run("validate", "trace").exit_code == 0


def test_a_users_own_terms_and_patterns_are_masked(here: Path) -> None:
    words = ("--redact-term", "Publish", "--redact-pattern", "e7b[0-9a-f]{4}", "-q")
    assert run("claude-code", LOG, "-o", "trace", *words).exit_code == 0
    whole = b"".join(contents(here / "trace").values())
    assert b"Publish" not in whole
    assert b"e7b8d15" not in whole
    assert b"[TERM_1]" in whole


def test_what_is_too_short_to_be_masked_everywhere_is_refused(here: Path) -> None:
    for option in ("--redact-term", "--redact-pattern"):
        for text in ("", "  ", "a"):
            assert option in refused(2, "claude-code", LOG, "-o", "trace", option, text)
    (here / "one.txt").write_text("Publish\nx\n")
    (here / "none.txt").write_text("\n")
    for name in ("one.txt", "none.txt"):
        assert name in refused(2, "claude-code", LOG, "-o", "trace", "--redact-file", name)
    assert not (here / "trace").exists()


def test_show_masks_what_is_asked(here: Path, trace: Path) -> None:
    for words in ((), ("--step", "4"), ("--step", "4", "--why", "retry_of")):
        assert "git push" in run("show", str(trace), *words).stdout
        said = run("show", str(trace), *words, "--redact-term", "git push").stdout
        assert "git push" not in said
        assert "[TERM_1]" in said
    assert "pattern 1" in refused(2, "show", str(trace), "--redact-pattern", "(a")


def test_the_terms_of_a_file_are_masked_one_a_line(here: Path) -> None:
    (here / "private.txt").write_text("\ufeffPublish\r\n\n  package.json  \n")
    said = ("--redact-file", "private.txt", "-q")
    assert run("claude-code", LOG, "-o", "trace", *said).exit_code == 0
    whole = b"".join(contents(here / "trace").values())
    assert b"Publish" not in whole
    assert b"package.json" not in whole
    assert "[TERM_1]" in run("redact", LOG, *said[:2]).stdout
    assert '"kind":"TERM"' in run("scan", LOG, *said[:2], "--json").stdout
    assert "absent.txt" in refused(2, "redact", LOG, "--redact-file", "absent.txt")
    assert "64 MB" in refused(2, "redact", LOG, "--redact-file", "/dev/zero")


@pytest.mark.scale
def test_a_second_opinion_names_rules_and_places_alone(here: Path) -> None:
    pytest.importorskip("kingfisher_sdk", reason="the extra paranoid is not installed")
    token = "ghp_" + "R7k2Vn9QxW4mZp8LtY6sBd3FhJ5cGa1eUo0i"
    (here / "notes.txt").write_text(f"first line\ntoken = {token}\n")
    done = run("scan", "notes.txt", "--paranoid")
    assert done.exit_code == 1
    assert "notes.txt:2: CREDENTIAL (betterleaks.github-pat)" in done.stdout
    assert token not in done.output
    (here / "notes.txt").write_text(run("redact", "notes.txt").stdout)
    assert run("scan", "notes.txt", "--paranoid").exit_code == 0


def test_without_its_extra_a_second_opinion_says_what_to_install(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "kingfisher_sdk", None)
    assert "forsy-retrace[paranoid]" in refused(2, "scan", LOG, "--paranoid")


def test_a_pattern_that_cannot_be_used_is_named_by_its_place(here: Path) -> None:
    said = refused(2, "claude-code", LOG, "-o", "trace", "--redact-pattern", "secret(")
    assert "secret(" not in said
    assert names(here) == []


def test_a_digest_of_the_raw_log_is_written_only_when_asked_for(here: Path) -> None:
    run("claude-code", LOG, "-o", "plain", "-q")
    run("claude-code", LOG, "-o", "hashed", "-q", "--source-hash")
    (here / "logs").mkdir()
    shutil.copy(LOG, here / "logs")
    run("batch", "logs", "-o", "many", "-q", "--source-hash")
    [folder] = [one for one in (here / "many").iterdir() if one.is_dir()]
    plain, hashed, many = (
        json.loads((where / "manifest.json").read_bytes())["sources"][0]
        for where in (here / "plain", here / "hashed", folder)
    )
    assert "sha256" not in plain
    assert re.fullmatch("[0-9a-f]{64}", hashed["sha256"])
    assert many["sha256"] == hashed["sha256"]


# control characters

ESCAPES = "\x1b[2J\x1b]0;owned\x07\x1b]52;c;cHduZWQ=\x07\x9b31m\x7f\b\r\u202eabc\u2066"


def hostile_lines() -> Iterator[dict[str, Any]]:
    """A session whose every text holds escape sequences."""
    head = {
        "sessionId": "f5476776-e43b-4d36-b10d-5bbaca6a6a56",
        "cwd": f"/home/dev/{ESCAPES}",
        "gitBranch": f"b{ESCAPES}",
        "version": f"2{ESCAPES}",
        "timestamp": "2026-02-26T09:12:03.041Z",
    }
    call = {
        "type": "tool_use",
        "id": f"toolu_1{ESCAPES}",
        "name": f"Bash{ESCAPES}",
        "input": {f"command{ESCAPES}": f"ls {ESCAPES}"},
    }
    answer = {
        "type": "tool_result",
        "tool_use_id": f"toolu_1{ESCAPES}",
        "content": f"no {ESCAPES}",
        "is_error": True,
    }
    yield {"type": "user", "uuid": "1", "message": {"role": "user", "content": f"do {ESCAPES}"}}
    yield {"type": "assistant", "uuid": "2", "message": {"role": "assistant", "content": [call]}}
    yield {"type": "user", "uuid": "3", "message": {"role": "user", "content": [answer]}}
    yield {"type": f"odd{ESCAPES}", "uuid": "4"}
    yield from (head, {"type": "summary", "summary": ESCAPES, "leafUuid": "3"})


@pytest.fixture
def hostile(here: Path) -> Path:
    """A log with a hostile name and hostile words, beside others that are refused."""
    (here / "logs").mkdir()
    path = here / "logs" / f"s{ESCAPES.replace('/', '')}.jsonl"
    common = {"sessionId": "s1", "timestamp": "2026-02-26T09:12:03.041Z", "cwd": f"/w/{ESCAPES}"}
    path.write_text(
        "".join(json.dumps({**common, **row}) + "\n" for row in hostile_lines()), "utf-8"
    )
    (here / "logs" / f"no{ESCAPES}\n.txt").write_text("no log")
    return path


def test_control_characters_of_a_log_never_reach_the_terminal(hostile: Path, here: Path) -> None:
    asked: list[tuple[object, ...]] = [
        ("claude-code", hostile, "-o", "trace"),
        ("claude-code", hostile, "-o", "trace", "--json"),
        ("claude-code", "logs", "-o", "traces"),
        ("claude-code", "logs", "-o", "traces", "--json"),
        ("events", "auto", hostile),
        ("events", "auto", hostile, "--no-redact", "--i-know"),
        ("show", "trace"),
        ("validate", "trace"),
        ("verify", "trace", "--source", hostile),
        ("claude-code", f"none{ESCAPES}\n", "-o", "trace"),
        ("claude-code", here / "logs" / f"no{ESCAPES}\n.txt", "-o", "trace"),
    ]
    for number in (1, 2):
        asked.append(("show", "trace", "--step", number))
        for field in ("input", "output", "tool", "observation", "success"):
            asked.append(("show", "trace", "--step", number, "--why", field, "--source", hostile))
    for words in asked:
        done = run(*words)
        assert CONTROLS.search(done.stdout + done.stderr) is None, words[:4]
        assert len(done.stderr.split("\n")) <= 2


def test_what_is_json_stays_json_among_control_characters(hostile: Path, here: Path) -> None:
    events = run("events", "auto", hostile, "--no-redact", "--i-know").stdout
    found = [json.loads(line) for line in events.split("\n")[:-1]]
    assert any(ESCAPES in one.get("text", "") for one in found)
    assert json.loads(run("claude-code", "logs", "-o", "traces", "--json").stdout)["refused"]


def test_not_even_a_terminal_gets_a_logs_control_characters(hostile: Path, here: Path) -> None:
    """On a terminal rich draws a progress line; none of the log's own sequences is in it."""
    master, slave = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "forsy_retrace", "claude-code", "logs", "-o", "traces"],
        stdout=slave,
        stderr=slave,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "400"},
    ) as process:
        os.close(slave)
        seen = b""
        while True:
            try:
                data = os.read(master, 4096)
            except OSError:  # Linux: the other end is closed
                break
            if not data:
                break
            seen += data
    os.close(master)
    assert process.returncode == 0
    assert b"steps" in seen
    for part in (b"\x1b[2J", b"\x1b]0;", b"\x1b]52;", "\x9b".encode(), b"\x7f", b"\b"):
        assert part not in seen
    assert "\u202e".encode() not in seen


def test_a_name_that_is_no_utf8_converts(here: Path) -> None:
    path = here / os.fsdecode(b"bad\xff.jsonl")
    shutil.copy(LOG, path)
    assert run("claude-code", path, "-o", "trace", "--json").exit_code == 0
    assert run("verify", "trace", "--source", path).exit_code == 0


@pytest.mark.parametrize(
    "name", ["-rf.jsonl", "--help.jsonl", " lead.jsonl", "*.jsonl", "😀.jsonl"]
)
def test_an_odd_name_of_a_log_is_only_a_name(name: str, here: Path) -> None:
    shutil.copy(LOG, here / name)
    assert run("claude-code", "-o", "trace", "-q", "--", name).exit_code == 0
    assert run("verify", "trace", "--source", name).exit_code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("auto", "", "-o", "trace"),
        ("claude-code", "log", "-o", ""),
        ("show", ""),
        ("verify", "trace", "--source", ""),
        ("batch", "", "-o", "traces"),
        ("batch", "logs", "-o", ""),
        ("new-adapter", "fine", "-o", ""),
    ],
)
def test_an_empty_name_is_a_variable_that_was_not_set(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*words)
    assert done.exit_code == 2
    assert "is empty; a variable may not be set" in done.output
    assert list(tmp_path.iterdir()) == []


# streams, interrupts, faults


def test_what_a_stream_cannot_show_is_written_out(here: Path) -> None:
    log = LOG.read_text("utf-8").replace("Publish my commit", "\u516c\u958b\u3057\u3066")
    (here / "s.jsonl").write_text(log, "utf-8")
    run("claude-code", "s.jsonl", "-o", "trace", "-q")
    for words in (("events", "auto", "s.jsonl"), ("show", "trace", "--step", 1)):
        done = shell(*words, cwd=here, env={**os.environ, "PYTHONIOENCODING": "latin-1"})
        assert (done.returncode, done.stderr) == (0, "")
    assert "\\u516c" in done.stdout


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_closed_streams_harm_nothing(closed: str, here: Path) -> None:
    for words in ("auto s.jsonl -o trace", "redact -"):
        shutil.copy(LOG, here / "s.jsonl")
        command = f"exec {sys.executable} -m forsy_retrace {words} </dev/null {closed}"
        done = subprocess.run(["sh", "-c", command], cwd=here, capture_output=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, b"")
    assert (here / "s.jsonl").read_bytes() == LOG.read_bytes()
    assert run("validate", "trace").exit_code == 0


def test_an_interrupt_ends_any_command_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("forsy_retrace.report.adapter_table", stopped)
    done = run("adapters")
    assert (done.exit_code, done.stdout) == (130, "")
    assert done.stderr.splitlines()[-1] == "forsy-retrace: stopped"


def test_a_fault_of_ours_is_one_line_that_quotes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def faulty() -> None:
        raise ValueError("ghp_secret")

    monkeypatch.setattr("forsy_retrace.report.adapter_table", faulty)
    monkeypatch.delenv("FORSY_TRACEBACK")
    said = refused(70, "adapters")
    assert "our own fault: ValueError in test_cli.py, line " in said
    assert "ghp_secret" not in said


def test_a_usage_error_is_masked_and_harmless(here: Path) -> None:
    token = "ghp_" + "R7k2Vn9QxW4mZp8LtY6sBd3FhJ5cGa1eUo0i"
    for words in (("redact", f"{token}\x1b[2J"), ("show", "--step", token), (f"x{token}",)):
        done = run(*words)
        assert done.exit_code == 2
        assert token not in done.stderr
        assert CONTROLS.search(done.stderr) is None


@pytest.mark.parametrize("day", ["yesterday", "01/31/2027", "2026-02-30", ""])
def test_a_day_is_a_day(day: str, here: Path) -> None:
    for words in (
        ("claude-code", LOG, "-o", "trace", "--since", day),
        ("claude-code", LOG, "-o", "trace", "--until", day),
        ("batch", LOG, "-o", "traces", "--since", day),
    ):
        assert run(*words).exit_code == 2
    assert names(here) == []
    assert run("claude-code", LOG, "-o", "trace", "-q", "--since", "2026-02-26").exit_code == 0


def test_a_batch_picks_sessions_as_one_log_does(here: Path) -> None:
    for wish, number in (("git push", 1), ("no such words", 0)):
        asked = ("--grep", wish, "--until", "2026-02-28", "--min-commands", "2", "--json")
        done = run("batch", LOG.parent, "-o", f"traces-{number}", *asked)
        assert json.loads(done.stdout)["traces"] == number


def test_prompts_and_memory_stand_masked_where_they_are_asked_for(here: Path) -> None:
    log = FIXTURES.parent / "codex" / "two-streams" / "input.jsonl"
    asked: dict[str, tuple[str | None, str | None]] = {
        "": (None, None),
        "--include-memory": (None, "Use tabs."),
        "--include-system-prompt": ("You are a coding agent in /home/dev/[TERM_1].", None),
    }
    for number, (option, told) in enumerate(asked.items()):
        target = f"trace-{number}"
        wishes = ["--redact-term", "shop", *filter(None, [option])]
        assert run("codex", log, "-o", target, "-q", *wishes).exit_code == 0
        assert run("verify", target, "--source", log).exit_code == 0
        for name in ("trace.json", "manifest.json"):
            made = json.loads((here / target / name).read_bytes())
            assert (made["system_prompt"], made["memory"]) == told
            assert made["agent_config"]["memory_hash"].startswith("sha256:")


def test_a_log_that_may_not_be_reached_is_no_trouble_of_the_output(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = Path.lstat

    def closed(path: Path) -> os.stat_result:
        if path.parent.name == "closed":
            raise PermissionError(13, "Permission denied")
        return honest(path)

    monkeypatch.setattr(Path, "lstat", closed)
    for words in (
        ("auto", "closed/s.jsonl", "-o", "trace"),
        ("events", "auto", "closed/s.jsonl"),
        ("scan", "closed/s.jsonl"),
    ):
        assert "s.jsonl: Permission denied" in refused(65, *words)


def test_a_log_that_may_not_be_opened_is_one_line_and_one_of_many_is_told_by_the_exit_code(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = here / "logs"
    logs.mkdir()
    for name in ("open.jsonl", "closed.jsonl"):
        (logs / name).write_bytes(LOG.read_bytes())
    refuses(monkeypatch, "closed.jsonl", "open")
    monkeypatch.setattr(os, "access", lambda path, mode, **_: "closed" not in str(path))
    one = refused(65, "auto", "logs/closed.jsonl", "-o", "trace")
    assert "closed.jsonl: Permission denied" in one
    done = run("auto", "logs", "-o", "traces")
    assert done.exit_code == 1
    assert "closed.jsonl: Permission denied" in done.stdout
    assert "1 file could not be read" in done.stderr
    assert len(list((here / "traces").iterdir())) == 1


def test_what_is_no_log_among_others_is_no_failure(here: Path) -> None:
    logs = here / "logs"
    logs.mkdir()
    (logs / "log.jsonl").write_bytes(LOG.read_bytes())
    (logs / "notes.txt").write_text("milk and bread\n")
    done = run("auto", "logs", "-o", "traces")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "notes.txt" in done.stdout


def test_a_trace_is_not_written_into_another(here: Path) -> None:
    assert run("auto", LOG, "-o", "trace", "-q").exit_code == 0
    before = sorted((here / "trace").rglob("*"))
    for inside in ("trace/more", "trace/artifacts/one"):
        assert "in the folder of a trace" in refused(2, "auto", LOG, "-o", inside)
        assert "in the folder of a trace" in refused(2, "batch", LOG, "-o", inside)
    assert sorted((here / "trace").rglob("*")) == before
    assert run("auto", LOG, "-o", "trace", "-q").exit_code == 0


def test_links_that_lead_nowhere_are_one_line(here: Path) -> None:
    (here / "loop").symlink_to("loop")
    (here / "lost").symlink_to("not-here")
    for link in ("loop", "lost"):
        for words in (("auto", link, "-o", "trace"), ("scan", link), ("batch", link, "-o", "t")):
            assert "leads nowhere" in refused(65, *words)


def test_a_log_that_no_file_holds_is_said_to_be_so(here: Path) -> None:
    reader, writer = os.pipe()
    with open(reader), open(writer, "w"):
        assert "not a regular file" in refused(65, "auto", f"/dev/fd/{reader}", "-o", "trace")
    assert "not from standard input" in refused(2, "auto", "-", "-o", "trace")


# what is missing is named


def test_a_source_that_lacks_the_log_is_told_which_one(here: Path) -> None:
    assert run("claude-code", LOG, "-o", "trace").exit_code == 0
    (here / "logs").mkdir()
    for words in (("verify", "trace"), ("show", "trace", "--step", "2", "--why", "input")):
        said = refused(65, *words, "--source", "logs")
        assert said.startswith(f"forsy-retrace: {LOG.name}: the trace names this log, ")


def test_every_adapter_says_where_its_logs_lie() -> None:
    told = re.split(r"\n(?=\S)", run("adapters").stdout)
    assert [one.split()[0] for one in told if "\n  lies in: " not in one] == []


# a reader that has read enough


@pytest.mark.parametrize(
    "words",
    [("events", "auto", LOG), ("redact", LOG), ("scan", LOG), ("adapters",), ("--help",)],
    ids=lambda words: words[0],
)
def test_who_reads_no_further_makes_no_finding(words: tuple[str, ...], here: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "forsy_retrace", *map(str, words)],
            stdout=writer,
            stderr=subprocess.PIPE,
        )
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")
