"""Where a value stands and when it was logged, and what is told of it."""

from typing import Any, NamedTuple

from forsy_retrace.events import Event, Origin, Skipped
from forsy_retrace.sdk import parsed, pointer
from forsy_retrace.source import Record

Json = dict[str, Any]
Key = tuple[Any, ...]
DRIVERS = "injected: the driver's words"
"""Why what a driver writes in the user's place is left out."""


class Told(NamedTuple):
    """An event, and by what a later copy of it is known; None where copies don't matter."""

    key: Key | None
    event: Event
    tool: str = ""
    """A result's tool, where the log names it: old results have no call id."""
    permitted: bool = False
    """Whether a call is the run of one that had waited under its id for the user's word."""
    reply: str = ""
    """The id of the reply that tells it, where it has one."""
    is_whole: bool = False
    """Whether its text is the very value that stands at its place."""
    refused: Key | None = None
    """The tool and arguments of the call that an error refused, where it quotes them."""


class Place(NamedTuple):
    """A value inside a record: its pointer, its time, the id of the message that it is of."""

    record: Record
    pointer: str = ""
    at: str | None = None
    message: str | None = None
    branch: str = ""
    field: str = "content"
    """Under which name a message has its words."""

    @property
    def words(self) -> "Place":
        """The words of a message that stands here."""
        return self.deeper(self.field)

    def deeper(self, *parts: str | int) -> "Place":
        """A value inside this one."""
        return self._replace(pointer=self.pointer + pointer(*parts))

    def of(self, holder: Json, key: str) -> "Place":
        """The value of a field of what stands here; this place where it has none."""
        return self.deeper(key) if key in holder else self

    def to(self, path: str) -> "Place":
        """Another value of the same record."""
        return self._replace(pointer=path)

    def origin(self, actor: str = "agent") -> Origin:
        return Origin(self.record.here.at(self.pointer), self.at, actor, self.message, self.branch)

    @property
    def name(self) -> str:
        """Stands for the id of a message that has none."""
        return f"{self.record.here.start}{self.pointer}"


def opened(value: Any) -> Any:
    """The JSON that a text holds, where it holds an object or a list; else the value."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        inner = parsed(value)
        return inner if isinstance(inner, (dict, list)) else value
    return value


def each(value: Any, base: str) -> list[tuple[Any, str]]:
    """The values of a list at the pointer `base`, or the one value there, with their pointers."""
    if isinstance(value, list):
        return [(one, base + pointer(at)) for at, one in enumerate(value)]
    return [(value, base)]


def text_in(value: Any, *keys: str) -> str:
    """The first of these fields that is text with something in it."""
    held = value if isinstance(value, dict) else {}
    return next((held[k] for k in keys if isinstance(held.get(k), str) and held[k].strip()), "")


def nothing(here: Place, reason: str) -> Told:
    """A record, or a part of one, that tells nothing."""
    return Told(None, Skipped(here.origin("system"), reason))
