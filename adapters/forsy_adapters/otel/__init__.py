"""OpenTelemetry traces of agents: OTLP in JSON, as the collector's file exporter writes it.

A document, or one a line, of `resourceSpans`; one span a value, as the SDK for Python prints it; or
a trace that Langfuse exported, whose scores are not read. A trace for each conversation or session
that the spans name, else for each OpenTelemetry trace. Spans follow one of several conventions
(`names`); many programs leave the content out, and then the calls, times and errors alone are told.
"""

from collections.abc import Iterator

from forsy_retrace.events import Event, Origin, Skipped
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Record, Source

from .forms import RESOURCES, SIGNALS, spans
from .names import SESSION, is_clients, kind_of
from .session import Session
from .spans import Span
from .tools import TOOLS

SHOWS = Shows(
    words="mostly",
    calls="yes",
    results="mostly",
    exit_status="rarely",
    time="yes",
    cwd="no",
    reasoning="sometimes",
    edits="no",
    subagents="mostly",
    harness="OpenTelemetry",
    stores=("wherever an exporter or a collector wrote the spans as JSON",),
    cannot=(
        "whether a call worked that came back without an error, unless its result says so",
        "whether a person or a program wrote the user's turns",
        "where the agent worked",
        "which files were changed",
    ),
    marks_people=False,
    tools=TOOLS,
)


def sniff(source: Source) -> bool:
    """Spans of a convention for agents, that no coding agent's client sent of itself."""
    return any(kind_of(span) for record in source.head for span in spans(record))


def accepts(source: Source) -> bool:
    """Any spans."""
    return any(_signal(record, RESOURCES) for record in source.head)


def read(source: Source) -> Iterator[Event]:
    """Session by session, in the order in which the log first names them."""
    found: list[Span] = []
    for record in source.records():
        here = len(found)
        found.extend(spans(record))
        if len(found) == here:
            yield Skipped(Origin(record.here, None, "system"), _why(record))
    sessions = _sessions(found)
    for ident, of_one in list(sessions.items()):
        if not any(map(kind_of, of_one)):
            yield from map(_foreign, sessions.pop(ident))
    for ident, of_one in sessions.items():
        first = of_one[0]
        where = next((at for span in of_one if (at := _names(span, ident))), first.base)
        yield from Session(ident, first.at(where, "system"), of_one).events()


def _foreign(span: Span) -> Event:
    """A span of a trace in which no agent acts."""
    here = span.at(span.base, "system")
    return Skipped(here, "telemetry of a client" if is_clients(span) else "no agent's span")


def _why(record: Record) -> str:
    if record.problem:
        return record.problem
    if _signal(record, SIGNALS):
        return "logs or metrics, and no spans"
    return "no spans" if _signal(record, RESOURCES) else "not a document of OpenTelemetry"


def _signal(record: Record, keys: tuple[str, ...]) -> bool:
    return isinstance(record.value, dict) and any(key in record.value for key in keys)


def _sessions(found: list[Span]) -> dict[str, list[Span]]:
    """The spans of each session: a trace belongs to the session that its earliest span names."""
    named: dict[str, tuple[int, str]] = {}
    for span in found:
        if own := span.text(SESSION):
            named[span.trace] = min(named.get(span.trace, (1 << 64, own)), (span.began or 0, own))
    sessions: dict[str, list[Span]] = {}
    for span in found:
        ident = named[span.trace][1] if span.trace in named else span.trace
        sessions.setdefault(ident, []).append(span)
    return sessions


def _names(span: Span, ident: str) -> str:
    """Where a span names its session."""
    if span.trace == ident:
        return span.base + span.named_at
    return next(
        (
            leaf.pointer
            for key in SESSION
            if (leaf := span.attributes.get(key)) and leaf.value == ident
        ),
        "",
    )
