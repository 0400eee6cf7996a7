"""What an adapter and the builder make of a case, with every crash and hang as a broken law."""

import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from forsy_retrace.adapter import Adapter, accepts, companions
from forsy_retrace.builder import build
from forsy_retrace.errors import StrangersFault, Terminated
from forsy_retrace.events import Event, ToolResult, sessions
from forsy_retrace.evidence import Evidence
from forsy_retrace.plugin_guard import odd
from forsy_retrace.registry import load
from forsy_retrace.source import Source, reread
from forsy_retrace.testing.case import BrokenLaw, Case
from forsy_retrace.trace import Trace

PATIENCE = 10.0
"""Seconds that one reading of a case may take; of a large log, each of its megabytes."""


class Reading(msgspec.Struct, frozen=True):
    """What an adapter and the builder made of a log."""

    source: Source
    accepted: bool
    """Whether the adapter reads it where it is named."""
    events: tuple[Event, ...]
    traces: tuple[Trace, ...]
    companions: tuple[Source, ...]


def record_of(here: Evidence, sources: Mapping[str, Source]) -> Any:
    """The decoded record at a place; KeyError where no source has its file's name."""
    (data,) = sources[here.file].spans([(here.start, here.end)])
    return reread(data, here).value


def named(adapter: Adapter | str) -> Adapter:
    """The adapter itself."""
    return load(adapter) if isinstance(adapter, str) else adapter


def reading(adapter: Adapter | str, case: Case) -> Reading:
    """The case, read and built; each case is read once for the laws that only look."""
    return _reading(named(adapter), case)  # type: ignore[arg-type]  # all that we meet have a hash


@lru_cache(maxsize=64)
def _reading(own: Any, case: Case) -> Reading:
    return read(own, case.adapter, Source(case.path))


def read(adapter: Adapter, name: str, source: Source) -> Reading:
    """One log, sniffed, read and built; whatever goes wrong is a broken law."""
    with care("sniff"):
        accepted = accepts(adapter, source)
    with care("companions"):
        beside = tuple(companions(adapter, source))
    events = events_of(adapter, source)
    with care("build", source.size):
        traces = tuple(build(one, name, adapter.SHOWS) for one in sessions(events))
    return Reading(source, accepted, events, traces, beside)


def events_of(adapter: Adapter, source: Source) -> tuple[Event, ...]:
    """All events of a log, each of them one."""
    found: list[Event] = []
    try:
        with care("read", source.size):
            for event in adapter.read(source):
                found.append(event)
    except BrokenLaw as error:
        raise BrokenLaw(f"{str(error).removesuffix('.')}{_behind(found)}.") from error
    events = tuple(found)
    for event in events:
        if why := odd(event):
            raise BrokenLaw(f"read yields {why}.")
        if isinstance(event, ToolResult) and event.outcome != "unknown" and not event.rule:
            line = event.origin.evidence.line
            raise BrokenLaw(f"the result at line {line} has an outcome, and no rule that read it.")
    return events


def _behind(events: Sequence[Any]) -> str:
    """How far a reading came that broke off."""
    last = events[-1].origin.evidence if events and isinstance(events[-1], Event) else None
    return f", behind line {last.line} of {last.file}" if last and last.line else ""


class _TookTooLong(BaseException):
    """Passes through an adapter's `except Exception`."""


@contextmanager
def care(what: str, size: int = 0) -> Iterator[None]:
    """Turns what is raised inside, and a hang, into a broken law; a log of that size has longer."""
    seconds = PATIENCE * max(1.0, size / 1e6)
    try:
        with _patience(seconds):
            yield
    except (BrokenLaw, KeyboardInterrupt, SystemExit, GeneratorExit, Terminated):
        raise
    except _TookTooLong:
        raise BrokenLaw(f"{what} does not end in {seconds:.0f} seconds.") from None
    except StrangersFault as error:
        raise BrokenLaw(f"{error}.") from None
    except BaseException as error:  # a stranger's module may raise anything, panics included
        raise BrokenLaw(f"{what} raises {type(error).__name__}{_place(error)}.") from error


@contextmanager
def _patience(seconds: float) -> Iterator[None]:
    """Raises inside the block when it takes too long, where the system can."""
    if not hasattr(signal, "setitimer") or (
        threading.current_thread() is not threading.main_thread()
    ):
        yield
        return

    def ring(*_: Any) -> None:
        raise _TookTooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _place(error: BaseException) -> str:
    """The line of code that raised; what it said may quote the log."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return ""
    path = Path(trace.tb_frame.f_code.co_filename)
    return f" at {path.parent.name}/{path.name}:{trace.tb_lineno}"
