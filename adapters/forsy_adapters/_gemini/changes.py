"""Which files a call's record shows, and how they changed.

For an edit and a written file the client keeps the file before and after, and a patch; of one that
is read it keeps what it showed to the model.
"""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Change
from forsy_retrace.sdk import later, lines_of, number, packed, words

from .._patches import hunks
from .told import Told

PART = later(
    r"\s*(?:IMPORTANT: The file content has been truncated\.\nStatus: )?"
    r"Showing lines (\d{1,9})-(\d{1,9}) of (\d{1,9}) total lines\.\n"
    r"(?:[^\n]*\n\s*--- FILE CONTENT \(truncated\) ---\n|\n---\n\n)"
)
"""Before a file of which only some lines are shown."""
CREATED = later(r"Successfully created |Created new file: ")
BINARY = later(r"(?:Binary content provided \(|Cannot display content of |\[Skipped )")


def changes(told: Told) -> Iterator[Change]:
    """The files of a call that worked."""
    path = path_of(told.sent)
    match told.display:
        case {"fileDiff": str(diff), "newContent": str(after), **more}:
            path = words(more.get("filePath"), path, more.get("fileName"))
            before = more.get("originalContent")
            is_new = more.get("isNewFile") is True or CREATED.match(words(told.output()[0]))
            is_cut = more.get("truncatedForSession") is True  # Qwen Code, 0.15
            if path:
                yield Change(
                    path,
                    "created" if is_new else "modified",
                    () if is_cut else tuple(hunks(_below_its_head(diff))),
                    packed(before) if isinstance(before, str) and not (is_new or is_cut) else None,
                    None if is_cut else after,
                    pointer=f"{told.display_at}/newContent",
                )
        case _ if told.tool == "read_file" and path:
            yield from _shown(path, told)


def path_of(sent: Any) -> str:
    """The file that a call's arguments name."""
    match sent:
        case {"file_path": str(path)} | {"absolute_path": str(path)}:
            return path
    return ""


def is_amended(told: Told) -> bool:
    """Whether the user changed what was proposed before letting it be done."""
    match told.display:
        case {"diffStat": dict(counted)}:
            return any(number(counted.get(f"user_{what}_lines")) for what in ("added", "removed"))
    return False


def _shown(path: str, told: Told) -> Iterator[Change]:
    output = told.answer.get("output")
    if not isinstance(output, str) or BINARY.match(output):
        return
    if part := PART.match(output):
        start, total, output = int(part[1]), int(part[3]), output[part.end() :]
    else:
        start, total = 1, len(lines_of(output))
    where = f"{told.answer_at}/output"
    yield Change(path, "shown", shown=packed(output), start=start, total=total, pointer=where)


def _below_its_head(diff: str) -> list[str]:
    """The lines of a diff from its first piece on."""
    lines = lines_of(diff)
    first = next((index for index, line in enumerate(lines) if line.startswith("@@")), len(lines))
    return lines[first:]
