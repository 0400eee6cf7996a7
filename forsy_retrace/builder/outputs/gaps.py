"""Which reads of a shell line did the harness cut out of a long output?

An output over the harness's limit says where it was cut: at its beginning, in its middle or at its
end. Of several files that a line reads, only those were seen whose place the output still shows:
the first before a cut, the last behind one, and what the line announces (`echo '== b.py =='`).
"""

import re
from collections import Counter
from typing import NamedTuple

from forsy_retrace.commands import Command, Simple
from forsy_retrace.patterns import later
from forsy_retrace.trace import Step

from .printed import bare_output
from .verdicts import echoed


class Cut(NamedTuple):
    """What of an output its harness has left."""

    head: bool
    tail: bool


CUTS = (
    (later(r"\n\[Output truncated after \d+ lines: [^\n\]]{1,80}\]\s*\Z"), Cut(True, False)),
    (later(r"(?m)^\[\.\.\. omitted \d+ of \d+ lines \.\.\.\]$"), Cut(True, True)),
    (later(r"…\d+ (?:tokens|chars) truncated…"), Cut(True, True)),
    (later(r"(?m)^\.\.\. \[\d+ (?:lines|characters) truncated\] \.\.\.$"), Cut(True, True)),
    (later(r"(?m)^ *\.\.\. \d+ lines omitted$"), Cut(True, True)),
    (later(r"\n\.\.\. \d+ more lines \(\d+ total\b[^\n)]{0,80}\)\s*\Z"), Cut(True, False)),
    (later(r"\n\[Showing lines (?!1-)\d+-\d+ of \d+\b[^\n]{0,300}\]\s*\Z"), Cut(False, True)),
)
"""The marks of Codex (three ages), of Claude Code, of what shortens the output of commands before
the agent gets it, and of pi."""
SAID = ("truncated", "[... omitted ", "[Showing lines ", " lines omitted", " more lines (")
"""One of these is in every mark."""
BRIEF = frozenset(
    ["cd", "pushd", "popd", "export", "set", "echo", "printf", "pwd", "true", ":", "mkdir", "test"]
)
"""Commands that print a line at most."""
FILTERS = frozenset(
    ["head", "tail", "sed", "awk", "cut", "tr", "sort", "uniq", "cat", "nl", "grep", "less", "tee"]
)
"""Commands that without a file pass on what another printed."""


def lost(step: Step) -> frozenset[tuple[int, str]]:
    """The reads of a line, by place and path, that its output does not show to have been seen."""
    run = step.run
    if run is None:
        return frozenset()
    reads = [(at, path) for at, one in enumerate(run.simples) if one.shows for path in one.reads]
    if len(_places(run)) + len(reads) < 3 or (cut := _cut(text := bare_output(step))) is None:
        return frozenset()
    seen = _announced(text, run)
    if cut.head and reads and reads[0][0] == _places(run)[0]:
        seen.add(reads[0])
    if cut.tail and reads and reads[-1][0] == _places(run)[-1]:
        seen.add(reads[-1])
    return frozenset(reads) - seen


def only_reads(run: Command) -> bool:
    """Whether a line prints nothing but what stands in the files that it reads."""
    return all(run.simples[at].shows and run.simples[at].reads for at in _places(run))


def is_cut(text: str) -> bool:
    """Whether the harness left out some of an output."""
    return _cut(text) is not None


def whole_lines(text: str) -> str:
    """An output without the line that its harness cut through, before its mark or around it."""
    if (found := _mark(text)) is None:
        return text
    mark, _ = found
    head, _, _ = text[: mark.start()].rstrip("\n").rpartition("\n")
    _, _, tail = text[mark.end() :].partition("\n")
    return f"{head}\n{tail}"


def _cut(text: str) -> Cut | None:
    found = _mark(text)
    return found[1] if found else None


def _mark(text: str) -> tuple[re.Match[str], Cut] | None:
    """Where an output says that it was cut, and what is left of it."""
    if not any(words in text for words in SAID):
        return None
    marks = ((mark.search(text), cut) for mark, cut in CUTS)
    return next(((mark, cut) for mark, cut in marks if mark is not None), None)


def _places(run: Command) -> list[int]:
    """The commands of a line that may print much."""
    return [at for at, one in enumerate(run.simples) if _prints(one)]


def _prints(one: Simple) -> bool:
    name = one.words[0] if one.words else ""
    return bool(name) and name not in BRIEF and (bool(one.reads) or name not in FILTERS)


def _numbers(one: Simple) -> bool:
    """Whether a command prints files with a number before each line."""
    return one.name == "nl" or (one.name == "cat" and "-n" in one.words)


def _announced(text: str, run: Command) -> set[tuple[int, str]]:
    """The first files read behind words that the line prints, where text follows those words."""
    lines = [line.strip() for line in text.splitlines()]
    shown, asked = Counter(lines), Counter(map(echoed, run.simples))
    found = set[tuple[int, str]]()
    # A bare `---` may stand in a file, but not where each of its lines has a number before it.
    numbered = all(map(_numbers, (one for one in run.simples if one.shows and one.reads)))
    for at, one in enumerate(run.simples[1:], 1):
        words = echoed(run.simples[at - 1])
        telling = any(mark.isalpha() for mark in words) or (words and numbered)
        if one.shows and one.reads and telling and shown[words] == asked[words] == 1:
            behind = [line for line in lines[lines.index(words) + 1 :] if line]
            if len(behind) > 1:  # more than the mark of the cut
                found.add((at, one.reads[0]))
    return found
