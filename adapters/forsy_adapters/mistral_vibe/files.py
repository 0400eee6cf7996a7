"""Which files a call showed or changed, and what its arguments come to."""

import re
from collections.abc import Iterator
from typing import Any, Literal

from forsy_retrace.events import Change, Hunk, Meant, Origin
from forsy_retrace.sdk import later, number, packed, words

Json = dict[str, Any]
Kind = Literal["created", "modified"]

WRITTEN = later(
    r"(?:file_)?path: (?P<path>[^\n]+)\nbytes_written: \d+\n"
    r"(?:file_existed: (?P<existed>True|False)\n)?content: (?P<text>.*)\Z",
    re.S,
)
SHOWN = later(
    r"path: (?P<path>[^\n]+)\ncontent: (?P<text>.*)\n"
    r"(?:offset: (?P<skipped>\d{1,9})\n)?lines_read: \d+\nwas_truncated: (?:True|False)\s*\Z",
    re.S,
)
"""A file as readers before 2.18 show it."""
NUMBERED = later(
    r"file_path: (?P<path>[^\n]+)\ncontent: (?P<text> *\d+→.*)\n"
    r"num_lines: \d+\nstart_line: (?P<start>\d{1,9})\n.*?total_lines: (?P<total>\d{1,9}|None)\n",
    re.S,
)
LINE = later(r"^ *\d+→", re.M)
MARKS = ("<<<<<<< SEARCH\n", "\n=======\n", "\n>>>>>>> REPLACE")
"""Of a block of `search_replace` (1.x to 2.9); of a mark, the client takes five and more signs."""


def changes(tool: str, message: Json, here: Origin) -> Iterator[Change]:
    """The files of a call that worked."""
    text = words(message.get("content"))
    where = here.below("/content").evidence.pointer
    match tool:
        case "write_file":
            if (found := WRITTEN.match(text)) is not None:
                kind: Kind = "modified" if found["existed"] == "True" else "created"
                yield Change(found["path"], kind, after=found["text"], pointer=where)
        case "read_file" | "read":
            yield from _shown(text, where)
        case "edit":
            yield from _edited(message, here)


def meant(tool: str, sent: Any) -> Meant | None:
    """A call's arguments under the names of other harnesses; lines count from 1."""
    match tool, sent:
        case "read_file" | "write_file", {"path": str(path)}:
            plain: Json = {"file_path": path, **{k: v for k, v in sent.items() if k != "path"}}
            if (skipped := number(sent.get("offset"))) is not None:
                plain["offset"] = skipped + 1
            return Meant(tool, plain)
        case "search_replace", {"file_path": str(path), "content": str(text)}:
            edits = [{"old_string": old, "new_string": new} for old, new in _blocks(text)]
            if len(edits) == 1:
                return Meant(tool, {"file_path": path, **edits[0]})
            return Meant(tool, {"file_path": path, "edits": edits}) if edits else None
        case "search_replace", {"file_path": str(path), "content": [*listed]}:
            edits = [
                {"old_string": old, "new_string": new}
                for old, new in ((_text(one, "old_str"), _text(one, "new_str")) for one in listed)
            ]
            return Meant(
                tool, {"file_path": path, **(edits[0] if len(edits) == 1 else {"edits": edits})}
            )
        case "task", {"task": str(text), **rest}:
            return Meant(tool, {"prompt": text, "subagent_type": words(rest.get("agent"))})
    return None


def _text(one: Any, key: str) -> str:
    return words(one.get(key)) if isinstance(one, dict) else ""


def _blocks(text: str) -> Iterator[tuple[str, str]]:
    opening, middle, closing = MARKS
    for piece in text.replace("\r\n", "\n").split(opening)[1:]:
        old, found, rest = piece.partition(middle)
        new, ended, _ = rest.partition(closing)
        if found and ended:
            yield old, new


def _shown(text: str, where: str) -> Iterator[Change]:
    if (found := SHOWN.match(text)) is not None:
        shown, start, total = found["text"].removesuffix("\n"), int(found["skipped"] or 0) + 1, None
    elif (found := NUMBERED.match(text)) is not None:
        shown, start = LINE.sub("", found["text"]), int(found["start"])
        total = None if found["total"] == "None" else int(found["total"])
    else:
        return
    held = packed(shown)
    yield Change(
        found["path"], "shown", shown=held, start=start, total=total, pointer=where, trimmed=True
    )


def _edited(message: Json, here: Origin) -> Iterator[Change]:
    """The places of an edit, which the client keeps from 2.24 on."""
    match message.get("tool_result"):
        case {
            "presentation": {
                "projectedOutput": {"file": str(path), "occurrences": [_, *_] as listed}
            }
        }:
            moved, last, hunks = 0, 0, []
            for one in listed:
                match one:
                    case {"start_line": int(start), "old_text": str(old), "new_text": str(new)} if (
                        start > last and "\n" not in (old[-1:], new[-1:])
                    ):
                        before, after = old.split("\n"), new.split("\n")
                        lines = (*(f"-{line}" for line in before), *(f"+{line}" for line in after))
                        hunks.append(Hunk(start, start + moved, lines))
                        last, moved = start + len(before) - 1, moved + len(after) - len(before)
                    case _:  # two on one line, or a line end: the pieces are no whole lines
                        return
            place = here.below("/tool_result/presentation/projectedOutput/occurrences")
            yield Change(path, "modified", tuple(hunks), pointer=place.evidence.pointer)
