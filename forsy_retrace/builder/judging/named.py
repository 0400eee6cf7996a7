"""Which reads do an answer's or a report's words name, by a file or a line of it?"""

from forsy_retrace.patterns import later
from forsy_retrace.trace import Touch, Trace

from ..classify import reports
from ..words.cited import lines_named
from .behind_answers import Heard, over, tells

MOST_READS = 20
"""Reads of files of one name among which a line is looked for, the latest first."""


def cited(trace: Trace, heard: Heard, touched: dict[int, list[Touch]]) -> dict[int, int]:
    """Reads to the first later answer, or report, that names a line which they showed last."""
    reads: dict[tuple[str, str], list[Touch]] = {}
    """By their actor and the file's name."""
    moved: dict[str, int] = {}
    """Files to the last step that moved their lines: other ones bear the numbers since."""
    found: dict[int, int] = {}
    for step in over(trace):
        for actor in heard.by(step) if tells(step) else ():
            for one in lines_named(step.output or ""):
                near = reversed(reads.get((actor, one.name), [])[-MOST_READS:])
                near = (read for read in near if read.step > moved.get(read.path, 0))
                showed = [r for r in near if one.is_of(r.path) and _showed(r, one.line, trace)]
                if len({read.path for read in showed}) == 1:  # else any of the files may be meant
                    found.setdefault(showed[0].step, step.step)
        for touch in touched.get(step.step, ()):
            if touch.kind == "read":
                name = touch.path.rsplit("/", 1)[-1]
                reads.setdefault((step.actor, name), []).append(touch)
            elif step.success is not False and len(touch.added) != len(touch.removed):
                moved[touch.path] = step.step
    return found


def pages(trace: Trace, heard: Heard) -> dict[int, int]:
    """Reads of a page to the first later answer of their turn, or report, that gives its address."""
    opened: dict[str, dict[str, int]] = {}
    found: dict[int, int] = {}
    turn = 0
    for step in over(trace):
        if step.turn != turn:
            opened, turn = {}, step.turn
        for actor in heard.by(step) if tells(step) and opened else ():
            clauses = (one for one in CLAUSES.split(step.output or "") if not DENIES.search(one))
            said = {word.rstrip("/.") for one in clauses for word in ADDRESS.findall(one)}
            for address in said & opened.get(actor, {}).keys():
                found.setdefault(opened[actor][address], step.step)
        sent = step.call.input if step.call else None
        if step.operation == "read" and step.success and step.output and isinstance(sent, dict):
            address = sent.get("url")
            if isinstance(address, str) and len(address) > SHORTEST_ADDRESS:
                opened.setdefault(step.actor, {})[address.rstrip("/.")] = step.step
    return found


DENIES = later(r"(?i)\b(?:not|no|nothing|none|without|cannot|failed|unable)\b|n['’]t\b")
"""A clause that tells what a page has not."""
CLAUSES = later(r"[,;\n]|[.!?] ")
ADDRESS = later(r"https?://[^\s<>\"'`)\]]+")
SHORTEST_ADDRESS = 12
"""Letters that the address of a page has at least."""


def _showed(read: Touch, line: int, trace: Trace) -> bool:
    """Whether a read that worked put that line before its actor."""
    step = trace.steps[read.step - 1]
    if read.first is None:
        return step.success is True and step.like == "Read"
    return step.success is True and read.first <= line <= (read.last or read.first)


def reported(trace: Trace, heard: Heard) -> dict[int, int]:
    """Reads by subagents to the report that names the file."""
    reads = _reads_by_subagents(trace)
    found: dict[int, int] = {}
    for step in filter(reports, trace.steps):
        told = (step.output or "").replace("\\", "/")
        for number, path in reads.get(heard.start(step), ()):
            if number not in found and _names(told, path):
                found[number] = step.step
    return found


BESIDE = later(r"""[\s"'`()\[\]{}<>|,;:*=]""")
"""What stands beside a path in running words, and in none."""
ROOT = later(r"(?:\.{0,3}/|[@~…])*")
"""How a path may begin whose upper folders are left out."""
GOES_ON = later(r"\w|[./-]\w")
"""How a name goes on that only begins with another."""
MAX_FOLDERS = 400
"""Characters of the folders before a name."""


def _names(text: str, path: str) -> bool:
    """Whether a text names a file: by its name alone, or with the last of its folders before it."""
    name, at = path.rpartition("/")[2], -1
    while (at := text.find(name, at + 1)) >= 0:
        before = ROOT.sub("", BESIDE.split(text[max(0, at - MAX_FOLDERS) : at])[-1], 1)
        ends_there = GOES_ON.match(text, at + len(name)) is None
        if ends_there and f"/{path}".endswith(f"/{before}{name}"):
            return True
    return False


def _reads_by_subagents(trace: Trace) -> dict[int | None, list[tuple[int, str]]]:
    """For each call that started subagents, the steps in which they read a file, and its path."""
    found: dict[int | None, list[tuple[int, str]]] = {}
    for touch in trace.touches:
        here = trace.steps[touch.step - 1]
        if touch.kind != "read" or not here.success or len(touch.path.rpartition("/")[2]) < 6:
            continue
        if here.actor in trace.delegations:
            found.setdefault(trace.delegations[here.actor], []).append((touch.step, touch.path))
    return found
