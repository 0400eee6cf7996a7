"""Histories: their escapes against writers of our own, who claims them, where sessions end."""

import time
from pathlib import Path

import pytest
from folders import retraced
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from forsy_retrace.choose import Choice
from forsy_retrace.convert import LeftOut, Options, Refused, convert
from forsy_retrace.errors import RetraceError
from forsy_retrace.events import Skipped, ToolCall, sessions
from forsy_retrace.logs import opened
from forsy_retrace.registry import bundled, identify, load
from forsy_retrace.source import Source
from forsy_retrace.source.unpack import is_packed
from forsy_retrace.testing.account import lost
from forsy_retrace.writers import Written

TYPED = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\ufffd"), max_size=40
) | st.lists(
    st.sampled_from(["\\", "\n", "`", "n", " ", ": 1:0;", "–", "😀", "ア", "'", "<\\n>", "a"]),
    max_size=9,
).map("".join)
"""What somebody may type: any text, and thick mixtures of what the formats escape."""
SLIM = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def typed(folder: Path, adapter: str, data: bytes) -> list[str]:
    """The commands of a history, after a look that no line was left out as no command."""
    path = folder / "history"
    path.write_bytes(data)
    events = list(load(adapter).read(Source(path)))
    assert not any(isinstance(event, Skipped) for event in events)
    return [event.input for event in events if isinstance(event, ToolCall)]


def metafied(command: str) -> bytes:
    """As zsh stores a command: its own bytes flipped behind 0x83, line feeds behind a backslash."""
    body = bytearray()
    for byte in command.encode():
        body += bytes([0x83, byte ^ 32]) if byte == 0 or 0x83 <= byte <= 0xA2 else bytes([byte])
    stored = bytes(body).replace(b"\n", b"\\\n")
    return stored + (b" " if stored.rstrip(b" \t").endswith(b"\\") else b"")


@SLIM
@given(st.lists(TYPED.filter(str.strip), max_size=4))
@example(["echo one \\\ntwo", "echo “quotes” 日本語 😀 ア", "tail \\\\", "x \\ "])
def test_zsh_escapes_come_undone(tmp_path: Path, commands: list[str]) -> None:
    lines = [b": %d:0;%s\n" % (1700000000 + n, metafied(one)) for n, one in enumerate(commands)]
    assert typed(tmp_path, "zsh-history", b"".join(lines)) == commands


@SLIM
@given(st.lists(TYPED.filter(str.strip), max_size=4))
@example(['printf "a\\nb\\n"', "a\nb", "\\\\n"])
def test_fish_escapes_come_undone(tmp_path: Path, commands: list[str]) -> None:
    stored = [one.replace("\\", "\\\\").replace("\n", "\\n") for one in commands]
    lines = [f"- cmd: {one}\n  when: {1700000000 + n}\n" for n, one in enumerate(stored)]
    assert typed(tmp_path, "fish-history", "".join(lines).encode()) == commands


@SLIM
@given(st.lists(TYPED.filter(lambda one: one.strip() and not one.endswith("`")), max_size=4))
@example(["docker run `\n  -p 80:80", "a ``\nb"])
def test_psreadline_continuations_come_undone(tmp_path: Path, commands: list[str]) -> None:
    stored = "".join(one.replace("\n", "`\n") + "\n" for one in commands)
    assert typed(tmp_path, "powershell-history", stored.encode()) == commands


TEXTS = ["bash-history", "zsh-history", "fish-history", "powershell-history", "repl-history"]
PARTS = [b"if x:", b" a", b"(", b")", b"@b", b'"""', b"select", b"x;"]
ODD = rb"ls,,#1700000000,: 1700000000:0;ls,x\,y`,- cmd: ls,  when: 1,cat <<E,E,exit,  ,: 9:9;"
LINES = st.lists(
    st.sampled_from([*ODD.split(b","), *PARTS, b"_HiStOrY_V2_", b"\x83\xff", b"\r"])
    | st.binary(max_size=6),
    max_size=12,
)


@SLIM
@given(LINES, st.sampled_from(TEXTS), st.sampled_from(["psql", "python", "node_repl", "sqlite"]))
def test_every_line_of_any_file_is_accounted_for(
    tmp_path: Path, lines: list[bytes], adapter: str, prompt: str
) -> None:
    path = tmp_path / f"input.{prompt}_history"
    data = b"\n".join(lines)
    assume(not is_packed(data[:4]))  # then damage is an error of its own
    path.write_bytes(data)
    source = Source(path)
    events = tuple(load(adapter).read(source))
    assert lost(events, (source,)) == ""


