"""Factory Droid's sessions: JSON lines in `~/.factory/sessions/<folder>/<session>.jsonl`.

The content of a message is Anthropic's. What the client puts in for the model alone, or shows to
the user alone, stands in the user's place and says so (`visibility`). Model and tokens lie beside,
in `<session>.settings.json`; a subagent's session is a log of its own, which a result names. A
rewind, a fork and `/compact` begin a new log. Learnt from 0.99, 0.117, 0.215 and 0.225, run, of
which the first two could be read too; subagents from 0.117, before they had a service of their own;
from its source the shell mode, missions and subagents in the background.
"""

from collections.abc import Iterator

from forsy_retrace.events import Event
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Source

from .log import settings, sniffed, subagents
from .session import Session

SHOWS = Shows(
    words="yes",
    calls="yes",
    results="yes",
    exit_status="mostly",
    time="yes",
    cwd="yes",
    reasoning="sometimes",
    edits="mostly",
    subagents="mostly",
    harness="Factory Droid",
    stores=("~/.factory/sessions/*/*.jsonl",),
    cannot=(
        "the client's version, the system prompt and the tools on offer",
        "what was typed as a command of the client",
        "words that the user gave with a rejection",
        "which model answered before the last change of it, but for the last clients",
        "whether a file that was written anew was there before",
        "an error of the API after which a retry succeeded",
    ),
    tools={
        "Create": "Write",
        "Execute": "bash",
        "FetchUrl": "WebFetch",
        "AskUser": "AskUserQuestion",
        "ExitSpecMode": "ExitPlanMode",
    },
    marks_cuts=True,
)


def sniff(source: Source) -> bool:
    """The start of a session as this client writes it, among the first records."""
    return sniffed(source)


def companions(source: Source) -> Iterator[Source]:
    """The session's settings, and the logs of the subagents that its results name."""
    if sniff(source):
        yield from settings(source)
        yield from subagents(source)


def read(source: Source) -> Iterator[Event]:
    """The session's events in order; a subagent's stand where they happened."""
    yield from Session(source).events()
