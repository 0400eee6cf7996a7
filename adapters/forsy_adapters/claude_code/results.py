"""What a tool result says: whether the call worked, by whose word, and which files it touched.

Claude Code flags only errors: a result without `is_error` is its word for success. What kind of
failure it was stands in the text. `toolUseResult`, where there is one, holds the structured side;
its shapes differ by tool and version, so each is met by its shape.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from forsy_retrace.calls import Verdict
from forsy_retrace.events import Origin, Outcome, ToolResult
from forsy_retrace.sdk import between, later, text_of, when
from forsy_retrace.source import Evidence

STOPPED = later(
    r"The user doesn't want to proceed[^\n]{0,300}"
    r" Correction to the text above: this call was stopped while running"
)
"""What the client adds to its words on a rejection where the call ran already (2.1.332)."""
UNTOLD = later(
    r"\[Tool (?:call interrupted: the session ended before|call result not in this copy"
    r"|result missing due to internal error)"
)
"""What stands for a result that the client does not know either."""
FAILURES: tuple[tuple[str, re.Pattern[str], Outcome], ...] = (
    # Checked in order on the text of a result that is flagged as an error.
    ("interrupted-by-user", STOPPED, "interrupted"),
    ("rejected-by-user", later(r"The user doesn't want to (?:proceed|take)"), "rejected"),
    ("stayed-in-plan-mode", later(r"User chose to stay in plan mode"), "rejected"),
    ("interrupted-by-user", later(r"\[Request interrupted by user"), "interrupted"),
    ("prompt-aborted", later(r"Permission prompt was aborted"), "rejected"),
    (
        "sibling-failed",
        later(r"(?:<tool_use_error>)?(?:Sibling tool call errored|Cancelled: parallel tool call)"),
        "blocked",
    ),
    (
        "not-permitted",
        later(r"Claude requested permissions|Permission to use .{1,80} (?:has been )?denied"),
        "blocked",
    ),
    (
        "hook-blocked",
        later(r"\S{0,40}PreToolUse\S{0,80} hook error|Hook PreToolUse\S* denied"),
        "blocked",
    ),
    (
        "auto-mode-unavailable",
        later(r".{1,80}temporarily unavailable, so auto mode cannot"),
        "blocked",
    ),
    (
        "input-refused",
        later(r"(?:<tool_use_error>)?(?:Error: )?(?:InputValidationError|No such tool available)"),
        "blocked",
    ),
    (
        "never-started",
        later(r"\[(?:Tool call (?:not (?:completed|made|run)|skipped):|Not run:)"),
        "blocked",
    ),
    ("timed-out", later(r"(?:Exit code \d+\n)?Command timed out after"), "timed_out"),
)
DENIALS: dict[str, Outcome] = {
    "user-rejected": "rejected",
    "permission-rule": "blocked",
    "automode-blocked": "blocked",
    "automode-unavailable": "blocked",
    "automode-parsing-error": "blocked",
    "interrupted": "interrupted",
    "cancelled": "blocked",
    "not_started": "blocked",
}
"""Why a call was denied (`toolDenialKind`, 2.1.2xx), and what became of it."""
EXIT_CODE = later(r"Exit code (\d{1,10})(?:\n|\Z)")
RUNS_ON = later(
    r"(?:<(retrieval_status|task_id|task_type)>[^<]{0,80}</\1>\s+){0,3}<status>running</status>"
    r"(?:\s+<timestamp>[^<]{0,80}</timestamp>)?\s*"
)
"""What a poll of a background command shows that has printed nothing new; it may have waited."""
POLLED = later(
    r"(?:<(retrieval_status|task_id|task_type)>[^<]{0,80}</\1>\s+){0,3}"
    r"<status>(?:completed|failed|killed)</status>\s+<exit_code>(\d{1,10})</exit_code>"
)
"""How a poll of a background command begins that shows its end."""
RUNS_AS = later(r"Command running in background with ID: ([\w-]{1,80})")
LAUNCHED = frozenset({"async_launched", "teammate_spawned", "remote_launched"})


def denial(record: dict[str, Any], call: str) -> tuple[str, str]:
    """Why a call was denied, and where the record says so; `stream-json` tells it call by call."""
    match record:
        case {"toolDenialKind": str(kind)}:
            return kind, "/toolDenialKind"
        case {"toolCallEnded": str(kind)}:
            return kind, "/toolCallEnded"
        case {"tool_result_meta": [*told]}:
            for index, one in enumerate(told):
                match one:
                    case {"id": str(name), "non_execution_kind": str(kind)} if name == call:
                        return kind, f"/tool_result_meta/{index}/non_execution_kind"
    return "", ""


def ran(record: dict[str, Any]) -> bool:
    """Whether a call that a user turned down had not been kept from running, as far as is told."""
    match record:
        case {"toolDenialBeforeRun": True} | {"permissionDecision": {"source": "user_reject"}}:
            return False
        case {"toolDenialKind": "user-rejected", "userFeedback": str()}:
            return False
    return record.get("toolDenialKind") == "user-rejected"


def verdict(
    block: dict[str, Any],
    text: str,
    extra: Any,
    record: dict[str, Any],
    *,
    stopped: bool = False,
    interrupted: bool = False,
) -> Verdict:
    """Whether the call worked, by the harness's own word.

    `stopped` where its hooks tell no end, `interrupted` where the user stopped its message.
    """
    head = text[:400]
    kind, basis = denial(record, str(block.get("tool_use_id")))
    if kind == "user-rejected" and (STOPPED.match(head) or (interrupted and ran(record))):
        return Verdict("interrupted", "interrupted-by-user", basis)
    if denied := DENIALS.get(kind):
        return Verdict(denied, "denial-kind", basis)
    flag = block.get("is_error")
    if flag is True:
        if UNTOLD.match(head):
            return Verdict()
        for rule, pattern, outcome in FAILURES:
            if pattern.match(head):
                return Verdict(outcome, rule, "content")
        if stopped and not EXIT_CODE.match(head):
            return Verdict("blocked", "hook-blocked", "content")
        return Verdict("failed", "error-flag", "is_error")
    match extra:
        case {"staged": True}:
            return Verdict("blocked", "not-applied", "/toolUseResult/staged")
        case {"awaitingLeaderApproval": True}:
            return Verdict("launched", "awaits-approval", "/toolUseResult/awaitingLeaderApproval")
        case {"afkTimeoutMs": int(), **rest} if not rest.get("answers"):
            return Verdict("timed_out", "nobody-answered", "/toolUseResult/afkTimeoutMs")
        case {"success": False}:
            return Verdict("failed", "success-flag", "/toolUseResult/success")
        case {"taskId": str(), "timeoutMs": int()}:
            return Verdict("launched", "launched-in-background", "/toolUseResult/taskId")
        case {"status": str(status)} if status in LAUNCHED:
            return Verdict("launched", "launched-in-background", "/toolUseResult/status")
        case {"backgroundTaskId": str(task)} if task:
            return Verdict("launched", "moved-to-background", "/toolUseResult/backgroundTaskId")
        case {"interrupted": True}:
            return Verdict("interrupted", "interrupted-flag", "/toolUseResult/interrupted")
        case {"code": int(code), "codeText": str()} if code >= 400:
            return Verdict("failed", "http-status", "/toolUseResult/code")
        case {"status": int(code), "json": str()} if code >= 400:
            return Verdict("failed", "http-status", "/toolUseResult/status")
    if text.startswith(
        ("Async agent launched successfully", "Command running in background with ID: ")
    ):
        return Verdict("launched", "launched-in-background", "content")
    if RUNS_ON.fullmatch(text):
        return Verdict("launched", "still-running", "content")
    if text.startswith("[Request interrupted by user"):
        return Verdict("interrupted", "interrupted-by-user", "content")
    if flag is False:
        return Verdict("ok", "error-flag", "is_error")
    return Verdict("ok", "no-error-flag", "") if flag is None else Verdict()


def exit_code(text: str, extra: Any) -> int | None:
    """The exit status where the log says it: in the text of a failure, or of a polled shell."""
    if found := EXIT_CODE.match(text):
        return int(found[1])
    match extra:
        case {"exitCode": int(code)} | {"task": {"exitCode": int(code)}}:
            return code
    return None


def is_amended(extra: Any) -> bool:
    """Whether the user changed an edit or a plan before accepting it."""
    match extra:
        case {"userModified": True} | {"planWasEdited": True}:
            return True
    return False


def commit(extra: Any) -> str:
    """The commit that a command made, as the client recorded it (2.1.181); empty without one."""
    match extra:
        case {"gitOperation": {"commit": {"sha": str(sha)}}} if SHA.fullmatch(sha):
            return sha
    return ""


SHA = later(r"[0-9a-f]{7,64}")
ENDED = later(r"\(exit (?:code )?(\d{1,10})\)\s*\Z|with exit code (\d{1,10})\s*\Z")
"""How a notification's summary says that a background command ended."""


