"""Does a history's command attempt the one before it again, where no exit status is told?"""

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from forsy_retrace.commands import classify
from forsy_retrace.events import SHELL
from forsy_retrace.patterns import later
from forsy_retrace.trace import Step

from .likeness import are_alike

SHORTLY = 300
"""Seconds between two commands of which one may answer the other."""
TYPOS = 2
"""Letters that a mistyped word has wrong."""
ALIKE = 0.8
NEVER_FAILS = later(r"(?:echo|printf|:|true|false|sleep|export)(?:\s[^|&;<>\n]*)?")
"""A command that is not given again because it failed; alone, for a pipe or a file behind it may."""

GUESSED = frozenset(["unknown-command", "script-name"])
"""Rules of commands that may be mistyped."""
SETS = later(
    r"(?:sudo )?[\w-]+ config(?: -{1,2}[\w-]+| set| add){0,4} ([\w-]+(?:[.:][\w-]+)+)(?= )"
)
"""A program's own setting that a line names."""
PLAIN = later(r"[a-z][a-z-]{0,20}")


class Likely(NamedTuple):
    """A rule on two commands' texts; how often the first of such a pair had failed."""

    name: str
    confidence: float
    test: Callable[[str, str], bool]
    timed: bool = False
    """Whether it holds only where the times show that one followed the other shortly."""


def untold(old: Step, new: Step) -> list[Likely]:
    """The rules by which a command attempts again the one before it."""
    if not _is_untold(old, new):
        return []
    a, b = (old.input or "").strip(), (new.input or "").strip()
    timed = old.started_at is not None and new.started_at is not None
    return [rule for rule in UNTOLD if (timed or not rule.timed) and rule.test(a, b)]


def _is_untold(old: Step, new: Step) -> bool:
    """Whether one command of a history follows another shortly, whose outcome nothing tells."""
    if old.actor != SHELL or new.actor != SHELL or old.success is not None:
        return False
    if old.output is not None:
        return False  # what it printed tells as much as this log can
    if old.started_at is None or new.started_at is None:
        return True
    first, then = datetime.fromisoformat(old.started_at), datetime.fromisoformat(new.started_at)
    return 0 <= (then - first).total_seconds() <= SHORTLY


def _sudo_added(a: str, b: str) -> bool:
    """The same words behind `sudo`."""
    return b == f"sudo {a}"


def _typo_mended(a: str, b: str) -> bool:
    """Another first word, of nearly the same letters, before the same arguments."""
    (first, _, rest), (then, _, same) = a.partition(" "), b.partition(" ")
    return rest == same != "" and is_mended(first, then)


def is_mended(word: str, other: str) -> bool:
    """Whether a word that is no known command is another, mistyped."""
    wrong = min(TYPOS, len(word) - 1)
    if word == other or abs(len(word) - len(other)) > wrong or _edits(word, other) > wrong:
        return False
    return classify(word, "bash").rule == "unknown-command"


def _reworded(a: str, b: str) -> bool:
    """The same program with something changed, within five minutes; in the same words it is mostly
    no retry, and without times nothing tells it from another work."""
    return (
        not NEVER_FAILS.fullmatch(a)
        and a != b
        and a.split()[:1] == b.split()[:1]
        and are_alike(a, b, ALIKE)
        and not _are_two_acts(a, b)
    )


def _are_two_acts(a: str, b: str) -> bool:
    """Whether a program is told to do another thing: `plan` then `apply`, `--check` then `--write`,
    or to set something else; a word that is no known command may be the other one, mistyped."""
    old, new = classify(a, "bash"), classify(b, "bash")
    if old.rule in GUESSED:
        return False
    if old.operation != new.operation and (old.main == new.main or " " in old.main):
        return True
    if " " in old.main and " " in new.main and old.main != new.main:
        return True
    if (key := SETS.match(a)) and (then := SETS.match(b)):
        return _edits(key[1], then[1]) > TYPOS
    word, other = _act(a), _act(b)
    wrong = min(TYPOS, len(word) - 1)
    return bool(word and other) and _edits(word, other) > wrong


def _act(line: str) -> str:
    """The plain word behind a program's name, which tells some programs what to do; else empty."""
    words = [word for word in line.split() if word != "sudo"]
    return words[1] if len(words) > 1 and PLAIN.fullmatch(words[1]) else ""


UNTOLD: tuple[Likely, ...] = (
    Likely("sudo-added", 0.73, _sudo_added),
    Likely("first-word-mended", 0.41, _typo_mended),
    Likely("reworded-at-once", 0.36, _reworded, timed=True),
)
"""The next command of a history that tells no exit status.

The confidence is the share of such pairs whose first command had failed, among 11,522 pairs of
one user whose statuses were known. A command repeated in the same words had failed in 0.32 of
1,399 pairs, hardly more than any (0.225): that is no ground for a retry.
"""


def _edits(a: str, b: str) -> int:
    """Letters to put in, take out or replace to make one word of the other."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]
