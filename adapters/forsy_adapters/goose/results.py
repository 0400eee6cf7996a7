"""Calls and what came of them: what they come to, what the agent was shown, how they ended."""

import re
from collections.abc import Iterator
from typing import Any

from forsy_retrace.calls import Verdict
from forsy_retrace.events import Attachment, Change, Meant, Outcome
from forsy_retrace.sdk import Known, base64_size, later, media_of, number, pointer, text_of, words

Json = dict[str, Any]

OWN = (
    *("developer", "computercontroller", "memory", "autovisualiser", "tutorial", "todo"),
    *("extensionmanager", "apps", "chatrecall", "summon", "skills", "code_execution", "analyze"),
    *("recipe", "platform", "subagent", "dynamic_task", "summarize", "orchestrator", "tom"),
)
"""Extensions that come with Goose; any other is a server of the user's choice."""
TOOLS: dict[str, Known] = {
    "shell": "bash",
    "developer__shell": "bash",
    "write": "Write",
    "edit": "Edit",
    "text_editor": "Edit",
    "developer__text_editor": "Edit",
    "tree": "LS",
    "developer__list_files": "LS",
    "analyze": "Grep",
    "developer__analyze": "Grep",
    "analyze__analyze": "Grep",
    "read_image": "Read",
    "developer__image_processor": "Read",
    "computercontroller__web_scrape": "WebFetch",
    "todo__todo_write": "TodoWrite",
    "todo_write": "TodoWrite",
    "delegate": "Task",
    "summon__delegate": "Task",
    "subagent": "Task",
    "subagent__execute_task": "Task",
    "load_skill": "Skill",
    "skills__loadSkill": "Skill",
    "recipe__final_output": "finish",
}
SHELLS = ("shell", "developer__shell")
EDITORS = ("text_editor", "developer__text_editor")
MADE = later(r"Created (\S.{0,400}) \(\d{1,9} lines\)\Z")
"""What `write` says of a file that was not there; of any other it says less than its call does."""
STARTED = later(r"Task \S{1,80} started in background: ")
ENDS: tuple[tuple[str, re.Pattern[str], Outcome], ...] = (
    # What a result says that is more than a failure (`tool_execution.rs`, the command line's
    # session, 1.0 to 1.52); the first row that matches counts. The first is also what a setting
    # or an inspector gives back, though it names the user.
    ("denied", later(r"The user has declined to run this tool\."), "blocked"),
    (
        "not-permitted",
        later(r"Let the user know the tool call was skipped in \w+ chat mode\."),
        "blocked",
    ),
    ("hook-blocked", later(r"!?Tool call denied by policy hook"), "blocked"),
    (
        "interrupted-by-user",
        later(r"(?:Execution failed: )?Interrupted by the user to make a"),
        "interrupted",
    ),
)


def meant(tool: str, sent: Any, extension: str) -> Meant | None:
    """What a call comes to, in words that rules know."""
    match sent:
        case {"path": str(path), "before": str(old), "after": str(new)} if tool == "edit":
            return Meant("Edit", {"file_path": path, "old_string": old, "new_string": new})
        case {"command": str(command), "path": str(path)} if tool in EDITORS:
            return _edited(command, path, sent)
    server, mark, name = tool.partition("__")
    if mark and name and server not in OWN and isinstance(sent, dict):
        return Meant(f"mcp__{server}__{name}", sent)
    if extension and extension not in OWN and tool not in TOOLS and isinstance(sent, dict):
        return Meant(f"mcp__{extension}__{tool}", sent)
    return None


def _edited(command: str, path: str, sent: Json) -> Meant | None:
    """What a command of the one tool that reads and edited files until 1.2x comes to."""
    match command, sent:
        case "view", _:
            return Meant("Read", {"file_path": path})
        case "write", {"file_text": str(text)}:
            return Meant("Write", {"file_path": path, "content": text})
        case "str_replace", {"old_str": str(old), "new_str": str(new)}:
            return Meant("Edit", {"file_path": path, "old_string": old, "new_string": new})
        case _:
            return Meant("Edit", {"file_path": path})


def blocks(part: Json) -> tuple[list[Any], str]:
    """What came back, and where it stands below its part; until 1.1x there was no more."""
    match part.get("toolResult"):
        case {"value": {"content": [*some]}}:
            return some, "/toolResult/value/content"
        case {"value": [*some]}:
            return some, "/toolResult/value"
    return [], "/toolResult"


def _is_for_agent(block: Any) -> bool:
    match block:
        case {"audience": [*whom]} | {"annotations": {"audience": [*whom]}}:
            return "assistant" in whom
    return True


def _text(block: Any) -> tuple[str, str] | None:
    match block:
        case {"type": "text", "text": str(text)}:
            return text, "/text"
        case {"type": "resource", "resource": {"text": str(text)}}:
            return text, "/resource/text"
    return None


