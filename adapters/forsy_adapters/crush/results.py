"""What came of a call: whether it worked, and what it did to files or showed of them."""

import re
from collections.abc import Iterator
from typing import Any

from forsy_retrace.calls import Verdict
from forsy_retrace.events import Change, Outcome
from forsy_retrace.sdk import later, lines_of, number, packed, parsed, words

from .._patches import differences, hunks
from .stored import Json, Part

ERRORS: tuple[tuple[str, re.Pattern[str], Outcome], ...] = (
    # What an error says that is more than a failure (`internal/agent`, `internal/llm/agent`).
    (
        "aborted-by-user",
        later(r"Error: user cancelled assistant tool calling|Tool execution canceled by user"),
        "interrupted",
    ),
    (
        "rejected-by-user",
        later(r"(?i)(?:user denied permission|permission denied)\Z"),
        "rejected",
    ),
    ("no-such-tool", later(r"(?i)tool not found: "), "blocked"),
)
SHELL = "bash"
EXIT = later(r"(?:\A|\n)Exit code (-?\d{1,10})\s*\Z")
"""What stands behind the output of a command that failed (`formatOutput`)."""
ABORTED = later(r"(?:\A|\n)Command was aborted before completion\s*\Z")
FOLDER = later(r"\n\n<cwd>[^<\n]{0,4000}</cwd>\s*\Z")
"""What stands behind any output: where the shell is then."""
MOST = 5000
"""Characters of an output in which these are looked for."""
NEW = later(r"@@ -0,0 ")
PIECES = later(r"^@@ -\d", re.M)
"""Where a patch's header ends."""


def noted(part: Part) -> Json:
    """What Crush notes beside a result, as a text that holds JSON."""
    held = parsed(words(part.data.get("metadata")))
    return held if isinstance(held, dict) else {}


def verdict(tool: str, part: Part) -> Verdict:
    """The verdict on a call by its result."""
    content, place = words(part.data.get("content")), part.at("content").pointer
    match part.data.get("is_error"):
        case True:
            for rule, pattern, outcome in ERRORS:
                if pattern.match(content):
                    return Verdict(outcome, rule, place)
            return Verdict("failed", "error-flag", part.at("is_error").pointer)
        case False if tool == SHELL:
            return _of_a_shell(content, part, place)
        case False:
            return Verdict("ok", "error-flag", part.at("is_error").pointer)
    return Verdict()


def _of_a_shell(content: str, part: Part, place: str) -> Verdict:
    """Crush flags no command that failed: it says so behind the output."""
    held = noted(part)
    if words(held.get("shell_id")):
        return Verdict("launched", "runs-on", part.at("metadata", "shell_id").pointer)
    tail = FOLDER.sub("", content[-MOST:])
    if ABORTED.search(tail):
        return Verdict("interrupted", "aborted", place)
    if found := EXIT.search(tail):
        code = int(found[1])
        return Verdict("failed" if code else "ok", "exit-code-in-output", place, code)
    if number(held.get("end_time")) is not None:
        return Verdict("ok", "no-exit-code", place)
    return Verdict()


def changes(tool: str, sent: Any, part: Part) -> tuple[Change, ...]:
    """The file of a call that ended well."""
    match sent:
        case {"file_path": str(path), **rest} if path:
            return tuple(_changes(tool, path, rest, part))
    return ()


def _changes(tool: str, path: str, sent: Any, part: Part) -> Iterator[Change]:
    held, place = noted(part), part.at("metadata").pointer
    before, after = words(held.get("old_content")), words(held.get("new_content"))
    match tool, held:
        case "edit" | "multiedit", {"new_content": str()} if not before:
            yield Change(path, "created", after=after, pointer=f"{place}/new_content")
        case "edit" | "multiedit", {"old_content": str()}:
            pieces = differences(before, after)
            yield Change(path, "modified", pieces, packed(before), pointer=place)
        case "write", {"diff": str(patch)} if found := PIECES.search(patch):
            body = patch[found.start() :]
            if NEW.match(body):
                yield Change(path, "created", after=words(sent.get("content")), pointer=place)
            else:
                pieces = tuple(hunks(lines_of(body)))
                yield Change(path, "modified", pieces, pointer=f"{place}/diff")
        case "view", {"content": str(text)}:
            start = (number(sent.get("offset")) or 0) + 1
            shown = packed(text)
            yield Change(path, "shown", shown=shown, start=start, pointer=f"{place}/content")
