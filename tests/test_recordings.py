"""Recordings of terminals: what was printed, which commands it shows, and what never leaves."""

import gzip
import json
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest
from folders import check, contents, traces
from forsy_adapters._shell import is_unfinished
from forsy_adapters._terminal import Places, Program, Tape, steps, tape
from forsy_adapters._terminal.marks import by_marks
from forsy_adapters._terminal.paste import by_paste
from forsy_adapters._terminal.prompts import behind_prompt, by_prompts
from forsy_adapters._terminal.tape import Widths
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forsy_retrace.builder import build
from forsy_retrace.convert import convert
from forsy_retrace.errors import RetraceError, UnreadableInput
from forsy_retrace.events import Event, Fact, Skipped, ToolCall, ToolResult, sessions
from forsy_retrace.evidence import Evidence
from forsy_retrace.registry import load
from forsy_retrace.source import Source, has_screen, plain, screen, unescaped
from forsy_retrace.testing.account import lost
from forsy_retrace.verify import verify

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
NAMES = ("asciinema", "typescript", "ttyrec", "tmux")
ESCAPE = "\x1b"
HEADER = json.dumps({"version": 2, "width": 80, "height": 24, "timestamp": 1772441100})

quick = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def events_of(name: str, path: Path) -> list[Event]:
    return list(load(name).read(Source(path)))


# what a recording may hold


BOMBS = {
    "moves": "\x1b[9999Cx\r",
    "moves and lines": "\x1b[9999Cx\n",
    "blanks": "\x1b[999@",
    "deletions": "\x1b[P",
    "erasures": "x\x1b[2J",
    "titles": "\x1b]",
    "marks": "\x1b]133;A",
    "accents": "\u0301",
    "parameters": "\x1b[" + "9;" * 50,
    "toggles": "\x1b[?2004h$ x\x1b[?2004l",
}


@pytest.mark.slow
@pytest.mark.parametrize("bomb", BOMBS)
def test_no_sequence_stalls_or_swells(bomb: str, tmp_path: Path) -> None:
    text = "x" * 8000 + BOMBS[bomb] * (100_000 // len(BOMBS[bomb]))
    began = time.perf_counter()
    assert len(plain(text)) <= 2 * len(text) + (1 << 14)
    screen(text[:60_000], 1000)
    log = tmp_path / "bomb.log"
    log.write_text(text[:40_000], "utf-8", newline="")
    assert events_of("tmux", log)
    assert time.perf_counter() - began < 10


# which commands it shows


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("dev@shop:~/shop$ make", "make"),
        ("(venv) dev@shop:~/shop$ make", "make"),
        ("dev@shop ~ % ls", "ls"),
        ("[dev@shop ~]# reboot", "reboot"),
        ("bash-3.2$ vim", "vim"),
        (r"PS C:\shop> dir", "dir"),
        ("~/shop > ls", "ls"),
        ("$ cat > notes", "cat > notes"),
        ("➜  shop git:(main) ✗ make", "make"),
        ("➜  ~ cd shop", "cd shop"),
        ("➜ make", "make"),
        ("dev@shop:~$", ""),
        ("see dev@shop:~$ for more", None),
        ("mail dev@shop.example, please", None),
        ("[ok] all tests passed", None),
        ("bash-completion$x", None),
        ("50% done", None),
        ("> quoted", None),
        (">>> 1 + 1", None),
    ],
)
def test_a_prompt_has_a_shape(line: str, command: str | None) -> None:
    found = behind_prompt(line)
    assert (found[1] if found else None) == command


@pytest.mark.parametrize(
    ("command", "unfinished"),
    [
        ("for f in 1 2", True),
        ("cat <<EOF", True),
        ("echo 'one", True),
        ("echo \"don't", True),
        ('echo "don\'t"', False),
        ("ls # don't", False),
        ("echo $'don\\'t'", False),
        ("make |", True),
        ("f() {", True),
        ("cat <<EOF\nbeans", True),
        ("if make", True),
        ("R -q", False),
        ("cat <<EOF\nbeans\nEOF", False),
        ("for f in 1; do if x; then y; fi; done", False),
        ("ls; python3", False),
        ("echo 'it is done'", False),
        ("echo one \\", True),
        ("echo one \\\\", False),
        ("cd My\\ ", False),
        ("echo '(if asked)' # (for now", False),
        ("f() {\necho beans", True),
        ("f() {\necho beans\n}", False),
        ("jars=(\n1 2", True),
        ("jars=(\n1 2\n)", False),
        ("case $1 in\nbeans) make ;;\nesac", False),
        ("(cd shop; make)", False),
        ("echo {", False),
    ],
)
def test_only_an_unfinished_command_goes_on(command: str, unfinished: bool) -> None:
    assert is_unfinished(command) is unfinished


