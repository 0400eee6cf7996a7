"""Commands that make traces of logs: one for each adapter, `auto` and `batch`."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from forsy_retrace.errors import RetraceError, Terminated
from forsy_retrace.terminal import safe, safe_json

from .group import CONTEXT, INTERRUPTED, TERMINATED, main
from .options import (
    AS_JSON,
    MAX_OUTPUT,
    MEDIA,
    NAME,
    PLUGIN,
    QUIET,
    SOURCE_HASH,
    STRICT,
    conversion,
    picks,
    prompts,
    wishes,
)


def adapter_command(name: str) -> click.Command:
    """`forsy-retrace NAME PATH -o FOLDER`"""

    @click.command(
        name,
        context_settings=CONTEXT,
        help=f"Convert {name} logs, one or a folder of them, into trace folders.",
        epilog=f"\b\nExample:\n  forsy-retrace {name} LOG -o trace/",
    )
    @conversion
    def command(**options: Any) -> None:
        run(name, **options)

    return command


@main.command("auto", epilog="\b\nExample:\n  forsy-retrace auto FILE -o trace/")
@conversion
@PLUGIN
def auto(**options: Any) -> None:
    """Find the adapter by the log's content, and convert."""
    run("auto", **options)


def run(
    adapter: str,
    path: Path,
    output: Path,
    as_json: bool,
    quiet: bool,
    strict: bool,
    max_output_tokens: int,
    source_hash: bool,
    media: str,
    include: Any,
    choice: Any,
    rules: Any,
    no_redact: bool,
    i_know: bool,
    plugin: Sequence[str] = (),
) -> None:
    """Converts and says what came of it."""
    from msgspec.structs import replace

    from forsy_retrace import report
    from forsy_retrace.convert import Options, Refused, convert
    from forsy_retrace.trace import counted
    from forsy_retrace.trace_folder import unknown_kinds
    from forsy_retrace.writers import Written
    from forsy_retrace.writers.place import earlier

    if no_redact and not i_know:
        raise RetraceError("--no-redact writes secrets as they stand; add --i-know if you mean it")
    rules = replace(rules, off=no_redact, include=include)
    options = Options(
        rules=rules,
        max_output=max_output_tokens,
        source_hash=source_hash,
        media=media == "keep",
        choice=choice,
        plugins=tuple(plugin),
    )
    results = []
    with report.progress(quiet or as_json) as step:
        for result in convert(path, adapter, output, options, step):
            results.append(result)
    written = [one for one in results if isinstance(one, Written)]
    if as_json:
        click.echo(safe_json(report.as_json(results)))
    elif not quiet:
        click.echo(safe(report.summary(results)))
    if others := len(earlier(output, [one.folder for one in written])):
        told = f"{counted(others, 'folder')} of an earlier run, not made anew"
        click.echo(f"forsy-retrace: beside these lie {told}", err=True)
    for one in written:
        if one.before not in ("", one.manifest["trace_id"]):
            click.echo("forsy-retrace: replaced another trace that was there", err=True)
    if missed := sum(isinstance(one, Refused) and one.is_missed for one in results):
        click.echo(f"forsy-retrace: {counted(missed, 'file')} could not be read", err=True)
        sys.exit(1)
    if strict and any(unknown_kinds(one.manifest) for one in written):
        click.echo("forsy-retrace: the log has kinds of records that are not known", err=True)
        sys.exit(1)


def shard_of(text: str) -> tuple[int, int]:
    """`3/16` as numbers."""
    number, _, count = text.partition("/")
    is_plain = text.isascii() and number.isdigit() and count.isdigit() and len(text) < 40
    if not (is_plain and 1 <= int(number) <= int(count)):
        raise click.BadParameter("write K/N, with K from 1 to N", param_hint="--shard")
    return int(number), int(count)


