"""Traces of the Agents SDK: spans, written in the order in which they ended."""

from collections import deque
from collections.abc import Iterator
from typing import Any

from forsy_retrace.calls import Verdict
from forsy_retrace.dialects import Call, arguments, content_text
from forsy_retrace.events import Event, Fact, ToolCall, ToolResult
from forsy_retrace.sdk import named, order, strings, text_or_json, when

from .answers import is_talk, read_list
from .ends import failure
from .place import Json, Place, Told, nothing, opened, text_in
from .replies import about
from .speech import called
from .talks import Talk
from .verdicts import in_content, result

Held = list[tuple[Place, Json]]


def is_span(value: Any) -> bool:
    """A trace or one of its spans, as the SDK sends them."""
    match value:
        case {"object": "trace", "id": str(), "workflow_name": _}:
            return True
        case {"object": "trace.span", "span_data": dict()}:
            return True
    return False


def traces(held: Held) -> Iterator[Talk]:
    """A talk for each model call of a trace; several traces may be mixed in one file."""
    groups: dict[str, Held] = {}
    for here, one in held:
        ident = text_in(one, "trace_id") or (text_in(one, "id") if one["object"] == "trace" else "")
        groups.setdefault(ident, []).append((here, one))
    for ident, group in groups.items():
        trace = Trace()
        told: list[Told] = []
        for here, one in sorted(group, key=_started):
            told += trace.read(one, here)
            if trace.asks(one):
                yield Talk(told, ident)
                told = []
        told += _ended(group)
        if told:
            yield Talk(told, ident)


def _ended(group: Held) -> Iterator[Told]:
    """How a run ended, which the span of its last outermost agent says when all is done."""
    for here, one in sorted(group, key=lambda item: order(when(item[1].get("ended_at"))))[::-1]:
        match one:
            case {"span_data": {"type": "agent"}, "parent_id": None, "ended_at": str(at)}:
                where = here._replace(at=when(at))
                failed = list(failure(one, where))
                end: Event = Fact(where.origin("system"), "run_end", {"exit_status": "completed"})
                yield from failed or [Told(None, end)]
                return


def _started(item: tuple[Place, Json]) -> tuple[str, int]:
    here, one = item
    return (order(when(one.get("started_at"))), here.record.here.start)


class Trace:
    """Reads the spans of one trace in the order in which they began."""

    def __init__(self) -> None:
        self.open: dict[tuple[str, str], deque[str]] = {}
        """What a model asked for, tool and arguments, to the calls that no span has answered."""
        self.answered: set[str] = set()

    @staticmethod
    def asks(span: Json) -> bool:
        """Whether a span repeats the history, which only its end goes on from."""
        held = span.get("span_data")
        return isinstance(held, dict) and held.get("type") == "generation"

    def read(self, span: Json, here: Place) -> Iterator[Told]:
        """At least one event for each span."""
        ident = text_in(span, "id") or here.name
        here = here._replace(at=when(span.get("started_at")), message=ident)
        held = span.get("span_data")
        data: Json = held if isinstance(held, dict) else {}
        where = here.deeper("span_data")
        match data:
            case {"type": "function", "name": str(name)}:
                yield from self._function(span, data, name, ident, here)
            case {"type": "agent"}:
                names = list(strings(data.get("tools")))
                event: Event = Fact(where.deeper("tools").origin("system"), "tools", names)
                yield Told(None, event) if names else nothing(here, "an agent without tools")
            case {"type": "generation"}:
                ended = where._replace(at=when(span.get("ended_at")) or where.at)
                told = list(self._generation(data, where, ended))
                yield from told or [nothing(here, "a generation without its text")]
            case {"type": "response"}:
                yield nothing(here, "a model response without its text")
            case {"type": "handoff"}:
                yield nothing(here, "handoff")
            case _ if span.get("object") == "trace":
                yield nothing(here, "bookkeeping: trace")
            case _:
                yield nothing(here, f"unknown span{named(data.get('type'))}")

    def _function(
        self, span: Json, data: Json, name: str, ident: str, here: Place
    ) -> Iterator[Told]:
        """A tool's run: of a call that the model made, where one is open, else its only witness."""
        where = here.deeper("span_data")
        path = where.pointer
        sent = arguments(data["input"]) if data.get("input") is not None else None
        waiting = self.open.get((name, text_or_json(sent)))
        if waiting:
            ident = waiting.popleft()
        elif sent is None:
            yield called(Call(ident, name, data, path, f"{path}/name"), where)
        else:
            yield called(Call(ident, name, sent, f"{path}/input"), where)
        output, error = data.get("output"), span.get("error")
        ended = "error" in span and when(span.get("ended_at"))
        if output is None and not error and not ended:
            if waiting is not None:
                yield nothing(here, "a run that told no result")
            return
        found = in_content(opened(output), f"{path}/output")
        at = where.deeper("output") if output is not None else here.deeper("error")
        if error:
            found = Verdict("failed", "error-field", f"{here.pointer}/error")
        elif ended and found.outcome == "unknown":
            found = Verdict("ok", "error-field", f"{here.pointer}/error")
        at = at._replace(at=when(span.get("ended_at")))
        told = error if output is None else output
        text = None if told is None else content_text(told)
        event = result(at.origin(), ident, text, found)
        self.answered.add(ident)
        yield Told(("result", ident, (text or "").strip()), event, name)

    def _generation(self, data: Json, here: Place, ended: Place) -> Iterator[Told]:
        """A model call: what was asked is the history so far, only what came back is new."""
        asked = opened(data.get("input"))
        for one in (
            read_list(asked, here.deeper("input")._replace(message=None)) if is_talk(asked) else ()
        ):
            event = one.event
            # The history repeats what a tool's own span told.
            if not isinstance(event, ToolResult) or event.call not in self.answered:
                yield one
        reply = opened(data.get("output"))
        for one in read_list(reply, ended.deeper("output")) if is_talk(reply) else ():
            if isinstance(one.event, ToolCall):
                asked_for = (one.event.tool, text_or_json(one.event.input))
                self.open.setdefault(asked_for, deque()).append(one.event.call)
            yield one
        yield from about(data, ended)