@pytest.mark.parametrize(("between", "status"), [("", 1), ("dev@shop:~$ rm -rf^C\r\n", None)])
def test_a_status_is_of_the_command_right_before(
    tmp_path: Path, between: str, status: int | None
) -> None:
    log = tmp_path / "pane.txt"
    log.write_text(f"dev@shop:~$ false\r\n{between}dev@shop:~$ echo $?\r\n1\r\n", newline="")
    results = [event for event in events_of("tmux", log) if isinstance(event, ToolResult)]
    assert [one.exit_code for one in results] == [status, None]


WRAPPED = (
    f"\x1b[?2004h$ echo {'word ' * 20}\x1b[A\x1b[5CX\x1b[B\r\n\x1b[?2004l\rdone\r\n\x1b[?2004h$ "
)


@pytest.mark.parametrize(("width", "told"), [(80, True), (0, False)])
def test_a_line_edited_over_rows_is_told_only_where_the_width_is_known(
    width: int, told: bool
) -> None:
    assert bool(by_paste(WRAPPED, Widths(width))) is told


@pytest.mark.parametrize("move", ["\x1b[A\x1b[B", "\x1bM", "one\n"])
def test_without_a_screen_a_line_edited_over_rows_is_not_told(move: str) -> None:
    typed = f"dev@shop:~$ ls\r\nbeans\r\ndev@shop:~$ make{move} all\r\ndone\r\n"
    assert [run.command for run in by_prompts(typed, Widths(80))] == ["ls"]
    straight = typed.replace(move, "")
    assert [run.command for run in by_prompts(straight, Widths(80))] == ["ls", "make all"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        "$ a\n",
        "xdev@shop:~$ ",
        "dev@shop ~\n$ ls\n",
        "dev@shop:~$ a\x1b[H\x1b[2J",
        "x\r \rdev@shop:~$ a\n",
    ],
)
def test_many_prompts_take_no_long_time(unit: str) -> None:
    text = "dev@shop:~$ ls\r\n" * 5 + unit * (60_000 // len(unit))
    began = time.process_time()
    assert by_prompts(text, Widths(80), range(0, len(text), 7))
    assert time.process_time() - began < 2


def test_a_prompt_that_does_not_return_is_none() -> None:
    assert by_prompts("dev@shop:~$ ls\r\na\r\n", Widths(0)) == []
    assert len(by_prompts("dev@shop:~$ ls\r\na\r\ndev@shop:~$ make\r\n", Widths(0))) == 2


@pytest.mark.parametrize(
    ("prompt", "commands"),
    [("$ ", ["ls", "cat notes", "make"]), ("dev@shop:~$ ", ["ls", "cat notes", "df -h", "make"])],
    ids=["a sign", "a name"],
)
def test_a_prompt_is_where_the_shell_waited_or_a_name_that_returns(
    prompt: str, commands: list[str]
) -> None:
    file = "dev@shop:~$ df -h\r\n$ df -h\r\n"
    pieces = [prompt, "ls\r\n", f"notes\r\n{prompt}", "cat notes\r\n", file, prompt, "make\r\n"]
    text = "".join(pieces)
    breaks = [len("".join(pieces[:number])) for number in range(len(pieces))]
    assert [run.command for run in by_prompts(text, Widths(80), breaks)] == commands


def test_where_no_piece_ends_at_a_prompt_each_line_counts() -> None:
    lines = ["$ ls\r\n", "notes\r\n", "$ make\r\n", "cc a.c\r\n", "$ "]
    breaks = [len("".join(lines[:number])) for number in range(len(lines))]
    assert [run.command for run in by_prompts("".join(lines), Widths(80), breaks)] == ["ls", "make"]


@pytest.mark.parametrize(
    ("prompt", "found"),
    [("❯ shop main ❯ ", 0), ("❯ ", 3), ("$ shop ", 3)],
)
def test_a_sign_behind_which_all_begins_alike_is_not_the_whole_prompt(
    prompt: str, found: int
) -> None:
    lines = [f"{prompt}{command}\r\nbeans\r\n" for command in ("ls", "make", "git diff")]
    toggled = "".join(f"\x1b[?2004h{line}\x1b[?2004l\r" for line in lines)
    assert len(by_prompts("".join(lines), Widths(80))) == found
    assert len(by_paste(toggled, Widths(80))) == found


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (f"echo {'a' * 90}", True),
        (f"echo {'a' * 90}\x1b[A", False),
        ("echo beans\r\x1b[2Cx\r\n\x1b[Jbeans.py  tests\x1b[A\r\x1b[12C", True),
    ],
    ids=["to the last row", "from a row above", "completions below"],
)
def test_a_line_that_goes_on_below_the_cursor_is_not_told(typed: str, told: bool) -> None:
    zsh = f"\r\x1b[0m\x1b[27m\x1b[24m\x1b[J% \x1b[K\x1b[?2004h{typed}\x1b[?2004l\r\r\n"
    assert [run.view for run in by_paste(zsh, Widths(80))] == (["screen:80:13"] if told else [])


