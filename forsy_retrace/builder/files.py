"""What did a step change or show? Facts before the step, facts after it, from the log alone."""

import posixpath
import re
from collections.abc import Iterable
from itertools import pairwise

import msgspec

from forsy_retrace.commands import Command
from forsy_retrace.events import SHELL, Hunk
from forsy_retrace.evidence import Evidence, derived
from forsy_retrace.patterns import later
from forsy_retrace.trace import Step, Touch, Trace, put

from .classify import command, patch_of
from .edits import BY_GIT, EDITS, may_have_fixed, rewrites_unnamed
from .gaps import is_cut
from .outcome import never_ran
from .printed import bare_output, shows_none, unread
from .ranges import read_in_parts
from .tools import PLAN_EXITS, path_of
from .touches import absolute, base_of, before_of, leaves_as_it_is, shown, touches, whole
from .variants import Lines
from .verdicts import read_summary

COMMIT = re.compile(r"^\[(?:detached HEAD|[^\]\s]+)(?: \([^)]*\))? ([0-9a-f]{7,40})\]", re.M)
"""Git's own line for a new commit: `[main 1a2b3c4] Subject`."""


CONFLICT = re.compile(r"^CONFLICT \([^)\n]+\): Merge conflict in (.+)$", re.M)
"""Git's own line for a file in which it could not join two changes."""


TELLS = re.compile(
    r"(?i)^(?:\S+: )?(?:fatal|panic|exception)\b|\w(?:Error|Exception)\b:|\[rejected\]"
    r"|(?<!\b0 )(?<!\bno )(?<![-\w])errors?\b(?!-)|no such file|not found|no matches found|denied|cannot |can't |could not|(?<!\b0 )failed|invalid|unknown|\*\*\* |nothing to commit"
    r"|timed out|missing|not allowed|already exists|does not contain|undefined"
)
"""What a line that names an error looks like."""


PLACED = later(
    r"(?:\[[\w:.-]{1,40}\] )?\S{1,200}:\d+:(?:\d+: (?!.{0,20}\b(?:warning|note|info)\b)"
    r"| (?=.{0,2000}\b(?:want(?:ed)?|expected|should)\b))"
)
"""A complaint behind its place: a compiler's or linter's, or a test's of what it had wanted."""
MARKED = later(
    r"(?:at )?(\S{1,300} (?:(?:assist|lint)/\S{1,100}|format|organizeImports|parse))(?: +FIXABLE)? +━"
)
"""How Biome heads what it has to say of a file: with the place, and the rule."""
AN_ERROR = "× "
"""How the line behind it begins where that is an error."""
LATE = later(r"(?i)\btim(?:ed|e) ?out\b")
"""Words for a limit of time."""
BANNER = re.compile(r"[$>#] |=== RUN|Checking \d|[\u2500-\u257f]")
"""How a runner announces what it is about to do."""
FINE = later(
    r"(?i)^(?:npm )?warn(?:ing)?\b|^\(node:\d+\)|^node:[\w/]+:\d+|^% Total\b|\.\.\. ok$|^[✓✔√]|^(?:--- )?pass\b"
    r"|^ok\b|\tpass(?:ed)?\t|\bno fixes applied\b|^hint:|^Error Trace:|^(?:> ?)?\d+(?: +\d+)? *[\u2502|]"
    r"|^throw \w+;|^\[[\w:.-]{1,40}\] ERROR task failed$|^Your proposed edit has introduced |^Failed with error\. Fix the error and try again"
    r"|^InputValidationError: \w{1,80} failed due to the following issues?:$"
)
"""A line that names no error: of what is only warned, of what passed, of where Node stopped, of the
code that a linter or compiler shows, and where mise, SWE-agent's editor, ChatGPT's canvas and Claude Code only
announce one."""
FEW = 3
"""So few lines of an agent's command are the message, whatever they say."""
WORDS = re.compile(r"\w\W+\w")
"""More than one word: a bare `ERROR:` says nothing yet."""


