"""Which files a call's record shows, and how they changed.

For an edit and a written file the client keeps the file before and after, and a patch; of one that
is read it keeps what it showed to the model.
"""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Change
from forsy_retrace.sdk import later, number, packed, words

from .._patches import hunks
from .outcome import response

PART = later(
    r"\s*IMPORTANT: The file content has been truncated\.\n"
    r"Status: Showing lines (\d{1,9})-(\d{1,9}) of (\d{1,9}) total lines\.\n"
    r"[^\n]*\n\s*--- FILE CONTENT \(truncated\) ---\n"
)
"""Before a file of which only some lines are shown."""
BINARY = later(r"(?:Binary content provided \(|Cannot display content of |\[Skipped )")


def changes(call: dict[str, Any], base: str) -> Iterator[Change]:
    """The files of a recorded call that worked."""
    match call:
        case {"name": "read_file", "args": {"file_path": str(path)} | {"absolute_path": str(path)}}:
            yield from _shown(path, call, base)
        case {"resultDisplay": {"fileDiff": str(diff), "newContent": str(after), **more}}:
            path = words(more.get("filePath"), more.get("fileName"))
            if not path:
                return
            before = more.get("originalContent")
            is_new = more.get("isNewFile") is True
            yield Change(
                path,
                "created" if is_new else "modified",
                tuple(hunks(_below_its_head(diff))),
                before=packed(before) if isinstance(before, str) and not is_new else None,
                after=after,
                pointer=f"{base}/resultDisplay/newContent",
            )


def is_amended(call: dict[str, Any]) -> bool:
    """Whether the user changed what was proposed before letting it be done."""
    match call.get("resultDisplay"):
        case {"diffStat": dict(counted)}:
            return any(number(counted.get(f"user_{what}_lines")) for what in ("added", "removed"))
    return False


def _shown(path: str, call: dict[str, Any], base: str) -> Iterator[Change]:
    answer, where = response(call, base)
    output = answer.get("output")
    if not isinstance(output, str) or BINARY.match(output):
        return
    if part := PART.match(output):
        start, total, output = int(part[1]), int(part[3]), output[part.end() :]
    else:
        start, total = 1, len(output.splitlines())
    pointer = f"{where}/output"
    yield Change(path, "shown", shown=packed(output), start=start, total=total, pointer=pointer)


def _below_its_head(diff: str) -> list[str]:
    """The lines of a diff from its first piece on."""
    lines = diff.splitlines()
    first = next((index for index, line in enumerate(lines) if line.startswith("@@")), len(lines))
    return lines[first:]
