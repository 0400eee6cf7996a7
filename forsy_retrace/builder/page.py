"""Writes the page on judgement: `python -m forsy_retrace.builder.page > docs/judgement.md`."""

import sys
from collections.abc import Iterator

from .confide import FACTS
from .sections import SECTIONS, Listed, Section

POINTS = {fact.name: fact.points for fact in FACTS}

_HEAD = """# How a trace judges

Generated from the code by `python -m forsy_retrace.builder.page`; edit the rules, not this page.

Most of a trace is copied from the log. What is not copied was put there by a rule, and each rule
has a name, a sentence and a confidence. `evidence.jsonl` has a row for every step, and in it, for
every field, the name of the rule that gave the value:

- **derived**: it follows from logged facts, and can't be wrong if the log is right. It has no
  figure there, and counts as 1.
- **inferred**: a heuristic's reading, with its confidence from 0 to 1.

## Votes and floors

Some rules compete. Each that holds casts a vote, `{"rule", "value", "confidence"}`; the surest
vote gives the value and its rule stands in the ground, but all votes are kept under `votes`. A
value whose surest vote lies under the floor stays null, or neutral: a null is honest, a weak guess
is a defect. Rules that don't compete stand in an order, and the first that holds counts.

To weigh the rules anew, read `votes` and choose for yourself; the log is not needed again:

```python
import json

TRUST = {"says-it-is-wrong": 0.4}  # a rule of which you found that it is wrong too often

for line in open("evidence.jsonl", encoding="utf-8"):
    row = json.loads(line)
    votes = row["fields"].get("message_role", {}).get("votes", [])
    if votes:
        best = max(votes, key=lambda vote: TRUST.get(vote["rule"], vote["confidence"]))
        print(row["step"], best["value"])
```

## Where the figures come from

Confidences were set by reading real sessions, on the low side. `just gold` holds what the rules
then say against sessions that people have labelled, field by field, prints of each rule how often
it was right, and fails where one that spoke ten times or more claims a tenth more than that. Most
rules spoke too seldom to be measured so: their figures order them, and say which readings to
distrust first. Words of runners were read off the tools' public documentation. Each rule
is seen at work, and at rest in a near miss, in `fixtures/passes/`; the few that can't be are named
in `tests/test_passes.py`.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *(line for section in SECTIONS for line in _section(section))])


def _section(section: Section) -> Iterator[str]:
    yield f"## {section.name}: {section.asks[0].lower()}{section.asks[1:]}"
    yield ""
    if section.words:
        yield section.words
        yield ""
    if not section.rows:
        return
    figures = [section.figures] if section.figures else []
    yield f"| {' | '.join(['rule', 'what it says', *figures])} |"
    yield "|---|---|---|" if figures else "|---|---|"
    for row in section.rows:
        cells = [f"`{row.name}`", row.sentence, *([_figure(row)] if figures else [])]
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
    yield ""


def _figure(row: Listed) -> str:
    if row.between is None:
        return f"{POINTS[row.name]:g}"
    low, high = row.between
    if low == 1:
        return "derived"
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


if __name__ == "__main__":
    sys.stdout.write(page())
