"""Shapes of prompts, and the commands behind them where nothing else tells them."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from forsy_retrace.sdk import later
from forsy_retrace.source import plain

from .._shell import is_unfinished
from .run import Run
from .unfinished import gone_on
from .zsh import LOST_END, drawn, has_lost_end


class Shape(NamedTuple):
    """How a prompt looks; `least` times it must return before a line is taken for one."""

    name: str
    pattern: re.Pattern[str]
    least: int
    may_go_on: bool = False
    """It may be how a prompt begins: some draw a folder and a branch behind such a sign."""


SHAPES: tuple[Shape, ...] = (
    Shape("user and host", re.compile(
        r"(?:\([\w.-]{1,40}\) )?[\w.+-]{1,40}@[\w.-]{1,80}[: ][^$#%>❯\n]{0,120}[$#%>❯](?: |$)"), 2),
    Shape("brackets", re.compile(r"\[[^\]\n]{1,120}\][$#%>](?: |$)"), 2),
    Shape("name of the shell", re.compile(r"(?:bash|sh|zsh|ksh|dash)-[\d.]{1,8}[$#](?: |$)"), 2),
    Shape("PowerShell", re.compile(r"PS [A-Z]:\\[^>\n]{0,160}>(?: |$)"), 2),
    Shape("folder", re.compile(r"[~/][^\s$#%>❯]{0,120} ?[$#%>❯](?: |$)"), 2),
    Shape("arrow, folder and branch", re.compile(
        r"➜  [^\s➜]{1,80}(?: git:\([^()\n]{1,120}\)(?: [✗✔])?)?(?: |$)"), 2),
    Shape("sign", re.compile(r"[$%](?: |$)"), 3),
    Shape("arrow", re.compile(r"[❯➜»λ](?: |$)"), 3, may_go_on=True),
)  # fmt: skip
"""In order; where a prompt has several shapes, the first counts."""
END = later(r"\n|\x1b\[\?(?:1049|1047|47)l")
ZSH_END = later(rf"\n|\x1b\[\?(?:1049|1047|47)l|{LOST_END}")
EDITED = later(r"\x1b\[\?2004([hl])")
"""The line editor begins, or ends."""
LEAVING = 200
"""Characters that a line editor sends when it ends: moves and modes."""
UP = later(r"\x1b\[[0-9]*A|\x1bM")
ASIDE = later(r"\x1b\[[0-9]{1,4}C[^\n]*\x1b\[[0-9]{1,4}D")
"""A clock at the right edge, and the way back to the cursor."""
BARE = later(r"[^\r]\n")
LONGEST = 1 << 14
"""Characters of a line that may hold a prompt and a command."""
MOST_PIECES = 32
"""Pieces in which a prompt may be printed."""


def behind_prompt(line: str) -> tuple[Shape, str] | None:
    """The prompt's shape and what stands behind it; None for a line without a prompt."""
    for shape in SHAPES:
        if found := shape.pattern.match(line):
            return shape, line[found.end() :]
    return None


def is_whole(found: Iterable[tuple[Shape, str]]) -> bool:
    """Whether shapes take in all of the prompt: what stands behind does not always begin alike."""
    words = [behind.split(maxsplit=1)[:1] for shape, behind in found if shape.may_go_on]
    return len(words) < 2 or any(word != words[0] or not word for word in words)


