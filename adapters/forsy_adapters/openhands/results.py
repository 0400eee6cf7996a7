"""How a call of the SDK ended, and what it did to files or showed of them."""

import difflib
import re
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from forsy_retrace.calls import Verdict
from forsy_retrace.dialects import content_text, media_type, payload_size
from forsy_retrace.events import Attachment, Change, Hunk, Origin, Outcome
from forsy_retrace.sdk import later, number, packed, pointer, words

from .._patches import hunks
from .shapes import Json

SUFFIX = "/metadata/suffix"
NO_CODE = -1
"""In the place of an exit code: the command runs on, or its end was not seen."""
SUFFIXES: tuple[tuple[str, re.Pattern[str], Outcome], ...] = (
    ("never-started", later(r'(?s)\s*\[Your command ".*" is NOT executed\.'), "blocked"),
    ("runs-on", later(r"(?s)\s*\[The command .{1,200}? seconds\. +You (?:may|can) "), "launched"),
    ("timed-out", later(r"\s*\[The command timed out after "), "timed_out"),
)
ERRORS: tuple[tuple[str, re.Pattern[str], Outcome], ...] = (
    # What the client tells in place of a result; any other error is a failure.
    ("interrupted", later(r"Tool call cancelled by interrupt"), "interrupted"),
    ("interrupted", later(r"Tool call interrupted before completion"), "interrupted"),
    ("interrupted", later(r"A restart occurred while this tool was in progress"), "interrupted"),
    ("no-such-tool", later(r"Tool '[^'\n]{1,200}' not found\. Available: "), "blocked"),
    ("input-refused", later(r"Error validating (?:tool '|args )"), "blocked"),
)
OWN_REASONS = (
    "User rejected the action",
    "User rejected the actions",
    "Superseded by a new user message",
)
"""What the client says where a rejection came without words."""
SUPERSEDED = OWN_REASONS[-1]
SHOWN = later(r"Here's the result of running `cat -n` on (?:a snippet of )?.{1,4000}?:\n")
FOLDER = later(r"Here's the files and directories up to \d levels? deep in ")
NUMBERED = later(r"\s{0,12}(\d{1,9})\t(.*)", re.S)
REPLACES = ("str_replace",)
"""Commands whose arguments tell what they change."""
MOST_LINES = 5000
"""Of a file whose differences are told."""


def output(observation: Json, base: str) -> tuple[str | None, str]:
    """What a call gave, and where it stands."""
    match observation.get("content"):
        case [{"type": "text", "text": str(text)}]:
            return text, f"{base}/content/0/text"
        case str(text):
            return text, f"{base}/content"
        case [*parts] if parts:
            return content_text(parts), f"{base}/content"
    return None, base


def pictures(content: Any, base: str) -> tuple[Attachment, ...]:
    """The pictures of a content whose parts list their links."""
    found = []
    for at, part in enumerate(content if isinstance(content, list) else ()):
        links = part.get("image_urls") if isinstance(part, dict) else None
        for place, link in enumerate(links if isinstance(links, list) else ()):
            if isinstance(link, str):
                media = media_type(link) or "image/unknown"
                where = base + pointer(at, "image_urls", place)
                found.append(Attachment(media, payload_size(link, True), where))
    return tuple(found)


def verdict(observation: Json, base: str) -> Verdict:
    """How a call ended that gave an observation; a command by its exit code."""
    code, where = exit_code(observation)
    failed = observation.get("is_error")
    if code is not None and code != NO_CODE:
        return Verdict("failed" if code else "ok", "exit-code", base + where, code)
    if failed is True:
        return Verdict("failed", "error-flag", f"{base}/is_error")
    if code == NO_CODE:
        return of_suffix(observation, base + SUFFIX)
    return Verdict("ok", "error-flag", f"{base}/is_error") if failed is False else Verdict()


def of_suffix(held: Json, place: str) -> Verdict:
    """How a command without an exit code stands, by what the client says behind its output."""
    for rule, pattern, outcome in SUFFIXES:
        if pattern.match(_suffix(held)):
            return Verdict(outcome, rule, place)
    return Verdict()


def _suffix(held: Json) -> str:
    inner = held.get("metadata")
    return words(inner.get("suffix") if isinstance(inner, dict) else "")


def with_suffix(
    text: str | None, place: Origin, held: Json, below: Origin, told: Verdict
) -> tuple[str | None, Origin]:
    """What an agent is shown of a command that the client left or stopped: why stands behind it.

    `below` is the origin of what holds the suffix.
    """
    behind = below.below(SUFFIX)
    if told.basis != behind.evidence.pointer:
        return text, place
    if not text:
        return _suffix(held), behind
    return text + _suffix(held), replace(place, pieces=(place.evidence, behind.evidence))


