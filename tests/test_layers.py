"""Who may import whom, and what may not be imported before it is needed."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "forsy_retrace"
ADAPTERS = ROOT / "adapters" / "forsy_adapters"

LAYERS: tuple[tuple[str, ...], ...] = (
    ("endings", "patterns", "tables", "version"),
    ("rule_cache", "errors", "evidence", "memory", "nested", "terminal", "times"),
    ("frames",),
    ("events",),
    ("source",),
    ("sdk",),
    ("calls", "dialects"),
    ("data",),  # the template of an adapter imports what an adapter may
    ("commands",),
    ("adapter", "choose", "plugin_guard", "trace"),
    ("tokens",),
    ("builder", "registry"),
    ("document", "redaction"),
    ("trace_folder", "logs", "printings", "validate"),
    ("redact",),
    ("writers",),
    ("verify",),
    ("convert", "release", "scrub", "show"),
    ("audit", "batch", "report", "testing"),
    ("scaffold",),
    ("cli",),
    ("__main__",),
)
"""A module imports from the layers above its own, or from its own package."""
FOR_ADAPTERS = {"events", "source", "sdk", "calls", "dialects"}

HEAVY = (
    "ahocorasick_rs",
    "asyncio",
    "concurrent.futures.process",
    "dateutil",
    "fsspec",
    "jsonschema",
    "jsonschema_rs",
    "msgspec",
    "orjson",
    "pyarrow",
    "pyte",
    "pytest",
    "ray",
    "re2",
    "requests",
    "rich",
    "tiktoken",
    "tomli",
    "tree_sitter",
    "tree_sitter_bash",
    "tree_sitter_javascript",
    "zipfile",
    "zstandard",
)

RARE = frozenset(HEAVY) - {"ahocorasick_rs", "jsonschema_rs", "msgspec", "orjson", "tomli"}
"""What a plain session of an agent doesn't need."""

HEIGHT = {name: height for height, layer in enumerate(LAYERS) for name in layer}
FILES = sorted(path.relative_to(CORE).as_posix() for path in CORE.rglob("*.py"))
ADAPTER_FILES = sorted(path.relative_to(ADAPTERS).as_posix() for path in ADAPTERS.rglob("*.py"))


def place_of(file: str) -> str:
    """The module or package directly below forsy_retrace that a file belongs to."""
    return file.split("/")[0].removesuffix(".py")


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Every node of a file's syntax."""
    return list(ast.walk(ast.parse(path.read_bytes())))


def imported(path: Path, package: str) -> Iterator[str]:
    """The full name of every module that a file imports, in functions too."""
    for node in nodes(path):
        match node:
            case ast.Import(names=names):
                yield from (one.name for one in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                parts = package.split(".")
                base = ".".join(parts[: len(parts) - level + 1]) if level else ""
                name = ".".join(part for part in (base, module) if part)
                if name in ("forsy_retrace", "forsy_adapters"):
                    yield from (f"{name}.{one.name}" for one in names)
                else:
                    yield name


def ours(names: Iterator[str]) -> list[str]:
    return [name.split(".")[1] for name in names if name.startswith("forsy_retrace.")]


def package_of(root: str, file: str) -> str:
    return ".".join([root, *file.split("/")[:-1]])


def test_every_module_has_a_place() -> None:
    assert {place_of(file) for file in FILES} - {"__init__"} == HEIGHT.keys()


def test_modules_import_only_from_the_layers_above() -> None:
    odd = [
        f"{file} imports {name}"
        for file in FILES
        if file != "__init__.py"
        for name in ours(imported(CORE / file, package_of("forsy_retrace", file)))
        if name != place_of(file) and HEIGHT[name] >= HEIGHT[place_of(file)]
    ]
    assert not odd


def test_nobody_imports_an_adapter() -> None:
    odd = [
        f"{file} imports {name}"
        for file in FILES
        for name in imported(CORE / file, package_of("forsy_retrace", file))
        if name.split(".")[0] == "forsy_adapters"
    ]
    assert not odd


def test_adapters_import_only_what_the_sdk_offers() -> None:
    odd = [
        f"{file} imports {name}"
        for file in ADAPTER_FILES
        for name in imported(ADAPTERS / file, package_of("forsy_adapters", file))
        if not _is_offered(name, place_of(file))
    ]
    assert not odd


def _is_offered(name: str, own: str) -> bool:
    root, _, rest = name.partition(".")
    if root not in ("forsy_retrace", "forsy_adapters"):
        return True
    part = rest.split(".")[0]
    return part in FOR_ADAPTERS if root == "forsy_retrace" else part == own or part.startswith("_")


def imported_by(*command: str) -> set[str]:
    """The top-level names of all modules that a Python process imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", *command],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = (line.rsplit("|", 1)[-1] for line in done.stderr.splitlines() if "|" in line)
    names = {row.strip() for row in rows}
    return names | {name.split(".")[0] for name in names}


def test_help_imports_nothing_heavy() -> None:
    found = imported_by("-m", "forsy_retrace", "--help")
    assert "click" in found
    assert not found.intersection(HEAVY)


def test_a_plain_conversion_imports_nothing_that_only_others_need(tmp_path: Path) -> None:
    log = ROOT / "fixtures" / "claude-code" / "push-pull-push" / "input.jsonl"
    words = ("-m", "forsy_retrace", "claude-code", str(log), "-q", "-o", str(tmp_path / "t"))
    found = imported_by(*words)
    assert "orjson" in found
    assert not found.intersection(RARE)


def test_the_laws_can_be_had_without_pytest() -> None:
    modules = "forsy_retrace.testing.check, forsy_retrace.scaffold"
    assert "pytest" not in imported_by("-c", f"import {modules}")
