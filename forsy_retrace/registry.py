"""Which adapters there are: bundled modules first, then those that other packages offer.

A module of another package is listed by name and imported only when it is named.
"""

import importlib
import os
from importlib.util import find_spec
from pathlib import Path

from forsy_retrace.adapter import Adapter
from forsy_retrace.errors import RetraceError
from forsy_retrace.source import Source

GROUP = "forsy_retrace.adapters"


def bundled() -> list[str]:
    """The names of the adapters that come with this package."""
    spec = find_spec("forsy_adapters")
    folder = Path((spec.submodule_search_locations or [""])[0]) if spec else Path()
    return sorted(
        path.stem.replace("_", "-")
        for path in folder.iterdir()
        if not path.name.startswith(("_", ".")) and (path.suffix == ".py" or path.is_dir())
    )


def plugins() -> dict[str, str]:
    """The adapters that other packages offer, by name; the values say where they are."""
    if os.environ.get("FORSY_NO_PLUGINS"):
        return {}
    from importlib.metadata import entry_points

    return {point.name: point.value for point in sorted(entry_points(group=GROUP))}


def load(name: str) -> Adapter:
    """The adapter of that name. Only this one is imported."""
    if name in bundled():
        module = f"forsy_adapters.{name.replace('-', '_')}"
    elif name in (offered := plugins()):
        module = offered[name]
    else:
        raise RetraceError(f"no adapter has that name; known: {', '.join(bundled())}")
    try:
        adapter = importlib.import_module(module)
    except Exception as error:  # a stranger's module may raise anything; it harms no other
        raise RetraceError(f"the adapter {name} can't be loaded: {type(error).__name__}") from None
    if not isinstance(adapter, Adapter):
        raise RetraceError(f"the adapter {name} lacks sniff, read or SHOWS")
    return adapter


def identify(source: Source, also: tuple[str, ...] = ()) -> list[str]:
    """The names of the adapters that claim a log; more than one is a mistake of theirs."""
    return [name for name in (*bundled(), *also) if load(name).sniff(source)]
