"""How an effect of the store ended, what came back of it, and which files it showed or changed."""

import difflib
from collections.abc import Iterator
from typing import Any

from forsy_retrace.calls import Verdict
from forsy_retrace.dialects import content_text
from forsy_retrace.events import Change, Event, Hunk, Message, Origin, Outcome
from forsy_retrace.sdk import compact, number, packed, pointer, words

from .._patches import hunks
from .._vibe import Json
from .results import UNDONE

SPAWN = "agents.spawn"
"""Starts a subagent, whose work lies in a store of its own."""
EDITED = "mistralai.vibe.sdk.search_replace"
"""Under which an edit keeps the file as it was."""
MOST_LINES = 5000
UNSTARTED = (
    *("subagent_type_not_found", "subagent_name_conflict", "subagent_name_limit"),
    *("subagent_child_limit", "subagent_concurrency_limit"),
)
"""Codes of errors that leave a subagent unstarted."""


def verdict(tool: str, state: Json, here: Origin) -> Verdict | None:
    """How a call ended; None while it runs."""
    plain = tool.rpartition(".")[2]
    by_status = here.below("/status").evidence.pointer
    match state:
        case {"status": "running"}:
            return None
        case {"status": "completed", "output": {"structured_content": {"timed_out": True}}}:
            basis = here.below(_inside("timed_out")).evidence.pointer
            return Verdict("timed_out", "timed-out", basis)
        case {"status": "completed", "output": {"structured_content": {"returncode": int(code)}}}:
            basis = here.below(_inside("returncode")).evidence.pointer
            return Verdict("failed" if code else "ok", "exit-code", basis, number(code))
        case {"status": "completed", "output": {"structured_content": dict(told)}} if (
            plain in UNDONE and told.get(UNDONE[plain][0]) is UNDONE[plain][2]
        ):
            field, _, _, outcome, rule = UNDONE[plain]
            basis = here.below(_inside(field)).evidence.pointer if rule else ""
            return Verdict(outcome, rule, basis)
        case {"status": "completed"} if tool == SPAWN:
            return Verdict("launched", "subagent-started", by_status)
        case {"status": "completed"}:
            return Verdict("ok", "status", by_status)
        case {"status": "failed", "error": {"code": "tool_denied"}}:
            refused: Outcome = "rejected" if state.get("approvalSource") == "user" else "blocked"
            return Verdict(refused, "denied", here.below("/error/code").evidence.pointer)
        case {"status": "failed", "error": {"code": str(code)}} if code in UNSTARTED:
            return Verdict("blocked", "never-started", here.below("/error/code").evidence.pointer)
        case {"status": "cancelled", "reason": "client interrupt"}:
            basis = here.below("/reason").evidence.pointer
            return Verdict("interrupted", "interrupted-by-user", basis)
        case {"status": "failed" | "cancelled"}:
            return Verdict("failed", "status", by_status)
    return Verdict()


def _inside(name: str) -> str:
    return f"/output/structured_content/{name}"


def output(state: Json) -> tuple[str | None, str]:
    """What came back, and where it stands below the state."""
    match state:
        case {"output": {"content": [_, *_] as parts}}:
            return content_text(parts), "/output/content"
        case {"output": {"structured_content": held}} if held is not None:
            return compact(held), "/output/structured_content"
        case {"error": {"message": str(text)}}:
            return text, "/error/message"
        case {"reason": str(text)}:
            return text, "/reason"
    return None, ""


def answers(call: str, state: Json, here: Origin) -> Iterator[Event]:
    """What the user chose or wrote in a dialog."""
    match state:
        case {"output": {"structured_content": {"answers": list(listed), "cancelled": False}}}:
            for index, one in enumerate(listed):
                match one:
                    case {"question": str(), "answer": str(text)} if text.strip():
                        path = f"/state{_inside('answers')}{pointer(index, 'answer')}"
                        where = here.below(path).by("user")
                        yield Message(where, "user", text, "answer", (), call)


def changes(sent: Any, state: Json, here: Origin) -> Iterator[Change]:
    """The file that a call showed, wrote or edited."""
    output = state.get("output")
    match output:
        case {"structured_content": {"path": str(path), "content": str(text), **told}}:
            start, total = number(told.get("offset")) or 0, number(told.get("total_lines"))
            where = here.below(_inside("content")).evidence.pointer
            held = packed(text.removesuffix("\n"))
            yield Change(
                path,
                "shown",
                shown=held,
                start=start + 1,
                total=total,
                pointer=where,
                trimmed=True,
            )
        case {"structured_content": {"path": str(path), "file_existed": bool(existed)}}:
            written = sent.get("content") if isinstance(sent, dict) else None
            if isinstance(written, str):
                where = here.evidence.pointer.removesuffix("/state") + "/detail/input/content"
                yield Change(
                    path, "modified" if existed else "created", after=written, pointer=where
                )
        case {
            "_meta": {"mistralai.vibe.sdk.search_replace": {"previous_content": str(before)}}
        } if isinstance(sent, dict):
            place = here.below(f"/output/_meta/{EDITED}/previous_content")
            after = _edited(before, sent.get("content"))
            path = words(sent.get("file_path"))
            if path and after is not None:
                pieces = _differences(before, after)
                where = place.evidence.pointer
                yield Change(path, "modified", pieces, packed(before), pointer=where)


def _edited(text: str, edits: Any) -> str | None:
    """The file behind its edits; None where it is not told."""
    for one in edits if isinstance(edits, list) else [None]:
        match one:
            case {"old_str": str(old), "new_str": str(new), **rest} if old and old in text:
                text = text.replace(old, new, -1 if rest.get("replace_all") is True else 1)
            case _:
                return None
    return text


def _differences(before: str, after: str) -> tuple[Hunk, ...]:
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > MOST_LINES:
        return ()
    return tuple(hunks(list(difflib.unified_diff(old, new, lineterm=""))[2:]))
