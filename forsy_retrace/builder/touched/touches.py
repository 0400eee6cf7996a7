"""Which files did a step read or change, as far as the log shows?"""

import posixpath
from collections import Counter
from collections.abc import Iterable, Iterator

from forsy_retrace.commands import MOVES, REMOVES, Command, Simple
from forsy_retrace.events import SHELL, Change
from forsy_retrace.patterns import later
from forsy_retrace.sdk import lines_of
from forsy_retrace.trace import Step, Touch, Trace

from ..classify import patched_files
from ..outcome import never_ran
from ..outputs.begun import NO_SYNTAX
from ..outputs.gaps import lost
from ..outputs.printed import numbered, shows_none, unreached, unread
from ..shells import code_of
from ..tools import path_of
from .fixers import unnamed
from .paths import absolute, base_of, known_places
from .programs import CRASHED, programs, puts
from .ranges import lines_shown
from .replaced import line_changes, patch_changes, replaced, replacements

EDITORS = ("Edit", "MultiEdit", "NotebookEdit", "apply_patch", "str_replace_editor")
WRITERS = ("Write", "create_file", "write_file")
READERS = ("Read", "NotebookRead", "read_file")
WRITTEN_BY = {"write": "write", "edit": "edit", "execute": "generated"}
"""What a simple command's target is to it; a build's output or a log is generated, not edited,
and what a formatter rewrites is changed by a check."""
APPENDS = frozenset(["redirect-append", "tee"])
"""The rules of commands that, where they edit, put something at a file's end."""
MAKES_FOLDERS = frozenset(["mkdir", "md"])
"""Commands whose targets are folders with nothing in them."""
ROOTED = later(r"[/~\\]|[A-Za-z]:")
"""How a path begins that means the same wherever a command runs."""
NO_FILE = later(
    r"(?i)\s*\Z|/dev/null\Z|(?:env|variable|function|alias|hklm|hkcu):|[a-z][\w+.-]+://"
)
"""Nothing, nowhere, addresses, and the drives of PowerShell that hold no files."""
CLEANED = later(r"(?m)^Removing (\S.*)$")
"""How `git clean` tells what it deleted, from its folder on."""
NOT_WRITTEN = later(
    r"(?im)^.*(?:no such file or directory|permission denied|read-only file system"
    r"|operation not permitted|not a directory|is a directory|no space left).*$"
)
"""How a system says of a file that it could not be written, or is not there."""
Named = tuple[int, str, str]
"""A file that a line names: in which command, the file, and what that does to it."""


def touches(trace: Trace) -> Iterator[Touch]:
    """In order of steps; calls that failed touched what the harness recorded, as far as is known."""
    for step in trace.steps:
        if step.call is None:
            continue
        if step.success is False and not _ran_in_part(step):
            for change in step.result.changes if step.result and not never_ran(step) else ():
                if change.kind != "shown":
                    yield from _recorded(step, change)
            continue
        if step.actor == SHELL:
            continue  # a history shows commands, not files: who opened an editor may have read only
        yield from _of_call(step)


def _ran_in_part(step: Step) -> bool:
    """A failed shell line may have changed files before it failed: a fixer, then a lint.

    Where only its output tells that it failed, it ran to its end and showed what it wrote.
    """
    run = step.run
    if run is None or never_ran(step):
        return False
    named = list(_named(step, run))
    return run.fixes or bool(_kept(step, run, named)) or any(_poured_before(step, run, named))


def _poured_before(step: Step, run: Command, named: Iterable[Named]) -> Iterator[Named]:
    """The files that got a here-document before another command of the line failed.

    Nothing before it could stop it, and nobody complains of the file.
    """
    if step.output is None or NO_SYNTAX.match(step.printed):
        return
    sure = (one for one in run.poured if not (one.may_stop or one.if_worked))
    before = {one.at for one in sure if one.at + 1 < len(run.simples)}
    put = [one for one in named if one[0] in before]
    found = NOT_WRITTEN.finditer(step.printed) if put else ()
    complaints = " ".join(one[0] for one in found)
    for one in put:
        if posixpath.basename(one[1]) not in complaints:
            yield one


def _of_call(step: Step) -> Iterator[Touch]:
    assert step.call is not None
    sent, tool = step.call.input, step.like
    recorded = step.result.changes if step.result else ()
    run = step.run
    if run is not None:
        yield from _of_line(step, run, recorded)
        return
    for change in recorded:
        yield from _recorded(step, change)
    for path, kind in _put(step, code_of(tool, sent)):
        yield _touch(step, absolute(path, step.cwd), kind)
    patched = [] if recorded else [*_patched(step)]
    yield from patched
    named = path_of(sent)
    if recorded or patched or named is None:
        return
    path = absolute(named, step.cwd)
    if tool in READERS:
        yield from _read(step, path)
    elif tool in WRITERS and (text := written(sent)) is not None:
        yield _touch(step, path, "write", new=text, added=tuple(lines_of(text)))
    elif tool in EDITORS:
        yield from _asked(step, path)


