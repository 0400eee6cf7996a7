"""What did a step change or show? Facts before the step, facts after it, from the log alone."""

import posixpath
from collections.abc import Iterable

import msgspec

from forsy_retrace.events import Hunk
from forsy_retrace.evidence import Evidence
from forsy_retrace.patterns import later
from forsy_retrace.trace import Step, Touch, Trace, put

from .classify import patch_of, patched_files
from .outcome import made
from .outputs.failures import first_error, stopped
from .reached.answered import BROWSES, Page, page_of
from .reached.asked import asked
from .rule import Rule
from .tools import path_of
from .touched.changes import changed, lines_read
from .touched.fixers import may_have_fixed, merged_files, rewrites_of, rewrites_unnamed
from .touched.paths import absolute, base_of, shown
from .touched.programs import paths_put
from .touched.replaced import before_of, whole
from .touched.rewriters import Rewriters, by_git
from .touched.scratch import EDITS, GONE
from .touched.touches import touches
from .variants import Lines

LOGGED = Rule(
    "logged-state", "Where the step ran, what its actor knows of the target, the last failure."
)


def files(trace: Trace) -> Trace:
    """Observations and state changes, from recorded patches, reads, failures and results."""
    found = tuple(touches(trace))
    by_step: dict[int, list[Touch]] = {}
    for touch in found:
        by_step.setdefault(touch.step, []).append(touch)
    looks = _Looks()
    lines = Lines(trace, _Received)
    steps = []
    contents = Contents()
    for step in trace.steps:
        received = lines.of(step)
        if step.action != "user_message":
            touched = by_step.get(step.step, [])
            outside = contents.take(touched, step)
            page = looks.pages.get(step.actor)
            step = _observed(step, touched, looks, received.before(step), outside)
            known = frozenset(touch.path for touch in touched if looks.stands(touch))
            step = changed(step, touched, page[0] if page else None, known)
            received.take(step)
        lines.end(step)
        looks.take(step, by_step.get(step.step, ()))
        steps.append(step)
    return msgspec.structs.replace(
        trace, steps=tuple(steps), touches=found, strange=frozenset(contents.strange)
    )


class _Looks:
    """What each actor knows of where it works: folder and branch, files, and its browser's page."""

    def __init__(self) -> None:
        self.files: dict[tuple[str, str], _Known] = {}
        self.places: dict[str, tuple[str | None, str | None]] = {}
        self.pages: dict[str, tuple[Page, int]] = {}
        """The page that was shown last, and the step that showed it."""

    def stands(self, touch: Touch) -> bool:
        """Whether the actor knows of a file, and of nothing that took it away."""
        known = self.files.get((touch.actor, touch.path))
        return known is not None and (known.edit is None or known.edit.kind not in GONE)

    def take(self, step: Step, touched: Iterable[Touch]) -> None:
        if (page := page_of(step)) is not None:
            self.pages[step.actor] = page, step.step
        for touch in touched:
            if touch.kind != "read" or step.result is not None:
                known = self.files.setdefault((touch.actor, touch.path), _Known())
                known.take(touch, is_told=step.success is not None or touch.change is not None)


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
        self.is_told = True
        """Whether the log says that the edit worked."""

    def take(self, touch: Touch, *, is_told: bool) -> None:
        if touch.kind == "read":
            self.read = touch
        else:
            self.edit, self.is_told = touch, is_told

    @property
    def steps(self) -> list[int]:
        return [touch.step for touch in (self.read, self.edit) if touch is not None]

    def sentence(self, path: str, cwd: str | None) -> str:
        """`src/a.py was last read in step 7 (lines 1-200) and edited in step 9.`"""
        parts = []
        if (read := self.read) is not None:
            lines = lines_read(read)
            parts.append(f"last read in step {read.step}" + (f" ({lines})" if lines else ""))
        if self.edit is not None:
            surely = "" if self.is_told else "perhaps "
            moved = shown(self.edit.source, cwd)
            how = f"moved there from {moved}" if moved else WAS[self.edit.kind]
            parts.append(f"{surely}{how} in step {self.edit.step}")
        return f"{shown(path, cwd)} was {' and '.join(parts)}."


