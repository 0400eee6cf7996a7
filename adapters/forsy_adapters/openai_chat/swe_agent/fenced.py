"""Chat logs of SWE-agent and mini-swe-agent: an action is the fenced block that ends the words.

What it printed comes in the user's role, and ends in the harness's prompt or begins with the exit
status; by that such a log is known. Of 69 messages beside which trajectories log the action, all
69 end in it.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from forsy_retrace.events import Fact, Message, Origin, Skipped, ToolCall
from forsy_retrace.sdk import later

from ..place import Told
from ..verdicts import in_content, is_output, result
from .actions import shown
from .tools import SweAgent, ends_in_prompt

BLOCK = later(r"(?m)^```[\w+-]*[ \t]*\n(?P<action>(?:(?!```).*\n)*)```\s*\Z")
"""The fenced block that ends a text."""
READING = "fenced-action"


def acted(told: list[Told]) -> Iterator[Told]:
    """What was told of a session, the agent's fenced blocks as calls of it."""
    blocks = _blocks(told)
    if not blocks:
        yield from told
        return
    run, waits = SweAgent(), False
    for at, one in enumerate(told):
        match one.event:
            case Message(role="agent") if at in blocks:
                yield from _action(one.event, blocks[at], run)
                waits = True
            case Message(role="user", text=text) if waits and _is_output(text):
                yield from _observation(one.event, run)
                waits = False
            case Message(text=text):
                run.stands(text)
                yield one
            case _:
                yield one


def _blocks(told: list[Told]) -> dict[int, int]:
    """The places of words that end in a block whose output follows, and where the block begins.

    Where there are such, the log's last words may hold an action too.
    """
    found: dict[int, int] = {}
    words: int | None = None
    for at, one in enumerate(told):
        match one.event:
            case Message(role="agent"):
                words = at
            case Message(role="user", text=text):
                if words is not None and _is_output(text):
                    found |= _block(told, words)
                words = None
            case Fact() | Skipped():
                continue
            case _:
                words = None
    return {**found, **_block(told, words)} if found and words is not None else found


def _is_output(text: str) -> bool:
    return ends_in_prompt(text) or is_output(text)


def _block(told: list[Told], at: int) -> dict[int, int]:
    event = told[at].event
    block = BLOCK.search(event.text) if isinstance(event, Message) and "```" in event.text else None
    return {at: block.start()} if block and block["action"].strip() else {}


def _action(words: Message, start: int, run: SweAgent) -> Iterator[Told]:
    """The words before a block, and the block as a call."""
    origin = replace(words.origin, reading=READING)
    before, block = words.text[:start], words.text[start:]
    action = block[block.index("\n") + 1 : block.rindex("```")]
    if before.strip():
        yield Told(None, replace(words, origin=origin, text=before))
    act = run.acts(action)
    named = origin.evidence.pointer if act.name else None
    yield Told(None, ToolCall(origin, "", act.name or "shell", action, named, act.meant(action)))


def _observation(said: Message, run: SweAgent) -> Iterator[Told]:
    """What a block printed."""
    origin: Origin = replace(said.origin, actor="agent")
    seen = run.observes(said.text, origin.evidence.pointer)
    found = in_content(said.text, origin.evidence.pointer) if is_output(said.text) else seen.verdict
    yield Told(None, result(origin, "", said.text, found, changes=seen.changes))
    yield from shown(seen, replace(origin, actor="system"))
