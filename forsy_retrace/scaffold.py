"""A new adapter's files: in a checkout of this project, or as a package of its own."""

import importlib.util
import keyword
import shutil
import sys
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

from forsy_retrace.adapter import Adapter
from forsy_retrace.errors import DiskTrouble, RetraceError
from forsy_retrace.registry import COMMANDS, NAME, bundled, plugins, refused
from forsy_retrace.testing import Case, write_goldens

LONGEST = 40
CASE = "first-words"
IN_CHECKOUT = {
    "module.py": "adapters/forsy_adapters/my_tool.py",
    "input.txt": f"fixtures/my-tool/{CASE}/input.jsonl",
}
AS_PACKAGE = {
    "pyproject.txt": "forsy-retrace-my-tool/pyproject.toml",
    "README.txt": "forsy-retrace-my-tool/README.md",
    "module.py": "forsy-retrace-my-tool/forsy_retrace_my_tool.py",
    "test.txt": "forsy-retrace-my-tool/tests/test_adapter.py",
    "input.txt": f"forsy-retrace-my-tool/tests/fixtures/{CASE}/input.jsonl",
}
"""Template to the file that it becomes."""


def new_adapter(name: str, place: Path, package: bool = False) -> list[Path]:
    """Writes a working adapter with its first case, read into goldens; gives what was made.

    Into the checkout that holds `place`, if one does; else, or for a `package`, below `place`.
    """
    _check_name(name)
    root = None if package else checkout_of(place)
    plan = IN_CHECKOUT if root is not None else AS_PACKAGE
    root = root if root is not None else place
    made = {root / _named(path, name): _text(template, name) for template, path in plan.items()}
    fresh = {_new_folder(root, path) for path in made}
    for path in (*sorted(fresh), *made):
        if path.exists() or path.is_symlink():
            raise RetraceError(f"{path.name} is there already; nothing was written")
    module, log = (root / _named(plan[one], name) for one in ("module.py", "input.txt"))
    try:
        for path, text in made.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        write_goldens(adapter_in(module), Case(name, log.parent))
    except (OSError, DiskTrouble) as error:
        for path in fresh:
            _take_away(path)
        why = (error.strerror if isinstance(error, OSError) else None) or error
        raise DiskTrouble(f"{why}: nothing was made") from None
    return [*made, log.parent / "events.jsonl", log.parent / "trace"]


def _take_away(path: Path) -> None:
    """What was made of an adapter before the disk gave out."""
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


def checkout_of(place: Path) -> Path | None:
    """The checkout of this project that holds a folder."""
    place = place.resolve()
    for folder in (place, *place.parents):
        if (folder / "adapters" / "forsy_adapters").is_dir() and (folder / "fixtures").is_dir():
            return folder
    return None


def adapter_in(module: Path) -> Adapter:
    """The adapter that a file holds, wherever it lies."""
    spec = importlib.util.spec_from_file_location(f"_forsy_new_{module.stem}", module)
    assert spec is not None
    assert spec.loader is not None
    adapter = importlib.util.module_from_spec(spec)
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(adapter)
    finally:
        sys.dont_write_bytecode = writes
    if not isinstance(adapter, Adapter):
        raise RetraceError(f"{module.name} lacks sniff, read or SHOWS")
    return adapter


def _check_name(name: str) -> None:
    if not NAME.fullmatch(name) or len(name) > LONGEST or keyword.iskeyword(_module(name)):
        raise RetraceError("an adapter's name is a few words in small letters: my-tool")
    if name in bundled():
        raise RetraceError(f"a bundled adapter is called {name}; choose another name")
    if name in plugins() or name in refused():
        raise RetraceError(f"an installed package offers an adapter {name}; choose another name")
    if name in COMMANDS:
        raise RetraceError(f"{name} is a command; choose another name")


def _module(name: str) -> str:
    return name.replace("-", "_")


def _named(text: str, name: str) -> str:
    """A template's text, of the adapter of that name."""
    shown = name.replace("-", " ").capitalize()
    return text.replace("My tool", shown).replace("my_tool", _module(name)).replace("my-tool", name)


def _text(template: str, name: str) -> str:
    folder = files("forsy_retrace").joinpath("data/new_adapter")
    return _named(folder.joinpath(template).read_text("utf-8"), name)


def _new_folder(root: Path, path: Path) -> Path:
    """What must not be there yet: a package's folder, the adapter's fixtures, its file."""
    parts = path.relative_to(root).parts
    if parts[0] == "fixtures":
        return root / parts[0] / parts[1]
    return path if parts[0] == "adapters" else root / parts[0]
