"""How often each rule was right in labelled sessions: what it claims is held against that."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

Json = dict[str, Any]


class Reading(NamedTuple):
    """What a rule said of a field, how sure it was, and whether the label says the same."""

    field: str
    rule: str
    confidence: float
    is_right: bool


def readings(folder: Path, labels: Path) -> Iterator[Reading]:
    """Each value of a trace that a rule gave and a label judges."""
    told: Json = json.loads(labels.read_bytes())
    trace: Json = json.loads((folder / "trace.json").read_bytes())
    with (folder / "evidence.jsonl").open(encoding="utf-8") as lines:
        rows: list[Json] = [json.loads(line) for line in lines]
    pairs = list(zip(trace["steps"], rows, strict=True))
    calls = {row["ids"]["call"]: (step, row) for step, row in pairs if "call" in row.get("ids", {})}
    names = {step["step"]: call for call, (step, _) in calls.items()}
    words = {
        row["records"][0]["line"]: (step, row)
        for step, row in pairs
        if step["action"] == "user_message" and row["records"]
    }
    for human in told["human"]:
        if human["line"] in words:
            step, row = words[human["line"]]
            yield from _said(row, "message_role", step["message_role"] == human["role"])
            if step["feedback_type"]:
                yield from _said(row, "feedback_type", step["feedback_type"] == human["feedback"])
    for call in told["calls"]:
        if call["id"] in calls:
            yield from _of_call(call, *calls[call["id"]], names)


def _of_call(call: Json, step: Json, row: Json, names: dict[int, str]) -> Iterator[Reading]:
    succeeded = call["success"] if call.get("ran", True) else False
    yield from _said(row, "operation", step["operation"] == call["operation"])
    if step["success"] is not None:
        yield from _said(row, "success", step["success"] == succeeded)
    if step["eval"]:
        yield from _said(row, "eval", step["eval"] == call["eval"])
    if step["retry_of"]:
        yield from _said(row, "retry_of", names.get(step["retry_of"]) == call.get("retry_of"))
    checked = {names[n] for n in step["caused_by"] or () if n in names}
    if step["causal_type"] == "verification_of_prior_step" and checked:
        yield from _said(row, "caused_by", checked <= set(call.get("verifies") or ()))


def _said(row: Json, field: str, is_right: bool) -> Iterator[Reading]:
    ground = row["fields"].get(field)
    if ground is not None and "rule" in ground:
        yield Reading(field, ground["rule"], ground.get("confidence", 1.0), is_right)
