"""What is wrong with a trace, as values: the strict schema first, then what no schema can state.

`problems` judges a whole trace in words; `step_validator` says yes or no for one step, fast.
A problem names fields, types, numbers and the format's own words, and never a value from the log:
it may be printed anywhere.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from .legacy import is_legacy, modern
from .plain import no_json
from .rules import RULES, Case
from .schema import (
    SCHEMA,
    STEP_FIELDS,
    Problem,
    judged_as_legacy,
    judged_by_schema,
    step_validator,
    trace_validator,
)
from .values import fields_of, items_of

__all__ = [
    "RULES",
    "SCHEMA",
    "STEP_FIELDS",
    "Problem",
    "is_legacy",
    "modern",
    "problems",
    "step_validator",
    "trace_validator",
]


def problems(
    trace: object,
    *,
    evidence: Sequence[Mapping[str, Any]] | None = None,
    manifest: Mapping[str, Any] | None = None,
) -> list[Problem]:
    """Everything wrong with a trace: the trace itself first, then step by step."""
    odd = list(no_json(trace))
    if any(problem.rule == "json" for problem in odd):
        return odd
    legacy = is_legacy(trace)
    whole = modern(trace) if legacy else trace
    found = [*odd, *(judged_as_legacy(whole) if legacy else judged_by_schema(whole))]
    if isinstance(whole, Mapping) and not (legacy and "steps" not in fields_of(trace)):
        steps = tuple(fields_of(step) for step in items_of(whole.get("steps")))
        case = Case(whole, steps, evidence, manifest)
        found += [
            Problem(step, field, rule.name, f"{rule.says}: {detail}.")
            for rule in RULES
            if rule.legacy or not legacy
            for step, field, detail in rule.test(case)
        ]
    return sorted(found, key=lambda problem: problem.step or 0)
