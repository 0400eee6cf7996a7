"""What is wrong with a trace, as values: the strict schema first, then what no schema can state.

`problems` judges a whole trace in words; `step_validator` says yes or no for one step, fast.
A problem names fields, types, numbers and the format's own words, and never a value from the log:
it may be printed anywhere.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Any

import msgspec

SCHEMA = Path(__file__).parent / "schema" / "forsy_trace_v0_1.json"
DEEPEST = 256  # a trace is nested four deep; what agent_config holds may add to that
WIDEST = 1024  # bits of a whole number; Python refuses to print one of 4,300 digits


class Problem(msgspec.Struct, frozen=True):
    """One thing wrong: `step` counts from 1 and is None for the trace itself."""

    step: int | None
    field: str
    rule: str
    text: str


def problems(
    trace: object,
    *,
    evidence: Sequence[Mapping[str, Any]] | None = None,
    manifest: Mapping[str, Any] | None = None,
) -> list[Problem]:
    """Everything wrong with a trace: the trace itself first, then step by step."""
    odd = list(_no_json(trace))
    if any(problem.rule == "json" for problem in odd):
        return odd
    legacy = is_legacy(trace)
    whole = modern(trace) if legacy else trace
    found = [*odd, *(_judged_as_legacy(whole) if legacy else _judged_by_schema(whole))]
    if isinstance(whole, Mapping) and not (legacy and "steps" not in _mapping(trace)):
        steps = tuple(_mapping(step) for step in _list(whole.get("steps")))
        case = Case(whole, steps, evidence, manifest)
        found += [
            Problem(step, field, rule.name, f"{rule.says}: {detail}.")
            for rule in RULES
            if rule.legacy or not legacy
            for step, field, detail in rule.test(case)
        ]
    return sorted(found, key=lambda problem: problem.step or 0)


@cache
def step_validator() -> Callable[[Mapping[str, Any]], bool]:
    """The test whether one step keeps the strict schema, compiled once."""
    return _validator(_part("#/$defs/step"))


@cache
def trace_validator() -> Callable[[Mapping[str, Any]], bool]:
    """The same test for a whole trace."""
    return _validator(_schema())


def _validator(schema: dict[str, Any]) -> Callable[[Mapping[str, Any]], bool]:
    import jsonschema_rs

    compiled = jsonschema_rs.validator_for(schema)

    def is_valid(value: Mapping[str, Any]) -> bool:
        try:
            return bool(compiled.is_valid(value if isinstance(value, dict) else dict(value)))
        except (TypeError, ValueError):  # not JSON: a set, a key that is no text, nested too deep
            return False

    return is_valid


def is_legacy(trace: object) -> bool:
    """A trace, or a row of its steps, in the shape that came before forsy-trace-v0.1."""
    fields = _mapping(trace)
    version = fields.get("schema_version")
    if version == "forsy-trace-v0.1":
        return False
    if version == "forsy-v1" or "collection_id" in fields or "step_index" in fields:
        return True
    steps = [_mapping(step) for step in _list(fields.get("steps"))]
    return bool(steps) and all("step_index" in step and "step" not in step for step in steps)


# --- the schema ---------------------------------------------------------------------------------


@cache
def _schema() -> dict[str, Any]:
    schema: dict[str, Any] = msgspec.json.decode(SCHEMA.read_bytes())
    return schema


STEP_FIELDS: tuple[str, ...] = tuple(_schema()["$defs"]["step"]["properties"])
KNOWN = frozenset(STEP_FIELDS)
SELF_EVIDENT = ("step", "turn", "actor", "action", "execution_mode")


def _part(*refs: str) -> dict[str, Any]:
    return {"allOf": [{"$ref": ref} for ref in refs], "$defs": _schema()["$defs"]}


@cache
def _judge(*refs: str) -> Any:  # jsonschema's stubs give its validators no type of use
    """The slow judge that can say why: of the whole trace, or of the parts of the schema named."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend
    from referencing import Registry

    # msgspec.to_builtins leaves tuples as they are; on disk they are arrays.
    types = Draft202012Validator.TYPE_CHECKER.redefine_many(
        {
            "array": lambda _, value: isinstance(value, list | tuple),
            "object": lambda _, value: isinstance(value, Mapping),
        }
    )
    strict = extend(  # type: ignore[no-untyped-call]  # as its stubs have it
        Draft202012Validator, type_checker=types
    )
    return strict(_part(*refs) if refs else _schema(), registry=Registry())


