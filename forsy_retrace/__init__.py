"""Retraces logs of agent work into Forsy traces: structured, honest, with the bytes to prove it.

>>> from forsy_retrace import build, convert, read, sessions

The command line is `forsy-retrace --help`. docs/sdk.md lists every public name; how to write an
adapter is in adapters/README.md.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from forsy_retrace.version import VERSION as __version__

if TYPE_CHECKING:
    from forsy_retrace.builder import build
    from forsy_retrace.convert import Options, Refused, convert, read
    from forsy_retrace.errors import RetraceError
    from forsy_retrace.events import (
        Attachment,
        Change,
        Delegation,
        Event,
        Fact,
        Meant,
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
    from forsy_retrace.writers import Written

MODULES = {
    "Options": "convert",
    "Refused": "convert",
    "RetraceError": "errors",
    "Written": "writers",
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
    "Meant",
    "Message",
    "Notice",
    "Options",
    "Origin",
    "Refused",
    "RetraceError",
    "Session",
    "SessionStart",
    "Skipped",
    "Source",
    "Step",
    "Thinking",
    "ToolCall",
    "ToolResult",
    "Trace",
    "Written",
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
    globals()[name] = value
    return value


class _Package(ModuleType):
    """Keeps the module `convert` from taking the function's place when it is imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in MODULES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
