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
from .tape import Widths
from .unfinished import gone_on
from .zsh import LOST_END, drawn, has_lost_end, printed_until

Row = tuple[int, int, str]
"""Where a line begins and ends, and what it shows."""


class Shape(NamedTuple):
    """How a prompt looks; `least` times it must return before a line is taken for one."""

    name: str
    pattern: re.Pattern[str]
    least: int
    may_go_on: bool = False
    """It may be how a prompt begins: some draw a folder and a branch behind such a sign."""


SHAPES: tuple[Shape, ...] = (
    Shape("user and host", later(
        r"(?:\([\w.-]{1,40}\) )?[\w.+-]{1,40}@[\w.-]{1,80}[: ][^$#%>❯\n]{0,120}[$#%>❯](?: |$)"), 2),
    Shape("brackets", later(r"\[[^\]\n]{1,120}\][$#%>](?: |$)"), 2),
    Shape("name of the shell", later(r"(?:bash|sh|zsh|ksh|dash)-[\d.]{1,8}[$#](?: |$)"), 2),
    Shape("PowerShell", later(r"PS [A-Z]:\\[^>\n]{0,160}>(?: |$)"), 2),
    Shape("folder", later(r"[~/][^\s$#%>❯]{0,120} ?[$#%>❯](?: |$)"), 2),
    Shape("arrow, folder and branch", later(
        r"➜  [^\s➜]{1,80}(?: git:\([^()\n]{1,120}\)(?: [✗✔])?)?(?: |$)"), 2),
    Shape("foot of a frame", later(r"[└╰][─━╼]{1,4} ?[$#%>❯▶➤➜»λ○●](?: |$)"), 2),
    Shape("sign", later(r"[$%](?: |$)"), 3),
    Shape("arrow", later(r"[❯➜»λ](?: |$)"), 3, may_go_on=True),
)  # fmt: skip
"""In order; where a prompt has several shapes, the first counts."""
ABOVE = later(
    r"(?:[┌╭][─━╼]{0,4})?[\[(]?(?:[\w.+-]{1,40}@[\w.-]{1,80}|[~/]\S{0,200})(?:[\s:)\]]|$)"
)
"""The upper row of a prompt of two: where it stands, or who asks."""
CLEARED = r"\x1b\[H\x1b\[[23]?J(?:\x1b\[3J)?|\x1b\[[23]J\x1b\[(?:1;1)?H"
END = later(rf"\n|\x1b\[\?(?:1049|1047|47)l|{CLEARED}")
ZSH_END = later(rf"\n|\x1b\[\?(?:1049|1047|47)l|{CLEARED}|{LOST_END}")
EDITED = later(r"\x1b\[\?2004([hl])")
"""The line editor begins, or ends."""
LEAVING = 200
"""Characters that a line editor sends when it ends: moves and modes."""
UP = later(r"\x1b\[[0-9]*A|\x1bM")
ASIDE = later(r"\x1b\[[0-9]{1,4}C[^\n]*\x1b\[[0-9]{1,4}D")
"""A clock at the right edge, and the way back to the cursor."""
BARE = later(r"[^\r]\n")
ENDS_TEXT = later(r"(?<!\x1b)[^\s\x00-\x1f\x7f]\Z")
MOVED = later(r"\x1b\[[0-9;?]*[A-Za-ln-z]\Z")
"""A prompt behind it is drawn again."""
MOST_PROMPTS = 16
"""Prompts that are looked for amid lines: a folder in it makes another of it."""
FEWEST = 3
"""Prompts that show alike that they have two rows."""
LONGEST = 1 << 14
"""Characters of a line that may hold a prompt and a command."""
LONGEST_COLOURS = 400
"""Characters of a title and of colours in a prompt."""
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


