"""What a human typed at the screen, by the keys that its log tells: early logs have no other word.

A line counts where a turn begins behind its Enter and each key of it is understood: not one that a
popup may have completed (`/`, `@`), nor one that was fetched from the history or put together by
moving in it.
"""

from collections.abc import Iterator

from msgspec.structs import replace

from forsy_retrace.events import Event, Message, Origin
from forsy_retrace.sdk import later

from .state import State
from .units import Unit

KEY = later(
    r"KeyEvent \{ code: (?:Char\('(?:\\(?=[\\']))?(?P<char>.)'\)|(?P<name>\w+)), "
    r"modifiers: KeyModifiers\((?P<with>[^)]{1,60})\), kind: (?P<kind>\w+)"
)
"""A key as the client writes it down."""
PLAIN = ("0x0", "SHIFT")
"""Modifiers with which a key stands for what it shows."""
ASKS = ("exec_approval_request", "apply_patch_approval_request")
"""Events that open a dialog: the keys that follow are for it."""
READING = "keys-pressed"


class Keys:
    """The line that is being typed, and the last that was entered."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.typed: list[tuple[str, Origin]] = []
        self.is_known = True
        self.in_dialog = False
        self.entered: tuple[Origin, str] | None = None

    def press(self, unit: Unit) -> None:
        """A key that was pressed, held or let go."""
        found = KEY.match(unit.body["event"])
        if self.in_dialog or (found and found["kind"] == "Release"):
            return
        if found is None or found["with"] not in PLAIN:
            self.is_known = False
        elif found["char"]:
            self.typed.append((found["char"], self.state.here(unit, "/event", "user")))
        elif found["name"] == "Backspace":
            del self.typed[-1:]
        elif found["name"] == "Enter":
            self._enter(unit)
        else:
            self.is_known = False
        if found and (found["char"], found["with"]) == ("c", "CONTROL"):  # empties the line
            self.typed, self.is_known = [], True

    def _enter(self, unit: Unit) -> None:
        text = "".join(char for char, _ in self.typed)
        self.entered = None
        if self.is_known and text.strip() and text[0] != "/" and "@" not in text:
            here = self.state.here(unit, "/event", "user")
            places = tuple(one.evidence for _, one in self.typed)
            self.entered = replace(here, pieces=places, reading=READING), text
        self.typed, self.is_known = [], True

    def take(self, unit: Unit) -> Iterator[Event]:
        """The words that a turn answers which begins with an event; dialogs open and close."""
        kind = unit.body.get("type")
        if kind in ASKS:
            self.in_dialog = True
        elif kind == "task_started" and self.entered is not None and not self.state.found.said:
            here, text = self.entered
            self.state.heard = True
            yield Message(here, "user", text)
        if kind in ("task_started", "task_complete"):
            self.entered, self.in_dialog = None, False
