"""What no schema can state of a trace: a table of named rules."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec

from forsy_retrace.document import repeated
from forsy_retrace.patterns import later
from forsy_retrace.version import MADE_BY

from .schema import KNOWN, SELF_EVIDENT, STEP_FIELDS, whole_schema
from .values import fields_of, is_share, items_of, moment_of, whole

Finding = tuple[int | None, str, str]
"""Step, field, and what is wrong there."""


class Case(msgspec.Struct, frozen=True):
    """A trace under judgement; `steps` holds an empty mapping where a step is none."""

    trace: Mapping[str, Any]
    steps: tuple[Mapping[str, Any], ...]
    evidence: Sequence[Mapping[str, Any]] | None
    manifest: Mapping[str, Any] | None

    def numbered(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        return enumerate(self.steps, 1)

    def rows(self) -> Iterator[tuple[int, Mapping[str, Any], Mapping[str, Any]]]:
        """Each step with its row of evidence, as far as both go."""
        for (n, step), row in zip(self.numbered(), items_of(self.evidence), strict=False):
            yield n, step, fields_of(row)


class Rule(msgspec.Struct, frozen=True):
    name: str
    says: str
    test: Callable[[Case], Iterable[Finding]]
    legacy: bool = False
    """It makes sense in traces older than forsy-trace-v0.1, too."""


def steps_count_up(case: Case) -> Iterator[Finding]:
    for n, step in case.numbered():
        if step.get("step") != n:
            yield n, "step", "this one is out of sequence"


def turns_follow_messages(case: Case) -> Iterator[Finding]:
    turn, spoken = 1, False
    for n, step in case.numbered():
        if step.get("action") == "user_message":
            turn, spoken = turn + spoken, True
        if whole(step.get("turn")) != turn:
            yield n, "turn", f"this step belongs to turn {turn}"


def times_run_forward(case: Case) -> Iterator[Finding]:
    for n, fields in [(None, case.trace), *case.numbered()]:
        start, end = moment_of(fields.get("started_at")), moment_of(fields.get("ended_at"))
        if start and end and start > end:
            yield n, "ended_at", "this one lies before started_at"


def times_are_dates(case: Case) -> Iterator[Finding]:
    form = re.compile(whole_schema()["$defs"]["time"]["pattern"])
    for n, fields in [(None, case.trace), *case.numbered()]:
        for name in ("started_at", "ended_at"):
            said = fields.get(name)
            if isinstance(said, str) and form.search(said) and moment_of(said) is None:
                yield n, name, "this one is not"


def causes_come_before(case: Case) -> Iterator[Finding]:
    for n, step in case.numbered():
        causes = [whole(cause) for cause in items_of(step.get("caused_by"))]
        numbers = [cause for cause in causes if cause is not None]
        for cause in numbers:
            if cause >= n:
                yield (
                    n,
                    "caused_by",
                    f"step {cause} is the step itself" if cause == n else f"step {cause} is later",
                )
        if any(one > other for one, other in pairwise(numbers)):
            yield n, "caused_by", "they do not stand in ascending order"
        source = whole(fields_of(step.get("input_source")).get("source_step"))
        if source is not None and source >= n:
            yield n, "input_source.source_step", f"step {source} is not earlier"


def retries_come_after(case: Case) -> Iterator[Finding]:
    for n, step in case.numbered():
        target = whole(step.get("retry_of"))
        if target is None or target < 1:
            continue
        if target >= n:
            yield (
                n,
                "retry_of",
                f"step {target} is the step itself" if target == n else f"step {target} is later",
            )
        # A message that the user edits and sends anew retries the message it replaces.
        elif case.steps[target - 1].get("action") == "user_message" != step.get("action"):
            yield n, "retry_of", f"step {target} is a user_message"


def outputs_echo_inputs(case: Case) -> Iterator[Finding]:
    for n, step in case.numbered():
        if step.get("action") == "output" and step.get("input") != step.get("output"):
            yield n, "output", "here they differ"


def judgements_have_reasons(case: Case) -> Iterator[Finding]:
    for n, step in case.numbered():
        if step.get("eval") in (-1, 1) and not step.get("eval_reason"):
            yield n, "eval_reason", "this step has none"


def groups_have_members(case: Case) -> Iterator[Finding]:
    members: dict[str, list[int]] = {}
    for n, step in case.numbered():
        if isinstance(group := step.get("parallel_group"), str):
            members.setdefault(group, []).append(n)
    for steps in members.values():
        if len(steps) == 1:
            yield steps[0], "parallel_group", "this group has one"


def summary_counts_steps(case: Case) -> Iterator[Finding]:
    summary = fields_of(case.trace.get("summary"))
    feedback = fields_of(summary.get("human_feedback"))
    evals = [step.get("eval") for step in case.steps]
    types = [step.get("feedback_type") for step in case.steps]
    turns = [turn for step in case.steps if (turn := whole(step.get("turn"))) is not None]
    rows = (
        ("total_steps", summary, len(case.steps)),
        ("total_turns", summary, max(turns, default=0)),
        ("positive_steps", summary, evals.count(1)),
        ("negative_steps", summary, evals.count(-1)),
        ("neutral_steps", summary, evals.count(0)),
        (
            "directive_signals",
            summary,
            sum(step.get("directive") is not None for step in case.steps),
        ),
        ("human_feedback.corrections", feedback, types.count("correction")),
        ("human_feedback.approvals", feedback, types.count("approval")),
        ("human_feedback.clarifications", feedback, types.count("clarification")),
        ("human_feedback.new_instructions", feedback, types.count("new_instruction")),
    )
    for name, counts, count in rows:
        said = whole(counts.get(name.rpartition(".")[2]))
        if said is not None and said != count:
            yield None, f"summary.{name}", f"the steps come to {count}, not {said}"


def artifacts_name_steps(case: Case) -> Iterator[Finding]:
    artifacts = items_of(fields_of(case.trace.get("static_output")).get("artifacts"))
    for at, artifact in enumerate(artifacts):
        for step in items_of(fields_of(artifact).get("related_steps")):
            if (number := whole(step)) is not None and not 1 <= number <= len(case.steps):
                yield (
                    None,
                    f"static_output.artifacts[{at}].related_steps",
                    f"there is no step {number}",
                )


def levels_agree(case: Case) -> Iterator[Finding]:
    card = fields_of(case.trace.get("dataset_summary")).get("validation_level")
    if card != case.trace.get("validation_level"):
        yield None, "dataset_summary.validation_level", "it is another"


def live_is_not_retraced(case: Case) -> Iterator[Finding]:
    match case.trace:
        case {"trace_mode": "live", "validation_level": "retraced_from_logs"}:
            yield None, "trace_mode", "its validation_level says that it is"


# What redaction or a cut leaves in place of words: `[PERSON_1]`, `[… 900 tokens omitted, …]`.
ALTERED = later(r"\[[A-Z][A-Z_]+(_\d+)?\]|\[… ")


def task_is_the_request(case: Case) -> Iterator[Finding]:
    """Not of live traces: the format's own example of one has a task in other words.

    A plan that the user accepted before any request is the task too.
    """
    asked: list[tuple[int, Any, Any]] = [
        (n, step.get("message_role"), step.get("input"))
        for n, step in case.numbered()
        if step.get("action") == "user_message"
    ]
    first = next((at for at, (_, role, _) in enumerate(asked) if role == "direct_request"), None)
    task = case.trace.get("task")
    if first is None or case.trace.get("trace_mode") == "live":
        return
    n, _, said = asked[first]
    if isinstance(task, str) and isinstance(said, str) and task.strip() not in said:
        if ALTERED.search(task) or ALTERED.search(said):
            return
        if not any(role == "approval" and text == task for _, role, text in asked[:first]):
            yield None, "task", f"it is no part of step {n}"


def evidence_has_a_row_a_step(case: Case) -> Iterator[Finding]:
    if case.evidence is None:
        return
    if len(items_of(case.evidence)) != len(case.steps):
        yield None, "evidence", f"{len(case.steps)} steps, {len(items_of(case.evidence))} rows"
    for n, _, row in case.rows():
        if whole(row.get("step")) != n:
            yield n, "evidence.step", "this row is another step's"


def evidence_names_bytes(case: Case) -> Iterator[Finding]:
    for n, _, row in case.rows():
        records = [fields_of(record) for record in items_of(row.get("records"))]
        if not records:
            yield n, "evidence.records", "there are none"
        for at, record in enumerate(records):
            here = f"evidence.records[{at}]"
            if not isinstance(record.get("file"), str):
                yield n, f"{here}.file", "the name of the file is missing"
            if isinstance(record.get("table"), str) and record.get("rowid") is not None:
                continue
            start, end = whole(record.get("start")), whole(record.get("end"))
            if start is None or end is None or start < 0 or start >= end:
                yield n, here, "start and end are no range"


def evidence_covers_claims(case: Case) -> Iterator[Finding]:
    for n, step, row in case.rows():
        entries = fields_of(row.get("fields"))
        claimed = {name for name, value in step.items() if value is not None}
        if step.get("eval") == 0:
            claimed.discard("eval")
        claimed &= KNOWN.difference(SELF_EVIDENT)
        odd = claimed.symmetric_difference(KNOWN.intersection(entries))
        if "parallel_group" in claimed:
            odd.discard("parallel_group")  # it may have a ground, and needs none
        for name in sorted(odd, key=STEP_FIELDS.index):
            is_there = "there is an entry for nothing claimed"
            yield n, f"evidence.{name}", is_there if name in entries else "there is no entry"
        if unknown := len(entries.keys() - KNOWN):
            yield n, "evidence.fields", f"{unknown} entries are for no field of a step"


def evidence_is_graded(case: Case) -> Iterator[Finding]:
    grades = ["verbatim", "derived", "inferred"]
    if case.trace.get("trace_mode") == "hybrid":
        grades.append("self-reported")
    for n, _, row in case.rows():
        count = len(items_of(row.get("records")))
        for name, entry in fields_of(row.get("fields")).items():
            for text in _misgraded(fields_of(entry), grades, count):
                yield n, f"evidence.{name}" if name in KNOWN else "evidence.fields", text


def _misgraded(entry: Mapping[str, Any], grades: list[str], count: int) -> list[str]:
    found: list[str] = []
    grade, at = entry.get("grade"), entry.get("record")
    if grade not in grades:
        found.append(f"the grade is none of {', '.join(grades)}")
    if grade in ("derived", "inferred"):
        rule = entry.get("rule")
        if not (isinstance(rule, str) and rule):
            found.append(f"{grade}, but by no rule")
        if grade == "inferred" and not is_share(entry.get("confidence")):
            found.append("inferred, but with no confidence from 0 to 1")
    if at is not None and not ((at := whole(at)) is not None and 0 <= at < count):
        found.append(f"its record is none of the {count} of this row")
    return found


def records_add_up(case: Case) -> Iterator[Finding]:
    if case.manifest is None:
        return
    records = fields_of(fields_of(case.manifest).get("records"))
    omitted = [whole(count) for count in fields_of(records.get("omitted")).values()]
    read, *parts = [whole(records.get(name)) for name in ("read", "used", "unreadable")]
    counts = [count for count in (*parts, *omitted) if count is not None and count >= 0]
    if read is None or len(counts) < len(parts) + len(omitted):
        yield (
            None,
            "manifest.records",
            "read, used, omitted by kind and unreadable are not all counts",
        )
    elif read != sum(counts):
        yield None, "manifest.records", f"{read} read, {sum(counts)} accounted for"


def manifest_counts_steps(case: Case) -> Iterator[Finding]:
    if case.manifest is None:
        return
    if whole(fields_of(case.manifest).get("total_steps")) != len(case.steps):
        yield None, "manifest.total_steps", f"the trace has {len(case.steps)}"


def manifest_repeats_the_trace(case: Case) -> Iterator[Finding]:
    """Ours alone: what an agent writes beside its own trace has no form."""
    said = fields_of(case.manifest)
    if said.get("generator") != MADE_BY:
        return
    try:
        told = repeated(case.trace)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return  # the schema names what is wrong
    for name, value in told.items():
        if name != "total_steps" and said.get(name) != value:
            yield None, f"manifest.{name}", "this one says something else"


RULES = (
    Rule("step-sequence", "Steps are numbered 1, 2, 3 …", steps_count_up, legacy=True),
    Rule("turn-sequence", "A turn begins with each user_message", turns_follow_messages),
    Rule("times-forward", "Nothing ends before it starts", times_run_forward, legacy=True),
    Rule("times-real", "A time is a day of the calendar", times_are_dates),
    Rule("causes", "Causes are earlier steps, in order", causes_come_before, legacy=True),
    Rule("retries", "A retry is of an earlier step of work", retries_come_after, legacy=True),
    Rule("output-echo", "The input of an output step is its output", outputs_echo_inputs),
    Rule("eval-reason", "An eval of 1 or -1 has its reason", judgements_have_reasons),
    Rule("parallel-group", "A parallel group has two members", groups_have_members),
    Rule("summary-counts", "The summary counts the steps", summary_counts_steps, legacy=True),
    Rule("artifact-steps", "Artifacts name steps of the trace", artifacts_name_steps, legacy=True),
    Rule("levels-agree", "A trace has one validation_level", levels_agree),
    Rule("live-or-retraced", "A live trace is not retraced from logs", live_is_not_retraced),
    Rule(
        "first-request",
        "The task is the first direct_request, or a plan accepted before",
        task_is_the_request,
    ),
    Rule("evidence-rows", "Evidence has a row a step, in order", evidence_has_a_row_a_step),
    Rule("evidence-records", "Evidence names bytes", evidence_names_bytes),
    Rule("evidence-fields", "Each claim has its ground, and no more", evidence_covers_claims),
    Rule("evidence-grades", "Each ground has its grade", evidence_is_graded),
    Rule("records-add-up", "Records read are used, omitted or unreadable", records_add_up),
    Rule("manifest-steps", "The manifest counts the steps", manifest_counts_steps),
    Rule("manifest-repeats", "The manifest repeats the trace", manifest_repeats_the_trace),
)
