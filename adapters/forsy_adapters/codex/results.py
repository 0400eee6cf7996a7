"""What a call's output says of it: whether it worked, by whose word, and its exit status.

Three forms were met: a text of JSON with `metadata.exit_code` (2025, and patches to 2026), a text
that opens with `Exit code: N` or `Process exited with code N`, and plain words without a code; from
0.16x on, how long it took may stand before each. `status: completed` of a call says nothing.
"""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from forsy_retrace.dialects import attachments, content_text
from forsy_retrace.events import CODE_ENDED, Attachment, Change, Origin, Outcome, ToolResult
from forsy_retrace.sdk import later, number, parsed, text_of


class Result(NamedTuple):
    """The output that the model saw, where it stands, and what it tells."""

    output: str | None
    pointer: str
    outcome: Outcome = "unknown"
    rule: str = ""
    basis: str = ""
    exit_code: int | None = None
    attachments: tuple[Attachment, ...] = ()


def told(
    here: Origin,
    call: str,
    found: Result,
    changed: Iterable[Change] = (),
    end: ToolResult | None = None,
) -> ToolResult:
    """What came back of a call, as an event; `end` is what a later call told of its end."""
    return ToolResult(
        here,
        call,
        found.output,
        found.outcome,
        found.rule,
        found.basis or found.pointer,
        found.exit_code,
        tuple(changed),
        found.attachments,
        end=end,
    )


CODE = later(
    r"(?:Chunk ID: [^\n]*\n)?(?:Wall time:? [^\n]*\n)?"
    r"(?:Output:\n(?=Exit code: -?\d+\nWall time:? ))?"
    r"(?:Process exited with code|Exit code:) (-?\d{1,10})(?:\n|\Z)"
)
"""The second `Output:` is that of a patch which a shell's line fed to the client's own program."""
TOOK = later(r"Wall time: [\d.]{1,20} seconds\n(?!Output:)")
"""What the client puts before its own words; before a tool's, `Output:` comes too."""
DENIED = later(
    r"failed in sandbox \w{1,40} with execution error: sandbox denied exec error, exit code:"
    r" (-?\d{1,10}), stdout: "
)
"""Until 0.39 the client took every failure in a sandbox for a denial."""
SCRIPT = "Script completed"
"""How the output of code begins that came to its end."""
RUNS_ON = later(r"Process running with session ID (\d{1,20})\n")
FAILED = later(r"Script error:\n")
SPAWNED = later(r'CreateProcess \{ message: "Rejected\(\\*"?(rejected by user|Failed to create)?')
"""Why a command was not started, behind the command itself."""
REFUSED = ("rejected", "blocked", "interrupted")
TIMED_OUT = later(r"command timed out after|sandbox error: command timed out")

SAYS: tuple[tuple[str, re.Pattern[str], Outcome], ...] = (
    # Checked in order on the beginning of an output that has no exit code.
    (
        "still-running",
        later(r"(?:Chunk ID: [^\n]*\n)?(?:Wall time:? [^\n]*\n)?Process running with session ID"),
        "launched",
    ),
    (CODE_ENDED, later(SCRIPT), "ok"),
    ("script-failed", later(r"Script (?:failed|error|terminated)"), "failed"),
    ("script-running", later(r"Script running"), "launched"),
    (
        "rejected-by-user",
        later(
            r"(?:[\w ]{1,40} )?rejected by (?:the )?user|patch rejected by user"
            r"|user (?:rejected|cancelled) MCP tool call"
        ),
        "rejected",
    ),
    ("aborted-by-user", later(r"(?:tool call )?aborted(?: by user)?\b"), "interrupted"),
    (
        "approval-policy",
        later(r".{0,200}(?:approval policy is Never|rejected by user approval settings)", re.S),
        "blocked",
    ),
    ("approval-policy", later(r"This action was rejected due to unacceptable risk"), "blocked"),
    ("no-such-tool", later(r"unsupported (?:custom tool )?call"), "blocked"),
    ("no-such-tool", later(r"request_user_input is unavailable in "), "blocked"),
    (
        "input-refused",
        later(r"failed to parse function arguments|Full-history forked agents inherit the parent"),
        "blocked",
    ),
    (
        "timed-out",
        later(
            r".{0,80}(?:command )?timed out after \d"
            r"|failed in sandbox \w{1,40} with execution error: command timed out"
        ),
        "timed_out",
    ),
    ("sandbox-denied", later(r"failed in sandbox"), "failed"),
    (
        "patch-refused",
        later(r"apply_patch verification failed|error: (?:invalid|Failed)"),
        "failed",
    ),
    (
        "error-text",
        later(
            r"execution error:|exec_command failed|write_stdin failed|tool call (?:error|failed)"
            r"|error: |Error: |unable to |collab \w+ failed|cannot (?:create a new|update) goal"
            r"|live agent path `|invalid agent id |unknown agent_type "
        ),
        "failed",
    ),
    ("hook-blocked", later(r"[\w ]{1,40} blocked by PreToolUse hook"), "blocked"),
    ("plan-updated", later(r"Plan updated\s*\Z"), "ok"),
    ("slept", later(r"Sleep (?:completed|interrupted by new input)\."), "ok"),
    ("picture-shown", later(r"attached local image"), "ok"),
)
"""What a plain output says, and what that means."""
SPAWNS: dict[str | None, tuple[str, Outcome]] = {
    "rejected by user": ("rejected-by-user", "rejected"),
    "Failed to create": ("error-text", "failed"),
    None: ("approval-policy", "blocked"),
}
"""What the reason tells for which a command was not started."""


