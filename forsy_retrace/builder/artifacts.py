"""Which files came of it, as far as the log holds them?

`full`: the log holds the final content; `partial`: patches only; `unseen`: only that it changed.
"""

import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

import msgspec

from forsy_retrace.commands import MOVES
from forsy_retrace.events import Hunk
from forsy_retrace.patterns import later
from forsy_retrace.trace import Artifact, Touch, Trace, shortened, steps_named

from .checks.unchecked import is_log, is_plan
from .touched.beside_edits import (
    committed,
    first_listed,
    gone_with_a_folder,
    listed_as_changed,
    listed_before,
    put_back,
    said_to_be_made,
    there_again,
)
from .touched.changes import lines_read
from .touched.paths import shown
from .touched.programs import programs_in
from .touched.replaced import only_takes_out, whole
from .touched.replayed import CHANGES, replay, shown_otherwise, tells_before
from .touched.rewriters import Doubts
from .touched.scratch import GONE, scratch
from .touched.wholes import Held, shown_whole

FOLDERS = ("folder", "folder removed")
TESTS = frozenset(["test", "tests", "spec", "specs", "__tests__", "e2e"])
"""Folders of tests."""
TEST = later(
    r"(?<![A-Za-z])[Tt]ests?(?![a-z])|[a-z0-9]Tests?(?![a-z])|conftest\.|[a-z0-9](?:[._-]s|S)pec\."
)
"""The word in a test's name: `cart_test.py`, `CartTest.java`, `cart.spec.ts`, not `latest.py`."""
APPENDED = "appended to"
"""What became of a file that the log does not show to have been there before."""
CONFIGS = (".toml", ".yaml", ".yml", ".json", ".ini", ".cfg", ".env", ".lock")
MAX_DIFF = 200_000
"""Characters of a diff kept for one file."""


def artifacts(trace: Trace) -> Trace:
    """Each file that the log shows created, modified, deleted or read as evidence."""
    by_path = _by_path(trace)
    said_to_be_made(by_path, trace)
    committed(by_path, trace)
    put_back(by_path, trace)
    listed_before(by_path, trace)
    gone_with_a_folder(by_path, trace)
    session = _Session(trace)
    found = (session.artifact(path, touched) for path, touched in by_path.items())
    return msgspec.structs.replace(trace, artifacts=tuple(filter(None, found)))


def _by_path(trace: Trace) -> dict[str, list[Touch]]:
    """What was done to each file; one that was moved brings along what led to its known content."""
    found: dict[str, list[Touch]] = {}
    for touch in trace.touches:
        if not touch.path or touch.actor == "system":
            continue
        own = found.setdefault(touch.path, [])
        if touch in own[-1:]:
            continue
        here = touch
        if touch.source:
            left = (touch.step, "removed")
            led = [t for t in found.get(touch.source, ()) if (t.step, t.kind) != left]
            if own or replay(led, trace) is None:
                here = msgspec.structs.replace(touch, source="")
            else:
                own += led
        own.append(here)
    return found


def _behind_room_made(changes: list[Touch], touched: list[Touch]) -> list[Touch]:
    """The changes without a removal of what no step had shown, where its line then makes it."""
    if len(changes) < 2 or (first := changes[0]).kind != "removed" or changes[1].kind in GONE:
        return changes
    is_new = all(touch.step >= first.step for touch in touched)
    return changes[1:] if is_new and changes[1].step == first.step else changes


def _reads(touched: list[Touch], before: int) -> tuple[int, ...]:
    """The steps that had read a file before another."""
    return _steps(t for t in touched if t.kind == "read" and t.step < before)


def _read_otherwise(touched: list[Touch]) -> tuple[int, int] | None:
    """Two steps that showed a file whole, one after the other, and not the same."""
    held = [(t.step, text) for t in touched if (text := whole(t.change)) is not None]
    for (first, old), (then, new) in pairwise(held):
        if old != new:
            return first, then
    return None