@pytest.mark.parametrize(("second", "first_read_as"), [("> make", "ls"), ("make", "> ls")])
def test_a_sign_is_the_prompts_only_where_every_command_has_it(
    second: str, first_read_as: str
) -> None:
    marked = "".join(
        f"\x1b]133;A\x07\x1b]133;B\x07{line}\r\n\x1b]133;C\x07\x1b]133;D;0\x07"
        for line in ("> ls", second)
    )
    assert by_marks(marked, Widths(80))[0].command == first_read_as


def test_visual_studio_codes_escapes_are_undone_in_one_pass() -> None:
    assert unescaped(r"a\\x3bb\x3bc\\n") == r"a\x3bb;c\n"


commands = (
    st.text(st.sampled_from("abz09 ;|&$\"'\\<>(){}[]#%~é日ß"), min_size=1, max_size=30)
    .map(str.strip)
    .filter(lambda text: text and text[0] not in "$%>#")
)
ran = st.lists(
    st.tuples(commands, st.lists(st.sampled_from(["ok", "a b", "x=1", "é"]), max_size=3),
              st.none() | st.integers(0, 255)),
    min_size=1, max_size=6,
)  # fmt: skip


def written(runs: list[tuple[str, list[str], int | None]], way: str) -> str:
    """The stream of a shell that marks its commands; `way` names them or not."""
    parts = ["hello\r\n"]
    for command, lines, status in runs:
        parts.append(f"\x1b]{way};A\x07$ \x1b]{way};B\x07\x1b[32m{command}\x1b[0m\r\n")
        if way == "633":
            escaped = command.replace("\\", "\\\\").replace(";", "\\x3b")
            parts.append(f"\x1b]633;E;{escaped};nonce\x07")
        parts.append(f"\x1b]{way};C\x07")
        parts.extend(f"{line}\r\n" for line in lines)
        parts.append(f"\x1b]{way};D{'' if status is None else f';{status}'}\x07")
    return "".join(parts)


@quick
@given(runs=ran, way=st.sampled_from(["133", "633"]), cuts=st.lists(st.integers(0, 400)))
def test_marks_give_back_what_a_shell_ran(
    tmp_path: Path, runs: list[tuple[str, list[str], int | None]], way: str, cuts: list[int]
) -> None:
    stream = written(runs, way)
    edges = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    rows = [
        json.dumps([number / 10, "o", stream[start:end]])
        for number, (start, end) in enumerate(pairwise(edges))
    ]
    log = tmp_path / "marks.cast"
    log.write_text("\n".join([HEADER, *rows]) + "\n", "utf-8")
    found = events_of("asciinema", log)
    calls = [event.input for event in found if isinstance(event, ToolCall)]
    results = [event for event in found if isinstance(event, ToolResult)]
    assert calls == [command for command, _, _ in runs]
    assert [one.output for one in results] == ["\n".join(lines) for _, lines, _ in runs]
    assert [one.exit_code for one in results] == [status for _, _, status in runs]
    assert lost(tuple(found), (Source(log),)) == ""