def by_prompts(
    text: str, widths: Widths, breaks: Sequence[int] = (), amid: Sequence[int] = ()
) -> list[Run]:
    """The commands behind the prompt whose shape returns most often.

    `breaks` are the places where the pieces begin in which the text was printed, if known; `amid`
    those where a prompt stands behind output whose last line had no end.
    """
    lines = [
        (start, end, _plain(text, start, end, widths) if end - start <= LONGEST else "")
        for start, end in _lines(text, amid)
    ]
    found = _waited(text, lines, widths, breaks)
    counts = {shape.name: 0 for shape in SHAPES}
    for shape, _ in filter(None, found):
        counts[shape.name] += 1
    learnt = max(SHAPES, key=lambda shape: counts[shape.name])
    if counts[learnt.name] < learnt.least:
        return []
    if not is_whole(one for one in found if one and one[0] is learnt):
        return []
    prompts = [number for number, one in enumerate(found) if one and one[0] is learnt]
    if not amid and (amid := _amid(text, lines, found, prompts, breaks)):
        return by_prompts(text, widths, breaks, amid)
    returns = "\r\n" in text
    runs: list[Run] = []
    begins = _begins(text, lines, prompts)
    until = begins[prompts[0]]
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
        until = len(text) if is_last else _begin(text, end, begins[after], lines[after][1])
        width = widths.before(end)
        is_told = _is_told(text[start:end], command, width, returns)
        is_told = is_told and not _goes_on(text, end, edited)
        is_entered = is_last or text.endswith("\n", start, end)  # else the screen was cleared
        if command and is_entered and is_told and not command.endswith("^C"):
            runs.append(
                Run(begin, start, end, f"plain:{width}", command, "learnt-prompt", end, until,
                    until, not is_last)
            )  # fmt: skip
    return runs


def _waited(
    text: str, lines: Sequence[Row], widths: Widths, breaks: Sequence[int]
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
        bool(prompt) and _is_break(text, start, end, prompt, widths, breaks)
        for prompt, (start, end, _) in zip(prompts, lines, strict=True)
    ]
    if not any(waits):
        return _not_wiped(text, lines, found, prompts)
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


def _not_wiped(
    text: str, lines: Sequence[Row], found: Sequence[tuple[Shape, str] | None], prompts: list[str]
) -> list[tuple[Shape, str] | None]:
    """The prompts that nothing went back over: a menu draws its sign again at each key.

    A prompt that names something stays: programs go back over lines of their own, too.
    """
    kept = list(found)
    edges = [number for number, one in enumerate(found) if one is not None]
    for number, after in pairwise([*edges, len(lines)]):
        until = lines[after][0] if after < len(lines) else len(text)
        is_bare = not any(map(str.isalnum, prompts[number]))
        if is_bare and UP.search(text, lines[number][1], until):
            kept[number] = None
    return kept


def _is_break(
    text: str, start: int, end: int, prompt: str, widths: Widths, breaks: Sequence[int]
) -> bool:
    """Whether a piece ends within a line, where its prompt does."""
    first = bisect_right(breaks, start)
    places = breaks[first : min(bisect_right(breaks, end), first + MOST_PIECES)]
    pieces = (text[start:place] for place in places if "\n" not in text[start:place])
    for number, piece in enumerate(pieces):
        shown = plain(piece, widths.before(end)).rstrip()
        if shown == prompt or (number == 0 and _shows_a_key(shown, prompt, text[start:end], piece)):
            return True
    return False


def _shows_a_key(shown: str, prompt: str, line: str, piece: str) -> bool:
    """Whether a piece has a prompt and the first key behind it, and the other keys come later."""
    key = shown.removeprefix(prompt).strip()
    return shown.startswith(prompt) and len(key) == 1 and bool(line[len(piece) :].strip())


def _plain(text: str, start: int, end: int, widths: Widths) -> str:
    return plain(text[start:end], widths.before(end))


def _goes_on(text: str, end: int, edited: Sequence[tuple[int, bool]]) -> bool:
    """Whether the line editor printed more behind a line: completions, or rows of the command."""
    number = bisect_left(edited, (end, False))
    if number == len(edited) or not edited[number][1]:
        return False
    left = edited[number][0]
    return left - end > LEAVING or bool(plain(text[end:left]).strip())


