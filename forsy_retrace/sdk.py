"""What adapters share: times, texts, pointers, and the blocks of a message."""

import heapq
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import msgspec

from forsy_retrace.events import Event, Packed
from forsy_retrace.nested import opened as opened
from forsy_retrace.nested import parsed as parsed
from forsy_retrace.nested import streamed as streamed
from forsy_retrace.nested import tagged as tagged
from forsy_retrace.patterns import later as later
from forsy_retrace.times import order as order
from forsy_retrace.times import when as when

__all__ = [
    "Known",
    "Shown",
    "Shows",
    "attachment_text",
    "base64_size",
    "between",
    "compact",
    "counts",
    "in_time",
    "later",
    "lines_of",
    "mark_of",
    "media_of",
    "named",
    "number",
    "opened",
    "order",
    "packed",
    "parsed",
    "pointer",
    "resolve",
    "streamed",
    "strings",
    "subagent",
    "tagged",
    "tells_a_limit",
    "text_of",
    "text_or_json",
    "unescaped",
    "when",
    "without",
    "words",
]
"""What is public of it, also in `help`; the rest is for this package alone."""

ENCODE = msgspec.json.Encoder().encode
PLACE = later(r"0|[1-9][0-9]{0,17}")
"""An item of a list, as a JSON pointer names it."""
LIMIT = later(
    r"(?i)rate.?limit|usage limit|limit reached|quota|you['\u2019]ve hit your|too many requests"
    r"|\b429\b|out of (?:credits|.{0,20}usage)|insufficient.{0,20}(?:credit|balance)"
    r"|resource.?exhausted"
)
SAFE = later(r"[A-Za-z0-9_.:/-]{1,40}")

Shown = Literal["yes", "mostly", "sometimes", "rarely", "no"]


Known = Literal[
    "Read",
    "Write",
    "Edit",
    "Glob",
    "Grep",
    "LS",
    "bash",
    "PowerShell",
    "python",
    "WebFetch",
    "WebSearch",
    "TodoWrite",
    "Task",
    "Skill",
    "AskUserQuestion",
    "ExitPlanMode",
    "SendUserMessage",
    "write_stdin",
    "finish",
]
"""Tools whose calls are understood: what they do to which file, what they run, whom they ask.

Their arguments go by several names each. The file: `file_path`, `filePath`,
`notebook_path` or `path`. What is written: `content` or `file_text`. What is replaced: `old_string`
by `new_string`, so too `oldString`, `oldText`, `old_text` and `old_str`, and `search` by `replace`;
several in a list `edits`. What is run: `command` or `cmd`, a text or a list of words.
"""


class Shows(msgspec.Struct, frozen=True):
    """What logs of this kind show, as `forsy-retrace adapters` lists it. A trace's confidence comes
    of its own log; of these words it heeds `results` alone: with `no`, nothing came back.

    `stores` are the places where such logs lie, `cannot` says in words what no trace from them
    can tell, unless a Fact `shows` repeats those words: this one log does, or has it and it is
    left out.
    """

    words: Shown = "no"
    calls: Shown = "no"
    results: Shown = "no"
    exit_status: Shown = "no"
    time: Shown = "no"
    cwd: Shown = "no"
    reasoning: Shown = "no"
    edits: Shown = "no"
    subagents: Shown = "no"
    harness: str = ""
    """The harness's own name, for prose."""
    stores: tuple[str, ...] = ()
    cannot: tuple[str, ...] = ()
    is_history: bool = False
    """A list of commands without words: a session of one or two of them tells of no work."""
    tools: Mapping[str, Known] = msgspec.field(default_factory=dict)
    """The harness's tools, and the known ones that they work like."""
    marks_people: bool = True
    """A user who goes on is a person: a program's words in that place are told apart, or rare."""
    marks_cuts: bool = False
    """Results hold what was shown as it was, but for blank lines around it, or a mark says what is
    left out: what prints a short file shows all of it."""


def pointer(*parts: str | int) -> str:
    """A JSON pointer (RFC 6901)."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in parts)


def unescaped(part: str) -> str:
    """A name as it was before it became a part of a JSON pointer."""
    return part.replace("~1", "/").replace("~0", "~")


def resolve(value: Any, path: str) -> Any:
    """What a JSON pointer names; raises LookupError where it names nothing, or is none.

    It goes on into a text that holds JSON itself: harnesses nest arguments and results so. A
    server-sent stream counts as the list of its objects, a text with tags as that of its parts.
    """
    first, *parts = path.split("/")
    if first:
        raise LookupError(path)
    for part in parts:
        key = unescaped(part)
        if isinstance(value, str):
            value = opened(value)
        match value:
            case dict() if key in value:
                value = value[key]
            case list() if PLACE.fullmatch(key) and int(key) < len(value):
                value = value[int(key)]
            case _:
                raise LookupError(path)
    return value


def compact(value: Any) -> str:
    """Compact JSON with the keys in the log's order."""
    try:
        return ENCODE(value).decode()
    except (OverflowError, RecursionError, UnicodeEncodeError, msgspec.MsgspecError):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def text_or_json(value: Any) -> str:
    """A text as it is, anything else as compact JSON: arguments as they were sent."""
    return value if isinstance(value, str) else compact(value)


def text_of(value: Any) -> str:
    """The text that a message's content shows: blocks joined by line ends, pictures named."""
    match value:
        case None:
            return ""
        case str():
            return value
        case list():
            return "\n".join(block_text(block) for block in value)
    return compact(value)