def result(value: Any, pointer: str) -> Result:
    """An output in any of its forms; `pointer` is where it stands."""
    match value:
        case str() if value[:1] == "{":
            inner = parsed(value)
            match inner:
                case {"output": str(), "metadata": _} | {"output": str(), "exit_code": _}:
                    return _structured(inner, pointer)
                case {"answers": dict()}:
                    return Result(value, pointer, "ok", "answered", pointer)
                case {"agent_id": str()} | {"task_name": str()}:
                    return Result(value, pointer, "launched", "agent-spawned", pointer)
                case {"accepted": True}:
                    return Result(value, pointer, "ok", "message-taken", f"{pointer}/accepted")
                case {"goal": _, "remainingTokens": _}:
                    return Result(value, pointer, "ok", "goal-told", pointer)
                case {"message": str(), "timed_out": bool(late)} | {
                    "status": dict(),
                    "timed_out": bool(late),
                }:
                    waited: Outcome = "timed_out" if late else "ok"
                    return Result(value, pointer, waited, "wait-ended", f"{pointer}/timed_out")
            return Result(value, pointer)
        case str() if value[:2] == "[{":
            return _of_server(value, pointer)
        case str():
            return _told(value, pointer, pointer)
        case list():
            return _parts(value, pointer)
        case {"content": str() | list(), **rest}:
            found = result(value["content"], f"{pointer}/content")
            flag = rest.get("success")
            if isinstance(flag, bool) and found.outcome in ("unknown", "ok", "failed"):
                said: Outcome = "ok" if flag else "failed"
                return found._replace(outcome=said, rule="success-flag", basis=f"{pointer}/success")
            return found
        case None:
            return Result(None, pointer)
    return Result(text_of(value), pointer)


def _of_server(value: str, pointer: str) -> Result:
    """What an MCP server sent, as a text of JSON: it shows no flag, but may hold only an error."""
    match parsed(value):
        case [{"type": "text", "text": str(text)}]:
            said = _told(text, pointer, pointer)
            if said.rule == "error-text":
                return said._replace(output=value)
    return Result(value, pointer)


def _structured(inner: dict[str, Any], pointer: str) -> Result:
    text = inner["output"]
    meta = inner.get("metadata")
    where = f"{pointer}/metadata/exit_code" if isinstance(meta, dict) else f"{pointer}/exit_code"
    code = number(meta.get("exit_code") if isinstance(meta, dict) else inner.get("exit_code"))
    if code is None:
        return _told(text, f"{pointer}/output", f"{pointer}/output")
    outcome, rule = by_code(code, text)
    return Result(text, f"{pointer}/output", outcome, rule, where, code)


def by_code(code: int, text: str) -> tuple[Outcome, str]:
    """What an exit status means."""
    if code != 0 and TIMED_OUT.search(text[:2000]):
        return "timed_out", "timed-out"
    return ("ok" if code == 0 else "failed"), "exit-code"


def _told(text: str, pointer: str, basis: str) -> Result:
    head = text[:600]
    if found := CODE.match(head) or DENIED.match(head):
        code = int(found[1])
        outcome, rule = by_code(code, head)
        return Result(text, pointer, outcome, rule, basis, code)
    if head.startswith("exec_command failed") and (found := SPAWNED.search(text)):
        why, refusal = SPAWNS[found[1]]
        return Result(text, pointer, refusal, why, basis)
    own = took.end() if (took := TOOK.match(head)) else 0
    for rule, pattern, outcome in SAYS:
        if pattern.match(head, own):
            return Result(text, pointer, outcome, rule, basis)
    return Result(text, pointer)


def printed(value: Any, pointer: str) -> Result:
    """The output of code of which each call is told by itself: only how the code ended counts."""
    return _parts(value, pointer, True) if isinstance(value, list) else result(value, pointer)


