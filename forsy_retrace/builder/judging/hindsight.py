"""What came later: who repeated, used, accepted, retried or checked what a step did."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import takewhile

from forsy_retrace.events import SHELL
from forsy_retrace.frames import shown_of
from forsy_retrace.patterns import later
from forsy_retrace.trace import Check, Step, Tokens, Touch, Trace

from ..causes.distinctive import is_camel
from ..classify import command, reports
from ..tools import PLAN_EXITS
from ..touched.edits import edits_of
from ..variants import beside, left, thumbs
from ..words.cited import lines_named
from ..words.claims import said_to_pass
from ..words.messages import finds_fault
from .ending import accepts
from .meant import meant


class Hindsight:
    """What came later: uses, answers, retries, and the checks over each edit."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.meant = meant(trace)
        heard = _Heard(trace)
        self.answers = _answers(trace, heard)
        self.given = _given(trace)
        self.reported = _reported(trace, heard)
        self.touched = edits_of(trace)
        self.cited = _cited(trace, heard, self.touched)
        self.commits = _commits(trace, heard)
        self.claimed = _claimed(trace, heard)
        self.retried = _retried(trace)
        self.accepted = _accepted(trace)
        self.beside = beside(trace)
        self.left = left(trace)
        self.thumbs = thumbs(trace)
        self.looks = _looks_for_a_fault(trace)
        self.ended = _ended(trace)
        self.checked: dict[int, list[Check]] = {}
        """Each edit's checks of which the log tells how they went, in order."""
        self.first_passed: dict[int, Check] = {}
        left_out = self.meant | self.looks
        for check in trace.checks.values():
            is_told = check.passed is not None and check.step not in left_out
            for edit in check.over if is_told else ():
                self.checked.setdefault(edit, []).append(check)
                if check.passed:
                    self.first_passed.setdefault(edit, check)

    def passed(self, edit: int, before: int) -> Check | None:
        """The first check that passed over an edit before a step."""
        first = self.first_passed.get(edit)
        return first if first and first.step < before else None

    def failed(self, edit: int, before: int) -> Check | None:
        """A check that failed over an edit before a step, with none of its kind that passed since.

        Of an earlier turn the last check of any kind counts: what the user asks next may be new.
        """
        held, steps = self.checked.get(edit, []), self.trace.steps
        held = held[: bisect_left(held, before, key=lambda check: check.step)]
        if any(check.passed and check.kind != "ci" for check in held):
            # CI fails for one of many edits: hardly for one that had passed another check.
            held = [check for check in held if check.kind != "ci"]
        turn = steps[before - 1].turn
        recent = [check for check in held if steps[check.step - 1].turn == turn] or held[-1:]
        last = {check.kind: check for check in recent}
        failed = next((check for check in last.values() if not check.passed), None)
        if failed is None:
            return None
        of_kind = [check for check in recent if check.kind == failed.kind]
        since = takewhile(lambda check: not check.passed, reversed(of_kind))
        return next((check for check in since if check.summary), failed)


class _Heard:
    """Whose steps stand behind words: an answer's actor's own, a report's subagents'."""

    def __init__(self, trace: Trace) -> None:
        self.delegations = trace.delegations
        self.started: dict[int, list[str]] = {}
        for actor, start in trace.delegations.items():
            self.started.setdefault(start, []).append(actor)

    def by(self, step: Step) -> Sequence[str]:
        """The actors whose steps an answer or a report may repeat."""
        if not reports(step):
            return (step.actor,)
        return self.started.get(self.start(step) or 0, ())

    def start(self, report: Step) -> int | None:
        """The call that started what a report tells of."""
        return report.step if report.call else self.delegations.get(report.actor, report.answers)


def _answers(trace: Trace, heard: _Heard) -> dict[int, int]:
    """Step to the first later answer, or subagent's report, that repeats what only it showed."""
    said_by_words = _Telling(trace.tokens)
    told = {s.step: said_by_words.of(s.output or "", words=True) for s in trace.steps if _tells(s)}
    wanted = _Telling(trace.tokens, set().union(*told.values()))
    first: dict[str, dict[str, int]] = {}
    """What each actor was shown, and by which step; 0 where several did, each in its own way."""
    said: set[str] = set()
    found: dict[int, int] = {}
    for step, is_over in _in_time(trace):
        if not is_over:
            said |= wanted.of(step.input or "")
            continue
        for actor in heard.by(step) if step.step in told else ():
            shown = first.get(actor, {})
            for number in {shown[value] for value in told[step.step] & shown.keys() - said}:
                if number:
                    found.setdefault(number, step.step)
        if step.call is None:
            said |= wanted.of(step.input or step.output or "", words=True)
        elif step.success is not False:
            shown = first.setdefault(step.actor, {})
            for value in wanted.of(shown_of(step.output or "")[:MAX_TEXT]) - said:
                before = shown.setdefault(value, step.step)
                if before and trace.steps[before - 1].input != step.input:
                    shown[value] = 0
    return found


