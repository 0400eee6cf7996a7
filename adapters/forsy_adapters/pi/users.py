"""What stands in the user's role: a human's words, and what the harness sets around them."""

import re
from typing import Any

from forsy_retrace.sdk import later, words

BRIEF = "a subagent's brief"
LATER = "injected: later words to a subagent"
"""What the user's role says in a subagent's session, first and then: no human speaks in it."""

INJECTED: tuple[tuple[str, re.Pattern[str]], ...] = (
    # What OpenClaw puts into the user's role; nobody typed it.
    (BRIEF, later(r"(?:\[[^\]\n]{1,60}\] )?\[Subagent Context\]")),
    ("injected: heartbeat", later(r"\[OpenClaw heartbeat|Read HEARTBEAT\.md if it exists")),
    ("injected: scheduled job", later(r"\[cron:[^\]\n]{1,200}\]")),
    ("injected: system event", later(r"System: \[[^\]\n]{1,60}\] ")),
    ("injected: memory flush", later(r"Pre-compaction memory flush")),
    ("injected: new session", later(r"A new session was started via /")),
)
SENDERS = {
    "internal_system": "injected: by the harness",
    "inter_session": "injected: by another session",
}
"""Kinds of `provenance` that OpenClaw notes beside words in the user's role."""
ENVELOPE = later(
    r"(?:\[[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)? [^\]\n]{1,20}\] ?"
    r"|[A-Z][\w ]{2,40} \(untrusted(?: metadata|, for context)\):\n"
    r"```json\n(?:[^`]|`(?!``))*+```\n*)+"
)
"""Who wrote, where and when: OpenClaw sets it before the words."""
SKILL = later(r'<skill name="([^"\n]{1,80})" location="[^"\n]*">\n.*\n</skill>(?:\n\n(.*))?', re.S)
"""What Pi puts in place of `/skill:NAME`, and the words that followed it."""


def injected(text: str) -> str:
    """Why nobody typed this; empty where somebody did."""
    return next((why for why, pattern in INJECTED if pattern.match(text)), "")


def sender(message: dict[str, Any]) -> str:
    """Why no human sent this, as the harness notes it; empty where it notes nothing."""
    noted = message.get("provenance")
    return SENDERS.get(words(noted.get("kind")), "") if isinstance(noted, dict) else ""
