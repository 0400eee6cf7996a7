"""The group of all commands, and what it does with errors."""

import contextlib
import io
import os
import re
import sys
from collections.abc import Iterator
from typing import Any

import click

from forsy_retrace import memory
from forsy_retrace.errors import DiskTrouble, RetraceError, Terminated
from forsy_retrace.terminal import safe, safe_line
from forsy_retrace.version import VERSION

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

EXAMPLES = """\b
Examples:
  forsy-retrace claude-code session.jsonl -o trace/
  forsy-retrace auto FILE -o trace/
  forsy-retrace batch --local -o traces/
  forsy-retrace show trace/ --step 4 --why success
  forsy-retrace verify trace/ --source session.jsonl
"""


class Commands(click.Group):
    """The commands below, and one for each adapter."""

    def list_commands(self, context: click.Context) -> list[str]:
        from forsy_retrace.registry import bundled

        return [*bundled(), *super().list_commands(context)]

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        own = super().get_command(context, name)
        if own is not None:
            return own
        from forsy_retrace.registry import bundled, plugins

        if name in bundled() or name in plugins():
            from .converting import adapter_command

            return adapter_command(name)
        return None

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """A mistyped name is told the one that it is most like, a harness's its adapter."""
        try:
            return super().resolve_command(context, args)
        except click.UsageError:
            from difflib import get_close_matches

            if args[0][:1] == "-":
                raise
            from forsy_retrace.registry import refused

            if why := refused().get(args[0]):
                raise RetraceError(f"the adapter {args[0]} is refused: {why}") from None
            known = self.list_commands(context)
            near = [name for name in known if len(args[0]) > 2 and name.startswith(args[0])]
            near = near or get_close_matches(args[0], known, 1, NEAR)
            near = near or ([] if set("./\\") & set(args[0]) else _speaking_of(args[0]))
            hint = "`forsy-retrace adapters` lists the logs that can be read."
            if len(near) == 1:
                hint = f"Did you mean '{near[0]}'?"
            message = f"No such command '{args[0]}'. {hint}"
            raise click.UsageError(message, context) from None

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Commands with what they do; adapters by name, since all do the same."""
        import textwrap

        from forsy_retrace.registry import bundled

        rows = [
            (name, self.commands[name].get_short_help_str(200)) for name in sorted(self.commands)
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
        with formatter.section("Adapters, each a command that converts its logs"):
            lead = " " * formatter.current_indent
            names = ", ".join(bundled())
            lines = textwrap.wrap(names, formatter.width, initial_indent=lead,
                                  subsequent_indent=lead, break_on_hyphens=False)  # fmt: skip
            formatter.write("\n".join(lines) + "\n")

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """What the command line says; its help may be printed here."""
        with _to_a_reader():
            return super().make_context(*args, **kwargs)

    def invoke(self, context: click.Context) -> Any:
        """Runs the command that was named."""
        from forsy_retrace import rule_cache

        with _to_a_reader(), rule_cache.between_runs():
            return super().invoke(context)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Whatever goes wrong is one line and an exit code; what is our bug shows its place."""
        memory.look_rarely()
        try:
            code = super().main(*args, **{**kwargs, "standalone_mode": False})
        except RetraceError as error:
            if error.__cause__ is not None and os.environ.get("FORSY_TRACEBACK"):
                raise
            _say(str(error))
            code = error.exit_code
        except click.ClickException as error:
            told = io.StringIO()
            error.show(told)
            click.echo(safe(_masked(told.getvalue())), err=True, nl=False)
            code = error.exit_code
        except Unread:
            code = UNREAD
        except click.Abort:
            _say("stopped")
            code = INTERRUPTED
        except Terminated:
            _say("stopped")
            code = TERMINATED
        except OSError as error:
            _say(f"reading or writing failed: {error.strerror or type(error).__name__}")
            code = DiskTrouble.exit_code
        except Exception as error:
            if os.environ.get("FORSY_TRACEBACK"):
                raise
            from forsy_retrace.registry import blamed

            _say(f"{blamed(error)}; with FORSY_TRACEBACK=1 it tells more")
            code = OUR_FAULT
        sys.exit(code if isinstance(code, int) else 0)


def _speaking_of(name: str) -> list[str]:
    """The adapters whose own words name a harness or a form of log."""
    import inspect

    from forsy_retrace.registry import bundled, load

    asked = set(re.findall(r"\w+", name.lower()))
    words = {
        one: re.findall(r"\w+", (inspect.getdoc(load(one)) or "").lower()) for one in bundled()
    }
    return [one for one in words if asked and asked.issubset(words[one])]


NEAR = 0.8
"""How like a command a mistyped name must be: two letters of five in each other's place."""
INTERRUPTED, UNREAD, TERMINATED = 130, 141, 143
"""As a shell tells a program that SIGINT, SIGPIPE or SIGTERM ended."""
OUR_FAULT = 70


class Unread(Exception):
    """Who reads the output has read enough; Click would end with 1, as for findings."""


@contextlib.contextmanager
def _to_a_reader() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())  # there goes what is still held back
        raise Unread from None


def _say(why: str) -> None:
    click.echo(safe_line(f"forsy-retrace: {_masked(why)}"), err=True)


def _masked(text: str) -> str:
    from forsy_retrace.redact import mask  # a file's name may hold a secret

    return mask(text)


@click.group(cls=Commands, context_settings=CONTEXT, epilog=EXAMPLES)
@click.version_option(VERSION, "-V", "--version")
def main() -> None:
    """Retrace logs of agent work into Forsy traces.

    A trace says only what the log shows, and evidence.jsonl names the bytes that prove it.
    Nothing is sent anywhere; secrets, names and home directories are masked before anything is
    written.
    """