def _in_time(trace: Trace) -> Iterator[tuple[Step, bool]]:
    """Calls as they begin, and all steps as they are over: a call of subagents after their last."""
    last = {step.actor: step.step for step in trace.steps}
    ends: dict[int, int] = {}
    for actor, start in trace.delegations.items():
        ends[start] = max(ends.get(start, start), last.get(actor, start))
    waiting: dict[int, list[Step]] = {}
    for step in trace.steps:
        if step.call is not None:
            yield step, False
        waiting.setdefault(ends.get(step.step, step.step), []).append(step)
        for one in reversed(waiting.pop(step.step, [])):
            yield one, True


def _over(trace: Trace) -> Iterator[Step]:
    """The steps in the order in which they were over."""
    return (step for step, is_over in _in_time(trace) if is_over)


HASH = re.compile(r"(?<![\w/-])(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}(?![\w-])")
"""A commit's name: letters and digits, of which the first seven tell it."""
BRIEF = 5_000
"""Characters of a text in which such names are looked for: git says no more of one commit."""


def _commits(trace: Trace, heard: _Heard) -> dict[int, int]:
    """Calls to the first later answer, or report, that names a commit which they showed first."""
    first: dict[str, dict[str, int]] = {}
    said: set[str] = set()
    found: dict[int, int] = {}
    for step in _over(trace):
        for actor in heard.by(step) if _tells(step) else ():
            shown = first.get(actor, {})
            for name in _hashes(step.output) & shown.keys():
                found.setdefault(shown[name], step.step)
        if step.call is None:
            said |= _hashes(step.input or step.output)
        elif step.success is not False and _asks_git(step):
            said |= _hashes(step.input)
            shown = first.setdefault(step.actor, {})
            for name in _hashes(step.output) - said:
                shown.setdefault(name, step.step)
    return found


def _asks_git(step: Step) -> bool:
    run = command(step)
    return step.surface == "api" or (run is not None and not GIT.isdisjoint(run.programs))


GIT = frozenset(["git", "gh", "glab", "hub", "jj"])
"""Programs that print the names of commits."""


def _hashes(text: str | None) -> set[str]:
    return {name[:7] for name in HASH.findall(text[:BRIEF])} if text else set()


def _given(trace: Trace) -> dict[int, int]:
    """Step to the first later answer that is its whole output, where the user had not said it."""
    shown: dict[tuple[str, str], int] = {}
    """By the actor and the words."""
    asked: list[str] = []
    found: dict[int, int] = {}
    for step in trace.steps:
        output = step.output or ""
        text = shown_of(output).strip(BARE_ENDS) if len(output) <= BRIEF else ""
        if step.action == "user_message":
            asked.append(step.input or "")
        elif step.call is not None and step.success is not False:
            shown[step.actor, text] = step.step
        elif step.action == "output" and len(text) >= LEAST_GIVEN:
            number = shown.get((step.actor, text))
            if number is not None and not any(text in words for words in asked):
                found.setdefault(number, step.step)
    return found


BARE_ENDS = " \t\r\n*_`"
"""Blanks, and the signs that make an answer bold or code."""
LEAST_GIVEN = 3
"""Characters of an answer below which it may be like a result by chance."""

MOST_READS = 20
"""Reads of files of one name among which a line is looked for, the latest first."""


def _cited(trace: Trace, heard: _Heard, touched: dict[int, list[Touch]]) -> dict[int, int]:
    """Reads to the first later answer, or report, that names a line which they showed last."""
    reads: dict[tuple[str, str], list[Touch]] = {}
    """By their actor and the file's name."""
    found: dict[int, int] = {}
    for step in _over(trace):
        for actor in heard.by(step) if _tells(step) else ():
            for name, line in lines_named(step.output or ""):
                for read in reversed(reads.get((actor, name), [])[-MOST_READS:]):
                    if _showed(read, line, trace):
                        found.setdefault(read.step, step.step)
                        break
        for touch in touched.get(step.step, ()):
            if touch.kind == "read":
                name = touch.path.rsplit("/", 1)[-1]
                reads.setdefault((step.actor, name), []).append(touch)
    return found


