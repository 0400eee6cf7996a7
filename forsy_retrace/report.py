"""What a conversion says at its end, and while it runs."""

import contextlib
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from forsy_retrace.convert import LeftOut, Refused
from forsy_retrace.redact import mask
from forsy_retrace.terminal import safe_line
from forsy_retrace.trace import counted
from forsy_retrace.writers import Written

Json = dict[str, Any]


@contextlib.contextmanager
def progress(quiet: bool) -> Iterator[Callable[[str], None]]:
    """A line on a terminal's stderr that names the log at work; nothing when piped or quiet."""
    if quiet or not sys.stderr.isatty():
        yield lambda name: None
        return
    from rich.console import Console
    from rich.markup import escape

    console = Console(stderr=True)
    count = 0
    with console.status("Reading …") as status:

        def step(name: str) -> None:
            nonlocal count
            count += 1
            status.update(f"Log {count}: {escape(safe_line(mask(name)))}")

        yield step


def summary(results: Sequence[Written | Refused]) -> str:
    """One screen: steps, failures, retries, feedback, confidence, what is left out and masked."""
    written = [one for one in results if isinstance(one, Written)]
    refused = [one for one in results if type(one) is Refused]
    parts = [_one(written[0])] if len(written) == 1 else [_many(written)]
    parts += _without("file", [one for one in refused if not one.is_session])
    parts += _without("session", [one for one in refused if one.is_session])
    parts += [safe_line(mask(one.why)) for one in results if isinstance(one, LeftOut)]
    return "\n".join(parts)


def _without(what: str, refused: Sequence[Refused]) -> list[str]:
    """The first of what gave no trace, and why."""
    if not refused:
        return []
    lines = [f"{counted(len(refused), what)} gave no trace:"]
    lines += [f"  {safe_line(mask(one.why))}" for one in refused[:10]]
    return lines + ([f"  … and {len(refused) - 10} more"] if len(refused) > 10 else [])


def _one(written: Written) -> str:
    said = written.manifest
    counts = said["counts"]
    feedback = said["human_feedback"]
    lines = [
        f"{written.folder}",
        f"  steps       {said['total_steps']} in {counted(said['total_turns'], 'turn')}",
        f"  failures    {_count(counts['failed'])}, errors {_count(counts['errors'])},"
        f" retries {_count(counts['retries'])}",
        f"  feedback    {counted(feedback['corrections'], 'correction')},"
        f" {counted(feedback['approvals'], 'approval')},"
        f" {counted(feedback['clarifications'], 'clarification')},"
        f" {counted(feedback['new_instructions'], 'new instruction')}",
        f"  ended as    {said['termination_reason']},"
        f" goal {'reached' if said['goal_achieved'] else 'not shown to be reached'}",
        f"  confidence  {said['agent_confidence']} of 100",
    ]
    for one in said["confidence_deductions"][:3]:
        lines.append(f"              -{one['points']} {one['why']}")
    lines += _records([written])
    lines.append(f"  masked      {_masked(said['redaction'])}")
    return "\n".join(lines)


def _records(written: Sequence[Written]) -> list[str]:
    """How much of the logs was used, and what most of the rest was."""
    told = [one.manifest["records"] for one in written]
    read, used, unreadable = (
        sum(one[key] for one in told) for key in ("read", "used", "unreadable")
    )
    omitted = Counter[str]()
    for one in told:
        omitted.update(one["omitted"])
    most = sorted(omitted.items(), key=lambda item: (-item[1], item[0]))[:3]
    return [
        f"  records     {read} read, {used} used, {omitted.total()} left out,"
        f" {unreadable} unreadable",
        *(f"              {count} × {reason}" for reason, count in most),
    ]


def _masked(counts: Mapping[str, int] | str) -> str:
    if isinstance(counts, str):
        return "nothing looked for: redaction was off"
    return ", ".join(f"{count} × {kind}" for kind, count in counts.items()) or "nothing found"


def _count(number: int | None) -> str:
    return "unknown" if number is None else str(number)


def _many(written: Sequence[Written]) -> str:
    lines = [counted(len(written), "trace")]
    for one in written:
        said, counts = one.manifest, one.manifest["counts"]
        lines.append(
            f"  {one.folder.name}  {counted(said['total_steps'], 'step')},"
            f" failures {_count(counts['failed'])}, errors {_count(counts['errors'])},"
            f" retries {_count(counts['retries'])},"
            f" confidence {said['agent_confidence']}"
        )
    return "\n".join([*lines, *_records(written)])


def as_json(results: Sequence[Written | Refused]) -> str:
    """The same as one JSON object."""
    traces = [
        {"folder": _plain(str(one.folder)), **_told(one.manifest)}
        for one in results
        if isinstance(one, Written)
    ]
    refused, left_out = (
        [
            {"name": _plain(mask(one.name)), "why": _plain(mask(one.why))}
            for one in results
            if type(one) is kind
        ]
        for kind in (Refused, LeftOut)
    )
    said = {"traces": traces, "refused": refused, "left_out": left_out}
    return orjson.dumps(said).decode()


def _plain(name: str) -> str:
    """A name without the bytes that no UTF-8 can hold."""
    return name.encode("utf-8", "replace").decode()


def _told(manifest: Json) -> Json:
    keys = (
        "trace_id",
        "total_steps",
        "total_turns",
        "counts",
        "human_feedback",
        "termination_reason",
        "goal_achieved",
        "agent_confidence",
        "confidence_deductions",
        "records",
        "redaction",
    )
    return {key: manifest[key] for key in keys}


def adapter_table() -> str:
    """Every adapter with its stores and its row of what such logs show."""
    import inspect

    from forsy_retrace.registry import bundled, load, plugins, refused

    columns = (
        "words",
        "calls",
        "results",
        "exit_status",
        "time",
        "cwd",
        "reasoning",
        "edits",
        "subagents",
    )
    parts = []
    for name in bundled():
        adapter = load(name)
        first = (inspect.getdoc(adapter) or "").split("\n", 1)[0]
        shown = ", ".join(f"{c.replace('_', ' ')} {getattr(adapter.SHOWS, c)}" for c in columns)
        parts.append(f"{name}\n  {first}\n  shows: {shown}")
        parts += [f"  lies in: {store}" for store in adapter.SHOWS.stores]
    for name in plugins():
        parts.append(f"{name}\n  offered by another package; imported when it is named")
    for name, why in refused().items():
        parts.append(f"{name}\n  offered by another package, and refused: {why}")
    return "\n".join(parts)
