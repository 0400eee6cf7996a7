"""What the session says of files beside its edits: commits, listings, folders taken away."""

import posixpath
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from forsy_retrace.commands import MOVES, Simple
from forsy_retrace.patterns import later
from forsy_retrace.trace import Touch, Trace

from ..outputs.gaps import whole_lines
from .edits import put_back_by
from .listings import named_in
from .paths import absolute, base_of, folders_above
from .replayed import CHANGES
from .scratch import GONE
from .tracked import makers

CREATED = later(r"(?m)^ create mode 100\d{3} (?!\")(.+)$")
"""How `git commit` lists a file that is new to Git."""


def committed(by_path: dict[str, list[Touch]], trace: Trace) -> None:
    """Adds the files that a commit lists as new and of which no step shows what made them.

    Git names them from the top of the repository: a folder from which another step, or the line
    that adds it, names one of them so.
    """
    named = set(by_path)
    for step in trace.steps:
        run = step.run if step.success else None
        if run is None or "git" not in run.programs:
            continue
        base = base_of(step) or ""
        added = (word for one in run.simples if one.name == "git add" for word in one.words[2:])
        named.update(absolute(word, base) for word in added)
        if not any(one.name == "git commit" for one in run.simples):
            continue
        names = CREATED.findall(whole_lines(step.printed))
        tops = [base, *folders_above(base)] if base and names else []
        top = next((top for top in tops if any(f"{top}/{one}" in named for one in names)), None)
        for name in names if top is not None else ():
            touched = by_path.setdefault(path := f"{top}/{name}", [])
            if not any(touch.kind in CHANGES for touch in touched):
                touched.append(Touch(step.step, step.actor, path, "committed"))
                touched.sort(key=lambda touch: touch.step)


def put_back(by_path: Mapping[str, list[Touch]], trace: Trace) -> None:
    """Adds to the touches of a file each step in which Git took back what edits had put into it.

    One that names no file, or its folder alone, leaves alone what the session itself made.
    """
    replaced = (trace.steps[number - 1] for number in sorted(set(trace.replaced.values())))
    lines = [(here, back) for here in replaced if here.success and (back := put_back_by(here))]
    made = makers(trace.touches) if lines else {}
    for path, touched in by_path.items() if lines else ():
        for here, back in lines:
            lost = any(trace.replaced.get(touch.step) == here.step for touch in touched)
            own = any(touch.step == here.step for touch in touched)
            folders = (base_of(here) or "",) if back.whole else back.paths
            below = path not in made and any(path.startswith(f"{folder}/") for folder in folders)
            if lost and not own and (below or path in back.paths):
                touched.append(Touch(here.step, here.actor, path, "put back"))
        touched.sort(key=lambda touch: touch.step)


def listed_before(by_path: Mapping[str, list[Touch]], trace: Trace) -> None:
    """Adds the steps that list a file of which no harness says whether a write made it."""
    unsaid = (
        path
        for path, touched in by_path.items()
        if any(touch.kind == "write" and touch.change is None for touch in touched)
    )
    for number, path in named_in(trace.steps, unsaid):
        actor = trace.steps[number - 1].actor
        by_path[path].append(Touch(number, actor, path, "listed"))
        by_path[path].sort(key=lambda touch: touch.step)


def gone_with_a_folder(by_path: Mapping[str, list[Touch]], trace: Trace) -> None:
    """Adds the steps that removed a folder in which a changed file lay, and did not make it anew."""
    removed: dict[str, list[Touch]] = {}
    for touch in trace.touches:
        step = trace.steps[touch.step - 1]
        run = step.run if step.success and touch.kind in ("removed", "folder removed") else None
        if run is not None and not any(one.name in MOVES for one in run.simples):
            removed.setdefault(touch.path, []).append(touch)
    for path, touched in by_path.items() if removed else ():
        for gone in [touch for folder in folders_above(path) for touch in removed.get(folder, ())]:
            before = [t.kind for t in touched if t.step < gone.step and t.kind in CHANGES]
            again = any(t.step == gone.step for t in touched)
            if before and before[-1] not in GONE and not again:
                touched.append(Touch(gone.step, gone.actor, path, "removed"))
                touched.sort(key=lambda touch: touch.step)


LISTED = later(
    r"(?m)^(?:(?: M|M |MM|AM) (?P<short>[^\n]+)|[ \t]+modified:[ \t]+(?P<long>[^\n]+)"
    r"|diff --git a/[^\n]+ b/(?P<diff>[^\n]+))$"
)
"""How `git status` and `git diff` name a file that differs from what was committed."""


def _lists_changes(simple: Simple) -> bool:
    """Whether a command of Git shows what differs from what was committed, not two commits."""
    if simple.name == "git status":
        return True
    words = simple.words[2 : simple.words.index("--") if "--" in simple.words else None]
    revisions = [word for word in words if word[:1] != "-" and "/" not in word]
    is_between = any(".." in word for word in words) or len(revisions) > 1
    return simple.name == "git diff" and not is_between


