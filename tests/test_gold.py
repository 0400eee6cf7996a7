"""The judgement of traces against labels by a careful reader, kept beside the checkout.

Run with `pytest -m gold -s`: it prints every measure, and holds it to what the project promises.
"""

import importlib.util
import json
from collections import Counter
from pathlib import Path
from statistics import fmean
from types import ModuleType

import pytest
from measured import Reading, readings

from forsy_retrace.convert import convert

SHARED = Path(__file__).parents[2] / "shared"
LABELS = sorted((SHARED / "gold" / "labels").glob("*.json"))

pytestmark = [
    pytest.mark.gold,
    pytest.mark.skipif(not LABELS, reason="no labelled sessions beside this checkout"),
]

AT_LEAST = {
    "human messages found": 1.0,
    "no false human message": 1.0,
    "calls found": 1.0,
    "message_role": 0.85,
    "feedback_type": 0.85,
    "operation": 0.95,
    "success": 0.98,
    "eval": 0.80,
    "answer or ask_user": 0.95,
    "goal_achieved": 1.0,
    "termination_reason": 1.0,
}
F1_AT_LEAST = {
    "success false": 0.95,
    "retry_of": 0.85,
    "verification": 0.85,
    "edit checked": 0.70,
    "data cause": 0.75,
    "eval -1": 0.80,
}


ENOUGH = 10
"""Readings of a rule from which its share of right ones tells something."""
CLAIMS = 0.1
"""So much less often than it claims a rule may be right, by chance or by another reading."""


def scorer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("score", SHARED / "gold" / "score.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def f1(hit: int, got: int, want: int) -> float:
    return 2 * hit / (got + want) if hit else 0.0


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Path]:
    """Each file of labels with the trace of its session."""
    found = {}
    for labels in LABELS:
        source = SHARED / "corpus" / "claude-code" / json.loads(labels.read_text("utf-8"))["source"]
        found[labels] = tmp_path_factory.mktemp("gold") / labels.stem
        list(convert(source, "claude-code", found[labels]))
    return found


def test_no_rule_claims_more_than_it_holds(traces: dict[Path, Path]) -> None:
    held: dict[tuple[str, str], list[Reading]] = {}
    for labels, folder in traces.items():
        for one in readings(folder, labels):
            held.setdefault((one.field, one.rule), []).append(one)
    wrong = []
    for (field, rule), found in sorted(held.items()):
        right = fmean(one.is_right for one in found)
        claimed = fmean(one.confidence for one in found)
        print(f"{field:14} {rule:34} {len(found):5} right {right:.2f} claimed {claimed:.2f}")
        if len(found) >= ENOUGH and right < claimed - CLAIMS:
            wrong.append((field, rule))
    assert wrong == []


def test_the_judgement_agrees_with_a_careful_reader(traces: dict[Path, Path]) -> None:
    score = scorer()
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    found: dict[str, list[int]] = {name: [0, 0, 0] for name in score.F1}
    for labels, folder in traces.items():
        score.score(folder, labels, right, total, found)
    measured = {name: right[name] / total[name] for name in AT_LEAST}
    rare = {name: f1(*found[name]) for name in F1_AT_LEAST}
    for name, figure in {**measured, **rare}.items():
        print(f"{name:24} {figure:.3f}")
    assert [name for name, floor in AT_LEAST.items() if measured[name] < floor] == []
    assert [name for name, floor in F1_AT_LEAST.items() if rare[name] < floor] == []
