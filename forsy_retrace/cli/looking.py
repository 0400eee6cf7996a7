"""Commands that look at a trace, judge it, or hold it against its log."""

import sys
from pathlib import Path
from typing import Any

import click

from forsy_retrace.errors import RetraceError
from forsy_retrace.terminal import safe, safe_json

from .group import main
from .options import PATH, TRACE, wishes


@main.command("events", epilog="\b\nExample:\n  forsy-retrace events claude-code session.jsonl")
@click.argument("adapter")
@click.argument("path", type=PATH)
@click.option("--no-redact", is_flag=True, help="Print everything as it stands; needs --i-know.")
@click.option("--i-know", is_flag=True, help="Confirms --no-redact.")
@wishes
def events(adapter: str, path: Path, no_redact: bool, i_know: bool, rules: Any) -> None:
    """Print a log's normalised event stream as JSON lines, masked."""
    from msgspec.structs import replace

    from forsy_retrace.convert import read
    from forsy_retrace.writers import event_lines

    if no_redact and not i_know:
        raise RetraceError("--no-redact prints secrets as they stand; add --i-know if you mean it")
    for line in event_lines(read(path, adapter), replace(rules, off=no_redact)):
        click.echo(safe_json(line))


@main.command("show", epilog="\b\nExample:\n  forsy-retrace show trace/ --step 4 --why success")
@click.argument("folder", type=TRACE)
@click.option("--step", type=click.IntRange(1), help="This step in full.")
@click.option("--why", metavar="FIELD", help="Why this field of the step says what it says.")
@click.option(
    "--source",
    type=PATH,
    help="The log, to show the text that bears a value out.",
)
@wishes
def show(folder: Path, step: int | None, why: str | None, source: Path | None, rules: Any) -> None:
    """Show a trace: its steps, one step in full, or the ground of a value."""
    from forsy_retrace.show import explained, masked, one_step, overview

    if why is not None and step is None:
        raise click.UsageError("--why needs --step")
    if source is not None and why is None:
        raise click.UsageError("--source needs --why")
    if step is None:
        text = overview(folder)
    elif why is None:
        text = one_step(folder, step)
    else:
        text = explained(folder, step, why, source, rules)
    click.echo(safe(masked(text, rules)))


@main.command("validate", epilog="\b\nExample:\n  forsy-retrace validate trace/")
@click.argument("folder", type=PATH)
@click.option("--json", "as_json", is_flag=True, help="The problems as a JSON list on stdout.")
def validate(folder: Path, as_json: bool) -> None:
    """Judge a trace by the strict schema and the format's pre-release checks.

    A folder must be whole, too; of a trace.json alone, name the file.
    """
    from forsy_retrace.release import unfit
    from forsy_retrace.show import found_problems

    found = [*found_problems(folder), *unfit(folder)]
    _findings([(p.step, p.field, p.text) for p in found], as_json, "The trace is valid.")


@main.command("verify", epilog="\b\nExample:\n  forsy-retrace verify trace/ --source session.jsonl")
@click.argument("folder", type=TRACE)
@click.option(
    "--source",
    type=PATH,
    required=True,
    help="The log, or the folder, that the trace was made from.",
)
@click.option("--json", "as_json", is_flag=True, help="The findings as a JSON list on stdout.")
def verify(folder: Path, source: Path, as_json: bool) -> None:
    """Read the log again; say which value of a trace no longer holds.

    The bytes that evidence.jsonl names are read, and the log is retraced: what the trace says
    beside them, causes, judgements and sentences, is compared with what comes of it.

    Of a log that has grown or was changed since, and of a trace that another version made, only the
    named bytes are read; a line on stderr says so, also with --json.
    """
    from forsy_retrace.verify import judged

    found, not_retraced = judged(folder, source)
    if not_retraced:
        click.echo(f"Only the named bytes were read again: {not_retraced}.", err=True)
    good = "Every value that was read again holds." if not_retraced else "Every value holds."
    _findings([(f.step, f.field, f.text) for f in found], as_json, good)


def _findings(found: list[tuple[int | None, str, str]], as_json: bool, good: str) -> None:
    if as_json:
        import orjson

        rows = [{"step": step, "field": field, "problem": text} for step, field, text in found]
        click.echo(safe_json(orjson.dumps(rows).decode()))
    else:
        from forsy_retrace.trace import counted

        for step, field, text in found:
            where = f"step {step}, {field}" if step else field
            click.echo(safe(f"{where}: {text}"))
        click.echo(good if not found else f"{counted(len(found), 'problem')}.")
    if found:
        sys.exit(1)


@main.command("audit", epilog="\b\nExample:\n  forsy-retrace audit trace/ --against session.jsonl")
@click.argument("claimed", type=PATH)
@click.option(
    "--against",
    type=PATH,
    required=True,
    metavar="LOG",
    help="The log of the work that the trace tells of.",
)
@click.option("--adapter", default="auto", show_default=True, help="The adapter of the log.")
@click.option(
    "--conversation", default="", metavar="ID", help="Only the session of this id of the log."
)
@click.option(
    "-o",
    "--output",
    type=PATH,
    help="Write the audit as JSON to this file, or as audit.json into this folder.",
)
@click.option(
    "--write-hybrid",
    type=PATH,
    metavar="DIR",
    help="Write a trace from the log, with the reasoning that the agent reports of confirmed steps.",
)
@click.option("--json", "as_json", is_flag=True, help="The audit as JSON on stdout.")
@wishes
def audit(
    claimed: Path,
    against: Path,
    adapter: str,
    conversation: str,
    output: Path | None,
    write_hybrid: Path | None,
    as_json: bool,
    rules: Any,
) -> None:
    """Hold a trace that an agent wrote about itself against the log; exit 1 where they differ."""
    from forsy_retrace.audit import audit as check
    from forsy_retrace.audit import hybrid, report

    found = check(claimed, against, adapter, rules, conversation)
    told = report.as_json(found)
    data = report.encoded(found, told)
    if output is not None:
        report.write(data, output)
    if write_hybrid is not None:
        hybrid.write_hybrid(found, write_hybrid)
    click.echo(safe_json(data.decode().rstrip()) if as_json else safe(report.table(told)))
    if found.faults:
        sys.exit(1)
