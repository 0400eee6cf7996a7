"""What lies beside a session's messages: what the client knows of it, and its last compaction."""

from collections.abc import Iterator

from forsy_retrace.events import Event, Fact, Notice, Skipped
from forsy_retrace.sdk import pointer, resolve, words

from .files import Doc

FACTS = (
    ("cwd", "/cwd"),
    ("branch", "/metadata/git/branch"),
    ("title", "/metadata/title"),
    ("entrypoint", "/source"),
)
"""Facts of a session, and where they stand."""


def facts(doc: Doc) -> Iterator[Event]:
    """What the client knows of the session."""
    told = 0
    for name, path in FACTS:
        try:
            value = resolve(doc.value, path)
        except LookupError:
            continue
        if words(value):
            told += 1
            yield Fact(doc.here(path), name, value)
    if not told:
        yield Skipped(doc.here(""), "state of the session")


def compacted(doc: Doc) -> Iterator[Event]:
    """The last compaction; the messages that it left stand in the session as well."""
    for index, message in enumerate(doc.messages):
        match message:
            case {"metadata": {"kind": "compaction_summary", "generatedAt": at}}:
                yield Notice(doc.here(pointer("messages", index), at), "compacted")
            case _:
                yield Skipped(doc.here(pointer("messages", index)), "repeated: what was kept")
    if not doc.messages:
        yield Skipped(doc.here(""), "a compaction without messages")