def _judged_by_schema(trace: object) -> Iterator[Problem]:
    """What the compiled validator passes is not judged again: it is 150 times as fast."""
    is_valid, refused = step_validator(), []
    if isinstance(trace, Mapping) and isinstance(trace.get("steps"), list | tuple):
        refused = [
            (n, step)
            for n, step in enumerate(trace["steps"], 1)
            if not (isinstance(step, Mapping) and is_valid(step))
        ]
        trace = {**trace, "steps": []}
    if not (isinstance(trace, Mapping) and trace_validator()(trace)):
        yield from _reworded(_judge(), trace)
    for n, step in refused:
        said = list(_reworded(_judge("#/$defs/step"), step, n))
        yield from said or [Problem(n, "steps", "schema", "does not keep the schema.")]


def _judged_as_legacy(trace: object) -> Iterator[Problem]:
    """Old traces lack fields and have words of their own; what each actor may say still holds."""
    yield Problem(
        None, "schema_version", "legacy-shape", "is older than forsy-trace-v0.1: judged in part."
    )
    judge = _judge("#/$defs/user_message", "#/$defs/not_user_message")
    for n, step in enumerate(_list(_mapping(trace).get("steps")), 1):
        yield from _reworded(judge, step, n)


def modern(trace: object) -> dict[str, Any]:
    """An old trace under today's names; a lone row of steps becomes a trace of one step."""
    fields = dict(_mapping(trace))
    if "steps" not in fields:
        fields = {"steps": [fields]}
    fields.setdefault("trace_id", fields.get("collection_id"))
    fields["steps"] = [
        {**step, "step": step.get("step", step.get("step_index"))}
        if isinstance(step, Mapping)
        else step
        for step in _list(fields["steps"])
    ]
    if isinstance(fields.get("static_output"), str):
        try:
            fields["static_output"] = msgspec.json.decode(fields["static_output"])
        except (ValueError, msgspec.DecodeError, RecursionError):
            fields["static_output"] = None
    return fields


# --- the schema's judgement in words ------------------------------------------------------------


def _reworded(judge: Any, value: object, step: int | None = None) -> Iterator[Problem]:
    """jsonschema's own messages quote what they refuse; these name only what the schema says."""
    seen = set()
    for error in judge.iter_errors(value):
        place, keyword = _place(error.absolute_path), str(error.validator)
        here = [(place, _words(error))]
        if keyword == "required":
            names = [name for name in error.validator_value if name not in error.instance]
            here = [(f"{place}.{name}" if place else name, "is missing") for name in names]
        rule, where = _clause(judge.schema, error)
        for field, text in here:
            if (field, text) not in seen:  # one error comes for each name that `required` misses
                seen.add((field, text))
                where_there = f" ({where})" if where else ""
                root = "steps" if step else "trace"
                yield Problem(step, field or root, rule or keyword, f"{text}{where_there}.")


