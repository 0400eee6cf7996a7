"""Never call an honest trace a liar, and never pass a lie: on traces made from the fixtures."""

import json
from pathlib import Path
from random import Random

import pytest
from audits import FOUND, PLAIN, audited, cases, faults, retraced, told
from claimants import honest, legacy
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as some
from liars import LIARS, Liar, Lie, repeated_step, swapped_order

from forsy_retrace.audit import Audit

CASES = cases()
SOME = CASES[::16]
SLOW = settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
SEEDS = some.integers(0, 2**32)
TWO_FOLDERS = next(log for log in CASES if log.parent.name == "subagent-inline-blocks")
"""A session that goes on in a folder below its first one."""
SENT_OTHERWISE = next(log for log in CASES if log.parent.name == "sent-in-other-words")
"""Its client put other arguments in the place of those that the agent sent."""


@pytest.mark.parametrize("log", SOME, ids=lambda log: f"{log.parts[-3]}/{log.parts[-2]}")
def test_a_trace_of_the_log_itself_is_confirmed(log: Path) -> None:
    found = audited(told(log), log)
    assert faults(found) == []
    assert {step.verdict for step in found.steps} == {"confirmed"}
    assert found.left_out == ()


@pytest.mark.slow
@SLOW
@given(log=some.sampled_from(CASES), seed=SEEDS)
@example(log=SENT_OTHERWISE, seed=1)
@example(log=TWO_FOLDERS, seed=2)
def test_an_honest_trace_in_other_words_has_no_faults(log: Path, seed: int) -> None:
    assert faults(audited(honest(told(log), Random(seed)), log)) == []


@pytest.mark.slow
@pytest.mark.parametrize("liar", LIARS, ids=lambda liar: liar.__name__)
def test_each_lie_is_found_where_it_was_planted(liar: Liar) -> None:
    """At one seed in some fixtures, and in as many more as a rare kind of lie needs to be told."""
    planted: list[tuple[Path, Lie]] = []
    for number, log in enumerate([*SOME, *(log for log in CASES if log not in SOME)]):
        if number >= len(SOME) and len(planted) >= 3:
            break
        lie = liar(retraced(log), Random(5))
        planted += [(log, lie)] if lie is not None else []
    assert len(planted) >= 3
    for log, lie in planted:
        assert is_found(lie, audited(lie.trace, log), liar), (liar.__name__, log, lie.step)


@pytest.mark.slow
@SLOW
@given(log=some.sampled_from(CASES), liar=some.sampled_from(LIARS), seed=SEEDS)
def test_any_single_lie_is_found_and_harms_no_honest_step(log: Path, liar: Liar, seed: int) -> None:
    lie = liar(retraced(log), Random(seed))
    if lie is None:
        return
    found = audited(lie.trace, log)
    assert is_found(lie, found, liar), (liar.__name__, log, seed)
    charged = [at for at, step in enumerate(found.steps) if step.verdict in FOUND]
    if liar not in (swapped_order, repeated_step):
        assert charged in ([], [lie.step]), (liar.__name__, log, seed)


def is_found(lie: Lie, found: Audit, liar: Liar) -> bool:
    if lie.step is None:
        return any(one.claim == lie.claim and one.verdict in FOUND for one in found.claims)
    places = [lie.step]
    if liar is swapped_order:  # either of the two was moved
        places = [lie.step - 1, lie.step]
    if liar is repeated_step:  # one of those that are alike is one too many
        own = lie.trace["steps"][lie.step]
        same = (own["tool"], own["input"])
        steps = enumerate(lie.trace["steps"])
        places = [at for at, step in steps if (step["tool"], step["input"]) == same]
    return any(found.steps[at].verdict in FOUND for at in places)


def test_the_kinds_of_lie_have_their_own_verdicts() -> None:
    verdicts = {}
    for liar in LIARS:
        lie = liar(retraced(PLAIN), Random(3))
        if lie is not None and lie.step is not None:
            verdicts[liar.__name__] = audited(lie.trace, PLAIN).steps[lie.step].verdict
    assert verdicts["invented_step"] == verdicts["invented_approval"] == "unsupported"
    assert verdicts["flipped_success"] == verdicts["changed_output"] == "altered"
    assert verdicts["changed_command"] == verdicts["invented_error"] == "altered"


