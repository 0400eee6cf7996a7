"""Files that are read, written or edited again, or looked for in another place."""

import posixpath
from collections.abc import Iterator

from forsy_retrace.patterns import later
from forsy_retrace.trace import Step

from ..checks.places import between_slashes
from ..touched.replaced import (
    lines_put,
    lines_taken,
    patch_changes,
    replacements,
    takes_back,
    telling,
)
from .attempts import LOOKS, SAYS_SO, SOON, Attempt, looks_for_one
from .likeness import are_alike


def same_file(old: Attempt, new: Attempt) -> bool:
    """The same file by the same kind of tool: edit or write after edit or write, read after read."""
    if not old.paths & new.paths:
        return False
    if old.side is None or old.side != new.side or _deletes(old) != _deletes(new):
        return False
    if not old.step.success:
        return not _finds_done(old.step, new.step)
    if old.earlier and not _is_about(old.step, new.step):
        return False
    return _works_on(old.step, new.step)


def _deletes(one: Attempt) -> bool:
    """Whether a patch does no more than delete files."""
    return one.side == "change" and one.step.operation == "execute"


def written_by_a_line(old: Attempt, new: Attempt) -> bool:
    """A file that a tool could not write or edit, written by a shell's line."""
    if old.step.success is not False or old.run is not None or old.side != "change":
        return False
    return new.step.operation in ("write", "edit") and not old.paths.isdisjoint(new.written)


SUBSTITUTES = later(r"s([/|#,@])(?P<old>(?:\\[^\w\s]|[^\\\[\]*^$+?(){}|]){3,200}?)\1.*\1[gI]*")
"""What `sed` puts in place of a text that stands in it letter by letter."""


def substituted_by_a_line(old: Attempt, new: Attempt) -> bool:
    """What an edit put in that worked and was then called wrong, replaced in its file by `sed -i`."""
    if new.run is None or not (old.step.success and new.step.success) or old.side != "change":
        return False
    if old.paths.isdisjoint(new.written) or not any(one.role == "fix" for one in new.run.simples):
        return False
    put = lines_put(replacements(old.step)) | telling(_content(old.step))
    words = (word for one in new.run.simples if one.name == "sed" for word in one.words)
    texts = (found["old"].replace("\\", "") for found in map(SUBSTITUTES.fullmatch, words) if found)
    return any(text in line for text in texts for line in put)


def _content(step: Step) -> str:
    """The text of a file that a call wrote as a whole."""
    match step.call.input if step.call else None:
        case {"content": str(content)}:
            return content
    return ""


def is_moot(old: Attempt, new: Attempt) -> bool:
    """Whether an edit shows that a failed one of its file had nothing left to do."""
    edits = old.side == new.side == "change"
    return edits and bool(old.paths & new.paths) and _finds_done(old.step, new.step)


def _finds_done(old: Step, new: Step) -> bool:
    """Whether an edit replaces text that was already as a failed one would have made it."""
    if old.result is not None and old.result.changes:
        return False  # a line failed behind its patch
    wanted, found = replacements(old), replacements(new)
    here = set().union(*(telling(before) for before, _ in found))
    put, taken = lines_put(wanted), lines_taken(wanted)
    return bool(put and taken) and put <= here and taken.isdisjoint(here)


def _works_on(old: Step, new: Step) -> bool:
    """Whether an edit changes what another that worked had put in, and does not take that back.

    Of one that only took lines out it puts some back; where nobody knows what the other put in, it
    takes something out.
    """
    before, after = replacements(old), replacements(new)
    if not before or not after:
        return not after or bool(lines_taken(after))
    if takes_back(new, old):
        return False
    back = {(new, old) for old, new in before}
    after = [pair for pair in after if pair not in back]
    if put := lines_put(before):
        taken = lines_taken(after)
        return not (put.isdisjoint(taken) and put.isdisjoint(_around(taken, new)))
    return not lines_taken(before).isdisjoint(lines_put(after))


def _around(pieces: set[str], step: Step) -> set[str]:
    """The whole lines of the pieces that an edit replaces, as the harness recorded them."""
    changes = step.result.changes if step.result is not None else ()
    sides = (patch_changes(hunk.lines) for change in changes for hunk in change.hunks)
    lines = {line for removed, _ in sides for line in telling("\n".join(removed))}
    pieces = {piece for piece in pieces - lines if len(piece) >= A_PIECE}
    if len(pieces) > MOST_PIECES:
        return set()
    return {line for line in lines if any(piece in line for piece in pieces)}


A_PIECE = 12
"""Letters of a piece of a line that tells which line it is of."""
MOST_PIECES = 40
"""Lines that an edit takes out in part: more of them are of no file that was recorded."""


def _is_about(old: Step, new: Step) -> bool:
    """Whether most of what an edit takes out is what another had put in, and a good part of it."""
    put, taken = lines_put(replacements(old)), lines_taken(replacements(new))
    shared = len(put & taken)
    return shared > 1 and 2 * shared >= len(taken) and 4 * shared >= len(put)


