"""A new adapter works from its first minute, in a checkout and as a package of its own."""

import os
import re
import resource
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from asked import run

from forsy_retrace.errors import RetraceError
from forsy_retrace.registry import GROUP
from forsy_retrace.scaffold import adapter_in, checkout_of, new_adapter
from forsy_retrace.testing import LAWS, Case, Law

pytestmark = pytest.mark.slow


ROOT = Path(__file__).resolve().parents[1]
TEMPLATE = ROOT / "forsy_retrace" / "data" / "new_adapter" / "module.py"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("home")
    new_adapter("nimbus-log", place)
    return place / "forsy-retrace-nimbus-log"


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("checkout")
    (root / "adapters" / "forsy_adapters").mkdir(parents=True)
    (root / "fixtures").mkdir()
    new_adapter("nimbus-log", root / "fixtures")
    return root


def contents(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


TRACE = ("README.md", "evidence.jsonl", "manifest.json", "trace.json")


def test_a_package_has_these_files(package: Path) -> None:
    case = "tests/fixtures/first-words"
    assert contents(package) == sorted(
        [
            "README.md",
            "forsy_retrace_nimbus_log.py",
            "pyproject.toml",
            "tests/test_adapter.py",
            f"{case}/events.jsonl",
            f"{case}/input.jsonl",
            *(f"{case}/trace/{name}" for name in TRACE),
        ]
    )


def test_a_checkout_gains_one_file_and_one_folder(checkout: Path) -> None:
    case = "fixtures/nimbus-log/first-words"
    assert contents(checkout) == sorted(
        [
            "adapters/forsy_adapters/nimbus_log.py",
            f"{case}/events.jsonl",
            f"{case}/input.jsonl",
            *(f"{case}/trace/{name}" for name in TRACE),
        ]
    )


@pytest.mark.parametrize("limit", [0, 300, 4000])
@pytest.mark.parametrize("folders", [(), ("adapters/forsy_adapters", "fixtures")])
def test_a_full_disk_leaves_nothing(limit: int, folders: tuple[str, ...], tmp_path: Path) -> None:
    """A cap on the size of files stands in for it: in the first file, the module, the goldens."""

    def cramped() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    for folder in folders:
        (tmp_path / folder).mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))
    done = subprocess.run(
        [sys.executable, "-m", "forsy_retrace", "new-adapter", "nimbus-log", "-o", tmp_path],
        preexec_fn=cramped,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},  # Python would cut its own files off
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (74, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith(": nothing was made\n")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_a_new_adapter_keeps_every_law(law: Law, package: Path, checkout: Path) -> None:
    for module, case in (
        (package / "forsy_retrace_nimbus_log.py", package / "tests/fixtures/first-words"),
        (
            checkout / "adapters/forsy_adapters/nimbus_log.py",
            checkout / "fixtures/nimbus-log/first-words",
        ),
    ):
        law(adapter_in(module), Case("nimbus-log", case))


@pytest.mark.slow
def test_its_own_tests_pass_from_the_first_minute(package: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "not survives"],
        cwd=package,
        env={**os.environ, "FORSY_LAWS": "quick", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    assert f"{len(LAWS) - 2} passed, 2 deselected" in done.stdout


def test_its_test_has_four_lines(package: Path) -> None:
    lines = (package / "tests/test_adapter.py").read_text("utf-8").splitlines()
    assert len([line for line in lines if line.strip()]) == 4


def test_it_is_found_by_its_entry_point(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    points = tomllib.loads((package / "pyproject.toml").read_text("utf-8"))["project"]
    assert points["name"] == "forsy-retrace-nimbus-log"
    ((name, module),) = points["entry-points"][GROUP].items()
    info = package / "forsy_retrace_nimbus_log-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: x\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\n{name} = {module}\n")
    monkeypatch.syspath_prepend(str(package))
    log = package / "tests/fixtures/first-words/input.jsonl"
    done = run("check", "nimbus-log", log, "--quick")
    assert (done.exit_code, done.output) == (0, "1 log, 0 broken laws.\n")
    with pytest.raises(RetraceError, match=r"^an installed package offers an adapter nimbus-log;"):
        new_adapter("nimbus-log", package)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("MyTool", "an adapter's name is a few words in small letters: my-tool"),
        ("my_tool", "an adapter's name is a few words in small letters: my-tool"),
        ("../away", "an adapter's name is a few words in small letters: my-tool"),
        ("class", "an adapter's name is a few words in small letters: my-tool"),
        ("a" * 41, "an adapter's name is a few words in small letters: my-tool"),
        ("codex", "a bundled adapter is called codex; choose another name"),
        ("verify", "verify is a command; choose another name"),
    ],
)
def test_a_bad_name_is_refused_in_one_line(name: str, why: str, tmp_path: Path) -> None:
    done = run("new-adapter", name, "-o", tmp_path)
    assert (done.exit_code, done.output) == (2, f"forsy-retrace: {why}\n")
    assert contents(tmp_path) == []


def test_what_is_there_already_is_left_alone(package: Path, checkout: Path) -> None:
    for place, name in ((package.parent, package.name), (checkout, "nimbus_log.py")):
        before = contents(place)
        with pytest.raises(RetraceError, match=rf"^{name} is there already; nothing was written$"):
            new_adapter("nimbus-log", place)
        assert contents(place) == before


def test_a_package_may_be_made_inside_a_checkout(checkout: Path, tmp_path: Path) -> None:
    checkout = shutil.copytree(checkout, tmp_path / "checkout")
    done = run("new-adapter", "other-log", "--package", "-o", checkout)
    assert done.exit_code == 0, done.output
    *made, last = done.output.splitlines()
    assert re.search(r"Install it: pip install -e \S*forsy-retrace-other-log\. Now make it", last)
    assert all(os.path.exists(path) for path in made)
    for path in ("pyproject.toml", "tests/fixtures/first-words/trace"):
        assert any(one.endswith(f"forsy-retrace-other-log/{path}") for one in made)
    assert (checkout / "forsy-retrace-other-log" / "pyproject.toml").is_file()


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run("new-adapter", "other-log", "-o", tmp_path / "file" / "x")
    assert (done.exit_code, len(done.output.splitlines())) == (74, 1)


def test_this_checkout_is_known_as_one(tmp_path: Path) -> None:
    assert checkout_of(ROOT / "tests") == ROOT
    assert checkout_of(tmp_path) is None


def test_the_guide_shows_the_adapter_that_is_written() -> None:
    guide = (ROOT / "adapters" / "README.md").read_text("utf-8")
    (shown, *_) = re.findall(r"^ *```python\n(.*?)^ *```", guide, re.M | re.S)
    lines = [line.removeprefix("   ") for line in shown.splitlines()]
    assert lines == TEMPLATE.read_text("utf-8").splitlines()
