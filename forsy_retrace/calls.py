"""Calls: an id of its own for each, and how it ended."""

from collections import Counter
from typing import Any, NamedTuple

from forsy_retrace.events import Outcome
from forsy_retrace.sdk import compact


class Verdict(NamedTuple):
    """The outcome, the rule that read it, where its word stands, and the exit code."""

    outcome: Outcome = "unknown"
    rule: str = ""
    basis: str = ""
    exit_code: int | None = None


class Calls:
    """Gives each call an id of its own: the harness's, unless the log uses that twice or not."""

    def __init__(self) -> None:
        self.issued: dict[str, set[int]] = {}
        """What was issued of each id, by its content."""
        self.counts: Counter[str] = Counter()
        self.open: dict[str, list[str]] = {}
        self.closed: set[str] = set()

    def issue(self, ident: str, *content: Any) -> str | None:
        """An id for a call; None where one of this id and content was issued already.

        The content is what makes it this call: its tool and input, or the id of its record.
        """
        held = self.issued.setdefault(ident, set())
        print_ = hash(compact(content))
        if ident and print_ in held:
            return None
        held.add(print_)
        self.counts[ident] += 1
        count = self.counts[ident]
        name = ident if ident and count == 1 else f"{ident or 'unnamed'}#{count}"
        self.open.setdefault(ident, []).append(name)
        return name

    def answer(self, ident: str) -> str | None:
        """The earliest unanswered call of that id; None where it has its answer.

        A result whose call the log lacks keeps its own id.
        """
        waiting = self.open.get(ident)
        if waiting:
            name = waiting.pop(0)
        elif ident and ident not in self.issued:
            name = ident
        else:
            return None
        if name in self.closed:
            return None
        self.closed.add(name)
        return name
