"""Holds a trace that an agent wrote about itself against the log of what it did."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import msgspec

from forsy_retrace.adapter import Adapter, files_of
from forsy_retrace.builder import build
from forsy_retrace.convert import unwritten
from forsy_retrace.document import draft
from forsy_retrace.errors import UnreadableInput
from forsy_retrace.events import sessions
from forsy_retrace.logs import opened
from forsy_retrace.printings import printings
from forsy_retrace.redact import Redacted, Rules, leaves, redact
from forsy_retrace.registry import load
from forsy_retrace.source import Source
from forsy_retrace.trace import Trace

from .claimed import Claimed, read_claimed
from .claims import findings
from .finding import Finding
from .judge import Bench, Judged, LeftOut
from .likeness import forget
from .profile import Claim, Logged, places_of

__all__ = ["Audit", "audit"]


class Audit(msgspec.Struct, frozen=True):
    """What came of an audit. Its texts are as they stand: `masked` is the only way to show them."""

    claimed: Claimed
    trace: Trace
    source: Source
    adapter: str
    steps: tuple[Judged, ...]
    left_out: tuple[LeftOut, ...]
    claims: tuple[Finding, ...]
    masked: Redacted
    rules: Rules

    @property
    def faults(self) -> int:
        """How many steps and claims the log speaks against, or shows nothing of."""
        steps = sum(one.verdict not in ("confirmed", "administrative") for one in self.steps)
        return steps + sum(one.verdict in ("altered", "unsupported") for one in self.claims)


def audit(
    claimed: Path,
    log: Path,
    adapter: str = "auto",
    rules: Rules = Rules(),  # noqa: B008 (Rules is frozen)
    conversation: str = "",
) -> Audit:
    """The verdict on each step and claim; raises RetraceError where either can't be read."""
    told = read_claimed(claimed)
    source, name = opened(log, adapter)
    module = load(name)
    trace = _likest(told, _traces(source, name, module, conversation))
    if trace is None:
        raise UnreadableInput(f"{source.name}: no session with steps in it")
    content = draft(trace)
    hidden = list(unwritten(content, files_of(module, source)))
    also = chain(hidden, leaves(told.whole, ours=False))
    masked = redact(content, rules, also, printings(trace.session.events))
    bench = Bench(told, trace, module.SHOWS, (text for text, _ in hidden))
    found = findings(bench)
    judged, left_out = tuple(bench.judged), tuple(bench.left_out)
    forget()
    return Audit(told, trace, source, name, judged, left_out, tuple(found), masked, rules)


def _traces(source: Source, name: str, module: Adapter, conversation: str) -> Iterator[Trace]:
    for session in sessions(module.read(source)):
        if session.events and conversation in ("", session.id):
            trace = build(session, name, module.SHOWS)
            if trace.steps:
                yield trace


def _likest(claimed: Claimed, traces: Iterator[Trace]) -> Trace | None:
    """Of a log's sessions the one of the claimed id, else the one that shows most of its steps."""
    best: Trace | None = None
    most = -1
    for trace in traces:
        if trace.trace_id == claimed.whole.get("trace_id"):
            return trace
        places = places_of(trace.steps)
        keys = {key for step in trace.steps for key in Logged(step, places).keys}
        count = sum(key in keys for step in claimed.steps for key in Claim(step, places).keys)
        if count > most:
            best, most = trace, count
    return best