def _parts(value: list[Any], pointer: str, alone: bool = False) -> Result:
    """A list of content parts; pictures are shown by name, their bytes stay in the log."""
    shown = attachments(value, pointer)
    texts = [
        (index, part["text"])
        for index, part in enumerate(value)
        if isinstance(part, dict) and isinstance(part.get("text"), str)
    ]
    if len(texts) > 1 and not alone and (told := _by_code(texts, pointer)) is not None:
        return told if told.output is not None else told._replace(output=text_of(value))
    if not shown:
        return _told(text_of(value), pointer, pointer)
    if not texts:
        return Result(None, pointer, "ok", "picture-shown", pointer, None, shown)
    index, text = max(texts, key=lambda one: len(one[1]))
    told = _told(text, f"{pointer}/{index}/text", f"{pointer}/{index}/text")
    if told.outcome == "unknown":  # what came above may say how it ended
        first, head = texts[0]
        told = _told(head, f"{pointer}/{first}/text", f"{pointer}/{first}/text")
    if len(texts) > 1:
        told = told._replace(output=content_text(value), pointer=pointer)
    return told._replace(attachments=shown)


def _by_code(texts: list[tuple[int, str]], pointer: str) -> Result | None:
    """What code shows of the end of the call that it made: its result, or why it was refused."""
    (_, head), (index, text), *others = texts
    where = f"{pointer}/{index}/text"
    if head.startswith("Script failed") and (found := FAILED.match(text)):
        told = _told(text[found.end() :], where, where)
        return told._replace(output=None, pointer=pointer) if told.outcome in REFUSED else None
    if not head.startswith(SCRIPT) or others or text[:1] != "{" or '"output"' not in text:
        return None
    match parsed(text):
        case {"output": str(), "exit_code": int()} as inner:
            return _structured(inner, where)
        case {"output": str(shown), "session_id": int() | str()}:
            return Result(shown, f"{where}/output", "launched", "still-running", where)
        case {"output": str(), "chunk_id": _} as inner:
            return _structured(inner, where)
    return None


def terminal_of(output: Any) -> str:
    """The terminal in which a command runs on, by its call's output; empty where it ended."""
    match output:
        case str():
            found = RUNS_ON.search(output, 0, 200)
            return found[1] if found else ""
        case [{"text": str(head)}, {"text": str(text)}] if head.startswith(SCRIPT):
            match parsed(text) if '"session_id"' in text[:400] else None:
                case {"session_id": int() | str() as terminal, "output": str(), **rest}:
                    return "" if isinstance(rest.get("exit_code"), int) else str(terminal)
    return ""


def ended(body: dict[str, Any], base: str) -> Result:
    """How a call ended, as the client's own record of it says."""
    match body:
        case {"result": {"Ok": {"content": content, **rest}}}:
            done: Outcome = "failed" if _is_error(rest) else "ok"
            path = f"{base}/result/Ok/content"
            return Result(text_of(content), path, done, "result-kind", f"{base}/result")
        case {"result": {"Err": str(text)}}:
            return _error(text, f"{base}/result/Err")
        case {"error": {"message": str(text)}}:
            return _error(text, f"{base}/error/message")
        case {"result": {"content": content, **rest}}:
            done = "failed" if _is_error(rest) else "ok"
            path = f"{base}/result/content"
            return Result(text_of(content), path, done, "result-kind", f"{base}/result")
        case {"invocation": _}:
            return Result(None, base)
    return streams(body, base)


def _error(text: str, path: str) -> Result:
    """A call that a server did not answer well, or that was not let through to it."""
    said = _told(text, path, path)
    return said if said.outcome in REFUSED else Result(text, path, "failed", "result-kind", path)


def _is_error(told: dict[Any, Any]) -> bool:
    return told.get("is_error", told.get("isError")) is True


def streams(body: dict[str, Any], base: str) -> Result:
    """What a command printed, as the client kept it, and how it ended."""
    code = number(body.get("exit_code"))
    names = ["formatted_output", "aggregated_output", "stdout", "stderr"]
    if code not in (0, None):
        names = ["formatted_output", "aggregated_output", "stderr", "stdout"]
    held = [name for name in names if isinstance(body.get(name), str)]
    best = next((name for name in held if body[name]), held[0] if held else "")
    text = body[best] if best else None
    path = f"{base}/{best}" if best else base
    status = body.get("status")
    if status == "declined" and (said := _told(text or "", path, path)).outcome in REFUSED:
        return said  # by the client's own reviewer, or by a rule
    if status == "declined":
        return Result(text, path, "rejected", "status", f"{base}/status", code)
    if code is not None:
        outcome, rule = by_code(code, text or "")
        return Result(text, path, outcome, rule, f"{base}/exit_code", code)
    if isinstance(body.get("success"), bool):
        done = "ok" if body["success"] else "failed"
        return Result(text, path, done, "success-flag", f"{base}/success")  # type: ignore[arg-type]  # one of two outcomes
    if status in ("completed", "failed"):
        done = "ok" if status == "completed" else "failed"
        return Result(text, path, done, "status", f"{base}/status")  # type: ignore[arg-type]  # one of two outcomes
    return Result(text, path)
