"""How a call ended: by what stands beside its result, else by what came back."""

import re
from typing import Any

from forsy_retrace.calls import Verdict
from forsy_retrace.events import Origin
from forsy_retrace.sdk import later, parsed, pointer, words

from .files import Json, listed
from .shows import SHOWS

EXIT = later(
    r"\A(?:Chunk ID: [^\n]{1,80}\n)?Wall time:? [^\n]{1,80}\n"
    r"Process exited with code (-?\d{1,10})(?:\n|\Z)"
    r"|(?:\A|\n)(?:\[(?:The )?[Cc]ommand (?:completed|finished) with exit code (-?\d{1,10})\.?\]"
    r"|<returncode>(-?\d{1,10})</returncode>|[Ee]xit [Cc]ode:? (-?\d{1,10}))[ \t]*(?:\n|\Z)"
)
"""How the outputs of OpenHands, mini-swe-agent, Gemini CLI, Codex and Claude Code tell it."""
ON = later(
    r"Command still running \(session |Command running in background with ID: "
    r"|Async agent launched successfully"
    r"|(?:Chunk ID: [^\n]{1,80}\n)?Wall time:? [^\n]{1,80}\nProcess running with session ID "
)
"""How OpenClaw, Claude Code and Codex begin that say that a call runs on."""
TURNED_DOWN = later(r"The user doesn't want to (?:proceed|take)\b")
"""How Claude Code begins that tells of a call that the user turned down."""

EDITORS = ("Edit", "Write", "MultiEdit", "str_replace_based_edit_tool", "apply_patch")
REFUSED: tuple[tuple[str, re.Pattern[str]], ...] = (
    # How the result of an editor begins that changed nothing; by whose tool.
    ("editor-error", later(r"\s*ERROR:\s*\n|\s*No replacement was performed\b")),  # OpenHands
    ("edit-failed", later(r"Failed to edit, ")),  # Gemini CLI
    ("tool-use-error", later(r"<tool_use_error>")),  # Claude Code
    ("patch-refused", later(r"apply_patch verification failed")),  # Codex
)
"""Editors tell no exit code, and no log of this form has a flag: their own words count."""

KEPT = "/extra/tool_result_metadata/raw_tool_result"
WORDS_FOR = {"success": True, "error": False}
"""How Strands' results say how they ended."""


def kept(result: Json, step: Json, here: Origin, of_step: Origin) -> tuple[Json, Origin]:
    """A result as Claude Code had it, where Harbor keeps it: beside it, or beside an only call."""
    match result, step:
        case {"extra": {"tool_result_metadata": {"raw_tool_result": dict(kept)}}}, _:
            return kept, here.below(KEPT)
        case _, {
            "tool_calls": [_],
            "extra": {"tool_result_metadata": {"raw_tool_result": dict(kept)}},
        }:
            return kept, of_step.below(KEPT)
    return {}, here


def beside(result: Json, step: Json, here: Origin, of_step: Origin) -> Verdict:
    """What stands beside a result of how its call ended: there Harbor keeps the harness's word."""
    base = here.below("/extra").evidence.pointer
    match result.get("extra"):
        case {"exit_code": int(code)} if not isinstance(code, bool):
            return _ended(code, f"{base}/exit_code")
        case {"is_error": bool(flag)}:
            return Verdict("failed" if flag else "ok", "error-flag", f"{base}/is_error")
        case {"tool_result_is_error": bool(flag)}:
            where = f"{base}/tool_result_is_error"
            return Verdict("failed" if flag else "ok", "error-flag", where)
        case {"success": bool(flag)}:
            return Verdict("ok" if flag else "failed", "success-field", f"{base}/success")
        case {"status": str(word)} if word in WORDS_FOR:
            return Verdict("ok" if WORDS_FOR[word] else "failed", "status", f"{base}/status")
    ident, path = words(result.get("source_call_id")), tuple[str, ...]()
    match step.get("extra"):
        case {"tool_call_details": dict(each)}:
            path = ("tool_call_details", ident, "metadata")
            one: Any = each.get(ident)
            told = one.get("metadata") if isinstance(one, dict) else None
        case {"tool_metadata": told} if len(listed(step, "tool_calls")) == 1:
            path = ("tool_metadata",)
        case _:
            return Verdict()
    match told:
        case {"exit_code": int(code)} if not isinstance(code, bool):
            there = of_step.below(pointer("extra", *path, "exit_code"))
            return _ended(code, there.evidence.pointer)
    return Verdict()


def _ended(code: int, path: str) -> Verdict:
    return Verdict("failed" if code else "ok", "exit-code", path, code)


def flagged(kept: Json, place: Origin) -> Verdict:
    """By the client's own flag, which it leaves away from most results that are no error."""
    where = place.evidence.pointer
    match kept.get("is_error"):
        case bool(flag):
            return Verdict("failed" if flag else "ok", "error-flag", where + "/is_error")
    return Verdict("ok", "no-error-flag", where)


def told(output: str, path: str, called: Json) -> Verdict:
    """What an output says of its call: an exit code, or that an editor changed nothing."""
    if ON.match(output):
        return Verdict("launched", "still-running", path)
    if TURNED_DOWN.match(output):
        return Verdict("rejected", "rejected-by-user", path)
    found = EXIT.search(output[:400]) or EXIT.search(output[-400:])
    if found is not None:
        code = int(next(group for group in found.groups() if group is not None))
        return Verdict("failed" if code else "ok", "exit-code-told", path, code)
    match parsed(output) if output[:1] == "{" and '"isError"' in output[-400:] else None:
        case {"content": list(), "isError": bool(flag)}:
            return Verdict("failed" if flag else "ok", "server-says-error", path)
    tool = words(called.get("function_name"))
    if SHOWS.tools.get(tool, tool) in EDITORS:
        rule = next((rule for rule, opening in REFUSED if opening.match(output)), "")
        return Verdict("failed", rule, path) if rule else Verdict()
    return Verdict()


def called_in(step: Json, logged: Any) -> Json:
    """The call of a step that has that id; empty where it has none."""
    calls = (one for one in listed(step, "tool_calls") if isinstance(one, dict))
    return next((one for one in calls if logged and one.get("tool_call_id") == logged), {})
