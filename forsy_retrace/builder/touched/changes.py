"""What the log proves that a step changed, or put before its actor: a table of named rules."""

import posixpath
from collections.abc import Callable
from typing import NamedTuple

from forsy_retrace.commands import MOVES, REMOVES, Command, Simple
from forsy_retrace.events import SHELL, ToolResult
from forsy_retrace.evidence import derived
from forsy_retrace.patterns import later
from forsy_retrace.trace import Step, Touch, put

from ..outcome import never_ran
from ..outputs.begun import NO_SYNTAX
from ..outputs.failures import CANCELLED
from ..outputs.gaps import is_cut
from ..outputs.printed import bare_output, shows_none, unread
from ..reached.answered import Page, answer, page_changed, rows_changed, status_of
from ..tools import PLAN_EXITS
from .fixers import BY_GIT, may_have_fixed
from .paths import absolute, base_of, shown
from .ranges import read_in_parts
from .replaced import leaves_as_it_is
from .repository import committed, pushed, told_by_git, torn
from .scratch import EDITS
from .tool_lines import said
from .touches import NO_FILE


class Sight(NamedTuple):
    """What a rule looks at beside the step itself."""

    touched: list[Touch]
    run: Command | None
    asked: list[Touch]
    """What the call asked to write or replace, where it may have done no more to that file."""
    page: Page | None
    """The page that the actor's browser showed before."""
    known: frozenset[str]
    """The files, of those touched, that stood there before by what the log shows."""


class Rule(NamedTuple):
    """A way to see what changed; all are the log's own word."""

    name: str
    sentence: str
    tell: Callable[[Step, Sight], str | None]


def changed(
    step: Step,
    touched: list[Touch],
    page: Page | None = None,
    known: frozenset[str] = frozenset(),
) -> Step:
    """What the log proves changed; null where it shows nothing."""
    assert step.origin is not None
    if (step.call is None or step.result is None) and step.via != "interrupted":
        return step
    sight = _sight(step, touched, page, known)
    for rule in RULES:
        if (text := rule.tell(step, sight)) is not None:
            here = _shown_by(step).origin if step.result else step.origin
            return put(step, {"state_change": derived(rule.name, here.evidence)}, state_change=text)
    return step


def _shown_by(step: Step) -> ToolResult:
    """What shows how a call ended: the later output of one that had only begun, or its result."""
    assert step.result is not None
    ended_later = step.success is False or step.result.outcome == "launched"
    return step.told if ended_later and step.told else step.result


def _sight(step: Step, touched: list[Touch], page: Page | None, known: frozenset[str]) -> Sight:
    run = step.run
    asked = [t for t in touched if t.kind in ("edit", "write") and (t.added or t.removed)]
    if run is not None:  # it may do more to a file than it shows
        unseen = {t.path for t in touched if t.kind != "read" and t not in asked}
        asked = [t for t in asked if t.path not in unseen]
    return Sight(touched, run, asked, page, known)


def _plan_accepted(step: Step, _: Sight) -> str | None:
    if step.result is None or step.like not in PLAN_EXITS or not step.success:
        return None
    how = " after changing it" if step.result.amended else ""
    return f"The user accepted the plan (step {step.step}){how}."


def _never_ran(step: Step, _: Sight) -> str | None:
    if step.told is None or not never_ran(step):
        return None
    why = "was rejected" if step.told.outcome == "rejected" else "was blocked before it started"
    if step.told.rule == "sibling-failed":
        why = CANCELLED
    return f"No change: the call never ran, it {why}."


def _interrupted(step: Step, _: Sight) -> str | None:
    """By the user, as a notice or the rule of the outcome says; a crash or a limit interrupts too."""
    if step.result is not None and step.result.outcome != "interrupted":
        return None
    is_by_user = step.result is None or step.result.rule.endswith("by-user")
    return f"Interrupted{' by the user' if is_by_user else ''}; no change recorded."


def _recorded_patch(step: Step, sight: Sight) -> str | None:
    changes = [t for t in sight.touched if t.kind in EDITS and t.change]
    if not changes or step.result is None:
        return None
    said = [_patched(touch, step) for touch in changes]
    said += ["The user changed the edit before accepting it."] * step.result.amended
    return " ".join([*said, *_committed(step)])


def _commit_line(step: Step, sight: Sight) -> str | None:
    commit = committed(step, sight.run) if sight.run is not None else ""
    return " ".join([commit, *_by_git(step, sight)]) if commit else None


def _recorded_commit(step: Step, sight: Sight) -> str | None:
    commit = _committed(step)
    asked = [_patched(touch, step) for touch in sight.asked] if step.success else []
    return " ".join([*asked, *commit, *_by_git(step, sight)]) if commit else None


