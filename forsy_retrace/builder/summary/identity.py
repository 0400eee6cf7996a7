"""The id of a trace: the same log always gives the same."""

import hashlib

from forsy_retrace.events import Event, Message, Session, Thinking, ToolCall, ToolResult
from forsy_retrace.sdk import compact


def id_of(session: Session, adapter: str) -> str:
    """The id of the trace of a session."""
    return trace_id(adapter, session.id or _beginning(session))


def trace_id(adapter: str, session: str) -> str:
    """`forsy_trace_` and 16 hex digits: the same log always gives the same id."""
    digest = hashlib.sha256(f"{adapter}\0{session}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"forsy_trace_{digest[:16]}"


FIRST = 5
"""Records that stand for a session without an id: many logs begin with the same one."""


def _beginning(session: Session) -> str:
    """What the first records say and where they stand in their file, whatever its name is."""
    records: dict[tuple[str, int, int], None] = {}
    said = []
    for event in session.events:
        here = event.origin.evidence
        records[here.record] = None
        if len(records) > FIRST:
            break
        said.append(f"{here.line} {here.start} {here.end} {event.origin.at} {_said(event)}")
    return "\n".join(said)


def _said(event: Event) -> str:
    match event:
        case Message() | Thinking():
            return event.text
        case ToolCall():
            return f"{event.tool} {compact(event.input)}"
        case ToolResult():
            return event.output or ""
    return ""
