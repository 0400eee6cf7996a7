"""What mini-swe-agent 2 says in the user's role, as `extra.interrupt_type` tells.

An answer without a call that it takes is no message of its own: it stands in the reply that is kept
beside the complaint. A human's words stand behind the client's (`InteractiveAgent`, 2.4).
"""

from collections.abc import Iterator, Sequence

from forsy_retrace.calls import Verdict
from forsy_retrace.dialects import content_text
from forsy_retrace.events import Message, Notice, Skipped, ToolResult, Via

from .place import DRIVERS, Json, Place, Told

COMPLAINT = "FormatError"
OPENINGS: dict[str, tuple[str, Via]] = {
    "UserRejection": (
        "Commands not executed. The user rejected your commands with the following message: ",
        "rejection",
    ),
    "UserInterruption": ("Interrupted by user: ", "typed"),
    "UserNewTask": ("The user added a new task: ", "typed"),
}
"""What the client says before a human's words, by the kind of the interruption."""


def kind(message: Json) -> str:
    """The kind of an interruption; empty for any other message."""
    match message.get("extra"):
        case {"interrupt_type": str(name)} if name == COMPLAINT or name in OPENINGS:
            return name
    return ""


def refused(message: Json) -> tuple[Json, Json] | None:
    """The reply whose answer was not taken, and the answer."""
    match message.get("extra"):
        case {
            "interrupt_type": "FormatError",
            "response": {"choices": [{"message": dict(answer)}, *_]} as reply,
        }:
            return reply, answer
    return None


def never_ran(message: Json, here: Place, waiting: Sequence[str]) -> Iterator[Told]:
    """The ends of calls that were not taken, or that the user turned down."""
    is_refused = kind(message) == COMPLAINT
    complains = is_refused and "content" in message
    text = content_text(message["content"]) if complains else None
    told = here.deeper("extra", "interrupt_type")
    where = here.deeper("content") if complains else told
    refused, turned_down = (
        Verdict("blocked", "input-refused"),
        Verdict("rejected", "rejected-by-user"),
    )
    end = (refused if is_refused else turned_down)._replace(basis=told.pointer)
    for call in waiting:
        yield Told(("result", call, text or ""), ToolResult(where.origin(), call, text, *end))


def said(message: Json, here: Place) -> Iterator[Told]:
    """What a human said, and that the work was interrupted."""
    name, text = kind(message), content_text(message.get("content"))
    opening, via = OPENINGS[name]
    where = here.deeper("content")
    if name == "UserInterruption":
        place = here.deeper("extra", "interrupt_type")
        yield Told(None, Notice(place.origin("system"), "interrupted"))
    if text.startswith(opening) and (words := text[len(opening) :]).strip():
        event = Message(where.origin("user"), "user", words, via, within=True)
        yield Told(("user", words.strip()), event)
    else:
        yield Told(None, Skipped(where.origin("system"), DRIVERS))
