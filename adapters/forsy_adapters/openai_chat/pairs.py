"""Which result answers which call, where ids repeat inside a run or are missing."""

from collections.abc import Iterator

import msgspec

from forsy_retrace.events import Event, Message, Notice, Skipped, ToolCall, ToolResult
from forsy_retrace.sdk import compact

from .patches import TOOL, changes
from .place import Key, Told


class Pairs:
    """The calls of one session, each under an id of its own."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.open: list[tuple[str, ToolCall]] = []
        """Calls without an answer yet: the id as logged, and the call."""
        self.answered: set[tuple[str, str | None]] = set()
        self.latest: dict[str, str] = {}
        """The id as logged to the last call's own."""

    def call(self, event: ToolCall, permitted: bool) -> Event:
        """The call under its own id; nothing where it only runs what had been asked for."""
        logged = event.call
        if permitted and any(ident == logged for ident, _ in self.open):
            return Skipped(event.origin, "the run of a permitted call")
        own = self._own(logged or "no id")
        event = msgspec.structs.replace(event, call=own)
        self.open.append((logged, event))
        self.latest[logged] = own
        return event

    def result(self, event: ToolResult, tool: str) -> Event:
        """The nearest earlier call of that id that has no answer; by tool or place without id."""
        logged = event.call
        fits = [one for one in self.open if self._fits(one, logged, tool)]
        if not fits:
            if (logged, event.output) in self.answered:
                return Skipped(event.origin, "repeated history")
            return msgspec.structs.replace(event, call=self._own(f"{logged or 'no id'} unasked"))
        message = fits[-1][1].origin.message
        chosen = next(one for one in fits if one[1].origin.message == message)
        self.open.remove(chosen)
        self.answered.add((logged, event.output))
        call = chosen[1]
        if call.tool == TOOL and event.outcome == "ok" and not event.changes:
            event = msgspec.structs.replace(event, changes=tuple(changes(call.input)))
        return msgspec.structs.replace(event, call=call.call)

    def _fits(self, one: tuple[str, ToolCall], logged: str, tool: str) -> bool:
        ident, call = one
        if logged:
            return ident == logged
        return not tool or call.tool == tool or not any(c.tool == tool for _, c in self.open)

    def _own(self, name: str) -> str:
        own, number = name, 1
        while own in self.names:
            number += 1
            own = f"{name}#{number}"
        self.names.add(own)
        return own


def _next_calls(told: list[Told]) -> list[Key | None]:
    """For each event the next call behind it by tool and arguments, if no reply brought it."""
    found: list[Key | None] = []
    sent: Key | None = None
    for one in reversed(told):
        found.append(sent)
        match one.event:
            case ToolCall(tool=tool, input=value):
                sent = None if one.reply else (tool, compact(value))
            case Message(role="user"):
                sent = None
    return found[::-1]


def paired(told: list[Told]) -> Iterator[Event]:
    """The events of a session, each call under an id of its own and its result under the same."""
    pairs = Pairs()
    for one, sent in zip(told, _next_calls(told), strict=True):
        event, tool, permitted = one.event, one.tool, one.permitted
        match event:
            case Notice() if one.refused and one.refused == sent:
                yield Skipped(event.origin, "the refusal of a call that the client sent on")
            case ToolCall():
                yield pairs.call(event, permitted)
            case Message(answers=str(logged)):
                yield msgspec.structs.replace(event, answers=pairs.latest.get(logged))
            case ToolResult():
                yield pairs.result(event, tool)
            case _:
                yield event
