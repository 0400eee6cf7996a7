"""The table of commands, `data/commands.toml`, read once and laid out for fast look-up."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from forsy_retrace import tables


class Row(msgspec.Struct, frozen=True, gc=False):
    """One row of the table; `docs/commands.md` says what each column means."""

    name: str
    operation: str
    sub: str = ""
    flags: str = ""
    surface: str = "cli"
    check: str = ""
    role: str = "work"
    operands: str = ""
    shell: str = ""


class Choice(msgspec.Struct, frozen=True, gc=False):
    """A row as the look-up uses it, its flags taken apart."""

    label: str
    row: Row
    exact: frozenset[str]
    """Long flags, and single-dash words such as `-run`."""
    letters: str
    """Single letters, which may stand in a bundle: `-ni` holds `i`."""
    operands: tuple[str, ...]
    conditions: frozenset[str]
    """Those that are no flag, as `CONDITIONS` has them."""


class Group(msgspec.Struct, gc=False):
    """All rows of one command name."""

    plain: list[Choice]
    subs: dict[str, list[Choice]]
    valued: frozenset[str]
    """Options that take the next word as their value."""
    deepest: int = 0
    """The greatest number of words in a `sub`."""


class Wrapper(msgspec.Struct, frozen=True, gc=False):
    """A command that runs the command behind it."""

    name: str
    sub: str = ""
    valued: str = ""
    skip: int = 0
    """How many operands of its own stand before the command."""
    hides: bool = False
    """Its exit status does not tell that of the command."""


class Script(msgspec.Struct, frozen=True, gc=False):
    """What a script or target called by one of these words does."""

    words: str
    operation: str
    check: str = ""
    role: str = "work"


class File(msgspec.Struct, frozen=True):
    """The file `commands.toml` as it is written."""

    row: list[Row]
    wrapper: list[Wrapper]
    script: list[Script]
    valued: dict[str, str]
    verbs: dict[str, str]
    filters: str


class Home(dict[str, Group]):
    """The groups of one shell, or of all; each is laid out when it is first asked for."""

    def __init__(self, valued: dict[str, str], shell: str = "") -> None:
        super().__init__()
        self.valued = valued
        self.common = valued.get(f"{{{shell}}}", "")
        """Options that take a value with every command of the shell."""
        self.rows: dict[str, list[Row]] = {}

    def __missing__(self, name: str) -> Group:
        group = Group([], {}, frozenset(f"{self.valued.get(name, '')} {self.common}".split()))
        for row in self.rows[name]:
            _place(group, name, row)
        for choices in (group.plain, *group.subs.values()):
            # Rows that ask for a flag come before the row that stands for the rest.
            choices.sort(key=lambda choice: not choice.row.flags)
        self[name] = group
        return group

    def group(self, name: str) -> Group | None:
        """The group of that name, if there is one."""
        return self[name] if name in self.rows else None


class Table(msgspec.Struct, frozen=True):
    """The whole table, ready for look-up."""

    groups: Home
    shells: dict[str, Home]
    """Groups that only one shell has: `powershell`, `fish`, `nu`, `cmd`."""
    wrappers: dict[str, dict[str, tuple[Wrapper, frozenset[str]]]]
    scripts: dict[str, Script]
    verbs: dict[str, str]
    filters: frozenset[str]


def read() -> File:
    """The table file, checked against its columns."""
    return msgspec.convert(tables.table("data/commands.toml"), File)


@lru_cache(maxsize=1)
def table() -> Table:
    """The table; read when first asked for."""
    file = read()
    groups = Home(file.valued)
    shells: dict[str, Home] = {}
    for row in file.row:
        for shell in row.shell.split() or [""]:
            home = shells.setdefault(shell, Home(file.valued, shell)) if shell else groups
            for name in row.name.split():
                home.rows.setdefault(name, []).append(row)
    wrappers: dict[str, dict[str, tuple[Wrapper, frozenset[str]]]] = {}
    for wrapper in file.wrapper:
        options = frozenset(wrapper.valued.split())
        for name in wrapper.name.split():
            for sub in _subs(wrapper.sub):
                wrappers.setdefault(name, {})[sub] = (wrapper, options)
    return Table(
        groups=groups,
        shells=shells,
        wrappers=wrappers,
        scripts={word: script for script in file.script for word in script.words.split()},
        verbs={verb: operation for operation, line in file.verbs.items() for verb in line.split()},
        filters=frozenset(file.filters.split()),
    )


def _subs(column: str) -> list[str]:
    """The alternatives of a `sub` column; `mod+download` is the phrase `mod download`."""
    return [phrase.replace("+", " ") for phrase in column.split()] or [""]


def _place(group: Group, name: str, row: Row) -> None:
    flags = row.flags.split()
    exact = frozenset(f for f in flags if f[0] != "{" and (len(f) != 2 or f[0] != "-"))
    letters = "".join(f[1] for f in flags if len(f) == 2 and f[0] == "-")
    conditions = frozenset(f for f in flags if f[0] == "{")
    for sub in _subs(row.sub):
        choice = Choice(
            f"{name} {sub}".strip(), row, exact, letters, tuple(row.operands.split()), conditions
        )
        if sub:
            group.subs.setdefault(sub, []).append(choice)
            group.deepest = max(group.deepest, sub.count(" ") + 1)
        else:
            group.plain.append(choice)
