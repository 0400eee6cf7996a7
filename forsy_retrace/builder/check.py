"""Which edits does a step check, and did they pass?

A check is a test, lint, type-check, build, run or read-back, in any tool. It checks the edits in
effect that have not yet passed a check of its kind; a failed check clears nothing, a narrower run
clears nothing for a wider one, and what a formatter rewrote is no edit to check.
"""

import posixpath
import re
from collections.abc import Callable

import msgspec

from forsy_retrace.commands import Command, Simple
from forsy_retrace.evidence import inferred
from forsy_retrace.trace import Check, Step, Touch, Trace, put

from .classify import command
from .edits import EDITS, Standing, edits_of
from .outcome import never_ran
from .touches import absolute
from .verdicts import read_summary

PROSE = (".md", ".mdx", ".txt", ".rst", ".adoc", ".log", ".csv")
"""Files that no test, type-check or build can be broken by, as far as a name tells."""

LANGUAGES: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    # A tool of one language says nothing of files of another.
    (re.compile(r"^(?:go|golangci-lint|gofmt|staticcheck)\b"), (".go", ".mod", ".sum", ".tmpl")),
    (
        re.compile(r"^(?:pytest|mypy|pyright|ruff|flake8|pylint|black|tox|nox)\b"),
        (".py", ".pyi", ".toml", ".cfg", ".ini", ".json", ".yaml", ".yml"),
    ),
    (
        re.compile(r"^(?:tsc|eslint|jest|vitest|biome|prettier|next|vite)\b"),
        (
            ".ts",
            ".tsx",
            ".js",
            ".jsx",
            ".mjs",
            ".cjs",
            ".mts",
            ".cts",
            ".json",
            ".vue",
            ".svelte",
            ".css",
            ".scss",
            ".html",
        ),
    ),
    (re.compile(r"^(?:cargo|rustc|clippy)\b"), (".rs", ".toml")),
    (re.compile(r"^(?:shellcheck|bash)\b"), (".sh", ".bash")),
)

SCRATCH = re.compile(r"^(?:/private)?/(?:tmp|var/folders)/|[/\\]AppData[/\\]Local[/\\]Temp[/\\]")
"""Where scratch files lie: writing one is no edit of the work."""

PLANS = re.compile(r"[/\\]\.claude[/\\](?:plans|projects)[/\\]")


def check(trace: Trace) -> Trace:
    """Each check with the edits that it covers; running the edited program becomes `verify`."""
    checker = _Checker(edits_of(trace))
    steps = tuple(checker.take(step) for step in trace.steps)
    standing = checker.standing
    return msgspec.structs.replace(
        trace,
        steps=steps,
        checks=checker.checks,
        replaced=standing.replaced,
        reworked={step: tuple(by) for step, by in standing.reworked.items()},
    )