class _Session:
    """What a whole session tells of its files."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.cwd = next((step.cwd for step in trace.steps if step.cwd), None)
        self.is_scratch = scratch(trace)
        self.doubts = Doubts(trace)
        self.back = there_again(trace)
        self.listed = listed_as_changed(trace)

    def artifact(self, path: str, touched: list[Touch]) -> Artifact | None:
        """One file; None where it is a folder, or was read for nothing."""
        changes = _behind_room_made([touch for touch in touched if touch.kind in CHANGES], touched)
        kinds = [touch.kind for touch in changes]
        if any(touch.kind in FOLDERS for touch in touched) and set(kinds) <= set(GONE):
            return None
        if not changes:
            return self._read(path, touched)
        step = changes[0].step
        if kinds == ["committed"] and (reads := _reads(touched, step)):
            what = f"Read in {_listed(reads)}, committed as new in step {step}."
            state = f"Git lists it as new in the commit of step {step}; no step shows what made it."
            return self._observed(path, (*reads, step), what, state)
        return self._changed(path, touched, changes)

    def _read(self, path: str, touched: list[Touch]) -> Artifact | None:
        """A file that was read as evidence, and of which no change is recorded."""
        steps = _steps(touch for touch in touched if self.trace.steps[touch.step - 1].eval == 1)
        if not steps:
            return None
        state = "Read; no change of it is recorded."
        if apart := _read_otherwise(touched):
            first, then = apart
            state = f"Read; step {then} shows it otherwise than step {first}{BY_WHAT}"
        elif number := first_listed(path, self.listed):
            state = f"Read; Git lists it as changed in step {number}{BY_WHAT}"
        return self._observed(path, steps, f"Read as evidence in {_listed(steps)}.", state)

    def _observed(self, path: str, steps: tuple[int, ...], what: str, state: str) -> Artifact:
        name = shown(path, self.cwd)
        return Artifact(name, "observed", "evidence", steps, what, state, "unseen")

    def _changed(self, path: str, touched: list[Touch], changes: list[Touch]) -> Artifact:
        trace, back = self.trace, self.back.get(path)
        steps = _steps(changes)
        held = replay(touched, trace)
        verbs = list(_verbs(touched, changes))
        kind = "modified" if back and verbs[-1] == "deleted" else _type(verbs)
        diff = _diff(changes)
        grade = "full" if held is not None else ("partial" if diff else "unseen")
        untold = {step for step in steps if trace.steps[step - 1].success is None}
        if untold != set(steps) or _read_back(touched, trace):
            what = _history(changes, verbs, untold if untold != set(steps) else set())
            content = _content(touched, trace, grade, held, self.doubts)
            state = _state(changes, trace, content, back, self.cwd)
        else:
            done = verbs[0] if set(verbs) == {APPENDED} else kind
            what = f"To be {done} by {_listed(steps)}; the log does not say whether it was."
            state = ASKED[grade]
        is_passing = self.is_scratch(path) or is_plan(path) or _came_and_went(verbs)
        return Artifact(
            shown(path, self.cwd),
            kind,
            "intermediate" if is_passing else _role(path),
            steps,
            what,
            state,
            grade,
            content=held.text if held is not None and kind != "deleted" else None,
            diff=diff,
        )


def _steps(touches: Iterable[Touch]) -> tuple[int, ...]:
    return tuple(sorted({touch.step for touch in touches}))


def _read_back(touched: list[Touch], trace: Trace) -> bool:
    """Whether a later look at the file showed what a change was to put into it."""
    made = {touch.step for touch in touched if touch.kind in CHANGES}
    looks = (trace.checks.get(touch.step) for touch in touched if touch.kind == "read")
    return any(
        look is not None and look.kind == "read-back" and not made.isdisjoint(look.edits)
        for look in looks
    )


def _verbs(touched: list[Touch], changes: list[Touch]) -> Iterator[str]:
    """What each change does to the file: created, modified, moved, put back and so on.

    What an earlier step read or listed was there, unless the harness says that the write made it.
    What is put at a file's end makes the file where there is none, and the log may tell of neither.
    """
    stands, since = False, 0
    for touch in changes:
        fresh = (touch.kind == "write" or touch.appends) and not stands
        if fresh and touch.change is None:
            seen = (t.step for t in touched if t.kind in ("read", "listed"))
            fresh = not any(since < step < touch.step for step in seen)
        stands = touch.kind not in GONE
        since = 0 if stands else touch.step
        if not stands:
            yield "deleted"
        elif touch.source:
            yield "moved here"
        elif touch.kind == "committed":
            yield "committed as new"
        elif touch.kind in ("generated", "put back"):
            yield touch.kind
        else:
            made = fresh and (touch.change is None or touch.change.kind == "created")
            yield (APPENDED if touch.appends else "created") if made else "modified"


def _type(verbs: list[str]) -> str:
    """What became of the file in all."""
    if verbs[-1] == "deleted":
        return "deleted"
    if set(verbs) <= {"generated", "deleted", "moved here", "committed as new"}:
        return "generated"
    return "created" if verbs[0] == "created" else "modified"


def _came_and_went(verbs: list[str]) -> bool:
    """Whether the session itself made the file, and took it away in the end."""
    return verbs[0] in ("created", "generated") and verbs[-1] == "deleted"


def _history(changes: list[Touch], verbs: list[str], untold: set[int]) -> str:
    """`Created in step 3, modified in steps 5 and 7, perhaps modified in step 8.`

    What a step does to the file that it makes belongs to the making. Beside steps that are told to
    have worked stand those of which the log does not say so.
    """
    done: dict[str, list[int]] = {}
    for touch, verb in zip(changes, verbs, strict=True):
        is_part = verb in ("modified", "generated") and touch.step in done.get("created", ())
        if not is_part:
            surely = "perhaps " if touch.step in untold and touch.change is None else ""
            done.setdefault(f"{surely}{verb}", []).append(touch.step)
    told = (f"{verb} in {_listed(tuple(sorted(set(steps))))}" for verb, steps in done.items())
    text = ", ".join(told)
    return f"{text[:1].upper()}{text[1:]}."


def _diff(changes: list[Touch]) -> str | None:
    """The recorded patches, one after another, each under the step that made it."""
    parts = []
    for touch in changes:
        lines: list[str] = []
        if touch.change is not None and touch.change.hunks:
            for hunk in touch.change.hunks:
                lines += [_header(hunk), *hunk.lines]
        elif touch.kind == "edit" and (touch.removed or touch.added):
            lines = ["@@", *(f"-{line}" for line in touch.removed)]
            lines += [f"+{line}" for line in touch.added]
        if lines:
            parts.append("\n".join([f"# step {touch.step}", *lines]))
    text = "\n".join(parts)
    if len(text) > MAX_DIFF:
        kept = shortened(text, MAX_DIFF, "")
        text = f"{kept}\n# {len(text) - len(kept)} more characters left out"
    return text or None


def _header(hunk: Hunk) -> str:
    """The first line of a piece, with where it stands and how long it is, where the log tells."""
    if not hunk.is_placed:
        return "@@"
    marks = Counter(line[:1] for line in hunk.lines)
    old, new = (marks[" "] + marks[""] + marks[mark] for mark in "-+")
    return f"@@ -{hunk.old_start},{old} +{hunk.new_start},{new} @@"


def _role(path: str) -> str:
    folders, _, name = path.rpartition("/")
    end = posixpath.splitext(name)[1].lower()
    if is_log(path):
        return "log"
    if not TESTS.isdisjoint(folders.lower().split("/")) or TEST.search(name):
        return "test"
    return "config" if end in CONFIGS else "deliverable"


COMMANDED = "The log holds the command that changed it"
BY_WHAT = ", and what changed it is not known."
UNTOLD = ", not what it then held"
"""Of a command that shows nothing of it, as nothing does after it."""
SHOWN = {
    "full": "The log holds its final content.",
    "partial": "The log holds patches of it, not the whole.",
    "unseen": "The log shows that it changed, not how.",
}
ASKED = {
    "full": "The log holds what was to be written.",
    "partial": "The log holds the patches that were asked for.",
    "unseen": "The log shows what was asked for, not what came of it.",
}


def _tells_content(touch: Touch, trace: Trace) -> bool:
    """Whether a step shows or makes the whole of a file, whatever was there before."""
    if touch.kind == "write" or tells_before(touch):
        return True
    return shown_whole(trace, touch) is not None


def _state(
    changes: list[Touch], trace: Trace, content: str, back: int | None, cwd: str | None
) -> str:
    last = changes[-1]
    back_again = last.kind == "put back"
    lost = {touch.step for touch in changes} & set(trace.replaced)
    told = {touch.step for touch in changes if touch.kind in (*GONE, "put back")}
    undone = {step for step in lost if trace.replaced[step] not in told}
    parts = [f"Last changed in step {last.step}{', where Git put it back' if back_again else ''}."]
    if undone:
        by = (trace.steps[trace.replaced[step] - 1] for step in undone)
        went = "taken out" if all(map(only_takes_out, by)) else "replaced"
        parts.append(f"What {_listed(tuple(sorted(undone)))} wrote was mostly {went} later.")
    if last.kind not in GONE:
        if last.kind == "committed":
            parts[0] = f"Git lists it as new in the commit of step {last.step}."
        if content:
            parts.append(content)
    else:
        left = _moved(last, trace, cwd) or GONE[last.kind]
        parts.append(f"Step {back} shows it again." if back else left)
    return " ".join(parts)


def _content(
    touched: list[Touch], trace: Trace, grade: str, held: Held | None, doubts: Doubts
) -> str:
    """What the log tells of a file's content; where it was read since, if that is not known."""
    path = touched[-1].path
    if held is not None:
        tells = (touch.step for touch in touched if _tells_content(touch, trace))
        doubt = doubts.of(path, max(tells, default=0))
        told = f"The log holds its content; {doubt}" if doubt else SHOWN[grade]
        return told if held.edges else f"{told} Blank lines and line ends at its ends may differ."
    last = max(at for at, touch in enumerate(touched) if touch.kind in CHANGES)
    if number := shown_otherwise(touched, trace):
        doubt = doubts.of(path, touched[last].step)
        return f"Step {number} shows it otherwise{f'; {doubt}' if doubt else BY_WHAT}"
    step = trace.steps[touched[last].step - 1]
    run, told = step.run, SHOWN[grade]
    if grade == "unseen" and run is None and programs_in(step):
        told = f"The log holds the code that changed it{UNTOLD}."
    elif grade == "unseen" and run is not None:
        shows = any(t.kind == "read" and t.step >= touched[last].step for t in touched)
        shows = shows or any(one.name == "tee" for one in run.simples)
        told = f"{COMMANDED}{'' if shows else UNTOLD}."
    if touched[last].kind == "committed":
        told = ""
    elif doubt := doubts.of(path, touched[-1].step):
        told = f"{told} {doubt[0].upper()}{doubt[1:]}"
    for read in reversed(touched[last + 1 :]):
        if read.kind == "read" and trace.steps[read.step - 1].result is not None:
            lines = lines_read(read)
            seen = f"It was last read in step {read.step}{f' ({lines})' if lines else ''}."
            return f"{told} {seen}".strip()
    return told


def _moved(last: Touch, trace: Trace, cwd: str | None) -> str:
    """Where a command moved a file, in its words; empty where it took it away."""
    run = trace.steps[last.step - 1].run
    name = posixpath.basename(last.path)
    for simple in run.simples if run is not None else ():
        if simple.name in MOVES and name in map(posixpath.basename, simple.reads):
            to = [path for path in simple.writes if path not in simple.reads]
            return f"A command moved it to {shown(to[0], cwd)}." if to else "A command moved it."
    return ""


def _listed(steps: tuple[int, ...]) -> str:
    if len(steps) > 6:
        return f"{len(steps)} steps from {steps[0]} to {steps[-1]}"
    return steps_named(steps)
