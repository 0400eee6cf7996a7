"""Does a trace still hold against the bytes that it names?

Each value of evidence.jsonl is read again from the log: copied ones must be there to the letter,
but for placeholders and marked cuts; computed ones are computed again where one record decides.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from forsy_retrace.errors import RetraceError
from forsy_retrace.trace_folder import json_of, load_folder, sources_of

from .borne_out import CUT, Finding, held, places, whole
from .retraced import NotRetraced, Told, differences
from .sources import Logs

__all__ = ["CUT", "Finding", "Logs", "Verdict", "held", "judged", "places", "verify"]

Json = Mapping[str, Any]


class Unread(NotRetraced):
    """The trace's own folder lacks what tells of the log."""


class Verdict(NamedTuple):
    """What does not hold, and why a trace was not held against its log retraced, if it was not."""

    found: list[Finding]
    not_retraced: str


def verify(folder: Path, source: Path) -> list[Finding]:
    """Every value of a trace folder that its log does not bear out."""
    return judged(folder, source).found


def judged(folder: Path, source: Path) -> Verdict:
    """The named bytes read again, and all else compared with the log retraced, where that tells."""
    trace, rows = load_folder(folder)
    logs = Logs(source, sources_of(folder, rows))
    found: list[Finding] = []
    for step, row in zip(trace["steps"], rows, strict=False):
        found.extend(held(step, row, logs, folder))
    if len(trace["steps"]) != len(rows):
        found.append(Finding(0, "steps", "evidence.jsonl has another number of rows"))
    if found and not logs.is_as_it_was():
        other = "the named file is not the log that the trace was made from: its size is another"
        found.insert(0, Finding(0, "source", other))
    known = {(one.step, one.field) for one in found}
    new: list[Finding] = []
    try:
        for step, field in differences(_told(folder, trace, rows), logs.of_the_trace()):
            if (step, field.partition(".")[0]) not in known:
                new.append(Finding(step, field, "this version makes something else of the log"))
    except Unread as why:
        return Verdict([*found, Finding(0, "manifest", f"{why}")], str(why))
    except NotRetraced as why:
        return Verdict(found, str(why))
    return Verdict([*found, *new], "")


def _told(folder: Path, trace: Json, rows: Sequence[Json]) -> Told:
    """What else the folder says, with the outputs whole that were cut in trace.json."""
    try:
        manifest = json_of(folder / "manifest.json")
        readme = (folder / "README.md").read_text("utf-8")
    except (RetraceError, OSError, UnicodeDecodeError):
        manifest = readme = None
    if not isinstance(manifest, dict):
        raise Unread("its manifest can't be read")
    cuts = [
        step
        for step, row in zip(trace["steps"], rows, strict=False)
        if row["fields"].get("output", {}).get("cut") and isinstance(step["output"], str)
    ]
    outputs = {step["step"]: whole(step["output"], folder)[0] for step in cuts}
    return Told(trace, rows, manifest, readme, outputs)
