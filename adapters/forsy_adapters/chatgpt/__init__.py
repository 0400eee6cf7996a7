"""ChatGPT conversations: `conversations.json` of the data export, the zip as it came, `chat.html`.

A conversation is a tree of messages without call ids: what was regenerated or edited stays in it,
and a result is found by its place below the call. Also the split exports of 2026, whose nodes name
no children, and one conversation as the web API gives it. Learnt from exports from 2023-05
to 2026-08.
"""

from collections.abc import Iterator

from forsy_retrace.events import Event, Origin, Skipped
from forsy_retrace.sdk import Shows
from forsy_retrace.source import Record, Source

from .conversation import Reader, mapping_of
from .feedback import Feedback

SHOWS = Shows(
    words="yes",
    calls="yes",
    results="mostly",
    exit_status="rarely",
    time="yes",
    cwd="no",
    reasoning="sometimes",
    edits="sometimes",
    subagents="no",
    harness="ChatGPT",
    stores=(
        "conversations.json, conversations-000.json … or chat.html of a data export, or its zip",
    ),
    cannot=(
        "the system prompt and the tools on offer",
        "whether most tools worked: only the code interpreter, the old browser and errors say",
        "pictures and files: an export names them and keeps their bytes elsewhere",
        "reasoning beyond the summaries that ChatGPT showed",
    ),
)

EXPORTS = ("conversations.json", "conversations-[0-9][0-9][0-9].json")
PAGE = "chat.html"
THUMBS = "message_feedback.json"


def sniff(source: Source) -> bool:
    """A conversation with its mapping of nodes among the first records, here or in the zip."""
    logs = _logs(source) if source.is_archive else [source]
    return any(mapping_of(record.value) is not None for one in logs for record in one.head)


def companions(source: Source) -> Iterator[Source]:
    """The zip's conversations; the thumbs; a page that repeats the conversations beside it."""
    if source.is_archive:
        yield from _logs(source)
        yield from source.members(THUMBS)
        return
    yield from source.beside(THUMBS)
    if source.path.name != PAGE:
        yield from source.beside(PAGE)


def read(source: Source) -> Iterator[Event]:
    """Each conversation in the order of the file, one at a time; then the thumbs left over."""
    feedback = Feedback()
    for one in companions(source):
        if one.path.name == THUMBS:
            feedback.take(one)
    reader = Reader(feedback)
    for one in [source, *(_logs(source) if source.is_archive else ())]:
        for record in one.records():
            yield from _events(record, reader)
    yield from feedback.rest()


def _events(record: Record, reader: Reader) -> Iterator[Event]:
    here = Origin(record.here, None, "system")
    if record.problem:
        yield Skipped(here, record.problem)
    elif mapping_of(record.value) is None:
        yield Skipped(here, "not a conversation")
    else:
        yield from reader.read(record)


def _logs(source: Source) -> list[Source]:
    """The conversations of a zip; its page only where it has nothing better."""
    return source.members(*EXPORTS) or source.members(PAGE)