def block_text(block: Any) -> str:
    """One content block as text."""
    match block:
        case {"type": "text" | "input_text" | "output_text", "text": str(text)}:
            return text
        case {"type": "image" | "document" | "file"}:
            return mark_of(*media_of(block))
        case {"type": "tool_reference", "tool_name": str(name)}:
            return f"[tool reference: {name}]"
        case str():
            return block
    return compact(block)


def media_of(block: dict[str, Any]) -> tuple[str, int]:
    """Media type and size in bytes of a picture or document block, in Anthropic's form or MCP's."""
    unknown = "image/unknown" if block.get("type") == "image" else "unknown"
    source = block.get("source")
    if isinstance(source, dict):
        media, data = source.get("media_type"), source.get("data")
    else:
        media, data = block.get("mimeType"), block.get("data")
    return (
        media if isinstance(media, str) and len(media) < 80 else unknown,
        base64_size(data) if isinstance(data, str) else 0,
    )


def base64_size(data: str) -> int:
    """How many bytes a base64 text stands for."""
    return max(len(data) * 3 // 4 - data[-2:].count("="), 0)


def attachment_text(kind: str, media: str, size: int) -> str:
    """`[image: image/png 34 kB]`; without a size where the log has only a link."""
    if not size:
        return f"[{kind}: {media}]"
    shown = f"{size / 1000:.0f} kB" if size >= 1000 else f"{size} B"
    return f"[{kind}: {media} {shown}]"


def mark_of(media: str, size: int) -> str:
    """How a picture or document of that media type is named in a text."""
    return attachment_text("image" if media.startswith("image/") else "document", media, size)


def packed(text: str | None) -> Packed | None:
    """What a file held or what was shown of it, as `Change` has it; None stays None."""
    return None if text is None else Packed(text)


def lines_of(text: str) -> list[str]:
    """The lines of a file or a patch, without their ends: a line feed, or one behind a carriage
    return. A form feed, which `str.splitlines` takes for an end, stands within a line of C.
    """
    found = text.split("\n")
    if not found[-1]:
        found.pop()
    return [line.removesuffix("\r") for line in found] if "\r" in text else found


def tells_a_limit(text: str) -> bool:
    """Whether an error of a model's provider says that a limit of it was met."""
    return LIMIT.search(text[:400]) is not None


def without(text: str, opening: str, closing: str) -> str:
    """The text without what stands between two marks, in time linear in its length."""
    kept, at = [], 0
    while (start := text.find(opening, at)) >= 0:
        end = text.find(closing, start)
        if end < 0:
            break
        kept.append(text[at:start])
        at = end + len(closing)
    return "".join([*kept, text[at:]]) if at else text


def between(text: str, opening: str, closing: str) -> str | None:
    """What stands between the first of two marks."""
    _, found, rest = text.partition(opening)
    inner, ended, _ = rest.partition(closing)
    return inner if found and ended else None


def named(kind: Any) -> str:
    """`: kind` for the end of a reason where the kind's name is a plain word, else nothing: names
    come from the log.
    """
    return f": {kind}" if isinstance(kind, str) and SAFE.fullmatch(kind) else ""


UNNAMED = later(r"[^\w.-]")
LONGEST_KIND = 40


def subagent(kind: str, number: int) -> str:
    """The actor for a session's subagent of that number; its kind is in the log's own words, unless
    these are longer than any kind is: a part of a text could not be masked.
    """
    named = kind if 0 < len(kind) <= LONGEST_KIND else "agent"
    return f"subagent:{UNNAMED.sub('-', named)}_{number}"


SPELLED = "AEFHILMNORSX"
"""Letters whose names begin with a vowel."""


def a_log_of(form: str, harness: str = "") -> str:
    """`a Codex log`, or `an OpenClaw log (form: Pi)` where the log names another harness."""
    is_other = harness != form and SAFE.fullmatch(harness) is not None
    name = harness if is_other else form
    vowels = SPELLED if name.isupper() else "AEIOaeio"
    said = f"{'an' if name[:1] in vowels else 'a'} {name} log"
    return f"{said} (form: {form})" if is_other else said


def words(*candidates: Any) -> str:
    """The first that is text with something in it."""
    return next((text for text in candidates if isinstance(text, str) and text.strip()), "")


def number(value: Any) -> int | None:
    """A whole number of at most 64 bits, or None."""
    is_one = isinstance(value, int) and not isinstance(value, bool)
    return value if is_one and value.bit_length() <= 64 else None


def counts(value: Any, names: Mapping[str, str]) -> dict[str, int]:
    """The whole numbers of an object, under the names that these fields are given; no zeros."""
    held = value if isinstance(value, dict) else {}
    return {ours: held[key] for key, ours in names.items() if number(held.get(key))}


def in_time(*lanes: Iterable[Event]) -> Iterator[Event]:
    """The events of several lanes as they happened; one without a time stands behind the one
    before it in its lane.
    """
    dated = map(_dated, lanes)
    return (event for _, event in heapq.merge(*dated, key=lambda one: one[0]))


def _dated(lane: Iterable[Event]) -> Iterator[tuple[str, Event]]:
    """The events with the latest time that was told up to each, as `order` has it."""
    latest = ""
    for event in lane:
        latest = max(latest, order(event.origin.at))
        yield latest, event


def strings(value: Any) -> Iterable[str]:
    """The texts of a list."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
