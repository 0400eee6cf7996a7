"""What the model was told and offered: from Pi 1 on, messages in the system's role say both.

The first declares the sections of the prompt and the tools; a later one replaces a section, or
takes one away with null, and adds or removes tools (pi-ai 1.6, types.d.ts). The first is the
session's prompt here.
"""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.dialects import content_text
from forsy_retrace.events import Event, Fact, Origin, Skipped
from forsy_retrace.sdk import strings, words

Json = dict[str, Any]

ON_OFFER = "the system prompt and the tools on offer"


class System:
    """Reads the messages of one session in order."""

    def __init__(self) -> None:
        self.is_declared = False

    def read(self, message: Json, here: Origin) -> Iterator[Event]:
        """The prompt, and the tools that came to it."""
        told = list(self._prompt(message, here))
        match message.get("toolsAdded"):
            case [_, *_] as added:
                place = here.below("/message/toolsAdded")
                names = [words(one.get("name")) for one in added if isinstance(one, dict)]
                told += [
                    Fact(place, "tools", [*filter(None, names)]),
                    Fact(place, "shows", ON_OFFER),
                ]
        yield from told or [Skipped(here, "a change of the prompt")]

    def _prompt(self, message: Json, here: Origin) -> Iterator[Event]:
        own = content_text(message.get("content"))
        match message.get("sections"):
            case dict(sections) if sections and not self.is_declared:
                self.is_declared = True
                text = "\n\n".join(filter(None, [own, *strings([*sections.values()])]))
                yield Fact(here.below("/message/sections"), "system_prompt", text)
            case _ if own.strip():
                yield Fact(here.below("/message/content"), "system_prompt", own)
