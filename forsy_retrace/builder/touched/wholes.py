"""Which steps show a file from its beginning to its end?

A client may record what it showed as a file of so many lines. Else a print is the whole of a file
where a line does nothing but print that one, or a reader was asked for no part of it, where nothing
else stands in the output, and where the harness is known to say so if it leaves some out.
"""

from typing import NamedTuple

from forsy_retrace.patterns import later
from forsy_retrace.sdk import without
from forsy_retrace.trace import Step, Touch, Trace

from ..outputs.gaps import is_cut
from ..outputs.printed import NUMBERED, bare_output, unreached
from ..shells import command_of
from .replaced import whole
from .touches import READERS

PRINTS = later(
    r"\s*(?:(?:/\w+)*/?(?:ba|z)?sh -l?c (?P<outer>['\"]))?(?:cd [\w./@+~-]+ && )?"
    r"(?:cat|sed -n (?P<span>['\"]?)1,(?P<sed>\d{1,6})p(?P=span)|head -(?:n ?)?(?P<head>\d{1,6}))"
    r" (?:[\w./@+~-]+|(?P<inner>['\"])[\w./@+~ ()-]+(?P=inner))(?(outer)(?P=outer))\s*"
)
"""A line that prints one file, or its first lines, and nothing else."""
MOST_LINES, MOST_BYTES = 256, 10 * 1024
"""What Codex cut off without a word in its first months; wider limits are marked where they cut."""
LONGEST_READ, WIDEST_READ = 2000, 2000
"""The lines, and the letters of a line, behind which Claude Code's reader once cut without a word."""
OWN = later(
    r"(?mi)^[ \t]*(?:<(?:persisted-output|system-reminder)>"
    r"|(?:[\[(<…]|\.\.\.).*\b(?:omitted|truncated|more lines?)\b)"
)
"""A line that may be the client's own, or of what shortens outputs for it."""
NOISE = later(r"(?:\S*/)?-?(?:ba|da|k|z)?sh: |/\S+: line \d+: ")
"""What a shell may have to say before it runs a line."""
UNSURE = ("\r", "\x1b", "\ufffd")
"""Marks of a terminal, and of bytes that are no text: the file may hold something else there."""


class Held(NamedTuple):
    """What a file holds, as far as the log shows."""

    text: str
    edges: bool = True
    """Whether the blank lines and line ends at its ends are told too."""


def shown_whole(trace: Trace, touch: Touch) -> Held | None:
    """What a file held when a step showed it; None where it was not, or not surely, shown whole."""
    if touch.change is not None and (text := whole(touch.change)) is not None:
        return Held(text, not touch.change.trimmed)
    step = trace.steps[touch.step - 1]
    if touch.kind != "read" or not trace.marks_cuts or not step.success or step.call is None:
        return None
    if step.call.meant is not None:  # code prints what it likes of a file
        return None
    sent = step.call.input
    line = command_of(step.like, sent)
    if line is not None:
        return _printed(step, line[0])
    asked_for_all = step.like in READERS and isinstance(sent, dict) and len(sent) == 1
    return _numbered(step, touch) if asked_for_all else None


def _numbered(step: Step, read: Touch) -> Held | None:
    """A file whose lines a reader numbered up to the last of its output."""
    change = read.change
    text = change.text if change is not None and change.start == 1 else None
    if text is None:
        return None
    lines = text.split("\n")
    output = without(step.printed, "<system-reminder>", "</system-reminder>").rstrip(" \n")
    last = NUMBERED.match(output.rpartition("\n")[2])
    is_all = last is not None and int(last[1]) in (len(lines), len(lines) + 1)
    is_safe = len(lines) < LONGEST_READ and max(map(len, lines)) < WIDEST_READ
    return Held(text, False) if is_all and is_safe else None


def _printed(step: Step, line: str) -> Held | None:
    """A file that a line prints up to its end; an output that ends a line was not trimmed."""
    asked, text = PRINTS.fullmatch(line), bare_output(step)
    if asked is None or unreached(step) or NOISE.match(text):
        return None
    count, most = text.count("\n"), asked["sed"] or asked["head"]
    if most is not None and (not text.endswith("\n") or count >= int(most)):
        return None
    if count >= MOST_LINES or len(text.encode("utf-8", "replace")) >= MOST_BYTES:
        return None
    if is_cut(text) or OWN.search(text) or any(mark in (step.output or "") for mark in UNSURE):
        return None
    return Held(text, text.endswith("\n"))
