"""Commands that mask any text, or say what in it is private."""

import os
import stat
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO

import click

from forsy_retrace.errors import RetraceError, UnreadableInput
from forsy_retrace.terminal import safe_json, safe_line

from .group import main
from .options import NAME, PATH, wishes


@main.command("redact", epilog="\b\nExample:\n  forsy-retrace redact session.jsonl > masked.jsonl")
@click.argument("file", type=NAME)
@wishes
def redact(file: str, rules: Any) -> None:
    """Mask any log or text on its own; - reads standard input.

    What is packed or in UTF-16 comes out as plain UTF-8. What is no text is refused.
    """
    from forsy_retrace.scrub import redacted
    from forsy_retrace.source import is_regular

    path, out = Path(file), sys.stdout.buffer
    with _opened(file) as stream:
        log = path if file != "-" and is_regular(path) else None
        try:
            for piece in redacted(stream, rules, path.name, log):
                out.write(piece)
        except MemoryError:
            raise UnreadableInput(f"{path.name}: longer than memory holds; split it") from None
    out.flush()


def _opened(file: str) -> AbstractContextManager[BinaryIO]:
    """The file, which may be a pipe or a terminal; `-` is standard input."""
    if file == "-":
        return nullcontext(sys.stdin.buffer)
    try:
        stream = open(file, "rb")  # noqa: SIM115 (the caller closes it)
        if _never_ends(stream):
            stream.close()
            raise UnreadableInput(f"{Path(file).name}: a device; name a file")
        return stream
    except FileNotFoundError:
        raise RetraceError(f"{Path(file).name}: no such file") from None
    except OSError as error:
        why = error.strerror or "cannot be opened"
        raise UnreadableInput(f"{Path(file).name or file}: {why}") from None


def _never_ends(stream: BinaryIO) -> bool:
    """Whether it is a device, such as /dev/zero, and no terminal."""
    mode = os.fstat(stream.fileno()).st_mode
    return (stat.S_ISCHR(mode) and not stream.isatty()) or stat.S_ISBLK(mode)


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
    """Report kinds and places of what is private; never the values.

    The exit code is 1 where something was found, and 65 where nothing was, but a file or more could
    not be read.
    """
    from forsy_retrace.redact import mask
    from forsy_retrace.scrub import Place, scanned, second_opinion
    from forsy_retrace.source import Unread
    from forsy_retrace.trace import counted

    found = list(scanned(path, rules))
    places = [one for one in found if isinstance(one, Place)]
    unread = [one for one in found if isinstance(one, Unread)]
    if paranoid:
        places += second_opinion(path)
    if as_json:
        import orjson

        rows = [
            {"file": mask(p.name), "line": p.line, "kind": p.kind, "rule": p.rule} for p in places
        ]
        rows += [{"file": mask(u.name), "unread": mask(u.why)} for u in unread]
        click.echo(safe_json(orjson.dumps(rows).decode()))
    else:
        for p in places:
            where = f":{p.line}" if p.line else " (its name)"
            click.echo(safe_line(f"{mask(p.name)}{where}: {p.kind} ({p.rule})"))
        for u in unread:
            click.echo(safe_line(f"{mask(u.name)}: not read: {mask(u.why)}"))
        if unread:
            click.echo(f"{len(unread)} could not be read.")
        if places or not unread:
            click.echo(f"{counted(len(places), 'place')}." if places else "Nothing found.")
    if places:
        sys.exit(1)
    if unread:
        sys.exit(UnreadableInput.exit_code)