def test_a_moved_step_is_reordered_and_confirmed_otherwise() -> None:
    claim = told(PLAIN)
    claim["steps"].insert(1, claim["steps"].pop(4))
    found = audited(claim, PLAIN)
    (moved,) = [step for step in found.steps if step.verdict in FOUND]
    assert (moved.verdict, moved.log_step) == ("reordered", 5)


def test_parallel_calls_have_no_order() -> None:
    log = next(path for path in CASES if path.parent.name == "subagent-inline-parallel")
    claim = told(log)
    steps = claim["steps"]
    at = next(
        n
        for n in range(1, len(steps))
        if steps[n]["parallel_group"]
        and steps[n]["parallel_group"] == steps[n - 1]["parallel_group"]
    )
    steps[at - 1], steps[at] = steps[at], steps[at - 1]
    assert faults(audited(claim, log)) == []


def test_an_approval_of_work_that_had_not_begun_is_altered() -> None:
    claim = told(PLAIN)
    claim["steps"][0]["feedback_type"] = "approval"
    claim["summary"]["human_feedback"]["approvals"] += 1
    found = audited(claim, PLAIN).steps[0]
    assert [(one.field, one.weight) for one in found.differences] == [("feedback_type", "altered")]


def test_a_correction_told_as_an_approval_is_altered() -> None:
    log = next(path for path in CASES if path.parent.name == "correction")
    claim = told(log)
    at = next(n for n, s in enumerate(claim["steps"]) if s["feedback_type"] == "correction")
    claim["steps"][at]["feedback_type"] = "approval"
    claim["summary"]["human_feedback"] = {}
    assert faults(audited(claim, log)) == [(at + 1, "altered", ["feedback_type"])]


def test_words_of_a_person_may_not_be_left_out() -> None:
    claim = told(PLAIN)
    del claim["steps"][6]
    claim["summary"] = {}
    (fault,) = faults(audited(claim, PLAIN))
    assert fault[0] == "human messages"
    assert "step 7" in str(fault[2])


def test_a_failure_told_without_its_outcome_is_altered() -> None:
    claim = told(PLAIN)
    claim["steps"][1]["success"] = None
    assert faults(audited(claim, PLAIN)) == [(2, "altered", ["success"])]


def test_an_artifact_that_was_only_read_was_not_modified() -> None:
    log = next(path for path in CASES if path.parent.name == "web-fetch-and-search")
    claim = told(PLAIN)
    claim["static_output"]["artifacts"][0]["hash"] = "sha256:" + "0" * 64
    assert [one[0] for one in faults(audited(claim, PLAIN))] == ["artifacts[0]"]
    claim = told(log)
    claim["static_output"]["artifacts"] = [{"path": "src/made-up.py", "type": "observed"}]
    assert [one[:2] for one in faults(audited(claim, log))] == [("artifacts[0]", "unsupported")]


def test_both_old_and_new_shapes_are_read_alike() -> None:
    claim = honest(told(PLAIN), Random(1))
    new = audited(claim if "trace_id" in claim else told(PLAIN), PLAIN)
    old = audited(legacy(told(PLAIN)), PLAIN)
    assert (new.claimed.shape, old.claimed.shape) == ("v0.1", "legacy")
    assert [step.verdict for step in old.steps] == ["confirmed"] * 8
    assert faults(old) == []


def test_rows_of_steps_are_read_as_a_trace(tmp_path: Path) -> None:
    from forsy_retrace.audit import audit

    rows = [{**step, "collection_id": "fsy_c_1"} for step in told(PLAIN)["steps"]]
    path = tmp_path / "steps.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    found = audit(path, PLAIN)
    assert found.claimed.shape == "legacy"
    assert [step.verdict for step in found.steps] == ["confirmed"] * 8


def test_what_the_harness_wrote_is_no_invented_message() -> None:
    log = next(path for path in CASES if path.parent.name == "compaction")
    summary = next(
        record["message"]["content"]
        for record in map(json.loads, log.read_text("utf-8").splitlines())
        if record.get("isCompactSummary")
    )
    claim = told(log)
    step = {**claim["steps"][0], "input": summary, "feedback_type": None, "feedback_content": None}
    claim["steps"].insert(4, step)
    claim["summary"] = {}
    found = audited(claim, log)
    assert faults(found) == []
    assert (found.steps[4].verdict, found.steps[4].rule) == ("administrative", "harness-words")
