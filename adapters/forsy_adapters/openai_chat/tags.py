"""Answers of open models as their templates write them: thoughts, calls and results between tags.

`<think>`, `<tool_call>` and `<tool_response>` are those of Hermes and Qwen. Where a server does not
read them, and in rows for tuning, they stand in the texts of a chat; results of several calls
then share one text, in the role of a tool or of the user.
"""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from forsy_retrace.dialects import call_of
from forsy_retrace.events import Message, Origin, Thinking, ToolCall, ToolResult
from forsy_retrace.sdk import later, parsed, pointer, tagged, text_or_json, words

from .place import Told, each, opened
from .verdicts import in_content, result

CALL, RESPONSE, WORDS = "tool_call", "tool_response", "text"
ENVELOPE = {"tool_call_id", "name", "role", "content"}
"""What stands around a result, where anything does."""
HEADED = later(
    r"EXECUTION RESULT of \[[^\]\n]{1,100}\]:\n"
    r"|(?:Exit code: -?\d{1,10}\n)?Execution output of \[[^\]\n]{1,100}\]:\n"
    r"|OBSERVATION:\n"
)
"""How a harness heads what came back, in the user's role: OpenHands (`fn_call_converter`), R2E-Gym,
SWE-smith."""


def parted(told: list[Told]) -> Iterator[Told]:
    """What was told of a session, its texts with tags as what the tags say."""
    waits, called = 0, False
    for one in told:
        match one.event:
            case _ if not one.is_whole:
                yield one
            case Message(role="agent") as event:
                parts = list(_answer(event)) if _is_tagged(event) else [one]
                waits = sum(isinstance(part.event, ToolCall) for part in parts)
                called = called or waits > 0
                yield from parts
            case Message(role="user", text=text) as event if waits and HEADED.match(text):
                origin = event.origin.by("agent")
                found = in_content(text, origin.evidence.pointer)
                yield Told(None, result(origin, "", text, found))
                waits -= 1
            case Message(role="user") | ToolResult() as event if called and _responds(event):
                yield from _returned(event)
            case _:
                yield one


def _text(event: Message | ToolResult) -> str:
    return (event.text if isinstance(event, Message) else event.output) or ""


def _is_tagged(event: Message) -> bool:
    return _opens(event) and any(WORDS not in part for part in tagged(event.text))


def _responds(event: Message | ToolResult) -> bool:
    return _opens(event) and any(RESPONSE in part for part in tagged(_text(event)))


def _opens(event: Message | ToolResult) -> bool:
    """Whether a text may have parts: what is JSON has none."""
    text = _text(event)
    return "<" in text and not (text.lstrip()[:1] in ("{", "[") and parsed(text) is not None)


def _answer(event: Message) -> Iterator[Told]:
    """The parts of an answer."""
    here = event.origin
    for index, part in enumerate(tagged(event.text)):
        ((kind, held),) = part.items()
        place = here.below(pointer(index, kind))
        if kind in (WORDS, RESPONSE):
            said = replace(event, origin=place, text=text_or_json(held))
            yield Told(None, said, is_whole=isinstance(held, str))
        elif kind == CALL:
            yield from _calls(held, place, event)
        elif held:
            yield Told(None, Thinking(place, held))


def _calls(held: Any, here: Origin, event: Message) -> Iterator[Told]:
    """A call, or a list of them; words of the agent where they name no tool."""
    for value, at in each(held, here.evidence.pointer):
        call = call_of(value, at)
        if call is None:
            place = replace(here, evidence=here.evidence.at(at))
            yield Told(None, replace(event, origin=place, text=text_or_json(value)))
        else:
            place = replace(here, evidence=here.evidence.at(call.pointer))
            yield Told(None, ToolCall(place, call.id, call.name, call.input, call.named))


def _returned(event: Message | ToolResult) -> Iterator[Told]:
    """The results that one text holds; other words in it stay whose they were."""
    parts = tagged(_text(event))
    alone = sum(RESPONSE in part for part in parts) == 1
    call = event.call if isinstance(event, ToolResult) and alone else ""
    for index, part in enumerate(parts):
        ((kind, held),) = part.items()
        place = event.origin.below(pointer(index, kind))
        if kind == RESPONSE:
            yield _result(held, place.by("agent"), call)
        elif isinstance(event, Message):
            yield Told(None, replace(event, origin=place, text=text_or_json(held)))


def _result(held: Any, here: Origin, call: str) -> Told:
    tool = ""
    if isinstance(held, dict) and "content" in held and held.keys() <= ENVELOPE:
        tool, held, here = words(held.get("name")), held["content"], here.below("/content")
    found = in_content(opened(held), here.evidence.pointer)
    return Told(None, result(here, call, text_or_json(held), found), tool)
