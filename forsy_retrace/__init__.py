"""Retraces logs of agent work into Forsy traces: structured, honest, with the bytes to prove it.

>>> from forsy_retrace import read, build, sessions

The command line is `forsy-retrace --help`; how to write an adapter is in adapters/README.md.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from forsy_retrace.version import VERSION as __version__

if TYPE_CHECKING:
    from forsy_retrace.builder import build
    from forsy_retrace.convert import convert, read
    from forsy_retrace.events import (
        Attachment,
        Change,
        Delegation,
        Event,
        Fact,
        Message,
        Notice,
        Origin,
        Session,
        SessionStart,
        Skipped,
        Thinking,
        ToolCall,
        ToolResult,
        sessions,
    )
    from forsy_retrace.source import Source
    from forsy_retrace.trace import Step, Trace

MODULES = {
    "build": "builder",
    "convert": "convert",
    "read": "convert",
    "Source": "source",
    "Step": "trace",
    "Trace": "trace",
}
"""Where a public name comes from, if not from `events`; each is imported when first used."""

__all__ = [
    "Attachment",
    "Change",
    "Delegation",
    "Event",
    "Fact",
    "Message",
    "Notice",
    "Origin",
    "Session",
    "SessionStart",
    "Skipped",
    "Source",
    "Step",
    "Thinking",
    "ToolCall",
    "ToolResult",
    "Trace",
    "__version__",
    "build",
    "convert",
    "read",
    "sessions",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'forsy_retrace' has no attribute {name!r}")
    value = getattr(import_module(f"forsy_retrace.{MODULES.get(name, 'events')}"), name)
    # The module `convert` would else take the place of the function once it is imported.
    globals()[name] = value
    return value
