"""How a call ended, by its error flag and the client's own words; what came back and was shown."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from forsy_retrace.calls import Verdict
from forsy_retrace.dialects import content_text
from forsy_retrace.events import Change, Meant, Outcome, ToolResult
from forsy_retrace.sdk import later, number, parsed, words

from .._kimi.shown import shown
from .records import Json, Line

EXIT = later(r"(?:\A|\n)Command failed with exit code: (-?\d{1,10})\.?\s*\Z")
REASON = later(
    r'Tool "[^"\n]{1,200}" was not run because the user rejected the approval request\.'
    r" Reason: (.+?)(?: Try a different approach — don't retry the same call, .*)?\Z",
    re.S,
)
REVISED = later(r"User rejected the plan\. Feedback:\n\n(.+)\Z", re.S)
NOTE = later(r"\n?<system>([^\n]{1,4000})</system>\s*\Z")
"""What the client says of a file that it shows; beside the output since 0.2x."""
TAIL = 300
"""Characters in which a command's end is told."""


class Row(NamedTuple):
    """What the client's words say of a call."""

    rule: str
    words: re.Pattern[str]
    outcome: Outcome


ERRORS = (
    Row(
        "rejected-by-user",
        later(r'Tool "[^"\n]{1,200}" was not run because the user rejected'),
        "rejected",
    ),
    Row(
        "request-withdrawn",
        later(r'Tool "[^"\n]{1,200}" was not run because the approval request was cancelled'),
        "interrupted",
    ),
    Row("denied", later(r"Plan mode is active\. You may only "), "blocked"),
    Row("sent-back", later(r"Plan rejected by user\."), "rejected"),
    Row("aborted-by-user", later(r"Interrupted by user\.?\s*\Z"), "interrupted"),
    Row("no-such-tool", later(r'Tool "[^"\n]{1,200}" not found'), "failed"),
)
TIMED_OUT = later(r"(?:\A|\n)Command killed by timeout \([^()\n]{1,40}\)\.?\s*\Z")
ENDS = (
    # What stands behind a command's output.
    Row("timed-out", TIMED_OUT, "timed_out"),
    Row("aborted-by-user", later(r"(?:\A|\n)Interrupted by user\.?\s*\Z"), "interrupted"),
)
RUNS_ON = later(r"task_id: (\S+)\n(?:\w+: [^\n]*\n){0,8}?automatic_notification: true")
BACKGROUND = (Row("launched-in-background", RUNS_ON, "launched"),)
OTHERS = {
    # What calls without the flag came to.
    "AskUserQuestion": (Row("nobody-answered", later(r'\{"answers":\s?\{\}'), "rejected"),),
    "ExitPlanMode": (
        Row("sent-back", later(r"User rejected the plan\.|User requested revisions\."), "rejected"),
    ),
    "Bash": BACKGROUND,
    "Agent": BACKGROUND,
}


def verdict(tool: str, value: Json, base: str) -> Verdict:
    """The verdict on a call; `value` is its result, `base` where that stands."""
    text, where = output(value)[0] or "", base + "/output"
    match value.get("isError"):
        case True:
            if tool == "Bash":
                tail = text[-TAIL:]
                if found := EXIT.search(tail):
                    return Verdict("failed", "exit-code", where, int(found[1]))
                for row in ENDS:
                    if row.words.search(tail):
                        return Verdict(row.outcome, row.rule, where)
            return _row(ERRORS, text, where) or Verdict("failed", "error-flag", base + "/isError")
        case False | None as flag:
            told = _row(OTHERS.get(tool, ()), text, where)
            ok = ("no-error-flag", base) if flag is None else ("error-flag", base + "/isError")
            return told or Verdict("ok", *ok)
    return Verdict()


def end_of(line: Line) -> dict[str, ToolResult]:
    """How a command in the background that nobody stopped ended, by the name of its task."""
    match line.value.get("info"):
        case {"taskId": str(task), "kind": "process", "status": "completed" | "failed", **told}:
            code = number(told.get("exitCode"))
        case _:
            code = None
    if code is None:
        return {}
    here, shown = line.own("/info/exitCode"), words(line.value.get("outputTail")) or None
    outcome: Outcome = "failed" if code else "ok"
    rule, basis = "background-exit-code", here.evidence.pointer
    return {task: ToolResult(here, "", shown, outcome, rule, basis, code)}


def task_in(text: str) -> str:
    """The task in the background that a call's result says it began; empty where it says none."""
    found = RUNS_ON.match(text)
    return found[1] if found else ""


def output(value: Json) -> tuple[str | None, str]:
    """What came back, and where it stands."""
    match value.get("output"):
        case str(text):
            return text, "/output"
        case [*parts]:
            return content_text(parts), "/output"
    return None, ""


def said(tool: str, text: str) -> Iterator[tuple[str, str]]:
    """What a human wrote or chose in a dialog, and how it came."""
    if found := REASON.match(text):
        yield found[1], "rejection"
    if tool == "ExitPlanMode" and (found := REVISED.match(text)):
        yield found[1], "rejection"
    if tool == "AskUserQuestion":
        match parsed(text):
            case {"answers": dict(answers)}:
                chosen = [one for one in answers.values() if isinstance(one, str) and one.strip()]
                if chosen:
                    yield "\n".join(chosen), "answer"


def changes(tool: str, sent: Any, value: Json, base: str) -> tuple[Change, ...]:
    """The file that a call showed."""
    match tool, sent, value.get("output"):
        case "Read", {"path": str(path)}, str(text) if path:
            note = NOTE.search(text[-4200:])
            told = words(value.get("note"), note[0] if note else "")
            body = text[: len(text) - len(note[0])] if note else text
            return tuple(shown(path, body, told, base + "/output"))
    return ()


def meant(tool: str, sent: Any) -> Meant | None:
    """A call with the arguments' names of other harnesses."""
    match tool, sent:
        case "Read" | "ReadMediaFile", {"path": str(path)}:
            names = (("line_offset", "offset"), ("n_lines", "limit"))
            found = {new: number(sent.get(old)) for old, new in names}
            return Meant(tool, {"file_path": path} | {k: v for k, v in found.items() if v})
        case "Edit" | "Write", {"path": str(path)} if sent.get("mode") != "append":
            rest = {key: one for key, one in sent.items() if key != "path"}
            return Meant(tool, {"file_path": path} | rest)
        case "TodoList", {"todos": list(todos)}:
            return Meant(tool, {"todos": [_todo(one) for one in todos]})
        case "TaskList", _:
            return Meant("list_agents", sent)
    return None


def _todo(item: Any) -> Any:
    match item:
        case {"title": str(title), "status": str(status)}:
            return {"content": title, "status": "completed" if status == "done" else status}
    return item


def _row(rows: tuple[Row, ...], text: str, where: str) -> Verdict | None:
    for row in rows:
        if row.words.match(text):
            return Verdict(row.outcome, row.rule, where)
    return None
