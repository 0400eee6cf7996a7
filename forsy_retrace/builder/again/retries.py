"""Which earlier step does a call attempt again? A table of named rules over its open failures.

A failure stays open until an attempt at the same target worked. The latest one that a rule
recognises counts, by the same actor.
"""

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from forsy_retrace.commands import Command
from forsy_retrace.evidence import Vote
from forsy_retrace.trace import Check, Step

from ..outcome import made, never_ran
from ..outputs.found import SEARCHES, STILL_RUNS
from ..outputs.printed import unread
from ..touched.fixers import Stash, around_its_check
from ..touched.replaced import lines_put, replacements
from .attempts import LOOKS, SOON, TELLING, WINDOW, Attempt, attempt
from .commands import are_elsewhere
from .files import is_moot
from .histories import Likely, untold
from .rules import Rule, rules_for

MOST_VOTES = 12
"""How many votes are kept for one step."""
COMMON = 0.15
"""A term that stands in a larger share of an actor's lookups tells nothing."""


ITS_OWN = 20
"""Characters of a line that hardly stands in two edits by chance."""


class Again(NamedTuple):
    """The step that is attempted again, by which rule, and how surely."""

    step: int
    rule: str
    confidence: float
    votes: tuple[Vote, ...]
    """What every rule says that recognises an open failure; the values are step numbers."""


class Retries:
    """One actor's open failures."""

    def __init__(self) -> None:
        self.open: list[Attempt] = []
        self.calls: deque[Attempt] = deque(maxlen=WINDOW)
        self.last: Step | None = None
        self.order = 0
        self.tasks = 0
        self.lookups = 0
        self.spread: Counter[str] = Counter()
        """In how many lookups a term stood."""
        self.stash = Stash()

    def take(self, step: Step, check: Check | None, meant: bool = False) -> Again | None:
        """What a call attempts again; enters it as a failure, or closes what it repaired.

        A failure that was meant is none, nor is a look for what was just taken out. The answer to a
        failed check that hides how it went is attempted again, if soon.
        """
        self.order += not never_ran(step)  # a message's calls are cancelled together
        new = self._rare(attempt(step, self.order, check))
        new = new._replace(before=self.calls, task=self.tasks, away=self._away(new))
        judged = [(old, _rules(old, new)) for old in self.open if _in_mind(old, new)]
        if wants_retry(step) and not meant and not self._finds_gone(new):
            self.open.append(new)
            del self.open[:-WINDOW]
        else:
            self.open = [left for old, rules in judged if (left := _left(old, new, rules))]
            if _hides(new) and any(rules and old.check for old, rules in judged):
                self.open.append(new._replace(hidden=True))
        again = _latest([(old, rules) for old, rules in reversed(judged) if rules])
        self.calls.append(new)
        before, self.last = self.last, step
        return again or _latest_untold(before, step)

    def _away(self, new: Attempt) -> bool:
        """Whether the edits are stashed away when a call runs, or checks what is left."""
        before, behind = around_its_check(None if never_ran(new.step) else new.run)
        self.stash.take(new.order, before)
        away = self.stash.away_since > 0
        self.stash.take(new.order, behind)
        return away

    def _finds_gone(self, new: Attempt) -> bool:
        """Whether a lookup found nothing of what its actor had just taken out of a file."""
        recent = [one.step for one in islice(reversed(self.calls), SOON) if one.side == "change"]
        return new.step.success is True and any(
            len(term) >= TELLING and term in old and term not in text
            for step in recent
            if step.success
            for old, text in replacements(step)
            for term in new.terms
        )

    def _rare(self, new: Attempt) -> Attempt:
        """Keeps the terms that tell this lookup from the actor's others."""
        if not new.terms:
            return new
        self.lookups += 1
        self.spread.update(new.terms)
        most = max(4, COMMON * self.lookups)
        return new._replace(terms=frozenset(t for t in new.terms if self.spread[t] <= most))

    def reopen(self, steps: Iterable[Step], earlier: Iterable[Step]) -> None:
        """The user said that these were wrong, or may mean edits of earlier turns."""
        meant = [attempt(step, self.order, None)._replace(earlier=True) for step in earlier]
        again = {one.step.step for one in meant}
        rest = (one for one in self.open if not (one.earlier and one.step.step in again))
        self.open = [*meant, *rest]
        self.open += [attempt(step, self.order, None) for step in steps]

    def settle(self) -> None:
        """Another task begins: what was called wrong before is not attempted again."""
        self.tasks += 1
        self.open = [
            one for one in self.open if one.step.success is not True or one.step.operation in LOOKS
        ]