@pytest.mark.parametrize(
    "name",
    [
        ".bash_history",
        ".zsh_history",
        "fish_history",
        "ConsoleHost_history.txt",
        "history.txt",
        ".psql_history",
        ".python_history",
        ".node_repl_history",
        ".sqlite_history",
    ],
)
@pytest.mark.parametrize(
    "text",
    [
        "Dear all,\nthe shop opens on Monday.\nPlease bring cake.\nSee you there!\n" * 3,
        "id,price\n1,2.50\n2,3.10\n3,4.00\n" * 3,
        "[2026-01-31 12:00:00] INFO started\n[2026-01-31 12:00:01] INFO ready\n" * 5,
        "- name: shop\n  when: never\n- name: api\n  when: always\n" * 3,
    ],
    ids=["prose", "table", "log", "yaml"],
)
def test_a_name_alone_claims_nothing(name: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert identify(Source(path)) == []


@pytest.mark.parametrize("data", [b"ls\n\0\0\n", b'{"a":1}\n' * 500], ids=["binary", "records"])
def test_a_list_of_commands_of_any_name_is_read_where_the_adapter_is_named(
    data: bytes, tmp_path: Path
) -> None:
    log = tmp_path / "commands.txt"
    log.write_text("shopctl up\nshopctl status\nshopctl down\n")
    with pytest.raises(RetraceError, match="no adapter knows its text; name one"):
        list(convert(log, "auto", tmp_path / "auto"))
    [one] = convert(log, "bash-history", tmp_path / "trace")
    assert isinstance(one, Written)
    assert one.manifest["total_steps"] == 3
    (tmp_path / "binary").write_bytes(data)
    with pytest.raises(RetraceError, match="not a log that bash-history reads"):
        list(convert(tmp_path / "binary", "bash-history", tmp_path / "other"))


@pytest.mark.parametrize(
    ("name", "adapter"),
    [
        (".bash_history", "bash-history"),
        (".zsh_history", "zsh-history"),
        ("consolehost_history.txt", "powershell-history"),
        (".python_history", "repl-history"),
    ],
)
def test_a_file_that_the_user_named_is_what_its_name_says(
    name: str, adapter: str, tmp_path: Path
) -> None:
    log = tmp_path / name
    log.write_text("shopctl plan\nshopctl apply\n")
    assert opened(log)[1] == adapter
    assert identify(Source(log)) == []
    with pytest.raises(RetraceError, match="no JSON records"):
        opened(log.rename(tmp_path / f"old{name}"))


@pytest.mark.parametrize("adapter", ["auto", "bash-history"])
def test_a_file_of_a_folder_is_what_its_name_says(adapter: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".bash_history").write_text("shopctl plan\nshopctl apply\nshopctl down\n")
    (home / ".bashrc").write_text("alias a=shopctl\nalias b=shopctl\nalias c=shopctl\n")
    written, other = convert(home, adapter, tmp_path / "traces")
    assert isinstance(written, Written)
    assert written.manifest["adapter"] == "bash-history"
    assert isinstance(other, Refused)


STAMPED = {
    "bash-history": "#1700000000\nls\n#1700000010\nmake test\n#1700000020\nls\n",
    "zsh-history": ": 1700000000:0;ls\n: 1700000010:0;make test\n: 1700000020:0;ls\n",
    "fish-history": "- cmd: ls\n  when: 1700000000\n- cmd: cat a\n  when: 1\n  paths:\n    - a\n",
}


@pytest.mark.parametrize("form", STAMPED)
@pytest.mark.parametrize(
    "adapter", [*STAMPED, "powershell-history", "nushell-history", "repl-history"]
)
def test_another_shells_history_is_left_to_its_own_adapter(
    adapter: str, form: str, tmp_path: Path
) -> None:
    log = tmp_path / "history"
    log.write_text(STAMPED[form])
    if adapter == form:
        assert opened(log, adapter)[1] == adapter
    else:
        with pytest.raises(RetraceError, match=f"not a log that {adapter} reads; {form} reads it"):
            opened(log, adapter)


def test_a_shells_settings_beside_its_history_are_no_history(tmp_path: Path) -> None:
    """In a folder each file tells by itself what it is, whichever adapter was named."""
    home = tmp_path / "home"
    home.mkdir()
    lines = [f": {1795600800 + second}:0;make test{second}\n" for second in range(6)]
    (home / ".zsh_history").write_text("".join(lines))
    (home / "zshrc.txt").write_text("setopt EXTENDED_HISTORY\nHISTSIZE=1000\nSAVEHIST=1000\n")
    results = list(convert(home, "zsh-history", tmp_path / "traces"))
    assert [isinstance(one, Written) for one in results] == [True, False]


DAYS = "".join(
    f"#{1795600800 + day * 86400 + at}\n{command}\n"
    for day, commands in enumerate((["make", "make test", "git push"], ["ls", "df -h"], ["a"] * 4))
    for at, command in zip((0, 10, 1500, 1600), commands, strict=False)
)


def sizes(folder: Path, choice: Choice) -> tuple[list[int], list[str]]:
    """Steps of each trace of DAYS, and what was said of sessions left out."""
    log = folder / "input.bash_history"
    log.write_text(DAYS)
    found = list(convert(log, "bash-history", folder / "traces", Options(choice=choice)))
    steps = [one.manifest["total_steps"] for one in found if isinstance(one, Written)]
    return steps, [one.why for one in found if isinstance(one, LeftOut)]


SHORT = (
    "input.bash_history: 1 session of fewer than 3 commands left out (2 commands);"
    " --min-commands takes them"
)


@pytest.mark.parametrize(
    ("choice", "steps", "short"),
    [
        (Choice(), [3, 4], [SHORT]),
        (Choice(min_commands=1), [3, 2, 4], []),
        (Choice(since="2026-11-27"), [4], []),
        (Choice(until="2026-11-25"), [3], []),
        (Choice(since="2026-11-26", min_commands=0), [2, 4], []),
        (Choice(grep="make t"), [3], []),
        (Choice(idle=20, min_commands=1), [2, 1, 2, 2, 2], []),
        (Choice(idle=1e6), [9], []),
    ],
    ids=str,
)
def test_a_user_chooses_among_the_sessions_of_a_history(
    choice: Choice, steps: list[int], short: list[str], tmp_path: Path
) -> None:
    assert sizes(tmp_path, choice) == (steps, short)


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", [" ", " -it", " ;", "ssh -a ", "<<", "\\", "'", '"', "$'", " #", " &"]
)
def test_a_long_line_takes_no_long_time(unit: str, tmp_path: Path) -> None:
    path = tmp_path / ".bash_history"
    heads = ("exit", "docker exec", "sudo bash", "cat ")
    path.write_text("".join(f"{head}{unit * 20_000}x\n" for head in heads))
    began = time.process_time()
    assert len(list(load("bash-history").read(Source(path)))) == 1 + 2 * len(heads)
    assert time.process_time() - began < 3


