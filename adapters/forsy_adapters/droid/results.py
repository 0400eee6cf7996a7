"""How a call ended, by the client's flag and its words, and which files it changed or showed."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from msgspec.structs import replace

from forsy_retrace.calls import Verdict
from forsy_retrace.events import Change, Event, Hunk, Meant, Message, Origin, Outcome, ToolResult
from forsy_retrace.sdk import later, lines_of, number, packed, parsed, words

from .._patches import changes as patched
from .._patches import hunks as of_diff
from .._patches import patch_in

Json = dict[str, Any]

ERROR = "Error: "
"""What the client sets before the words of a failure."""
SHELL = "Execute"


class Asked(NamedTuple):
    """A call: its tool, its arguments, its id here."""

    tool: str
    sent: Json
    call: str


CANCELLED = (
    "Tool execution cancelled by user|Esecuzione dello strumento annullata dall'utente"
    "|ツール実行がユーザーによりキャンセルされました|사용자가 도구 실행을 취소했습니다"
    "|工具执行已被用户取消"
)
"""How the client says it in its five languages."""
ENDED_EARLY = (
    "Exec (?:ended early|terminato in anticipo|조기 종료|提前结束)|Exec が早期終了しました"
    "|[Tt]ool execution cancelled|[Ee]secuzione utensile annullata|ツール実行がキャンセルされました"
    "|도구 실행 취소됨|工具执行已取消"
)
"""How it says that nobody was there to ask, or that it could not ask."""
ROWS: tuple[tuple[str, re.Pattern[str], bool, Outcome], ...] = (
    # What the client writes in place of a result, and its flag there.
    ("rejected-by-user", later(rf"(?:{CANCELLED})\Z"), True, "rejected"),
    ("rejected-by-user", later(r"Plan not approved - remaining in Spec Mode"), True, "rejected"),
    ("rejected-by-user", later(r"(?:Error: )*User cancelled AskUser"), True, "rejected"),
    (
        "interrupted-by-user",
        later(rf"Error: (?:{CANCELLED})\s*(?:Request interrupted by user)?\Z"),
        True,
        "interrupted",
    ),
    (
        "denied",
        later(
            rf"(?:Error: )?(?:(?:{ENDED_EARLY})(?:\Z|[:：。 ])"
            r"|Tool cancelled: Spec mode is active)"
        ),
        True,
        "blocked",
    ),
    ("denied", later(r"Error: Tool not permitted in exec mode: "), False, "blocked"),
    (
        "no-such-tool",
        later(r"Error: (?:Not found: |Tool [^\s]{1,200} is registered but is not available)"),
        True,
        "blocked",
    ),
    (
        "input-refused",
        later(r"Error: \w{1,80} is required and must be |Error: InputValidationError"),
        True,
        "blocked",
    ),
    (
        "never-started",
        later(r"Error: (?:Droid configuration not found|Error running task subagent: Could not)"),
        True,
        "blocked",
    ),
)
FINDS_TOOLS = "ToolSearch"
"""A tool that says of others that it finds none; as the answer of another, the client says it."""
EXIT = later(r"\n?\[Process exited with code (-?\d{1,10})\]\s*\Z")
CODE = later(r"Error: Command failed \(exit code: (-?\d{1,10})\)(?:\n|\Z)")
TIMED_OUT = later(r"(?:Error: )?Command timed out after \d")
STARTED = later(r"Background process started \(PID: \d|Task launched in background\.\n|task_id: ")
SHOWN = later(
    r"\n\n<system-reminder>\[Showing lines (\d{1,9})-\d{1,9} of (\d{1,9}) total lines"
    r"(?:, truncated to \w{1,20} characters)?\]"
    r"</system-reminder>\Z"
)
"""What stands behind a part of a file that was read."""
NUMBERED = later(r"\d{1,9}→")
"""How a line begins where the client numbers them: the rest of it is told by that."""
ANSWER = later(r"^\[answer\] ?(.*(?:\n(?!\n?\d{1,3}\. \[question\]).*)*)", re.M)
DID = '{"success":'
"""How the result of an edit begins; some versions set no flag beside it."""
TAIL = 200


def verdict(asked: Asked, rest: Json, text: str, here: Origin, hooked: bool) -> Verdict:
    """The outcome of a call, by the block that answers it."""
    flag, where = rest.get("is_error"), here.below("/content").evidence.pointer
    failed = flag is True
    if failed and hooked:
        return Verdict("blocked", "hook-blocked", where)
    for rule, pattern, is_flagged, outcome in ROWS:
        if (failed is is_flagged or flag is None) and pattern.match(text):
            if rule == "no-such-tool" and asked.tool == FINDS_TOOLS:
                continue
            return Verdict(outcome, rule, where)
    if asked.tool == SHELL:
        found = EXIT.search(text, max(0, len(text) - TAIL)) or CODE.match(text)
        if found is not None:
            code = int(found[1])
            return Verdict("failed" if code else "ok", "exit-code-in-output", where, code)
        if TIMED_OUT.match(text):
            return Verdict("timed_out", "timed-out", where)
    if not failed and asked.tool in (SHELL, "Task") and STARTED.match(text):
        return Verdict("launched", "said-launched", where)
    if isinstance(flag, bool):
        basis = here.below("/is_error").evidence.pointer
        return Verdict("failed" if flag else "ok", "error-flag", basis)
    told = parsed(text) if text.startswith(DID) else None
    if isinstance(told, dict) and isinstance(told.get("success"), bool):
        return Verdict("ok" if told["success"] else "failed", "success-flag", f"{where}/success")
    return Verdict()


SERVED = "___"
"""What stands between an MCP server's name and that of a tool of it."""
NAMES = {
    "directory_path": "path",
    "folder": "path",
    "glob_pattern": "glob",
    "change_all": "replace_all",
}
"""What the client's tools call arguments that others know by another name."""


