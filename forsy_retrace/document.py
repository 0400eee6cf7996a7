"""A trace as plain JSON values: what the folder will hold, not yet fit to be written.

Only `redact` takes a Draft; no writer does.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from forsy_retrace.events import SHELL, Event, Fact, Skipped
from forsy_retrace.evidence import Evidence, Ground
from forsy_retrace.memory import let_go
from forsy_retrace.trace import FIELDS, UNGROUNDED, Artifact, Step, Trace

SCHEMA_VERSION = "forsy-trace-v0.1"
Json = dict[str, Any]

TOLD = ("hidden reasoning", "part of a result")
"""Parts of a record that are no loss: one has its own count, the other stands in the result."""


class Fate(NamedTuple):
    """A record of the log, and why it gave nothing to the trace; empty where it gave something."""

    here: Evidence
    left_out: str
    parts: tuple[str, ...] = ()
    """Why parts of a record that was used gave nothing."""


class Draft(msgspec.Struct):
    """trace.json, evidence.jsonl, the manifest's own part, and what became of each record."""

    trace: Json
    evidence: list[Json]
    manifest: Json
    adapter: str
    fates: list[Fate]


def draft(trace: Trace) -> Draft:
    """Everything that the trace folder says, as JSON values.

    A trace that nobody else holds goes as it is read: a long one is large.
    """
    found = fates(trace)
    made = Draft(_trace(trace), [], _manifest(trace, found), trace.adapter, found)
    steps = list(trace.steps)
    del trace
    entries: Entries = {}
    for step in let_go(steps):
        made.trace["steps"].append(_step(step))
        made.evidence.append(_row(step, entries))
    return made


def _trace(trace: Trace) -> Json:
    return {
        "schema_version": SCHEMA_VERSION,
        "trace_id": trace.trace_id,
        "prior_trace_id": trace.prior_trace_id,
        "trace_mode": "retraced",
        "validation_level": "retraced_from_logs",
        "task": trace.task,
        "agent_tools": list(trace.agent_tools),
        "started_at": trace.started_at,
        "ended_at": trace.ended_at,
        "system_prompt": trace.system_prompt,
        "skills": list(trace.skills) if trace.skills is not None else None,
        "memory": trace.memory,
        "agent_config": dict(trace.agent_config),
        "learning": trace.learning,
        "termination_reason": trace.termination_reason,
        "steps": [],
        "final_output": trace.final_output,
        "static_output": {"artifacts": [_artifact(one) for one in trace.artifacts]},
        "summary": _summary(trace),
        "dataset_summary": {
            "title": trace.title,
            "description": trace.description,
            "tags": list(trace.tags),
            "release_tier": "private",
            "validation_level": "retraced_from_logs",
        },
    }


def _step(step: Step) -> Json:
    values = {name: getattr(step, name) for name in FIELDS}
    values["caused_by"] = list(step.caused_by) if step.caused_by else None
    return values


def _artifact(artifact: Artifact) -> Json:
    return {
        "path": artifact.path,
        "type": artifact.type,
        "role": artifact.role,
        "related_steps": list(artifact.related_steps) or None,
        "description": artifact.description,
        "state": artifact.state,
        "hash": None,
        "content": artifact.content,
        "diff": artifact.diff,
        "release_sensitivity": "private",
    }


def _summary(trace: Trace) -> Json:
    """Counts made from the steps, never carried along."""
    evals = Counter(step.eval for step in trace.steps)
    kinds = Counter(step.feedback_type for step in trace.steps)
    return {
        "total_steps": len(trace.steps),
        "total_turns": max((step.turn for step in trace.steps), default=0),
        "positive_steps": evals[1],
        "negative_steps": evals[-1],
        "neutral_steps": evals[0],
        "directive_signals": sum(step.directive is not None for step in trace.steps),
        "human_feedback": {
            "corrections": kinds["correction"],
            "approvals": kinds["approval"],
            "clarifications": kinds["clarification"],
            "new_instructions": kinds["new_instruction"],
        },
        "agent_confidence": trace.confidence,
        "goal_achieved": trace.goal_achieved,
        "goal_notes": trace.goal_notes,
    }