class _Checker:
    def __init__(self, touched: dict[int, list[Touch]]) -> None:
        self.touched = touched
        self.standing = Standing()
        self.cleared: dict[tuple[int, str], list[tuple[str, ...]]] = {}
        self.checks: dict[int, Check] = {}
        self.unseen: dict[tuple[str, str], list[Touch]] = {}
        """Edits that their file's reader has not seen since, by actor and path."""
        self.built: set[str] = set()
        """What builds put out: running it runs the edited program."""
        self.replaced_later = _replaced_texts(touched)

    def take(self, step: Step) -> Step:
        touched = self.touched.get(step.step, [])
        if step.call is None or never_ran(step):
            return step
        run = command(step)
        found = self._of_command(step, run) if run else self._read_back(step, touched)
        if found is not None:
            self.checks[step.step] = found
        self._enter(step, touched)
        if found is None:
            return step
        if found.passed:
            self._clear(found, run)
        if found.kind == "run" and step.operation == "verify" and not found.edits:
            del self.checks[step.step]
            ground = inferred("nothing-to-check", found.confidence)
            return put(step, {"operation": ground}, operation="execute")
        turns = step.operation in ("execute", "read", "search") and found.edits
        if not turns or (run and run.check is None and run.operation not in ("execute", "read")):
            return step
        ground = inferred(found.rule, found.confidence, steps=found.edits)
        return put(step, {"operation": ground}, operation="verify")

    def _clear(self, found: Check, run: Command | None) -> None:
        """A line may hold several checks: a build, then a run of what was built."""
        kinds = {found.kind, *(s.check for s in run.simples if s.check)} if run else {found.kind}
        covers = run.covers if run else ()
        for edit in found.edits:
            for kind in sorted(kinds):
                self.cleared.setdefault((edit, kind), []).append(covers)

    def _enter(self, step: Step, touched: list[Touch]) -> None:
        work = [t for t in touched if t.kind in EDITS and not is_scratch(t.path)]
        self.standing.take(step, work)
        for touch in work:
            self.unseen.setdefault((touch.actor, touch.path), []).append(touch)
        for touch in touched:
            if touch.kind == "generated" and touch.step in self.checks:
                self.built.add(touch.path)
            if touch.kind == "read" and touch.path:
                self.unseen.pop((touch.actor, touch.path), None)

    def _open(self, kind: str, covers: tuple[str, ...]) -> list[int]:
        """The edits in effect that have not passed a check of this kind and breadth."""
        found = []
        for edit in self.standing.in_effect():
            done = self.cleared.get((edit, kind), [])
            if any(not past or (set(past) >= set(covers) and covers) for past in done):
                continue
            found.append(edit)
        return found

    def _of_command(self, step: Step, run: Command) -> Check | None:
        if run.check is not None:
            kind, rule, confidence = run.check, f"check-{run.check}", 0.92
        elif step.operation == "execute" and self._runs_edited(step, run):
            kind, rule, confidence = "run", "runs-edited-program", 0.75
        else:
            return None
        edits = [e for e in self._open(kind, run.covers) if self._affects(e, run, kind)]
        verdict = read_summary(step.output or "")
        passed = step.success
        if passed and run.masked and kind != "run":
            passed = verdict.passed if verdict is not None else None
        summary = verdict.summary if verdict else ""
        fresh = bool(edits)
        return Check(step.step, kind, tuple(edits), passed, fresh, summary, rule, confidence)

    def _affects(self, edit: int, run: Command, kind: str) -> bool:
        """Whether a check of this tool could be broken by that edit, as far as names tell."""
        paths = self.standing.paths[edit]
        exts = next((e for pattern, e in LANGUAGES if pattern.match(run.main)), None)
        for path in paths:
            if is_plan(path):
                continue
            ext = posixpath.splitext(path)[1].lower()
            if exts is not None and ext not in exts:
                continue
            if exts is None and ext in PROSE and kind != "lint":
                continue
            named = [cover for cover in run.covers if posixpath.splitext(cover)[1]]
            files = [cover for cover in named if kind in ("lint", "types") and "*" not in cover]
            if files and not any(path.endswith(cover.lstrip("./")) for cover in files):
                continue
            return True
        return False

    def _runs_edited(self, step: Step, run: Command) -> bool:
        """A program that is an edited file, or was built from one."""
        edited = {p for e in self.standing.in_effect() for p in self.standing.paths[e]}
        code = {p for p in edited if posixpath.splitext(p)[1].lower() not in PROSE}
        if not code:
            return False
        for simple in run.simples:
            for read in _programs(simple, step):
                if absolute(read, step.cwd) in self.built:
                    return True
                name = "/" + read.lstrip("./") if "/" in read else "/" + posixpath.basename(read)
                if any(path.endswith(name) or path == read for path in code):
                    return True
        return False

    def _read_back(self, step: Step, touched: list[Touch]) -> Check | None:
        """A read that shows lines changed since the agent last saw them."""
        for touch in touched:
            if touch.kind != "read" or step.operation != "read":
                continue
            edits = [
                edit
                for edit in self.unseen.get((touch.actor, touch.path), ())
                if edit.step not in self.standing.replaced and _shows(touch, edit)
            ]
            if edits and not self.replaced_later(touch):
                numbers = tuple(dict.fromkeys(edit.step for edit in edits))
                return Check(
                    step.step, "read-back", numbers, step.success, True, "", "read-back", 0.7
                )
        return None


def _programs(simple: Simple, step: Step) -> list[str]:
    """The files that a command runs: a program's path, or a module by its dotted name."""
    if simple.words and f"-m {simple.words[0]}" in (step.input or ""):
        path = simple.words[0].replace(".", "/")
        return [f"{path}.py", f"{path}/__main__.py"]
    return list(simple.reads) if simple.rule == "run-program" else []


MEANT = re.compile(
    r"(?i)\b(?:should|must|will|expect(?:ed|s)?(?: it)?(?: to)?|verify|confirm|check|see|watch)\b"
    r"[^.\n]{0,60}\bfail(?:s|ing|ed)?\b|\bfail(?:s|ing)? first\b|\bred (?:phase|test)\b"
)
"""How an agent says that a test is to fail before the code is there."""


def meant_to_fail(step: Step) -> bool:
    """Whether a failed test run was the point: the agent's own words before it say so."""
    sent = step.call.input if step.call else None
    said = sent.get("description") if isinstance(sent, dict) else None
    words = f"{step.reasoning or ''}\n{said or ''}"
    return step.success is False and MEANT.search(words[-2000:]) is not None


def is_scratch(path: str) -> bool:
    """Whether a file lies where scratch files lie."""
    return SCRATCH.search(path) is not None


def is_plan(path: str) -> bool:
    """Whether a file is the client's own plan or notes."""
    return PLANS.search(path) is not None


def _shows(read: Touch, edit: Touch) -> bool:
    """Whether a read shows a line that an edit put in."""
    if read.change is None or read.change.after is None:
        return read.first is None
    lines = {line.strip() for line in read.change.after.splitlines()}
    added = [line.strip() for line in edit.added if len(line.strip()) > 2]
    return any(line in lines for line in added) if added else True


def _replaced_texts(touched: dict[int, list[Touch]]) -> Callable[[Touch], bool]:
    """Tells whether a later edit replaces text that a read showed: then it was no read-back."""
    later: dict[tuple[str, str], list[Touch]] = {}
    for touches in touched.values():
        for touch in touches:
            if touch.kind == "edit" and touch.old:
                later.setdefault((touch.actor, touch.path), []).append(touch)

    def replaced(read: Touch) -> bool:
        text = read.change.after if read.change is not None else None
        for edit in later.get((read.actor, read.path), ()):
            if edit.step > read.step and (text is None or (edit.old or "")[:200] in text):
                return True
        return False

    return replaced