def _committed(step: Step) -> list[str]:
    commit = step.result.commit if step.result is not None else ""
    return [f"A new commit: {commit}."] if commit else []


def _arguments(step: Step, sight: Sight) -> str | None:
    if step.success is None or not sight.asked:
        return None
    said = [_patched(touch, step) for touch in sight.asked]
    return " ".join([*said, *_by_git(step, sight)])


def _removed(step: Step, sight: Sight) -> str | None:
    """What a command was told to take away, where nothing was left unsaid had it not been there."""
    gone = [touch.path for touch in sight.touched if touch.kind in ("removed", "folder removed")]
    simples = sight.run.simples if sight.run is not None and gone and step.success else ()
    if not simples or any(one.name in MOVES for one in simples):
        return None
    if FORGIVES.search(step.input or "") or COMPLAINS.search(step.printed):
        return None
    removing = {at: one for at, one in enumerate(simples) if one.name in REMOVES}
    words = {word for one in removing.values() for word in one.words[1:]}
    if not (sight.run and removing.keys().isdisjoint(sight.run.unsure)):
        return None
    if any(map(FORCE.match, words)) and not sight.known.issuperset(gone):
        return None
    names = [shown(path, step.cwd) for path in dict.fromkeys(gone)]
    told = " and ".join(names) if len(names) <= MOST_GONE else f"{len(names)} files"
    said = f"{told} {'was' if len(names) == 1 else 'were'} removed."
    return " ".join([said, *_by_git(step, sight)])


FORGIVES = later(r"2>|&>|\|\|")
"""What hides or forgives that a file was not there."""
FORCE = later(r"-[a-zA-Z]*f|--force\b")
COMPLAINS = later(r"(?m)^(?:rm|rmdir|unlink|sudo|fatal|error): |cannot remove|No such file")
MOST_GONE = 3


def _git_line(step: Step, sight: Sight) -> str | None:
    return " ".join(_by_git(step, sight)) or None


def _by_git(step: Step, sight: Sight) -> list[str]:
    """What Git says of the rest, new commits aside."""
    run = sight.run
    return [] if run is None else [*told_by_git(step, run), *torn(step, run), *pushed(step, run)]


def _page(step: Step, sight: Sight) -> str | None:
    return page_changed(step, sight.page)


def _rows(step: Step, _: Sight) -> str | None:
    return rows_changed(step)


def _answer(step: Step, _: Sight) -> str | None:
    return answer(step)


def _failed(step: Step, sight: Sight) -> str | None:
    """A command that may have changed something before it failed is no proof of none."""
    if step.success is not False or sight.asked:
        return None
    wrote = any(touch.kind != "read" for touch in sight.touched)
    run = sight.run
    if run and (wrote or may_have_fixed(step, run) or _went_on_behind_a_change(step, run)):
        return None
    code = step.told.exit_code if step.told else None
    status = status_of(step)
    how = [f"exit code {code}"] * bool(code) + [f"status {status}"] * bool(status)
    return f"No change recorded: the call failed{' with ' * bool(how)}{' and '.join(how)}."


def _went_on_behind_a_change(step: Step, run: Command) -> bool:
    """Whether a command that changes something stood before another that may be what failed.

    Not where the line never began, or opens with the complaint of the first of them.
    """
    text = bare_output(step).strip()
    if NO_SYNTAX.match(text):
        return False
    started = (one for at, one in enumerate(run.simples) if not one.captured and _goes_on(run, at))
    first = next(filter(_changes, started), None)
    if first is None:
        return False
    program = first.words[0]
    return not COMPLAINT_OF_GIT.match(text) if program == "git" else not _named_first(program, text)


def _goes_on(run: Command, at: int) -> bool:
    """Whether another command than a viewer stands behind one."""
    return any(one.role != "view" and not one.captured for one in run.simples[at + 1 :])


def _changes(one: Simple) -> bool:
    """Whether a command changes something, where it works."""
    if any(not NO_FILE.match(path) for path in one.writes):
        return True
    return one.name in BY_GIT or one.name in CHANGES_GIT or one.operation in ("install", "download")


def _named_first(program: str, text: str) -> bool:
    """Whether an output opens with a program's own complaint, or the shell's."""
    return (
        text.startswith(f"{posixpath.basename(program)}: ") or OF_THE_SHELL.match(text) is not None
    )


