"""Chats of Terminus 2: the agent answers in JSON, and the screen comes back in the user's role.

Datasets keep its runs so. One screen shows all that an answer typed: it came back of the last call.
"""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from forsy_retrace.events import Event, Fact, Message, Notice, Skipped, ToolCall
from forsy_retrace.sdk import later, parsed

from .._terminus import HARNESS, TASK, TOOL, is_answer, thoughts, typed
from .place import DRIVERS, Told
from .verdicts import in_content, result

SHOWN = later(
    r"(?:Previous response had warnings:\nWARNINGS: [^\0]{0,4000}?\n\n)?"
    r"(?:New Terminal Output|Current Terminal Screen|Current terminal state):"
)
"""How what came back begins."""
REFUSED = later(r"Previous response had parsing errors:\nERROR: ")
ASKED = later(r"(?:Current terminal state:\n[\s\S]*\n)?Are you sure you want to mark the task as ")
"""What the harness asks in the user's role before a run ends."""


def terminal(told: list[Told]) -> list[Told]:
    """What was told of a session, the agent's answers as what they say, if it is such a run."""
    runs = any(isinstance(one.event, Message) and TASK.match(one.event.text) for one in told)
    return list(_read(told)) if runs else told


def _read(told: list[Told]) -> Iterator[Told]:
    last = ""
    """The call that the next screen came back of."""
    for one in told:
        event = one.event
        if not isinstance(event, Message):
            yield one
        elif event.role == "user":
            yield from (one._replace(key=None, event=each) for each in _shown(event, last))
            last = ""
        elif one.is_whole and is_answer(answer := parsed(event.text)):
            events = _answer(event, answer)
            calls = [each.call for each in events if isinstance(each, ToolCall)]
            last = calls[-1] if calls else ""
            yield from (Told(None, each) for each in events)
        else:
            yield one


def _answer(event: Message, answer: dict[str, Any]) -> list[Event]:
    here = event.origin
    told: list[Event] = list(thoughts(answer, here))
    for place, command in typed(answer, here):
        ident = f"{here.evidence.start}{place.evidence.pointer}"
        told.append(ToolCall(place, ident, TOOL, command, None))
    return told or [Skipped(here, "an answer that says and types nothing")]


def _shown(event: Message, last: str) -> Iterator[Event]:
    """What stands in the user's role: the task, a screen, the harness's own words."""
    text, here = event.text, event.origin
    system = here.by("system")
    if found := TASK.match(text):
        yield Fact(system, "harness", HARNESS)
        yield replace(event, text=found["task"], within=True)
    elif last and SHOWN.match(text):
        place = here.by("agent")
        yield result(place, last, text, in_content(text, place.evidence.pointer))
    elif REFUSED.match(text):
        yield Notice(system, "model error", text)
    elif ASKED.match(text) or SHOWN.match(text):
        yield Skipped(system, DRIVERS)
    else:
        yield event