def _amid(
    text: str,
    lines: Sequence[Row],
    found: Sequence[tuple[Shape, str] | None],
    prompts: Sequence[int],
    breaks: Sequence[int],
) -> list[int]:
    """Where known prompts stand amid a line: one that names something, or where the shell waited.

    Not behind a move of the cursor, where a line editor draws the prompt again. Where a line seems
    to begin with a prompt, its end may be the known one, behind output such as `done`.
    """
    taken = {lines[number][0]: number for number in prompts}
    edges = sorted(taken)
    places: list[int] = []
    for prompt in _known(text, lines, found, prompts):
        is_named = any(map(str.isalnum, plain(prompt)))
        for one in re.finditer(re.escape(prompt), text):
            before = text[max(one.start() - 20, 0) : one.start()]
            if ENDS_TEXT.search(before) is None or MOVED.search(before):
                continue
            at = bisect_left(breaks, one.end())
            if not is_named and not (at < len(breaks) and breaks[at] == one.end()):
                continue
            line = bisect_right(edges, one.start())
            number = taken[edges[line - 1]] if line else -1
            is_free = number < 0 or lines[number][1] <= one.start()
            if is_free or _ends_with(text, one, lines[number], found[number]):
                places.append(one.start())
    return sorted(places)


def _ends_with(text: str, prompt: re.Match[str], row: Row, found: tuple[Shape, str] | None) -> bool:
    """Whether what seems to be the prompt of a line is some output and a known prompt."""
    start, _, line = row
    shown = line[: len(line) - len(found[1])] if found else ""
    is_near = prompt.end() - start <= len(shown) + LONGEST_COLOURS
    return is_near and plain(text[start : prompt.start()]) + plain(prompt[0]) == shown


def _known(
    text: str,
    lines: Sequence[Row],
    found: Sequence[tuple[Shape, str] | None],
    prompts: Sequence[int],
) -> list[str]:
    """The first prompts that differ, with their titles and colours, as they were sent."""
    known: list[str] = []
    tries = 0
    for number in prompts:
        start, end, line = lines[number]
        behind = found[number]
        if behind is None or text.startswith(tuple(known), start, end):
            continue
        sent = _as_sent(text[start:end], line[: len(line) - len(behind[1])])
        known += [sent] if sent else []
        tries += 1
        if tries == MOST_PROMPTS:
            break
    return known


def _as_sent(line: str, shown: str) -> str:
    """How a line begins that shows a prompt; empty where it shows otherwise."""
    least = len(shown)
    ends = range(least, min(len(line), least + LONGEST_COLOURS) + 1)
    return next((line[:end] for end in ends if plain(line[:end]) == shown), "")


def _begins(text: str, lines: Sequence[Row], prompts: Sequence[int]) -> dict[int, int]:
    """Where each prompt begins: a row above its sign, where most have one that looks like it."""
    above = {
        number: lines[number - 1]
        for before, number in pairwise([-1, *prompts])
        if number - 1 > before
    }
    uppers = [row[2] for row in above.values() if ABOVE.match(row[2])]
    begins = {number: lines[number][0] for number in prompts}
    if len(uppers) < FEWEST or 3 * len(uppers) < 2 * len(prompts):
        return begins
    known = sorted(dict.fromkeys(uppers), key=len)[:MOST_PROMPTS]
    for number, (start, end, row) in above.items():
        upper = next((one for one in known if row.endswith(one)), "")
        place = text.rfind(upper, start, end) if upper else -1
        if place >= 0 and upper != row:
            begins[number] = place  # the output before it had no end
        elif ABOVE.match(row):
            begins[number] = start
    return begins


def _begin(text: str, before: int, start: int, end: int) -> int:
    """Where a prompt begins, which zsh may draw from a row above on."""
    start = printed_until(text, start)
    shell = drawn(text, before, end)
    return start if shell is None else min(shell[0], start)


def _is_told(raw: str, command: str, width: int, returns: bool) -> bool:
    """Whether the lines show a command whole: not where it was edited over several rows."""
    # Where lines end in CR LF, a line feed alone is how a line editor moves down.
    moved = any(sign.search(raw) for sign in (UP, ASIDE)) or (returns and BARE.search(raw))
    is_wide = width > 0 and not command.isascii() and 2 * len(plain(raw, width)) > width
    return not moved and not is_wide and not is_unfinished(command)


def _lines(text: str, amid: Sequence[int]) -> list[tuple[int, int]]:
    """Where lines stand; one begins behind a full-screen program, and behind zsh's lost end."""
    pattern = ZSH_END if has_lost_end(text) else END
    ends = sorted([*(found.end() for found in pattern.finditer(text)), *amid])
    edges = [0, *ends] if ends[-1:] == [len(text)] else [0, *ends, len(text)]
    return list(pairwise(edges))