def files(trace: Trace) -> Trace:
    """Observations and state changes, from recorded patches, reads, failures and results."""
    found = tuple(touches(trace))
    by_step: dict[int, list[Touch]] = {}
    for touch in found:
        by_step.setdefault(touch.step, []).append(touch)
    known: dict[tuple[str, str], _Known] = {}
    lines = Lines(trace, _Received)
    place: dict[str, tuple[str | None, str | None]] = {}
    steps = []
    contents = Contents()
    for step in trace.steps:
        received = lines.of(step)
        if step.action != "user_message":
            touched = by_step.get(step.step, [])
            outside = contents.take(touched, step)
            step = _observed(step, touched, known, received.before(step), place, outside)
            step = _changed(step, touched)
            received.take(step)
        lines.end(step)
        for touch in by_step.get(step.step, ()):
            if touch.kind != "read" or step.result is not None:
                known.setdefault((touch.actor, touch.path), _Known()).take(touch)
        steps.append(step)
    return msgspec.structs.replace(
        trace, steps=tuple(steps), touches=found, strange=frozenset(contents.strange)
    )


class _Received:
    """The last step that each actor had the result of when it issued a message, on one line."""

    def __init__(self) -> None:
        self.last: dict[str, Step] = {}
        self.seen: dict[str, Step | None] = {}
        """What had come before the message whose calls are under way."""

    def __copy__(self) -> "_Received":
        twin = _Received()
        twin.last, twin.seen = dict(self.last), dict(self.seen)
        return twin

    def before(self, step: Step) -> Step | None:
        last = self.last.get(step.actor)
        group = step.parallel_group
        if last is None or group is None or last.parallel_group != group:
            self.seen[step.actor] = last
        return self.seen[step.actor]

    def take(self, step: Step) -> None:
        if step.actor != "system":  # what stopped the work before is past once it went on
            self.last.pop("system", None)
        self.last[step.actor] = step


class _Known:
    """The last read of a file, and what was last done to it, by one actor."""

    def __init__(self) -> None:
        self.read: Touch | None = None
        self.edit: Touch | None = None

    def take(self, touch: Touch) -> None:
        if touch.kind == "read":
            self.read = touch
        else:
            self.edit = touch

    @property
    def steps(self) -> list[int]:
        return [touch.step for touch in (self.read, self.edit) if touch is not None]

    def sentence(self, name: str) -> str:
        """`src/a.py was last read in step 7 (lines 1-200) and edited in step 9.`"""
        parts = []
        if (read := self.read) is not None:
            lines = lines_read(read)
            parts.append(f"last read in step {read.step}" + (f" ({lines})" if lines else ""))
        if self.edit is not None:
            parts.append(f"{WAS[self.edit.kind]} in step {self.edit.step}")
        return f"{name} was {' and '.join(parts)}."


class Contents:
    """What each file held after the last step that the log shows whole."""

    def __init__(self) -> None:
        self.held: dict[str, tuple[str, int]] = {}
        self.named: dict[str, int] = {}
        """The names of files that shell lines write, wherever they lie, and the last such step."""
        self.fixed = 0
        """The last step that may have fixed or formatted files, whatever their names."""
        self.strange: set[tuple[int, str]] = set()
        """The steps that found a file changed by no edit that the log shows."""

    def take(self, touched: Iterable[Touch], step: Step) -> str:
        """A sentence where a file is not what the log's own steps left; enters the new content."""
        said = []
        for touch in touched:
            before, after = _sides(touch)
            held = self.held.get(touch.path)
            if held is not None and before is not None and not _same(before, held[0]):
                name, since = shown(touch.path, step.cwd), held[1]
                named = self.named.get(posixpath.basename(touch.path), 0)
                known = max(named, self.fixed) > since
                by = "" if known else ", by no edit that the log shows"
                if not known:
                    self.strange.add((step.step, touch.path))
                said.append(f"{name} had changed since step {since}{by}.")
            if after is not None:
                self.held[touch.path] = (after, touch.step)
            elif touch.kind != "read":
                self.held.pop(touch.path, None)
        run = command(step)
        if run is not None and may_have_fixed(step, run):
            self.fixed = step.step if any(map(rewrites_unnamed, run.simples)) else self.fixed
        for path in run.writes if run is not None else ():
            self.named[posixpath.basename(path.replace("\\", "/"))] = step.step
        return " ".join(dict.fromkeys(said))


