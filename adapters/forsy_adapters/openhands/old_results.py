"""How a call before the SDK ended, and what it did to files."""

import re
from collections.abc import Iterator

from forsy_retrace.calls import Verdict
from forsy_retrace.events import Change, Outcome
from forsy_retrace.sdk import later, number, parsed, words

from .._patches import hunks
from . import results
from .shapes import Json

NOT_DONE = "ERROR:\n"
"""How what the editor tells begins where it did nothing."""
ERRORS: tuple[tuple[str, re.Pattern[str], Outcome], ...] = (
    ("interrupted-by-user", later(r"Stop button pressed\."), "interrupted"),
)


def ended(value: Json, base: str) -> Verdict:
    """How a call ended."""
    extras, text = value.get("extras"), words(value.get("content"))
    held = extras if isinstance(extras, dict) else {}
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
            return Verdict("failed", "editor-error", f"{base}/content")
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
        return results.of_suffix(extras, f"{base}/extras/metadata/suffix")
    return Verdict("failed" if code else "ok", "exit-code", base + where, code)


def changes(action: Json, extras: Json, base: str) -> Iterator[Change]:
    """What the editor did to a file: its patch, or all of it."""
    args = action.get("args")
    match extras, args:
        case {"path": str(path), "new_content": str(after)}, {
            "command": "create",
            "file_text": sent,
        }:
            if after == sent:
                yield Change(path, "created", after=after, pointer=f"{base}/extras/new_content")
        case {"path": str(path), "diff": str(diff)}, {
            "command": "str_replace" | "insert" | "undo_edit"
        }:
            pieces = tuple(hunks(diff.splitlines()[2:]))
            if pieces:
                yield Change(path, "modified", pieces, pointer=f"{base}/extras/diff")
