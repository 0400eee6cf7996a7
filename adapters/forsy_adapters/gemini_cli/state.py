"""What is known of a file while its records are read, and what several rooms need."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.calls import Calls
from forsy_retrace.events import Attachment, Event, Fact, Origin
from forsy_retrace.sdk import base64_size, compact

from .messages import PLACE, Json, Survey, parts_of

BRIEF = "a subagent's brief"


class State:
    """Whose file it is, and how far it is read."""

    def __init__(self, found: Survey, actor: str) -> None:
        self.found, self.actor = found, actor
        self.calls = Calls()
        self.is_main = actor == "agent"
        self.is_alone = False
        """A subagent's file by itself."""
        self.nobodys = "" if self.is_main else BRIEF
        """What the user's next words are in a subagent's file; empty in any other."""
        self.harness = ""
        """The harness that was told last, where it is another."""
        self.place = ""
        """The folder that was told last."""
        self.asked = ""
        """When the user spoke last."""

    def worked(self, folder: str, here: Origin) -> Iterator[Event]:
        """The folder of the work, where it is another than before."""
        if folder != self.place and self.is_main:
            if not self.place:
                yield Fact(here, "shows", PLACE)
            self.place = folder
            yield Fact(here, "cwd", folder)


def output_of(answer: Json) -> tuple[str | None, str]:
    """The text that the model got back, and where it stands in the answer."""
    for key in ("output", "error"):
        if isinstance(answer.get(key), str):
            return answer[key], f"/{key}"
    return (compact(answer), "") if answer else (None, "")


def media(content: Any, base: str) -> Iterator[Attachment]:
    """Pictures, sounds and documents; what a result brings may stand inside of it."""
    for path, part in parts_of(content):
        match part:
            case {"inlineData": {"mimeType": str(kind), "data": str(data)}}:
                yield Attachment(kind, base64_size(data), f"{base}{path}/inlineData/data")
            case {"fileData": {"mimeType": str(kind), "fileUri": str()}}:
                yield Attachment(kind, 0, f"{base}{path}/fileData/fileUri")
            case {"functionResponse": {"parts": list(inner)}}:
                yield from media(inner, f"{base}{path}/functionResponse/parts")


def by(here: Origin, actor: str, message: str | None = "") -> Origin:
    kept = here.message if message == "" else message
    return Origin(here.evidence, here.at, actor, kept, here.branch)


def timed(here: Origin, at: str | None) -> Origin:
    return Origin(here.evidence, at, here.actor, here.message, here.branch)
