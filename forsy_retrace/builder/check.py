"""Which edits does a step check, and did they pass?

A check is a test, lint, type-check, build, run or read-back, in any tool. It checks the edits in
effect that have not yet passed a check of its kind; a failed check clears nothing, a narrower run
clears nothing for a wider one, and what a formatter rewrote is no edit to check.
"""

import posixpath
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import msgspec

from forsy_retrace.commands import REMOVES, Command, Simple, classify
from forsy_retrace.events import Change
from forsy_retrace.evidence import inferred
from forsy_retrace.sdk import packed
from forsy_retrace.trace import Check, Step, Touch, Trace, put

from .checks.chosen import are_others, chosen_by, tests_in
from .checks.loads import FILE, Loads
from .checks.packages import Packages
from .checks.places import with_parents
from .checks.ran import (
    as_tests,
    asks_what_it_runs,
    builds_and_runs,
    has_passed,
    kinds_on,
    lines_of_go,
    programs_of,
    status_printed,
    stopped_at,
    tells_nothing,
    words_of,
)
from .checks.readback import PRINTS_PATCHES, edits_shown, patched_lines, replaced_texts, with_output
from .checks.scripts import Scripts
from .checks.suites import left_out_of
from .checks.tasks import Tasks
from .checks.unchecked import NAMED, Unchecked, breadth, is_prose
from .outcome import never_ran
from .outputs.begun import no_test_ran
from .outputs.printed import bare_output
from .outputs.runners import CHECKED, kinds_of, read_summary
from .rule import Rule
from .touched.edits import Standing, edits_of
from .touched.fixers import Stash, around_its_check
from .touched.paths import absolute, base_of, end_of, known_places
from .touched.replaced import leaves_as_it_is
from .touched.scratch import EDITS, scratch
from .touched.tracked import clears_up, makers

BY_KIND = {
    kind: Rule(f"check-{kind}", f"The command is {what}, by the table of commands.", 0.85)
    for kind, what in {
        "tests": "a run of tests",
        "lint": "a linter, or a formatter that only looks",
        "types": "a type-checker",
        "build": "a build or a compiler",
        "run": "a run of what the same line built",
        "ci": "a look at how the checks of pushed work went, and edits had been pushed before",
    }.items()
}
RUNS_PROGRAM = Rule(
    "runs-edited-program",
    "The command runs a file that was edited, which checks it and what its text takes in; what was built from one; another program of the project that takes in what was edited, by its text or the traceback of an earlier run; or the project, which it builds. A program on the line itself runs what it loads, and checks what it parses.",
    0.75,
)
RUNS_TASK = Rule(
    "runs-edited-task",
    "The command runs a task that an edit of its `Makefile`, `package.json` or the like defines, which checks that and the edited files it names.",
    0.7,
)
READ_BACK = Rule(
    "read-back",
    "A read shows lines changed since its actor last saw them, and no later edit replaces text that it showed.",
    0.7,
)
NOTHING = Rule(
    "nothing-to-check",
    "A build, or a run of what was built, is no check where no edit is open.",
    0.85,
)
RULES = (*BY_KIND.values(), RUNS_PROGRAM, RUNS_TASK, READ_BACK, NOTHING)


def check(trace: Trace) -> Trace:
    """Each check with the edits that it covers; running the edited program becomes `verify`."""
    touched = edits_of(trace)
    checker = _Checker(touched, scratch(trace), Scripts(trace.steps, touched), trace.strange)
    steps = tuple(checker.take(step) for step in trace.steps)
    standing = checker.standing
    return msgspec.structs.replace(
        trace,
        steps=steps,
        checks=checker.checks,
        replaced=standing.replaced,
        reworked={step: tuple(by) for step, by in standing.reworked.items()},
    )


class _Known(NamedTuple):
    """What makes a line a check: its kind, by which rule, and what it runs."""

    kind: str
    rule: Rule
    programs: tuple[str, ...] = ()
    """The edited files that it runs."""
    built: Command | None = None
    """The line that built what it runs."""