def _place(path: Iterable[str | int]) -> str:
    """`static_output.artifacts[0].hash`: names of the schema, since it lets no others in."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).removeprefix(
        "."
    )


def _words(error: Any) -> str:
    wanted, schema = error.validator_value, _mapping(error.schema)
    match error.validator:
        case "type":
            types = [wanted] if isinstance(wanted, str) else wanted
            return f"is {_kind(error.instance)}, should be {' or '.join(types)}"
        case "const":
            return f"should be {_word(wanted)}"
        case "enum":
            return f"should be one of {', '.join(_word(word) for word in wanted)}"
        case "not":
            return f"should not be {_word(wanted.get('const'))}"
        case "pattern":
            return f"should be {schema.get('description', 'of the form ' + wanted)}"
        case "minimum":
            return f"should be {wanted} or more"
        case "maximum":
            return f"should be {wanted} or less"
        case "minLength" | "minItems":
            return "should not be empty; null is, where nothing is known"
        case "uniqueItems":
            return "names one thing twice"
        case "additionalProperties":
            known = schema.get("properties", {})
            unknown = sum(key not in known for key in error.instance)
            return f"has fields that the format does not know: {unknown}"
    return "does not keep the schema"


def _clause(schema: object, error: Any) -> tuple[str, str]:
    """Name and description of the invariant that an error comes from, if it is one."""
    node: Any = schema
    name, found = "", ("", "")
    for key in error.absolute_schema_path:
        while "$ref" in node:
            name = str(node["$ref"]).rpartition("/")[2]
            node = _schema()["$defs"][name]
        if "if" in node:
            found = (name.replace("_", "-"), str(node["description"]))
        node = node[key]
    return found


def _word(value: object) -> str:
    return "null" if value is None else str(value)


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "number"
        case str():
            return "string"
        case list() | tuple():
            return "array"
    return "object"


def _no_json(trace: object) -> Iterator[Problem]:
    """What no JSON file can hold, or no judge can bear."""
    for step, field, value in _parts(trace):
        for rule, text in _oddities(value):
            yield Problem(step, field, rule, text)


def _parts(trace: object) -> Iterator[tuple[int | None, str, object]]:
    if not isinstance(trace, Mapping):
        yield None, "trace", trace
        return
    for key, part in trace.items():
        if key != "steps" or not isinstance(part, list | tuple):
            yield None, key if key in _schema()["properties"] else "trace", {key: part}
            continue
        for n, step in enumerate(part, 1):
            if isinstance(step, dict | Mapping):
                for name, value in step.items():
                    if name not in KNOWN:
                        yield n, "steps", {name: value}
                    elif not _is_plain(value):
                        yield n, name, {name: value}
            else:
                yield n, "steps", step


def _is_plain(value: object) -> bool:
    """What can hold nothing odd, as nearly all fields are; the rest is looked into."""
    if isinstance(value, str):
        return value.isascii()
    return value is None or (isinstance(value, int) and value.bit_length() <= WIDEST)


def _oddities(value: object) -> Iterator[tuple[str, str]]:
    """Level by level, for the nesting that this looks for would break a recursion."""
    level, depth, halves = [value], 0, False
    while level and depth <= DEEPEST:
        below: list[object] = []
        for item in level:
            match item:
                case None | bool():
                    pass
                case str():
                    halves = halves or _has_half_a_pair(item)
                case int() if item.bit_length() > WIDEST:
                    yield "json", f"holds a whole number of more than {WIDEST} bits."
                    return
                case float() if not isfinite(item):
                    yield "json", "holds a number that is not finite, which JSON cannot."
                    return
                case int() | float():
                    pass
                case list() | tuple():
                    below.extend(item)
                case Mapping() if all(isinstance(key, str) for key in item):
                    below.extend(item.keys())
                    below.extend(item.values())
                case Mapping():
                    yield "json", "has a key that is no text."
                    return
                case _:
                    yield "json", "holds a value of a type that JSON does not have."
                    return
        level, depth = below, depth + 1
    if level:
        yield "json", f"is nested more than {DEEPEST} deep."
    elif halves:
        yield "unicode", "holds half a surrogate pair, which UTF-8 cannot."


def _has_half_a_pair(text: str) -> bool:
    try:
        if not text.isascii():
            text.encode()
    except UnicodeEncodeError:
        return True
    return False


# --- the rules that no schema can state ---------------------------------------------------------

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
        for (n, step), row in zip(self.numbered(), _list(self.evidence), strict=False):
            yield n, step, _mapping(row)


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
        if _whole(step.get("turn")) != turn:
            yield n, "turn", f"this step belongs to turn {turn}"


def times_run_forward(case: Case) -> Iterator[Finding]:
    for n, fields in [(None, case.trace), *case.numbered()]:
        start, end = _time(fields.get("started_at")), _time(fields.get("ended_at"))
        if start and end and start > end:
            yield n, "ended_at", "this one lies before started_at"


def times_are_dates(case: Case) -> Iterator[Finding]:
    form = re.compile(_schema()["$defs"]["time"]["pattern"])
    for n, fields in [(None, case.trace), *case.numbered()]:
        for name in ("started_at", "ended_at"):
            said = fields.get(name)
            if isinstance(said, str) and form.search(said) and _time(said) is None:
                yield n, name, "this one is not"


def causes_come_before(case: Case) -> Iterator[Finding]:
    for n, step in case.numbered():
        causes = [_whole(cause) for cause in _list(step.get("caused_by"))]
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
        source = _whole(_mapping(step.get("input_source")).get("source_step"))
        if source is not None and source >= n:
            yield n, "input_source.source_step", f"step {source} is not earlier"


def retries_come_after(case: Case) -> Iterator[Finding]:
    for n, step in case.numbered():
        target = _whole(step.get("retry_of"))
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
    summary = _mapping(case.trace.get("summary"))
    feedback = _mapping(summary.get("human_feedback"))
    evals = [step.get("eval") for step in case.steps]
    types = [step.get("feedback_type") for step in case.steps]
    turns = [turn for step in case.steps if (turn := _whole(step.get("turn"))) is not None]
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
        said = _whole(counts.get(name.rpartition(".")[2]))
        if said is not None and said != count:
            yield None, f"summary.{name}", f"the steps come to {count}, not {said}"


def artifacts_name_steps(case: Case) -> Iterator[Finding]:
    artifacts = _list(_mapping(case.trace.get("static_output")).get("artifacts"))
    for at, artifact in enumerate(artifacts):
        for step in _list(_mapping(artifact).get("related_steps")):
            if (number := _whole(step)) is not None and not 1 <= number <= len(case.steps):
                yield (
                    None,
                    f"static_output.artifacts[{at}].related_steps",
                    f"there is no step {number}",
                )


def levels_agree(case: Case) -> Iterator[Finding]:
    card = _mapping(case.trace.get("dataset_summary")).get("validation_level")
    if card != case.trace.get("validation_level"):
        yield None, "dataset_summary.validation_level", "it is another"


# What redaction or a cut leaves in place of words: `[PERSON_1]`, `[… 900 tokens omitted, …]`.
ALTERED = re.compile(r"\[[A-Z][A-Z_]+(_\d+)?\]|\[… ")


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
    if len(_list(case.evidence)) != len(case.steps):
        yield None, "evidence", f"{len(case.steps)} steps, {len(_list(case.evidence))} rows"
    for n, _, row in case.rows():
        if _whole(row.get("step")) != n:
            yield n, "evidence.step", "this row is another step's"


def evidence_names_bytes(case: Case) -> Iterator[Finding]:
    for n, _, row in case.rows():
        records = [_mapping(record) for record in _list(row.get("records"))]
        if not records:
            yield n, "evidence.records", "there are none"
        for at, record in enumerate(records):
            here = f"evidence.records[{at}]"
            if not isinstance(record.get("file"), str):
                yield n, f"{here}.file", "the name of the file is missing"
            if isinstance(record.get("table"), str) and record.get("rowid") is not None:
                continue
            start, end = _whole(record.get("start")), _whole(record.get("end"))
            if start is None or end is None or start < 0 or start >= end:
                yield n, here, "start and end are no range"


def evidence_covers_claims(case: Case) -> Iterator[Finding]:
    for n, step, row in case.rows():
        entries = _mapping(row.get("fields"))
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
        count = len(_list(row.get("records")))
        for name, entry in _mapping(row.get("fields")).items():
            for text in _misgraded(_mapping(entry), grades, count):
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
        if grade == "inferred" and not _is_share(entry.get("confidence")):
            found.append("inferred, but with no confidence from 0 to 1")
    if at is not None and not ((at := _whole(at)) is not None and 0 <= at < count):
        found.append(f"its record is none of the {count} of this row")
    return found


def records_add_up(case: Case) -> Iterator[Finding]:
    if case.manifest is None:
        return
    records = _mapping(_mapping(case.manifest).get("records"))
    omitted = [_whole(count) for count in _mapping(records.get("omitted")).values()]
    read, *parts = [_whole(records.get(name)) for name in ("read", "used", "unreadable")]
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
    if _whole(_mapping(case.manifest).get("total_steps")) != len(case.steps):
        yield None, "manifest.total_steps", f"the trace has {len(case.steps)}"


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
)


# --- values of any type, taken for what they ought to be ----------------------------------------


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict | Mapping) else {}


def _list(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _whole(value: object) -> int | None:
    """A whole number as JSON Schema has it: 2.0 is one, true is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if abs(value) < 2**53 and value == int(value) else None


def _time(value: object) -> datetime | None:
    """A time without a zone, as old traces have it, is taken for UTC."""
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return time.replace(tzinfo=UTC) if time and time.tzinfo is None else time