def same_name_elsewhere(old: Attempt, new: Attempt) -> bool:
    """A file that was not there, looked for in another place."""
    if old.step.tool != new.step.tool or old.step.success is not False:
        return False
    if old.step.operation != "read" or new.step.operation != "read":
        return False
    if old.run is not None and not MISSING.search((old.step.output or "")[:SAYS_SO]):
        return False
    a, b = ({called(path) for path in one.paths} for one in (old, new))
    return not a.isdisjoint(b)


def called(path: str) -> str:
    """A file's name: `cart.rs` for `cart/mod.rs` too."""
    return posixpath.basename(_module(path)) + posixpath.splitext(path)[1]


def same_path_by_another_tool(old: Attempt, new: Attempt) -> bool:
    """A file or folder that one tool refused, read by another."""
    if old.step.operation != "read" or new.step.operation not in LOOKS:
        return False
    if new.step.operation == "search" and new.order - old.order > SOON:
        return False
    if IS_FOLDER.search((old.step.output or "")[:SAYS_SO]) and looks_for_one(new):
        return False
    failed = old.step.success is False
    return failed and old.step.tool != new.step.tool and bool(old.paths & new.paths)


IS_FOLDER = later(r"EISDIR|(?i:is a directory)")
"""How a tool that reads files says that a path is a folder's."""


def looked_for_by_name(old: Attempt, new: Attempt) -> bool:
    """A file that was not there; its name is looked for soon after."""
    if old.step.operation != "read" or new.step.operation != "search" or old.path is None:
        return False
    if not MISSING.search((old.step.output or "")[:SAYS_SO]):
        return False
    name = posixpath.basename(old.path)
    stem = posixpath.splitext(name)[0]
    return len(stem) >= 5 and not new.terms.isdisjoint((name, stem))


def same_folder(old: Attempt, new: Attempt) -> bool:
    """A file that was not there; the next of its folder, not known before, is read soon after.

    Where the failure itself named it, it may have been known.
    """
    if old.path is None or new.path is None or old.step.tool != new.step.tool:
        return False
    if old.step.operation != "read":
        return False  # the text that an edit did not find is no file
    if not MISSING.search((old.step.output or "")[:SAYS_SO]):
        return False
    folder, name = posixpath.split(new.path)
    if posixpath.dirname(old.path) != folder:
        return False
    if any(posixpath.dirname(one.path or "") == folder for one in since(old, new)):
        return False
    known = any(_names(one, new.path) for one in new.before if _is_by(one, old))
    return name in old.step.printed or not known


def since(old: Attempt, new: Attempt) -> Iterator[Attempt]:
    """The actor's calls between two messages."""
    return (one for one in new.before if not _is_by(one, old))


def _is_by(one: Attempt, other: Attempt) -> bool:
    """Whether a call was made before another, or together with it."""
    group = one.step.parallel_group
    return one.order <= other.order or (group is not None and group == other.step.parallel_group)


def _names(one: Attempt, path: str) -> bool:
    """Whether an output names a file: with its folder, or alone where it tells of that folder."""
    shown, (folder, name) = one.step.printed, posixpath.split(path)
    if f"{posixpath.basename(folder)}/{name}" in between_slashes(shown):
        return True
    return folder in one.paths and name in shown.split()


def other_form(old: Attempt, new: Attempt) -> bool:
    """A file that was not there, read with another ending, or `cart/mod.rs` for `cart.rs`."""
    if old.step.operation != "read" or new.step.operation != "read":
        return False
    if old.step.success is not False or not MISSING.search((old.step.output or "")[:SAYS_SO]):
        return False
    a, b = ({_module(path) for path in one.paths} for one in (old, new))
    return old.paths.isdisjoint(new.paths) and not a.isdisjoint(b)


def name_mended(old: Attempt, new: Attempt) -> bool:
    """A file that was not there; one of its folder with nearly its name, read soon after."""
    if old.step.operation != "read" or new.step.operation != "read":
        return False
    if old.step.success is not False or not MISSING.search((old.step.output or "")[:SAYS_SO]):
        return False
    if not old.paths.isdisjoint(new.paths):
        return False
    pairs = ((posixpath.split(a), posixpath.split(b)) for a in old.paths for b in new.paths)
    return any(a[0] == b[0] and _is_misspelt(a[1], b[1]) for a, b in pairs)


def _is_misspelt(name: str, other: str) -> bool:
    """Whether two names are nearly the same; another number makes another file."""
    return DIGITS.findall(name) == DIGITS.findall(other) and are_alike(name, other, ONE_WORD)


DIGITS = later(r"\d+")
ONE_WORD = 0.85
"""How alike two names are of which one may be the other misspelt."""


def _module(path: str) -> str:
    """What a file is called without its ending: its folder where it speaks for that.

    `.env.example` is no other form of `.env`.
    """
    if posixpath.basename(path).startswith("."):
        return path
    stem = posixpath.splitext(path)[0]
    folder, _, name = stem.rpartition("/")
    return folder if name in ("mod", "index", "__init__") else stem


MISSING = later(r"(?i)does not exist|no such file|not found|ENOENT")
