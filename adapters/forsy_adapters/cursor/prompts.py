"""What stands in the user's place: their words, and what the client set around them."""

import re
from datetime import datetime, timedelta, timezone
from typing import NamedTuple

from forsy_retrace.sdk import later, when

OPENS, CLOSES = "<user_query>", "</user_query>"
INJECTED = (
    "The above subagent result",
    "The beginning of the above subagent result",
    "Briefly inform the user about the task result",
)
"""What the client itself asks of the agent, in the user's place."""
STAMP = later(
    r"<timestamp>(?:[A-Z][a-z]+, )?([A-Z][a-z]{2})[a-z]* (\d{1,2}), (\d{4}),? (\d{1,2}:\d{2} [AP]M)"
    r" \(UTC(?:([+-]\d{1,2})(?::(\d{2}))?)?\)</timestamp>"
)
PICTURES = later(r"\[Image\]\s*|<image_files>.*?</image_files>", re.S)


class Prompt(NamedTuple):
    """The user's words, when they were sent, what came along, and how many pictures."""

    text: str
    at: str | None
    brought: str
    pictures: int
    is_clients: bool
    """The client's words, and nobody's."""


def prompt(text: str) -> Prompt:
    """The parts of a text; one without marks is all words."""
    head, mark, rest = text.partition(OPENS)
    if not mark:
        return Prompt(text.strip(), None, "", 0, False)
    body = rest.rpartition(CLOSES)[0] or rest
    stamp = STAMP.search(head)
    brought = head.replace(stamp[0], "") if stamp else head
    pictures = brought.count("[Image]")
    brought = PICTURES.sub("", brought).strip()
    said = body.strip()
    return Prompt(said, moment(stamp), brought, pictures, said.startswith(INJECTED))


def moment(stamp: re.Match[str] | None) -> str | None:
    """`Friday, May 8, 2026, 6:05 AM (UTC+5:30)` as ISO 8601."""
    if stamp is None:
        return None
    month, day, year, clock, hours, minutes = stamp.groups()
    try:
        local = datetime.strptime(f"{month} {day} {year} {clock}", "%b %d %Y %I:%M %p")
        away = timedelta(hours=abs(int(hours or 0)), minutes=int(minutes or 0))
        zone = timezone(-away if (hours or "").startswith("-") else away)
    except ValueError:
        return None
    return when(local.replace(tzinfo=zone).isoformat())
