"""Commands that mask any text, or say what in it is private."""

import sys
from pathlib import Path
from typing import Any

import click

from forsy_retrace.terminal import safe, safe_json

from .group import main
from .options import PATH, wishes


@main.command("redact", epilog="\b\nExample:\n  forsy-retrace redact session.jsonl > masked.jsonl")
@click.argument("file", type=click.File("rb"))
@wishes
def redact(file: Any, rules: Any) -> None:
    """Mask any log or text on its own; - reads standard input."""
    from forsy_retrace.scrub import redacted

    out = sys.stdout.buffer
    for piece in redacted(file, rules):
        out.write(piece)


@main.command("scan", epilog="\b\nExample:\n  forsy-retrace scan ~/.claude/projects/my-app")
@click.argument("path", type=PATH)
@click.option("--json", "as_json", is_flag=True, help="The places as a JSON list on stdout.")
@click.option(
    "--paranoid",
    is_flag=True,
    help="Ask Kingfisher's rules too, offline (extra paranoid); for a finished trace folder.",
)
@wishes
def scan(path: Path, as_json: bool, paranoid: bool, rules: Any) -> None:
    """Report kinds and places of what is private; never the values."""
    from forsy_retrace.scrub import scanned, second_opinion

    places = list(scanned(path, rules))
    if paranoid:
        places += second_opinion(path)
    if as_json:
        import orjson

        rows = [{"file": p.name, "line": p.line, "kind": p.kind, "rule": p.rule} for p in places]
        click.echo(safe_json(orjson.dumps(rows).decode()))
    else:
        for place in places:
            click.echo(safe(f"{place.name}:{place.line}: {place.kind} ({place.rule})"))
        click.echo("Nothing found." if not places else f"{len(places)} places.")
    if places:
        sys.exit(1)
