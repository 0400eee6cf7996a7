"""Which of the texts in the user's role a human wrote: about two in three are the client's.

Each row of `INJECTED` is how such a text begins. A rollout with `user_message` events names the
human's words itself; only what these leave open is judged by its beginning.
"""

import re
from typing import NamedTuple

from forsy_retrace.sdk import later, parsed

MARK = "injected: picture's name"
SHELLED = "output of the user's shell line"
INJECTED: tuple[tuple[str, str], ...] = (
    ("<environment_context>", "injected: environment"),
    ("<user_instructions>", "injected: instructions"),
    ("# AGENTS.md instructions", "injected: instructions"),
    ("<INSTRUCTIONS>", "injected: instructions"),
    ("<permissions instructions>", "injected: instructions"),
    ("<skills_instructions>", "injected: skills"),
    ("<skill>", "injected: skill body"),
    ("<recommended_plugins>", "injected: plugins"),
    ("<codex_internal_context", "injected: internal context"),
    ("<collaboration_mode>", "injected: instructions"),
    ("<user_shell_command>", SHELLED),
    ("<subagent_notification>", "notice: subagent ended"),
    ("<turn_aborted>", "notice: turn aborted"),
    ("<user_action>", "notice: review"),
    ("<model_switch>", "injected: model switch"),
    ("<image name=", MARK),
    ("</image>", MARK),
    ("<hook_prompt", "injected: hook"),
    ("<heartbeat>", "injected: schedule"),
    ("<timer_message>", "injected: schedule"),
    ("<external_message>", "injected: another program's words"),
    ("<codex_delegation>", "injected: another session's words"),
    ("Side conversation boundary.\n", "injected: side conversation"),
    ("Another language model started to solve this problem", "injected: compaction summary"),
)
"""How a text that nobody wrote begins, and what it is."""

TYPED = ("user.text", "user.image", "user.audio")
"""Kinds of content that are a human's own; `user.goal` is the client's, on what one asked."""
NOBODYS = (MARK, SHELLED, "injected: hook", "injected: schedule")
"""What nobody typed, though the client may file it with what a human did."""
WRAPS = (
    "# Context from my IDE setup:",
    "# Files mentioned by the user:",
    "# Files pasted by the user:",
    "# In app browser:",
    "## Referenced chats with Codex:",
    "<in-app-browser-context",
)
"""How the context begins that the editor or the app puts before a human's words."""
REQUEST = later(r"^## My request(?: for Codex)?:[ \t]*\n\s*", re.M)
REPLY = later(
    r"\s*<send_user_message_question_reply>(.*)</send_user_message_question_reply>\s*\Z", re.S
)
PLAN = later(r"<proposed_plan>\s*\n(.*?)</proposed_plan>", re.S)
ACCEPTED = "Implement the plan."
"""What the client sends for a human who accepts a proposed plan."""
AFRESH = later(r"Read the approved plan at \S{1,1000} and implement it\.\Z")
"""What it sends where the plan is taken up in a fresh context."""
CWD = later(r"(?:<cwd>\s*|^Current working directory: )([^<\n]{1,1000}?)\s*(?:</cwd>|$)", re.M)
APPROVAL = later(
    r"(?:<approval_policy>\s*|^Approval policy: )([a-z-]{1,40})\s*(?:</approval_policy>|$)", re.M
)
SHELL = later(r"<shell>\s*([^<\n]{1,100}?)\s*</shell>")
WRAPPED = later(
    r"\A\s*(?:# AGENTS\.md instructions[^\n]*\n\s*)?"
    r"<(user_instructions|INSTRUCTIONS)>\s*(.*?)\s*</\1>\s*\Z",
    re.S,
)
SHELL_LINE = later(r"<command>\s*(.*?)\s*</command>", re.S)


class Reply(NamedTuple):
    """What a human answered to questions that came beside the work, and which call asked them."""

    text: str
    call: str


def injected(text: str) -> str:
    """Why a text in the user's role is not a human's; empty where it may be."""
    lead = text.lstrip()
    if lead.startswith(WRAPS) and not REQUEST.search(lead):
        return "injected: the app's context"
    return next((reason for opening, reason in INJECTED if lead.startswith(opening)), "")


def human(text: str) -> str:
    """What the human typed, without what the editor put before it."""
    lead = text.lstrip()
    found = REQUEST.search(lead) if lead.startswith(WRAPS) else None
    if found:
        return lead[found.end() :].strip()
    answer = reply(text)
    return answer.text if answer else text


def reply(text: str) -> Reply | None:
    """The answers in what the client sends for them."""
    found = REPLY.match(text) if "<send_user_message_question_reply>" in text[:200] else None
    held = parsed(found[1]) if found else None
    rows = [row for row in (held if isinstance(held, list) else [held]) if isinstance(row, dict)]
    answers = [row.get("answer") for row in rows]
    said = [one for one in answers if isinstance(one, str) and one.strip()]
    if not said or len(said) < len(answers):
        return None
    match parsed(str(rows[0].get("questionItemId"))):
        case [_, str(call), *_]:
            return Reply("\n".join(said), call)
    return Reply("\n".join(said), "")


def proposed(text: str) -> str:
    """The plan that an agent's words propose; the client tells it once more by itself."""
    found = PLAN.search(text) if "<proposed_plan>" in text else None
    return found[1].strip() if found else ""


def instructions(text: str) -> str:
    """Standing instructions without their wrapping."""
    found = WRAPPED.match(text)
    return found[2] if found else text.strip()
