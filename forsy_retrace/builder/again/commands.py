"""Commands that are run again: the same line, the same check, or one much like it."""

import posixpath
from itertools import islice

from forsy_retrace.commands import Command, Simple, classify
from forsy_retrace.patterns import later

from ..checks.places import between_slashes
from ..outputs.printed import scripts
from ..touched.paths import absolute, known_places
from .attempts import LOOKS, NEARLY, SOON, Attempt, operands
from .likeness import are_alike


def same_command(old: Attempt, new: Attempt) -> bool:
    """The same command, wrappers, quoting and viewers at its end aside."""
    is_same = bool(new.line.normal) and old.line.normal == new.line.normal
    return is_same and not _apart(old.line, new.line)


def same_check(old: Attempt, new: Attempt) -> bool:
    """A check of the kind that had failed, by the same tool, which the runner of a script may show; a fixer that mends it is none."""
    if old.check is None or new.check is None or not (old.step.success is False or old.hidden):
        return False
    if new.step.operation == "edit" and new.step.success:
        return False
    if old.check.kind != new.check.kind or old.check.kind == "read-back":
        return False
    if _tools(old).isdisjoint(_tools(new)):
        return False
    if _other_task(old.line, new.line):
        return False
    since = any(edit > old.step.step for edit in new.check.edits)
    anew = since and _same_program(old.line, new.line)
    if old.check.kind == "run" and not anew and not _same_run(old.line, new.line):
        return False  # with other words, and nothing mended, it shows another thing
    began = old.check.passed is not None or old.hidden
    if not began and bool(old.line.covers) != bool(new.line.covers):
        return new.order - old.order <= SOON
    return not _cover_others(old.line, new.line)


def are_elsewhere(old: Attempt, new: Attempt) -> bool:
    """Whether two lines ran in folders of which neither holds the other, however written, and stayed."""
    if old.run is None or new.run is None or not old.step.cwd or not new.step.cwd:
        return False
    if any(known_places(run) < len(run.simples) for run in (old.run, new.run)):
        return False
    places = (absolute(one.run.cwd or ".", one.step.cwd) for one in (old, new) if one.run)
    a, b = (between_slashes(place).lower() for place in places)
    return "$" not in a + b and a not in b and b not in a


def _same_run(old: Command, new: Command) -> bool:
    """The same line, or the same program with the same operands wherever they lie."""
    return old.normal == new.normal or targets(old) == targets(new)


def _same_program(old: Command, new: Command) -> bool:
    """Whether two lines run a program of one name; where they name none by a file, by one tool."""
    a, b = ({posixpath.basename(path) for path in _programs(run)} for run in (old, new))
    return not a.isdisjoint(b) if a or b else old.main == new.main


def _programs(run: Command) -> list[str]:
    return [path for one in run.simples if one.rule == "run-program" for path in one.reads]


def _other_task(old: Command, new: Command) -> bool:
    """Whether two lines run tasks of different names, of which neither mends what the other checks."""
    if not _tasks(old).isdisjoint(_tasks(new)):
        return False
    a, b = (_task(run) for run in (old, new))
    parts = {*a.split(":"), *b.split(":")}
    mends = a.split(":")[0] == b.split(":")[0] and not MENDING.isdisjoint(parts)
    return bool(a and b) and a != b and not mends


MENDING = frozenset(["fix", "write"])
"""Parts of a task's name that mends what it finds: `lint:fix`."""


def _tasks(run: Command) -> set[str]:
    """The tasks that check something on a line, whatever it is for."""
    return {one.name for one in run.simples if one.check and one.rule.startswith("script:")}


def _task(run: Command) -> str:
    """The task that a line is for, by its name; empty where it is for none."""
    is_task = any(one.name == run.main and one.rule.startswith("script:") for one in run.simples)
    return run.main.split()[-1] if is_task else ""


def _tools(one: Attempt) -> set[str]:
    """By which tools a check ran: its line's, those that stand before what the line is for, and
    those that the runner of a script shows."""
    shown = (classify(line) for line in scripts(one.step))
    kind = one.check.kind if one.check else None
    before = (x.name.split()[0] for x in one.line.simples if x.check == kind and not x.captured)
    return {family(one.line), *before, *(family(run) for run in shown if run.check == kind)}


def family(run: Command) -> str:
    return run.main.split()[0] if run.main else ""


def similar_command(old: Attempt, new: Attempt) -> bool:
    """The same program with something changed, soon after."""
    if old.line.check is not None and old.line.check != new.line.check:
        return False
    if old.side == new.side == "change":
        return False  # patches are alike whatever they change
    if _cover_others(old.line, new.line) or _looks_for_others(old, new):
        return False
    if old.line.main in LISTS and _looks_inside(old) != _looks_inside(new):
        return False
    if old.line.main in LISTS and old.terms and not new.terms:
        return False  # files of a name, and then any files
    likely = old.line.main == new.line.main and _same_target(old, new)
    if not likely and not _shares_script(old.line, new.line):
        return False
    if _run_other_programs(old.line, new.line):
        return False
    if _wordless(old.line) == _wordless(new.line):
        return True
    soon = new.order - old.order <= SOON
    if soon and old.step.success is False and new.line.normal.startswith(f"{old.line.normal} "):
        return True
    floor = 0.55 if new.order - old.order <= 2 * SOON else 0.8
    return are_alike(old.line.normal, new.line.normal, floor)


