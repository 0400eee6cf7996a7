"""My tool's logs: one JSON object a line under `~/.my-tool/logs/`."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.calls import Calls
from forsy_retrace.events import (
    Event,
    Message,
    Origin,
    Outcome,
    SessionStart,
    Skipped,
    ToolCall,
    ToolResult,
)
from forsy_retrace.sdk import Shows, named, number, when
from forsy_retrace.source import Source

SHOWS = Shows(
    words="yes",
    calls="yes",
    results="yes",
    exit_status="mostly",
    time="yes",
    harness="My tool",
    stores=("~/.my-tool/logs/*.jsonl",),
    tools={"run": "bash"},
)


def sniff(source: Source) -> bool:
    """By content of the first records; no when in doubt."""
    return any(
        isinstance(one.value, dict) and "my_tool_session" in one.value for one in source.head
    )


def read(source: Source) -> Iterator[Event]:
    """Events in the order in which things happened; at least one for each record."""
    calls = Calls()
    for place, record in enumerate(source.records()):
        value = record.value if isinstance(record.value, dict) else {}
        here = Origin(record.here, when(value.get("at")))
        why = record.problem or f"unknown record{named(value.get('type'))}"
        yield from list(_told(value, here, place, calls)) or [Skipped(here, why)]


def _told(value: dict[str, Any], here: Origin, place: int, calls: Calls) -> Iterator[Event]:
    """What a record tells: one event, several, or none where it has no such shape."""
    match value:
        case {"my_tool_session": str(session)}:
            yield SessionStart(here.below("/my_tool_session"), session)
        case {"user": str(text)}:
            yield Message(here.below("/user").by("user"), "user", text)
        case {"agent": str(text)}:
            yield Message(here.below("/agent"), "agent", text)
        case {"call": str(logged), "tool": str(tool), "input": dict(sent)}:
            # A log may use one id for two calls: `calls` tells them apart.
            name = str(calls.issue(logged, place))
            yield ToolCall(here.below("/input"), name, tool, sent, named="/tool")
        case {"result": str(logged), "output": str(text), **rest}:
            where = here.below("/output")
            if (call := calls.answer(logged)) is None:
                yield Skipped(here, "repeated result")
            elif (code := number(rest.get("exit"))) is None:
                yield ToolResult(where, call, text)
            else:
                outcome: Outcome = "failed" if code else "ok"
                yield ToolResult(where, call, text, outcome, "exit-code", "/exit", code)
