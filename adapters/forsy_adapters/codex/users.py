"""The user's turns: a human's words, and what the client puts among them."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from forsy_retrace.dialects import attachments
from forsy_retrace.events import Event, Fact, Message, Notice, Skipped, Via
from forsy_retrace.sdk import later, mark_of, named, parsed

from .state import State
from .survey import key
from .units import Unit
from .words import (
    ACCEPTED,
    AFRESH,
    APPROVAL,
    CWD,
    NOBODYS,
    SHELL,
    SHELL_LINE,
    SHELLED,
    TYPED,
    human,
    injected,
    instructions,
    reply,
)

NOTIFIED = later(r"<subagent_notification>\s*(\{.*\})\s*</subagent_notification>", re.S)


class Users:
    """Reads items in the user's role."""

    def __init__(self, state: State) -> None:
        self.state = state

    def read(self, unit: Unit) -> Iterator[Event]:
        """What of a user item is a human's; much of it is the client's."""
        state, content = self.state, unit.body.get("content")
        parts = list(parts_of(content, "/content"))
        pictures = attachments(content, f"{unit.prefix}/content")
        whole = key("\n".join(text for _, text in parts)) in state.found.said
        kept: list[tuple[str, str]] = []
        for index, (path, text) in enumerate(parts):
            why = injected(text)
            if why not in NOBODYS:
                why = "" if whole else self._not_human(unit, index, text)
            if not text.strip():
                continue
            if why:
                yield from self._injected(unit, path, text, why)
            else:
                kept.append((path, text))
        if state.found.subagent and (kept or pictures):
            yield state.briefed(unit, *(kept[0] if len(kept) == 1 else ("", "")))
            return
        if not kept and not pictures:
            return
        accepts, state.planned = state.planned, False
        state.heard, state.compacted = True, False
        path, text = kept[0] if len(kept) == 1 else ("/content", "\n".join(t for _, t in kept))
        said = human(text)
        if not kept:
            said = "\n".join(mark_of(p.media, p.size) for p in pictures)
        within = (said != text or len(kept) != 1) and not pictures
        here = state.here(unit, path, "user")
        if len(kept) > 1:
            places = tuple(state.here(unit, place).evidence for place, _ in kept)
            here = msgspec.structs.replace(here, pieces=places)
        if (answer := reply(text)) is not None:
            call = answer.call if answer.call in state.calls.issued else None
            yield Message(here, "user", answer.text, "answer", pictures, call, within=True)
            return
        taken_up = (accepts and said == ACCEPTED) or AFRESH.match(said)
        via: Via = "plan accepted" if taken_up else "typed"
        yield Message(here, "user", said, via, pictures, within=within)

    def _not_human(self, unit: Unit, index: int, text: str) -> str:
        """Why a text is the client's, by its kind, by the events, by its beginning."""
        match unit.body.get("internal_chat_message_metadata_passthrough"):
            case {"content_item_kinds": list(kinds)} if index < len(kinds):
                kind = kinds[index]
                if isinstance(kind, str) and kind != "unknown":
                    told = injected(text) or f"injected{named(kind)}"
                    return "" if kind in TYPED else told
        if key(text) in self.state.found.said:
            return ""
        if why := injected(text):
            return why
        if self.state.found.said and unit.number < self.state.found.last:
            return "injected: text that nobody typed"
        return ""

    def _injected(self, unit: Unit, path: str, text: str, why: str) -> Iterator[Event]:
        """A text of the client: some tell facts, a shell line, an interrupt, or a report."""
        state, here = self.state, self.state.here(unit, path)
        if why == "injected: environment":
            if found := CWD.search(text):
                yield from state.fact(unit, path, "cwd", found[1])
            if found := SHELL.search(text):
                yield from state.fact(unit, path, "shell", found[1])
            if found := APPROVAL.search(text):
                yield from state.fact(unit, path, "permission_mode", found[1])
        elif why == "injected: instructions" and instructions(text):
            yield Fact(here, "memory", instructions(text))
        elif why == "notice: turn aborted" and not state.found.aborts:
            yield Notice(here, "interrupted")
            return
        elif why == SHELLED and (line := SHELL_LINE.search(text)):
            where = state.here(unit, path, "user")
            yield Message(where, "user", f"!{line[1]}", "shell line", within=True)
            return
        elif why == "notice: subagent ended" and (told := _report(text)):
            agent, report = told
            if agent in state.agents:
                call, actor = state.agents[agent]
                where = state.here(unit, path, actor)
                yield Message(where, "agent", report, "notification", (), call, within=True)
                return
        yield Skipped(here, why)


def parts_of(content: Any, base: str) -> Iterator[tuple[str, str]]:
    """The texts of a content and where they stand."""
    if isinstance(content, str):
        yield base, content
        return
    for index, part in enumerate(content if isinstance(content, list) else ()):
        match part:
            case str():
                yield f"{base}/{index}", part
            case {"text": str(text)}:
                yield f"{base}/{index}/text", text
            case {"refusal": str(text)}:
                yield f"{base}/{index}/refusal", text


def _report(text: str) -> tuple[str, str] | None:
    """Which subagent ended, and with which words."""
    found = NOTIFIED.search(text)
    match parsed(found[1]) if found else None:
        case {"agent_id": str(agent), "status": {"completed": str(report)}} | {
            "agent_path": str(agent),  # so named by 0.164
            "status": {"completed": str(report)},
        } if report.strip():
            return agent, report
    return None
