"""An audit as a table and as JSON; every text of the log or the claim masked before it is cut."""

from collections import Counter
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import orjson

from forsy_retrace.errors import RetraceError
from forsy_retrace.terminal import safe_line
from forsy_retrace.trace import counted
from forsy_retrace.version import MADE_BY
from forsy_retrace.writers.atomic import locked, replace_file

from . import Audit
from .difference import Difference
from .finding import Finding
from .judge import Judged

Json = dict[str, Any]
BEFORE, AFTER = 40, 160
"""Characters shown around the place where two texts part."""
WHOLE = 60
"""Steps of a trace whose every row is shown; of a longer one, those with something to say."""
MOST = 200
WIDTH = 110


def as_json(audit: Audit) -> Json:
    """The whole audit; what it holds is masked, and gated by `encoded`."""
    counts = Counter(one.verdict for one in audit.steps)
    return {
        "audit": MADE_BY,
        "faults": audit.faults,
        "claimed": {"shape": audit.claimed.shape, "steps": len(audit.claimed.steps)},
        "log": {
            "name": audit.masked.mask(audit.source.name),
            "adapter": audit.adapter,
            "trace_id": audit.masked.mask(audit.trace.trace_id),
            "steps": len(audit.trace.steps),
        },
        "verdicts": {verdict: counts[verdict] for verdict in sorted(counts)},
        "steps": [_step(one, audit) for one in audit.steps],
        "left_out": [
            {"log_step": one.step, "what": audit.masked.mask(one.what), "had_to_be_told": one.grave}
            for one in audit.left_out
        ],
        "claims": [_claim(one, audit) for one in audit.claims],
    }


def _step(judged: Judged, audit: Audit) -> Json:
    row: Json = {"step": judged.number, "verdict": judged.verdict, "log_step": judged.log_step}
    if judged.rule:
        row["rule"] = judged.rule
    row["says"] = audit.masked.mask(judged.says)
    if judged.differences:
        row["differences"] = [_difference(one, audit) for one in judged.differences]
    return row


def _difference(one: Difference, audit: Audit) -> Json:
    return {"field": one.field, "weight": one.weight, **_said(one, audit)}


def _claim(one: Finding, audit: Audit) -> Json:
    return {"claim": one.claim, "verdict": one.verdict, **_said(one, audit)}


def _said(one: Difference | Finding, audit: Audit) -> Json:
    claimed, log = _sides(one.claimed, one.log, audit)
    return {"says": audit.masked.mask(one.says), "claimed": claimed, "log": log}


def _sides(claimed: str | None, log: str | None, audit: Audit) -> tuple[str | None, str | None]:
    """Both texts, masked whole, then cut around the place where they part."""
    one, other = (
        None if text is None else " ".join(audit.masked.mask(text).split())
        for text in (claimed, log)
    )
    pairs = enumerate(zip(one or "", other or "", strict=False))
    same = next((at for at, (left, right) in pairs if left != right), 0)
    return _around(one, same), _around(other, same)


def _around(text: str | None, place: int) -> str | None:
    if text is None:
        return None
    start = max(0, place - BEFORE) if len(text) > BEFORE + AFTER else 0
    end = start + BEFORE + AFTER
    return ("… " if start else "") + text[start:end] + (" …" if end < len(text) else "")


def encoded(audit: Audit, told: Json) -> bytes:
    """The bytes of audit.json; none leave with a known secret in them."""
    data = orjson.dumps(told, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    leak = next(iter(audit.masked.leaks_of_document(data)), None)
    if leak is not None:
        raise RetraceError(f"withheld: the audit would still hold a secret (rule {leak.rule})")
    return data


def write(data: bytes, path: Path) -> None:
    """Writes audit.json whole or not at all; only over an audit of ours."""
    if path.is_dir():
        path = path / "audit.json"
    if path.is_symlink() or (path.exists() and not _is_audit(path)):
        raise RetraceError(f"{path.name}: exists, and is no audit; name another file with -o")
    with locked(path):
        replace_file(path, data)


def _is_audit(path: Path) -> bool:
    try:
        held = orjson.loads(path.read_bytes()) if path.is_file() else None
    except (OSError, ValueError):
        return False
    return isinstance(held, dict) and str(held.get("audit", "")).startswith("forsy-retrace")


def table(told: Json) -> str:
    """What `as_json` says, for the eye."""
    parts = [_head(told), _drawn(("step", "verdict", "log", "why"), _rows(told))]
    if told["left_out"]:
        parts.append(_left_out(told["left_out"]))
    claims = [(c["claim"], c["verdict"], _why(c)) for c in told["claims"]]
    parts.append(_drawn(("claim", "verdict", "why"), claims))
    if told["steps"] and not any(one["log_step"] for one in told["steps"]):
        parts.append("No step of the claim stands in this log: it may be of another session.")
    faults = told["faults"]
    none = "Nothing speaks against this trace."
    parts.append(f"{counted(faults, 'finding')}." if faults else none)
    return "\n\n".join(parts)


def _head(told: Json) -> str:
    counts = ", ".join(f"{count} {verdict}" for verdict, count in told["verdicts"].items())
    log, claimed = told["log"], told["claimed"]
    return (
        f"{claimed['steps']} claimed steps ({claimed['shape']}) against {log['steps']} steps of"
        f" {safe_line(log['name'])} ({log['adapter']}): {counts or 'none'}"
    )


def _rows(told: Json) -> Sequence[tuple[str, ...]]:
    steps = told["steps"]
    if len(steps) > WHOLE:
        steps = [one for one in steps if one["verdict"] != "confirmed"]
    rows = [
        (str(one["step"]), one["verdict"], str(one["log_step"] or ""), _words(one))
        for one in steps[:MOST]
    ]
    if len(steps) > MOST:
        rows.append(("…", "", "", f"and {len(steps) - MOST} more; --json has them all"))
    return rows


def _words(step: Json) -> str:
    lines = [step["says"]]
    for one in step.get("differences", ()):
        lines.append(f"{one['field']}{' (note)' * (one['weight'] == 'note')}: {one['says']}")
        lines += _diff(one)
    return "\n".join(lines)


def _why(claim: Json) -> str:
    lines = [claim["says"]]
    if claim["verdict"] in ("altered", "unsupported"):
        lines += _diff(claim)
    return "\n".join(lines)


def _diff(one: Json) -> Iterator[str]:
    for mark, text in (("-", one["log"]), ("+", one["claimed"])):
        if text is not None:
            yield f"  {mark} {'log' if mark == '-' else 'claim'}: {safe_line(text)}"


def _left_out(rows: list[Json]) -> str:
    lines = [f"The claim leaves out {len(rows)} step{'s' * (len(rows) > 1)} of the log:"]
    for one in rows[:MOST]:
        mark = " (had to be told)" if one["had_to_be_told"] else ""
        lines.append(f"  step {one['log_step']}: {safe_line(one['what'])}{mark}")
    if len(rows) > MOST:
        lines.append(f"  … and {len(rows) - MOST} more; --json has them all")
    return "\n".join(lines)


def _drawn(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """A table without colours: the texts are plain, and nothing in them is markup."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in columns:
        drawn.add_column(name, overflow="fold", no_wrap=name in ("step", "verdict", "log"))
    for row in rows:
        drawn.add_row(*(Text(cell) for cell in row))
    out = StringIO()
    Console(file=out, width=WIDTH, color_system=None, legacy_windows=False).print(drawn)
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip().splitlines())
