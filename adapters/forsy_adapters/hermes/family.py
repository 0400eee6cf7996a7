"""Which sessions of a log make one trace: one that was summed up goes on under another id.

Until 0.17 a summary ended the session, and a child of it went on; a branch and the work of a
subagent are children, too. Marks tell them since 0.17 (`hermes_state.py`); before, a subagent's
session is known by what its parent sent.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from forsy_retrace.sdk import words

from .store import Stored, seconds

SUBAGENT = "subagent"
"""The source of a subagent's session."""
FOCUSED = "You are a focused subagent "
"""How its system prompt begins."""
SUMMED_UP, BRANCHED = "compression", "branched"
"""Why a session ended whose child goes on from it."""


class Family(NamedTuple):
    """One conversation: its sessions in their order, and by each those of its subagents."""

    line: list[Stored]
    below: dict[str, list[list[Stored]]]
    origin: Stored | None = None
    """The session that it branches from, where it is here."""


def families(sessions: Sequence[Stored]) -> Iterator[Family]:
    """Every session once."""
    known = {one.id: one for one in sessions if one.id}
    above = {one.id: known.get(one.parent) for one in sessions if one.parent != one.id}
    below: dict[str, list[Stored]] = {}
    after: dict[str, Stored] = {}
    for one in sessions:
        if (parent := above.get(one.id)) is None:
            continue
        if is_subagent(one, parent):
            below.setdefault(parent.id, []).append(one)
        elif _goes_on(one, parent):
            after.setdefault(parent.id, one)
    inner = {one.id for held in below.values() for one in held}
    inner |= {one.id for one in after.values()}
    reached = set[str]()
    roots = [one for one in sessions if one.id not in inner]
    for one in (*roots, *sessions):  # the second time for those that name each other as parents
        if one.id not in reached:
            line = _line(one, after, reached)
            yield Family(line, _below(line, below, after, reached), above.get(one.id))


def is_subagent(one: Stored, parent: Stored | None) -> bool:
    """Whether a session is a subagent's, by its marks or by what its parent sent."""
    if one.source == SUBAGENT or one.config.get("_delegate_from") is not None:
        return True
    if words(one.head.value.get("system_prompt")).startswith(FOCUSED):
        return True
    if is_branch(one) or parent is None:
        return False
    return bool(one.asked) and one.asked in parent.sent


def is_branch(one: Stored) -> bool:
    """Whether a session says that it branches from another."""
    return one.config.get("_branched_from") is not None


def _goes_on(one: Stored, parent: Stored) -> bool:
    ended = parent.head.value.get("end_reason") == SUMMED_UP
    return ended and not is_branch(one) and one.began >= seconds(parent.head.value.get("ended_at"))


def _line(one: Stored, after: dict[str, Stored], reached: set[str]) -> list[Stored]:
    line = [one]
    reached.add(one.id)
    while (later := after.get(line[-1].id)) is not None and later.id not in reached:
        line.append(later)
        reached.add(later.id)
    return line


def _below(
    line: list[Stored],
    below: dict[str, list[Stored]],
    after: dict[str, Stored],
    reached: set[str],
) -> dict[str, list[list[Stored]]]:
    """The sessions of subagents below a conversation, and of theirs, by what sent them."""
    found: dict[str, list[list[Stored]]] = {}
    waiting = [one.id for one in line]
    while waiting:
        name = waiting.pop()
        for one in below.get(name, ()):
            if one.id not in reached:
                found.setdefault(name, []).append(_line(one, after, reached))
                waiting += [later.id for later in found[name][-1]]
    return found
