"""Adapters of other packages: listed unseen, imported when named, refused where names clash."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from forsy_retrace.cli import main
from forsy_retrace.convert import Options, convert
from forsy_retrace.errors import RetraceError, StrangersFault
from forsy_retrace.registry import COMMANDS, GROUP, bundled, identify, load, plugins, refused
from forsy_retrace.source import Source
from forsy_retrace.writers import Written

pytestmark = pytest.mark.slow


GOOD = '''
"""A stranger's logs: one JSON object a line."""
from forsy_retrace.events import Fact, Message, Origin, SessionStart
from forsy_retrace.sdk import Shows

SHOWS = Shows(words="yes", harness="Stranger")

def sniff(source):
    return any(isinstance(one.value, dict) and "strange" in one.value for one in source.head)

def read(source):
    for record in source.records():
        here = Origin(record.here.at("/strange"), None, "user")
        yield SessionStart(here, "s")
        yield Message(here, "user", record.value["strange"])
'''
MODULES = {
    "good_one": GOOD,
    "broken_one": "raise ValueError('a secret of the log')",
    "hollow_one": "SHOWS = None",
    "open_one": "first = 1\nsecond = open(\n",
    "lacking_one": "import no_such_module",
    "faulty_one": GOOD.replace("for record in", "raise KeyError(source.name)\n    for record in"),
    "rude_one": GOOD.replace("return any", "raise KeyError(source.name)\n    return any"),
}
"""Module to its text; each leaves a file behind when it is imported."""


@pytest.fixture
def offer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two packages on the path that offer adapters."""
    monkeypatch.delenv("FORSY_TRACEBACK", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name, text in MODULES.items():
        trail = f"open({str(tmp_path / name)!r} + '.imported', 'w').close()\n"
        (tmp_path / f"{name}.py").write_text(trail + text)
        monkeypatch.delitem(sys.modules, name, raising=False)
    offers = {
        "first": "good=good_one\nbroken=broken_one\nhollow=hollow_one\nrude=rude_one"
        "\nlacking=lacking_one\nfaulty=faulty_one\nopen=open_one"
        "\ntwice=good_one",
        "second": "twice=broken_one\nclaude-code=good_one\nno/name=good_one\nshow=good_one",
    }
    for package, points in offers.items():
        folder = tmp_path / f"{package}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text(f"[{GROUP}]\n{points}\n")
    (tmp_path / "log.jsonl").write_text('{"strange":"Hello, stranger."}\n')
    return tmp_path


def imported(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.imported"))


def test_plugins_are_listed_without_being_imported(offer: Path) -> None:
    shown = CliRunner().invoke(main, ["adapters"])
    assert shown.exit_code == 0
    for name in ("good", "broken", "hollow", "rude"):
        assert f"{name}\n  offered by another package; imported when it is named" in shown.output
    assert imported(offer) == []


def test_only_the_one_that_is_named_is_imported(offer: Path) -> None:
    assert load("good").SHOWS.harness == "Stranger"
    assert imported(offer) == ["good_one"]


def test_a_command_of_its_own_converts(offer: Path) -> None:
    done = CliRunner().invoke(
        main, ["good", str(offer / "log.jsonl"), "-o", str(offer / "trace"), "-q"]
    )
    assert done.exit_code == 0, done.output
    assert (offer / "trace" / "trace.json").is_file()


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("broken", r"the adapter broken can't be loaded: ValueError in broken_one\.py, line \d+"),
        (
            "lacking",
            r"the adapter lacking can't be loaded: ModuleNotFoundError in lacking_one\.py, line 2"
            r" \(no module no_such_module\)",
        ),
        ("open", r"the adapter open can't be loaded: SyntaxError in open_one\.py, line 3"),
        ("hollow", r"the adapter hollow lacks sniff, read, SHOWS \(a Shows\)"),
        ("twice", "the adapter twice is refused: several packages offer an adapter of that name"),
        ("no/name", "the adapter no/name is refused: no name for an adapter"),
    ],
)
def test_a_plugin_that_cannot_be_used_is_reported_by_name(offer: Path, name: str, why: str) -> None:
    with pytest.raises(RetraceError, match=rf"^{why}$"):
        load(name)


def test_names_that_clash_are_refused_by_name(offer: Path) -> None:
    assert refused() == {
        "claude-code": "a bundled adapter has that name",
        "no/name": "no name for an adapter",
        "show": "a command has that name",
        "twice": "several packages offer an adapter of that name",
    }
    assert not set(plugins()) & set(refused())
    assert (
        "refused: a bundled adapter has that name" in CliRunner().invoke(main, ["adapters"]).output
    )


def test_a_command_that_is_refused_says_why(offer: Path) -> None:
    done = CliRunner().invoke(main, ["twice", str(offer / "log.jsonl"), "-o", "trace"])
    told = "the adapter twice is refused: several packages offer an adapter of that name"
    assert (done.exit_code, done.output) == (2, f"forsy-retrace: {told}\n")


def test_the_names_of_commands_are_all_known() -> None:
    assert tuple(sorted(main.commands)) == COMMANDS


def test_a_clash_leaves_the_bundled_adapter_as_it_is(offer: Path) -> None:
    assert "claude-code" in bundled()
    assert load("claude-code").SHOWS.harness == "Claude Code"
    assert imported(offer) == []


def test_auto_asks_a_plugin_only_where_it_is_named(offer: Path) -> None:
    log = Source(offer / "log.jsonl")
    assert identify(log) == []
    assert imported(offer) == []
    assert identify(log, ("good",)) == ["good"]
    options = Options(plugins=("good",))
    (one,) = convert(log.path, "auto", offer / "trace", options)
    assert isinstance(one, Written)
    done = CliRunner().invoke(
        main, ["auto", str(log.path), "-o", str(offer / "again"), "--plugin", "good", "--json"]
    )
    assert done.exit_code == 0, done.output
    assert (offer / "again" / "trace.json").read_bytes() == (
        offer / "trace" / "trace.json"
    ).read_bytes()


def test_a_plugin_that_raises_is_named_and_not_quoted(offer: Path) -> None:
    with pytest.raises(RetraceError, match=r"^the adapter rude fails: KeyError in sniff$"):
        identify(Source(offer / "log.jsonl"), ("rude",))
    done = CliRunner().invoke(
        main, ["auto", str(offer / "log.jsonl"), "-o", str(offer / "t"), "--plugin", "broken"]
    )
    assert done.exit_code == 2
    assert done.output.startswith(
        "forsy-retrace: the adapter broken can't be loaded: ValueError in "
    )
    assert done.output.count("\n") == 1


def test_a_fault_of_a_plugin_is_called_so(offer: Path) -> None:
    done = CliRunner().invoke(main, ["faulty", str(offer / "log.jsonl"), "-o", str(offer / "t")])
    assert done.exit_code == 70
    assert "the adapter faulty fails: KeyError in faulty_one.py, line " in done.output


def test_what_a_plugin_prints_is_no_part_of_what_was_asked(offer: Path) -> None:
    (offer / "faulty_one.py").write_text(
        GOOD.replace("def read(source):", "print('aside')\ndef read(source):\n    print('aside')")
    )
    words = ["faulty", str(offer / "log.jsonl"), "-o", str(offer / "t"), "--json"]
    done = CliRunner().invoke(main, words)
    assert json.loads(done.stdout)["traces"]
    assert done.stderr == "aside\naside\n"


def test_what_a_plugin_says_that_its_logs_show_is_looked_at(offer: Path) -> None:
    wrong = {
        "time='perhaps'": "time is none of yes, mostly, sometimes, rarely, no",
        "tools={'sh': 'zsh'}": "tools holds what is none of Read, Write, ",
        "cannot='much'": "cannot is not of the type that docs/sdk.md names",
    }
    for shows, why in wrong.items():
        (offer / "faulty_one.py").write_text(GOOD.replace('words="yes"', shows))
        sys.modules.pop("faulty_one", None)
        with pytest.raises(StrangersFault, match=rf"adapter faulty fails: SHOWS\.{why}"):
            load("faulty")


def test_a_plugin_made_for_another_version_is_told_what_lacks(offer: Path) -> None:
    (offer / "faulty_one.py").write_text("from forsy_retrace.sdk import made_up_later\n" + GOOD)
    with pytest.raises(RetraceError, match="sdk lacks a name that it imports"):
        load("faulty")


ODD = {
    "yield 'Hello, stranger.'": "read yields a str, which is no event",
    "yield Message(Origin(record.here), 'user', record.value)": "read yields a Message whose text"
    " is not of the type that docs/sdk.md names",
    "yield Message(Origin(record.here), 'human', 'x')": "read yields a Message whose role"
    " is none of user, agent",
    "yield Message(Origin(record.here, 5), 'user', 'x')": "read yields a Message whose origin.at"
    " is not of the type that docs/sdk.md names",
    "yield Message(Origin(record.here), 'user', 'Hello ' + chr(0xD800))": "read yields a Message"
    " with what no JSON holds, such as half a surrogate pair",
    "yield Fact(Origin(record.here), 'model', {'Hello': object()})": "read yields a Fact"
    " with what no JSON holds, such as half a surrogate pair",
    "yield Message(Origin(record.here, None, 'Hello'), 'user', 'x')": "read yields a Message whose"
    " origin.actor is none of user, agent, system and subagent:<type>_<n>",
    "yield Message(Origin(record.here, 'Hello'), 'user', 'x')": "read yields a Message whose"
    " origin.at is no UTC time such as sdk.when gives",
    "raise SystemExit(str(record.value))": "it raises SystemExit",
}
"""What a plug-in does with a record, and how it is told."""


@pytest.mark.parametrize("line", ODD)
def test_odd_things_are_told_by_the_plugins_name_and_not_quoted(offer: Path, line: str) -> None:
    text = GOOD.replace("        yield SessionStart", f"        {line}\n        yield SessionStart")
    (offer / "faulty_one.py").write_text(text)
    log, why = str(offer / "log.jsonl"), f"the adapter faulty fails: {ODD[line]}"
    done = CliRunner().invoke(main, ["faulty", log, "-o", str(offer / "t")])
    assert (done.exit_code, done.stderr) == (70, f"forsy-retrace: {why}\n")
    checked = CliRunner().invoke(main, ["check", "faulty", log, "--quick"])
    assert f"accounts for every record: {why}." in checked.output
    assert "Hello" not in checked.output


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            GOOD.replace("return any", "return any or any"),
            "sniff says a builtin_function_or_method",
        ),
        (GOOD + "def companions(source):\n    return ['log.txt']\n", "companions gives a str"),
        (GOOD + "def companions(source):\n    pass\n", "companions gives a NoneType"),
        (GOOD.replace("def read", "async def read"), "read gives a async_generator, and no events"),
        (MODULES["rude_one"], "KeyError in sniff"),
        (GOOD.replace("return any", "raise SystemExit(3)\n    return any"), "it raises SystemExit"),
    ],
)
def test_a_batch_names_the_plugin_that_fails_and_goes_on(offer: Path, text: str, why: str) -> None:
    (offer / "faulty_one.py").write_text(text)
    (offer / "first-1.0.dist-info" / "entry_points.txt").write_text(
        f"[{GROUP}]\nfaulty=faulty_one\n"
    )
    logs = offer / "logs"
    logs.mkdir()
    (offer / "log.jsonl").rename(logs / "log.jsonl")
    (logs / "words.txt").write_text("Some words.\n")
    command = ["batch", str(logs), "-o", str(offer / "t"), "--plugin", "faulty", "--jobs", "1"]
    done = CliRunner().invoke(main, command)
    assert done.exit_code == 1, done.output
    assert f"the adapter faulty fails: {why}" in (offer / "t" / "report.json").read_text()


CHAT = '{"messages":[{"role":"user","content":"Hi."}],"strange":"Hello, stranger."}\n'
"""A log of a harness of its own in a form that a bundled adapter knows too."""


def test_a_plugin_that_is_named_comes_before_the_bundled_adapters(offer: Path) -> None:
    log = offer / "chat.jsonl"
    log.write_text(CHAT)
    assert identify(Source(log)) == ["openai-chat"]
    assert identify(Source(log), ("good",)) == ["good"]
    words = ["auto", str(log), "-o", str(offer / "t"), "--plugin", "good"]
    assert CliRunner().invoke(main, words).exit_code == 0
    assert json.loads((offer / "t" / "manifest.json").read_text())["adapter"] == "good"
    checked = CliRunner().invoke(main, ["check", "good", str(log), "--quick"])
    assert "claimed" not in checked.output


def test_a_name_that_nobody_offers_is_told_with_the_known_ones(offer: Path) -> None:
    with pytest.raises(RetraceError, match=r"^no adapter, .*, has that name; known: .*codex.*good"):
        load("nobody")


def test_a_log_that_nobody_knows_is_told_whom_else_to_ask(offer: Path) -> None:
    done = CliRunner().invoke(main, ["auto", str(offer / "log.jsonl"), "-o", str(offer / "t")])
    names = "broken, faulty, good, hollow, lacking, open, rude"
    hint = f"name one; of other packages, --plugin asks {names}"
    assert done.stderr == f"forsy-retrace: log.jsonl: no adapter knows this format; {hint}\n"


def test_a_batch_that_knows_not_all_logs_is_told_whom_else_to_ask(offer: Path) -> None:
    (offer / "logs").mkdir()
    (offer / "log.jsonl").rename(offer / "logs" / "log.jsonl")
    words = ["batch", str(offer / "logs"), "-o", str(offer / "t"), "--jobs", "1"]
    hint = "  of other packages, --plugin asks broken, faulty, "
    assert hint + "good, " in CliRunner().invoke(main, words).output
    asked = CliRunner().invoke(main, [*words, "--plugin", "good"]).output
    assert "1 converted" in asked
    assert "--plugin" not in asked


def test_plugins_can_be_switched_off(offer: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORSY_NO_PLUGINS", "1")
    assert (plugins(), refused()) == ({}, {})


def test_a_plugin_may_be_an_object_in_a_module(offer: Path) -> None:
    text = "import good_one\nclass Group:\n    inner = good_one\n"
    (offer / "group_one.py").write_text(text)
    (offer / "first-1.0.dist-info" / "entry_points.txt").write_text(
        f"[{GROUP}]\ngood=group_one:Group.inner\n"
    )
    code = "from forsy_retrace.registry import load; print(load('good').SHOWS.harness)"
    there = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(offer)!r}); {code}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert there.stdout == "Stranger\n"