def _looks_for_others(old: Attempt, new: Attempt) -> bool:
    """Whether two searches are for words of which none is much like one of the other."""
    if not old.terms or not new.terms:
        return False
    return not any(are_alike(x, y, NEARLY) for x in old.terms for y in new.terms)


LISTS = frozenset(["find", "fd", "git ls-files", "ls"])
"""Commands that print the names of files."""
INSIDE = later(r"(?:\bxargs|-exec|-x)\s[^|;&]{0,200}\b(?:[ef]?grep|rg|ag)\b")
"""How a line looks for words in the files that it lists."""


def _looks_inside(one: Attempt) -> bool:
    """Whether a line that lists files looks for words in them, not in their names."""
    return INSIDE.search(one.step.input or "") is not None


def _cover_others(old: Command, new: Command) -> bool:
    """Whether two checks are limited to different things: files, or tests by their names."""
    a, b = ({one.strip("^$") for one in run.covers} for run in (old, new))
    names = ({name for x in one if NAME.fullmatch(x) for name in x.split("|")} for one in (a, b))
    return _are_apart(a, b) or _are_apart(*names)


def _are_apart(a: set[str], b: set[str]) -> bool:
    """Whether both hold something, and nothing of one stands in anything of the other."""
    return bool(a and b) and not any(x in y or y in x for x in a for y in b)


NAME = later(r"[\w|]+")
"""A test's name, not a path."""


def _same_target(old: Attempt, new: Attempt) -> bool:
    """Whether two commands share an operand, name one nearly alike, or have none."""
    if old.step.operation in LOOKS and new.step.operation in LOOKS and old.paths and new.paths:
        return bool(old.paths & new.paths) and not _apart(old.line, new.line)
    a, b = targets(old.line), targets(new.line)
    if not a or not b or a & b or any(KEY.fullmatch(x) and x in new.line.normal for x in a):
        return True
    if old.line.main in BY_NAME:
        return False
    return any(are_alike(x, y, NEARLY) for x in islice(a, 8) for y in islice(b, 8))


BY_NAME = frozenset(["git show"])
"""Commands that are told what to show by a name that is much like that of the next thing."""


KEY = later(r"\d{6,}")
"""A number that names one thing, wherever it stands."""


def targets(run: Command) -> set[str]:
    """What the command that a line is for works on, paths by their last part."""
    return {posixpath.basename(one.rstrip("/")) or one for one in things(run)}


def things(run: Command) -> set[str]:
    """What the command that a line is for works on, as it names it; no messages."""
    return {
        operand
        for simple in run.simples
        if simple.name == run.main or simple.words[:1] == (run.main,)
        for operand in operands(simple)
        if len(operand) <= MESSAGE and "\n" not in operand
    }


SAID = frozenset(["-m", "-am", "--message", "--title", "--body", "--notes"])
"""Flags whose value is a text for people."""


def _wordless(run: Command) -> list[str]:
    """The words of a line without what it says to people."""
    return [word for simple in run.simples for word in unsaid(simple)]


def unsaid(simple: Simple) -> list[str]:
    words = simple.words
    return [w for at, w in enumerate(words) if at == 0 or words[at - 1] not in SAID]


MESSAGE = 80
"""Characters past which an operand is a text, not a name."""
RANGE = later(r"(\d+)(?:,(\d+))?p")


def _apart(old: Command, new: Command) -> bool:
    """Whether two commands show line ranges that do not meet, or one of them a file's end."""
    a, b = (
        [found for s in run.simples for w in s.words if (found := RANGE.fullmatch(w))]
        for run in (old, new)
    )
    if not a or not b:
        other = new if a else old
        return bool(a or b) and any(simple.name == "tail" for simple in other.simples)
    (first, last), (start, end) = ((int(x[1]), int(x[2] or x[1])) for x in (a[0], b[0]))
    return last < start or end < first


def _run_other_programs(old: Command, new: Command) -> bool:
    """Whether both lines hold programs of some lines, of which few stand in both.

    What programs of one language open with is alike whatever they do.
    """
    a, b = (
        {line for _, text in run.inline for row in text.splitlines() if (line := row.strip())}
        for run in (old, new)
    )
    a, b = ({line for line in lines if not OPENS.match(line)} for lines in (a, b))
    return min(len(a), len(b)) >= PROGRAM and len(a & b) < FEW * min(len(a), len(b))


OPENS = later(r"(?:import|from|use|require|package)\b|#|//|[\W_]*\Z")
"""A line by which no program is known: what it imports, and lone brackets."""
PROGRAM = 3
"""Telling lines by which a program is known."""
FEW = 0.25


def _shares_script(old: Command, new: Command) -> bool:
    """A scratch program that was sent again in another way."""
    return "<<" in old.normal and "<<" in new.normal
