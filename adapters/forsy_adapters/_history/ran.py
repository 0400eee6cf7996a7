"""A command of a history as events: one call, and what the history says came of it."""

from collections.abc import Iterator

import msgspec

from forsy_retrace.events import (
    SHELL,
    Event,
    Fact,
    Origin,
    SessionStart,
    Thinking,
    ToolCall,
    ToolResult,
)
from forsy_retrace.source import Record

from .._shell import outcome

NOBODY = "unknown: a shell history does not record who typed"

WHY = "why a command was run, or what the work was for"
WHO = "who typed it, a person or a program"
CANNOT = ("what a command printed", "which files a command changed", WHY, WHO)
"""What no history shows."""
NO_STATUS = ("whether a command worked", "in which folder it ran")


class Ran(msgspec.Struct, frozen=True):
    """A command and what its record says of it; pointers are places in the record."""

    record: Record
    shell: str
    call: str
    command: str
    pointer: str
    named: str | None = None
    """Where the shell's name stands, if the record says it."""
    at: str | None = None
    ended: str | None = None
    ended_by: str = ""
    exit: int | None = None
    exit_pointer: str = ""
    output: str | None = None
    output_pointer: str = ""
    cwd: str | None = None
    intent: str = ""
    """Why an agent ran it, in its own words."""
    intent_pointer: str = ""
    operator: str = NOBODY


def begins(ran: Ran, ident: str = "", basis: str = "", limits: tuple[str, ...] = ()) -> Event:
    """The session that a command opens."""
    here = Origin(ran.record.here, ran.at, SHELL)
    return SessionStart(here, ident, basis=basis, limits=limits)


def told(ran: Ran) -> Iterator[Event]:
    """The events of one command."""
    here = Origin(ran.record.here.at(ran.pointer), ran.at, SHELL)
    yield Fact(here, "operator", ran.operator)
    if ran.operator != NOBODY:
        yield Fact(here, "shows", WHO)
    if ran.cwd:
        yield Fact(here, "cwd", ran.cwd)
    if ran.intent:
        stated = Origin(ran.record.here.at(ran.intent_pointer), ran.at, SHELL)
        yield Fact(stated, "shows", WHY)
        yield Thinking(stated, ran.intent)
    yield ToolCall(here, ran.call, ran.shell, ran.command, ran.named)
    if ran.ended is not None or ran.exit is not None or ran.output is not None:
        place = ran.exit_pointer if ran.output is None else ran.output_pointer
        yield ToolResult(
            Origin(ran.record.here.at(place), ran.ended, SHELL),
            ran.call,
            ran.output,
            outcome(ran.command, ran.exit),
            "exit-status",
            ran.exit_pointer,
            ran.exit,
            ended_by=ran.ended_by,
        )