def _in_mind(old: Attempt, new: Attempt) -> bool:
    """Whether a failure is not long gone, nor that of the call whose code made this one."""
    recent = new.order - old.order <= (SOON if old.hidden else WINDOW)
    return recent and not made(old.step, new.step)


def _hides(new: Attempt) -> bool:
    """Whether the log hides how a check went; one that still runs shows it later."""
    ground = new.step.grounds.get("success")
    still_runs = ground is not None and ground.rule == STILL_RUNS
    return new.check is not None and new.check.passed is None and not still_runs


def _rules(old: Attempt, new: Attempt) -> list[Rule]:
    """The rules by which one call attempts another again; never within one message, nor does one
    without the edits attempt what failed with them.

    Nor does a check in one folder what had failed in another beside it, unless it never began
    there and this came soon after.
    """
    group = new.step.parallel_group
    if (group is not None and group == old.step.parallel_group) or old.away != new.away:
        return []
    soon = new.order - old.order <= SOON
    if old.check and new.check and (old.check.summary or not soon) and are_elsewhere(old, new):
        return []
    if old.left and old.left.isdisjoint(lines_put(replacements(new.step))):
        return []
    return [rule for rule in rules_for(old, new) if rule.test(old, new)]


def _left(old: Attempt, new: Attempt, rules: list[Rule]) -> Attempt | None:
    """What an attempt that worked leaves of a failure: of an edit of several texts those it left out."""
    if not rules:
        return None if is_moot(old, new) else old
    if old.step.success is not False or not new.step.success or old.side != "change":
        return None
    done = lines_put(replacements(new.step))
    wanted = old.left or lines_put(replacements(old.step))
    left = frozenset(line for line in wanted - done if len(line) >= ITS_OWN)
    return old._replace(left=left) if left and wanted & done else None


def _latest(recognised: list[tuple[Attempt, list[Rule]]]) -> Again | None:
    """The first failure of these, by the first rule that recognises it."""
    return _again([(old.step, rules) for old, rules in recognised])


def _latest_untold(before: Step | None, step: Step) -> Again | None:
    """The command before this one in a history that does not tell whether it worked."""
    rules = untold(before, step) if before is not None else []
    return _again([(before, rules)]) if before is not None and rules else None


def _again(recognised: Sequence[tuple[Step, Sequence[Rule | Likely]]]) -> Again | None:
    if not recognised:
        return None
    votes = (
        Vote(rule.name, str(old.step), rule.confidence)
        for old, rules in recognised
        for rule in rules
    )
    old, rules = recognised[0]
    best = rules[0]
    return Again(old.step, best.name, best.confidence, tuple(islice(votes, MOST_VOTES)))


def wants_retry(step: Step) -> bool:
    """Whether a call failed, never ran, or came back empty."""
    if step.success is False:
        return True
    looks = step.success is True and step.operation in LOOKS and step.like not in POLLS
    return looks and came_back_empty(step)


POLLS = frozenset(["write_stdin", "wait", "BashOutput", "TaskOutput"])
"""Looks at what runs on, which has printed nothing new yet: the next one attempts nothing again."""


def came_back_empty(step: Step) -> bool:
    """A search or lookup whose output holds nothing; an `|| echo WORDS` is an answer.

    With a `!` before it, nothing was to be found.
    """
    run = step.run
    if run is not None and (run.negated or (run.main in SHOW_STATE and not _is_searched(run))):
        return False
    missed = unread(step)
    return step.output is not None and missed.is_all and not missed.commands


def _is_searched(run: Command) -> bool:
    """Whether what Git shows of a commit is only searched."""
    return run.main == "git show" and any(one.name in SEARCHES for one in run.simples)


SHOW_STATE = frozenset(["git status", "git diff", "git log", "git show", "git stash list"])
"""Commands of which an empty output is an answer: nothing has changed."""
