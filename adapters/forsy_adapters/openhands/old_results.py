"""How a call before the SDK ended, and what it did to files."""

import re
from collections.abc import Iterator
from typing import Any

from forsy_retrace.calls import Verdict
from forsy_retrace.events import Change, Outcome
from forsy_retrace.sdk import later, number, parsed, words

from .._patches import hunks
from . import results
from .shapes import Json

NOT_DONE = "ERROR:\n"
"""How what the editor tells begins where it did nothing."""
SAID = "formatted_output_and_error"
"""What the editor said, where the content is the patch."""
TOLD_ONLY_IF_FAILED = ("edit", "read", "write", "think", "task_tracking")
"""Observations in whose place an error stands where the call failed."""
CHANGING = ("str_replace", "insert", "undo_edit")
ERRORS: tuple[tuple[str, re.Pattern[str], Outcome], ...] = (
    ("interrupted-by-user", later(r"Stop button pressed\."), "interrupted"),
    ("never-started", later(r"The action has not been executed\b"), "blocked"),
)


def ended(value: Json, base: str) -> Verdict:
    """How a call ended."""
    extras = value.get("extras")
    text, place = shown(value)
    held = extras if isinstance(extras, dict) else {}
    text = text or ""
    match value.get("observation"):
        case "run":
            return _ran(held, base)
        case "error":
            for rule, pattern, outcome in ERRORS:
                if pattern.match(text):
                    return Verdict(outcome, rule, f"{base}/content")
            return Verdict("failed", "error-text", f"{base}/observation")
        case "user_rejected":
            return Verdict("rejected", "rejected-by-user", f"{base}/observation")
        case "edit" | "read" | "write" if text.startswith(NOT_DONE):
            return Verdict("failed", "editor-error", base + place)
        case kind if kind in TOLD_ONLY_IF_FAILED:
            return Verdict("ok", "no-error-text", f"{base}/observation")
        case "browse":
            if isinstance(held.get("error"), bool):
                return _flagged(held["error"], f"{base}/extras/error")
        case "mcp":
            match parsed(text) if text[:1] == "{" else None:
                case {"isError": bool(failed)}:
                    return _flagged(failed, f"{base}/content/isError")
    return Verdict()


def _flagged(failed: bool, place: str) -> Verdict:
    return Verdict("failed" if failed else "ok", "error-flag", place)


def _ran(extras: Json, base: str) -> Verdict:
    """A command's end by its exit code: -1 where it had none yet, or was stopped for its time."""
    inner = extras.get("metadata")
    held = inner if isinstance(inner, dict) else {}
    code, where = number(held.get("exit_code")), "/extras/metadata/exit_code"
    if code is None:
        code, where = number(extras.get("exit_code")), "/extras/exit_code"
    if code is None:
        return Verdict()
    if code == results.NO_CODE:
        return results.of_suffix(extras, f"{base}/extras{results.SUFFIX}")
    return Verdict("failed" if code else "ok", "exit-code", base + where, code)


def shown(value: Json) -> tuple[str | None, str]:
    """What the agent saw of a result, and where it stands: beside the patch until 0.22."""
    extras = value.get("extras")
    told = extras.get(SAID) if isinstance(extras, dict) else None
    if value.get("observation") == "edit" and isinstance(told, str):
        return told, f"/extras/{SAID}"
    text = value.get("content")
    return (text, "/content") if isinstance(text, str) else (None, "")


def changes(asked: Any, value: Json, base: str) -> Iterator[Change]:
    """What the editor did to a file: its patch, or all of it."""
    extras = value.get("extras")
    held = extras if isinstance(extras, dict) else {}
    command = asked.get("command") if isinstance(asked, dict) else None
    path = words(held.get("path"))
    if value.get("observation") != "edit" or not path:
        return
    if command == "create":
        after = held.get("new_content")
        if isinstance(after, str) and after == asked.get("file_text"):
            yield Change(path, "created", after=after, pointer=f"{base}/extras/new_content")
    elif command in CHANGING:
        key, where = ("content", "/content") if SAID in held else ("diff", "/extras/diff")
        patch = words((value if key == "content" else held).get(key))
        pieces = tuple(hunks(patch.splitlines()[2:])) if patch.startswith("--- ") else ()
        if pieces:
            yield Change(path, "modified", pieces, pointer=base + where)
