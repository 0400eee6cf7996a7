"""What a shell line is said to do: `Command` for the line, `Simple` for each command in it."""

from __future__ import annotations

import msgspec

REWRITES = ("fix", "format")
"""Roles of commands that rewrite files."""

Limits = tuple[tuple[str, tuple[str, ...]], ...]
"""What a check is limited to by its operands, under no name, and by each of its filters."""


class Simple(msgspec.Struct, frozen=True, gc=False):
    """One simple command of a line, its wrappers (`sudo`, `uv run`, `bash -c` …) stripped."""

    words: tuple[str, ...]
    """The argv, quotes removed; a `$(…)` inside a word stays as written."""
    name: str
    """The row of the table that knows it, `git commit`; empty when no row does."""
    operation: str
    rule: str
    """The row or rule that decided; `unknown-command` when none did."""
    surface: str = "cli"
    check: str | None = None
    """`tests`, `lint`, `types`, `build`, `run` or `ci` where the command is a check."""
    limits: Limits = ()
    """Each narrows what the others leave of a check; empty means everything."""
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    role: str = "work"
    """`work`, `prep` (prepares or clears up), `view` (shows), `fix` (rewrites files, and may tell
    what is wrong with them) or `format` (rewrites them and tells nothing)."""
    shows: bool = False
    """It prints what stands in the files that it reads, and does not only tell of them."""
    looks_at: tuple[str, ...] | None = None
    """The files, folders and patterns that a check looks at; None where the line does not tell."""
    captured: bool = False
    """It stands in a `$(…)`: what it prints goes into a word of another command."""

    @property
    def covers(self) -> tuple[str, ...]:
        """The paths, packages and names of all its limits."""
        return sum((values for _, values in self.limits), ())


class Excuse(msgspec.Struct, frozen=True, gc=False):
    """What `a && b || echo WORDS` prints where it comes to nothing."""

    first: int
    end: int
    """The commands that may have failed: those of the line from the first up to this one."""
    words: str


class Poured(msgspec.Struct, frozen=True, gc=False):
    """A here-document, or words of `echo` or `printf`, that go into a file as they stand."""

    at: int
    """The command of the line that writes it."""
    text: str
    may_stop: bool = False
    """Behind `set -e` something before it may have stopped the line."""
    if_worked: bool = False
    """Something before it may have failed; the line's exit status tells whether it did."""


class Command(msgspec.Struct, frozen=True):
    """One shell line: what it is for, and every simple command in it."""

    operation: str
    rule: str
    surface: str
    check: str | None
    covers: tuple[str, ...]
    masked: bool
    """The exit status that the caller sees is not that of the check, or of the main command."""
    fixes: bool
    """Some command of the line rewrites files: a formatter, a fixer, `sed -i`."""
    simples: tuple[Simple, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    urls: tuple[str, ...]
    packages: tuple[str, ...]
    normal: str
    """The line without leading `cd`, wrappers, viewer tails and quoting, to compare two runs."""
    main: str
    """The name of the command that the line is for."""
    cwd: str | None
    """Where a leading `cd X &&` goes; None without one."""
    excuses: tuple[Excuse, ...] = ()
    told: tuple[str, ...] = ()
    """The kinds of its checks of which the exit status tells: it is 0 only if they passed."""
    poured: tuple[Poured, ...] = ()
    fed: tuple[str, ...] = ()
    """The here-documents from which its commands take a patch."""
    inline: tuple[tuple[str, str], ...] = ()
    """The programs that the line itself holds as text, each behind what runs it."""
    negated: bool = False
    """A `!` before the command that the line is for: what comes to nothing is what was wanted."""
    place: int = 0
    """Where the command that the line is for stands among its commands."""
    unsure: tuple[int, ...] = ()
    """The commands that may not have run, or not have worked, although the line did and nothing
    that they print says so: behind a `&&` or in a block of which the exit status does not tell."""
    bound: int = 0
    """From which command on each has worked where the line has: a chain of `&&` to its end."""
    behind_cd: int = 0
    """How many of its commands, from a leading `cd` on, come to nothing where that fails."""

    @property
    def programs(self) -> frozenset[str]:
        """The first words of its simple commands."""
        return frozenset(word for one in self.simples for word in one.words[:1])


class Part(msgspec.Struct, gc=False):
    """A simple command as the lexer or the tree found it, before anything is known of it."""

    words: list[str]
    redirects: list[tuple[str, str]]
    """Operator without its file descriptor 1, and its target: `(">", "log")`, `("2>", "err")`."""
    assigns: list[str]
    after: str = ""
    """What stands behind it: `&&`, `||`, `|`, `;`, `&`, or nothing at the end."""
    depth: int = 0
    """How many `$(…)` enclose it."""
    block: str = ""
    """`loop`, `branch`, `condition`, `function`, `not`: mostly, its status is not the line's."""
    body: str | None = None
    """The text of its here-document."""
    literal: bool = False
    """The shell leaves that text as it is."""
    shared: bool = False
    """Its redirects are those of a block, of which it is the last command."""


REMOVES = frozenset(
    [
        *("rm", "unlink", "shred", "trash", "trash-put", "rimraf", "git rm", "rmdir"),
        *("remove-item", "ri", "rd", "del", "erase"),
    ]
)
"""Commands that take their targets away: clean-up, not an edit that a check could find broken."""
MOVES = frozenset(
    ["mv", "rename", "git mv", "move-item", "move", "mi", "rename-item", "rni", "ren"]
)
"""Commands that take away what they also read."""