fragments = st.sampled_from([
    "\x1b]133;A\x07", "\x1b]133;B\x1b\\", "\x1b]133;C\x07", "\x1b]133;D;1\x07",
    "\x1b]633;E;ls;x\x07", "\x1b]7;file://h/tmp/%41\x07", "\x1b[?2004h", "\x1b[?2004l",
    "\x1b[?1049h", "\x1b[?1049l", "\x1b[", "\x1b]", "\x1b[5A", "\x1b[3;4H", "\b", "\r\n", "\n",
    "dev@shop:~$ ls", "> ", "echo $?", "7", "é", "\0", "x" * 90,
    "Script started on x\n", "Script done on y\n",
])  # fmt: skip
streams = st.lists(fragments | st.text(max_size=5), max_size=40).map("".join)


def heads(stream: str) -> Iterator[tuple[str, bytes]]:
    """The same stream as each kind of recording."""
    data = stream.encode("utf-8", "replace")
    row = json.dumps([0.5, "o", stream], ensure_ascii=False).encode("utf-8", "replace")
    yield "asciinema", HEADER.encode() + b"\n" + row + b"\n" + data
    yield "asciinema", json.dumps({"version": 1, "stdout": [[1, stream], [2]]}).encode()
    yield "typescript", b'Script started on 2026-03-02 08:45:00+00:00 [COLUMNS="9"]\n' + data
    yield "ttyrec", struct.pack("<III", 1772441100, 5, max(len(data), 1)) * 2 + data
    yield "tmux", data


@quick
@given(stream=streams)
def test_any_stream_is_read_and_accounted_for(tmp_path: Path, stream: str) -> None:
    for name, data in heads(stream):
        log = tmp_path / "log"
        log.write_bytes(data)
        found = events_of(name, log)
        for session in sessions(found):
            build(session, name, load(name).SHOWS)
        if load(name).sniff(Source(log)):
            assert lost(tuple(found), (Source(log),)) == "", name


@quick
@given(data=st.binary(max_size=200), name=st.sampled_from(NAMES))
def test_no_bytes_are_too_odd(tmp_path: Path, data: bytes, name: str) -> None:
    log = tmp_path / "log"
    log.write_bytes(data)
    with suppress(UnreadableInput):  # the source's own word: a damaged database or archive
        assert isinstance(load(name).sniff(Source(log)), bool)
        events_of(name, log)


# without a terminal emulator


@pytest.fixture
def no_screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "pyte", None)
    has_screen.cache_clear()
    yield
    has_screen.cache_clear()


PASTED = FIXTURES / "asciinema" / "bracketed-paste-edits"


@pytest.mark.usefixtures("no_screen")
def test_without_an_emulator_a_recording_falls_to_the_next_way(tmp_path: Path) -> None:
    [one] = traces(convert(PASTED / "input.cast", "asciinema", tmp_path / "trace"))
    check(one, PASTED / "input.cast")
    assert one.manifest["recovery"] == {
        "commands_by": "learnt prompt",
        "terminal_emulator": False,
    }


@pytest.mark.usefixtures("no_screen")
def test_without_an_emulator_marks_still_name_commands() -> None:
    found = events_of("asciinema", FIXTURES / "asciinema/vscode-633-commands/input.cast")
    facts = [event.value for event in found if isinstance(event, Fact) and event.name == "recovery"]
    assert facts == [{"commands_by": "shell marks", "terminal_emulator": False}]


@pytest.mark.usefixtures("no_screen")
@pytest.mark.parametrize(
    ("case", "calls"),
    [
        (
            "zsh-prompt-before-the-toggle",
            {
                "cd shop": "",
                "git status": "On branch main",
                "printf done": "done",
                "cat <<EOF | wc -l\nbeans\nEOF": "1",
            },
        ),
        ("zsh-clock-at-the-edge", {}),
    ],
)
def test_without_an_emulator_no_prompt_of_zsh_gets_into_a_command(
    case: str, calls: dict[str, str]
) -> None:
    found = events_of("asciinema", FIXTURES / "asciinema" / case / "input.cast")
    typed = [event.input for event in found if isinstance(event, ToolCall) and event.input]
    outputs = [event.output for event in found if isinstance(event, ToolResult)]
    assert dict(zip(typed, outputs, strict=bool(typed))) == calls


