"""Whether a call worked, where a result says so: such logs have no flag of their own.

A flag of the harness beside the content counts first; then the fields with which tools answer in
JSON. A text that merely sounds like an error says nothing here.
"""

from typing import Any

from forsy_retrace.calls import Verdict
from forsy_retrace.events import Attachment, Change, Origin, Outcome, ToolResult
from forsy_retrace.sdk import later, number

from . import harnesses
from .place import Json, opened

FAILED = ("failed", "error", "failure", "incomplete")
WORKED = ("success", "succeeded", "ok")
TRY_AGAIN = "Fix the errors and try again."
"""With which Pydantic AI sends a call back that its tool did not take."""
DENIED = later(r"""\s*\{\s*(?:'|\\?")success(?:'|\\?")\s*:\s*[Ff]alse\b""")
"""How an answer inside an answer begins that says no; some are no JSON but what Python shows."""
CUT = later(r"""\s*\{\s*"error"\s*:\s*"(?P<error>[^"]{0,200})["\n]?""")
"""How an answer in JSON begins of which the end is lost."""
RETURNED = later(
    r"\s*(?:<exception>(?P<why>[^<]{0,2000})</exception>\s*)?"
    r"<returncode>(?P<code>-?\d{1,10})</returncode>"
)
"""How mini-swe-agent heads what a command printed."""
KILLED = later(
    r"The last command <command>[^\0]{1,20000}?</command> timed out and has been killed\."
)
"""The same, of a command that took too long."""
ANSWER = '"response": "'


def verdict(holder: Json, base: str, key: str) -> Verdict:
    """The verdict on a result that stands under `key` of a message or item."""
    match holder:
        case {"is_error": bool(flag)} | {"isError": bool(flag)}:
            name = "is_error" if "is_error" in holder else "isError"
            return Verdict("failed" if flag else "ok", "error-flag", f"{base}/{name}")
        case {"error": {"type": "timeout"}}:
            return Verdict("timed_out", "timed-out", f"{base}/error")
        case {"error": error} if error:
            return Verdict("failed", "error-field", f"{base}/error")
        case {"status": str(status)} if status in FAILED:
            return Verdict("failed", "status", f"{base}/status")
        case {"status": str(status)} if status in WORKED:
            return Verdict("ok", "status", f"{base}/status")
    match holder.get(key):
        case [{"text": str(text)}, *_]:
            return harnesses.verdict(text, f"{base}/{key}/0/text")
    return in_content(opened(holder.get(key)), f"{base}/{key}")


def in_content(content: Any, base: str) -> Verdict:
    """What a tool's answer in JSON says of itself."""
    match content:
        case {"exit_code": int(code)} | {"exitCode": int(code)} | {"returncode": int(code)}:
            if (value := number(code)) is not None:
                keys = ("exit_code", "exitCode", "returncode")
                name = next(k for k in keys if isinstance(content.get(k), int))
                outcome: Outcome = "failed" if value else "ok"
                return Verdict(outcome, "exit-code", f"{base}/{name}", value)
        case {"output": str(), "metadata": {"exit_code": int()} as ended}:  # Codex's first clients
            return in_content(ended, f"{base}/metadata")
        case {"success": bool(flag)}:
            return Verdict("ok" if flag else "failed", "success-field", f"{base}/success")
        case {"error": "", "response": str(answer)} if DENIED.match(answer):
            return Verdict("failed", "success-field", f"{base}/response")
        case {"error": str(error), **rest} if error.strip() or rest:
            failed = bool(error.strip())
            return Verdict("failed" if failed else "ok", "error-field", f"{base}/error")
        case {"error": dict(error)} if error:
            return Verdict("failed", "error-field", f"{base}/error")
        case str(text) if found := RETURNED.match(text):
            late = "timed out" in (found["why"] or "")
            outcome = "failed" if int(found["code"]) else "ok"
            rule = "timed-out" if late else "exit-code"
            return Verdict("timed_out" if late else outcome, rule, base, int(found["code"]))
        case str(text) if KILLED.match(text):
            return Verdict("timed_out", "timed-out", base)
        case str(text) if text[-80:].rstrip().endswith(TRY_AGAIN):
            return Verdict("failed", "sent-back", base)
        case str(text) if found := CUT.match(text):
            failed = bool(found["error"].strip()) or bool(DENIED.match(_answer(text)))
            return Verdict("failed" if failed else "ok", "error-field", base)
        case str(text):
            return harnesses.verdict(text, base)
    return Verdict()


def result(
    here: Origin,
    call: str,
    output: str | None,
    found: Verdict,
    *,
    changes: tuple[Change, ...] = (),
    attachments: tuple[Attachment, ...] = (),
) -> ToolResult:
    """What came back of a call, with what was found of how it ended."""
    return ToolResult(here, call, output, *found, changes=changes, attachments=attachments)


def is_output(text: str) -> bool:
    """Whether a text is what mini-swe-agent shows of a command's run."""
    return bool(RETURNED.match(text) or KILLED.match(text))


def _answer(text: str) -> str:
    """The beginning of what an answer in JSON holds, where its end is lost."""
    return text[:400].partition(ANSWER)[2]


def of_shell(output: Any, base: str) -> Verdict:
    """The outcomes of a `shell_call_output`: the only real exit codes of these logs."""
    codes = {}
    for index, entry in enumerate(output if isinstance(output, list) else ()):
        match entry:
            case {"outcome": {"type": "timeout"}}:
                return Verdict("timed_out", "timed-out", base)
            case {"outcome": {"type": "exit", "exit_code": int(code)}}:
                codes[index] = code
    if not codes:
        return Verdict()
    worst = next((code for code in codes.values() if code), 0)
    where = f"{base}/{next(iter(codes))}/outcome/exit_code" if len(codes) == 1 else base
    return Verdict("failed" if worst else "ok", "exit-code", where, worst)
