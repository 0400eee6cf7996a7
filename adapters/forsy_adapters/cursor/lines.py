"""A transcript of JSON lines: `{"role", "message": {"content": [blocks]}}`, and ends of turns."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from forsy_retrace.calls import Calls
from forsy_retrace.events import (
    Attachment,
    Delegation,
    Event,
    Fact,
    Message,
    Notice,
    Origin,
    SessionStart,
    Skipped,
    ToolCall,
    ToolResult,
)
from forsy_retrace.sdk import named, pointer, subagent, tells_a_limit, text_of, words
from forsy_retrace.source import Source

from .._cursor import meant
from .prompts import prompt

SENDS = ("Subagent", "Task")
HIDDEN = "[REDACTED]"
"""What the client writes in the place of thoughts."""


def is_ours(value: Any) -> bool:
    """A record of two keys; other clients name more beside a role."""
    match value:
        case {"role": "user" | "assistant", "message": {"content": list(), **more}}:
            return len(value) == 2 and not more
    return False


class Lines:
    """Reads a transcript, and within it those of its subagents."""

    def __init__(self, beside: list[Source]) -> None:
        self.beside = beside
        self.briefs = {one.name: _brief(one) for one in beside}
        self.calls = Calls()
        self.sent = 0

    def read(self, source: Source) -> Iterator[Event]:
        """The whole session."""
        yield from self._lane(source, "agent")
        for one in [*self.beside]:  # those that no call is known to have sent
            yield from self._told(one, "")

    def _lane(self, source: Source, actor: str) -> Iterator[Event]:
        begun = actor != "agent"
        for record in source.records():
            here = Origin(record.here, None, "system", f"{record.here.file}:{record.here.line}")
            if record.problem:
                yield Skipped(here, record.problem)
                continue
            if not begun:
                begun = True
                yield SessionStart(here, "")
            match record.value:
                case {"role": "user", "message": {"content": list(blocks)}}:
                    yield from _asked(blocks, here, actor)
                case {"role": "assistant", "message": {"content": list(blocks)}}:
                    yield from self._answer(blocks, here.by(actor))
                case {"type": "turn_ended", "status": str(status)}:
                    yield from _ended(record.value, status, here)
                case {"type": kind}:
                    yield Skipped(here, f"unknown record type{named(kind)}")
                case _:
                    yield Skipped(here, "not a record of a transcript")

    def _answer(self, blocks: list[Any], here: Origin) -> Iterator[Event]:
        """At least one event; behind a call that sent a subagent, what that one did."""
        sent: list[tuple[str, Any]] = []
        for index, block in enumerate(blocks):
            below = pointer("message", "content", index)
            match block:
                case {"type": "text", "text": str(text)}:
                    yield from _said(text, here.below(f"{below}/text"))
                case {"type": "tool_use", "name": str(tool), **rest}:
                    place = here.below(f"{below}/input" if "input" in rest else below)
                    ident = words(rest.get("id"))
                    call = self.calls.issue(ident, here.evidence.start, here.evidence.file, index)
                    assert call is not None  # no two blocks stand in one place
                    held = rest.get("input")
                    name = here.below(f"{below}/name").evidence.pointer
                    yield ToolCall(place, call, tool, held, name, meant(tool, held))
                    if tool in SENDS:
                        sent.append((call, held))
                case {"type": "tool_result", "tool_use_id": str(ident)}:
                    call = self.calls.answer(ident)
                    place = here.below(f"{below}/content" if "content" in block else below)
                    if call:
                        came = block.get("content")
                        yield ToolResult(place, call, None if came is None else text_of(came))
                    else:
                        yield Skipped(place, "repeated result")
                case {"type": kind}:
                    yield Skipped(here.below(below), f"unknown content block{named(kind)}")
                case _:
                    yield Skipped(here.below(below), "not a block")
        if not blocks:
            yield Skipped(here, "empty message")
        for call, held in sent:
            yield from self._delegated(call, held, here)

    def _delegated(self, call: str, held: Any, here: Origin) -> Iterator[Event]:
        """The transcript that begins with what the call asked for."""
        asked = words(held.get("prompt")) if isinstance(held, dict) else ""
        kind = words(held.get("subagent_type")) if isinstance(held, dict) else ""
        one = next(
            (one for one in self.beside if asked and self.briefs[one.name] == asked.strip()), None
        )
        if one is not None:
            yield from self._told(one, kind, call, here)

    def _told(
        self, one: Source, kind: str, call: str = "", sent: Origin | None = None
    ) -> Iterator[Event]:
        """What a subagent did; whoever sent it, if that is known."""
        self.beside.remove(one)
        self.sent += 1
        actor = subagent(kind, self.sent)
        if sent is not None:
            yield Delegation(sent, call, actor)
        yield from self._lane(one, actor)


def _brief(source: Source) -> str:
    """What a subagent was asked."""
    match [record.value for record in source.head[:1]]:
        case [{"role": "user", "message": {"content": [{"text": str(text)}, *_]}}]:
            return prompt(text).text
    return ""


def _said(text: str, here: Origin) -> Iterator[Event]:
    """Words, and the mark of thoughts that the client left out behind them."""
    hides = text.rstrip().endswith(HIDDEN)
    said = text.rstrip().removesuffix(HIDDEN).rstrip() if hides else text
    if said.strip():
        place = replace(here, reading="without-a-mark") if hides else here
        yield Message(place, "agent", said)
    elif not hides:
        yield Skipped(here, "empty message")
    if hides:
        yield Skipped(here, "hidden reasoning")


def _asked(blocks: list[Any], here: Origin, actor: str) -> Iterator[Event]:
    """The user's words; of a subagent, what the call that sent it says already."""
    said = False
    for index, block in enumerate(blocks):
        match block:
            case {"type": "text", "text": str(text)} if text.strip():
                said = True
                place = here.below(pointer("message", "content", index, "text"))
                yield from _prompted(text, place, actor)
            case {"type": kind} if kind != "text":
                yield Skipped(here, f"unknown content block{named(kind)}")
    if not said:
        yield Skipped(here, "empty message")


def _prompted(text: str, place: Origin, actor: str) -> Iterator[Event]:
    found = prompt(text)
    if actor != "agent":
        yield Fact(place.by(actor), "brief", found.text)
        return
    if found.is_clients:
        yield Skipped(place, "injected: what to do with a report")
        return
    clock = (place.evidence,) if found.at else ()
    dated = replace(place.by("user"), at=found.at, clock=clock)
    pictures = tuple(
        Attachment("image/unknown", 0, place.evidence.pointer) for _ in range(found.pictures)
    )
    yield Message(dated, "user", found.text, attachments=pictures, within=True)
    if found.brought:
        yield Fact(place, "brought", {"text": found.brought})


def _ended(value: Any, status: str, here: Origin) -> Iterator[Event]:
    if status == "error":
        text = words(value.get("error"))
        is_limit = tells_a_limit(text)
        yield Notice(here.below("/error"), "limit" if is_limit else "model error", text)
    elif status in ("aborted", "cancelled"):
        yield Notice(here.below("/status"), "interrupted")
    else:
        yield Skipped(here, "end of a turn")
