"""Chats of AutoGen: an executor runs the fenced code of a message and answers in a user's place.

`chat_history` is told from the side of who began the chat: there the user's words stand in the
agent's role, and the agent's in the user's.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from forsy_retrace.events import Fact, Message, ToolCall
from forsy_retrace.sdk import later

from .harnesses import verdict
from .place import Told
from .swe_agent.fenced import READING
from .verdicts import result

EXECUTED = later(r"exitcode: -?\d{1,10} \(execution (?:succeeded|failed)\)\n")
"""How it heads what the code printed."""
BLOCK = later(r"(?m)^```(?P<language>[\w+-]*)[ \t]*\n(?P<code>(?:(?!```).*\n)*)```[ \t]*$")
OTHER = {"user": "agent", "agent": "user"}


def executed(told: list[Told]) -> list[Told]:
    """What was told of a session, the code that was run as calls of the agent."""
    runs = [one.event for one in told if isinstance(one.event, Message) and _is_run(one.event)]
    if not runs:
        return told
    if runs[0].role == "agent":
        told = [_turned(one) for one in told]
    named = Fact(replace(runs[0].origin, actor="system"), "harness", "AutoGen")
    return [Told(None, named), *_read(told)]


def _is_run(event: Message) -> bool:
    return event.role in OTHER and EXECUTED.match(event.text) is not None


def _turned(one: Told) -> Told:
    """Words that stand in the other's role."""
    match one.event:
        case Message(role="user" | "agent" as role, origin=origin) as event:
            other = OTHER[role]
            return one._replace(
                event=replace(event, role=other, origin=replace(origin, actor=other))
            )
    return one


def _read(told: list[Told]) -> Iterator[Told]:
    held: list[Told] = []
    """What came since the agent's last words, those first: code in them may be run yet."""
    for one in told:
        match one.event:
            case Message(role="user") as event if _is_run(event):
                yield from _ran(held)
                yield _printed(event)
                held = []
            case Message(role="agent"):
                yield from held
                held = [one]
            case _:
                held.append(one)
    yield from held


def _ran(held: list[Told]) -> Iterator[Told]:
    """Words of which the code was run: what stands around it, and the code as a call."""
    words = held[0].event if held else None
    blocks = list(BLOCK.finditer(words.text)) if isinstance(words, Message) else []
    if not isinstance(words, Message) or words.role != "agent" or not blocks:
        yield from held
        return
    first, last = blocks[0], blocks[-1]
    origin = replace(words.origin, reading=READING)
    for around in (words.text[: first.start()], words.text[last.end() :]):
        if around.strip():
            yield Told(None, replace(words, origin=origin, text=around))
    yield from held[1:]
    tool, code = first["language"] or "code", first["code"]
    if first is not last:
        tool, code = "code", words.text[first.start() : last.end()]
    yield Told(None, ToolCall(origin, "", tool, code, None))


def _printed(said: Message) -> Told:
    base = said.origin.evidence.pointer
    found = verdict(said.text, base)
    origin = replace(said.origin, actor="agent")
    return Told(None, result(origin, "", said.text, found))
