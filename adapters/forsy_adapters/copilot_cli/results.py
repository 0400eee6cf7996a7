"""What came back of a call, and whether it worked.

`success` is true of every command that ran; its exit code stands in `shellExecution` (1.0.102) and
in the last line of what the agent saw. A call that failed has `error` in place of `result`.
"""

import re
from collections.abc import Iterator
from typing import Any

from forsy_retrace.calls import Verdict
from forsy_retrace.events import Attachment, Outcome
from forsy_retrace.sdk import base64_size, later, number, pointer, resolve, words

from .kinds import Json

SHELLS = ("bash", "powershell", "local_shell")
LOOKS = ("read_bash", "write_bash", "read_powershell", "write_powershell")
"""Tools that look at a command that runs on, or write to it."""

EXIT = later(
    r"^<(?:exited|shellId: \S{1,100} completed|command with id: \S{1,100} exited)"
    r" with exit code (-?\d{1,10})>$",
    re.M,
)
"""How a line behind what a shell printed tells the exit code, in all versions."""
FAILED = later(r"^<exited with error: ", re.M)
ON = later(
    r"^<command with (?:shellId|sessionId): \S{1,100} (?:is still running|moved to background)"
    r"|^<command started in (?:detached )?background with (?:shellId|sessionId): ",
    re.M,
)
"""How a line behind a shell's output begins that says that the command runs on."""
SHELL = later(
    r"^<(?:command (?:with id|with (?:shellId|sessionId)|started in (?:detached )?background"
    r" with (?:shellId|sessionId))|shellId): (\S{1,100}?)(?: |>)",
    re.M,
)
OPENINGS: tuple[tuple[str, re.Pattern[str], Outcome, str], ...] = (
    # How what came back begins that did not do what was asked, though `success` is true.
    (
        "task",
        later(r"Agent (?:started in|moved to) background\b"),
        "launched",
        "still-running",
    ),
    ("exit_plan_mode", later(r"Plan not approved\b"), "rejected", "plan-not-approved"),
    ("view", later(r"File too large to read at once\b"), "failed", "file-not-shown"),
)
GUIDANCE = later(r"^Tool \"[^\"\n]{1,80}\" succeeded\. Additional guidance from ", re.M)
"""How words of a hook begin that stand behind what a tool printed."""
ANSWER = later(r"User (?:selected|responded): ([^\n]+)\Z")
TAIL = 1000

CODES: dict[str, Outcome] = {
    "rejected": "rejected",
    "denied": "blocked",
    "timeout": "timed_out",
    "failure": "failed",
}
"""What the code of an error says. `denied` is also the user's no that came with words."""
BY_USER = later(r"The user rejected this tool call|Permission denied by user")


def output(data: Json) -> tuple[str | None, str]:
    """What the agent saw, as far as the log has it, and where it stands."""
    match data:
        case {"result": {"content": str(text)}}:
            return text, "/data/result/content"
        case {"error": {"message": str(text)}}:
            return text, "/data/error/message"
    return None, ""


def verdict(tool: str, data: Json) -> Verdict:
    """How a call ended, by the harness's own word."""
    text, path = output(data)
    match data:
        case {"success": False}:
            return _failed(tool, data, text or "")
        case {"success": True} if tool in SHELLS:
            return _of_shell(data, text or "", path)
        case {"success": True}:
            for name, opening, outcome, rule in OPENINGS:
                if name == tool and opening.match(text or ""):
                    return Verdict(outcome, rule, path)
            return Verdict("ok", "success-flag", "/data/success")
    return Verdict()


def _failed(tool: str, data: Json, text: str) -> Verdict:
    error = data.get("error")
    code = words(error.get("code")) if isinstance(error, dict) else ""
    status = _status(data) if tool in SHELLS else None
    if code == "denied" and BY_USER.match(text):
        return Verdict("rejected", "rejected-by-user", "/data/error/message")
    if code in CODES:
        return Verdict(CODES[code], "error-code", "/data/error/code", status)
    return Verdict("failed", "success-flag", "/data/success", status)


def _of_shell(data: Json, text: str, path: str) -> Verdict:
    if (status := _status(data)) is not None:
        where = "/data/shellExecution/exitCode"
        return Verdict("failed" if status else "ok", "exit-code", where, status)
    tail = _tail(text)
    if told := list(EXIT.finditer(tail)):
        status = int(told[-1][1])
        return Verdict("failed" if status else "ok", "exit-code-in-output", path, status)
    if ON.search(tail):
        return Verdict("launched", "still-running", path)
    if FAILED.search(tail):
        return Verdict("failed", "exited-with-error", path)
    return Verdict()  # that it ran is told, and not how it ended


def _tail(text: str) -> str:
    """The end of what a shell printed."""
    words_of_hooks = GUIDANCE.search(text)
    return text[: words_of_hooks.start() if words_of_hooks else len(text)][-TAIL:]


def _status(data: Json) -> int | None:
    match data.get("shellExecution"):
        case {"exitCode": told}:
            return number(told)
    return None


def shell_of(data: Json) -> str:
    """The shell that an output names."""
    told = list(SHELL.finditer(_tail(output(data)[0] or "")))
    return told[-1][1] if told else ""


def is_folder(data: Json) -> bool:
    """Whether a call looked at a folder."""
    return words(_at(data, "/toolTelemetry/properties/viewType")) == "directory"


def answer(data: Json) -> str:
    """What the user answered to a question of the agent."""
    text = output(data)[0] or ""
    told = words(_at(data, "/toolTelemetry/restrictedProperties/answer"))
    found = ANSWER.match(text)
    return told if told and told in text else found[1] if found else ""


def _at(data: Json, path: str) -> Any:
    try:
        return resolve(data, path)
    except LookupError:
        return None


def pictures(data: Json) -> tuple[Attachment, ...]:
    """What a result shows that is no text. Its bytes may stand in a record of their own."""
    return attached(_at(data, "/result/binaryResultsForLlm"), "/data/result/binaryResultsForLlm")


def texts(parts: Any) -> Iterator[tuple[int, str]]:
    """What came with a user's words as text: a selection, or a line on a file."""
    for index, part in enumerate(parts if isinstance(parts, list) else ()):
        match part:
            case {"type": "selection", "text": str(text)} | {"taggedFilesEntry": str(text)}:
                yield index, text


def attached(parts: Any, base: str) -> tuple[Attachment, ...]:
    """Pictures and documents of a list; files that are only named are none."""
    found = []
    for index, part in enumerate(parts if isinstance(parts, list) else ()):
        match part:
            case {"data": str(data), "mimeType": str(media)}:
                place = base + pointer(index, "data")
                found.append(Attachment(media, base64_size(data), place))
            case {"mimeType": str(media), "byteLength": size}:
                place = base + pointer(index)
                found.append(Attachment(media, max(number(size) or 0, 0), place))
    return tuple(found)


OBJECTION = later(
    r"Plan not approved\. User feedback:\n\n(.+?)(?:\n\nPlease update the plan based on [^\n]*)?\Z",
    re.S,
)
"""How a plan comes back that the user did not take, with words."""


def objection(text: str) -> str:
    """What the user said of a plan that was not taken."""
    told = OBJECTION.match(text)
    return told[1] if told else ""
