"""Commands for whoever writes an adapter."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from forsy_retrace.errors import UnreadableInput
from forsy_retrace.terminal import safe, safe_line

from .group import main
from .options import PATH, FilePath


@main.command("adapters", epilog="\b\nExample:\n  forsy-retrace adapters")
def adapters() -> None:
    """What each adapter reads, where such logs lie, and what they can show."""
    from forsy_retrace.report import adapter_table

    click.echo(safe(adapter_table()))


@main.command("new-adapter", epilog="\b\nExample:\n  forsy-retrace new-adapter my-tool")
@click.argument("name")
@click.option("--package", is_flag=True, help="A package of its own, even inside a checkout.")
@click.option(
    "-o",
    "--output",
    type=FilePath(file_okay=False),
    default=Path(),
    help="Where to start; the current folder when left out.",
)
def new_adapter(name: str, package: bool, output: Path) -> None:
    """Write a working adapter with its first case: in a checkout, or as a package."""
    from forsy_retrace.scaffold import new_adapter as scaffold

    made = scaffold(name, output, package)
    for path in made:
        click.echo(safe_line(os.path.relpath(path)))
    folder = next((path.parent for path in made if path.name == "pyproject.toml"), None)
    install = f" Install it: pip install -e {os.path.relpath(folder)}." if folder else ""
    click.echo(safe_line(f"It keeps every law.{install} Now make it read your own logs."))


@main.command("check", epilog="\b\nExample:\n  forsy-retrace check claude-code session.jsonl")
@click.argument("adapter")
@click.argument("files", nargs=-1, type=PATH)
@click.option("--quick", is_flag=True, help="Fewer cuts and strangers; for large logs.")
def check(adapter: str, files: Sequence[Path], quick: bool) -> None:
    """Hold an adapter to its laws on any logs; without FILES on the cases of fixtures/."""
    if quick:
        os.environ["FORSY_LAWS"] = "quick"
    from forsy_retrace.redact import mask
    from forsy_retrace.testing.check import check as checked
    from forsy_retrace.trace import counted

    logs = laws = others = 0
    for one in checked(adapter, files):
        logs, others = logs + (not one.passed_over), others + one.passed_over
        laws += len(one.broken)
        for sentence in one.broken:
            click.echo(safe_line(mask(f"{one.name}: {sentence}")))
    more = f"; {counted(others, 'other file')} passed over" if others else ""
    click.echo(f"{counted(logs, 'log')}, {counted(laws, 'broken law')}{more}.")
    if laws:
        sys.exit(1)
    if not logs:
        why = f"no log to which the sniff of {adapter} says True; it was held to nothing"
        raise UnreadableInput(why)