@pytest.mark.usefixtures("no_screen")
def test_verify_says_that_it_needs_the_emulator() -> None:
    with pytest.raises(RetraceError, match="recordings"):
        verify(PASTED / "trace", PASTED / "input.cast")


# what holds, and what never leaves


def test_verify_sees_another_command_output_time_or_exit(tmp_path: Path) -> None:
    case = FIXTURES / "asciinema" / "osc-133-marks"
    log = tmp_path / "input.cast"
    data = (case / "input.cast").read_bytes()
    for old, new, fields in (
        (b"make tset", b"make best", {"input"}),
        (b"12 passed", b"11 passed", {"output"}),
        (b"133;D;2", b"133;D;0", {"success"}),
        (b"[1.1,", b"[1.2,", {"started_at"}),
    ):
        assert data.count(old) == 1 or old == b"[1.1,"
        log.write_bytes(data.replace(old, new))
        assert {one.field for one in verify(case / "trace", log)} >= fields


@pytest.mark.parametrize(
    ("case", "typed"),
    [("asciinema/typed-password", b"correct-horse-7"), ("typescript/lettered-timing", b"pull\rs")],
)
def test_what_was_typed_unseen_is_in_no_file(case: str, typed: bytes) -> None:
    folder = FIXTURES / case
    assert any(typed in path.read_bytes() for path in folder.glob("input.*"))
    written = {**contents(folder / "trace"), "events": (folder / "events.jsonl").read_bytes()}
    assert not [name for name, data in written.items() if typed in data]


def test_a_recording_is_read_as_far_as_a_tape_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tape, "MOST_TEXT", 40)
    log = tmp_path / "long.cast"
    rows = [json.dumps([number, "o", f"line {number}\r\n"]) for number in range(10)]
    log.write_text("\n".join([HEADER, *rows]) + "\n")
    found = events_of("asciinema", log)
    assert sum(isinstance(e, Skipped) and e.reason == tape.TOO_LONG for e in found) == 1
    [result] = [event for event in found if isinstance(event, ToolResult)]
    assert result.output == "\n".join(f"line {number}" for number in range(5))
    assert lost(tuple(found), (Source(log),)) == ""


def test_an_empty_tape_has_no_steps() -> None:
    assert list(steps(Tape(Places("log", "text")), Program())) == []
    full = Tape(Places("log", "text"))
    full.add(Evidence("log", 1, 0, 3), -1.0, "abc")
    assert full.span(1, 2).form == "text|chars:1:2"


def test_a_packed_ttyrec_reads_as_the_plain_one(tmp_path: Path) -> None:
    data = (FIXTURES / "ttyrec" / "bash-session" / "input.ttyrec").read_bytes()
    for name, content in (("plain", data), ("packed", gzip.compress(data))):
        (tmp_path / name).write_bytes(content)
    plainly, packed = (Source(tmp_path / name) for name in ("plain", "packed"))
    assert plainly.whole() == packed.whole()
    assert load("ttyrec").sniff(packed)
    assert not load("ttyrec").sniff(Source(FIXTURES / "tmux/captured-pane/input.txt"))


def test_a_status_asked_behind_a_command_that_the_screen_does_not_tell(tmp_path: Path) -> None:
    told = (FIXTURES / "asciinema" / "completions-between-prompts" / "input.cast").read_text(
        "utf-8"
    )
    lines = told.splitlines()
    at = max(i for i, line in enumerate(lines) if "\\u001b[?2004h" in line)
    clock = 900.0
    asked = [
        f'[{clock}, "o", "echo $?"]',
        f'[{clock + 1}, "o", "\\r\\n\\u001b[?2004l\\r"]',
        f'[{clock + 2}, "o", "1\\r\\n"]',
        f'[{clock + 3}, "o", "\\u001b[?2004hdev@shop:~/shop$ "]',
    ]
    for cut in range(2, at + 2):
        path = tmp_path / f"{cut}.cast"
        path.write_text("\n".join([*lines[:cut], *asked]), "utf-8")
        assert list(load("asciinema").read(Source(path)))
