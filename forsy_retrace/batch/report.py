"""What a run says while it runs, and at its end."""

import contextlib
import sys
from collections.abc import Iterator
from typing import Any

from forsy_retrace.logs import UNKNOWN, unasked
from forsy_retrace.sdk import compact
from forsy_retrace.terminal import safe_line
from forsy_retrace.trace import counted

from .engine import Progress, Silence
from .run import Batch, Report


@contextlib.contextmanager
def bars(quiet: bool) -> Iterator[Progress]:
    """A bar for each part of a run on a terminal's stderr, with its rate and the time left."""
    if quiet or not sys.stderr.isatty():
        yield Silence()
        return
    from rich.console import Console
    from rich.progress import BarColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars
    from rich.text import Text

    class Rate(ProgressColumn):
        """So much a second."""

        def render(self, task: Task) -> Text:
            unit, scale = ("MB", 1e6) if task.fields.get("bytes") else ("", 1)
            return Text(f"{(task.speed or 0) / scale:.1f} {unit}/s".replace(" /", "/"))

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), Rate(), TimeRemainingColumn())
    with Bars(*columns, console=console, transient=True) as shown:
        yield _Bars(shown)


class _Bars:
    """One bar after another."""

    def __init__(self, shown: Any) -> None:
        self._shown = shown
        self._task: Any = None

    def begins(self, what: str, total: int) -> None:
        self._task = self._shown.add_task(what, total=total, bytes=what == "Converting")

    def advances(self, by: int) -> None:
        self._shown.advance(self._task, by)


def summary(done: Report, wish: Batch) -> str:
    """What a run did, and what is wrong."""
    plan = done.plan
    skipped = sum(plan.skipped.values())
    lines = [
        f"{counted(len(plan.logs), 'log')}, {counted(plan.companions, 'file')} belonging to them,"
        f" {counted(skipped, 'other file')} skipped",
    ]
    lines += [f"  {count} × {safe_line(why)}" for why, count in plan.skipped.items()]
    if skipped and not wish.dry_run:
        lines.append("  report.json names them")
    if any(UNKNOWN in why for why in plan.skipped) and (hint := unasked(wish.options.plugins)):
        lines.append(f"  {hint.removeprefix('; ')}")
    if wish.dry_run:
        lines.append(f"{done.waiting} to convert, {done.unchanged} unchanged")
        return "\n".join([*lines, *_failures(done, "")])
    lines.append(
        f"{done.converted} converted, {done.unchanged} unchanged"
        + (f", {done.waiting} left for another run" if done.waiting else "")
    )
    copies = f", {done.copies} of them copies: `superseded_by` in index.jsonl names the longest"
    refused = f"; {counted(done.refused, 'session')} without one, see report.json"
    lines.append(
        counted(done.traces, "trace")
        + (copies if done.copies else "")
        + (refused if done.refused else "")
    )
    if done.gone:
        lines.append(
            f"{counted(done.gone, 'trace')} of an earlier run gone: read as you wish it now,"
        )
        lines.append("  the same files do not give them")
    if done.stale:
        lines.append(f"{counted(done.stale, 'trace')} of an earlier run not made anew: index.jsonl")
        lines.append("  says under `stale` why")
    if done.unknown_kinds:
        told = f"{counted(done.unknown_kinds, 'trace')} of logs with kinds of records that are not"
        lines += [told, "  known: report.json counts them"]
    if done.unknown:
        lines.append(f"{counted(done.unknown, 'trace folder')} in the target of no log that is")
        lines.append("  known: of another ledger, or put there by hand")
    return "\n".join([*lines, *_failures(done, ", in report.json")])


def _failures(done: Report, where: str) -> list[str]:
    if not done.failed:
        return []
    lines = [f"{counted(len(done.failed), 'log')} failed:"]
    lines += [f"  {safe_line(name)}: {safe_line(why)}" for name, why in done.failed[:20]]
    if len(done.failed) > 20:
        lines.append(f"  … and {len(done.failed) - 20} more{where}")
    return lines


def as_json(done: Report) -> str:
    """The same as one JSON object."""
    plan = done.plan
    told = {
        "logs": len(plan.logs),
        "companions": plan.companions,
        "skipped": plan.skipped,
        "converted": done.converted,
        "unchanged": done.unchanged,
        "waiting": done.waiting,
        "traces": done.traces,
        "copies": done.copies,
        "refused": done.refused,
        "gone": done.gone,
        "stale": done.stale,
        "unknown": done.unknown,
        "unknown_kinds": done.unknown_kinds,
        "failed": [{"log": name, "why": why} for name, why in done.failed],
    }
    return compact(told)
