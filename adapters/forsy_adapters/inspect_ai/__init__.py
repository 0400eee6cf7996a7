"""Inspect AI's logs: `.eval` files, which are zips, and `.json`: a trace for each sample's epoch.

The events of a sample tell who did what and when, also what subagents did; where a log was written
without them its messages are read. What its scorers gave is the grader's word. Learnt from logs of
the versions 0.3.40 to 0.3.285.
"""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Event, Origin, Skipped
from forsy_retrace.sdk import Shows, pointer
from forsy_retrace.source import Record, Source, attached

from .sample import Head, Sample

SHOWS = Shows(
    words="yes",
    calls="yes",
    results="yes",
    exit_status="sometimes",
    time="yes",
    cwd="no",
    reasoning="sometimes",
    edits="sometimes",
    subagents="mostly",
    harness="Inspect AI",
    stores=("logs/*.eval and logs/*.json below the folder where `inspect eval` was run",),
    cannot=(
        "whether a command worked that failed without an error of its tool",
        "whether a person or a program wrote the user's turns",
        "where the agent worked",
    ),
    marks_people=False,
    tools={
        "bash_session": "bash",
        "exec_python": "python",
        "text_editor": "Edit",
        "list_files": "LS",
        "read_file": "Read",
        "grep": "Grep",
        "update_plan": "TodoWrite",
        "submit": "finish",
    },
)

HEAD, BEGUN = "header.json", "start.json"
"""What tells of the whole run; an interrupted one has only what was written at its start."""
FOLDER, JOURNAL = "samples/", "_journal/"


def sniff(source: Source) -> bool:
    """The head of a run, in the zip or as the log itself; a sample taken out of one."""
    files = _heads(source) if source.is_archive else [source]
    first = [record.value for one in files for record in one.head[:1]]
    return any(_is_run(value) or _is_sample(value) for value in first)


def companions(source: Source) -> Iterator[Source]:
    """Of a zip its samples, and what it says of the whole run."""
    if source.is_archive:
        yield from _heads(source)
        yield from _samples(source)


def read(source: Source) -> Iterator[Event]:
    """Sample by sample, in the order of the file."""
    for record in source.records():
        yield from _whole(record)
    head: Head | None = None
    for one in _heads(source):
        for record in one.records():
            head = head or Head(record)
            yield Skipped(Origin(record.here, None, "system"), record.problem or "of the whole run")
    for one in _samples(source):
        for record in one.records():
            yield from Sample(attached(record), head, "").events()


def _whole(record: Record) -> Iterator[Event]:
    """A log in one document, or a sample alone."""
    here = Origin(record.here, None, "system")
    if record.problem:
        yield Skipped(here, record.problem)
    elif _is_sample(record.value):
        yield from Sample(attached(record), None, "").events()
    elif not _is_run(record.value):
        yield Skipped(here, "not a log of Inspect AI")
    else:
        record = attached(record)
        head, listed = Head(record), record.value.get("samples")
        samples = listed if isinstance(listed, list) else []
        for index, _ in enumerate(samples):
            yield from Sample(record, head, pointer("samples", index)).events()
        if not samples:
            yield Skipped(Origin(record.here, None, "system"), "a run without samples")


def _is_run(value: Any) -> bool:
    match value:
        case {"version": int(), "eval": {"task": str(), "model": str()}}:
            return True
    return False


def _is_sample(value: Any) -> bool:
    match value:
        case {"id": int() | str(), "epoch": int(), "target": _, "messages": list()}:
            return True
    return False


def _heads(source: Source) -> list[Source]:
    return source.members(HEAD) or source.members(BEGUN)


def _samples(source: Source) -> list[Source]:
    """The samples by name; an id may hold a slash, and then lies in a folder of its own."""
    heads = _heads(source)
    if not heads:
        return []  # cut off before its table of contents, or another's zip
    lead = heads[0].name.removesuffix(BEGUN).removesuffix(JOURNAL).removesuffix(HEAD) + FOLDER
    files = (one for one in source.inside() if isinstance(one, Source))
    return [one for one in files if one.name.startswith(lead) and one.name.endswith(".json")]
