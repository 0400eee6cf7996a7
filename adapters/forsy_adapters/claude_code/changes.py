"""Which files does a structured result record, and how did they change?

A patch that Claude Code keeps is the one on the screen: from some version on, two spaces stand in
it for each tab that a line begins with. The file before the edit, which it keeps too, has the tabs.
"""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Change, Hunk
from forsy_retrace.sdk import number, packed

TAB = "  "
"""What a patch has in place of a tab at the beginning of a line."""
MOST = 10_000_000
"""Characters that a file may have for an edit of it to be done again here."""
WORK = 200_000_000
"""Characters of the file that all edits of one call may pass over."""


def changes(extra: Any) -> Iterator[Change]:
    """The files that a structured result records."""
    match extra:
        case {"staged": True}:
            return  # shown to the user, and not applied
        case {"file": {"filePath": str(path), "content": str(shown), **file}}:
            yield Change(
                path,
                "shown",
                shown=packed(shown),
                start=number(file.get("startLine")) or 1,
                total=number(file.get("totalLines")),
                pointer="/toolUseResult/file/content",
            )
        case {"filePath": str(path), "oldString": str(), "newString": str()} | {
            "filePath": str(path),
            "edits": list(),
        }:
            before = _text(extra.get("originalFile", extra.get("originalFileContents")))
            patch = tuple(hunks(extra.get("structuredPatch")))
            yield Change(
                path,
                "modified",
                hunks=_as_in_the_file(patch, before, _edited(before, extra)),
                before=packed(before),
                pointer="/toolUseResult/structuredPatch",
            )
        case {
            "notebook_path": str(path),
            "original_file": str(before),
            "updated_file": str(after),
        } if before != after:
            yield Change(
                path,
                "modified",
                before=packed(before),
                after=after,
                pointer="/toolUseResult/updated_file",
            )
        case {"bashEditDiff": dict(diff)}:
            yield from _of_shell(diff)
        case {"type": "create" | "update" as kind, "filePath": str(path), "content": str(after)}:
            before = _text(extra.get("originalFile"))
            patch = tuple(hunks(extra.get("structuredPatch")))
            if before is None and kind == "update" and extra.get("structuredPatch") == []:
                before = after  # a patch without a piece: the file was already so
            yield Change(
                path,
                "created" if kind == "create" else "modified",
                hunks=_as_in_the_file(patch, before, after),
                before=packed(before),
                after=after,
                pointer="/toolUseResult/content",
            )


def _of_shell(diff: dict[str, Any]) -> Iterator[Change]:
    """The files that a command changed (2.1.269): none where another might have done it too."""
    files = diff.get("files")
    if diff.get("shared") is True or not isinstance(files, list):
        return
    for index, file in enumerate(files):
        match file:
            case {"filePath": str(path), "hunks": list(told)}:
                made, gone = file.get("created") is True, file.get("deleted") is True
                pointer = f"/toolUseResult/bashEditDiff/files/{index}/hunks"
                kind: Any = "deleted" if gone else "created" if made else "modified"
                yield Change(path, kind, tuple(hunks(told)), pointer=pointer)
    yield from _more_of_shell(diff, files)


def _more_of_shell(diff: dict[str, Any], files: list[Any]) -> Iterator[Change]:
    """Those beyond the first few (2.1.332), of which only the names are told.

    Where one of the first was made or deleted, what was done to these is not known.
    """
    told = [file for file in files if isinstance(file, dict)]
    names = diff.get("changedFiles")
    shown = [file.get("filePath") for file in told]
    if any(file.get("created") or file.get("deleted") for file in told):
        return
    for index, name in enumerate(names if isinstance(names, list) else ()):
        if isinstance(name, str) and name not in shown:
            pointer = f"/toolUseResult/bashEditDiff/changedFiles/{index}"
            yield Change(name, "modified", pointer=pointer)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def hunks(patch: Any) -> Iterator[Hunk]:
    """The pieces of a `structuredPatch`."""
    for hunk in patch if isinstance(patch, list) else ():
        match hunk:
            case {"oldStart": int(old), "newStart": int(new), "lines": list(lines)}:
                if all(isinstance(line, str) for line in lines):
                    yield Hunk(old, new, tuple(lines))


def _edited(before: str | None, extra: dict[str, Any]) -> str | None:
    """The file after the edits that a result repeats; None where one of them does not fit."""
    text, work = before, 0
    edits = extra.get("edits")
    for edit in [extra, *(edits if isinstance(edits, list) else ())]:
        match edit:
            case {"oldString": str(old), "newString": str(new), **more}:
                everywhere = more.get("replaceAll")
            case {"old_string": str(old), "new_string": str(new), **more}:
                everywhere = more.get("replace_all")
            case _:
                continue
        if text is None or not old or old not in text:
            return None
        # What is taken out to the end of a line takes the end along.
        if not new and not old.endswith("\n") and f"{old}\n" in text:
            old = f"{old}\n"
        times = text.count(old) if everywhere is True else 1
        work += len(text)
        if len(text) + times * (len(new) - len(old)) > MOST or work > WORK:
            return None
        text = text.replace(old, new, times)
    return text


def _as_in_the_file(
    patch: tuple[Hunk, ...], before: str | None, after: str | None
) -> tuple[Hunk, ...]:
    """A patch with the lines of the file; as it was where they are not those of the patch."""
    if before is None or after is None or "\t" not in before + after:
        return patch
    sides = {"-": before.split("\n"), "+": after.split("\n")}
    told = []
    for hunk in patch:
        at, lines = {"-": hunk.old_start - 1, "+": hunk.new_start - 1}, []
        for line in hunk.lines:
            side = "+" if line[:1] == "+" else "-"
            found = "".join(sides[side][at[side] : at[side] + 1])
            if line[:1] not in ("+", "-", " ") or line[1:] not in (found, _on_screen(found)):
                return patch
            lines.append(line[:1] + found)
            for one in sides:
                at[one] += line[:1] in (one, " ")
        told.append(Hunk(hunk.old_start, hunk.new_start, tuple(lines)))
    return tuple(told)


def _on_screen(line: str) -> str:
    bare = line.lstrip("\t")
    return TAB * (len(line) - len(bare)) + bare
