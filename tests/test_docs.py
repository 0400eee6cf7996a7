"""What the documents say is so: commands run, options exist, excerpts are real."""

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
import pytest
from asked import run

from forsy_retrace.cli import main
from forsy_retrace.registry import bundled

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "fixtures" / "claude-code" / "push-pull-push" / "input.jsonl"
README = ROOT / "README.md"
DOCUMENTS = sorted(
    path
    for path in (
        README,
        ROOT / "SECURITY.md",
        ROOT / "adapters" / "README.md",
        *ROOT.glob("docs/*.md"),
    )
    if path.is_file()
)

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.M | re.S)
INLINE = re.compile(r"`([^`\n]+)`")
OPTION = re.compile(r"(?<![\w-])--?[a-zA-Z][\w-]*")
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#]+)")

COMMANDS = {
    name: command
    for name in main.list_commands(click.Context(main))
    if (command := main.get_command(click.Context(main), name)) is not None
}
OURS = {"forsy-retrace", ".venv/bin/forsy-retrace"}
A_STRANGERS = "my-tool"
"""The adapter that the guide for writing one writes."""
OF_OTHERS = {"-m", "-q", "-e"}
"""Options of python and pip that the set-up lines use."""


def text_of(path: Path) -> str:
    return path.read_text("utf-8")


def blocks(path: Path, kind: str) -> list[str]:
    return [body for name, body in BLOCK.findall(text_of(path)) if name == kind]


def shell_lines() -> Iterator[tuple[str, str]]:
    """Every line of every block of shell commands, with its document's name."""
    for path in DOCUMENTS:
        for body in blocks(path, "sh"):
            for line in body.replace("\\\n", " ").splitlines():
                if line.strip() and not line.lstrip().startswith("#"):
                    yield path.relative_to(ROOT).as_posix(), line.strip()


LINES = list(shell_lines())


def commands_in(line: str) -> list[list[str]]:
    """The words of each command of a line, redirections and comments left out."""
    parts = re.split(r"&&|\|\||;|\|", re.sub(r"\s#.*| >+ ?\S+", "", line))
    return [shlex.split(part) for part in parts if part.strip()]


def own_options(words: list[str]) -> list[str]:
    return [word.split("=")[0] for word in words if OPTION.fullmatch(word.split("=")[0])]


def known_options(command: click.Command | None) -> set[str]:
    found = {"--help", "-h"}
    for option in command.params if command else ():
        found.update((*option.opts, *option.secondary_opts))
    return found


ALL_OPTIONS = {"--version", "-V"}.union(*(known_options(one) for one in COMMANDS.values()))


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with what the documents' commands take for granted."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    shutil.copytree(EXAMPLE.parent, tmp_path / "fixtures" / "claude-code" / "push-pull-push")
    projects = tmp_path / ".claude" / "projects" / "my-app"
    projects.mkdir(parents=True)
    for name in (projects / "a.jsonl", *map(tmp_path.joinpath, ("session.jsonl", "LOG", "FILE"))):
        shutil.copy(EXAMPLE, name)
    return tmp_path


def ask(words: list[str]) -> tuple[int, str]:
    done = run(*words)
    return done.exit_code, done.output


def expanded(words: list[str]) -> list[str]:
    return [str(Path(word).expanduser()) if word.startswith("~") else word for word in words]


@pytest.mark.parametrize(("document", "line"), LINES, ids=[line for _, line in LINES])
def test_every_command_of_a_document_runs(document: str, line: str, shop: Path) -> None:
    """Set-up lines are read only: nothing is installed here."""
    ask(["claude-code", "session.jsonl", "-o", "trace", "-q"])
    for words in commands_in(line):
        if words[0] in OURS:
            code, output = ask(expanded(words[1:]))
            assert code == 0, (document, output)
        elif words[:3] == ["python3", "-m", "venv"]:
            assert words[3:] == [".venv"]
        elif words[0] == ".venv/bin/pip":
            assert words[1] == "install"
            for word in words[2:]:
                if not word.startswith("-"):
                    path, extras = word.partition("[")[::2]
                    assert (ROOT / path / "pyproject.toml").is_file()
                    assert extras in ("", "test]", "dev]", "tokens]", "recordings]")
        elif words[0] in (".venv/bin/pytest", "pytest"):
            for before, word in pairwise(words):
                is_marker = before == "-m" and f'"{word}: ' in text_of(ROOT / "pyproject.toml")
                is_path = (ROOT / word.split("::")[0]).exists()
                assert word.startswith("-") or is_marker or is_path
        elif words[0] == "just":
            assert re.search(rf"^{words[1]}( .*)?:", text_of(ROOT / "justfile"), re.M)
        else:
            assert words[0].partition("=")[0] in ("git", "cd", "FORSY_UPDATE_GOLDENS"), document


INLINE_COMMANDS = [
    code
    for code in INLINE.findall(BLOCK.sub("", text_of(README)))
    if code.split()[0] in OURS and len(code.split()) > 1
]


@pytest.mark.parametrize("code", INLINE_COMMANDS)
def test_every_command_in_a_sentence_of_the_readme_runs(code: str, shop: Path) -> None:
    words = code.split()[1:]
    log = "LOG" if "LOG" in words else "session.jsonl"
    ask(["claude-code", log, "-o", "trace", "-q"])
    code_of_exit, output = ask(expanded(words))
    assert code_of_exit == 0 or (words[0] == "scan" and code_of_exit == 1), output


