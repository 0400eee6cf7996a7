"""Writes the page on the table, `python -m forsy_retrace.commands.page > docs/commands.md`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from forsy_retrace.commands.conditions import CONDITIONS, Condition
from forsy_retrace.commands.operands import KINDS, WHOLES, Kind, Whole
from forsy_retrace.commands.table import Row, read

COLUMNS = {
    "name": "The first words that the row is for, spaces between. A folder of tools (`/usr/bin/`, "
    "`.venv/bin/`), `.exe` and a version (`python3.12`) are cut off before the look-up.",
    "sub": "Its subcommands, spaces between; `mod+download` stands for the words `mod download`. "
    "A row with a fitting `sub` beats one without, a longer phrase a shorter one.",
    "flags": "The row holds only with one of these flags or conditions (below). Rows with flags "
    "are tried first, in the order of the file.",
    "operation": "`read`, `search`, `write`, `edit`, `execute`, `verify`, `download`, `install`, "
    "`other`; `verb` leaves it to the list of verbs.",
    "surface": "`cli` when left out; `api`, `browser`, `database`, `messaging`.",
    "check": "`tests`, `lint`, `types`, `build` or `ci`, where the command is a check.",
    "role": "`work` when left out; `prep` prepares or clears up, `view` only shows, `fix` rewrites "
    "files, `format` rewrites them and tells nothing of what is wrong with them.",
    "operands": "What the operands are (below), where that is worth knowing.",
    "shell": "The shells that alone have the command; every shell when left out.",
}

FLAGS = {
    "-x": "a single letter, alone or in a bundle (`-nx`)",
    "--long": "a long flag, also with `=value`; a single-dash word such as `-run` likewise",
}

_HEAD = """# What shell commands do

Generated from `forsy_retrace/data/commands.toml` by `python -m forsy_retrace.commands.page`; edit
the table, not this page. To teach the tool a command, add one line to `row` there.

A line of shell is split into its simple commands. Wrappers (`sudo`, `timeout 5`, `uv run`,
`bash -c`) are stripped, each command is looked up here, and the line takes the operation of what
it is for:

1. the last command with role `work`, `fix` or `format`; a check is not outweighed by what it is
   piped into;
2. else the last with role `prep` that has an effect (`mkdir`, `pip install`);
3. else the last viewer, in a pipe of viewers the first of them.

A formatter or fixer makes the line an `edit`, also when a lint, type check or build follows; a
formatter alone is no check. Output redirected into a file makes a viewer a `write` (`>`) or an
`edit` (`>>`), but for a `.log`, which only keeps it.

The rule that a step names is the command as its row has it, `git commit`. These stand in no row:

- `unknown-command`: what no row knows, `execute`; but a program given by its path is `run-program`.
- `run-after-build`: a program that the same line built and then ran, a check of kind `run`.
- `script-name`: a script, target or task whose name says nothing, `execute`.
- `inline-program`: program text that stands on the line.
- `help`: `--help` and `--version`, `read`.
- `redirect-write`, `redirect-append`: output redirected into a file.
- `sql-read`: a query that only asks, `read`.
- `assignment`, `empty`: a line that gives a variable its value, or none at all, `other`.

The exit status is *masked* when the one the caller sees is not the check's (or the main command's):
behind a pipe without `pipefail`, before `;` or `|| echo`, in a loop, a condition or the background,
and behind a wrapper that hides it.
"""


def page() -> str:
    """The whole page."""
    file = read()
    lines = [_HEAD, "## Columns of `row`", ""]
    lines += _list(COLUMNS)
    lines += ["", "Flags and conditions:", "", *_list(FLAGS | _said_of(CONDITIONS))]
    lines += [
        "",
        "Operands:",
        "",
        *_list(_said_of(KINDS) | _said_of(WHOLES)),
    ]
    lines += ["", "## Rows", "", *_table([_cells(row) for row in file.row], tuple(COLUMNS))]
    lines += ["", "## Wrappers", ""]
    lines.append("They run the command behind them; `skip` counts operands of their own before it.")
    lines.append("One that `hides` keeps the command's exit status to itself.")
    wrappers = [(w.name, w.sub, str(w.skip or ""), "x" * w.hides) for w in file.wrapper]
    lines += ["", *_table(wrappers, ("name", "sub", "skip", "hides"))]
    lines += ["", "## Names of scripts, targets and tasks", ""]
    lines.append(
        "A name counts whole (`type-check`) and by its segments (`test:unit`, `lint-fix`)."
    )
    scripts = [(s.words, s.operation, s.check, s.role) for s in file.script]
    lines += ["", *_table(scripts, ("words", "operation", "check", "role"))]
    lines += ["", "## Verbs", ""]
    lines.append("For rows with the operation `verb`: the first word of the subcommand decides.")
    lines += ["", *_table(list(file.verbs.items()), ("operation", "verbs"))]
    lines += ["", "## Options", ""]
    lines.append("`valued` lists each command's options that take the next word as their value;")
    lines.append(f"`filters` those whose value narrows a check: `{file.filters}`.")
    return "\n".join(lines) + "\n"


def _cells(row: Row) -> tuple[str, ...]:
    """The columns of a row in the order of `COLUMNS`, defaults left blank."""
    surface = "" if row.surface == "cli" else row.surface
    role = "" if row.role == "work" else row.role
    return (
        row.name, row.sub, row.flags, row.operation, surface, row.check, role, row.operands,
        row.shell,
    )  # fmt: skip


def _said_of(table: Mapping[str, Condition | Kind | Whole]) -> dict[str, str]:
    return {name: one.says for name, one in table.items()}


def _list(meanings: dict[str, str]) -> list[str]:
    return [f"- `{term}`: {meaning}" for term, meaning in meanings.items()]


def _table(rows: Sequence[tuple[str, ...]], heads: tuple[str, ...]) -> list[str]:
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    return lines + [f"| {' | '.join(row)} |" for row in rows]


if __name__ == "__main__":
    sys.stdout.write(page())