def _of_line(step: Step, run: Command, recorded: Iterable[Change]) -> Iterator[Touch]:
    """What a shell's line did: by the harness's record, and by its commands where that is silent."""
    poured = {one.at: one.text for one in run.poured if step.success or not one.if_worked}
    named = list(_named(step, run))
    if step.success is False and not run.fixes:
        kept, before = _kept(step, run, named), set(_poured_before(step, run, named))
        named = [one for one in named if one[1] in kept or one in before]
    times = Counter(path for _, path, kind in named if kind != "read")
    alone = {path for path, number in times.items() if number == 1}
    whole = {path for at, path, kind in named if at in poured and kind == "write"} & alone
    told = {absolute(one.path, step.cwd): one for one in recorded if one.kind != "shown"}
    for change in recorded:
        if absolute(change.path, step.cwd) not in whole:
            yield from _recorded(step, change)
    reads = any(kind == "read" for _, _, kind in named)
    first, last = (lines_shown(step) if reads else None) or (None, None)
    for at, path, kind in named:
        text = poured.get(at)
        if kind == "read":
            yield _touch(step, path, kind, first=first, last=last)
        elif text is not None and (path in whole or path not in told):
            yield _poured(step, path, kind, text, told.get(path))
        elif path not in told:
            simple = run.simples[at]
            appends = kind == "edit" and simple.rule in APPENDS
            yield _touch(step, path, kind, source=_source(step, simple, path), appends=appends)


def _kept(step: Step, run: Command, named: Iterable[Named]) -> frozenset[str]:
    """The files into which a line that went through put what it prints, and which it shows as well."""
    if step.told is None or step.told.outcome != "ok":
        return frozenset()
    put = dict[str, int]()
    kept = set[str]()
    for at, path, kind in named:
        one, name = run.simples[at], posixpath.basename(path)
        if one.name == "tee":
            kept.add(path)
        elif kind != "read" and name not in map(posixpath.basename, one.words):
            put.setdefault(path, at)
        elif kind == "read" and put.get(path, at) < at:
            kept.add(path)
    return frozenset(kept)


def _named(step: Step, run: Command) -> Iterator[Named]:
    """The files that the commands of a line name."""
    ran = unreached(step)
    cwd = absolute(run.cwd, step.cwd) if run.cwd and not ran else step.cwd
    missed, known, unseen = unread(step), known_places(run), lost(step)
    blank = step.output is not None and missed.is_all
    for at, simple in enumerate(run.simples[ran:], ran):
        if simple.words[:2] == ("git", "clean") and at < known:
            for path in CLEANED.findall(step.printed):
                yield at, absolute(path, cwd), "removed"
        for path in filter(_is_file, _targets(simple)):
            if at < known or ROOTED.match(path):
                yield at, absolute(path, cwd), _written(simple, path)
        for path in filter(_is_file, simple.reads if simple.shows and not blank else ()):
            if missed.holds(at, simple.words[0], path) or (at, path) in unseen:
                continue
            if at < known or ROOTED.match(path):
                yield at, absolute(path, cwd), "read"
    for at, text in programs(run):
        for path, kind in _put(step, text):
            if at >= ran and (at < known or ROOTED.match(path)):
                yield at, absolute(path, cwd), kind


def _put(step: Step, program: str) -> Iterator[tuple[str, str]]:
    """The files that a program wrote which ran to its end, and what that did to each."""
    found = [put for put in puts(program) if put.surely and _is_file(put.path)]
    for put in found if found and not CRASHED.search(step.printed) else ():
        yield put.path, "edit" if put.is_read else "generated"


def _targets(simple: Simple) -> tuple[str, ...]:
    """What a command writes; of one that moves files also where it takes them from."""
    moved = _moved(simple)
    return (*moved.values(), *moved) if moved else simple.writes


def _moved(simple: Simple) -> dict[str, str]:
    """Where `mv` puts each file, and where it takes it from; empty where its words do not tell.

    A last word may be a folder that is there, unless it ends as the one file that is moved.
    """
    *sources, target = simple.writes or ("",)
    if simple.name not in ("mv", "git mv") or tuple(sources) != simple.reads or not sources:
        return {}
    if not BY_TARGET.isdisjoint(word.partition("=")[0] for word in simple.words):
        return {}
    if len(sources) > 1 or target.endswith(("/", "/..")) or target in (".", ".."):
        return {posixpath.join(target, posixpath.basename(one)): one for one in sources}
    end = posixpath.splitext(target)[1]
    return {target: sources[0]} if end and end == posixpath.splitext(sources[0])[1] else {}


BY_TARGET = frozenset(["-t", "--target-directory"])
"""With one of these, `mv` names the folder before the files."""