class _Scope(NamedTuple):
    """What a check takes in."""

    run: Command
    lines: tuple[str, ...] = ()
    """The lines that it runs through scripts."""
    loaders: tuple[str, ...] = ()
    """The programs to whose edits, and those of what they load, it keeps; empty where to none."""
    untested: Callable[[int], bool] | None = None
    """Tells of an edit whether its tests are known to be others: then they count for it but once."""


class _Checker:
    def __init__(
        self,
        touched: dict[int, list[Touch]],
        is_scratch: Callable[[str], bool],
        scripts: Scripts,
        strange: frozenset[tuple[int, str]],
    ) -> None:
        self.touched, self.is_scratch, self.strange = touched, is_scratch, strange
        self.standing = Standing(makers(one for held in touched.values() for one in held))
        self.stash = Stash()
        self.pushed = 0
        """The latest step that pushed what had been edited before it."""
        self.packages = Packages()
        self.unchecked = Unchecked(self.packages.taken_in)
        self.loads = Loads()
        self.tasks = Tasks()
        self.scripts = scripts
        self.checks: dict[int, Check] = {}
        self.idle: set[int] = set()
        """The edits for which a run of tests passed that tested nothing of them."""
        self.unseen: dict[tuple[str, str], deque[Touch]] = {}
        """The latest edits that their file's reader has not seen since, by actor and path."""
        self.built: dict[str, Command] = {}
        """What builds put out, and by which line: running it runs the edited program."""
        self.replaced_later = replaced_texts(touched)
        self.testing: set[tuple[str, tuple[str, ...]]] = set()
        """The tasks, by their folders, that a runner showed to run tests, whatever they are called."""
        self.start: str | None = None
        self.place = ""
        """Where commands run, once they left the folder of the start: then the log keeps track."""

    def take(self, step: Step) -> Step:
        self.start = self.start or step.cwd
        self.place = step.cwd if step.cwd and step.cwd != self.start else ""
        touched = with_output(step, self.touched.get(step.step, []))
        if step.call is None or never_ran(step):
            return step
        run = self._as_shown(step)
        if step.success and run is not None and any(one.name == PUSH for one in run.simples):
            self.pushed = step.step
        before, behind = around_its_check(run)
        self.stash.take(step.step, before)
        self._take_away(step, touched, before if behind else ())
        found = self._of_command(step, run) if run else None
        found = found or self._read_back(step, touched)
        if found is not None:
            self.checks[step.step] = found
        self._enter(step, touched, run)
        self._take_away(step, touched, behind or before)
        self.stash.take(step.step, behind)
        if found is None:
            return step
        if found.passed and run is not None:
            self._clear(found, step, run)
        makes = run is not None and MAKES.issuperset(kinds_on(run))
        if makes and step.operation == "verify" and not found.edits:
            if found.kind == "run":
                del self.checks[step.step]
            ground = NOTHING.ground()
            return put(step, {"operation": ground}, operation="execute")
        if found.kind == "ci" and not found.edits:
            del self.checks[step.step]
        turns = step.operation in ("execute", "read", "search") and found.edits
        if not turns or (run is not None and run.main in KEPT):
            return step
        if run and run.check is None and run.operation not in ("execute", "read"):
            return step
        ground = inferred(found.rule, found.confidence, steps=found.edits)
        return put(step, {"operation": ground}, operation="verify")

    def _as_shown(self, step: Step) -> Command | None:
        """A line whose task is called a check, with the tests that a runner showed it to run."""
        run = step.run
        tasks = [one for one in run.simples if one.rule == A_CHECK] if run is not None else []
        if run is None or len(tasks) != 1 or {"lint"} != set(kinds_on(run)):
            return run
        task = (absolute(run.cwd or ".", step.cwd), tasks[0].words)
        verdict = read_summary(bare_output(step), CHECKED)
        if verdict is not None and "tests" in kinds_of(verdict):
            self.testing.add(task)
        return as_tests(run) if task in self.testing else run

    def _clear(self, found: Check, step: Step, run: Command) -> None:
        """A line may hold several checks: a build, then a run of what was built.

        Each passed over what waited for it, whichever names the edits of the line.
        """
        lines = self.scripts.of(step, run)
        for kind in sorted({found.kind, *kinds_on(run)}):
            if not tells_nothing(kind, step, run) and status_printed(kind, step, run) is not False:
                edits = found.over if kind == "tests" else found.edits
                if kind not in (found.kind, "run"):
                    others = self._waiting(kind, _Scope(run, lines), most=None)
                    edits = (*edits, *(edit for edit in others if edit != step.step))
                self.unchecked.clear(kind, edits, run)

    def _enter(self, step: Step, touched: list[Touch], run: Command | None) -> None:
        work = [t for t in touched if t.kind in EDITS and not leaves_as_it_is(t)]
        work = [t for t in work if not self.is_scratch(t.path)]
        for edit in self.standing.take(step, work):
            self.unchecked.drop(edit)
        if not all(clears_up(touch, self.standing.tracked.made) for touch in work):
            self.unchecked.enter(step.step, self.standing.paths[step.step])
        for touch in work:
            self.tasks.see(touch)
            if touch.kind == "edit" and not (touch.added or touch.removed):
                continue  # `sed -i` does not tell which lines a read would have to show
            unseen = self.unseen.setdefault((touch.actor, touch.path), deque(maxlen=NAMED))
            unseen.append(touch)
        reads = {touch.path for touch in touched if touch.kind == "read"}
        # What one line printed of several files is no content of any.
        for touch in touched if len(reads) < 2 else self.touched.get(step.step, ()):
            self.loads.see(touch)
            self.packages.see(touch)
        for touch in touched:
            if touch.kind == "generated" and touch.step in self.checks and run is not None:
                self.built[touch.path] = run
            if touch.kind == "read" and touch.path:
                self._see(touch)
        if run is not None and any(simple.name in PRINTS_PATCHES for simple in run.simples):
            self._see_patches(step, absolute(run.cwd or ".", step.cwd))

    def _take_away(self, step: Step, touched: list[Touch], simples: Sequence[Simple]) -> None:
        """Ends the edits of what these commands removed, unless their line made it anew."""
        removed = {touch.path for touch in touched if touch.kind == "removed"}
        if not removed or not step.success:
            return
        made = [touch.path for touch in touched if touch.kind not in ("read", "removed", "folder")]
        words = (word for one in simples if one.name in REMOVES for word in one.writes)
        for path in (absolute(word, base_of(step)) for word in words):
            is_made = any(one == path or one.startswith(f"{path}/") for one in made)
            if path in removed and not is_made:
                for edit in self.standing.take_away(path):
                    self.unchecked.drop(edit)

    def _see_patches(self, step: Step, here: str) -> None:
        """What `git diff` printed was seen: a read of it afterwards is no read-back."""
        for name, lines in patched_lines(step.printed).items():
            for root in with_parents(here):
                path = posixpath.join(root, name)
                if (step.actor, path) in self.unseen:
                    shown = Change(path, "shown", shown=packed("\n".join(lines)))
                    self._see(Touch(step.step, step.actor, path, "read", change=shown))

    def _see(self, read: Touch) -> None:
        """The edits that a read did not show stay unseen."""
        key = (read.actor, read.path)
        if held := self.unseen.pop(key, None):
            seen = {id(edit) for edit in edits_shown(read, held)}
            if left := [edit for edit in held if id(edit) not in seen]:
                self.unseen[key] = deque(left, maxlen=NAMED)

    def _of_command(self, step: Step, run: Command) -> Check | None:
        known = self._known_as(step, run)
        if known is None:
            self.loads.ran(_whole_paths(step, run), step.printed)
            return None
        kind, rule, programs, built = known
        # Whatever an edited task calls, it shows that the task is there.
        lines = () if rule is RUNS_TASK else self.scripts.of(step, run)
        kinds = (kind, *kinds_on(run))
        if step.success and kind == "run" and run.masked and run.told:
            # `go build -o shop && ./shop | head` shows that the build passed, no more.
            kinds = run.told
        verdict = read_summary(bare_output(step))
        if step.success is False:
            kinds = stopped_at(verdict, run) or kinds
        self.loads.ran(programs, step.printed)
        loaders = (*programs, *self._edited(words_of(run))) if programs else ()
        untested = self._untested(step, run, lines) if "tests" in kinds else None
        scope = _Scope(built or run, lines, loaders, untested)
        # A line may hold several checks; it is known by the first that has something to check.
        found = ((kind, self._waiting(kind, scope)) for kind in dict.fromkeys(kinds))
        kind, edits = next((one for one in found if one[1]), (kinds[0], ()))
        passed = has_passed(kind, step, run, verdict)
        summary = verdict.summary if verdict is not None and verdict.passed == passed else ""
        more = len(edits) > NAMED
        if more and passed and not breadth(kind, run):
            edits, more = self._waiting(kind, scope, most=None), False
        edits = edits[-NAMED:] if more else edits
        idle = tuple(filter(untested, edits)) if untested is not None and kind == "tests" else ()
        self.idle.update(idle if passed else ())
        return Check(
            step.step,
            kind,
            edits,
            passed,
            bool(edits),
            summary,
            rule.name,
            rule.confidence,
            more,
            idle,
        )

    def _known_as(self, step: Step, run: Command) -> _Known | None:
        """What makes a line a check; None where nothing does."""
        if run.check is not None:
            return _Known(run.check, BY_KIND[run.check])
        if step.operation != "execute" and not asks_what_it_runs(run):
            return None
        if built := self._build_of(step, run):
            return _Known("run", RUNS_PROGRAM, built=built)
        if programs := self._run_by(step, run):
            return _Known("run", RUNS_PROGRAM, programs)
        if programs := tuple(self._tasks(step, run)):
            return _Known("run", RUNS_TASK, programs)
        return None

    def _waiting(self, kind: str, scope: _Scope, most: int | None = NAMED + 1) -> tuple[int, ...]:
        """The latest edits that a check of this kind looks at: none that was stashed away."""
        run, lines, loaders, untested = scope
        start = absolute(self.start, None) if self.start else ""
        edits = self.unchecked.by(kind, run, lines, self.place, start, self.stash.away_since)
        if loaders:
            edits = iter(self._taken_in(loaders, tuple(edits)))
        if kind == "ci":
            edits = (edit for edit in edits if edit < self.pushed)
        if kind in STRUCTURE:
            left_out = self.packages.left_out(lines_of_go(run, lines))
            edits = (edit for edit in edits if not all(map(left_out, self.standing.paths[edit])))
        if untested is not None and kind == "tests":
            edits = (edit for edit in edits if edit not in self.idle or not untested(edit))
        return tuple(islice(edits, most))[::-1]

    def _untested(
        self, step: Step, run: Command, lines: tuple[str, ...]
    ) -> Callable[[int], bool] | None:
        """Tells of an edit whether a run of tests ran others than its own."""
        runs = (run, *map(classify, lines))
        ran = [" ".join(simple.words) for one in runs for simple in one.simples]
        go = " ".join(line for line in ran if line.startswith("go test "))
        go = f"{go} {step.input}" if go and "…" not in go else ""
        untested, left_out = self.packages.untested(step.printed, go), left_out_of(step.printed)
        if step.success and no_test_ran(step.printed):
            return None
        later = self.scripts.found_later(step, run)
        told = set(self._waiting("tests", _Scope(run, later), most=None)) if later else None
        chosen = chosen_by(runs)
        return lambda edit: (
            (told is not None and edit not in told)
            or (bool(chosen) and are_others(self._tests_in(edit), chosen))
            or all(untested(path) or left_out(path) for path in self.standing.paths[edit])
        )

    def _tests_in(self, edit: int) -> frozenset[str]:
        """The tests that an edit adds or changes, if it does nothing else."""
        return tests_in(one for one in self.touched.get(edit, ()) if one.kind in EDITS)

    def _build_of(self, step: Step, run: Command) -> Command | None:
        """The line that built the program which this one runs from edited files; it may be this."""
        here = absolute(run.cwd or ".", step.cwd)
        if any(builds_and_runs(one) for one in run.simples[: known_places(run)]):
            is_work = not self.is_scratch(f"{here}/") and self._waiting("run", _Scope(run))
            return run if is_work else None
        if not any(self._is_code(path) for path in self.standing.by_path):
            return None
        paths = (absolute(read, step.cwd) for read in programs_of(step, run))
        return next((self.built[path] for path in paths if path in self.built), None)

    def _run_by(self, step: Step, run: Command) -> tuple[str, ...]:
        """The edited files that a line runs, or that a program on the line itself takes in."""
        taken = (path for runner, text in run.inline for path in self.loads.by_text(runner, text))
        edited = (path for path in taken if path in self.standing.by_path and self._is_code(path))
        found = (*self._edited(programs_of(step, run)), *edited)
        return found or tuple(self._loading(_whole_paths(step, run)))

    def _loading(self, programs: Iterator[str]) -> Iterator[str]:
        """Those of some programs, themselves not edited, that take in code that was."""
        code: set[str] = set()
        for path in programs:
            code = code or {one for one in self.standing.by_path if self._is_code(one)}
            if not self.loads.of((path,), code).isdisjoint(code):
                yield path

    def _tasks(self, step: Step, run: Command) -> Iterator[str]:
        """The files whose edits define a task that a line runs, and the edited files these name."""
        here = absolute(run.cwd or ".", step.cwd)
        for simple in run.simples:
            for found in self.tasks.run_by(simple, here):
                if found.step in self.standing.in_effect:
                    yield found.path
                    yield from self._edited(FILE.findall(found.text))

    def _edited(self, named: list[str]) -> tuple[str, ...]:
        """The edited files that a line names so."""
        return tuple(path for name in named for path in self._ending_so(name))

    def _ending_so(self, name: str) -> Iterator[str]:
        end = end_of(name)
        for path in sorted(self.standing.by_name.get(posixpath.basename(name), ())):
            if (path == name or path.endswith(end)) and self._is_code(path):
                yield path

    def _taken_in(self, programs: tuple[str, ...], edits: tuple[int, ...]) -> tuple[int, ...]:
        """Of some edits those of the programs themselves, and of what these take in."""
        paths = self.standing.paths
        loaded = self.loads.of(programs, {path for edit in edits for path in paths[edit]})
        return tuple(edit for edit in edits if not loaded.isdisjoint(paths[edit]))

    def _is_code(self, path: str) -> bool:
        return not is_prose(path) and self.standing.stands(path)

    def _read_back(self, step: Step, touched: list[Touch]) -> Check | None:
        """A read that shows lines changed since the agent last saw them, and by none but it."""
        if step.operation != "read":
            return None
        shown: set[int] = set()
        for touch in touched:
            if touch.kind != "read":
                continue
            if (step.step, touch.path) in self.strange:
                continue
            unseen = [
                edit
                for edit in self.unseen.get((touch.actor, touch.path), ())
                if edit.step in self.standing.in_effect
            ]
            edits = edits_shown(touch, unseen) if unseen else []
            if edits and not self.replaced_later(touch):
                shown.update(edit.step for edit in edits)
        if not shown:
            return None
        kind, sure = READ_BACK.name, READ_BACK.confidence
        return Check(step.step, kind, tuple(sorted(shown)), step.success, True, "", kind, sure)


def _whole_paths(step: Step, run: Command) -> Iterator[str]:
    """The files that a line runs, found out where they are asked for."""
    base = base_of(step)
    yield from (absolute(one, base) for one in programs_of(step, run))


A_CHECK = "script:lint"
"""The rule of tasks whose name says no more than that they check something: `make check`."""
PUSH = "git push"
KEPT = frozenset(["git commit", PUSH])
"""What a line is for though it checks its edits first."""
STRUCTURE = ("lint", "types", "build")
"""Kinds of checks that read or compile what they are given, and run none of it."""
MAKES = frozenset(["build", "run"])
"""Kinds of check that are work of their own where there is nothing to check."""
