"""What came back of a call, and whether it worked."""

import re
from typing import Any

from forsy_retrace.calls import Verdict
from forsy_retrace.dialects import content_text
from forsy_retrace.events import Origin, Outcome
from forsy_retrace.sdk import later, number

Json = dict[str, Any]

ENDS: tuple[tuple[str, re.Pattern[str], Outcome], ...] = (
    # How the end of an output that is flagged as an error says why.
    ("timed-out", later(r"Command timed out after \d+ seconds?\.?\s*\Z"), "timed_out"),
    ("aborted", later(r"(?:Command|Operation) (?:was )?aborted\.?\s*\Z"), "interrupted"),
)
EXIT = later(r"(?:Command|Process) exited with code (-?\d{1,10})\.?\s*\Z")


def ended(message: Json, output: str) -> Verdict:
    """The outcome of a call, by what the harness says beside its output."""
    match message.get("details"):
        case {"status": "running" | "completed" | "failed", "sessionId": str()} if (
            message.get("toolName") == "process" and message.get("isError") is not True
        ):  # what it looked at may have failed, the look did not
            return Verdict("ok", "process-read", "/message/details/status")
        case {"status": "running"}:
            return Verdict("launched", "still-running", "/message/details/status")
        case {"exitCode": int(code)} if number(code) is not None:
            outcome: Outcome = "failed" if code else "ok"
            return Verdict(outcome, "exit-code", "/message/details/exitCode", code)
        case {"status": "error" | "failed"}:
            return Verdict("failed", "status", "/message/details/status")
    match message.get("isError"):
        case True:
            for rule, pattern, outcome in ENDS:
                if pattern.search(output[-200:]):
                    return Verdict(outcome, rule, "/message/content")
            told = EXIT.search(output[-200:])
            return Verdict(
                "failed", "error-flag", "/message/isError", int(told[1]) if told else None
            )
        case False:
            return Verdict("ok", "error-flag", "/message/isError")
    return Verdict()


def answer(message: Json, here: Origin) -> tuple[str | None, Origin]:
    """What came back, and where it stands: in the record as a whole where nothing did."""
    content = message.get("content")
    if content is None:
        return None, here.by("agent")
    return content_text(content), here.below("/message/content").by("agent")
