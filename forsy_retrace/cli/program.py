"""The program's end: what a long log was made into is not taken apart object by object."""

import io
import os
import signal
import sys
import threading
from typing import NoReturn

from forsy_retrace.errors import Terminated

from .group import main

ORDERLY = ("multiprocessing", "ray")
"""Modules that have something to put away at the end."""


def run() -> NoReturn:
    """Runs the command line, then leaves at once: taking memory apart is a tenth of a short run."""
    _open_the_streams()
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminated)
    try:
        main()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            _leave(end.code or 0)
        raise
    raise SystemExit(0)


def _terminated(number: int, frame: object) -> NoReturn:
    """The first time it is an end like that by Ctrl-C; the second time it is one at once."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    raise Terminated


def _open_the_streams() -> None:
    """A closed stream is as good as the null device; what a terminal can't show is written out."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # Held until the end; the lowest free number is the closed one's own.
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _leave(code: int) -> None:
    """Leaves, if nothing waits for an orderly end: a pool, an engine, or output that can't go."""
    if threading.active_count() > 1 or any(name in sys.modules for name in ORDERLY):
        return
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        return
    os._exit(code)
