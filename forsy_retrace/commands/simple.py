"""Tells what one simple command does: finds the row of the table that holds for it."""

from __future__ import annotations

import re
from functools import lru_cache

from forsy_retrace.commands.conditions import CONDITIONS, Sent
from forsy_retrace.commands.model import Simple
from forsy_retrace.commands.scripts import run_script
from forsy_retrace.commands.table import Choice, Group, table
from forsy_retrace.commands.targets import Redirects, applied, redirected
from forsy_retrace.commands.wrappers import program
from forsy_retrace.patterns import later

_HELP = frozenset({"--help", "--version", "-help", "-version"})
_SHORT_HELP = frozenset({"-h", "-V", "-v", "version", "help"})
_PLAIN = frozenset({"echo", "printf", "test", "[", "[["})
"""To these any word is a text."""
_OWN_LETTERS = frozenset({"grep", "rg", "ls", "ll", "df", "du", "free", "tree"})
"""To these `-h` and `-v` say something of their own."""
_PROGRAM = later(r"[^\s]*\.(?:py|js|mjs|cjs|ts|tsx|rb|pl|php|sh|bash|zsh|ps1|bat|exe|jar|lua)")


def simple(
    words: tuple[str, ...], redirects: Redirects, piped: bool, heredoc: bool, shell: str
) -> Simple:
    """What one simple command does; `piped` says that another's output is its input."""
    done = _by_table(words, piped, heredoc, shell)
    if redirects:
        done = redirected(done, redirects)
    return done


def _by_table(words: tuple[str, ...], piped: bool, heredoc: bool, shell: str) -> Simple:
    if not words:
        return Simple(words, "", "other", "assignment", role="prep")
    head = words[0]
    group = _group(head, shell)
    if group is None:
        head = program(head)
        group = _group(head, shell)
    if group is None:
        return _unknown(words)
    start, choices = _choices(group, words)
    operands, flags = _sort_out(words, start, group.valued)
    alone = words[-1] if len(words) == start + 1 else ""
    # `pytest -v` is a verbose run, `git remote -v` a longer list; `node -v` asks for the version.
    verbose = alone == "-v" and (
        start > 1 or any(one.row.check and not one.row.flags for one in choices or group.plain)
    )
    is_short = alone in _SHORT_HELP and not verbose and head not in _OWN_LETTERS
    if head not in _PLAIN and (is_short or not _HELP.isdisjoint(flags)):
        label = choices[0].label if choices else head
        return Simple(words, label, "read", "help", role="view")
    sent = Sent(words, operands, flags, piped, heredoc)
    choice = _choose(choices or group.plain, sent)
    if choice is None:
        return Simple(words, head, "execute", "unknown-command")
    return applied(choice, sent)


def _group(head: str, shell: str) -> Group | None:
    own = table().shells.get(shell)
    if own is not None:
        # PowerShell and cmd don't tell case apart.
        key = head if shell in ("fish", "nu") else head.lower().removesuffix(".exe")
        return own.group(key) or table().groups.group(key)
    return table().groups.group(head)


def _unknown(words: tuple[str, ...]) -> Simple:
    """A command in no table: a program given by its path, a script, or truly unknown."""
    head = words[0]
    if words[-1] == "--help" or words[1:2] == ("--version",) or words[1:] == ("-h",):
        return Simple(words, "", "read", "help", role="view")
    if "/" in head or "\\" in head or _PROGRAM.fullmatch(head) or head.startswith("$"):
        return run_script(words, 0) or Simple(words, "", "execute", "run-program", reads=(head,))
    return Simple(words, "", "execute", "unknown-command")


def _choices(group: Group, words: tuple[str, ...]) -> tuple[int, list[Choice]]:
    """Where the command's own operands begin, and the rows of its subcommand or of its name."""
    if not group.subs:
        return 1, group.plain
    at = 1
    while at < len(words) and words[at][:1] in ("-", "+") and words[at] not in group.subs:
        at += 2 if words[at] in group.valued else 1
    for length in range(group.deepest, 0, -1):
        if at + length <= len(words):
            choices = group.subs.get(" ".join(words[at : at + length]))
            if choices is not None:
                return at + length, choices
    return 1, group.plain


def _sort_out(
    words: tuple[str, ...], start: int, valued: frozenset[str]
) -> tuple[list[str], list[str]]:
    """The operands and the flags, values of flags left out of both."""
    operands: list[str] = []
    flags: list[str] = []
    at, end = start, len(words)
    while at < end:
        word = words[at]
        at += 1
        if word[:1] != "-" or len(word) == 1:
            operands.append(word)
        elif word == "--":
            operands.extend(words[at:])
            break
        else:
            flags.append(word)
            if word in valued or (
                # A bundle whose last letter takes a value: `-sSLo out`, `-am message`.
                len(word) > 2 and word[1] != "-" and f"-{word[-1]}" in valued and word[1:].isalpha()
            ):
                at += 1
    return operands, flags


def _choose(choices: list[Choice], sent: Sent) -> Choice | None:
    for choice in choices:
        if not choice.row.flags or any(CONDITIONS[one].holds(sent) for one in choice.conditions):
            return choice
        for flag in sent.flags:
            if flag in choice.exact or flag.partition("=")[0] in choice.exact:
                return choice
            if choice.letters and flag[1] != "-" and not _letters(flag).isdisjoint(choice.letters):
                return choice
    return None


@lru_cache(maxsize=4096)
def _letters(flag: str) -> frozenset[str]:
    """The letters bundled in a short flag, up to a value joined to it: `-ni.bak` has n and i."""
    # `-Ilib` and `-Mstrict` carry a word behind the letter; its letters are no flags.
    found = re.match(r"-([A-HJ-LN-Za-z0-9]*)", flag)
    return frozenset(found[1] if found else "")