@pytest.mark.slow
@pytest.mark.parametrize("name", [".python_history", ".node_repl_history", ".sqlite_history"])
@pytest.mark.parametrize("unit", ["(", "'", '"""', "if x:", " x", "@a", "x = [1,", "`", "\r", "--"])
def test_statements_without_an_end_take_no_long_time(name: str, unit: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(f"{unit}\n" * 500 + unit * 5_000)
    began = time.process_time()
    list(load("repl-history").read(Source(path)))
    assert time.process_time() - began < 3


def test_a_session_that_several_files_copy_counts_once(tmp_path: Path) -> None:
    logs = tmp_path / ".zsh_sessions"
    logs.mkdir()
    shared = ": 1795600800:0;ls\n: 1795600805:0;git pull\n: 1795600809:0;make\n"
    for name, start in (("A", 1795700000), ("B", 1795800000)):
        own = "".join(f": {start + at}:0;cd {name}{at}\n" for at in range(4))
        (logs / f"{name}.history").write_text(shared + own)
        shared += own
    results = list(convert(logs, "zsh-history", tmp_path / "traces"))
    steps = [one.manifest["total_steps"] for one in results if isinstance(one, Written)]
    assert steps == [3, 4, 4]
    [left] = [one.why for one in results if isinstance(one, LeftOut)]
    assert left == "B.history: 2 sessions left out that another file tells"


def test_a_long_run_is_no_idling(tmp_path: Path) -> None:
    path = tmp_path / ".zsh_history"
    path.write_text(": 1795600800:90000;vim a.py\n: 1795690830:0;ls\n: 1795699999:0;cd shop\n")
    found = [one.events for one in sessions(load("zsh-history").read(Source(path)))]
    calls = [[event.input for event in one if isinstance(event, ToolCall)] for one in found]
    assert calls == [["vim a.py", "ls"], ["cd shop"]]


@pytest.mark.parametrize("adapter", [one for one in bundled() if load(one).SHOWS.is_history])
def test_no_history_claims_to_show_what_it_cannot(adapter: str) -> None:
    shows = load(adapter).SHOWS
    assert shows.words == "no"
    assert shows.results in ("no", "rarely")
    assert "who typed it, a person or a program" in shows.cannot


def test_an_id_is_of_the_log_and_not_of_its_name_or_folder(tmp_path: Path) -> None:
    def id_of(said: str, name: str = "") -> str:
        path = tmp_path / "history"
        path.write_text(said)
        (trace,) = retraced(Source(path, name), "bash-history")
        return trace.trace_id

    said = "ls\ncd src\nmake\nmake test\ngit diff\n"
    once = id_of(said)
    assert id_of(said, "deep/down/.bash_history") == once
    assert id_of(said + "git push\n") == once
    assert id_of(said.replace("make test", "make check")) != once
