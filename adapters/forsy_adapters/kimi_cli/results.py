"""How a call ended and what came back: an error flag, a message of the client, what it displays."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from forsy_retrace.calls import Verdict
from forsy_retrace.dialects import content_text
from forsy_retrace.events import Outcome, ToolResult
from forsy_retrace.sdk import later, number, parsed, words

from .units import Json, Unit

RETURNED = "/return_value"
EXIT = later(r"Command failed with exit code: (-?\d{1,10})\.?\s*\Z")
FEEDBACK = later(r"The tool call is rejected by the user\. User feedback: (.+)\Z", re.S)
REVISED = later(r"User wants to revise the plan\..*?\n\nUser feedback: (.+)\Z", re.S)


class Row(NamedTuple):
    """What the client's words say of a call; `place` is where they stand."""

    rule: str
    place: str
    words: re.Pattern[str]
    outcome: Outcome


ERRORS = (
    # Why a call has the error flag.
    Row(
        "rejected-by-user", "/message", later(r"The tool call is rejected by the user"), "rejected"
    ),
    Row("sent-back", "/message", later(r"Plan rejected by user\."), "rejected"),
    Row("timed-out", "/message", later(r"Command killed by timeout \(\d"), "timed_out"),
    Row("timed-out", "/message", later(r"Agent timed out after \d"), "timed_out"),
    Row("no-such-tool", "/message", later(r"Tool `[^`\n]{1,200}` not found\Z"), "failed"),
    Row("denied", "/display", later(r"Hook blocked\Z"), "blocked"),
    Row("denied", "/display", later(r"Plan mode restriction\Z"), "blocked"),
    Row("denied", "/display", later(r"Blocked in plan mode\Z"), "blocked"),
    Row("denied", "/display", later(r"Sensitive file\Z"), "blocked"),
)
OTHERS = (
    # What calls without it came to.
    Row("launched-in-background", "/message", later(r"Background task started\.?\Z"), "launched"),
    Row("nobody-answered", "/message", later(r"User dismissed the question"), "rejected"),
    Row("nobody-answered", "/message", later(r"Afk mode, auto-dismissed\."), "blocked"),
    Row("nobody-answered", "/message", later(r"Dismissed\Z"), "rejected"),
    Row("sent-back", "/message", later(r"Plan revision requested\Z"), "rejected"),
    Row("declined", "/message", later(r"Declined\Z"), "rejected"),
)
ASKS = ("AskUserQuestion", "EnterPlanMode", "ExitPlanMode")
"""Tools of which the user decides."""
BACKGROUND = ("Shell", "Agent")


def verdict(tool: str, value: Json, base: str) -> Verdict:
    """The verdict on a call; `value` is what it returned, `base` where that stands."""
    match value.get("is_error"):
        case True:
            if tool == "Shell" and (found := EXIT.match(words(value.get("message")))):
                return Verdict("failed", "exit-code", base + "/message", int(found[1]))
            return _row(ERRORS, value, base) or Verdict("failed", "error-flag", base + "/is_error")
        case False:
            told = _row(OTHERS, value, base) if tool in (*ASKS, *BACKGROUND) else None
            return told or Verdict("ok", "error-flag", base + "/is_error")
    return Verdict()


def output(value: Json) -> tuple[str | None, str]:
    """What came back, and where it stands: the output; where it is empty, the client's message."""
    match value.get("output"):
        case str(text) if text.strip():
            return text, "/output"
        case [*parts] if shown := content_text(parts):
            return shown, "/output"
    text = words(value.get("message"))
    return (text, "/message") if text else (None, "")


def said(tool: str, value: Json) -> Iterator[tuple[str, str, str]]:
    """What a human wrote or chose: the words, where they stand, and how they came."""
    if found := FEEDBACK.match(words(value.get("message"))):
        yield found[1], "/message", "rejection"
    told = words(value.get("output"))
    if tool == "ExitPlanMode" and (found := REVISED.match(told)):
        yield found[1], "/output", "rejection"
    if tool == "AskUserQuestion":
        match parsed(told):
            case {"answers": dict(answers)}:
                chosen = [one for one in answers.values() if isinstance(one, str) and one.strip()]
                if chosen:
                    yield "\n".join(chosen), "/output", "answer"


def blocks(value: Json) -> Iterator[tuple[int, Json]]:
    """What the client displays of a call."""
    shown = value.get("display")
    for index, block in enumerate(shown if isinstance(shown, list) else ()):
        if isinstance(block, dict):
            yield index, block


def _row(rows: tuple[Row, ...], value: Json, base: str) -> Verdict | None:
    found = [("/message", words(value.get("message")))]
    for index, block in blocks(value):
        match block:
            # Until 1.0 a brief has `data`.
            case {"type": "brief", "text": str(text)}:
                found.append((f"/display/{index}/text", text))
            case {"type": "brief", "data": str(text)}:
                found.append((f"/display/{index}/data", text))
    for row in rows:
        for place, text in found:
            if place.startswith(row.place) and row.words.match(text):
                return Verdict(row.outcome, row.rule, base + place)
    return None


def agent_in(value: Json) -> str:
    """The subagent that a call's result names."""
    found = AGENT.search(words(value.get("output"))[:2000])
    return found[1] if found else ""


def task_in(value: Json) -> str:
    """The task in the background that a call's result names."""
    found = TASK.match(words(value.get("output")))
    return found[1] if found else ""


def end_of(unit: Unit) -> dict[str, ToolResult]:
    """How a command in the background that nobody stopped ended, by the name of its task."""
    match unit.body.get("payload"):
        case {"task_id": str(task), "task_kind": "bash", "terminal_reason": reason, **told}:
            code = number(told.get("exit_code")) if reason in ("completed", "failed") else None
        case _:
            code = None
    if code is None:
        return {}
    here = unit.here("/payload/exit_code", "agent")
    outcome: Outcome = "failed" if code else "ok"
    rule, basis = "background-exit-code", here.evidence.pointer
    return {task: ToolResult(here, "", None, outcome, rule, basis, code)}


AGENT = later(r"(?m)^agent_id: (\w{1,64})$")
TASK = later(r"task_id: (\S{1,64})\n")


def held(body: Json) -> Json:
    value: Any = body.get("return_value")
    return value if isinstance(value, dict) else {}