def structured(body: dict[str, Any]) -> Any:
    """The structured side of a result; `stream-json` names it otherwise."""
    return body.get("toolUseResult", body.get("tool_use_result"))


def kept(body: dict[str, Any], pointer: str) -> str:
    """A place in the structured side, by the name that the record has for it."""
    if "toolUseResult" in body or not pointer.startswith("/toolUseResult"):
        return pointer
    return pointer.replace("/toolUseResult", "/tool_use_result", 1)


def ends(
    body: dict[str, Any], here: Evidence, polls: Mapping[str, str]
) -> Iterator[tuple[str, ToolResult]]:
    """The ends of background commands that a record tells, by the names of the commands.

    `polls` are the calls that look at one: the text of their results need not name it.
    """
    match structured(body):
        case {"task": {"task_id": str(task), "exitCode": int(code), **seen}}:
            where = here.at(kept(body, "/toolUseResult/task/exitCode"))
            yield task, _ended(body, where, code, seen.get("output"))
            return
        case {"shellId": str(task), "exitCode": int(code), **seen}:
            parts = [seen.get(stream) for stream in ("stdout", "stderr")]
            shown = "\n".join(part for part in parts if isinstance(part, str) and part)
            where = here.at(kept(body, "/toolUseResult/exitCode"))
            yield task, _ended(body, where, code, shown)
            return
    match body:
        case {"subtype": "task_notification", "task_id": str(task), "summary": str(text), **told}:
            yield from _by_summary(body, here.at("/summary"), task, text, told.get("status"))
        case {"type": "user", "message": {"content": [*blocks]}}:
            for index, block in enumerate(blocks):
                match block:
                    case {"type": "text", "text": str(text)} if NOTIFICATION in text[:1000]:
                        yield from _notified(body, here.at(f"/message/content/{index}/text"), text)
                    case {"type": "tool_result", "tool_use_id": str(call), "content": content} if (
                        call in polls and structured(body) is None
                    ):
                        where = here.at(f"/message/content/{index}/content")
                        yield from _polled(body, where, polls[call], text_of(content))
        case {"type": "user", "message": {"content": str(text)}} if NOTIFICATION in text:
            yield from _notified(body, here.at("/message/content"), text)
        case {"attachment": {"type": "queued_command", "prompt": str(text)}} if (
            NOTIFICATION in text
        ):
            yield from _notified(body, here.at("/attachment/prompt"), text)
        case {"type": "queue-operation", "content": str(text)} if NOTIFICATION in text:
            yield from _notified(body, here.at("/content"), text)