def _sides(touch: Touch) -> tuple[str | None, str | None]:
    """A file's whole content before and after a step, where the log holds it."""
    change = touch.change
    if touch.kind == "write":
        return before_of(change), touch.new
    if change is None or change.kind == "created":
        return None, None
    if change.kind == "shown":
        text = whole(change)
        return text, text
    before = before_of(change)
    return before, after_edit(before, touch)


def after_edit(base: str | None, touch: Touch) -> str | None:
    """A text after an edit; None where neither what it replaces nor its patch fits.

    A text that was only taken out may have taken the end of its line along, as the patch shows.
    """
    if base is None:
        return None
    hunks = touch.change.hunks if touch.change is not None else ()
    if touch.old == "" and touch.new is not None and not hunks:
        return base + touch.new
    told = touch.new if touch.new or not hunks else None
    if touch.old and told is not None and base.count(touch.old) == 1:
        return base.replace(touch.old, told)
    return _patched_text(base, hunks) if hunks else None


def _patched_text(text: str, hunks: tuple[Hunk, ...]) -> str | None:
    """A text after a patch; None where the patch does not fit it."""
    lines = text.split("\n")
    end = len(lines)
    for hunk in reversed(hunks):
        old = [line[1:] for line in hunk.lines if line[:1] in (" ", "-")]
        new = [line[1:] for line in hunk.lines if line[:1] in (" ", "+")]
        start = max(hunk.old_start - 1, 0) if hunk.is_placed else _found(old, lines[:end])
        if start is None or lines[start : start + len(old)] != old:
            return None
        lines[start : start + len(old)] = new
        end = start
    return "\n".join(lines)


def _found(old: list[str], lines: list[str]) -> int | None:
    """Where some lines begin among others, if at one place alone, however they are indented."""
    bare, among = [line.strip() for line in old], [line.strip() for line in lines]
    starts = (at for at, line in enumerate(among) if bare and line == bare[0])
    places = [at for at in starts if among[at : at + len(bare)] == bare]
    return places[0] if len(places) == 1 else None


ENDED = later(r"[^\n]\n\Z")
"""The end of a text that has no blank line there, and lacks no line end."""


def keeps_end(before: str, touch: Touch, after: str) -> bool:
    """Whether an edit surely put no other blank lines at the end of a file than it tells.

    What has to find the place of a patch may put that end right (Codex does), if it is not so.
    """
    hunks = touch.change.hunks if touch.change is not None else ()
    told = all(hunk.is_placed for hunk in hunks)
    return told or (ENDED.search(before) is not None and ENDED.search(after) is not None)


def _same(one: str, other: str) -> bool:
    """Equal but for line ends and a final one, which displays drop."""
    return one.replace("\r\n", "\n").rstrip("\n") == other.replace("\r\n", "\n").rstrip("\n")


def _observed(
    step: Step,
    touched: list[Touch],
    known: dict[tuple[str, str], "_Known"],
    last: Step | None,
    place: dict[str, tuple[str | None, str | None]],
    outside: str,
) -> Step:
    """What was true before the step: where it ran, what is known of its target, what failed."""
    said: list[str] = []
    because: list[int] = []
    here = (step.cwd, step.git_branch)
    if place.get(step.actor) != here and any(here):
        place[step.actor] = here
        said.append(_place(step))
    for path in _targets(step, touched):
        if past := known.get((step.actor, path)):
            said.append(past.sentence(shown(path, step.cwd)))
            because += past.steps
    if outside:
        said.append(outside)
    seen = last is not None and last.told is last.result
    if last is not None and seen and last.success is False and (how := _how(last)):
        said.append(how)
        because.append(last.step)
    if not said:
        return step
    ground = derived("logged-state", _here(step), steps=tuple(sorted(set(because))))
    return put(step, {"observation": ground}, observation=" ".join(said))


MOST = 5
"""Files of one patch that an observation speaks of."""


def _targets(step: Step, touched: Iterable[Touch]) -> list[str]:
    """The files that a call names, or that the edit which it sends did something to."""
    sent = step.call.input if step.call else None
    if (path := path_of(sent)) is not None:
        return [absolute(path, step.cwd)]
    edits = command(step) is None and step.operation in ("edit", "write")
    if not (edits or patch_of(step)):
        return []
    return list(dict.fromkeys(touch.path for touch in touched if touch.kind in EDITS))[:MOST]


