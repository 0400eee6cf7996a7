"""`check` holds an adapter to its laws on any logs, and says in a sentence which one it breaks."""

import shutil
import sys
from pathlib import Path

import pytest
from asked import run

from forsy_retrace.registry import GROUP

pytestmark = pytest.mark.slow


FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
LOG = FIXTURES / "claude-code" / "push-pull-push" / "input.jsonl"

FAULTY = """
from forsy_retrace.registry import load
honest = load("claude-code")
SHOWS = honest.SHOWS
sniff = honest.sniff

def companions(source):
    return honest.companions(source)

def read(source):
    for event in honest.read(source):
        if event.origin.evidence.line != 3:
            yield event
"""


def ask(*words: str) -> tuple[int, list[str]]:
    done = run("check", *words)
    return done.exit_code, done.output.splitlines()


@pytest.fixture
def faulty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package that offers an adapter which loses line 3."""
    folder = tmp_path / "faulty-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: faulty\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(f"[{GROUP}]\nfaulty = faulty_adapter\n")
    (tmp_path / "faulty_adapter.py").write_text(FAULTY)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "faulty_adapter", raising=False)
    return tmp_path


def test_an_honest_adapter_breaks_no_law() -> None:
    assert ask("claude-code", str(LOG), "--quick") == (0, ["1 log, 0 broken laws."])


def test_a_log_whose_name_is_no_utf_8_keeps_the_laws_too(tmp_path: Path) -> None:
    shutil.copyfile(LOG, tmp_path / "\udcff.jsonl")
    assert ask("claude-code", str(tmp_path), "--quick") == (0, ["1 log, 0 broken laws."])


def test_a_lost_record_is_told_with_its_case_and_law(faulty: Path) -> None:
    code, lines = ask("faulty", str(LOG), "--quick")
    assert code == 1
    told = [line for line in lines if "accounts for every record" in line]
    assert told
    assert told[0].startswith(
        "input.jsonl: accounts for every record: no event comes of input.jsonl"
    )
    assert "line 3" in told[0]
    assert not any("golden" in line for line in lines)


def test_of_a_folder_the_adapters_own_logs_are_checked(tmp_path: Path) -> None:
    shutil.copy(LOG, tmp_path / "mine.jsonl")
    shutil.copytree(
        FIXTURES / "claude-code" / "subagent-directory",
        tmp_path / "more",
        ignore=shutil.ignore_patterns("trace", "events.jsonl"),
    )
    (tmp_path / "other.txt").write_text("Nothing to see here.\n")
    code, lines = ask("claude-code", str(tmp_path), "--quick")
    passed_over = int(lines[-1].split("; ")[1].split()[0])
    assert (code, lines[-1].split(";")[0]) == (0, "2 logs, 0 broken laws.".rstrip("."))
    assert passed_over >= 1


def test_a_folder_without_a_log_of_the_adapters_is_no_success(tmp_path: Path) -> None:
    (tmp_path / "other.jsonl").write_text('{"level":"info"}\n')
    done = run("check", "codex", tmp_path)
    assert done.exit_code == 65
    assert "no log to which the sniff of codex says True; it was held to nothing" in done.output


def test_a_log_that_is_named_must_be_claimed(tmp_path: Path) -> None:
    (tmp_path / "other.jsonl").write_text('{"level":"info"}\n')
    code, lines = ask("codex", str(tmp_path / "other.jsonl"), "--quick")
    assert code == 1
    assert lines[0] == (
        "other.jsonl: is claimed by one adapter: sniff does not say True to other.jsonl."
    )


def test_without_logs_the_cases_of_fixtures_are_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(FIXTURES / "pi" / "plain-turn", tmp_path / "fixtures" / "pi" / "plain-turn")
    monkeypatch.chdir(tmp_path)
    assert ask("pi", "--quick") == (0, ["1 log, 0 broken laws."])
    golden = tmp_path / "fixtures" / "pi" / "plain-turn" / "events.jsonl"
    golden.write_text("{}\n")
    code, lines = ask("pi", "--quick")
    assert code == 1
    assert "matches golden events" in lines[0]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("nobody",), "no adapter, ours or an installed package's, has that name; known: "),
        (("pi", "nowhere.jsonl"), "nowhere.jsonl: no such file or folder"),
        (("pi",), "no logs to check; name some, or go where the folder fixtures/ lies"),
    ],
)
def test_what_cannot_be_checked_is_told_in_one_line(
    words: tuple[str, ...], why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, lines = ask(*words)
    assert code == 2
    assert lines[0].startswith(f"forsy-retrace: {why}")
    assert len(lines) == 1


def test_a_value_without_a_ground_is_told_with_its_line_and_pointer(faulty: Path) -> None:
    """The output of step 2 stands in the record behind its call's."""
    moved = "replace(event, origin=event.origin.below('/lost'))"
    text = FAULTY.replace(
        "if event.origin.evidence.line != 3:\n            yield event",
        f"yield {moved} if event.origin.evidence.line == 4 else event",
    )
    (faulty / "faulty_adapter.py").write_text("from msgspec.structs import replace\n" + text)
    code, lines = ask("faulty", str(LOG), "--quick")
    assert code == 1
    told = "step 2 (line 4 /message/content/0/content/lost), output: the log has nothing"
    assert any(told in line for line in lines), "\n".join(lines)
