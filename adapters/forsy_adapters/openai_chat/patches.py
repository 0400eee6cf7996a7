"""What the Responses API's `apply_patch` does to its one file."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Change
from forsy_retrace.sdk import lines_of

from .._patches import hunks

TOOL = "apply_patch"


def changes(patch: Any) -> Iterator[Change]:
    """What a call changes, if it works."""
    match patch:
        case {"type": "create_file", "path": str(path), "diff": str(diff)}:
            lines = [line[1:] for line in lines_of(diff) if line.startswith("+")]
            yield Change(path, "created", after="".join(f"{line}\n" for line in lines))
        case {"type": "update_file", "path": str(path), "diff": str(diff)}:
            yield Change(path, "modified", tuple(hunks(lines_of(diff))))
        case {"type": "delete_file", "path": str(path)}:
            yield Change(path, "deleted")
