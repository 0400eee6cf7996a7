"""Every rule by which a bundled adapter tells an outcome is in the table that the page lists."""

import json
from pathlib import Path

from forsy_retrace.builder.sections import SECTIONS
from forsy_retrace.endings import ENDINGS
from forsy_retrace.verify.evidence_rules import BY_PLACE, FAILED, WORKED

FIXTURES = Path(__file__).parents[1] / "fixtures"
OF_THE_BUILDER = {
    row.name for section in SECTIONS if "success" in section.gives for row in section.rows
}


def test_every_rule_of_an_outcome_says_what_it_means() -> None:
    told = {
        entry["rule"]
        for path in FIXTURES.glob("*/*/**/evidence.jsonl")
        for line in path.read_text().splitlines()
        for field, entry in json.loads(line)["fields"].items()
        if field == "success" and "rule" in entry
    }
    assert len(told) > 50
    assert told <= OF_THE_BUILDER


def test_no_ending_is_listed_twice_and_none_says_two_things() -> None:
    names = [one.name for one in ENDINGS]
    assert len(names) == len(set(names))
    assert not WORKED & FAILED
    assert not (WORKED | FAILED) & BY_PLACE.keys()
    assert all(one.sentence[0].isupper() and one.sentence.endswith(".") for one in ENDINGS)
