"""What the tests of the audit share: traces of the fixtures, and audits of claims from them."""

import copy
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from forsy_retrace.audit import Audit, audit
from forsy_retrace.audit.marks import BAD_NEWS
from forsy_retrace.convert import convert
from forsy_retrace.writers import Written

Json = dict[str, Any]
FIXTURES = Path(__file__).parents[1] / "fixtures"
ADAPTERS = ("claude-code", "codex", "openai-chat", "chatgpt")
PLAIN = FIXTURES / "claude-code" / "test-edit-test-approved" / "input.jsonl"
PUSH = FIXTURES / "claude-code" / "push-pull-push" / "input.jsonl"
TRACELESS = (
    "opened-and-closed",
    "git-lfs-pointer",
    "not-ours-api-history",
    "not-ours-goose",
    "not-ours-single-parts",
    "not-ours-ai-sdk",
    "empty-conversations",
)
"""Fixtures of logs that give no trace."""
FOUND = ("altered", "reordered", "unsupported")


@cache
def retraced(log: Path) -> Json:
    """Our own trace of a log, never to be changed; `soft`: a rule, no flag, judged the step.

    So is a flagged success whose output speaks of a failure: to call it one is no lie.
    """
    with TemporaryDirectory() as folder:
        results = convert(log, log.parent.parent.name, Path(folder) / "trace")
        one = next(one for one in results if isinstance(one, Written))
        trace: Json = json.loads((one.folder / "trace.json").read_bytes())
        lines = (one.folder / "evidence.jsonl").read_bytes().splitlines()
    for step, row in zip(trace["steps"], map(json.loads, lines), strict=True):
        by_rule = row["fields"].get("success", {}).get("grade") == "inferred"
        speaks = bool(step["success"]) and BAD_NEWS.search(step["output"] or "") is not None
        step["soft"] = by_rule or speaks
    return trace


def told(log: Path) -> Json:
    """Our own trace as a claim, to be changed at will: without what only the tests know of it."""
    trace = copy.deepcopy(retraced(log))
    for step in trace["steps"]:
        del step["soft"]
    return trace


def cases() -> list[Path]:
    """The logs of all fixtures that give a trace."""
    found = [path for name in ADAPTERS for path in sorted(FIXTURES.glob(f"{name}/*/input.json*"))]
    return [path for path in found if path.parent.name not in TRACELESS]


def audited(trace: object, log: Path) -> Audit:
    """A claimed trace, as a file of its own, held against a log."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "claimed.json"
        path.write_text(json.dumps(trace), "utf-8")
        return audit(path, log, log.parent.parent.name)


def faults(found: Audit) -> list[tuple[object, ...]]:
    """What an audit charges: steps with their fields, then claims."""
    return [*_steps(found), *_claims(found)]


def _steps(found: Audit) -> Iterator[tuple[object, ...]]:
    for step in found.steps:
        if step.verdict in FOUND:
            fields = [one.field for one in step.differences if one.weight == "altered"]
            yield step.number, step.verdict, fields


def _claims(found: Audit) -> Iterator[tuple[object, ...]]:
    for claim in found.claims:
        if claim.verdict in FOUND:
            yield claim.claim, claim.verdict, claim.says
