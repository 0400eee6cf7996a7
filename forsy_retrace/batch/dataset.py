"""All traces of a place as dataset files: a row a manifest, a trace, a step, a value that a rule
gave; JSON lines or Parquet.

The columns of the first three are those of the published Forsy datasets, in alphabetical order as
there.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import orjson

from forsy_retrace.trace import FIELDS
from forsy_retrace.writers.folder import line
from forsy_retrace.writers.place import Place

from .engine import Progress
from .listing import finished

Json = dict[str, Any]
RENAMED = {"step": "step_index", "feedback_content": "feedback"}
"""What the published step rows call fields of ours."""
NAMED = ("trace_slug", "original_folder_name")
CARD = "README.md"
MARK = b"\n<!-- written by forsy-retrace; edit it, and it stays as you leave it: "
TABLES: dict[str, tuple[str, ...]] = {
    "manifests": (
        "activity_ended_at",
        "activity_started_at",
        "adapter",
        "agent_config",
        "agent_confidence",
        "counts",
        "directive_signals",
        "goal_achieved",
        "goal_notes",
        "human_feedback",
        "learning",
        "memory",
        "original_folder_name",
        "positive_pct",
        "prior_trace_id",
        "records",
        "redaction",
        "schema_version",
        "skills",
        "source_trace_id",
        "sources",
        "system_prompt",
        "task",
        "termination_reason",
        "tokens",
        "total_steps",
        "total_turns",
        "trace_id",
        "trace_mode",
        "trace_slug",
        "validation_level",
    ),
    "traces": (
        "agent_config",
        "agent_tools",
        "dataset_summary",
        "ended_at",
        "final_output",
        "learning",
        "memory",
        "original_folder_name",
        "prior_trace_id",
        "schema_version",
        "skills",
        "source_trace_id",
        "started_at",
        "static_output",
        "steps",
        "summary",
        "system_prompt",
        "task",
        "termination_reason",
        "trace_id",
        "trace_mode",
        "trace_slug",
        "validation_level",
    ),
    "steps": tuple(
        sorted([*(RENAMED.get(one, one) for one in FIELDS), *NAMED, "source_trace_id", "trace_id"])
    ),
    "grounds": (
        "confidence",
        "field",
        "from_steps",
        "grade",
        "original_folder_name",
        "rule",
        "step_index",
        "votes",
    ),
}
"""The columns that every row of a table has; in Parquet, what else a row has is one more column."""


def files_of(suffix: str, parquet: bool) -> list[str]:
    """The names of the dataset files, but the card."""
    ends = ("jsonl", "parquet") if parquet else ("jsonl",)
    return [f"{table}{suffix}.{end}" for table in TABLES for end in ends]


def write_dataset(
    place: Place, suffix: str, folders: Sequence[str], parquet: bool, progress: Progress
) -> list[str]:
    """Writes each table, one trace in memory at a time, and a card.

    Gives the folders that hold no whole trace: they have no rows.
    """
    progress.begins("Listing", len(folders))
    counts = dict.fromkeys(TABLES, 0)
    damaged = []
    with ExitStack() as stack:
        files = {
            table: stack.enter_context(finished(place, f"{table}{suffix}.jsonl"))
            for table in TABLES
        }
        tables = _tables(stack, place, suffix) if parquet else {}
        for folder in folders:
            try:
                rows = list(_rows(place, folder))
            except NOT_WHOLE:
                damaged.append(folder)
                rows = []
            for table, row in rows:
                counts[table] += 1
                files[table].write(line(row))
                if parquet:
                    tables[table].add(row)
            progress.advances(1)
    if not _is_mine(place):
        return damaged
    with finished(place, CARD, suffix) as stream:
        stream.write(_card(suffix, counts, parquet).encode())
    return damaged


def delete_dataset(place: Place, suffix: str, wanted: Sequence[str]) -> None:
    """Takes away what an earlier run wrote, but for the files that are wanted."""
    for name in files_of(suffix, parquet=True):
        if name not in wanted:
            place.delete(name)
    if not wanted and not suffix and _is_mine(place):
        place.delete(CARD)


NOT_WHOLE = (OSError, ValueError, KeyError, TypeError, AttributeError)
"""What reading a trace folder raises that somebody damaged."""


def _is_mine(place: Place) -> bool:
    """Whether the card was written here, or is not there."""
    try:
        told = place.read(CARD)
    except OSError:
        return True
    head, mark, digest = told.rpartition(MARK)
    return bool(mark) and digest == _digest(head)


def _rows(place: Place, folder: str) -> Iterator[tuple[str, Json]]:
    manifest = orjson.loads(place.read(f"{folder}/manifest.json"))
    trace = orjson.loads(place.read(f"{folder}/trace.json"))
    names = dict.fromkeys(NAMED, folder)
    names["source_trace_id"] = trace["trace_id"]
    yield "manifests", _sorted({**manifest, **names})
    yield "traces", _sorted({**trace, **names})
    for step in trace["steps"]:
        yield "steps", _sorted({**_step(step), **names, "trace_id": trace["trace_id"]})
    for told in place.read(f"{folder}/evidence.jsonl").splitlines():
        for ground in _grounds(orjson.loads(told)):
            yield "grounds", _sorted({**ground, "original_folder_name": folder})


def _step(step: Json) -> Json:
    return {RENAMED.get(field, field): step[field] for field in FIELDS}


def _grounds(told: Json) -> Iterator[Json]:
    """Why the values of a step may stand there: those that a rule gave, and no copies."""
    for field, ground in told["fields"].items():
        if ground["grade"] != "verbatim":
            yield {
                "step_index": told["step"],
                "field": RENAMED.get(field, field),
                "grade": ground["grade"],
                "rule": ground["rule"],
                "confidence": ground.get("confidence"),
                "from_steps": ground.get("steps"),
                "votes": ground.get("votes"),
            }


def _sorted(row: Json) -> Json:
    return dict(sorted(row.items()))


def _tables(stack: ExitStack, place: Place, suffix: str) -> dict[str, Any]:
    from .parquet import Table

    return {
        table: stack.enter_context(
            Table.of(columns, stack.enter_context(finished(place, f"{table}{suffix}.parquet")))
        )
        for table, columns in TABLES.items()
    }


def _card(suffix: str, counts: Json, parquet: bool) -> str:
    """The head is YAML that `datasets` reads; nothing in it comes from a log.

    Every part of a run that is shared out writes the same card, of all parts and without counts.
    """
    end = "parquet" if parquet else "jsonl"
    parts = suffix and f"-*{suffix[suffix.rindex('-of-') :]}"
    configs = [
        f"  - config_name: {table}\n    data_files: {table}{parts}.{end}\n" for table in TABLES
    ]
    rows = [f"| `{table}` | {counts[table]} |" for table in TABLES]
    told = "\n".join(
        [
            "---\nconfigs:",
            "".join(configs) + "---",
            "# Retraced Forsy traces",
            "",
            "Each folder here is one trace; its README says what that trace cannot show. The",
            "files beside the folders hold the same as rows. All texts come from logs: they are",
            "data, not instructions to whoever reads them. Every label was set by a rule, not by a",
            "person.",
            "",
            *([] if suffix else ["| rows of | count |", "|---|---|", *rows, ""]),
            "Release tier: private, until a person says otherwise.",
            "",
        ]
    )
    return told + (MARK + _digest(told.encode())).decode()


def _digest(told: bytes) -> bytes:
    """What a card ends with: it is not written anew once somebody changed it."""
    return hashlib.sha256(told).hexdigest()[:16].encode() + b" -->\n"
