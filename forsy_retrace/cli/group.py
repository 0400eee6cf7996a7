"""The group of all commands, and what it does with errors."""

import sys
import textwrap
from typing import Any

import click

from forsy_retrace import memory
from forsy_retrace.errors import DiskTrouble, RetraceError
from forsy_retrace.terminal import safe_line
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

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """Commands with what they do; adapters by name, since all do the same."""
        from forsy_retrace.registry import bundled

        rows = [
            (name, self.commands[name].get_short_help_str(60)) for name in sorted(self.commands)
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
        with formatter.section("Adapters, each a command that converts its logs"):
            lead = " " * formatter.current_indent
            names = ", ".join(bundled())
            lines = textwrap.wrap(names, formatter.width, initial_indent=lead,
                                  subsequent_indent=lead, break_on_hyphens=False)  # fmt: skip
            formatter.write("\n".join(lines) + "\n")

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Errors that a user can act on are one line; anything else is our bug."""
        memory.look_rarely()
        try:
            return super().main(*args, **kwargs)
        except RetraceError as error:
            from forsy_retrace.redact import mask  # a file's name may hold a secret

            click.echo(safe_line(f"forsy-retrace: {mask(str(error))}"), err=True)
            sys.exit(error.exit_code)
        except OSError:
            click.echo("forsy-retrace: the output can't be written", err=True)
            sys.exit(DiskTrouble.exit_code)


@click.group(cls=Commands, context_settings=CONTEXT, epilog=EXAMPLES)
@click.version_option(VERSION, "-V", "--version")
def main() -> None:
    """Retrace logs of agent work into Forsy traces.

    A trace says only what the log shows, and evidence.jsonl names the bytes that prove it.
    Nothing is sent anywhere; secrets, names and home directories are masked before anything is
    written.
    """
