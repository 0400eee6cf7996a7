"""The files of a run, and the trajectories in them."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from forsy_retrace.events import Origin
from forsy_retrace.sdk import later, when
from forsy_retrace.source import Record, Source

Json = dict[str, Any]

SOURCES = ("system", "user", "agent")
TRAJECTORY, REWARD = "agent/trajectory.json", "verifier/reward.txt"
OWN = later(r"trajectory(?:\.cont-\d+)?\.json\Z")
"""How Harbor names a trajectory; people set a lead before it when they copy one elsewhere."""
MOST_FILES = 200
DEEPEST = 8
"""Trajectories beside one, and how deep subagents may start others."""


class Doc(NamedTuple):
    """A trajectory: the file and record that hold it, and where it stands in the record."""

    file: Source
    record: Record
    value: Any
    base: str = ""

    @property
    def place(self) -> tuple[str, int, str]:
        return (self.record.here.file, self.record.here.start, self.base)

    def here(self, path: str, at: Any = None, actor: str = "system", message: str = "") -> Origin:
        """The origin of an event at a pointer below the trajectory."""
        return Origin(self.record.here.at(self.base + path), when(at), actor, message or None)


def docs(file: Source) -> Iterator[Doc]:
    for record in file.records():
        yield Doc(file, record, record.value)


def is_trajectory(value: Any) -> bool:
    match value:
        case {"schema_version": str(version), "steps": list()} if version.startswith("ATIF"):
            return True
        case {"agent": dict(), "steps": [{"source": str(said), "step_id": _}, *_]}:
            return said in SOURCES
    return False


def is_trial(value: Any) -> bool:
    match value:
        case {"trial_name": str()} | {"task_name": str()}:
            return any(key in value for key in ("verifier_result", "agent_info", "exception_info"))
    return False


def trial_files(source: Source) -> list[Source]:
    found = source.beside(TRAJECTORY)
    return [one for one in found if any(is_trajectory(record.value) for record in one.head)]


def files_of(source: Source) -> list[Source]:
    """The log and the trajectories that it leads to; a name in a log only picks among files."""
    files = [source]
    if any(is_trial(record.value) for record in source.head):
        files += trial_files(source)
    for one in files:
        names = {
            near
            for record in one.head
            for name in _names(record.value)
            for near in called_as(name, one)
        }
        known = {near.path for near in files}
        for near in one.called(name for name in names if name.endswith(".json")):
            if near.path not in known and len(files) < MOST_FILES:
                files.append(near)
    return files


def called_as(name: str, by: Source) -> tuple[str, ...]:
    """How a file may be called that another one names: copies have a lead in common."""
    return (name, OWN.sub("", by.path.name) + name) if name else ()


def _names(value: Any, depth: int = 0) -> Iterator[str]:
    """The files that a trajectory goes on in, or whose subagents' work lies there."""
    if not isinstance(value, dict) or depth > DEEPEST:
        return
    for step in listed(value, "steps"):
        for ref in refs(step):
            yield name_of(ref.get("trajectory_path"))
    for inner in listed(value, "subagent_trajectories"):
        yield from _names(inner, depth + 1)
    yield name_of(value.get("continued_trajectory_ref"))


def name_of(path: Any) -> str:
    return re.split(r"[/\\]", path)[-1] if isinstance(path, str) else ""


def listed(value: Any, key: str) -> list[Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def results(step: Any) -> list[Any]:
    return listed(step.get("observation"), "results") if isinstance(step, dict) else []


def refs(step: Any) -> Iterator[Json]:
    """The subagents' trajectories that a step's results point to."""
    for result in results(step):
        refs = result.get("subagent_trajectory_ref") if isinstance(result, dict) else None
        for one in refs if isinstance(refs, list) else [refs]:
            if isinstance(one, dict):
                yield one
