"""Writes the page on audits: `python -m forsy_retrace.audit.page > docs/audit.md`."""

import sys
from collections.abc import Iterable

from .bookkeeping import ROWS as BOOKKEEPING
from .claims import CLAIMS
from .compare import FIELDS

_HEAD = """\
# The audit of self-reported traces

An agent can write a trace about itself, live or afterwards, in the format v0.1 or in the shape that
came before it. `forsy-retrace audit` holds such a trace against the log of the same work. It goes
by one rule: *what the claim says, the log must show; what it leaves open is no lie.* Paraphrased
prose, shortened outputs that say so, masked secrets, relative paths and rounded times are as good
as the letter.

Of the session that `forsy-retrace show` prints in the README, an agent tells this in
`claimed.json`:

```json
{
  "schema_version": "forsy-trace-v0.1",
  "trace_mode": "live",
  "validation_level": "client_validated",
  "task": "Publish my commit",
  "steps": [
    {"step": 1, "actor": "user", "action": "user_message", "input": "Publish my commit"},
    {"step": 2, "actor": "agent", "action": "agent_step", "operation": "analyze",
     "input": "How to publish", "output": "Push first; rebase only if that is refused."},
    {"step": 3, "actor": "agent", "action": "agent_step", "tool": "Bash",
     "input": "git push origin main", "success": true,
     "reasoning": "A plain push is the least that can go wrong."},
    {"step": 4, "actor": "agent", "action": "agent_step", "tool": "shell",
     "input": "git pull --rebase origin main", "success": true,
     "output": "… Successfully rebased and updated refs/heads/main."},
    {"step": 5, "actor": "agent", "action": "agent_step", "tool": "Bash",
     "input": "git push --force origin main", "success": true},
    {"step": 6, "actor": "agent", "action": "agent_step", "tool": "Bash",
     "input": "npm test", "output": "12 passed", "success": true},
    {"step": 7, "actor": "agent", "action": "output", "operation": "answer",
     "output": "Your commit is published: it was rebased onto the two new remote commits and is now `e7b8d15` on `origin/main`."}
  ],
  "summary": {"total_steps": 7}
}
```

`forsy-retrace audit claimed.json --against session.jsonl` prints this, and exits with 1:

```text
7 claimed steps (v0.1) against 5 steps of session.jsonl (claude-code): 1 administrative, 2 altered, 3 confirmed, 1 unsupported

step   verdict          log   why
─────────────────────────────────────────────────────────────────────────────────────────────────────────────
1      confirmed        1     The log shows it.
2      administrative         It calls no tool and says nothing to anybody: a thought, which no log can show.
3      altered          2     The log has other success.
                              success: The log shows the opposite.
                                - log: false
                                + claim: true
4      confirmed        3     The log shows it.
5      altered          4     The log has other input.
                              input: The input is not what the log shows.
                                - log: {"command":"git push origin main","description":"Push main to origin"}
                                + claim: git push --force origin main
6      unsupported            Nothing in the log shows it.
7      confirmed        5     The log shows it.

claim                 verdict       why
───────────────────────────────────────────────────────────────────────────────────────────────────
trace_mode            not shown     The log shows no work on the trace.
validation_level      unsupported   Nothing in the log shows a validation by the owner of the task.
                                      + claim: client_validated
human messages        confirmed     In its turns, it leaves out no words of a person.
failures              confirmed     In its turns, it leaves out no flagged failures of the agent.
summary.total_steps   confirmed     The claim's own steps come to as many.
final_output          not shown     The claim has none.

4 findings.
```

`-o` writes the same as JSON to a file, or as `audit.json` into a folder that is there; `--json` prints
it. Nothing is written unless it is asked for.
Everything that is shown or written of the log or of the claim is masked first. Exit code 0: nothing
speaks against the trace; 1: a step or claim is altered, reordered or unsupported.

## Verdicts on steps

- **confirmed**: the log shows the step, and no field of it says otherwise. Differences that are no
  charge stand below it as a `note`.
- **altered**: the log shows the step, with another value in the fields named.
- **reordered**: the log shows the step as it is told, elsewhere in the order. Calls of one parallel
  group, steps of two agents and words queued meanwhile have no order.
- **unsupported**: nothing in the log shows it.
- **administrative**: the trace's own bookkeeping, or no act at all: no log can show it.

Then come the steps of the log that the claim leaves out. A trace may pass over what worked. It must
not pass over a person's words or a failure in the turns that it tells, up to its own `ended_at`.

Both traces are aligned as wholes. Candidates share a folded input, output or time, or rare words;
the heaviest chain of them that rises on both sides wins, so that no step is settled before the
others. What is left over on both sides and alike by its own text was moved. With n and m steps that
takes O((n + m) × words + candidates × log m); a step has at most 39 candidates for each of its texts,
8 by rare words and 21 in its gap.

"""

_HYBRID = """
## Hybrid traces

`--write-hybrid DIR` writes a trace folder from the log, as every conversion does, that keeps of the
confirmed steps what only the agent could know: `reasoning` and `alternatives_considered` where the
log has none, graded `self-reported` in `evidence.jsonl`; and `learning`, if nothing speaks against
the claim. `trace_mode` is `hybrid`; the manifest counts under `self_reported` what was kept. The
log's own words win over the claim's.
"""


def page() -> str:
    """The whole page."""
    lines = [_HEAD + "## Fields of a step", ""]
    rows = [(one.field, one.how, one.tolerance, one.says) for one in FIELDS]
    lines += _table(("field", "compared", "may differ", "finding"), rows)
    lines += ["", "## Claims of the whole trace", ""]
    lines += _table(("claim", "checked"), [(one.claim, one.how) for one in CLAIMS])
    lines += ["", "`not shown` says that the log neither bears a claim out nor speaks against it."]
    lines += ["", "## Administrative steps", ""]
    rows_of_none = [(one.name, one.says) for one in BOOKKEEPING]
    words = ("harness-words", "It is given as a person's words; the log has them from the harness.")
    lines += _table(("rule", "why no log shows it"), [*rows_of_none, words])
    return "\n".join(lines) + "\n" + _HYBRID


def _table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    return lines + [f"| {' | '.join(row)} |" for row in rows]


if __name__ == "__main__":
    sys.stdout.write(page())
