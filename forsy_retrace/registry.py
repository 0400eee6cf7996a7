"""Which adapters there are: bundled modules first, then those that other packages offer.

A module of another package is listed by name and imported only when it is named.
"""

import importlib
import os
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from forsy_retrace.errors import RetraceError, StrangersFault, where
from forsy_retrace.patterns import later

if TYPE_CHECKING:
    from forsy_retrace.adapter import Adapter
    from forsy_retrace.source import Source

GROUP = "forsy_retrace.adapters"
NAME = later(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
"""How an adapter may be called; its module has `_` in place of `-`."""

COMMANDS = (
    "adapters",
    "audit",
    "auto",
    "batch",
    "check",
    "events",
    "new-adapter",
    "redact",
    "scan",
    "show",
    "validate",
    "verify",
)
"""What the command line calls its own commands: no adapter of that name could be called."""


@cache
def home() -> Path:
    """The folder of the adapters that come with this package."""
    spec = find_spec("forsy_adapters")
    return Path((spec.submodule_search_locations or [""])[0]) if spec else Path()


def bundled() -> list[str]:
    """The names of the adapters that come with this package."""
    return list(_named(home(), home().stat().st_mtime_ns))


@lru_cache(maxsize=1)
def _named(folder: Path, changed: int) -> tuple[str, ...]:
    """The adapters of a folder, as it was when it last changed."""
    found = (
        path.stem.replace("_", "-")
        for path in folder.iterdir()
        if not path.name.startswith(("_", ".")) and (path.suffix == ".py" or path.is_dir())
    )
    return tuple(sorted(found))


def plugins() -> dict[str, str]:
    """The adapters that other packages offer, by name; the values say where they are."""
    return {name: values[0] for name, values in _offered().items() if not _refusal(name, values)}


def refused() -> dict[str, str]:
    """The names under which other packages offer what is not taken, and why."""
    found = {name: _refusal(name, values) for name, values in _offered().items()}
    return {name: why for name, why in found.items() if why}


def _offered() -> dict[str, list[str]]:
    """Name to the places that packages give for it; nothing is imported."""
    if os.environ.get("FORSY_NO_PLUGINS"):
        return {}
    from importlib.metadata import entry_points

    found: dict[str, list[str]] = {}
    for name, value in sorted((one.name, one.value) for one in entry_points(group=GROUP)):
        places = found.setdefault(name, [])
        if value not in places:
            places.append(value)
    return found


def _refusal(name: str, values: list[str]) -> str:
    if name in bundled():
        return "a bundled adapter has that name"
    if name in COMMANDS:
        return "a command has that name"
    if len(values) > 1:
        return "several packages offer an adapter of that name"
    return "" if NAME.fullmatch(name) else "no name for an adapter"


def load(name: str) -> "Adapter":
    """The adapter of that name. Only this one is imported."""
    return _own(name) if name in bundled() else _offered_by_others(name)


@cache
def _own(name: str) -> "Adapter":
    return _checked(name, importlib.import_module(f"forsy_adapters.{name.replace('-', '_')}"))


def _offered_by_others(name: str) -> "Adapter":
    offered = plugins()
    if name not in offered:
        if why := refused().get(name):
            raise RetraceError(f"the adapter {name} is refused: {why}")
        known = ", ".join([*bundled(), *offered])
        raise RetraceError(
            f"no adapter, ours or an installed package's, has that name; known: {known}"
        )
    from importlib.metadata import EntryPoint

    from forsy_retrace.plugin_guard import Stranger, aside

    try:
        with aside():
            adapter = _checked(name, EntryPoint(name, offered[name], GROUP).load())
    except (Exception, SystemExit) as error:  # a stranger's module may raise anything
        if isinstance(error, RetraceError):
            raise
        why = f"the adapter {name} can't be loaded: {where(error)}{_lack(error)}"
        raise RetraceError(why) from error
    _strangers[name] = str(getattr(adapter, "__file__", None) or name)
    return Stranger(name, adapter)


def _lack(error: BaseException) -> str:
    """The module that an import did not find, or that lacks what was asked of it."""
    name = error.name if isinstance(error, ImportError) else None
    if not name or not name.isascii():
        return ""
    if isinstance(error, ModuleNotFoundError):
        return f" (no module {name})"
    return f" ({name} lacks a name that it imports: is it made for another version?)"


_strangers: dict[str, str] = {}
"""The adapters of others that this process loaded, and their modules' files."""


def blamed(error: BaseException) -> str:
    """Whose fault an unforeseen error is, and where it was raised; never what it says."""
    import traceback

    files = {frame.filename for frame in traceback.extract_tb(error.__traceback__)}
    for name, file in _strangers.items():
        if file in files:
            return f"the adapter {name} fails: {where(error)}"
    return f"our own fault: {where(error)}"


def _checked(name: str, adapter: object) -> "Adapter":
    from forsy_retrace.adapter import Adapter
    from forsy_retrace.sdk import Shows

    lacks = [one for one in ("sniff", "read") if not callable(getattr(adapter, one, None))]
    if not isinstance(getattr(adapter, "SHOWS", None), Shows):
        lacks.append("SHOWS (a Shows)")
    if lacks or not isinstance(adapter, Adapter):
        raise RetraceError(f"the adapter {name} lacks {', '.join(lacks)}")
    return adapter


def identify(source: "Source", also: tuple[str, ...] = ()) -> list[str]:
    """The names of the adapters that claim a log; more than one is a mistake of theirs.

    Those of other packages are asked first, and only where they are named: what they claim is
    theirs, for a bundled one may know no more of it than its form.
    """
    own = bundled()
    asked = [name for name in dict.fromkeys(also) if name not in own]
    claimed = [name for name in asked if _claims(name, source)]
    return claimed or [name for name in own if _own(name).sniff(source)]


def _claims(name: str, source: "Source") -> bool:
    adapter = load(name)
    try:
        return adapter.sniff(source)
    except StrangersFault:
        raise
    except Exception as error:  # a stranger's module may raise anything
        raise StrangersFault(f"the adapter {name} fails: {type(error).__name__} in sniff") from None
