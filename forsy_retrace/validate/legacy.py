"""Traces in the shapes that came before forsy-trace-v0.1."""

from collections.abc import Mapping
from typing import Any

import msgspec

from .values import fields_of, items_of


def is_legacy(trace: object) -> bool:
    """A trace, or a row of its steps, in the shape that came before forsy-trace-v0.1."""
    fields = fields_of(trace)
    version = fields.get("schema_version")
    if version == "forsy-trace-v0.1":
        return False
    if version == "forsy-v1" or "collection_id" in fields or "step_index" in fields:
        return True
    steps = [fields_of(step) for step in items_of(fields.get("steps"))]
    return bool(steps) and all("step_index" in step and "step" not in step for step in steps)


def modern(trace: object) -> dict[str, Any]:
    """An old trace under today's names; a lone row of steps becomes a trace of one step."""
    fields = dict(fields_of(trace))
    if "steps" not in fields:
        fields = {"steps": [fields]}
    fields.setdefault("trace_id", fields.get("collection_id"))
    fields["steps"] = [
        {**step, "step": step.get("step", step.get("step_index"))}
        if isinstance(step, Mapping)
        else step
        for step in items_of(fields["steps"])
    ]
    if isinstance(fields.get("static_output"), str):
        try:
            fields["static_output"] = msgspec.json.decode(fields["static_output"])
        except (ValueError, msgspec.DecodeError, RecursionError):
            fields["static_output"] = None
    return fields