def test_the_readme_has_both_set_up_lines() -> None:
    lines = [line for document, line in LINES if document == "README.md"]
    made = [line for line in lines if line.startswith("python3 -m venv .venv && .venv/bin/pip")]
    assert [line.rsplit("&& ", 1)[1].split()[0] for line in made] == [
        ".venv/bin/forsy-retrace",
        ".venv/bin/pytest",
    ]


def test_every_path_of_a_set_up_line_is_in_the_checkout() -> None:
    for document, line in LINES:
        for word in shlex.split(line):
            if word.startswith(("fixtures/", "tests/", "docs/", "benchmarks/")):
                assert (ROOT / word).exists(), (document, word)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_option_that_a_document_names_exists(path: Path) -> None:
    """A `forsy-retrace` command has its own options; a lone `--option` is one of any command's."""
    for code in INLINE.findall(BLOCK.sub("", text_of(path))):
        words = code.split()
        if words[0] in OURS:
            named = known_options(COMMANDS.get(words[1]))
            if words[1] in COMMANDS or words[1].startswith("-"):
                assert set(own_options(words)) <= (named if words[1] in COMMANDS else ALL_OPTIONS)
        elif path == README and words[0].startswith("-"):
            assert set(own_options(words)) <= ALL_OPTIONS | OF_OTHERS, code
        elif words[0].startswith("--") and path.parent == ROOT:
            assert set(own_options(words)) <= ALL_OPTIONS, code
    for body in blocks(path, "sh"):
        for line in body.splitlines():
            for words in commands_in(line):
                if words[0] in OURS:
                    assert set(own_options(words)) <= known_options(COMMANDS.get(words[1]))


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_command_that_a_document_names_exists(path: Path) -> None:
    for found in re.finditer(r"(?<=`)forsy-retrace ([a-z][a-z-]*)", text_of(path)):
        assert found[1] in COMMANDS or found[1] == A_STRANGERS, found[0]


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_the_readme_names_every_command(command: str) -> None:
    named = f"`{command}`" if command in bundled() else f"`forsy-retrace {command}"
    assert named in text_of(README)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_link_of_a_document_leads_somewhere(path: Path) -> None:
    for link in LINK.findall(BLOCK.sub("", text_of(path))):
        assert (path.parent / link.strip()).exists(), link


PLACE = re.compile(r"`((?:forsy_retrace|adapters|fixtures|tests|docs)/[\w./-]*)")


def test_the_way_through_the_code_names_every_room() -> None:
    told = text_of(ROOT / "docs" / "code.md")
    places = set(PLACE.findall(told))
    for place in places:
        assert (ROOT / place).exists(), place
    rooms = {
        f"{path.parent.relative_to(ROOT).as_posix()}/"
        for top in ("forsy_retrace", "forsy_retrace/builder")
        for path in (ROOT / top).glob("*/__init__.py")
    }
    assert rooms <= places


def test_every_exit_code_that_the_readme_names_is_one_of_ours() -> None:
    from forsy_retrace.cli.group import INTERRUPTED, OUR_FAULT, UNREAD
    from forsy_retrace.errors import RetraceError

    codes = {0, 1, RetraceError.exit_code, INTERRUPTED, OUR_FAULT, UNREAD}
    codes.update(one.exit_code for one in RetraceError.__subclasses__())
    (sentence,) = re.findall(r"^Exit codes: (.*?)\n\n", text_of(README), re.M | re.S)
    assert {int(number) for number in re.findall(r"(?:^|· )(\d+) ", sentence)} == codes


# excerpts


@pytest.fixture
def example(shop: Path) -> Path:
    assert ask(["claude-code", "session.jsonl", "-o", "trace", "-q"])[0] == 0
    return shop / "trace"


def is_part(said: Any, whole: Any) -> bool:
    """What the document shows stands in the real thing; it may leave keys out."""
    if isinstance(said, dict) and isinstance(whole, dict):
        return all(key in whole and is_part(value, whole[key]) for key, value in said.items())
    return bool(said == whole)


def test_the_overview_in_the_readme_is_what_show_prints(example: Path) -> None:
    (shown,) = [body for body in blocks(README, "text") if re.search(r"^ +1  user", body, re.M)]
    assert ask(["show", str(example)])[1].rstrip() == shown.rstrip()


def test_the_values_in_the_readme_stand_in_the_trace(example: Path) -> None:
    steps = json.loads((example / "trace.json").read_bytes())["steps"]
    rows = [json.loads(line) for line in (example / "evidence.jsonl").read_bytes().splitlines()]
    said = [json.loads(body) for body in blocks(README, "json")]
    assert said
    for one in said:
        real = [*steps, *rows, *(row["fields"] for row in rows)]
        assert any(is_part(one, value) for value in real), one


def test_the_readme_tells_as_many_fields_as_a_step_has(example: Path) -> None:
    steps = json.loads((example / "trace.json").read_bytes())["steps"]
    (count,) = set(re.findall(r"(\d+) fields", text_of(README)))
    assert {len(step) for step in steps} == {int(count)}
