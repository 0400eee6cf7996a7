"""What the options of a command say: their values, the method of a request, a check's limits."""

from __future__ import annotations

from forsy_retrace.commands.model import Limits
from forsy_retrace.commands.table import table

NOWHERE = ("/dev/null", "/dev/stderr", "/dev/stdout", "/dev/tty", "NUL", "$null", "nul")
EVERYTHING = frozenset({".", "./", "./...", "...", "all", "--"})
"""Operands that limit nothing."""


def values_of(words: tuple[str, ...], flags: frozenset[str]) -> list[str]:
    """The values of some flags, `-o out`, `--output=out` and the bundled `-sSLo out` alike."""
    found = []
    for at, word in enumerate(words[:-1], 1):
        if word in flags or (len(word) > 2 and word[0] == "-" != word[1] and word[-1] == "o"):
            found.append(words[at])
    for word in words:
        flag, equals, value = word.partition("=")
        if equals and flag in flags:
            found.append(value)
    return [value for value in found if value not in NOWHERE and value != "-"]


def method(words: tuple[str, ...]) -> str | None:
    """The HTTP method that `-X POST`, `--request=POST` or PowerShell's `-Method Post` asks for."""
    for at, word in enumerate(words):
        flag, equals, value = word.partition("=")
        if flag in ("-X", "--request", "--method") or flag.lower() == "-method":
            return (value if equals else words[at + 1] if at + 1 < len(words) else "").upper()
        if word[:2] == "-X":
            return word[2:].upper()
    return None


def limits_of(words: tuple[str, ...], operands: list[str], check: str) -> Limits:
    """What a check is limited to: its operands, and the values of its filters, as they stand."""
    filters = table().filters
    chosen: dict[str, tuple[str, ...]] = {}
    values: set[int] = set()
    for at, word in enumerate(words):
        if word[:1] != "-":
            continue
        flag, equals, value = word.partition("=")
        # `-t` names a test for a runner of tests, and the result for a build of an image.
        if flag not in filters or (flag == "-t" and check == "build"):
            continue
        if not equals and at + 1 < len(words):
            value = words[at + 1]
            values.add(at + 1)
        # `-p 4` (go) and `-p no:cacheprovider` (pytest) limit nothing.
        if value and value[0] != "-" and not value.isdigit() and value[:3] != "no:":
            chosen[flag] = (*chosen.get(flag, ()), value)
    taken = [words[at] for at in sorted(values)]
    # Behind a `--` stand flags too: those of `cargo test -- --test-threads 1` limit nothing.
    rest = tuple(
        word
        for word in operands
        if word not in taken
        and word not in EVERYTHING
        and word[:1] != "-"
        and not (check == "tests" and word.isdigit())
    )
    return ((("", rest),) if rest else ()) + tuple(chosen.items())
