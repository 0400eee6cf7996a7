"""What stands in the user's role: a human's words, results of calls, and what the client put in."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import (
    Attachment,
    Delegation,
    Event,
    Fact,
    Message,
    Notice,
    Origin,
    Skipped,
)
from forsy_retrace.sdk import named, text_of

from .blocks import is_picture, pictures_in
from .known import Known, uid_of
from .lines import Json, Line, is_result
from .places import deeper
from .reports import Reports
from .returned import Results
from .words import (
    CAVEAT,
    ENDED,
    OTHER_AGENT,
    SKILL_BODY,
    SKILL_IN,
    is_meta,
    of_agents,
    pieces,
    sender,
)


class Prompts:
    """Reads the records of the user's messages."""

    def __init__(self, known: Known) -> None:
        self.known = known
        self.results = Results(known)
        self.reports = Reports(known)

    def read(self, line: Line, message: Json) -> Iterator[Event]:
        """A message of the user's role: each of its blocks gives events, or all of it one."""
        content, body = message.get("content"), line.body
        here = self.known.origin(line, "user", "/message/content")
        if line.brief and not line.is_meta:
            yield self._brief(line, here)
            return
        if body.get("isCompactSummary") is True:
            if not line.lane:
                yield Fact(here, "brought", {"text": text_of(content)})
            yield Skipped(here, "injected: compaction summary")
            return
        if isinstance(content, str):
            events = list(self.words(line, here, content))
            yield from events or [Skipped(here, "repeated history")]
            return
        blocks = content if isinstance(content, list) else []
        found = False
        pictures = tuple(pictures_in(blocks, f"{line.prefix}/message/content"))
        for index, block in enumerate(blocks):
            origin = self.known.origin(line, "user", f"/message/content/{index}")
            match block:
                case {"type": "tool_result", "tool_use_id": str(call)}:
                    events = list(self.results.read(line, origin, block, call))
                case {"type": "text", "text": str(text)}:
                    events = list(self.words(line, deeper(origin, "text"), text, pictures))
                    pictures = () if any(isinstance(e, Message) for e in events) else pictures
                case str():
                    events = list(self.words(line, origin, block, pictures))
                case {"type": "image" | "document"}:
                    continue
                case _:
                    kind = block.get("type") if isinstance(block, dict) else None
                    events = [Skipped(origin, f"unknown block{named(kind)}")]
            found = found or bool(events)
            yield from events
        if pictures and not any(is_result(block) for block in blocks):
            event = self._picture_alone(line, here, blocks, pictures)
            found = found or event is not None
            if event is not None:
                yield event
        if not found:
            yield Skipped(here, "repeated history" if blocks else "empty message")

    def _picture_alone(
        self, line: Line, here: Origin, blocks: list[Any], pictures: tuple[Attachment, ...]
    ) -> Event | None:
        """A picture that no words came with."""
        shown = [block for block in blocks if isinstance(block, dict) and is_picture(block)]
        key = ("picture", line.at or uid_of(line), *(str(block)[:200] for block in shown))
        if line.body.get("isMeta") is True or line.lane:
            return Skipped(here, "injected: picture")
        text = text_of(shown)
        return self.known.once(key, Message(here, "user", text, "typed", pictures, within=True))

    def _brief(self, line: Line, here: Origin) -> Event:
        call = self.known.found.calls.get(line.lane)
        if call is None and self.known.found.is_alone and not self.known.briefed:
            said = next((one.text for one in pieces(line.words) if one.via == "typed"), "")
            if said:
                self.known.briefed = True
                return Fact(here, "brief", said)
        if call is None or line.lane in self.known.delegated:
            return Skipped(here, "a subagent's brief")
        self.known.delegated.add(line.lane)
        return Delegation(here, call, self.known.found.actors.get(line.lane, "agent"))

    def unbriefed(self, line: Line, here: Origin) -> Iterator[Event]:
        """A subagent whose log lacks its brief (2.0.60) was started all the same."""
        self.known.delegated.add(line.lane)
        call = self.known.found.calls.get(line.lane)
        if call is not None:
            yield Delegation(here, call, self.known.found.actors.get(line.lane, "agent"))

    def words(
        self, line: Line, here: Origin, text: str, pictures: tuple[Attachment, ...] = ()
    ) -> Iterator[Event]:
        """What of a user turn's text is a human's."""
        key = ("said", line.at or uid_of(line), text)
        if key in self.known.seen:
            return
        self.known.seen.add(key)
        for part in pieces(text):
            if part.notice == "interrupted" and line.body.get("interruptedByShutdown") is True:
                why = "the client was shut down"
                yield Skipped(here, why) if line.lane else Notice(here, "cut", why)
            elif part.notice == "interrupted":
                actor = here.actor if line.lane else "system"
                yield Notice(
                    Origin(here.evidence, here.at, actor, None, here.branch), "interrupted"
                )
            elif part.notice == "cleared":
                yield Notice(here, "cleared")
            elif is_meta(line.body, part):
                yield from self._injected(line, here, text, part.reason)
            elif part.reason == ENDED:
                yield self.reports.ended(here, text)
            elif part.reason == OTHER_AGENT and not line.lane:
                told = of_agents(text)
                reports = [event for one in told for event in self.reports.of(here, *one)]
                yield from reports or [Notice(here, "ended", part.reason)]
            elif line.lane and part.via is not None:
                yield Skipped(here, "message to a subagent")
            elif not line.lane and (why := sender(line.body, part)):
                yield Notice(here, "ended", why)
            elif part.via is None:
                yield Skipped(here, part.reason)
            elif part.via == "command" and line.parent and line.parent == self.known.caveat:
                yield Skipped(here, "local command")
            else:
                if part.notice == "plan":
                    yield Notice(here, "cleared")
                self.known.queue.said.add(part.text.strip())
                self.known.command = line.uuid if part.via == "command" else None
                within = part.text != text
                yield Message(here, "user", part.text, part.via, pictures, within=within)

    def _injected(self, line: Line, here: Origin, text: str, reason: str) -> Iterator[Event]:
        """What the client put in by itself; a skill's text came with the call that names it.

        One that the user invoked, and any command's text, stands right behind the command.
        """
        if reason == CAVEAT:
            self.known.caveat = line.uuid
        first = text.partition("\n")[0].strip()
        folder = first.removeprefix(SKILL_IN).strip() if first.startswith(SKILL_IN) else None
        brought = {"text": text, "folder": folder}
        call, command = line.body.get("sourceToolUseID"), self.known.command
        if isinstance(call, str) and self.known.tools.get(call) == "Skill":
            yield Fact(here, "brought", {"call": call, **brought})
        elif command and line.parent == command and reason in ("", SKILL_BODY):
            if folder:
                yield Fact(here, "skills", [folder.replace("\\", "/").rpartition("/")[2]])
            yield Fact(here, "brought", brought)
        else:
            yield Skipped(here, reason or "injected: text")

    def queued(self, line: Line, here: Origin, text: str) -> Iterator[Event]:
        """A prompt that was queued while the agent worked, and delivered in mid-turn."""
        for event in self.words(line, here, text):
            match event:
                case Message(role="user", via="typed"):
                    yield Message(here, "user", event.text, "queued", within=event.within)
                case _:
                    yield event
        if ("said", line.at or uid_of(line), text) not in self.known.seen:
            yield Skipped(here, "repeated history")