GROUNDED = tuple(name for name in FIELDS if name not in UNGROUNDED[:-1])
"""Fields that may have a ground, in the format's order."""


Entries = dict[tuple[Any, ...], Json]
"""Equal entries of evidence are kept once: one in eight of 54,000 in 52 MB of sessions differs."""


def _row(step: Step, entries: Entries) -> Json:
    """The evidence of one step: its records, then each field's ground; fields may share one."""
    records: list[Evidence] = []
    numbers: dict[tuple[str, int, int, str], int] = {}

    def index(evidence: Evidence) -> int:
        number = numbers.setdefault((*evidence.record, evidence.form), len(records))
        if number == len(records):
            records.append(evidence)
        return number

    if step.origin is not None:
        index(step.origin.evidence)
    if step.result is not None:
        index(step.result.origin.evidence)
    fields: Json = {}
    for name in GROUNDED:
        ground = step.grounds.get(name)
        if ground is not None and _claims(step, name):
            parts = tuple([(index(one), one.pointer) for one in ground.evidence])
            key = (parts, msgspec.structs.replace(ground, evidence=()))
            if key not in entries:
                entries[key] = _entry(ground, parts)
            fields[name] = entries[key]
    row: Json = {"step": step.step, "records": []}
    ids = {}
    if step.call is not None:
        ids["call"] = step.call.call
    if step.origin is not None and step.origin.message:
        ids["message"] = step.origin.message
    if ids:
        row["ids"] = ids
    if step.surface is not None:
        row["surface"] = step.surface
    if step.origin is not None and step.origin.branch:
        row["branch"] = step.origin.branch
    row["fields"] = fields
    row["records"] = [_place(one) for one in records]
    return row


def _place(here: Evidence) -> Json:
    place = {"file": here.file, "line": here.line, "start": here.start, "end": here.end}
    return {**place, "form": here.form} if here.form else place


def _claims(step: Step, name: str) -> bool:
    value = getattr(step, name)
    return value is not None and not (name == "eval" and value == 0)


def _entry(ground: Ground, parts: tuple[tuple[int, str], ...]) -> Json:
    entry: Json = {"grade": ground.grade}
    if ground.rule:
        entry["rule"] = ground.rule
    if ground.confidence is not None:
        entry["confidence"] = ground.confidence
    if len(parts) == 1:
        ((entry["record"], pointer),) = parts
        if pointer:
            entry["pointer"] = pointer
    elif parts:
        entry["parts"] = [{"record": record, "pointer": pointer} for record, pointer in parts]
    if ground.within:
        entry["within"] = True
    if ground.steps:
        entry["steps"] = list(ground.steps)
    if ground.votes:
        entry["votes"] = [
            {"rule": vote.rule, "value": vote.value, "confidence": vote.confidence}
            for vote in ground.votes
        ]
    return entry


def _manifest(trace: Trace, found: list[Fate]) -> Json:
    """The manifest's part that comes from the trace; the writer adds files and versions."""
    usage = trace.agent_config.get("token_usage")
    return {
        "agent_confidence": trace.confidence,
        "confidence_deductions": [
            {"name": one.name, "points": one.points, "why": one.why} for one in trace.deductions
        ],
        "records": account(found),
        **({"parts_omitted": parts} if (parts := _parts(found)) else {}),
        "session_basis": trace.session.basis
        or ("session id" if trace.session.id else "one log, one session"),
        **({"limits": list(trace.session.limits)} if trace.session.limits else {}),
        "token_usage": usage,
        **trace.facts,
    }


