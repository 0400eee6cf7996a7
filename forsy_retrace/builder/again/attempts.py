"""What tells of a call whether another attempts the same: its targets, and what it looks for."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from forsy_retrace.commands import Command, Simple
from forsy_retrace.patterns import later
from forsy_retrace.trace import Check, Step

from ..classify import patch_of, patched_files
from ..outputs.found import SEARCHES
from ..tools import PATCHERS, TOOLS, path_of
from ..touched.paths import absolute, base_of
from ..touched.touches import EDITORS, READERS, WRITERS

WINDOW = 60
"""How many of the actor's own calls a failure stays in mind."""
SOON = 4
"""Within how many of them another lookup still answers one that found nothing."""
AT_ONCE = 1
NEARLY = 0.75
"""How alike two operands are of which one may be a mending of the other."""
TELLING = 5
"""Letters of a term that stands for one thing."""
SAYS_SO = 300
"""Within so many characters of an output."""


class Attempt(NamedTuple):
    """A call with what tells whether another attempts the same."""

    step: Step
    order: int
    run: Command | None
    path: str | None
    """The file that the tool names as its target."""
    paths: frozenset[str]
    """All files and folders that it names."""
    written: frozenset[str]
    """The files that its line writes."""
    terms: frozenset[str]
    """The words of what it looks for, without those that most of the actor's lookups hold."""
    patterns: frozenset[str]
    """What it looks for in files, as it was sent."""
    url: str | None
    """The first that its arguments name."""
    check: Check | None
    side: str | None
    """`change` of a call that changes a file, `read` of one that reads it."""
    before: "Sequence[Attempt]" = ()
    """The actor's last calls before it."""
    task: int = 0
    """How often the user had asked for another task."""
    hidden: bool = False
    """Whether it is a check that answers a failed one, and of which the log hides how it went."""
    earlier: bool = False
    """Whether it is an edit of an earlier turn than the last, which a correction may mean."""
    away: bool = False
    """Whether all edits were stashed away when it ran."""
    left: frozenset[str] = frozenset()
    """The lines that it was to put in and that attempts which worked left out, if any did so."""

    @property
    def line(self) -> Command:
        """What its line does; for the tests of rules that are for shell lines alone."""
        assert self.run is not None
        return self.run


def attempt(step: Step, order: int, check: Check | None) -> Attempt:
    run = step.run
    sent = step.call.input if step.call else None
    patched = list(patched_files(step)) or _recorded(step)
    named = patched[0] if len(patched) == 1 else path_of(sent)
    path = absolute(named, step.cwd) if named else None
    paths = {path} if path else {absolute(one, step.cwd) for one in patched}
    written = set[str]()
    if run is not None:
        base = base_of(step)
        paths |= {absolute(one, base) for simple in run.simples for one in simple.reads}
        written = {absolute(one, base) for one in run.writes}
    terms, url = _terms(step, run), None
    if step.operation not in ("edit", "write", "plan"):  # a text may name any page
        url = URL.search(step.input or "")
    shown = url[0].rstrip("/") if url else None
    files = frozenset(paths), frozenset(written)
    patterns = _patterns(step, run)
    return Attempt(step, order, run, path, *files, terms, patterns, shown, check, side_of(step))


def _recorded(step: Step) -> list[str]:
    """The files of a patch of which the log holds only what it did."""
    changes = step.result.changes if step.like in PATCHERS and step.result is not None else ()
    return [change.path for change in changes]


def side_of(step: Step) -> str | None:
    """What a call does with a file; None where it neither changes nor reads one."""
    tool = step.like
    if tool in (*EDITORS, *WRITERS, *PATCHERS) or patch_of(step):
        return "change"
    return "read" if tool in READERS else None


SERVICES = ("api", "mcp_tool", "other_tool")


def acts(step: Step) -> bool:
    """Whether a call of a tool of its own kind asks a service for more than to look."""
    is_own = step.run is None and step.like not in TOOLS and step.surface in SERVICES
    return is_own and step.operation in ("execute", "write", "other")


URL = later(r"https?://[^\s\"'\\]+")
WORD = later(r"[A-Za-z_.][\w.-]{3,}")
LOOKS = ("search", "read")


def looks_for_one(lookup: Attempt) -> bool:
    """Whether a lookup is for a name or a text, and not for all that a folder holds."""
    places = {part for path in lookup.paths for part in path.split("/")}
    return bool(lookup.patterns) or any(t.removeprefix("/") not in places for t in lookup.terms)


def _terms(step: Step, run: Command | None) -> frozenset[str]:
    """What a lookup looks for: the words of its pattern, without those of where it looks."""
    if step.operation not in LOOKS or step.call is None:
        return frozenset()
    if run is None:
        match step.call.input:
            case {"pattern": str(pattern)} | {"query": str(pattern)}:
                # Of a glob, the folders say where, only its last part what, unless that is an ending.
                last = words_of(pattern.rpartition("/")[2])
                if any(not word.startswith(".") for word in last):
                    return frozenset(last)
                return frozenset([*words_of(pattern), *_places(pattern)])
        return frozenset()
    place = set((step.cwd or "").replace("\\", "/").split("/"))
    words = [word for simple in searches_of(run) for word in wanted(simple)]
    return frozenset(word for word in words if word.removeprefix("/") not in place)


def _patterns(step: Step, run: Command | None) -> frozenset[str]:
    """The patterns of a search in files: the names of files are none."""
    match step.call.input if step.call and step.like == "Grep" else None:
        case {"pattern": str(pattern)} if len(pattern) >= 4:
            return frozenset([pattern])
    inside = (one for one in searches_of(run) if one.name in SEARCHES) if run is not None else ()
    words = ((simple, word) for simple in inside for word in operands(simple))
    return frozenset(word for simple, word in words if word not in simple.reads and len(word) >= 4)


def _places(text: str) -> list[str]:
    """The words of where a search looks whose pattern has none: no text is looked for by them."""
    return [f"/{word}" for word in words_of(text)]


def searches_of(run: Command) -> Iterator[Simple]:
    """The commands of a line that look for something, without those that only drop lines."""
    for simple in run.simples:
        if simple.operation == "search" and LEAVES_OUT.isdisjoint(simple.words):
            yield simple


LEAVES_OUT = frozenset(["-v", "-vE", "-vi", "-iv", "--invert-match"])
"""Flags of a search that prints what does not match."""


def wanted(simple: Simple) -> list[str]:
    """The words that a search is for: of its pattern, or of where it looks if it has none."""
    named = operands(simple)
    pattern = [one for one in named if one not in simple.reads]
    return words_of(" ".join(pattern or named)) or _places(" ".join(named))


def words_of(text: str) -> list[str]:
    """The words of a pattern; the dot of `func.*Save` is none of a word."""
    return [word.rstrip(".") for word in WORD.findall(text) if word.strip(".")]


def operands(simple: Simple) -> list[str]:
    """The words of a command that name what it works on: neither its name nor a flag."""
    named = len(simple.name.split())
    own = simple.words[:named] == tuple(simple.name.split())
    return [
        word for word in simple.words[max(named, 1) if own else 1 :] if not word.startswith("-")
    ]
