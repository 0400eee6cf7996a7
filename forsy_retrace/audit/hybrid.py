"""A trace from the log that keeps, of a confirmed live trace, what only the agent could know."""

from itertools import chain
from pathlib import Path
from typing import Any

from forsy_retrace.adapter import files_of
from forsy_retrace.convert import Options, origins_of, unwritten
from forsy_retrace.document import Draft, draft
from forsy_retrace.printings import printings
from forsy_retrace.redact import leaves, redact
from forsy_retrace.registry import load
from forsy_retrace.writers import Written, write_folder

from . import Audit

Json = dict[str, Any]
SELF_REPORTED = ("reasoning", "alternatives_considered")
"""What only the agent could know of a step."""


def write_hybrid(audit: Audit, target: Path) -> Written:
    """Writes the trace folder, by the same writers, checks and gate as every other."""
    module = load(audit.adapter)
    made = _hybrid(audit)
    logs = files_of(module, audit.source)
    also = chain(unwritten(made, logs), leaves(audit.claimed.whole, ours=False))
    origins = origins_of(made, logs, Options(rules=audit.rules))
    redacted = redact(made, audit.rules, also, printings(audit.trace.session.events))
    return write_folder(redacted, target, origins, module.SHOWS)


def _hybrid(audit: Audit) -> Draft:
    """The log's own words win; a self-report only fills what the log leaves null."""
    made = draft(audit.trace)
    kept: dict[str, int] = {}
    for claimed, judged in zip(audit.claimed.steps, audit.steps, strict=True):
        if judged.verdict != "confirmed" or judged.log_step is None or judged.quoted:
            continue
        step, row = made.trace["steps"][judged.log_step - 1], made.evidence[judged.log_step - 1]
        if step["action"] == "user_message":
            continue
        for name in SELF_REPORTED:
            value = getattr(claimed, name)
            if value and step[name] is None:
                step[name] = value
                row["fields"][name] = {"grade": "self-reported", "claimed_step": claimed.number}
                kept[name] = kept.get(name, 0) + 1
    if audit.claimed.learning and made.trace["learning"] is None and not audit.faults:
        made.trace["learning"] = audit.claimed.learning
        kept["learning"] = 1
    _say(made, kept)
    return made


def _say(made: Draft, kept: dict[str, int]) -> None:
    made.trace["trace_mode"] = "hybrid"
    card: Json = made.trace["dataset_summary"]
    card["tags"] = ["hybrid" if tag == "retraced" else tag for tag in card["tags"]]
    count = sum(kept.values())
    card["description"] += f" {count} values are the agent's own report, which no log bears out."
    made.manifest["self_reported"] = kept