class Named(NamedTuple):
    """A file that Git listed as changed: in which step, as it named it, and from its folder."""

    step: int
    name: str
    path: str

    def is_of(self, path: str) -> bool:
        """Whether it names that file, from its own folder or from the top of the repository."""
        return self.path == path or ("/" in self.name and path.endswith(f"/{self.name}"))


def listed_as_changed(trace: Trace) -> dict[str, list[Named]]:
    """What Git listed as changed, by the last part of its name."""
    found: dict[str, list[Named]] = {}
    for step in trace.steps:
        run = step.run if step.success else None
        if run is not None and any(map(_lists_changes, run.simples)):
            for listed in LISTED.finditer(step.printed):
                name = listed[listed.lastgroup or 0].strip()
                named = Named(step.step, name, absolute(name, base_of(step)))
                found.setdefault(posixpath.basename(name), []).append(named)
    return found


def first_listed(path: str, listed: Mapping[str, list[Named]]) -> int | None:
    """The first step in which Git listed a file as changed."""
    named = listed.get(posixpath.basename(path), ())
    return next((one.step for one in named if one.is_of(path)), None)


def there_again(trace: Trace) -> dict[str, int]:
    """The last step that shows what was deleted to be there: the path itself, or one below it."""
    back: dict[str, int] = {}
    gone: dict[str, int] = {}
    for touch in trace.touches:
        if touch.kind in GONE:
            gone[touch.path] = touch.step
            back.pop(touch.path, None)
        elif gone:
            around = {touch.path, *folders_above(touch.path)}
            back.update(dict.fromkeys(gone.keys() & around, touch.step))
    seen = (*named_in(trace.steps, gone), *_said_to_be_made(trace)) if gone else ()
    for number, path in seen:
        for one in (path, *folders_above(path)):
            if gone.get(one, number) < number:
                back[one] = max(back.get(one, 0), number)
    return back


MADE = later(
    r"(?im)(?<!\bbe )(?<!\bnot )\b(?:wrote|written|saved|exported|generated|created)\b"
    r"(?! (?:by|from)\b)[^\n]{0,160}?[ '\"`]"
    r"(?P<to>[\w.@~+:-]{0,100}[/\\][\w.@~+/\\-]{0,300}\w)['\"`]?(?: \([\d.]+ ?[kMG]?i?B\))?[.,;]?\r?$"
    r"|^[ \t]*(?P<sized>[\w.@~+-]{1,100}/[\w.@~+/\[\]-]{0,300}\w)[ \t]+[\d.,]{1,20} ?[kMG]?i?B\b"
)
"""How a program says which file it made, at the end of a line or with its size behind it."""
MAKING = ("rote", "ritten", "aved", "xported", "enerated", "reated")
"""What its words have in common in small letters and with a capital."""
SIZE = later(r"(?i)[\d.,] ?[kmg]?i?b\b")
"""How bundlers print one."""
SHOWS = ("read", "search")
"""Operations that print what others wrote."""


def _said_to_be_made(trace: Trace, *, of_bundles: bool = True) -> Iterator[tuple[int, str]]:
    """The files that programs say to have made, with the step; also those whose sizes bundlers list."""
    for step in trace.steps:
        if step.run is not None and step.success is not False and step.operation not in SHOWS:
            text = step.printed
            for found in MADE.finditer(text) if _may_tell(text, of_bundles) else ():
                if (found["to"] or of_bundles) and "saved to: " not in found[0]:
                    yield step.step, absolute(found["to"] or found["sized"], base_of(step))


def _may_tell(text: str, of_bundles: bool) -> bool:
    """Whether a text has the words of programs that made a file, or the size of a bundle."""
    small = text.lower() if of_bundles else text
    return any(word in small for word in MAKING) or (of_bundles and SIZE.search(text) is not None)


def said_to_be_made(by_path: dict[str, list[Touch]], trace: Trace) -> None:
    """Adds the files that a command which worked says to have made, by paths that mean one place.

    What a test says is of its own fixtures.
    """
    for number, path in _said_to_be_made(trace, of_bundles=False):
        step = trace.steps[number - 1]
        run = step.run
        if run is None or not step.success or any(one.check == "tests" for one in run.simples):
            continue
        if not WHOLE_PATH.match(path) or not posixpath.splitext(path)[1]:
            continue
        touched = by_path.setdefault(path, [])
        if not any(t.step == number and t.kind in CHANGES and t.kind not in GONE for t in touched):
            touched.append(Touch(number, step.actor, path, "generated"))
            touched.sort(key=lambda touch: touch.step)


WHOLE_PATH = later(r"/|[A-Za-z]:/")
"""How a path begins that means one place."""