def _how(last: Step) -> str:
    """`Step 7 had failed: …`, as far as the log tells."""
    if last.action == "error" and last.via == "interrupted":
        return f"The user stopped the work in step {last.step}."
    how, line = stopped(last), first_error(last)
    if not how and not line:
        return ""
    what = f"Step {last.step} {how or 'had failed'}"
    return f"{what}: {line}" if line else f"{what}."


def _here(step: Step) -> Evidence:
    assert step.origin is not None
    return step.origin.evidence


def _place(step: Step) -> str:
    if step.cwd and step.git_branch:
        return f"Working directory {step.cwd}, branch {step.git_branch}."
    return f"Working directory {step.cwd}." if step.cwd else f"Branch {step.git_branch}."


WAS = {
    "edit": "edited",
    "changed": "edited",
    "write": "written",
    "generated": "written",
    "folder": "made",
    "delete": "deleted",
    "removed": "removed",
    "folder removed": "removed",
}
"""What was done to a file, by what its touch says."""


def first_error(step: Step) -> str:
    """The first line of a failure that says what went wrong; empty where the log shows none.

    Of a check that names none, the closing words of its runner count. Another command that printed
    much, and no such line, is told by its exit code: what it printed may be anything. What the
    harness writes where the user stopped a call is no error of the work.
    """
    if step.result is not None and step.result.outcome in ("rejected", "interrupted"):
        return ""
    text = re.sub(r"\A\s*(?:<tool_use_error>)?(?:Exit code \d+\n)?", "", bare_output(step))
    lines = [line.replace("</tool_use_error>", "").strip() for line in text.splitlines()[:400]]
    lines = [line for line in lines if line and not BANNER.match(line)]
    lines = [line for line in lines if WORDS.search(line)] or lines
    lines = [line for line in lines if not FINE.search(line)] or lines
    run = command(step)
    programs = run.programs if run else frozenset[str]()
    if step.told and step.told.outcome == "timed_out":  # what was printed until then is no reason
        lines = [line for line in lines if LATE.search(line)] or lines
    telling = next((x for x in lines if TELLS.search(x) or x.partition(":")[0] in programs), "")
    if run is not None and run.check is not None:
        telling = _of_check(lines, telling, text)
    code = step.told.exit_code if step.told else None
    few = 0 if step.actor == SHELL else FEW
    if not telling and code and (not lines or (run is not None and len(lines) > few)):
        return f"exit code {code}"
    return (telling or (lines[0] if lines else ""))[:300]


def _of_check(lines: list[str], telling: str, text: str) -> str:
    """What a check complains of first, or the words with which its runner says that it failed."""
    told = (_complaint(line, then, telling) for line, then in pairwise((*lines, "")))
    found = next(filter(None, told), "")
    verdict = None if found else read_summary(text)
    return verdict.summary if verdict is not None and not verdict.passed else found


def _complaint(line: str, then: str, telling: str) -> str:
    """What a line complains of, by the one behind it too; empty where it does not."""
    if then.startswith(AN_ERROR) and (marked := MARKED.match(line)):
        return marked[1]
    return line if line == telling or PLACED.match(line) else ""


STOPPED = {
    "rejected": "was rejected and never ran",
    "blocked": "was blocked and never ran",
    "interrupted": "was interrupted",
}
CANCELLED = "was cancelled when another call of its message failed"


def stopped(step: Step) -> str:
    """How a call ended that was turned down or stopped by the user or the harness."""
    if step.result is None:
        return STOPPED["interrupted"] if step.via == "interrupted" else ""
    if step.result.rule == "sibling-failed":
        return f"{CANCELLED}, and never ran"
    return STOPPED.get(step.result.outcome, "")


def _changed(step: Step, touched: list[Touch]) -> Step:
    """What the log proves changed; null where it shows nothing."""
    if step.call is None or step.result is None:
        if step.via == "interrupted":
            text = "Interrupted by the user; no change recorded."
            return put(
                step, {"state_change": derived("interrupted", _here(step))}, state_change=text
            )
        return step
    text, rule = _sentence(step, touched)
    if not text:
        return step
    shown_by = step.told if step.success is False and step.told else step.result
    ground = derived(rule, shown_by.origin.evidence)
    return put(step, {"state_change": ground}, state_change=text)


