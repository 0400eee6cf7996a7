"""A row of index.jsonl: what a run keeps of each trace, small, for there may be millions."""

from typing import Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from forsy_retrace.trace_folder import unknown_kinds


class Counts(Struct, frozen=True, gc=False):
    """Calls, those that failed, errors beside them, and retries; None where no log tells."""

    calls: int
    failed: int | None
    errors: int | None
    retries: int | None


class Feedback(Struct, frozen=True, gc=False):
    """How often the human spoke, by what that was."""

    corrections: int
    approvals: int
    clarifications: int
    new_instructions: int


class Origin(Struct, frozen=True, gc=False, omit_defaults=True):
    """A file of a trace: its masked name, bytes, records, and where the first and last stand."""

    name: str
    size: int
    records: int
    first_record: str | UnsetType = UNSET
    last_record: str | UnsetType = UNSET
    repaired: int | UnsetType = UNSET
    sha256: str | UnsetType = UNSET


class Row(Struct, frozen=True, gc=False, omit_defaults=True):
    """Some of a trace's manifest, under the name of its folder."""

    folder: str
    adapter: str
    trace_id: str
    prior_trace_id: str | None
    activity_started_at: str | None
    activity_ended_at: str | None
    total_steps: int
    total_turns: int
    counts: Counts
    human_feedback: Feedback
    goal_achieved: bool | None
    termination_reason: str | None
    agent_confidence: int | None
    sources: tuple[Origin, ...]
    stale: str | UnsetType = UNSET
    """Why the trace is of an earlier run, and could not be made anew."""
    superseded_by: str | UnsetType = UNSET
    """The folder that tells the same session, at the same length or longer."""
    unknown_kinds: dict[str, int] | UnsetType = UNSET
    """How often the log has what the adapter does not know, by its kind."""


def row_of(folder: str, manifest: dict[str, Any]) -> Row:
    """The row of a trace."""
    kinds = unknown_kinds(manifest)
    told = {"unknown_kinds": kinds} if kinds else {}
    return msgspec.convert({**manifest, **told, "folder": folder}, Row)
