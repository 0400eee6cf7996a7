"""Where in a record an event stands."""

from forsy_retrace.events import Origin

from .lines import Line


def at(here: Origin, path: str, line: Line | None = None) -> Origin:
    """Another place of the same record."""
    prefix = line.prefix if line else ""
    return Origin(here.evidence.at(prefix + path), here.at, here.actor, here.message, here.branch)


def deeper(here: Origin, key: str) -> Origin:
    """A place below the one at hand."""
    return at(here, f"{here.evidence.pointer}/{key}")