def _sentence(step: Step, touched: list[Touch]) -> tuple[str, str]:
    assert step.result is not None
    if step.like in PLAN_EXITS and step.success:
        how = " after changing it" if step.result.amended else ""
        return f"The user accepted the plan (step {step.step}){how}.", "plan-accepted"
    if never_ran(step):
        why = (
            "was rejected" if step.result.outcome == "rejected" else "was blocked before it started"
        )
        if step.result.rule == "sibling-failed":
            why = CANCELLED
        return f"No change: the call never ran, it {why}.", "never-ran"
    if step.result.outcome == "interrupted":
        return "Interrupted by the user; no change recorded.", "interrupted"
    changes = [t for t in touched if t.kind in EDITS and t.change]
    if changes:
        said = [_patched(touch, step) for touch in changes]
        said += ["The user changed the edit before accepting it."] * step.result.amended
        return " ".join(said), "recorded-patch"
    run = command(step)
    if run is not None and (commit := COMMIT.search(step.output or "")) and _commits(run):
        torn = _torn(step, run)
        return f"A new commit: {commit[1]}.{torn and ' '}{torn}", "commit-line"
    if run is not None and (torn := _torn(step, run)):
        return torn, "merge-conflict"
    if step.result.commit:
        return f"A new commit: {step.result.commit}.", "recorded-commit"
    asked = [t for t in touched if t.kind in ("edit", "write") and (t.added or t.removed)]
    if run is not None:  # it may do more to a file than it shows
        unseen = {t.path for t in touched if t.kind != "read" and t not in asked}
        asked = [t for t in asked if t.path not in unseen]
    if step.success is False and not asked:
        wrote = any(touch.kind != "read" for touch in touched)
        if run is not None and (wrote or may_have_fixed(step, run)):
            return "", ""
        code = step.told.exit_code if step.told else None
        how = f" with exit code {code}" if code else ""
        return f"No change recorded: the call failed{how}.", "failed"
    if step.success is None:
        return "", ""
    if asked:
        return " ".join(_patched(touch, step) for touch in asked), "arguments-of-the-edit"
    if step.actor == SHELL or unread(step).is_all or step.result.outcome == "launched":
        # Nothing came, it came with a later call, or a history shows nobody what was printed.
        return "", ""
    if step.operation == "read" and not shows_none(step):
        return _gained(step, touched), "context-gained"
    if step.operation == "search" and not (run is not None and run.negated):
        if any(touch.kind == "read" for touch in touched):
            return _gained(step, touched), "context-gained"
        return f"{_context(step)} gained its matches.", "context-gained"
    return "", ""


def _torn(step: Step, run: Command) -> str:
    """The files that Git left with marks of a conflict, or how many they are; empty for none."""
    if BY_GIT.isdisjoint(simple.name for simple in run.simples):
        return ""
    names = list(dict.fromkeys(CONFLICT.findall(step.output or "")))
    if not names:
        return ""
    told = " and ".join(names) if len(names) <= 2 else f"{len(names)} files"
    return f"Git left {'a conflict' if len(names) == 1 else 'conflicts'} in {told}."


GOES_ON = frozenset(["git rebase", "git merge", "git cherry-pick", "git revert"])
"""Commands of Git that commit what they bring."""


def _commits(run: Command) -> bool:
    return "commit" in run.normal or any(simple.name in GOES_ON for simple in run.simples)


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
    run = command(step)
    parts = {absolute(path, base_of(step)) for path in read_in_parts(step)}
    was_cut = run is not None and is_cut(bare_output(step))
    names = []
    for touch in touched:
        if touch.kind == "read":
            name, lines = shown(touch.path, step.cwd), lines_read(touch)
            if lines:
                name += f", {lines}"
            elif touch.path in parts or was_cut:
                name = f"parts of {name}"
            names.append(name)
    what = "; ".join(dict.fromkeys(names)) if names else "its output"
    return f"{_context(step)} gained {what}."


def lines_read(read: Touch) -> str:
    """Which lines a read showed, as far as the log tells; empty for all, or where it does not."""
    if read.first and read.last:
        return f"lines {read.first}-{read.last}"
    return f"from line {read.first}" if read.first and read.first > 1 else ""


def _context(step: Step) -> str:
    """Whose context an output came into."""
    return f"The {'subagent' if step.actor.startswith('subagent') else 'agent'}'s context"