def _showed(read: Touch, line: int, trace: Trace) -> bool:
    """Whether a read that worked put that line before its actor."""
    step = trace.steps[read.step - 1]
    if read.first is None:
        return step.success is True and step.like == "Read"
    return step.success is True and read.first <= line <= (read.last or read.first)


def _tells(step: Step) -> bool:
    return step.action == "output" or reports(step)


def _reported(trace: Trace, heard: _Heard) -> dict[int, int]:
    """Reads by subagents to the report that names the file."""
    reads = _reads_by_subagents(trace)
    found: dict[int, int] = {}
    for step in filter(reports, trace.steps):
        told = (step.output or "").replace("\\", "/")
        for number, path in reads.get(heard.start(step), ()):
            if number not in found and _names(told, path):
                found[number] = step.step
    return found


BESIDE = later(r"""[\s"'`()\[\]{}<>|,;:*=]""")
"""What stands beside a path in running words, and in none."""
ROOT = later(r"(?:\.{0,3}/|[@~…])*")
"""How a path may begin whose upper folders are left out."""
GOES_ON = later(r"\w|[./-]\w")
"""How a name goes on that only begins with another."""
MAX_FOLDERS = 400
"""Characters of the folders before a name."""


def _names(text: str, path: str) -> bool:
    """Whether a text names a file: by its name alone, or with the last of its folders before it."""
    name, at = path.rpartition("/")[2], -1
    while (at := text.find(name, at + 1)) >= 0:
        before = ROOT.sub("", BESIDE.split(text[max(0, at - MAX_FOLDERS) : at])[-1], 1)
        ends_there = GOES_ON.match(text, at + len(name)) is None
        if ends_there and f"/{path}".endswith(f"/{before}{name}"):
            return True
    return False


def _reads_by_subagents(trace: Trace) -> dict[int | None, list[tuple[int, str]]]:
    """For each call that started subagents, the steps in which they read a file, and its path."""
    found: dict[int | None, list[tuple[int, str]]] = {}
    for touch in trace.touches:
        here = trace.steps[touch.step - 1]
        if touch.kind != "read" or not here.success or len(touch.path.rpartition("/")[2]) < 6:
            continue
        if here.actor in trace.delegations:
            found.setdefault(trace.delegations[here.actor], []).append((touch.step, touch.path))
    return found


def _looks_for_a_fault(trace: Trace) -> set[int]:
    """The read-backs behind words that correct, before anything is changed: none tells that it is well.

    Where the user took up a plan since, the words are met.
    """
    is_corrected = False
    found: set[int] = set()
    for step in trace.steps:
        if step.action == "user_message":
            is_corrected = finds_fault(step)
        elif step.success and (step.operation in ("edit", "write") or step.like in PLAN_EXITS):
            is_corrected = False
        check = trace.checks.get(step.step) if is_corrected else None
        if check is not None and check.kind == "read-back":
            found.add(check.step)
    return found


def _claimed(trace: Trace, heard: _Heard) -> dict[int, int]:
    """Checks to the answer, or report, of their turn that says that checks of their kind passed.

    Of several that passed one after another, the first told what is said.
    """
    passed: dict[tuple[str, str], int] = {}
    """By the actor and the kind."""
    found: dict[int, int] = {}
    for step in _over(trace):
        check = trace.checks.get(step.step)
        if step.action == "user_message":
            passed.clear()
        elif check is not None and check.passed is not None:
            if check.passed:
                passed.setdefault((step.actor, check.kind), check.step)
            else:
                passed.pop((step.actor, check.kind), None)
        elif _tells(step):
            actors = heard.by(step)
            for kind in set(said_to_pass(step.output or "")):
                for number in filter(None, (passed.get((actor, kind)) for actor in actors)):
                    found.setdefault(number, step.step)
    return found


