"""Strips what merely runs another command: `sudo`, `timeout 5`, `uv run`, `bash -c`, `ssh host`."""

from __future__ import annotations

from collections.abc import Sequence

from forsy_retrace.commands.table import table
from forsy_retrace.patterns import later

_ASSIGN = later(r"[A-Za-z_]\w*=")
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "fish", "pwsh", "powershell", "nu", "cmd"})
_VERSIONED = later(r"[-.]?\d[\d.]*$")
_TOOL_FOLDERS = ("bin", ".bin", "sbin", "Scripts", "shims")
_LOCAL_TOOLS = frozenset({"gradlew", "mvnw", "manage.py", "artisan", "configure", "sail", "pants"})
_DEEPEST = 8


def unwrap(words: tuple[str, ...]) -> tuple[tuple[str, ...], str | None]:
    """The words behind all wrappers, and the text of a whole line where a shell was given one."""
    wrappers = table().wrappers
    for _ in range(_DEEPEST):
        if not words:
            break
        head = program(words[0])
        if head in _SHELLS or head in ("ssh", "eval", "su"):
            return words, _line(head, words)
        if head == "python":
            inner = _module(words)
        elif head in wrappers:
            inner = _behind(head, words)
        else:
            break
        if not inner:
            break
        words = inner
    return words, None


def hides(words: Sequence[str]) -> bool:
    """Whether a wrapper keeps the exit status of what it runs to itself."""
    rows = table().wrappers.get(program(words[0])) if words else None
    return rows is not None and any(wrapper.hides for wrapper, _ in rows.values())


def found(words: tuple[str, ...]) -> tuple[str, ...]:
    """The command that `find … -exec` runs; empty without one."""
    for at, word in enumerate(words):
        if word in ("-exec", "-execdir", "-ok"):
            rest = words[at + 1 :]
            ends = [place for place, held in enumerate(rest) if held in (";", "+")]
            return unwrap(rest[: ends[0]] if ends else rest)[0]
    return ()


def program(head: str) -> str:
    """The table's name for a first word: no folder of tools, no `.exe`, no version, no sign."""
    groups = table().groups.rows
    if head in groups or head in table().wrappers:
        return head
    if head[:1] == "^" and head[1:] in groups:
        return head[1:]  # nushell's sign for a program; bash's own `^old^new` has two
    if "/" in head or "\\" in head:
        folders, _, name = head.replace("\\", "/").rpartition("/")
        if folders.rpartition("/")[2] not in _TOOL_FOLDERS and name not in _LOCAL_TOOLS:
            return head
        head = name
    elif not head.isascii():
        return head
    head = head.removesuffix(".exe").removesuffix(".cmd")
    if head in groups or head in table().wrappers:
        return head
    bare = _VERSIONED.sub("", head)
    return bare if bare in groups else head


def _behind(head: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """What a wrapper runs; nothing where it stands alone or is used for something else."""
    for sub, (wrapper, valued) in table().wrappers[head].items():
        at = _past_options(words, 1, valued)
        if sub:
            phrase = sub.split()
            if list(words[at : at + len(phrase)]) != phrase:
                continue
            at = _past_options(words, at + len(phrase), valued)
        for _ in range(wrapper.skip):
            at = _past_options(words, at + 1, valued)
        while at < len(words) and _ASSIGN.match(words[at]):
            at += 1
        return words[at:]
    return ()


def _past_options(words: tuple[str, ...], at: int, valued: frozenset[str]) -> int:
    while at < len(words) and len(words[at]) > 1 and words[at][0] == "-":
        if words[at] == "--":
            return at + 1
        at += 2 if words[at] in valued else 1
    return at


def _module(words: tuple[str, ...]) -> tuple[str, ...]:
    """`pytest -q` of `python -X dev -m pytest -q`."""
    for at in range(1, len(words) - 1):
        if words[at] == "-m":
            return words[at + 1 :]
        if words[at][0:1] != "-" and words[at - 1] not in ("-X", "-W"):
            break
    return ()


def _line(head: str, words: tuple[str, ...]) -> str | None:
    """The line that a shell, `ssh` or `eval` is given as text."""
    if head == "eval":
        return " ".join(words[1:])
    if head == "ssh":
        at = _past_options(words, 1, table().groups["ssh"].valued) + 1
        return " ".join(words[at:]) or None
    for at, word in enumerate(words[1:-1], 1):
        if word.lower() in ("/c", "-command") or (
            word[0:1] == "-" and word[1:2] != "-" and "c" in word[1:] and "/" not in word
        ):
            return words[at + 1]
        if word[0:1] != "-" and head != "su":
            break
    return None
