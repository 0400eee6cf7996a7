"""Whose words a text is, and what the client set around them."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from forsy_retrace.events import Via
from forsy_retrace.sdk import later, pointer

SNAPSHOT = later(r"\s*<state_snapshot>")
"""What stands for the conversation before a compression."""
CONTEXT = later(
    r"\s*(?:<session_context>\s*)?This is the Gemini CLI\. We are setting up the context"
)
SYSTEM = later(r"^My operating system is: (.+)$", re.M)
FOLDER = later(
    r"^(?:- \*\*Workspace Directories:\*\*\n  - |I'm currently working in the directory: )(.+)$",
    re.M,
)

INJECTED: tuple[tuple[str, re.Pattern[str]], ...] = (
    # What the client puts into the user's role or the model's; nobody typed it.
    ("injected: context of the session", CONTEXT),
    ("injected: context of the session", later(r"\s*<session_context>")),
    ("injected: summary", SNAPSHOT),
    ("injected: by a hook", later(r"\s*<hook_context>")),
    ("injected: folders", later(r"- \*\*Workspace Directories:\*\*\n")),
    (
        "injected: editor",
        later(r"Here is (?:the user's|a summary of changes in the user's) editor"),
    ),
    ("injected: continuation", later(r"Please continue\.\Z")),
    ("injected: a loop", later(r"System: Potential loop detected\. Details: ")),
    ("injected: end of plan mode", later(r"User has manually exited Plan Mode\. Switching to ")),
    ("injected: acknowledgement", later(r"Got it\. Thanks for the additional context!\Z")),
    (
        "injected: acknowledgement",
        later(r"Binary content received\. Proceeding with analysis\.\Z"),
    ),
)
BROUGHT = later(r"(?:\A|\n)--- Content from referenced files ---")
"""Before the files that the user's words name."""
STEERING = later(
    r"User (?:steering update|hints):\n<user_input>\n(.*)\n</user_input>\nInternal instruction: ",
    re.S,
)
SHELL = later(
    r"I ran the following shell command:\n```sh\n(.*?)\n```\n\n"
    r"This produced the following result:\n```\n.*```\Z",
    re.S,
)
COMMAND = later(r"/[a-z][\w:.-]*(?:\s|\Z)")


class Said(NamedTuple):
    """What a human said, and how it came; `within` that it is a part of its place."""

    text: str
    via: Via
    within: bool


def texts_of(content: Any) -> Iterator[tuple[str, str]]:
    """The texts of a content that are no thoughts, and where they stand below it."""
    for index, part in enumerate(content) if isinstance(content, list) else [(None, content)]:
        base = "" if index is None else pointer(index)
        match part:
            case str(text):
                yield base, text
            case {"text": str(text), **rest} if rest.get("thought") is not True:
                yield base + "/text", text


def why_injected(text: str) -> str:
    """Why nobody said this; empty where somebody did."""
    return next((why for why, pattern in INJECTED if pattern.match(text)), "")


def said(text: str) -> Said:
    """The human's words in a text of the user's role."""
    if found := SHELL.match(text):
        return Said("!" + found[1].replace("\\`", "`").replace("\\\\", "\\"), "shell line", True)
    if found := STEERING.match(text):
        return Said(found[1], "queued", True)
    if COMMAND.match(text):
        return Said(text, "command", False)
    return Said(text, "typed", False)