def by_prompts(text: str, width: int, breaks: Sequence[int] = ()) -> list[Run]:
    """The commands behind the prompt whose shape returns most often.

    `breaks` are the places where the pieces begin in which the text was printed, if known.
    """
    lines = [
        (start, end, plain(text[start:end], width) if end - start <= LONGEST else "")
        for start, end in _lines(text)
    ]
    found = _waited(text, lines, width, breaks)
    counts = {shape.name: 0 for shape in SHAPES}
    for shape, _ in filter(None, found):
        counts[shape.name] += 1
    learnt = max(SHAPES, key=lambda shape: counts[shape.name])
    if counts[learnt.name] < learnt.least:
        return []
    if not is_whole(one for one in found if one and one[0] is learnt):
        return []
    prompts = [number for number, one in enumerate(found) if one and one[0] is learnt]
    returns = "\r\n" in text
    runs: list[Run] = []
    until = lines[prompts[0]][0]
    edited = [(toggle.start(), toggle[1] == "l") for toggle in EDITED.finditer(text)]
    for number, after in pairwise([*prompts, len(lines)]):
        begin, (start, end, _) = until, lines[number]
        behind = found[number]
        command = behind[1].strip() if behind else ""
        for _, last, line in lines[number + 1 : after]:
            longer = gone_on(command, line)
            if longer is None:
                break
            command, end = longer, last
        is_last = after == len(lines)
        until = len(text) if is_last else _begin(text, end, *lines[after][:2])
        is_told = _is_told(text[start:end], command, width, returns)
        is_told = is_told and not _goes_on(text, end, edited)
        if command and is_told and not command.endswith("^C"):
            runs.append(
                Run(begin, start, end, f"plain:{width}", command, "learnt-prompt", end, until,
                    until, not is_last)
            )  # fmt: skip
    return runs


def _waited(
    text: str, lines: Sequence[tuple[int, int, str]], width: int, breaks: Sequence[int]
) -> list[tuple[Shape, str] | None]:
    """What stands behind each line's prompt; only where the shell waited, if that can be seen.

    A file's line that looks like a prompt comes in one piece with what stands behind it. So does a
    command that was typed ahead: a prompt that names something counts wherever it returns.
    """
    found = [behind_prompt(line) for _, _, line in lines]
    if not breaks:
        return found
    prompts = [
        line[: len(line) - len(one[1])].rstrip() if one else ""
        for one, (_, _, line) in zip(found, lines, strict=True)
    ]
    waits = [
        bool(prompt) and _is_break(text, start, end, prompt, width, breaks)
        for prompt, (start, end, _) in zip(prompts, lines, strict=True)
    ]
    if not any(waits):
        return found
    known = {
        prompt
        for prompt, waited in zip(prompts, waits, strict=True)
        if waited and any(map(str.isalnum, prompt))
    }
    waits[-1] = waits[-1] or bool(found[-1] and not found[-1][1])
    return [
        one if waited or prompt in known else None
        for one, prompt, waited in zip(found, prompts, waits, strict=True)
    ]


def _is_break(
    text: str, start: int, end: int, prompt: str, width: int, breaks: Sequence[int]
) -> bool:
    """Whether a piece ends within a line, where its prompt does."""
    first = bisect_right(breaks, start)
    places = breaks[first : min(bisect_right(breaks, end), first + MOST_PIECES)]
    pieces = (text[start:place] for place in places)
    return any("\n" not in one and plain(one, width).rstrip() == prompt for one in pieces)


def _goes_on(text: str, end: int, edited: Sequence[tuple[int, bool]]) -> bool:
    """Whether the line editor printed more behind a line: completions, or rows of the command."""
    number = bisect_left(edited, (end, False))
    if number == len(edited) or not edited[number][1]:
        return False
    left = edited[number][0]
    return left - end > LEAVING or bool(plain(text[end:left]).strip())


def _begin(text: str, before: int, start: int, end: int) -> int:
    """Where a line's prompt begins, which zsh may draw from a row above on."""
    shell = drawn(text, before, end)
    return start if shell is None else min(shell[0], start)


def _is_told(raw: str, command: str, width: int, returns: bool) -> bool:
    """Whether the lines show a command whole: not where it was edited over several rows."""
    # Where lines end in CR LF, a line feed alone is how a line editor moves down.
    moved = any(sign.search(raw) for sign in (UP, ASIDE)) or (returns and BARE.search(raw))
    is_wide = width > 0 and not command.isascii() and 2 * len(plain(raw, width)) > width
    return not moved and not is_wide and not is_unfinished(command)


def _lines(text: str) -> list[tuple[int, int]]:
    """Where lines stand; one begins behind a full-screen program, and behind zsh's lost end."""
    pattern = ZSH_END if has_lost_end(text) else END
    ends = [found.end() for found in pattern.finditer(text)]
    edges = [0, *ends] if ends[-1:] == [len(text)] else [0, *ends, len(text)]
    return list(pairwise(edges))
