"""The user's role: a human's words, and what the client puts in their place or before them."""

import re
from typing import NamedTuple

from forsy_retrace.sdk import between, later

INJECTED: tuple[tuple[str, re.Pattern[str]], ...] = (
    # What no human wrote, by how it begins; the first row that matches counts.
    ("injected: a scheduled job", later(r"\[IMPORTANT: You are running as a scheduled cron job\.")),
    ("injected: a command in the background", later(r"\[IMPORTANT: Background process ")),
    ("injected: the plan after a summary", later(r"\[Your active task list was preserved ")),
    ("injected: a goal to go on with", later(r"\[Continuing toward your standing goal\]")),
    ("injected: a review of the session", later(r"Review the conversation above and ")),
    ("injected: a session handed over", later(r"\[Session was just handed off ")),
    ("injected: tools were loaded again", later(r"\[IMPORTANT: MCP servers have been reloaded")),
    ("injected: a task of the board", later(r"work kanban task \S{1,80}\s*\Z")),
    ("injected: output that was watched for", later(r"\[IMPORTANT: Watch patterns? ")),
    (
        "injected: a skill with words behind it",
        later(r'\[IMPORTANT: The "[^"\n]{1,200}" skill is '),
    ),
    (
        "injected: a nudge of the client",
        later(
            r"\[System: (?:Your previous |The previous |You edited code |Continue now|You are a )"
        ),
    ),
)
REPORT = later(r"\[ASYNC DELEGATION (?:BATCH )?COMPLETE — (?P<id>[\w.-]{1,80})\]")
TASK = later(r"^--- \S TASK (?P<number>\d{1,4})/\d{1,4}[^\n]*---\n", re.M)
"""How the report of each subagent is headed, where one notice brings several."""
RESULT = "\n--- RESULT ---\n"
"""The same, where it brings one."""
TRANSCRIPT = "\nFull live transcript"
LEAD = later(
    r"\s*(?:"
    r"<memory-context>(?:(?!</memory-context>).)*</memory-context>"
    r"|\[Replying to(?: your previous message)?: \"(?:(?!\"\]\n\n).){0,600}\"\]"
    r"|\[System note: (?:(?!\]\n\n).)*\]"
    r"|\[Note: (?:(?!\]\n\n).)*\]"
    r"|\[The user sent (?:(?!\]\n\n).)*\]"
    r"|\[Voice channel now: [^\]\n]*\]"
    r"|\[Triggering message id: [^\]\n]*\]"
    r")\s*",
    re.S,
)
"""What the client puts before the words: notes, what they reply to, files that came with them."""
SENDER = later(r"\[[^\]\n]{1,80}\] ")
"""Who speaks, in a chat of several people."""
BACKFILL = "\n\n[New message]\n"
"""Behind what others said in the channel before."""
ALONE = ("dm", "private", "")
"""Chats of one person."""
MOST_LEADS = 8
SKILL = later(
    r'\[IMPORTANT: The user has invoked the "?(?P<name>[^"\n\]]{1,200})"?,? (?P<rest>[^\n]*)'
)
INSTRUCTED = "The user has provided the following instruction alongside the skill invocation: "
RUNTIME = "\n\n[Runtime note:"
BUNDLE = "skill bundle,"
IN_A_BUNDLE = "\nUser instruction: "
FIRST_OF_BUNDLE = "\n\n[Loaded as part of the "
STEER = (
    "[OUT-OF-BAND USER MESSAGE — a direct message from the user, delivered mid-turn; "
    "not tool output]\n",
    "\n[/OUT-OF-BAND USER MESSAGE]",
)
"""Around what the user said while a call ran, behind what it came back with."""
UNANSWERED = ("The user did not provide a response", "[user did not respond within ")
"""What stands for an answer where none came."""
STOPPED = later(r"Operation interrupted(?:\.\Z|: | during retry )")
"""What the client says in the model's place when the user stopped it."""


class Invoked(NamedTuple):
    """A skill that the user called, and what the user wrote behind its name."""

    name: str
    text: str


def injected(text: str) -> str:
    """Why a text in the user's role is none of a human's; empty for all others."""
    return next((why for why, pattern in INJECTED if pattern.match(text)), "")


def invoked(text: str) -> Invoked | None:
    """The skill that the user called, of which the text is all that it says."""
    if (found := SKILL.match(text)) is None:
        return None
    if BUNDLE in found["rest"][:40]:
        said = text.partition(IN_A_BUNDLE)[2].partition(FIRST_OF_BUNDLE)[0]
    else:
        said = text.rpartition(INSTRUCTED)[2] if INSTRUCTED in text else ""
        said = said.partition(RUNTIME)[0]
    return Invoked(found["name"], said.strip())


def typed(text: str, kind: str) -> str:
    """The words without what the client put before them, in a chat of that kind."""
    shared = kind not in ALONE
    if shared and BACKFILL in text:
        text = text.rpartition(BACKFILL)[2]
    start = 0
    for _ in range(MOST_LEADS):
        found = LEAD.match(text, start) or (SENDER.match(text, start) if shared else None)
        if found is None:
            break
        start = found.end()
    return text[start:]


def steered(text: str) -> str:
    """What the user said while a call ran; empty where nothing."""
    return (between(text, *STEER) or "").strip() if STEER[0] in text else ""


def reports(text: str) -> list[tuple[int, str]]:
    """What subagents in the background came back with, by their numbers from 0."""
    heads = list(TASK.finditer(text))
    if not heads:
        return [(0, text.partition(RESULT)[2].strip())] if RESULT in text else []
    ends = [one.start() for one in heads[1:]] + [len(text)]
    return [
        (int(head["number"]) - 1, text[head.end() : end].partition(TRANSCRIPT)[0].strip())
        for head, end in zip(heads, ends, strict=True)
    ]
