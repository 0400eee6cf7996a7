"""ATIF trajectories (v1.0 to 1.8), and Harbor trials: a `result.json` with `agent/trajectory.json`.

One JSON object a run, whose steps hold calls and results together. Continued trajectories and those
of subagents lie in it or beside it. Harbor converts most harnesses into it; its trial, named by its
folder or `result.json`, adds what a verifier gave. Learnt from what Harbor (1.5, 1.7) and NeMo's
toolkit (1.7) write.
"""

from collections.abc import Iterator

from forsy_retrace.events import Event, Skipped
from forsy_retrace.source import Source

from .files import REWARD, TRAJECTORY, Doc, docs, files_of, is_trajectory, is_trial, trial_files
from .reader import Reader
from .shows import SHOWS
from .trial import graded

__all__ = ["SHOWS", "companions", "read", "sniff"]


def sniff(source: Source) -> bool:
    """A trajectory among the first records, or a trial that has one."""
    if any(is_trajectory(record.value) for record in source.head):
        return True
    return any(is_trial(record.value) for record in source.head) and bool(trial_files(source))


def companions(source: Source) -> Iterator[Source]:
    """The trajectories that it names, and what a trial's verifier left."""
    files = files_of(source)
    yield from (one for one in files if one is not source)
    if any(is_trial(record.value) for record in source.head):
        yield from source.beside(REWARD)


def read(source: Source) -> Iterator[Event]:
    """Trajectory by trajectory; a trial's own result comes last, as it was made last."""
    files = files_of(source)
    held = [doc for one in files for doc in docs(one)]
    reader = Reader(held)
    trials = []
    for doc in held:
        if doc.file is source and is_trial(doc.value):
            trials.append(doc)
        elif _begins(doc, source, bool(trials)) and is_trajectory(doc.value):
            yield from reader.session(doc)
        elif doc.file is source:
            yield Skipped(doc.here(""), doc.record.problem or "not a trajectory")
    for doc in held:
        if doc.file is not source and doc.place not in reader.read:
            yield Skipped(doc.here(""), doc.record.problem or "a trajectory that no step leads to")
    for trial in trials:
        yield from graded(trial, source)


def _begins(doc: Doc, source: Source, of_a_trial: bool) -> bool:
    """Whether a session may begin there; the other files go on, or are subagents'."""
    return doc.file is source or (of_a_trial and doc.file.path.name == TRAJECTORY.split("/")[1])
