"""Turns of rows for tuning: ShareGPT's `{"from": "gpt", "value": …}`, in which calls and what came
back may be turns of their own, as LLaMA-Factory and ms-swift write them; and those of Nebius's runs
of SWE-agent, `{"role": "ai", "text": …}`.

Calls in a row are those of one answer, and have no ids (LLaMA-Factory `data/README.md`, NeMo
`agent_chat`).
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from forsy_retrace.dialects import call_of
from forsy_retrace.sdk import parsed

from .place import Place, Told, each
from .speech import called, said
from .verdicts import in_content, result

CALL, RESULT = "call", "result"
ROLES = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "assistant": "assistant",
    "ai": "assistant",
    "chatgpt": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "system": "system",
    "function_call": CALL,
    "tool_call": CALL,
    "observation": RESULT,
    "function_response": RESULT,
    "tool_response": RESULT,
    "tool": RESULT,
}
"""Who speaks in a turn, and what that is in a chat."""
OWN = ("function_call", "tool_call", "observation", "tool_response")
"""Those that stand as roles among the messages of a chat too."""


class Turn(NamedTuple):
    """What a turn is, its text, and the field that holds it."""

    role: str
    text: str
    field: str


def turn(value: Any) -> Turn | None:
    """A turn of such a row; None for every other value."""
    match value:
        case {"from": str(who), "value": str(text)} if who in ROLES:
            return Turn(ROLES[who], text, "value")
        case {"role": str(who), "content": str(text)} if who in OWN:
            return Turn(ROLES[who], text, "content")
        case {"role": str(who), "text": str(text), "cutoff_date": _} if who in ROLES:
            return Turn(ROLES[who], text, "text")
        case {"role": "system", "text": None, "system_prompt": str(text)}:
            return Turn("system", text, "system_prompt")
    return None


def is_call(value: Any) -> bool:
    """Whether a turn is a call."""
    found = turn(value)
    return found is not None and found.role == CALL


def of_turn(one: Turn, here: Place) -> Iterator[Told]:
    """What a turn tells that is a call, or what came back; nothing of the others."""
    if one.role == CALL:
        yield from _sent(one.text, here)
    elif one.role == RESULT:
        yield from _returned(one.text, here)


def _sent(text: str, here: Place) -> Iterator[Told]:
    """The calls of a turn; where it is no JSON of one, it is what the agent said."""
    where = here.words
    listed = each(parsed(text), where.pointer)
    found = [call for value, at in listed if (call := call_of(value, at))]
    if len(found) == len(listed):
        yield from (called(call, here) for call in found)
    elif text.strip():
        yield said(text, where.origin(), is_whole=True)


def _returned(text: str, here: Place) -> Iterator[Told]:
    """What came back of the calls before."""
    where, value = here.words, parsed(text)
    found = in_content(text if value is None else value, where.pointer)
    event = result(where.origin(), "", text, found)
    yield Told(("result", "", text.strip()), event, is_whole=True)