def exit_code(observation: Json) -> tuple[int | None, str]:
    """The exit code of a command, and where it stands: since 1.2 also beside the rest."""
    held = observation.get("metadata")
    inner = held.get("exit_code") if isinstance(held, dict) else None
    if (code := number(observation.get("exit_code"))) is not None:
        return code, "/exit_code"
    return number(inner), "/metadata/exit_code"


def folder_after(observation: Json) -> tuple[str, str]:
    """The shell's folder behind a command, and where it stands."""
    held = observation.get("metadata")
    return words(held.get("working_dir") if isinstance(held, dict) else ""), "/metadata/working_dir"


def of_error(text: str, base: str) -> Verdict:
    """How a call ended that the client answered with an error."""
    for rule, pattern, outcome in ERRORS:
        if pattern.match(text):
            return Verdict(outcome, rule, base)
    return Verdict("failed", "error-text", base)


def of_rejection(value: Json, base: str) -> Verdict:
    """Who turned a call down: the user, a hook, or the client for a newer message."""
    if value.get("rejection_source") == "hook":
        return Verdict("blocked", "hook-blocked", f"{base}/rejection_source")
    if value.get("rejection_reason") == SUPERSEDED:
        return Verdict("blocked", "never-started", f"{base}/rejection_reason")
    return Verdict("rejected", "rejected-by-user", f"{base}/kind")


def is_folder(observation: Any) -> bool:
    """Whether a look at a path showed what lies in a folder."""
    text = output(observation, "")[0] if isinstance(observation, dict) else None
    return FOLDER.match(text or "") is not None


def changes(observation: Json, base: str) -> Iterator[Change]:
    """The files of a call that ended well."""
    match observation:
        case {"command": "view", "path": str(path)}:
            yield from _shown(path, *output(observation, base))
        case {"path": str(path), "new_content": str(after), "command": str()}:
            yield from _made(path, observation, after, "prev_exist", base)
        case {"file_path": str(path), "new_content": str(after), "is_new_file": bool()}:
            yield from _made(path, observation, after, "", base)
        case {"commit": {"changes": dict(made)}}:
            for path, one in made.items():
                yield from _patched(path, one, base + pointer("commit", "changes", path))


def _made(path: str, observation: Json, after: str, existed: str, base: str) -> Iterator[Change]:
    """A file that was written, as it was before and is now."""
    before = observation.get("old_content")
    is_new = observation.get(existed) is False or observation.get("is_new_file") is True
    if is_new:
        yield Change(path, "created", after=after, pointer=f"{base}/new_content")
    elif isinstance(before, str):
        yield from _changed(path, before, after, base)
    elif observation.get("command") not in REPLACES:
        yield Change(path, "modified", after=after, pointer=f"{base}/new_content")


def _patched(path: str, one: Any, place: str) -> Iterator[Change]:
    """A file that `apply_patch` added, changed, moved or deleted."""
    match one:
        case {"type": "add", "new_content": str(after)}:
            yield Change(path, "created", after=after, pointer=f"{place}/new_content")
        case {"type": "delete"}:
            yield Change(path, "deleted", pointer=place)
        case {"type": "update", "old_content": str(before), "new_content": str(after), **rest}:
            moved = words(rest.get("move_path"))
            if moved and moved != path:
                yield Change(path, "deleted", pointer=place)
            yield from _changed(moved or path, before, after, place)


def _changed(path: str, before: str, after: str, place: str) -> Iterator[Change]:
    """What became of a text; nothing where it stayed, or where that takes too long to tell."""
    if pieces := differences(before, after):
        yield Change(path, "modified", pieces, packed(before), pointer=place)


def differences(before: str, after: str) -> tuple[Hunk, ...]:
    """What changed between two texts; nothing where that takes too long to tell."""
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > MOST_LINES:
        return ()
    return tuple(hunks(list(difflib.unified_diff(old, new, lineterm=""))[2:]))


def _shown(path: str, text: str | None, where: str) -> Iterator[Change]:
    """The lines of a file, without their numbers; none where the client left some out."""
    if not text or (head := SHOWN.match(text)) is None:
        return
    lines = text[head.end() :].removesuffix("\n").split("\n")
    found = [NUMBERED.fullmatch(line) for line in lines]
    numbers = [int(one[1]) for one in found if one]
    if len(numbers) == len(lines) and numbers == list(range(numbers[0], numbers[0] + len(lines))):
        held = "\n".join(one[2] for one in found if one)
        yield Change(
            path, "shown", shown=packed(held), start=numbers[0], pointer=where, trimmed=True
        )
