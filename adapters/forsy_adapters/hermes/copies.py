"""Which messages repeat earlier ones, and which times say when something happened.

A summary writes the messages that it keeps once more; a branch begins with its parent's. Until 0.15
the client wrote a turn when it had ended, all its messages at once.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise, takewhile
from typing import NamedTuple

from forsy_retrace.dialects import calls
from forsy_retrace.sdk import words

from .family import is_branch
from .store import Node, Stored, seconds

SUMMARY = ("[CONTEXT COMPACTION", "[CONTEXT SUMMARY]:")
"""How a summary begins (`context_compressor.py`)."""
MERGED = (
    "[PRIOR CONTEXT — for reference only; not a new message]\n",
    "\n\n[END OF PRIOR CONTEXT —",
)
"""What stands around the words of a message that a summary was put behind."""
TOGETHER = 0.05
"""Seconds between what one write wrote and the next; a summary writes a microsecond apart."""
TYPED = 1.0
"""Seconds in which nobody types a message."""
REPEATED = "repeated history"


class Written(NamedTuple):
    """What is known of messages by their places in the line of a conversation."""

    copies: set[int]
    untimed: set[int]
    """Messages whose time is that of a later write."""
    branched: int = 0
    """The first so many are copies of a parent's, with the time of the branch."""


def surveyed(line: list[Stored], origin: Stored | None) -> Written:
    """What is known of a conversation's messages."""
    messages = [one for session in line for one in session.messages]
    keys = [key for session in line for key in session.keys]
    shared = _shared(keys, origin.keys) if origin else 0
    copied = max(shared, _at_first(line[0])) if is_branch(line[0]) else shared
    untimed = {*range(copied), *_at_its_end(messages)}
    return Written(_copies(messages, keys), untimed, copied if origin else 0)


def is_summary(message: Node) -> bool:
    """Whether a message is a summary, or one that a summary was put behind."""
    text = words(message.value.get("content"))
    return text.startswith(SUMMARY) or text.startswith(MERGED[0])


def _copies(messages: list[Node], keys: list[str]) -> set[int]:
    """The messages that a summary wrote again, before and behind it; each of them once."""
    found, dated = set[int](), set[str]()
    held, asked = Counter[str](), set[str]()
    for batch in _batches(messages):
        again = Counter[str]()
        known = held.copy() if is_summary_in(messages, batch) else Counter[str]()
        for at in batch:
            one = messages[at]
            key, ids, when = keys[at], _ids(one), seconds(one.value.get("timestamp"))
            again[key] += 1
            is_copy = again[key] <= known[key] or (known and ids and ids <= asked)
            if not is_summary(one) and (is_copy or (when and f"{when} {key}" in dated)):
                found.add(at)
            dated.add(f"{when} {key}")
        for at in batch:
            held[keys[at]] += 1
            asked |= _ids(messages[at])
    return found


def _batches(messages: list[Node]) -> Iterator[range]:
    """The messages that were written together."""
    first = 0
    for at in range(1, len(messages) + 1):
        if at == len(messages) or abs(_gap(messages[at - 1], messages[at])) >= TOGETHER:
            yield range(first, at)
            first = at


def is_summary_in(messages: list[Node], batch: range) -> bool:
    """Whether a summary was among what was written together."""
    return any(is_summary(messages[at]) for at in batch)


def _shared(keys: list[str], before: list[str]) -> int:
    """How many messages at the beginning are those of another session, in its order."""
    rest = iter(before)
    shared = takewhile(lambda key: key in rest, keys)  # each behind the last that was found
    return sum(1 for _ in shared)


def _at_first(branch: Stored) -> int:
    """How many messages were written when a session began, before anybody could type one."""
    before = branch.began
    for count, one in enumerate(branch.messages):
        when = seconds(one.value.get("timestamp"))
        if not 0 <= when - before < TYPED:
            return count
        before = when
    return len(branch.messages)


def _at_its_end(messages: list[Node]) -> Iterable[int]:
    """The messages of turns that were written when they ended, but for the last ones."""
    starts = [at for at, one in enumerate(messages) if one.value["role"] == "user"]
    for first, after in zip(starts, [*starts[1:], len(messages)], strict=False):
        turn = messages[first:after]
        if len(turn) > 1 and all(_gap(one, other) < TOGETHER for one, other in pairwise(turn)):
            yield from range(first, after - 1)


def _gap(one: Node, other: Node) -> float:
    return seconds(other.value.get("timestamp")) - seconds(one.value.get("timestamp"))


def _ids(message: Node) -> set[str]:
    """The calls that a message makes, or answers."""
    value = message.value
    made = {one.id for one in calls(value, "") if one.id}
    return {f"made {one}" for one in made} | (
        {f"answered {value['tool_call_id']}"} if words(value.get("tool_call_id")) else set()
    )