def shown(part: Json) -> tuple[str | None, list[str]]:
    """What the agent was shown, and where below the part: of all its texts, if there are several.

    What was for the user alone, mostly the same for the eye, is left out.
    """
    match part.get("toolResult"):
        case {"status": "error", "error": str(text)}:
            return text, ["/toolResult/error"]
    listed, base = blocks(part)
    told = [(at, one) for at, one in enumerate(listed) if _is_for_agent(one)]
    texts = [(found, at) for at, one in told if (found := _text(one)) is not None]
    if len(texts) == 1:
        (text, path), at = texts[0]
        return text, [f"{base}/{at}{path}"]
    if len(told) == len(listed) and all(path == "/text" for (_, path), _ in texts) and texts:
        return text_of([one for _, one in told]), [base]
    if texts:
        return "".join(text for (text, _), _ in texts), [
            f"{base}/{at}{path}" for (_, path), at in texts
        ]
    return ("" if listed and not told else None), [base]


def attachments(part: Json, base: str) -> tuple[Attachment, ...]:
    """The pictures that a call came back with."""
    listed, path = blocks(part)
    return tuple(
        picture(one, f"{base}{path}{pointer(at)}")
        for at, one in enumerate(listed)
        if is_picture(one) and _is_for_agent(one)
    )


def is_picture(block: Any) -> bool:
    """Whether a part is a picture or a document."""
    match block:
        case {"type": "image" | "document", "data": str(), "mimeType": str()}:
            return True
    return False


def picture(block: Json, base: str) -> Attachment:
    """A picture or a document at a place."""
    return Attachment(media_of(block)[0], base64_size(block["data"]), f"{base}/data")


def verdict(tool: str, part: Json, base: str) -> Verdict:
    """How a call ended; of a command, only where its end is told."""
    text, places = shown(part)
    result = part.get("toolResult")
    for rule, pattern, outcome in () if _has_run(result) else ENDS:
        if pattern.match(text or ""):
            return Verdict(outcome, rule, base + places[0])
    match result:
        case {"status": "error"}:
            return Verdict("failed", "status", f"{base}/toolResult/status")
        case {"status": "success", "value": {"structuredContent": dict(held)}} if tool in SHELLS:
            return _of_a_command(held, part["toolResult"]["value"], base)
        case {"status": "success", "value": {"isError": bool(flag)}} if flag or tool not in SHELLS:
            if not flag and STARTED.match(text or ""):
                return Verdict("launched", "started-in-background", base + places[0])
            outcome = "failed" if flag else "ok"
            return Verdict(outcome, "error-flag", f"{base}/toolResult/value/isError")
        case {"status": "success", "value": _} if tool not in SHELLS:
            return Verdict("ok", "status", f"{base}/toolResult/status")
    return Verdict()


def _has_run(result: Any) -> bool:
    """Whether a result is what a tool gave back beside its text, which may say anything."""
    match result:
        case {"value": {"structuredContent": dict()}}:
            return True
    return False


def _of_a_command(held: Json, value: Json, base: str) -> Verdict:
    where = f"{base}/toolResult/value"
    if held.get("timed_out") is True:
        return Verdict("timed_out", "timed-out", f"{where}/structuredContent/timed_out")
    code = number(held.get("exit_code"))
    if code is not None:
        outcome: Outcome = "failed" if code else "ok"
        return Verdict(outcome, "exit-code", f"{where}/structuredContent/exit_code", code)
    if value.get("isError") is True:
        return Verdict("failed", "error-flag", f"{where}/isError")
    return Verdict()


def changes(tool: str, sent: Any, part: Json, base: str) -> Iterator[Change]:
    """The file that a call says it made."""
    text, places = shown(part)
    found = MADE.match(text or "")
    match sent:
        case {"path": str(path), "content": str(content)} if tool == "write" and found:
            if found[1] == path:
                yield Change(path, "created", after=content, pointer=base + places[0])


def name_of(part: Json) -> tuple[str, Any]:
    """The tool of a request and what was sent to it; empty where it could not be read."""
    match part.get("toolCall"):
        case {"value": {"name": str(tool), **rest}}:
            return tool, rest.get("arguments")
    return "", None


def extension(part: Json) -> str:
    """The extension that a call's tool belongs to, where the log says so."""
    held = part.get("_meta")
    return words(held.get("goose_extension")) if isinstance(held, dict) else ""


def place_among(part: Json) -> int | None:
    """Which of the calls of one answer of the model it is, from 0; Goose keeps them apart."""
    held = part.get("_meta")
    return number(held.get("goose.toolCall.providerIndex")) if isinstance(held, dict) else None