def repeated(trace: Mapping[str, Any]) -> Json:
    """What a manifest says that trace.json says too, or that is counted from its steps."""
    summary = trace["summary"]
    worked = [step for step in trace["steps"] if step["action"] != "user_message"]
    positive = summary["positive_steps"]
    return {
        "schema_version": trace["schema_version"],
        "trace_id": trace["trace_id"],
        "prior_trace_id": trace["prior_trace_id"],
        "trace_mode": trace["trace_mode"],
        "validation_level": trace["validation_level"],
        "task": trace["task"],
        "activity_started_at": trace["started_at"],
        "activity_ended_at": trace["ended_at"],
        "agent_config": trace["agent_config"],
        "skills": trace["skills"],
        "learning": trace["learning"],
        "memory": trace["memory"],
        "system_prompt": trace["system_prompt"],
        "termination_reason": trace["termination_reason"],
        "goal_achieved": summary["goal_achieved"],
        "goal_notes": summary["goal_notes"],
        "total_steps": summary["total_steps"],
        "total_turns": summary["total_turns"],
        "positive_pct": round(100 * positive / len(worked)) if worked else 0,
        "directive_signals": summary["directive_signals"],
        "human_feedback": summary["human_feedback"],
        "counts": _counts(trace["steps"]),
    }


def _counts(steps: Sequence[Json]) -> Json:
    """Calls, those that failed, errors beside them, and retries.

    None, and not 0, of what a log cannot tell that shows of no call how it ended: how many failed
    and, of a history of commands, how many were attempts.
    """
    calls = [step for step in steps if step["tool"] is not None]
    failed = sum(step["success"] is False for step in calls)
    errors = sum(step["action"] == "error" for step in steps)
    retries = sum(step["retry_of"] is not None for step in steps)
    counts: dict[str, int | None] = {"failed": failed, "errors": errors, "retries": retries}
    if calls and all(step["success"] is None for step in calls):
        is_history = all(step["actor"] == SHELL for step in calls)
        for name in tuple(counts) if is_history else ("failed",):
            counts[name] = counts[name] or None
    return {"calls": len(calls), **counts}


def account(found: list[Fate]) -> Json:
    """read = used + omitted + unreadable."""
    omitted = Counter(one.left_out for one in found)
    used = omitted.pop("", 0)
    unreadable = sum(omitted.pop(why) for why in list(omitted) if why.startswith("unreadable"))
    return {
        "read": len(found),
        "used": used,
        "omitted": dict(sorted(omitted.items())),
        "unreadable": unreadable,
    }


def _parts(found: list[Fate]) -> Json:
    """What was left out of the records that were used, by kind."""
    return dict(sorted(Counter(why for one in found for why in one.parts).items()))


def fates(trace: Trace) -> list[Fate]:
    """What became of each record, in the order in which they were read."""
    by_record: dict[tuple[str, int, int], list[Event]] = {}
    for event in trace.session.events:
        by_record.setdefault(event.origin.evidence.record, []).append(event)
    found = []
    for record, events in by_record.items():
        left_out = trace.left_out.get(record)
        why = _why_left_out(events, left_out)
        reasons = [event.reason for event in events if isinstance(event, Skipped)]
        reasons += [left_out] if left_out else []
        parts = () if why else tuple(reason for reason in reasons if reason not in TOLD)
        found.append(Fate(events[0].origin.evidence, why, parts))
    return found


def by_file(found: Iterable[Fate]) -> dict[str, list[Evidence]]:
    """Where each file's records stand, each once, as they stand in the file."""
    records: dict[str, dict[tuple[int, int], Evidence]] = {}
    for here, _, _ in found:
        records.setdefault(here.file, {})[(here.start, here.end)] = here
    return {name: [held[place] for place in sorted(held)] for name, held in records.items()}


def _why_left_out(events: list[Event], left_out: str | None) -> str:
    """Why a record gave nothing to the trace; empty where it gave something."""
    told = [event for event in events if not isinstance(event, (Skipped, Fact))]
    if told and not (left_out and len(told) == 1):
        return ""
    if left_out:
        return left_out
    return next((event.reason for event in events if isinstance(event, Skipped)), "")