def _polled(
    body: dict[str, Any], here: Evidence, name: str, text: str
) -> Iterator[tuple[str, ToolResult]]:
    """The end that the text of a poll shows, with what the command printed."""
    if found := POLLED.match(text):
        tags = ("output", "stdout", "stderr")
        parts = (between(text, f"<{tag}>", f"</{tag}>") for tag in tags)
        shown = "\n".join(part.strip("\n") for part in parts if part)
        yield name, _ended(body, here, int(found[2]), shown)


NOTIFICATION = "<task-notification>"


def _notified(body: dict[str, Any], here: Evidence, text: str) -> Iterator[tuple[str, ToolResult]]:
    """The end that a notification tells."""
    tags = ("task-id", "summary", "status")
    name, summary, status = (between(text, f"<{tag}>", f"</{tag}>") or "" for tag in tags)
    yield from _by_summary(body, here, name, summary, status)


def _by_summary(
    body: dict[str, Any], here: Evidence, name: str, summary: str, status: Any
) -> Iterator[tuple[str, ToolResult]]:
    """The end by its exit code; an agent has none, and is only said to have failed."""
    if name and (found := ENDED.search(summary)):
        yield name, _ended(body, here, int(found[1] or found[2]), None)
    elif name and status == "failed":
        origin = Origin(here, when(body.get("timestamp")), "agent")
        yield name, ToolResult(origin, "", summary, "failed", "background-status", here.pointer)


def _ended(body: dict[str, Any], here: Evidence, code: int, shown: Any) -> ToolResult:
    """The end of a background command; its call is not known yet."""
    outcome: Outcome = "failed" if code else "ok"
    output = shown if isinstance(shown, str) else None
    origin = Origin(here, when(body.get("timestamp")), "agent")
    return ToolResult(origin, "", output, outcome, "background-exit-code", here.pointer, code)


def background(extra: Any, text: str) -> str:
    """The name of the command or agent that a result says runs on; empty without one."""
    match extra:
        case (
            {"backgroundTaskId": str(task)}
            | {"taskId": str(task), "timeoutMs": int()}
            | {"status": "async_launched", "agentId": str(task)}
        ):
            return task
        case None if found := RUNS_AS.match(text):
            return found[1]
    return ""
