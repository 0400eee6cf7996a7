"""What is known of a file while its records are read, and what several rooms need."""

from collections.abc import Iterator

from forsy_retrace.calls import Calls
from forsy_retrace.events import Event, Fact, Origin

from .messages import PLACE, Survey

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
