"""What a call did to which files, or showed of them, as OpenCode recorded it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from forsy_retrace.events import Change
from forsy_retrace.sdk import later, lines_of, number, packed, words

from .._patches import Patch, differences, hunks
from .._patches import changes as patched

Json = dict[str, Any]
Kind = Literal["created", "modified", "deleted", "shown"]

KINDS: dict[str, Kind] = {
    "add": "created",
    "update": "modified",
    "move": "modified",
    "delete": "deleted",
}
"""What `apply_patch` does to a file."""
NEW = "@@ -0,0 "
PIECES = later(r"^@@ -\d", re.M)
"""Where a patch's header ends."""
FILE = later(r"<(file|content)>\n?((?:0*\d+(?:\| |: ).*(?:\n|\Z))+)")
NUMBERED = later(r"(?m)^0*(\d+)(?:\| |: )(.*)$")
WHOLE = "file"
"""Until 1.1 a reader showed the empty line behind the last one too."""
MOST_DIGITS = 9
TOTAL = later(r"\(End of file - total (\d{1,9}) lines\)")


def changes(tool: str, state: Json, base: str) -> tuple[Change, ...]:
    """The files of a call that ended well; its state stands at the pointer `base`."""
    held = state.get("metadata")
    where = f"{base}/metadata"
    match tool, held:
        case "edit", {"filediff": dict(one)}:
            return tuple(_edited(one, f"{where}/filediff"))
        case "multiedit", {"results": [*results]}:
            inner = ((one, f"{where}/results/{at}/filediff") for at, one in enumerate(results))
            return tuple(
                change
                for one, place in inner
                if isinstance(one, dict) and isinstance(one.get("filediff"), dict)
                for change in _edited(one["filediff"], place)
            )
        case "apply_patch", {"files": [*files]}:
            added = _added(_sent(state, "patchText") or "")
            return tuple(
                change
                for at, one in enumerate(files)
                for change in _patched(one, f"{where}/files/{at}", added)
            )
        case "write", {"filepath": str(path), "exists": False}:
            content = _sent(state, "content")
            place = f"{base}/input/content"
            return (Change(path, "created", after=content, pointer=place),) if content else ()
        case "read", {"display": {"type": "file", "path": str(path), "text": str(text), **rest}}:
            start, total = number(rest.get("lineStart")), number(rest.get("totalLines"))
            place = f"{where}/display"
            return (_shown(path, text, start or 1, total, place),)
        case "read", _:
            return tuple(_numbered(state, f"{base}/output"))
    return ()


def _edited(one: Json, place: str) -> Iterator[Change]:
    """An edit: since 1.3 with its patch, before with the file as it was and as it became."""
    match one:
        case {"file": str(path), "patch": str(patch)}:
            kind: Kind = "created" if NEW in patch else "modified"
            yield Change(path, kind, tuple(hunks(_pieces(patch))), pointer=f"{place}/patch")
        case {"file": str(path), "before": "", "after": str(after)}:
            yield Change(path, "created", after=after, pointer=f"{place}/after")
        case {"file": str(path), "before": str(before), "after": str(after)}:
            pieces = differences(before, after)
            yield Change(path, "modified", pieces, packed(before), pointer=place)


def _patched(one: Any, place: str, added: Mapping[str, str]) -> Iterator[Change]:
    match one:
        case {"filePath": str(path), "type": str(name), **rest} if name in KINDS:
            kind, moved = KINDS[name], words(rest.get("movePath"))
            before, after = words(rest.get("before")), words(rest.get("after"))
            pieces = tuple(hunks(_pieces(words(rest.get("patch") or rest.get("diff")))))
            if moved and moved != path:
                yield Change(path, "deleted", pointer=place)
                path = moved
            if kind == "modified":
                pieces = differences(before, after) if before else pieces
                yield Change(path, kind, pieces, packed(before or None), pointer=place)
            else:
                held = after or added.get(words(rest.get("relativePath"))) or added.get(path)
                yield Change(path, kind, after=held, pointer=place)


def _added(patch: str) -> dict[str, str]:
    """The files that a patch adds, as it names them."""
    return {one.path: one.after for one in patched(Patch((patch,))) if one.after is not None}


def _pieces(patch: str) -> list[str]:
    """A patch behind its header. The indent that all its lines share is left out of it."""
    found = PIECES.search(patch)
    return lines_of(patch[found.start() :]) if found else []


def _numbered(state: Json, place: str) -> Iterator[Change]:
    """What a reader showed before it was recorded beside its output: lines behind their numbers."""
    path, output = _sent(state, "filePath"), words(state.get("output"))
    if path is None or (found := FILE.search(output)) is None:
        return
    lines = NUMBERED.findall(found[2])
    total = TOTAL.search(output, found.end())
    text, first = "\n".join(line for _, line in lines), int(lines[0][0][:MOST_DIGITS])
    last = int(total[1]) if total else None
    yield _shown(path, text, first, last, place, trimmed=found[1] != WHOLE)


def _shown(
    path: str, text: str, start: int, total: int | None, place: str, *, trimmed: bool = True
) -> Change:
    """Lines of a file; since 1.2 a reader leaves out whether the last one is ended."""
    shown = packed(text)
    return Change(
        path, "shown", shown=shown, start=start, total=total, pointer=place, trimmed=trimmed
    )


def _sent(state: Json, key: str) -> str | None:
    sent = state.get("input")
    value = sent.get(key) if isinstance(sent, dict) else None
    return value if isinstance(value, str) else None
