"""Which of the texts in the user's role a human wrote: about two in three are the client's.

Each row of `INJECTED` is how such a text begins. A rollout with `user_message` events names the
human's words itself; only what these leave open is judged by its beginning.
"""

import re

from forsy_retrace.sdk import later

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
    ("<user_shell_command>", "output of the user's shell line"),
    ("<subagent_notification>", "notice: subagent ended"),
    ("<turn_aborted>", "notice: turn aborted"),
    ("<user_action>", "notice: review"),
    ("<model_switch>", "injected: model switch"),
    ("<image name=", "injected: picture's name"),
    ("</image>", "injected: picture's name"),
    ("Another language model started to solve this problem", "injected: compaction summary"),
)
"""How a text that nobody wrote begins, and what it is."""

REQUEST = later(r"\A\s*# Context from my IDE setup:.*?^## My request for Codex:\s*\n", re.S | re.M)
CWD = later(r"<cwd>\s*([^<\n]{1,1000}?)\s*</cwd>")
SHELL = later(r"<shell>\s*([^<\n]{1,100}?)\s*</shell>")
WRAPPED = later(
    r"\A\s*(?:# AGENTS\.md instructions[^\n]*\n\s*)?"
    r"<(user_instructions|INSTRUCTIONS)>\s*(.*?)\s*</\1>\s*\Z",
    re.S,
)
SHELL_LINE = later(r"<command>\s*(.*?)\s*</command>", re.S)
LIMIT = later(
    r"(?i)(?:usage limit|rate limit|quota exceeded|out of credits|insufficient_quota|limit reached)"
)


def injected(text: str) -> str:
    """Why a text in the user's role is not a human's; empty where it may be."""
    lead = text.lstrip()
    return next((reason for opening, reason in INJECTED if lead.startswith(opening)), "")


def human(text: str) -> str:
    """What the human typed, without what the editor put before it."""
    found = REQUEST.match(text)
    return text[found.end() :].strip() if found else text


def instructions(text: str) -> str:
    """Standing instructions without their wrapping."""
    found = WRAPPED.match(text)
    return found[2] if found else text.strip()