def meant(tool: str, sent: Any) -> Meant | None:
    """A call in the names that other harnesses give its arguments."""
    if not isinstance(sent, dict):
        return None
    if tool == "ApplyPatch":
        return Meant("apply_patch", sent)
    if SERVED in tool:
        return Meant(f"mcp__{tool.replace(SERVED, '__', 1)}", sent)
    plain = {NAMES.get(key, key): value for key, value in sent.items()}
    match sent.get("patterns"):
        case str(one) | [str(one)]:
            plain["pattern"] = one
    return Meant(tool, plain) if plain != sent else None


def changes(asked: Asked, content: Any, here: Origin) -> Iterator[Change]:
    """The file that a call changed or showed, as far as its result records it."""
    path, text = words(asked.sent.get("file_path")), content if isinstance(content, str) else ""
    where = here.below("/content").evidence.pointer
    told = parsed(text) if text[:1] == "{" else None
    match asked.tool, told:
        case "Edit" | "MultiEdit", {
            "success": True,
            "file_path": str(path),
            "diffLines": list(rows),
        }:
            found = tuple(hunks(rows, asked.sent.get("old_str") == ""))
            yield Change(path, "modified", found, pointer=f"{where}/diffLines")
        case "ApplyPatch", {"success": True, "files": list(files)}:
            for index, file in enumerate(files):
                yield from _patched(file, f"{where}/files/{index}")
        case "ApplyPatch", {"success": True, "file_path": str(), "diff": str()}:
            yield from _patched(told, where)
        case "ApplyPatch", {"success": True}:
            patch = patch_in("apply_patch", asked.sent)
            for change in patched(patch) if patch is not None else ():
                # The client joins the lines of a new file, and ends the last one by nothing.
                after = change.after.removesuffix("\n") if change.after else change.after
                yield replace(change, after=after)
        case "Read", _ if path and isinstance(content, str):
            part = SHOWN.search(text)
            start = int(part[1]) if part else number(asked.sent.get("offset")) or 1
            shown = text[: part.start()] if part else text
            total = int(part[2]) if part else None
            if total is None and asked.sent.keys().isdisjoint(("offset", "limit")):
                total = len(lines_of(shown))
            if start > 0 and "<system-reminder>" not in shown and not NUMBERED.match(shown):
                held = packed(shown)
                yield Change(path, "shown", shown=held, start=start, total=total, pointer=where)


def _patched(file: Any, where: str) -> Iterator[Change]:
    """A file of a patch, as the client applied it."""
    match file:
        case {"file_path": str(path), "display_operation": "create", "content": str(after)}:
            yield Change(path, "created", after=after, pointer=where)
        case {"file_path": str(path), "display_operation": "delete"}:
            yield Change(path, "deleted", pointer=where)
        case {"file_path": str(path), "diff": str(diff)}:
            if moved := words(file.get("moved_to")):
                yield Change(path, "deleted", pointer=where)
            below = diff[max(0, diff.find("@@")) :]  # below the names of the files
            yield Change(moved or path, "modified", tuple(of_diff(lines_of(below))), pointer=where)


def hunks(rows: list[Any], was_empty: bool) -> Iterator[Hunk]:
    """The pieces of a difference that is told line by line, with each line's numbers."""
    lines: list[str] = []
    first: dict[str, int] = {}
    following: dict[str, int] = {}
    for row in rows:
        match row:
            case {"type": str(kind), "content": str(text), "lineNumber": dict(numbers)} if (
                kind in SIDES
            ):
                mark, sides = SIDES[kind]
                at = {side: place for side in sides if (place := number(numbers.get(side)))}
                if any(following.get(side, place) != place for side, place in at.items()):
                    yield _hunk(lines, first)
                    lines, first, following = [], {}, {}
                if was_empty and kind == "removed" and not text:
                    continue  # an empty file has no line
                lines.append(mark + text)
                for side, place in at.items():
                    first.setdefault(side, place)
                    following[side] = place + 1
    if lines:
        yield _hunk(lines, first)


SIDES: dict[str, tuple[str, tuple[str, ...]]] = {
    "unchanged": (" ", ("old", "new")),
    "removed": ("-", ("old",)),
    "added": ("+", ("new",)),
}


def _hunk(lines: list[str], first: dict[str, int]) -> Hunk:
    old, new = first.get("old", 0), first.get("new", 0)
    return Hunk(old or new, new or old, tuple(lines))


def is_amended(asked: Asked, text: str) -> bool:
    """Whether the user rewrote the plan that was offered, and then approved it."""
    told = parsed(text) if asked.tool == "ExitSpecMode" and text[:1] == "{" else None
    return isinstance(told, dict) and told.get("isEdited") is True


def answers(asked: Asked, told: ToolResult) -> Iterator[Event]:
    """What a human chose or wrote in a dialog."""
    if asked.tool == "AskUser" and told.outcome == "ok":
        found = [one.strip() for one in ANSWER.findall(told.output or "")]
        if said := "\n".join(filter(None, found)):
            here = told.origin.by("user")
            yield Message(here, "user", said, "answer", (), told.call, within=True)