OF_THE_SHELL = later(
    r"(?:ba|da|z)?sh: (?:line \d+: )?[^\n:]{1,200}: (?:No such file|Permission denied|Is a directory|Read-only)"
)
"""How the shell says that it could not put anything into a file."""
COMPLAINT_OF_GIT = later(r"(?:fatal|error): |The following paths are ignored")
CHANGES_GIT = frozenset(
    f"git {name}" for name in ("add", "rm", "mv", "commit", "push", "fetch", "clone", "init")
)
"""What changes a repository, and no file of the work."""


def _gained_context(step: Step, sight: Sight) -> str | None:
    """Nothing where nothing came, where it came with a later call, or of a history of commands."""
    if step.success is False or step.result is None or sight.asked:
        return None
    if step.actor == SHELL or unread(step).is_all or step.result.outcome == "launched":
        return None
    if step.operation == "read" and not shows_none(step):
        return _gained(step, sight.touched)
    if step.operation == "search" and not (sight.run is not None and sight.run.negated):
        if any(touch.kind == "read" for touch in sight.touched):
            return _gained(step, sight.touched)
        return f"{_context(step)} gained its matches."
    return None


RULES = (
    Rule("plan-accepted", "The plan tool came back without a rejection.", _plan_accepted),
    Rule("never-ran", "A call that was rejected or blocked changed nothing.", _never_ran),
    Rule("interrupted", "A call that was stopped; the log shows no change.", _interrupted),
    Rule("recorded-patch", "What the harness itself recorded of the file.", _recorded_patch),
    Rule("commit-line", "Git's own line for a new commit.", _commit_line),
    Rule("recorded-commit", "A commit that the harness recorded at the call.", _recorded_commit),
    Rule(
        "arguments-of-the-edit",
        "What the call asked to replace or write, where it worked.",
        _arguments,
    ),
    Rule(
        "removed",
        "Files that a command removed which complains where one is not there, or that were known to be.",
        _removed,
    ),
    Rule("git-line", "Git's own lines for what it did, here and at the other side.", _git_line),
    Rule(
        "tool-line",
        "What a package manager, a fixer, a tracker or the harness says in a line of its own that it did.",
        lambda step, _: said(step),
    ),
    Rule("failed", "A call that failed; the log shows no change.", _failed),
    Rule(
        "page-shown", "The page that a browser shows behind a call which did more than look.", _page
    ),
    Rule("rows-counted", "The rows that a database counts, and its word for tables.", _rows),
    Rule(
        "answer-names",
        "The ids and addresses that a service's answer names, or its one line.",
        _answer,
    ),
    Rule("context-gained", "What a read or a search put before its actor.", _gained_context),
)
"""The first that says something decides."""


def _patched(touch: Touch, step: Step) -> str:
    name = shown(touch.path, step.cwd)
    if touch.kind == "delete":
        return f"{name} was deleted."
    change = touch.change
    if change is not None and not change.hunks and change.after is None and change.before is None:
        return f"{name} was {'created' if change.kind == 'created' else 'changed'}."
    if touch.change is not None and touch.change.kind == "created":
        return f"{name} was created: {_lines(len(touch.added))}."
    if leaves_as_it_is(touch):
        return f"{name} was written as it already was."
    if change is None and touch.kind == "write":
        # What stood there before, if anything did, the log does not hold.
        return f"{name} was written: {_lines(len(touch.added))}."
    return f"{name}: {_lines(len(touch.added))} added, {len(touch.removed)} removed."


def _lines(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"


def _gained(step: Step, touched: list[Touch]) -> str:
    """What a read put before its actor."""
    run = step.run
    ends = {absolute(path, base_of(step)): end for path, end in read_in_parts(step).items()}
    was_cut = run is not None and is_cut(bare_output(step))
    names = []
    for touch in touched:
        if touch.kind == "read":
            name, lines = shown(touch.path, step.cwd), lines_read(touch)
            if lines:
                name += f", {lines}"
            elif was_cut or touch.path in ends:
                end = 0 if was_cut else ends[touch.path]
                name = f"{name}, up to line {end}" if end else f"parts of {name}"
            names.append(name)
    what = "; ".join(dict.fromkeys(names)) if names else "its output"
    return f"{_context(step)} gained {what}."


def lines_read(read: Touch) -> str:
    """Which lines a read showed, as far as the log tells; empty for all, or where it does not."""
    if read.first and read.first == read.last:
        return f"line {read.first}"
    if read.first and read.last:
        return f"lines {read.first}-{read.last}"
    return f"from line {read.first}" if read.first and read.first > 1 else ""


def _context(step: Step) -> str:
    """Whose context an output came into."""
    return f"The {'subagent' if step.actor.startswith('subagent') else 'agent'}'s context"
