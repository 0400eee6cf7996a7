"""The user's role: a human's words, results of calls, and what the client puts into it."""

from collections.abc import Iterator
from typing import NamedTuple

from forsy_retrace.events import (
    Attachment,
    Event,
    Fact,
    Message,
    Notice,
    Origin,
    Skipped,
    ToolResult,
)
from forsy_retrace.sdk import mark_of, words

from .._gemini.outcome import verdict
from .._gemini.told import Told, media, parts_of
from .messages import Json
from .speech import BROUGHT, FOLDER, SNAPSHOT, SYSTEM, said, texts_of, why_injected
from .state import BRIEF, State

LATER = "injected: later words to a subagent"


class Typed(NamedTuple):
    """A text of the user's role, where it stands, and whether it is a part of that place."""

    here: Origin
    text: str
    within: bool


class Users:
    """Reads the messages of the user's role."""

    def __init__(self, state: State) -> None:
        self.state = state

    def events(self, message: Json, here: Origin) -> Iterator[Event]:
        """At least one event, unless nothing is in it."""
        self.state.asked = here.at or self.state.asked
        content = message.get("content")
        below = here.below("/content")
        for base, part in parts_of(content):
            match part:
                case {"functionResponse": dict(answer)}:
                    yield self._answer(answer, below.below(f"{base}/functionResponse"))
        answers = any(
            "functionResponse" in one for _, one in parts_of(content) if isinstance(one, dict)
        )
        pictures = () if answers else tuple(media(content, below.evidence.pointer))
        typed, brought = self._typed(message, here)
        if typed and message["id"] in self.state.found.replaces:
            earlier = self.state.found.replaces[message["id"]]
            yield Fact(here, "replaces", {"kind": "edited", "message": earlier})
        yield from self._said(typed, pictures, here)
        if brought.strip() and not self.state.nobodys:
            yield Fact(below, "brought", {"text": brought})

    def _typed(self, message: Json, here: Origin) -> tuple[list[Typed], str]:
        """The words as they were typed, and the text of the files that they name."""
        content = message.get("content")
        found: list[Typed] = []
        brought = ""
        for base, text in texts_of(content):
            where = here.below("/content" + base)
            if brought:
                brought += text
            elif mark := BROUGHT.search(text):
                brought = text[mark.start() :]
                found.append(Typed(where, text[: mark.start()], True))
            else:
                found.append(Typed(where, text, False))
        shown = [
            Typed(here.below("/displayContent" + base), text, False)
            for base, text in texts_of(message.get("displayContent"))
        ]
        if any(one.text.strip() for one in shown):
            found = shown
        return [one for one in found if one.text.strip()], brought

    def _said(
        self, typed: list[Typed], pictures: tuple[Attachment, ...], here: Origin
    ) -> Iterator[Event]:
        own: list[Typed] = []
        for one in typed:
            why = why_injected(one.text)
            if not why:
                own.append(one)
                continue
            yield from self._context(one.text, one.here)
            if SNAPSHOT.match(one.text):
                yield Notice(one.here, "compacted")
            else:
                yield Skipped(one.here, why)
        if self.state.nobodys:
            yield from self._brief(own)
            return
        for one in own:
            text, via, within = said(one.text)
            where = one.here.by("user")
            yield Message(where, "user", text, via, pictures, within=within or one.within)
            pictures = ()
        if pictures:
            text = "\n".join(mark_of(one.media, one.size) for one in pictures)
            yield Message(here.below("/content").by("user"), "user", text, "typed", pictures)

    def _brief(self, own: list[Typed]) -> Iterator[Event]:
        """No human speaks in a subagent's session."""
        for one in own:
            if self.state.nobodys == BRIEF and self.state.is_alone:
                yield Fact(one.here, "brief", one.text)
            else:
                yield Skipped(one.here, self.state.nobodys)
            self.state.nobodys = LATER

    def _context(self, text: str, here: Origin) -> Iterator[Event]:
        """Where the session runs, as the client tells the model."""
        if self.state.is_main and (found := SYSTEM.search(text[:2000])):
            yield Fact(here, "platform", found[1])
        if found := FOLDER.search(text[:4000]):
            yield from self.state.worked(found[1], here)

    def _answer(self, answer: Json, here: Origin) -> Event:
        """A result that is sent to the model; mostly the call's own record has it."""
        ident = words(answer.get("id"))
        if ident in self.state.found.answered:
            return Skipped(here, "repeated result")
        call = self.state.calls.answer(ident) if ident in self.state.calls.issued else None
        if call is None:
            return Skipped(here, "result without its call")
        told = answer.get("response")
        held = told if isinstance(told, dict) else {}
        at = here.evidence.pointer
        found = Told(words(answer.get("name")), None, None, at, held, f"{at}/response", None, at)
        output, place = found.output()
        end = verdict(found)
        own = here.by(self.state.actor)
        where = Origin(own.evidence.at(place or at), own.at, own.actor, own.message, own.branch)
        return ToolResult(where, call, output, *end)
