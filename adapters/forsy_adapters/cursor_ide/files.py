"""What a call did to which file, or showed of it, as the client recorded it."""

import difflib
from collections.abc import Iterator, Mapping
from typing import Any

from forsy_retrace.events import Change, Hunk, Packed
from forsy_retrace.sdk import later, lines_of, number, packed, words

from .._patches import hunks
from .calls import DELETES, EDITS, READS, WRITES, path_of, sent_in
from .held import Json, opened
from .results import result_of

MOST_LINES = 5000
EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
"""The SHA-256 of nothing, by which the content of an empty file is named."""
NUMBERED = later(r" *\d+[|\t\u2192:]")
"""How a line begins that is shown behind its number."""


def changes(call: Json, contents: Mapping[str, Packed], base: str) -> tuple[Change, ...]:
    """The files of a call that ended well and stands at a pointer."""
    tool, path, result = words(call.get("name")), path_of(call), result_of(call)
    if not path or not isinstance(result, dict):
        return ()
    where = f"{base}/result"
    if tool in READS:
        return tuple(_shown(path, call, result, where))
    if tool in (*EDITS, WRITES):
        return tuple(_edited(path, result, contents, where))
    if tool == DELETES and result.get("fileDeletedSuccessfully") is True:
        return (Change(path, "deleted", pointer=where),)
    return ()


def _edited(
    path: str, result: Json, contents: Mapping[str, Packed], where: str
) -> Iterator[Change]:
    """An edit: what the file held before and after, in rows of their own; before 2026 its patch."""
    match result:
        case {"afterContentId": str(name), **rest}:
            after = _text(contents, name)
            before = _text(contents, rest.get("beforeContentId"))
            # A file that was not there has no content before, or that of an empty one.
            is_new = not words(rest.get("beforeContentId")) or before == ""
            if is_new:
                yield Change(path, "created", after=after, pointer=where)
            else:
                pieces = _differences(before, after)
                yield Change(path, "modified", pieces, packed(before), after, pointer=where)
        case {"diff": {"chunks": [*_]}}:
            yield Change(path, "modified", pointer=f"{where}/diff")


def _text(contents: Mapping[str, Packed], name: Any) -> str | None:
    """What a content holds."""
    if not isinstance(name, str):
        return None
    found = contents.get(name)
    return str(found) if found is not None else "" if name.endswith(EMPTY) else None


def _differences(before: str | None, after: str | None) -> tuple[Hunk, ...]:
    """What changed between two texts; nothing where that takes too long to tell."""
    if before is None or after is None:
        return ()
    old, new = lines_of(before), lines_of(after)
    if max(len(old), len(new)) > MOST_LINES:
        return ()
    return tuple(hunks(list(difflib.unified_diff(old, new, lineterm=""))[2:]))


def _shown(path: str, call: Json, result: Json, where: str) -> Iterator[Change]:
    """The part of a file that a reader showed, where the log says which."""
    text = result.get("contents")
    if not isinstance(text, str) or not text or NUMBERED.match(text):
        return
    count = text.count("\n") + 1
    total = number(result.get("totalLinesInFile"))
    first, last = (
        number(result.get(name)) for name in ("startLineOneIndexed", "endLineOneIndexedInclusive")
    )
    asked, _ = sent_in(call)
    read = opened(call.get("params"))
    sources = [one for one in (read, asked) if isinstance(one, dict)]
    if first is not None and last is not None:
        fits = last - first + 1 == count
        first, total = first, number(result.get("totalLines"))
    else:
        offset, limit = (
            next((found for one in sources if (found := number(one.get(name)))), None)
            for name in ("offset", "limit")
        )
        first = offset or 1
        fits = first > 0 and (count == limit or (total is not None and first + count - 1 == total))
    if fits:
        yield Change(
            *(path, "shown"),
            shown=packed(text),
            start=first,
            total=total,
            pointer=f"{where}/contents",
            trimmed=True,
        )
