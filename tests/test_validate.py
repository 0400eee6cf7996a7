"""`validate` finds what is wrong, says where, and tells nothing that the log said."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referencing import Registry

from forsy_retrace.document import repeated
from forsy_retrace.errors import UnreadableInput
from forsy_retrace.show import found_problems
from forsy_retrace.validate import (
    RULES,
    SCHEMA,
    STEP_FIELDS,
    Problem,
    is_legacy,
    problems,
    step_validator,
    trace_validator,
)
from forsy_retrace.version import MADE_BY

Json = Any
TIMES = {"started_at": "2026-01-31T09:30:00Z", "ended_at": "2026-01-31T09:30:01.250Z"}
SPEC = Path(__file__).parents[2] / "shared" / "spec"


def step(n: int, **said: Json) -> dict[str, Json]:
    work = {"actor": "agent", "action": "agent_step", "execution_mode": "serial", "eval": 0}
    return {**dict.fromkeys(STEP_FIELDS), "step": n, "turn": 1, **work, **TIMES, **said}


def words(n: int, turn: int, text: str, **said: Json) -> dict[str, Json]:
    user = {"actor": "user", "action": "user_message", "execution_mode": None}
    return step(n, turn=turn, input=text, **user, **said)


def good_trace() -> dict[str, Json]:
    """A failed call and its retry, two calls at once, an answer, an approval."""
    asked = {"caused_by": [1], "causal_type": "user_request", "causal_note": "Asked in step 1."}
    retried = {
        "caused_by": [2],
        "causal_type": "retry_after_failure",
        "retry_of": 2,
        "execution_mode": "parallel",
        "parallel_group": "pg_001",
    }
    beside = {"caused_by": [2], "causal_type": "parallel_work"}
    steps = [
        words(1, 1, "Push the branch, please.", message_role="direct_request"),
        step(
            2,
            **asked,
            operation="execute",
            tool="Bash",
            input='{"command":"git push"}',
            output="rejected",
            success=False,
            eval=-1,
            eval_reason="It failed.",
            directive="It failed; step 3 pushed again.",
        ),
        step(3, operation="execute", tool="Bash", input="{}", output="ok", **retried),
        step(4, operation="read", **beside, execution_mode="parallel", parallel_group="pg_001"),
        step(
            5,
            action="output",
            operation="answer",
            input="Pushed.",
            output="Pushed.",
            caused_by=[3, 4],
            causal_type="dependency_on_multiple_prior_steps",
            eval=1,
            eval_reason="The user accepted it in step 6.",
        ),
        words(
            6,
            2,
            "Thanks, good.",
            message_role="approval",
            feedback_type="approval",
            feedback_content="good",
            caused_by=[5],
            causal_type="other",
            input_source={
                "actor": "user",
                "source_step": 5,
                "source_field": "output",
                "note": None,
            },
        ),
    ]
    artifact = {
        "path": "a.py",
        "type": "modified",
        "role": "deliverable",
        "related_steps": [3],
        "description": "A file.",
        "state": "Changed.",
        "hash": "sha256:" + "0a" * 32,
        "content": None,
        "diff": None,
        "release_sensitivity": "private",
    }
    return {
        "schema_version": "forsy-trace-v0.1",
        "trace_id": "forsy_trace_1",
        "prior_trace_id": None,
        "trace_mode": "retraced",
        "validation_level": "retraced_from_logs",
        "task": "Push the branch, please.",
        "agent_tools": ["Bash"],
        **TIMES,
        "system_prompt": None,
        "skills": None,
        "memory": None,
        "agent_config": {"model": "m"},
        "learning": None,
        "termination_reason": "user_confirmed_done",
        "steps": steps,
        "final_output": "Pushed.",
        "static_output": {"artifacts": [artifact]},
        "summary": {
            "total_steps": 6,
            "total_turns": 2,
            "positive_steps": 1,
            "negative_steps": 1,
            "neutral_steps": 4,
            "directive_signals": 1,
            "human_feedback": {
                "corrections": 0,
                "approvals": 1,
                "clarifications": 0,
                "new_instructions": 0,
            },
            "agent_confidence": 90,
            "goal_achieved": True,
            "goal_notes": None,
        },
        "dataset_summary": {
            "title": "A push",
            "description": "A push that failed at first.",
            "tags": ["retraced"],
            "release_tier": "private",
            "validation_level": "retraced_from_logs",
        },
    }


def good_evidence() -> list[dict[str, Json]]:
    bare = {"step", "turn", "actor", "action", "execution_mode", "parallel_group"}
    return [
        {
            "step": n,
            "records": [{"file": "log.jsonl", "line": n, "start": n * 10, "end": n * 10 + 9}],
            "ids": {},
            "fields": {
                name: {"grade": "inferred", "rule": "r", "confidence": 0.9, "record": 0}
                for name, value in said.items()
                if value is not None and name not in bare and (name, value) != ("eval", 0)
            },
        }
        for n, said in enumerate(good_trace()["steps"], 1)
    ]


def good_case() -> dict[str, Json]:
    records = {"read": 9, "used": 6, "omitted": {"title": 2}, "unreadable": 1}
    manifest = {"records": records, "total_steps": 6}
    return {"trace": good_trace(), "evidence": good_evidence(), "manifest": manifest}


def our_case() -> dict[str, Json]:
    """The same with all that our manifest says again."""
    case = good_case()
    case["manifest"] |= {"generator": MADE_BY, **repeated(case["trace"])}
    return case


def judged(case: dict[str, Json]) -> list[Problem]:
    return problems(case["trace"], evidence=case["evidence"], manifest=case["manifest"])


def changed(path: str, value: Json) -> dict[str, Json]:
    """The good case with another value at `trace/steps/0/input`; a step counts from 0 here."""
    case = good_case()
    *folders, name = [int(key) if key.isdigit() else key for key in path.split("/")]
    place: Json = case
    for key in folders:
        place = place[key]
    place[name] = value
    return case


# path, value, step and field of the problem, its rule
BROKEN: list[tuple[str, Json, int | None, str, str]] = [
    ("trace/schema_version", "v0", None, "schema_version", "const"),
    ("trace/extra", 1, None, "trace", "additionalProperties"),
    ("trace/agent_tools", ["Bash", "Bash"], None, "agent_tools", "uniqueItems"),
    ("trace/termination_reason", "tired", None, "termination_reason", "enum"),
    ("trace/started_at", "2026-01-31T09:30:00+01:00", None, "started_at", "pattern"),
    ("trace/started_at", "2026-01-31T09:30:00Z\n", None, "started_at", "pattern"),
    ("trace/final_output", None, None, "final_output", "type"),
    ("trace/task", "", None, "task", "minLength"),
    (
        "trace/summary/agent_confidence",
        91,
        None,
        "summary.agent_confidence",
        "confidence-of-retraced",
    ),
    ("trace/summary/agent_confidence", 101, None, "summary.agent_confidence", "maximum"),
    ("trace/dataset_summary/release_tier", "mine", None, "dataset_summary.release_tier", "enum"),
    (
        "trace/static_output/artifacts/0/hash",
        "sha256:0A",
        None,
        "static_output.artifacts[0].hash",
        "pattern",
    ),
    ("trace/steps/1/note", 1, 2, "steps", "additionalProperties"),
    ("trace/steps/1", [], 2, "steps", "type"),
    ("trace/steps/1/eval", 2, 2, "eval", "enum"),
    ("trace/steps/1/actor", "agent:", 2, "actor", "pattern"),
    ("trace/steps/1/actor", "subagent:explore", 2, "actor", "pattern"),
    ("trace/steps/1/actor", "user", 2, "actor", "not-user-message"),
    ("trace/steps/1/message_role", "other", 2, "message_role", "not-user-message"),
    ("trace/steps/1/feedback_content", "good", 2, "feedback_content", "not-user-message"),
    ("trace/steps/1/execution_mode", None, 2, "execution_mode", "execution-mode-of-work"),
    ("trace/steps/1/parallel_group", "pg_001", 2, "parallel_group", "parallel-iff-group"),
    ("trace/steps/2/parallel_group", None, 3, "parallel_group", "parallel-iff-group"),
    ("trace/steps/2/parallel_group", "pg_1", 3, "parallel_group", "pattern"),
    ("trace/steps/1/causal_type", None, 2, "causal_type", "cause-iff-type"),
    ("trace/steps/1/caused_by", None, 2, "causal_type", "cause-iff-type"),
    ("trace/steps/1/caused_by", [], 2, "caused_by", "minItems"),
    ("trace/steps/4/caused_by", [3, 3], 5, "caused_by", "uniqueItems"),
    ("trace/steps/1/caused_by", [0], 2, "caused_by[0]", "minimum"),
    ("trace/steps/2/directive", "Do it again.", 3, "directive", "directive-needs-failure"),
    ("trace/steps/5/feedback_type", None, 6, "feedback_type", "passage-needs-type"),
    ("trace/steps/5/input_source/actor", "Bob", 6, "input_source.actor", "enum"),
    ("trace/steps/0/input", None, 1, "input", "user-message-words"),
    *(
        (f"trace/steps/0/{name}", value, 1, name, "user-message")
        for name, value in {
            "actor": "agent",
            "operation": "read",
            "tool": "Bash",
            "execution_mode": "serial",
            "parallel_group": "pg_001",
            "observation": "x",
            "output": "x",
            "reasoning": "x",
            "success": True,
            "eval": 1,
            "eval_reason": "x",
            "directive": "x",
        }.items()
    ),
    ("trace/steps/1/step", 3, 2, "step", "step-sequence"),
    ("trace/steps/4/turn", 2, 5, "turn", "turn-sequence"),
    ("trace/steps/5/turn", 1, 6, "turn", "turn-sequence"),
    ("trace/ended_at", "2026-01-31T09:29:59Z", None, "ended_at", "times-forward"),
    ("trace/steps/3/ended_at", "2026-01-31T09:29:59Z", 4, "ended_at", "times-forward"),
    ("trace/steps/3/started_at", "2026-02-30T09:30:00Z", 4, "started_at", "times-real"),
    ("trace/steps/1/caused_by", [2], 2, "caused_by", "causes"),
    ("trace/steps/1/caused_by", [6], 2, "caused_by", "causes"),
    ("trace/steps/4/caused_by", [4, 3], 5, "caused_by", "causes"),
    ("trace/steps/5/input_source/source_step", 6, 6, "input_source.source_step", "causes"),
    ("trace/steps/2/retry_of", 3, 3, "retry_of", "retries"),
    ("trace/steps/2/retry_of", 5, 3, "retry_of", "retries"),
    ("trace/steps/2/retry_of", 1, 3, "retry_of", "retries"),
    ("trace/steps/4/input", "Push", 5, "output", "output-echo"),
    ("trace/steps/4/eval_reason", None, 5, "eval_reason", "eval-reason"),
    ("trace/steps/3/parallel_group", "pg_002", 4, "parallel_group", "parallel-group"),
    ("trace/summary/total_steps", 5, None, "summary.total_steps", "summary-counts"),
    ("trace/summary/total_turns", 1, None, "summary.total_turns", "summary-counts"),
    ("trace/summary/neutral_steps", 3, None, "summary.neutral_steps", "summary-counts"),
    (
        "trace/summary/human_feedback/approvals",
        0,
        None,
        "summary.human_feedback.approvals",
        "summary-counts",
    ),
    (
        "trace/static_output/artifacts/0/related_steps",
        [7],
        None,
        "static_output.artifacts[0].related_steps",
        "artifact-steps",
    ),
    (
        "trace/validation_level",
        "human_reviewed",
        None,
        "dataset_summary.validation_level",
        "levels-agree",
    ),
    ("trace/trace_mode", "live", None, "trace_mode", "live-or-retraced"),
    ("trace/task", "Push it", None, "task", "first-request"),
    ("evidence", [], None, "evidence", "evidence-rows"),
    ("evidence/1/step", 1, 2, "evidence.step", "evidence-rows"),
    ("evidence/1/records", [], 2, "evidence.records", "evidence-records"),
    ("evidence/1/records/0/end", 20, 2, "evidence.records[0]", "evidence-records"),
    ("evidence/1/records/0/file", None, 2, "evidence.records[0].file", "evidence-records"),
    ("evidence/1/fields", {}, 2, "evidence.input", "evidence-fields"),
    (
        "evidence/1/fields/retry_of",
        {"grade": "verbatim"},
        2,
        "evidence.retry_of",
        "evidence-fields",
    ),
    ("evidence/1/fields/turn", {"grade": "verbatim"}, 2, "evidence.turn", "evidence-fields"),
    ("evidence/2/fields/eval", {"grade": "verbatim"}, 3, "evidence.eval", "evidence-fields"),
    ("evidence/1/fields/Bob", {"grade": "verbatim"}, 2, "evidence.fields", "evidence-fields"),
    ("evidence/1/fields/tool/grade", "self-reported", 2, "evidence.tool", "evidence-grades"),
    ("evidence/1/fields/tool/rule", None, 2, "evidence.tool", "evidence-grades"),
    ("evidence/1/fields/tool/confidence", 1.1, 2, "evidence.tool", "evidence-grades"),
    ("evidence/1/fields/tool/record", 1, 2, "evidence.tool", "evidence-grades"),
    ("manifest/records/read", 8, None, "manifest.records", "records-add-up"),
    ("manifest/records/unreadable", None, None, "manifest.records", "records-add-up"),
    ("manifest/total_steps", 5, None, "manifest.total_steps", "manifest-steps"),
    (
        "manifest",
        {**our_case()["manifest"], "goal_achieved": None},
        None,
        "manifest.goal_achieved",
        "manifest-repeats",
    ),
    ("trace/steps/1/output", "\ud800", 2, "output", "unicode"),
    ("trace/agent_config", {"x": float("nan")}, None, "agent_config", "json"),
    ("trace/agent_config", {"x": 10**5000}, None, "agent_config", "json"),
    ("trace/agent_config", {"x": {1, 2}}, None, "agent_config", "json"),
    ("trace/agent_config", {1: "x"}, None, "agent_config", "json"),
]


def test_a_good_trace_has_no_problems() -> None:
    assert judged(good_case()) == []


def test_only_a_manifest_of_ours_need_repeat_its_trace() -> None:
    case = our_case()
    assert judged(case) == []
    case["manifest"] |= {"generator": "mine", "task": "another"}
    assert judged(case) == []


@pytest.mark.parametrize(
    "spoil",
    [
        lambda told: b"\xef\xbb\xbf" + told,
        lambda told: told.decode().encode("utf-16"),
        lambda told: told.replace(b'"goal_achieved"', b'"goal_achieved": true, "goal_achieved"'),
    ],
    ids=["byte order mark", "UTF-16", "a name twice"],
)
def test_what_readers_read_differently_is_refused(
    spoil: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(json.dumps(good_trace()).encode())
    assert found_problems(path) == []
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(UnreadableInput, match="in UTF-8 that says each thing once"):
        found_problems(path)


def test_tuples_stand_for_arrays() -> None:
    case = changed("trace/steps", tuple(good_trace()["steps"]))
    case["trace"]["steps"][4]["caused_by"] = (3, 4)
    assert judged(case) == []


@pytest.mark.parametrize(
    ("path", "value", "at", "field", "rule"), BROKEN, ids=[f"{row[0]}-{row[4]}" for row in BROKEN]
)
def test_a_broken_trace_is_told_by_step_field_and_rule(
    path: str, value: Json, at: int | None, field: str, rule: str
) -> None:
    found = [
        (problem.step, problem.field, problem.rule) for problem in judged(changed(path, value))
    ]
    assert (at, field, rule) in found


def test_every_rule_and_every_invariant_has_a_case_that_breaks_it() -> None:
    invariants = {
        name.replace("_", "-")
        for name, part in json.loads(SCHEMA.read_text())["$defs"].items()
        if "if" in part
    }
    assert {rule.name for rule in RULES} | invariants <= {row[4] for row in BROKEN}


@pytest.mark.parametrize("name", [*good_trace(), *STEP_FIELDS])
def test_a_missing_field_is_named(name: str) -> None:
    trace = good_trace()
    if name in trace:
        del trace[name]
    else:
        del trace["steps"][1][name]
    found = [problem.field for problem in problems(trace) if problem.rule == "required"]
    assert found == [name]


def test_a_schema_names_no_other_file() -> None:
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    refs = [part["$ref"] for part in _objects(schema) if "$ref" in part]
    assert refs
    assert all(ref.removeprefix("#/$defs/") in schema["$defs"] for ref in refs)
    assert all(
        part.get("additionalProperties") is False
        for part in _objects(schema)
        if "required" in part and "properties" in part and part.get("type") == "object"
    )


def _objects(value: Json) -> list[dict[str, Json]]:
    match value:
        case dict():
            return [value, *(part for item in value.values() for part in _objects(item))]
        case list():
            return [part for item in value for part in _objects(item)]
    return []


@pytest.mark.parametrize("mode", ["retraced", "hybrid", "live"])
def test_only_a_retraced_trace_is_held_to_the_words_and_the_limit_of_its_log(mode: str) -> None:
    case = changed("trace/trace_mode", mode)
    case["trace"]["summary"]["agent_confidence"] = 95
    case["evidence"][1]["fields"]["tool"] = {"grade": "self-reported"}
    rules = {problem.rule for problem in judged(case)}
    assert ("confidence-of-retraced" in rules) == (mode == "retraced")
    assert ("evidence-grades" in rules) == (mode != "hybrid")


def test_a_task_that_redaction_or_a_cut_changed_is_let_be() -> None:
    assert judged(changed("trace/task", "Push [BRANCH_1], please.")) == []
    assert judged(changed("trace/steps/0/input", "Push [… 90 tokens omitted …]")) == []


def test_a_plan_accepted_before_any_request_may_be_the_task() -> None:
    plan = words(1, 1, "Implement the plan.", message_role="approval")
    steps = [plan, words(2, 2, "Commit it.", message_role="direct_request")]
    case = changed("trace/steps", steps)
    told = {}
    for task in ("Implement the plan.", "Commit it.", "Go."):
        case["trace"]["task"] = task
        told[task] = [it.rule for it in judged(case) if it.rule == "first-request"]
    assert told == {"Implement the plan.": [], "Commit it.": [], "Go.": ["first-request"]}


def test_steps_before_the_first_message_belong_to_its_turn() -> None:
    steps = [step(1), words(2, 1, "Go."), step(3), words(4, 2, "Stop."), step(5, turn=2)]
    found = [it.step for it in judged(changed("trace/steps", steps)) if it.field == "turn"]
    assert found == []


def test_an_edited_message_may_retry_the_one_that_it_replaces() -> None:
    assert [it.rule for it in judged(changed("trace/steps/5/retry_of", 1))] == ["evidence-fields"]


# --- two judges ---------------------------------------------------------------------------------

ODD: list[Json] = [
    None, True, 0, 1, -1, 2, 2.0, 1.5, 10**30, "", "x", "user", "user_message", "parallel",
    "pg_001", "pg_001\n", "pg_٠٠١", "agent:a b", "agent:\x1c", "subagent:x_0", "subagent:a b_12",
    "2026-01-31T09:30:00Z", "2026-01-31T09:30:00Z\n", "2026-01-31T09:30:00.1234567891Z",
    "٢٠٢٦-01-31T09:30:00Z", [], [1], [1, 1], [1, 1.0], [True], [0], ["1"], {}, {"actor": "user"},
]  # fmt: skip


@pytest.mark.slow
def test_the_slow_judge_and_the_fast_one_agree_on_every_step() -> None:
    schema = json.loads(SCHEMA.read_text())
    judge = jsonschema.Draft202012Validator(
        {"$ref": "#/$defs/step", "$defs": schema["$defs"]}, registry=Registry()
    )
    is_valid = step_validator()
    good = good_trace()["steps"]
    steps = [
        *good,
        *({**one, name: value} for one in good[:2] for name in STEP_FIELDS for value in ODD),
        *(
            {key: one[key] for key in one if key != name}
            for one in good[:2]
            for name in STEP_FIELDS
        ),
        {**good[1], "extra": 1},
        {},
    ]
    verdicts = [(judge.is_valid(one), is_valid(one)) for one in steps]
    assert [steps[at] for at, (slow, fast) in enumerate(verdicts) if slow != fast] == []
    assert {slow for slow, _ in verdicts} == {True, False}


@pytest.mark.slow
def test_the_slow_judge_and_the_fast_one_agree_on_a_whole_trace() -> None:
    judge = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()), registry=Registry())
    good = {**good_trace(), "steps": []}
    inner = [(name, part) for name, part in good.items() if isinstance(part, dict)]
    traces = [
        good,
        *({**good, name: value} for name in (*good, "extra") for value in ODD),
        *({key: good[key] for key in good if key != name} for name in good),
        *(
            {**good, name: {**part, field: value}}
            for name, part in inner
            for field in part
            for value in ODD
        ),
    ]
    is_valid = trace_validator()
    verdicts = [(judge.is_valid(one), is_valid(one)) for one in traces]
    assert [traces[at] for at, (slow, fast) in enumerate(verdicts) if slow != fast] == []
    assert {slow for slow, _ in verdicts} == {True, False}


def test_the_fast_judge_says_no_to_what_is_no_json() -> None:
    good = good_trace()["steps"][1]
    assert step_validator()(good)
    assert not step_validator()({**good, "input": {1, 2}})
    assert not step_validator()({**good, "input": float("nan")})
    keyed: dict[Json, Json] = {**good, 1: 2}
    assert not step_validator()(keyed)


# --- any JSON -----------------------------------------------------------------------------------

ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda part: (
        st.lists(part, max_size=3) | st.dictionaries(st.text(max_size=3), part, max_size=3)
    ),
    max_leaves=6,
)
PLACES = [f"trace/{name}" for name in good_trace()]
PLACES += [f"trace/steps/{at}/{name}" for at in (1, 5) for name in STEP_FIELDS]
PLACES += [row[0] for row in BROKEN if row[0].count("/") > 1]
PLACES += ["evidence", "evidence/1", "evidence/1/fields/tool", "evidence/1/records/0", "manifest"]
NAMES = st.sampled_from(
    [
        "schema_version",
        "collection_id",
        "step_index",
        "trace_id",
        "static_output",
        "summary",
        "steps",
    ]
)


@settings(max_examples=25, deadline=None)
@given(ANY | st.dictionaries(NAMES, ANY | st.just("forsy-v1"), max_size=4), ANY, ANY)
def test_any_json_is_judged(trace: Json, evidence: Json, manifest: Json) -> None:
    assert problems(trace, evidence=evidence, manifest=manifest)


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(PLACES), ANY, st.booleans())
def test_a_trace_with_any_json_anywhere_is_judged(path: str, value: Json, old: bool) -> None:
    case = changed(path, value)
    if old:
        case["trace"]["schema_version"] = "forsy-v1"
    assert all(problem.text.endswith(".") for problem in judged(case))


def test_nesting_without_end_is_told_not_followed() -> None:
    deep: Json = []
    for _ in range(100_000):
        deep = [deep]
    for path in ("trace/agent_config", "trace/steps/1/input", "trace/steps"):
        assert [it.rule for it in judged(changed(path, {"x": deep}))] == ["json"]
    assert [it.rule for it in problems(deep)] == ["json"]
    _ = [deep := deep[0] for _ in range(100_000)]  # freed level by level


def test_no_problem_quotes_the_log() -> None:
    secret = "hunter2-is-my-password"
    wrong: list[Json] = [secret, [secret, secret], {secret: [secret]}]
    for at, path in enumerate(dict.fromkeys(PLACES)):
        case = changed(path, wrong[at % 3])
        if path != "trace/steps":
            case["trace"]["steps"][2][secret] = secret
        assert secret not in repr(judged(case)), path


# --- older traces -------------------------------------------------------------------------------


def old_trace() -> dict[str, Json]:
    trace = good_trace()
    trace |= {"schema_version": "forsy-v1", "collection_id": "c1", "captured_at": "2026-02-01"}
    trace["static_output"] = json.dumps(trace["static_output"])
    for name in ("trace_id", "validation_level", "dataset_summary"):
        del trace[name]
    for one in trace["steps"]:
        one["step_index"] = one.pop("step")
        one["feedback"] = one.pop("feedback_content")
    return trace


def test_an_old_trace_is_told_once_and_its_sound_parts_pass() -> None:
    assert is_legacy(old_trace())
    assert not is_legacy(good_trace())
    assert [problem.rule for problem in problems(old_trace())] == ["legacy-shape"]


def test_an_old_trace_keeps_the_invariants_that_still_make_sense() -> None:
    trace = old_trace()
    trace["steps"][0] |= {"observation": "x", "step_index": 4}
    trace["steps"][1] |= {"caused_by": [6], "retry_of": 2, "message_role": "other"}
    trace["static_output"] = trace["static_output"].replace("[3]", "[30]")
    trace["summary"]["total_steps"] = 60
    assert [(problem.step, problem.rule) for problem in problems(trace)] == [
        (None, "legacy-shape"),
        (None, "summary-counts"),
        (None, "artifact-steps"),
        (1, "user-message"),
        (1, "step-sequence"),
        (2, "not-user-message"),
        (2, "causes"),
        (2, "retries"),
    ]


@pytest.mark.parametrize("static", ["{", "[1]", "[" * 100_000, "null", 3])
def test_an_old_static_output_of_any_kind_is_let_be(static: Json) -> None:
    assert [it.rule for it in problems({**old_trace(), "static_output": static})] == [
        "legacy-shape"
    ]


def test_a_lone_row_of_steps_is_judged_by_itself() -> None:
    row = {**old_trace()["steps"][5], "trace_id": "c1"}
    assert [problem.rule for problem in problems(row)] == ["legacy-shape"]
    row["reasoning"] = "x"
    assert [problem.rule for problem in problems(row)] == ["legacy-shape", "user-message"]


@pytest.mark.corpus
@pytest.mark.skipif(not SPEC.is_dir(), reason="the published format is not beside the checkout")
def test_the_published_examples_are_judged_as_old_traces() -> None:
    example = SPEC / "upstream_example"
    for name in ("trace.json", "steps_row.jsonl"):
        assert [it.rule for it in problems(json.loads((example / name).read_text()))] == [
            "legacy-shape"
        ]


@pytest.mark.corpus
@pytest.mark.skipif(not SPEC.is_dir(), reason="the published format is not beside the checkout")
def test_what_the_strict_schema_lets_in_the_published_one_does_too() -> None:
    published = json.loads((SPEC / "upstream_schema_v0_1.json").read_text())
    judge = jsonschema.Draft202012Validator(published, registry=Registry())
    assert judge.is_valid(good_trace())
    strict = json.loads(SCHEMA.read_text())
    assert set(strict["properties"]) - {"validation_level"} <= set(published["properties"])
    assert set(STEP_FIELDS) <= set(published["$defs"]["step"]["properties"])


@pytest.mark.corpus
@pytest.mark.skipif(not SPEC.is_dir(), reason="the published format is not beside the checkout")
def test_the_example_in_the_format_s_own_text_is_a_good_trace() -> None:
    text = (SPEC / "forsy-trace-skill.txt").read_text()
    start = text.index('{\n  "schema_version": "forsy-trace-v0.1"')
    trace = json.JSONDecoder().raw_decode(text[start:])[0]
    assert problems(copy.deepcopy(trace)) == []