class Contents:
    """What each file held after the last step that the log shows whole."""

    def __init__(self) -> None:
        self.held: dict[str, tuple[str, int]] = {}
        self.named: dict[str, int] = {}
        """The names of files that shell lines write, wherever they lie, and the last such step."""
        self.fixed = 0
        """The last step that may have fixed or formatted files, whatever their names."""
        self.by_git = Rewriters()
        """The commands by which Git may have put other contents into files."""
        self.merged: dict[str, int] = {}
        """The files that Git says it merged, as it writes them, and the last such step."""
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
                by = "" if known else self._by(touch.path, since)
                if not known:
                    self.strange.add((step.step, touch.path))
                said.append(f"{name} had changed since step {since}{by}.")
            if after is not None:
                self.held[touch.path] = (after, touch.step)
            elif touch.kind != "read":
                self.held.pop(touch.path, None)
        run = step.run
        if run is not None and may_have_fixed(step, run):
            self.fixed = step.step if any(map(rewrites_unnamed, run.simples)) else self.fixed
        for path in (*run.writes, *paths_put(run)) if run is not None else ():
            self.named[posixpath.basename(path.replace("\\", "/"))] = step.step
        rewrites = [by_git(step.step, simple) for simple in rewrites_of(step)]
        for one in rewrites:
            self.by_git.add(one)
        self.merged |= dict.fromkeys(merged_files(step.printed) if rewrites else (), step.step)
        return " ".join(dict.fromkeys(said))

    def _by(self, path: str, since: int) -> str:
        """What else than the edits of the log may have changed a file since a step."""
        merged = max((n for name, n in self.merged.items() if path.endswith(f"/{name}")), default=0)
        if merged > since:
            return f"; Git merged it in step {merged}"
        if number := self.by_git.first(path, since):
            return f"; Git may have changed it in step {number}"
        return ", by no edit that the log shows"


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
    """A text after an edit, as the harness recorded it; None where neither what it replaces nor its
    patch fits.

    A text that was only taken out may have taken the end of its line along, as the patch shows; and
    a formatter of the client may have written more than was asked for. In the patch a tab may have
    become blanks: where nothing else differs, what was asked for is what was written.
    """
    if touch.change is not None and touch.change.after is not None:
        return touch.change.after
    if base is None:
        return None
    hunks = touch.change.hunks if touch.change is not None else ()
    if touch.old == "" and touch.new is not None and not hunks:
        return base + touch.new
    told = touch.new if touch.new or not hunks else None
    patched = _patched_text(base, hunks) if hunks else None
    if not touch.old or told is None or base.count(touch.old) != 1:
        return patched
    asked = base.replace(touch.old, told)
    return patched if patched is not None and patched.split() != asked.split() else asked


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
    step: Step, touched: list[Touch], looks: _Looks, last: Step | None, outside: str
) -> Step:
    """What was true before the step: where it ran, what is known of its target, what failed."""
    said: list[str] = []
    because: list[int] = []
    here = (step.cwd, step.git_branch)
    if looks.places.get(step.actor) != here and any(here):
        looks.places[step.actor] = here
        said.append(_place(step))
    if named := asked(step):
        said.append(named)
    if step.surface in BROWSES and step.actor in looks.pages:
        page, since = looks.pages[step.actor]
        said.append(f"The page was {page} (step {since}).")
        because.append(since)
    for path in _targets(step, touched):
        if past := looks.files.get((step.actor, path)):
            said.append(past.sentence(path, step.cwd))
            because += past.steps
    if outside:
        said.append(outside)
    seen = last is not None and last.told is last.result and not made(last, step)
    if last is not None and seen and last.success is False and (how := _how(last)):
        said.append(how)
        because.append(last.step)
    if not said:
        return step
    ground = LOGGED.ground(_here(step), steps=tuple(sorted(set(because))))
    return put(step, {"observation": ground}, observation=" ".join(said))


MOST = 5
"""Files of one patch that an observation speaks of."""


def _targets(step: Step, touched: Iterable[Touch]) -> list[str]:
    """The files that a call names, or that the edit which it sends did or was to do something to."""
    sent = step.call.input if step.call else None
    if (path := path_of(sent)) is not None:
        return [absolute(path, step.cwd)]
    edits = step.run is None and step.operation in ("edit", "write")
    if not (edits or patch_of(step)):
        return []
    done = dict.fromkeys(touch.path for touch in touched if touch.kind in EDITS)
    meant = (absolute(path, base_of(step)) for path in patched_files(step)) if not done else ()
    return [*done, *dict.fromkeys(meant)][:MOST]


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
