"""The options that several commands have."""

import functools
from collections.abc import Sequence
from datetime import date
from math import isnan
from pathlib import Path
from typing import Any

import click

from forsy_retrace.errors import RetraceError


class Name(click.types.StringParamType):
    """The name of a file or folder, or an address."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The text itself; an empty one is most likely a variable that was not set."""
        if value == "":
            self.fail("is empty; a variable may not be set", param, ctx)
        return value


class FilePath(click.Path):
    """The path of a file or folder of this machine."""

    def __init__(self, *, file_okay: bool = True) -> None:
        super().__init__(path_type=Path, file_okay=file_okay, readable=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """A Path; an empty one is refused, for Python would take it for the working directory."""
        if "://" in str(NAME.convert(value, param, ctx)):
            from forsy_retrace.source import is_remote, on_disk

            if is_remote(value := on_disk(str(value))):
                self.fail("is an address; batch alone takes those", param, ctx)
        return super().convert(value, param, ctx)


class Day(click.types.StringParamType):
    """A day as `2026-01-31`."""

    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The same text, which is compared with the days of sessions."""
        try:
            return date.fromisoformat(value).isoformat()
        except ValueError:
            self.fail(f"{value} is no day; write it as 2026-01-31", param, ctx)


class TraceFolder(FilePath):
    """The folder of a trace, named by itself or by the trace.json in it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = super().convert(value, param, ctx)
        return path.parent if path.name == "trace.json" and path.is_file() else path


class Minutes(click.FloatRange):
    """A time, more than none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        minutes = super().convert(value, param, ctx)
        if isnan(minutes):
            self.fail(f"{value} is no number of minutes", param, ctx)
        return minutes


DAY = Day()
MINUTES = Minutes(0, min_open=True)
NAME = Name()
PATH = FilePath()
TRACE = TraceFolder()


WISHES = (
    click.option(
        "--redact-term",
        multiple=True,
        metavar="TEXT",
        help="Mask this text everywhere; may be repeated.",
    ),
    click.option(
        "--redact-file",
        multiple=True,
        type=PATH,
        help="Mask every text in this file, one a line; may be repeated.",
    ),
    click.option(
        "--redact-pattern",
        multiple=True,
        metavar="REGEX",
        help="Mask what matches (RE2 syntax); may be repeated.",
    ),
    click.option(
        "--names/--no-names",
        default=True,
        show_default=True,
        help="Mask names of people learnt from the text.",
    ),
)


def wishes(command: Any) -> Any:
    """The options that say what else is private; the command gets them as `rules`."""

    @functools.wraps(command)
    def with_rules(
        redact_term: Sequence[str],
        redact_pattern: Sequence[str],
        redact_file: Sequence[Path],
        names: bool,
        **rest: Any,
    ) -> None:
        from forsy_retrace.redact import Rules, is_term, terms_of

        for option, wished in (
            ("--redact-term", redact_term),
            ("--redact-pattern", redact_pattern),
        ):
            if not all(map(is_term, wished)):
                raise RetraceError(f"{option} needs two letters or more; less stands everywhere")
        terms = (*redact_term, *(term for path in redact_file for term in terms_of(path)))
        command(rules=Rules(terms, tuple(redact_pattern), names), **rest)

    return _under(with_rules, WISHES)


PICKS = (
    click.option("--conversation", default="", metavar="ID", help="Only the session of this id."),
    click.option(
        "--since",
        type=DAY,
        metavar="DATE",
        help="Only sessions that began on this day or later (2026-01-31).",
    ),
    click.option(
        "--until",
        type=DAY,
        metavar="DATE",
        help="Only sessions that began on this day or earlier.",
    ),
    click.option(
        "--title",
        default="",
        metavar="TEXT",
        help="Only conversations with this text in their title.",
    ),
    click.option(
        "--grep", default="", metavar="TEXT", help="Only sessions with this text in a command."
    ),
    click.option(
        "--min-commands",
        type=click.IntRange(0),
        metavar="N",
        help="Only sessions of so many commands  [default: 3 in a shell's history]",
    ),
    click.option(
        "--idle",
        default=30.0,
        show_default=True,
        type=MINUTES,
        metavar="MINUTES",
        help="A longer pause ends a session, where a history names none.",
    ),
)


def picks(command: Any) -> Any:
    """The options that say which sessions are wanted; the command gets them as `choice`."""

    @functools.wraps(command)
    def with_choice(
        conversation: str,
        since: str | None,
        until: str | None,
        title: str,
        grep: str,
        min_commands: int | None,
        idle: float,
        **rest: Any,
    ) -> None:
        from forsy_retrace.choose import Choice

        if since and until and until < since:
            raise RetraceError("--until is a day before --since: no session is of both")
        days = since or "", until or ""
        command(choice=Choice(conversation, *days, title, grep, min_commands, idle), **rest)

    return _under(with_choice, PICKS)


AS_JSON = click.option(
    "--json", "as_json", is_flag=True, help="One JSON object on stdout instead of the summary."
)
QUIET = click.option("-q", "--quiet", is_flag=True, help="No progress and no summary.")
MAX_OUTPUT = click.option(
    "--max-output-tokens",
    default=8192,
    show_default=True,
    type=click.IntRange(64),
    help="Longer outputs keep head and tail; the whole lies in artifacts/.",
)
SOURCE_HASH = click.option(
    "--source-hash",
    is_flag=True,
    help="Add a digest of each log's raw bytes to the manifest (it confirms guesses of short secrets).",
)
MEDIA = click.option(
    "--media",
    type=click.Choice(["drop", "keep"]),
    default="drop",
    show_default=True,
    help="Pictures and documents: keep copies them into artifacts/, and nobody can mask what they show.",
)
PLUGIN = click.option(
    "--plugin",
    multiple=True,
    metavar="NAME",
    help="Let this adapter of another package claim logs too; may be repeated.",
)


PROMPTS = tuple(
    click.option(
        name,
        is_flag=True,
        help=f"Write the {what} that the log holds, masked, and not only a digest.",
    )
    for name, what in (
        ("--include-system-prompt", "system prompt"),
        ("--include-memory", "memory and instruction files (CLAUDE.md, AGENTS.md)"),
    )
)


def prompts(command: Any) -> Any:
    """The options that let in what is long and private; the command gets them as `include`."""

    @functools.wraps(command)
    def with_prompts(include_system_prompt: bool, include_memory: bool, **rest: Any) -> None:
        asked = {"system_prompt": include_system_prompt, "memory": include_memory}
        command(include=tuple(name for name, is_asked in asked.items() if is_asked), **rest)

    return _under(with_prompts, PROMPTS)


STRICT = click.option(
    "--strict",
    is_flag=True,
    help="Exit 1 where a log has kinds of records that are not known.",
)
CONVERSION = (
    click.argument("path", type=PATH),
    click.option(
        "-o",
        "--output",
        type=PATH,
        required=True,
        help="The trace folder; for several sessions the folder that holds them.",
    ),
    AS_JSON,
    QUIET,
    STRICT,
    MAX_OUTPUT,
    SOURCE_HASH,
    MEDIA,
    click.option(
        "--no-redact", is_flag=True, help="Write everything as it stands; needs --i-know."
    ),
    click.option("--i-know", is_flag=True, help="Confirms --no-redact."),
)


def conversion(command: Any) -> Any:
    """The options that every conversion has."""
    return _under(prompts(picks(wishes(command))), CONVERSION)


def _under(command: Any, options: Sequence[Any]) -> Any:
    """The command with options, in the order in which its help tells them."""
    for option in reversed(options):
        command = option(command)
    return command
