"""What came back of a call: of each thing that it asked for, or in one piece."""

import re
from collections.abc import Iterator
from typing import Any

from forsy_retrace.calls import Verdict
from forsy_retrace.events import Change, Meant, Outcome
from forsy_retrace.sdk import compact, later, packed, parsed, pointer, text_of, words

Json = dict[str, Any]

EXITED = later(r"\[Command exited with code (-?\d{1,10})\](?:\n|\Z)")
"""How what a command printed begins where it failed."""
ENDS: tuple[tuple[str, re.Pattern[str], Outcome], ...] = (
    # How an error says why, wherever it stands.
    ("aborted", later(r"(?:Command failed: )?Command was aborted"), "interrupted"),
    ("timed-out", later(r"(?:Command failed: )?Command timed out after \d"), "timed_out"),
    ("rejected-by-user", later(r"This tool call was rejected by the user\b"), "rejected"),
    ("no-such-tool", later(r"Tool call \S{1,100} was rejected before execution"), "failed"),
)
LINE = later(r" *(\d{1,7}) \| ?(.*)")
"""A line of a file that was read, and its number."""
CREATED = "File created successfully at: "


def parts(block: Json) -> list[tuple[str, Json]]:
    """What came back of each thing asked for, and where it stands below the block."""
    content: Any = block.get("content")
    if isinstance(content, str) and content[:1] == "{":
        content = parsed(content)
    match content:
        case {"success": bool()} as one:
            return [("/content", one)]
        case [*some] if some and all(map(_tells, some)):
            return [(f"/content/{at}", one) for at, one in enumerate(some)]
    return []


def _tells(one: Any) -> bool:
    return isinstance(one, dict) and isinstance(one.get("success"), bool)


def shown(block: Json) -> tuple[str | None, str]:
    """What the agent saw, and where it stands: of one thing asked for, what came of it."""
    found = parts(block)
    if len(found) == 1:
        path, one = found[0]
        key = "result" if words(one.get("result")) or not words(one.get("error")) else "error"
        if isinstance(one.get(key), str):
            return one[key], f"{path}/{key}"
    content = block.get("content")
    match content:
        case None:
            return None, ""
        case str(text):
            inner = parsed(text) if text[:1] == "{" else None
            key = "text" if isinstance(inner, dict) and "text" in inner else "error"
            if isinstance(inner, dict) and isinstance(inner.get(key), str):
                return inner[key], f"/content/{key}"
            return text, "/content"
    return (compact(content) if found else text_of(content)), "/content"


def verdict(block: Json, base: str) -> Verdict:
    """How a call ended; of several things asked for, one that failed tells."""
    found = parts(block)
    for path, one in found:
        if one.get("success") is False:
            return _failed(one, base + path)
    if found:
        return Verdict("ok", "success-flag", f"{base}{found[0][0]}/success")
    match block.get("is_error"):
        case True:
            text, path = shown(block)
            for rule, pattern, outcome in ENDS:
                if pattern.match(text or ""):
                    return Verdict(outcome, rule, base + path)
            return Verdict("failed", "error-flag", f"{base}/is_error")
        case None | False:
            return Verdict("ok", "no-error-flag", base)
    return Verdict()


def _failed(one: Json, base: str) -> Verdict:
    if told := EXITED.match(words(one.get("result"))):
        return Verdict("failed", "exit-code-told", f"{base}/result", int(told[1]))
    for rule, pattern, outcome in ENDS:
        if pattern.match(words(one.get("error"))):
            return Verdict(outcome, rule, f"{base}/error")
    return Verdict("failed", "success-flag", f"{base}/success")


def meant(tool: str, sent: Any) -> Meant | None:
    """What a call comes to that asks for one thing alone, in words that rules know."""
    match tool, sent:
        case "run_commands", {"commands": [str(line)]}:
            return Meant("bash", {"command": line})
        case "run_commands", {"commands": [*lines]} if lines and all(
            isinstance(line, str) for line in lines
        ):
            return Meant("bash", {"command": "\n".join(lines)})
        case "read_files", {"files": [{"path": str(path)}]}:
            return Meant("Read", {"file_path": path})
        case "editor", {"path": str(path), "old_text": str(old), "new_text": str(new)}:
            return Meant("Edit", {"file_path": path, "old_string": old, "new_string": new})
        case "search_codebase", {"queries": [str(one)]}:
            return Meant("Grep", {"pattern": one})
    return None


def changes(tool: str, sent: Any, block: Json, base: str) -> Iterator[Change]:
    """The files that a call showed or made."""
    asked = sent.get("files") if tool == "read_files" and isinstance(sent, dict) else None
    found = parts(block)
    if isinstance(asked, list) and len(asked) == len(found):
        for file, (path, one) in zip(asked, found, strict=True):
            yield from _read(file, one, f"{base}{path}/result")
    match tool, sent, found:
        case "editor", {"path": str(name), "new_text": str(text)}, [(path, {"result": str(told)})]:
            if told.startswith(CREATED):
                yield Change(name, "created", after=text, pointer=base + path + pointer("result"))


def _read(file: Any, one: Json, where: str) -> Iterator[Change]:
    """The lines of a file, without their numbers; none where the client left some out."""
    lines = [LINE.fullmatch(line) for line in words(one.get("result")).split("\n")]
    numbers = [int(line[1]) for line in lines if line]
    if len(numbers) != len(lines) or not isinstance(file, dict) or not words(file.get("path")):
        return
    if numbers == list(range(numbers[0], numbers[0] + len(numbers))):
        text = "\n".join(line[2] for line in lines if line)
        name = file["path"]
        yield Change(name, "shown", shown=packed(text), start=numbers[0], pointer=where)