BATCH_EXAMPLES = """\b
Examples:
  forsy-retrace batch --local -o traces/
  forsy-retrace batch ~/logs more-logs/ -o traces/ --jobs 8 --parquet
  forsy-retrace batch logs/ -o traces/ --dry-run
  forsy-retrace batch s3://bucket/logs -o s3://bucket/traces --shard 3/16
"""


@main.command("batch", epilog=BATCH_EXAMPLES)
@click.argument("roots", nargs=-1, type=NAME)
@click.option(
    "-o",
    "--output",
    required=True,
    type=NAME,
    help="The folder for the trace folders, or an address (s3://…) for them.",
)
@click.option("--local", is_flag=True, help="Also the places where harnesses keep their logs here.")
@click.option(
    "--adapter", default="auto", metavar="NAME", help="Only logs that this adapter reads."
)
@PLUGIN
@click.option(
    "--jobs",
    type=click.IntRange(1, 1000),
    metavar="N",
    help="Worker processes  [default: one a core]",
)
@click.option(
    "--engine",
    default="pool",
    show_default=True,
    help="pool, ray, or the ray:// address of a cluster (extra ray).",
)
@click.option(
    "--shard", default="1/1", metavar="K/N", help="Only part K of N; every log is of one part."
)
@click.option(
    "--limit", type=click.IntRange(1), metavar="N", help="Convert at most N logs in this run."
)
@click.option("--dry-run", is_flag=True, help="Say what would be done; write no trace.")
@click.option("--fail-fast", is_flag=True, help="Stop at the first log that fails.")
@click.option(
    "--dataset/--no-dataset",
    default=True,
    show_default=True,
    help="Write manifests, traces, steps and grounds as .jsonl.",
)
@click.option("--parquet", is_flag=True, help="The same as Parquet too (extra parquet).")
@click.option(
    "--ledger",
    default="",
    metavar="FILE",
    help="Where to remember what is done  [default: in the output folder]",
)
@STRICT
@MAX_OUTPUT
@SOURCE_HASH
@MEDIA
@AS_JSON
@QUIET
@prompts
@picks
@wishes
def batch(
    roots: Sequence[str],
    output: str,
    shard: str,
    jobs: int | None,
    limit: int | None,
    as_json: bool,
    quiet: bool,
    strict: bool,
    plugin: Sequence[str],
    max_output_tokens: int,
    source_hash: bool,
    media: str,
    include: Any,
    choice: Any,
    rules: Any,
    **chosen: Any,
) -> None:
    """Convert every log below some folders that is new or changed, one trace folder a session.

    A run that was stopped goes on where it was; of two runs on one output the second ends at once.
    Traces of an earlier run that the options no longer ask for go from the output, and are counted.
    Logs that fail are rows of report.json, and the exit code is 1.
    """
    from msgspec.structs import replace

    from forsy_retrace.batch import Batch, report
    from forsy_retrace.batch import batch as run_batch
    from forsy_retrace.convert import Options

    options = Options(
        rules=replace(rules, include=include),
        max_output=max_output_tokens,
        source_hash=source_hash,
        media=media == "keep",
        choice=choice,
        plugins=tuple(plugin),
    )
    wish = Batch(
        target=output,
        roots=tuple(roots),
        shard=shard_of(shard),
        jobs=jobs or 0,
        limit=limit or 0,
        options=options,
        **chosen,
    )
    try:
        with report.bars(quiet or as_json) as progress:
            done = run_batch(wish, progress)
    except (KeyboardInterrupt, Terminated) as end:
        click.echo("forsy-retrace: stopped; the same command goes on from here", err=True)
        sys.exit(TERMINATED if isinstance(end, Terminated) else INTERRUPTED)
    if as_json:
        click.echo(safe_json(report.as_json(done)))
    elif not quiet:
        click.echo(safe(report.summary(done, wish)))
    if is_strange := strict and done.unknown_kinds > 0:
        click.echo("forsy-retrace: logs have kinds of records that are not known", err=True)
    if done.failed or is_strange:
        sys.exit(1)
