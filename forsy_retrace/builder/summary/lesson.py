"""A lesson that the agent wrote down for later sessions."""

import posixpath

from forsy_retrace.trace import Touch, Trace

LESSON_FILES = ("CLAUDE.md", "AGENTS.md", "MEMORY.md", "GEMINI.md", "LESSONS.md")
"""Notes that agents keep for later sessions."""


def lesson_of(trace: Trace) -> str | None:
    """A lesson that the agent wrote into a notes file of its own, not one that the user asked for."""
    asked = " ".join(s.input or "" for s in trace.steps if s.action == "user_message")
    noted = [
        one for one in trace.touches if _is_notes(one) and posixpath.basename(one.path) not in asked
    ]
    folders = {posixpath.dirname(one.path) for one in noted if not one.path.endswith(INDEX)}
    for touch in reversed(noted):
        lists_others = touch.path.endswith(INDEX) and posixpath.dirname(touch.path) in folders
        if not lists_others and (text := _put_in(touch)):
            return text
    return None


INDEX = "/MEMORY.md"
"""The file that lists the others of its folder, where there are any."""


def _is_notes(touch: Touch) -> bool:
    is_written = touch.kind in ("write", "edit")
    is_named = posixpath.basename(touch.path) in LESSON_FILES
    return is_written and (is_named or "/memory/" in touch.path)


def _put_in(touch: Touch) -> str:
    """The lines that came in, where they stand there as one; empty where others are between them."""
    text = "\n".join(touch.added).strip("\n")
    hunks = touch.change.hunks if touch.change is not None else ()
    places = [touch.new or ""]
    places += ["\n".join(line[1:] for line in hunk.lines if line[:1] != "-") for hunk in hunks]
    return text if any(text in place for place in places) else ""