def _ended(trace: Trace) -> dict[int, int]:
    """Looks at commands that ran on to the step that began the one whose end they told."""
    ends: dict[tuple[str, int, int], int] = {}
    for step in trace.steps:
        if step.result is not None and step.result.end is not None:
            ends[step.result.end.origin.evidence.record] = step.step
    found: dict[int, int] = {}
    for step in trace.steps if ends else ():
        began = ends.get(step.result.origin.evidence.record) if step.result is not None else None
        if began is not None and began < step.step:
            found[step.step] = began
    return found


def _accepted(trace: Trace) -> dict[int, int]:
    """Plans, questions and edits to the step in which the user took them up."""
    found: dict[int, int] = {}
    plan: list[int] = []
    edits: list[int] = []
    for step in trace.steps:
        if step.action == "user_message":
            if step.answers and trace.steps[step.answers - 1].operation == "ask_user":
                found[step.answers] = step.step
            if step.via == "typed" and accepts(step, trace.steps):
                found.update(dict.fromkeys(edits, step.step))
            if step.feedback_type == "correction":
                edits = []
        elif step.like in PLAN_EXITS:
            if step.success:
                found.update(dict.fromkeys([*plan, step.step], step.step))
            plan = []
        elif step.success and step.operation == "plan" and step.surface == "file":
            plan.append(step.step)
        elif step.success and step.operation in ("edit", "write"):
            edits.append(step.step)
    return found


MAX_TEXT = 200_000
"""Characters of one output that are looked at."""
JOINED = re.compile(r"[/_.-]")
WORD = re.compile(r"[A-Za-z_]\w{7,}", re.A)
NUMBER = re.compile(r"\d(?<![\w.]\d)[\d,.]{0,30}\d(?:ms|s|%|kB|MB|x)?(?![\w])")
THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+")
"""A number as people write it; a program prints it without the commas."""
COUNT = re.compile(r"(?:\b([A-Za-z]+)\W{1,3})?(?<![\w.:/#-])(\d{2,3})\+?\*{0,2} [A-Za-z]")
"""How words say a count: what of is told behind it."""
NUMBERED = later(
    r"(?i)(?:lines?|rows?|columns?|steps?|pages?|ports?|codes?|status|exit|http|issues?|pr|no|v|versions?"
    r"|items?|chapters?|sections?|node|python|java|ruby|php|go|ubuntu|debian|fedora|postgres"
    r"|jan\w*|feb\w*|mar(?:ch)?|apr\w*|may|june?|july?|aug\w*|sep\w*|oct\w*|nov\w*|dec\w*)"
)
"""A word before a number that is no count, but which of several."""
BARE = re.compile(r"\s*(\d{2,3})(?: total)?\s*")
"""An output that is nothing but a count."""


class _Telling(dict[str, tuple[str, ...]]):
    """Values that an answer would repeat only because it read them; of those wanted, if any are."""

    def __init__(self, tokens: Tokens, wanted: set[str] | None = None) -> None:
        super().__init__()
        self.tokens, self.wanted = tokens, wanted

    def of(self, text: str, *, words: bool = False) -> set[str]:
        """Those of a text; of words, also what they count."""
        found = set().union(*map(self.__getitem__, set(self.tokens.of(text))))
        numbers = [_plain(number) for number in NUMBER.findall(text)]
        numbers = [number for number in numbers if len(number) >= 4]
        if words:
            counts = ((before, number) for before, number in COUNT.findall(text))
            numbers += (f"count {n}" for before, n in counts if not NUMBERED.fullmatch(before))
        elif len(text) < 40 and (bare := BARE.fullmatch(text)):
            numbers.append(f"count {bare[1]}")
        return found | (set(numbers) if self.wanted is None else self.wanted.intersection(numbers))

    def __missing__(self, token: str) -> tuple[str, ...]:
        value = token.strip(".:-#/+%~@")
        found = [value] if len(value) >= 8 and JOINED.search(value) else []
        found += (word for word in WORD.findall(token) if is_camel(word))
        if self.wanted is not None:
            found = [one for one in found if one in self.wanted]
        self[token] = held = tuple(found)
        return held


def _plain(number: str) -> str:
    return number.replace(",", "") if THOUSANDS.fullmatch(number) else number


def _retried(trace: Trace) -> dict[int, int]:
    """Steps to the first that attempts them again; a guess of a history's counts for nothing."""
    found: dict[int, int] = {}
    for step in trace.steps:
        if step.retry_of is not None:
            old = trace.steps[step.retry_of - 1]
            if old.actor != SHELL or old.success is not None:
                found.setdefault(step.retry_of, step.step)
    return found
