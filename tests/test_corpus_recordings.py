"""Every real recording kept beside the checkout converts, or is refused for a listed reason.

Run with `pytest -m corpus -s`: it prints a table of files, steps, ways, commands found.
"""

from pathlib import Path

import orjson
import pytest
from folders import converted, traces

from forsy_retrace.convert import convert
from forsy_retrace.errors import RetraceError
from forsy_retrace.registry import identify
from forsy_retrace.source import Source, discover

SHELL = Path(__file__).parents[2] / "shared" / "corpus" / "shell"
FOLDERS = (SHELL / "asciinema", SHELL / "produced" / "recordings")

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(not SHELL.is_dir(), reason="no real recordings beside this checkout"),
]

SIDE = "a side file of a recording: it holds no output"
REFUSED = {"adv.in": SIDE, "adv.timing": SIDE, "classic.timing": SIDE}
"""Files that give no trace, and why."""
NAMED = {"tmux_capture_pane.txt": "tmux", "tmux_capture_pane_ansi_joined.txt": "tmux"}
"""Plain text, which nothing but its name tells from any other."""

TYPED = [
    "ls",
    "cat missing.txt",
    "grep beta a.txt",
    'echo "日本語 😀"',
    'python3 -c "import sys; sys.exit(3)"',
    "echo $?",
    "sl",
    "ls -z",
    "ls -l",
    "sleep 2",
    "ech typo",
    "echo abc",
    "echo aXY",
    "exit",
]
"""The commands of the script that made the recordings of bash."""
NUSHELL = [
    "ls",
    "^cat missing.txt",
    "^false",
    "cd ..",
    "sleep 2sec",
    "ech typo",
    "echo abc",
    "echo aXY",
    "exit",
]
EXPECTED = {
    "adv.out": TYPED,
    "bash.ttyrec": TYPED,
    "bash_v2.cast": TYPED,
    "bash_v2_stdin_idle1.cast": TYPED,
    "classic.typescript": TYPED,
    "default_headers.typescript": TYPED,
    "tmux_capture_pane.txt": TYPED[:10],
    "tmux_capture_pane_ansi_joined.txt": TYPED[:10],
    "tmux_pipe_pane.log": [*TYPED[1:10], "exit"],
    "nushell_osc133_v2.cast": NUSHELL,
    "nushell_osc633_v2.cast": NUSHELL,
    "demo.json": ["vim", "exit"],
}
"""The commands that a person reads in each; the other files show none."""

BROKEN = ["cat missing.txt", "ls -z", 'python3 -c "import sys; sys.exit(3)"', "sl", "ech typo"]
"""Those that failed: by the status shown behind one, by what the others printed."""

FILES = [one.path for folder in FOLDERS if folder.is_dir() for one in discover(folder)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_recording_gives_the_commands_that_a_person_reads(path: Path, tmp_path: Path) -> None:
    adapter = NAMED.get(path.name, "auto")
    try:
        [one] = traces(converted(path, adapter, tmp_path / "trace"))
    except RetraceError as error:
        why = str(error)
        print(f"\nrefused  {why}")
    else:
        why = ""
    assert bool(why) == (path.name in REFUSED)
    if why:
        assert "\n" not in why
        return
    found = orjson.loads((one.folder / "trace.json").read_bytes())["steps"]
    commands = [step["input"] for step in found]
    wanted = EXPECTED.get(path.name)
    if wanted is None:
        assert one.manifest["recovery"]["commands_by"] == "none"
        assert len(found) == 1
    else:
        assert commands == wanted
    failed = [step["input"] for step in found if step["success"] is False]
    if wanted is NUSHELL:
        assert failed == ["^cat missing.txt", "^false", "ech typo"]
    elif wanted is not None and "echo $?" in wanted:
        assert failed == [command for command in wanted if command in BROKEN]
    by = one.manifest["recovery"]["commands_by"]
    print(f"\n{len(found):5} steps, {by:16} {path.name}")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_at_most_one_adapter_claims_each_file(path: Path) -> None:
    known = identify(Source(path))
    assert len(known) == (path.name not in {**REFUSED, **NAMED}), known


@pytest.mark.skipif(not all(one.is_dir() for one in FOLDERS), reason="no recordings")
def test_side_files_belong_to_their_recording(tmp_path: Path) -> None:
    results = list(convert(FOLDERS[1], "auto", tmp_path / "traces"))
    refused = {one.name for one in results if one not in traces(results)}  # type: ignore[union-attr]  # refusals have a name
    assert refused == set(NAMED)
