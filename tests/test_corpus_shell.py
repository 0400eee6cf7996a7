"""Every real history kept beside the checkout converts, or is refused for a listed reason.

Run with `pytest -m corpus -s`: it prints a table of files, traces, steps, sessions left out.
"""

import re
import sqlite3
from pathlib import Path

import pytest
from folders import converted, traces

from forsy_retrace.convert import convert
from forsy_retrace.errors import RetraceError
from forsy_retrace.registry import identify
from forsy_retrace.source import BESIDE, Source, discover

CORPUS = Path(__file__).parents[2] / "shared" / "corpus" / "shell" / "produced"

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not CORPUS.is_dir(), reason="no real logs beside this checkout"),
]

ADAPTERS = {
    "atuin": "atuin",
    "bash": "bash-history",
    "fish": "fish-history",
    "ipython": "ipython",
    "nushell": "nushell-history",
    "repl": "repl-history",
    "xonsh": "xonsh",
    "zsh": "zsh-history",
}
"""The adapter of each folder's histories."""
REFUSED = {
    "atuin/a1/records.db": "encrypted records for another machine",
    "atuin/a1/meta.db": "settings of the client, no commands",
}
FILES = [
    source.path
    for source in (discover(CORPUS) if CORPUS.is_dir() else ())
    if source.path.relative_to(CORPUS).parts[0] in ADAPTERS
    and not source.name.endswith((*BESIDE, "rc.txt"))
]
"""The histories, without the files beside them: a database's own, and the shells' settings."""

COUNTS = {
    "bash/nocmdhist": 21,
    "bash/plain": 24,
    "bash/plain_lithist": 24,
    "bash/timefmt_cmdhist": 24,
    "bash/timefmt_lithist": 24,
    "bash/two_sessions_one_killed": 13,
    "fish/f1": 16,
    "nushell/plaintext": 13,
    "repl/node": 5,
    "repl/python": 5,
    "zsh/z_bang_expansion": 3,
    "zsh/z_plain": 24,
    "zsh/z_share": 24,
    "zsh/z_share_after_exit": 5,
}
"""Commands of the histories whose lines do not tell their number, counted by eye; a statement of
several lines is one."""
ROWS = {
    "atuin": "SELECT count(*) FROM history",
    "ipython": "SELECT count(*) FROM history",
    "nushell": "SELECT count(*) FROM history",
    "xonsh": "SELECT count(*) FROM xonsh_history",
}


def commands_in(path: Path, folder: Path) -> int:
    """How many commands a history holds, counted without our reader."""
    name = path.relative_to(CORPUS).parent.as_posix()
    data = path.read_bytes()
    if name in COUNTS:
        return COUNTS[name]
    if data.startswith(b"SQLite"):
        for one in path.parent.glob(f"{path.name}*"):
            (folder / one.name).write_bytes(one.read_bytes())
        connection = sqlite3.connect(folder / path.name)
        [(count,)] = connection.execute(ROWS[name.split("/")[0]]).fetchall()
        connection.close()
        return int(count)
    pattern = rb'"inp": ' if path.suffix == ".json" else rb"(?m)^: \d+:\d+;"
    found = re.findall(pattern, data)
    return len(found) // (3 if path.suffix == ".json" else 1)


def test_every_history_converts_or_is_refused_for_a_listed_reason(tmp_path: Path) -> None:
    print(f"\n{'traces':>6} {'steps':>6} {'confid':>6}  file")
    refused = []
    for number, path in enumerate(FILES):
        name = path.relative_to(CORPUS).as_posix()
        adapter = ADAPTERS[name.split("/")[0]]
        try:
            results = converted(path, adapter, tmp_path / str(number))
        except RetraceError as error:
            refused.append(name)
            print(f"refused  {name}: {error}")
            continue
        told = traces(results)
        assert all(one.manifest["agent_confidence"] <= 40 for one in told), name
        steps = sum(one.manifest["total_steps"] for one in told)
        left = sum(int(count) for one in results for count in left_out(one))
        apart = tmp_path / f"{number}-apart"
        apart.mkdir()
        assert steps + left == commands_in(path, apart), name
        confidence = max(one.manifest["agent_confidence"] for one in told)
        print(f"{len(told):6} {steps:6} {confidence:6}  {name}")
    assert sorted(refused) == sorted(REFUSED)


def left_out(result: object) -> list[str]:
    """The commands of sessions that were too short."""
    return re.findall(r"\((\d+) commands?\)", getattr(result, "why", ""))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_one_adapter_knows_each_history(path: Path) -> None:
    name = path.relative_to(CORPUS).as_posix()
    wanted = [] if name in REFUSED else [ADAPTERS[name.split("/")[0]]]
    assert identify(Source(path)) == wanted


def test_a_folder_gives_its_histories_and_takes_files_beside_for_theirs(tmp_path: Path) -> None:
    results = list(convert(CORPUS / "atuin", "auto", tmp_path / "traces"))
    assert len(traces(results)) == 2
    names = [getattr(one, "name", "") for one in results]
    assert [name for name in names if name.endswith(BESIDE)] == []
