"""A text without what two honest writers of it may do differently: white space, colours, paths."""

import re
import unicodedata
from functools import lru_cache

from forsy_retrace.patterns import later
from forsy_retrace.sdk import parsed, without

COLOURS = later(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
LINE_NUMBERS = later(r"^ *\d+→|^ {2,}\d+\t", re.M)
"""What a harness writes before the lines of a file that it shows."""
HOMES = later(r"(?:/home|/Users|[A-Za-z]:\\Users)[/\\][^/\\\s\"'`]+")
HERE = later(r"(?<![\w./~-])\./")

REMINDER = ("<system-reminder>", "</system-reminder>")

Places = tuple[str, ...]
"""The working directories of a session; a path below one of them may be written without it."""


@lru_cache(maxsize=4096)
def fold(text: str, places: Places = ()) -> str:
    """The text on one line, its paths relative; equal for all honest ways to write it down."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    if "\x1b" in text:
        text = COLOURS.sub("", text)
    if REMINDER[0] in text:
        text = without(text, *REMINDER)
    text = LINE_NUMBERS.sub("", text)
    text = HERE.sub("", _below(homeless(text), places))
    return " ".join(text.split())


def without_halves(text: str) -> str:
    """A part of a text that is cut, without the half of a reminder at its start or end."""
    opening, closing = REMINDER
    if closing in text and opening not in text.partition(closing)[0]:
        text = text.partition(closing)[2]
    before, opened, inside = text.rpartition(opening)
    return before if opened and closing not in inside else text


def homeless(text: str) -> str:
    """Home directories as `~`, masked or not."""
    return HOMES.sub("~", text)


def _below(text: str, places: Places) -> str:
    for place in places:
        if place in text:
            text = re.sub(rf"(?<![\w./~-]){re.escape(place)}[/\\]", "", text)
    return text


FRAMES = (
    later(r"\AExit code:? -?\d+\s*\n"),
    later(r"\A(?:(?:Script completed|Chunk ID|Wall time|Process exited with code"
               r"|Original token count|Exit code|Total output lines)(?:[: ][^\n]*)?\n)+"
               r"(?:Output:[ \t]*\n\n?)?"),
    later(r"\A\s*<(stdout|output|tool_use_error)>(?P<inner>.*)</\1>\s*\Z", re.S),
    later(r"\A(?:stdout|Output):[ \t]*\n"),
)  # fmt: skip
"""What a harness puts around a tool's own output."""


def versions(text: str) -> list[str]:
    """A logged output as it stands, then without what the harness put around it."""
    found = [text]
    match parsed(text) if text[:1] == "{" else None:
        case {"output": str(inner)} | {"stdout": str(inner)}:
            found.append(inner)
    for frame in FRAMES:
        if match := frame.match(found[-1]):
            inner = str(match.groupdict().get("inner") or "")
            found.append(inner or found[-1][match.end() :])
    return found
