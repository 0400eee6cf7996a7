"""Aider's chat history: `.aider.chat.history.md` in a repository, run behind run for ever.

It is a text of Markdown, not a log of records. A run begins with `# aider chat started at`, in
local time without a zone; the user's words stand behind `#### `, Aider's own behind `> `, and what
is behind neither is the model's. Aider ends each line of the first two kinds with two spaces, and
models seldom do: that tells a prompt from a heading in an answer. Learnt from Aider 0.86
(`io.py`, `base_coder.py`, `commands.py`), and from histories of 0.14 to 0.86.
"""

from collections.abc import Iterator
from itertools import groupby

from forsy_retrace.events import Event, Origin, Skipped
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Source

from .run import Run
from .sections import NO_RUN, START, Section, is_kept, sections, shown

SHOWS = Shows(
    words="yes",
    calls="sometimes",
    results="sometimes",
    exit_status="no",
    time="no",
    cwd="rarely",
    reasoning="sometimes",
    edits="mostly",
    subagents="no",
    harness="Aider",
    stores=(".aider.chat.history.md",),
    cannot=(
        "when anything was said or done: a run's start is in local time without a zone",
        "what the commands printed that were run, and their exit codes",
        "tests and linters that passed: only failures are told",
        "the exact tokens used, which are rounded",
        "which files the model was shown, and what they held",
        "whether a question was answered by a person or by an option of the command line",
        "whether a heading or quotation that ends with two spaces is the model's",
    ),
    tools={
        "diff": "Edit",
        "udiff": "Edit",
        "edit": "Edit",
        "whole": "Write",
        "shell": "bash",
        "lint": "bash",
        "test": "bash",
    },
)


def sniff(source: Source) -> bool:
    """The first line that is not blank begins a run."""
    lines = [shown(line) for line in source.first_lines]
    first = next((line for line in lines if line.strip()), "")
    return not source.is_archive and START.fullmatch(first) is not None


def read(source: Source) -> Iterator[Event]:
    """A session for each run in which anything was asked; the others are left out."""
    begun = 0

    def run_of(section: Section) -> int:
        nonlocal begun
        begun += section.kind == "start"
        return begun

    for number, group in groupby(sections(list(source.lines())), run_of):
        held = list(group)
        if why := _unread(number, held):
            yield from (Skipped(Origin(one.here, None, "system"), why) for one in held)
        else:
            yield from Run(held).events()


CHANGED = "a run whose line ends were changed: whose words are whose is not told"
EMPTY = "a run in which nothing was asked"


def _unread(number: int, held: list[Section]) -> str:
    """Why a run gives no session; empty where it gives one."""
    if not number:
        return NO_RUN
    if not is_kept(held):
        return CHANGED
    return "" if any(one.kind in ("user", "agent") for one in held) else EMPTY
