"""What all shapes of the log share: places, moments, calls, what came of them, attachments."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from forsy_retrace.calls import Verdict
from forsy_retrace.events import Attachment, Origin
from forsy_retrace.sdk import number, parsed, pointer, when, words
from forsy_retrace.source import Evidence

Json = dict[str, Any]

CANCELLED = "CancelToolCall:"
"""How the exception of a call begins that was not let run (models.py, since 0.27)."""
BY_USER = f"{CANCELLED} User cancelled tool call"
"""What `--tools-approve` makes of the user's no."""
LONGEST = timedelta(days=30)
MILLISECOND = timedelta(milliseconds=1)


class Node(NamedTuple):
    """An object of the log, and where it stands."""

    value: Json
    here: Evidence

    def at(self, *keys: str | int) -> Evidence:
        """The place of what lies below it."""
        return self.here.at(self.here.pointer + pointer(*keys))

    def get(self, key: str) -> Any:
        """What it has under a name."""
        return self.value.get(key)

    def word(self, key: str) -> str:
        """A text that it has under a name."""
        return words(self.value.get(key))


class Clock(NamedTuple):
    """When a model was asked, and when it had answered: by the row of its answer."""

    node: Node | None = None
    """None where no row tells."""
    message: str = ""
    """What tells the answer from others."""

    @property
    def began(self) -> str | None:
        """Before 0.27 the column had no zone, but its name says it: `datetime_utc`."""
        value = self.node.get("datetime_utc") if self.node else None
        return when(value) or (when(f"{value}Z") if isinstance(value, str) else None)

    @property
    def ended(self) -> str | None:
        lasted = number(self.node.get("duration_ms")) if self.node else None
        if self.began is None or lasted is None or not 0 <= lasted < LONGEST // MILLISECOND:
            return None
        try:
            return when((datetime.fromisoformat(self.began) + lasted * MILLISECOND).isoformat())
        except OverflowError:
            return None

    def asked(self, place: Evidence, actor: str) -> Origin:
        """The origin of what was given to the model."""
        is_elsewhere = self.node is not None and self.node.here.record != place.record
        dated = self.node.here if self.node and self.began and is_elsewhere else None
        return Origin(place, self.began, actor, dated=dated)

    def answered(self, place: Evidence) -> Origin:
        """The origin of what the model gave."""
        ended, message = self.ended, self.message
        clock = (self.node.at("datetime_utc"), self.node.at("duration_ms")) if self.node else ()
        return Origin(place, ended, "agent", message or None, clock=clock if ended else ())


def sent_in(call: Node) -> Any:
    """The arguments of a call: an object, mostly as a text of JSON."""
    sent = call.get("arguments")
    opened = parsed(sent) if isinstance(sent, str) else sent
    return opened if isinstance(opened, dict) else sent


def verdict(result: Node, names_exceptions: bool) -> Verdict:
    """How a call ended: by the exception, which is logged since 0.27.

    What a provider ran itself has none in any case.
    """
    raised, base = result.get("exception"), result.here.pointer
    if not isinstance(raised, str) or not raised.strip():
        if raised is not None or result.get("server_executed"):
            return Verdict()
        if "exception" in result.value:
            return Verdict("ok", "error-field", f"{base}/exception")
        return Verdict("ok", "no-error") if names_exceptions else Verdict()
    if raised == BY_USER:
        return Verdict("rejected", "denied", f"{base}/exception")
    if raised.startswith(CANCELLED):
        return Verdict("blocked", "denied", f"{base}/exception")
    return Verdict("failed", "error-field", f"{base}/exception")


def pictures(held: Sequence[Node], beside: Evidence) -> tuple[Attachment, ...]:
    """Attachments, each by its bytes, or by its address or path where the log has no bytes."""
    return tuple(one for one in (_picture(node, beside) for node in held) if one is not None)


def _picture(node: Node, beside: Evidence) -> Attachment | None:
    kind = node.word("type") or "application/octet-stream"
    record = node.here if node.here.record != beside.record else None
    match node.value:
        case {"content": {"blob": int(size)}}:
            return Attachment(kind, size, node.at("content").pointer, record)
        case {"content": True, "content_length": int(size)}:
            return Attachment(kind, size, node.at("content").pointer, record)
    for key in ("url", "path"):
        if node.word(key):
            return Attachment(kind, 0, node.at(key).pointer, record)
    return None