def _source(step: Step, simple: Simple, path: str) -> str:
    """Where a command took a file from; empty where it moved none there."""
    base = base_of(step)
    moved = {absolute(to, base): absolute(one, base) for to, one in _moved(simple).items()}
    return "" if "mv: " in step.printed else moved.get(path, "")


def _poured(step: Step, path: str, kind: str, text: str, change: Change | None = None) -> Touch:
    """A file that got a here-document as its content, or at its end."""
    lines = tuple(lines_of(text))
    if kind == "write":
        return _touch(step, path, kind, new=text, added=lines, change=change)
    return _touch(step, path, "edit", old="", new=text, added=lines, appends=True)


def _is_file(path: str) -> bool:
    return not NO_FILE.match(path) and not unnamed(path)


def _written(simple: Simple, path: str) -> str:
    """What a simple command does to one of its targets."""
    if simple.name == "rmdir":
        return "folder removed"
    if simple.name in REMOVES or (simple.name in MOVES and path in simple.reads):
        return "removed"
    if simple.name in MAKES_FOLDERS:
        return "folder"
    if simple.operation == "edit" and (simple.check or simple.role == "format"):
        return "changed"
    return WRITTEN_BY.get(simple.operation, "generated")


def _touch(step: Step, path: str, kind: str, **more: object) -> Touch:
    return Touch(step=step.step, actor=step.actor, path=path, kind=kind, **more)  # type: ignore[arg-type]  # names checked by the struct


def _patched(step: Step) -> Iterator[Touch]:
    """The files of a patch that only its text tells of; which piece is whose, where it has one."""
    files = patched_files(step)
    for name, does in files.items():
        path = absolute(name, step.cwd)
        if does == "Update" and len(files) == 1:
            yield from _asked(step, path)
        else:
            yield _touch(step, path, {"Add": "write", "Delete": "delete"}.get(does, "edit"))


def _asked(step: Step, path: str) -> Iterator[Touch]:
    """What an edit was asked to do; its result only says that it did.

    One that says it in words not known here leaves the file with a content that nobody knows.
    """
    pairs = replacements(step)
    if not pairs:
        yield _touch(step, path, "edit")
    for old, new in pairs:
        removed, added = map(tuple, line_changes(old, new))
        yield _touch(step, path, "edit", old=old, new=new, removed=removed, added=added)


def written(sent: object) -> str | None:
    """The whole content that a call writes into its file."""
    match sent:
        case {"content": str(text)} | {"file_text": str(text)}:
            return text
    return None


def _read(step: Step, path: str) -> Iterator[Touch]:
    """A read of which the log holds only what was asked for and what was printed."""
    sent = step.call.input if step.call else None
    given = sent if isinstance(sent, dict) else {}
    asked, limit = (_count(given.get(name)) for name in ("offset", "limit"))
    if shows_none(step):
        return
    if (change := numbered(step.printed, path, asked or 1, limit)) is not None:
        yield from _gained(step, path, change)
        return
    first = asked or (1 if limit else None)
    last = None
    if first and limit and (shown := len(lines_of(step.printed))):
        last = first + min(limit, shown) - 1
    yield _touch(step, path, "read", first=first, last=last)


def _count(value: object) -> int | None:
    return value if type(value) is int and value > 0 else None


def _gained(step: Step, path: str, change: Change) -> Iterator[Touch]:
    """What a read showed; the end of a file's last line is no line, and none is read behind it."""
    lines = (change.text or "").split("\n")
    last = change.start + len(lines) - 1
    if not lines[-1] and change.total is not None and last >= change.total:
        last -= 1
    if last >= change.start:
        yield _touch(step, path, "read", change=change, first=change.start, last=last)
    elif change.start == 1:
        yield _touch(step, path, "read", change=change)


def _is_told_by_arguments(step: Step) -> bool:
    """Whether what a call was asked to replace is what it replaced, in the one file that it changed."""
    result = step.result
    return result is None or not (
        result.amended or len({one.path for one in result.changes if one.kind != "shown"}) > 1
    )


def _recorded(step: Step, change: Change) -> Iterator[Touch]:
    path = absolute(change.path, step.cwd)
    if change.kind == "shown":
        yield from _gained(step, path, change)
        return
    pairs = replaced(step.call.input) if step.call and _is_told_by_arguments(step) else []
    if any(hunk.lines for hunk in change.hunks):
        sides = [patch_changes(hunk.lines) for hunk in change.hunks]
    elif pairs:
        sides = [line_changes(old, new) for old, new in pairs]
    else:
        sides = [line_changes(str(change.before or ""), change.text or "")]
    kind = {"created": "write", "deleted": "delete"}.get(change.kind, "edit")
    if change.after is not None and not pairs:
        kind = "write"
    yield _touch(
        step,
        path,
        kind,
        change=change,
        removed=tuple(line for side in sides for line in side[0]),
        added=tuple(line for side in sides for line in side[1]),
        old="\n".join(old for old, _ in pairs) or None,
        new="\n".join(new for _, new in pairs) if pairs else change.text,
    )
