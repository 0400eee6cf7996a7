"""Commands by bracketed paste: the shell turns it on at a prompt, and off when Enter is pressed.

bash 5.1 and later, zsh and fish do. What stood on the screen between the two is the command as it
was run, whatever was recalled and edited on the way, behind the prompt; zsh's prompt stands before
the toggle.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from msgspec.structs import replace

from forsy_retrace.sdk import later
from forsy_retrace.source import plain, screen

from .prompts import Shape, behind_prompt, is_whole
from .run import Run
from .tape import Widths
from .unfinished import gone_on
from .zsh import CLEARED, drawn

TOGGLE = later(r"\x1b\[\?(2004|1049|1047|47)(?:;\d{1,5}){0,8}([hl])")
USUAL, WIDE = 80, 1000
"""Columns of a screen where the recording does not tell: what both show alike is sure."""
FED = later(r"(?:\x1b\[[0-9]{0,2} q){0,2}(?:\r{0,2}\n|\x1b\[[0-9]{0,3}B\r)")
"""Only behind the toggle back zsh goes to the next line; some give the cursor its shape before."""
SEARCH = later(r"(?m)^\((?:failed )?(?:reverse-)?i-search\)`")
"""What stands in place of the prompt while bash looks for a command, and where that is given up."""
MOST_ROWS = 4
"""Rows of a prompt."""
DOWN = "\x1b[9B"
ASIDE = ("  ", "\n")
"""What parts a command from a clock at the right edge, and from what stands below it."""


class Asked(NamedTuple):
    """A line that a shell asked for, from its prompt until Enter was pressed."""

    begin: int
    """Where the output before it ends."""
    start: int
    lead: int
    """So many characters from the start on are the prompt; 0 where only its shape tells it."""
    end: int
    entered: int


class Prompted(NamedTuple):
    """A prompt, its shape, and what stands behind it."""

    shape: Shape
    prompt: str
    typed: str


def has_toggles(text: str) -> bool:
    """Whether a shell turned bracketed paste on and off again."""
    return next(_lines(text), None) is not None


def by_paste(text: str, widths: Widths) -> list[Run]:
    """The commands between toggles, as the screen showed them; empty where it does not tell one."""
    runs: list[Run] = []
    lines = list(_lines(text))
    columns = [widths.before(line.end) for line in lines]
    shown = [
        line_of(text[line.start : line.end], width)
        for line, width in zip(lines, columns, strict=True)
    ]
    found = [None if line.lead else _prompted(one) for line, one in zip(lines, shown, strict=True)]
    if not is_whole((one.shape, one.typed) for one in found if one):
        return []
    for number, line in enumerate(lines):
        if SEARCH.search(shown[number]):
            continue
        is_last = number + 1 == len(lines)
        until = len(text) if is_last else lines[number + 1].begin
        last = runs[-1] if runs else None
        width = columns[number]
        command = _command(text, line, shown[number], found[number], width)
        if last is not None and last.until == line.begin:
            silent = not plain(text[last.entered : line.begin]).strip()
            longer = gone_on(last.command, shown[number]) if silent else None
            if longer is not None:
                last = replace(last, command=longer, end=line.end, entered=line.entered)
            if longer is not None or command is None:
                # Else a program asks for lines itself: its words are the command's output.
                runs[-1] = replace(last, until=until, closed=until, is_done=not is_last)
                continue
        if command is not None and not command.endswith("^C"):
            runs.append(
                Run(line.begin, line.start, line.end, f"screen:{width or USUAL}:{line.lead}",
                    command, "bracketed-paste", line.entered, until, until, not is_last)
            )  # fmt: skip
    if not any(run.command for run in runs):
        return []
    runs = _closed_by_prompt(runs, text)
    return [run for run in runs if run.command or plain(text[run.entered : run.until]).strip()]


def line_of(typed: str, width: int, lead: int = 0) -> str:
    """The command line on the screen; empty where it depends on a width that is not known."""
    shown = screen(typed, width or USUAL, lead)
    if width:
        return shown
    # A blank may stand where a wide character went to the next row of a narrow screen.
    wide = sum(character > "\u1100" for character in shown)
    narrow = wide > 0 and len(shown) + wide > USUAL // 2
    return shown if shown == screen(typed, WIDE, lead) and not narrow else ""


def _prompted(shown: str) -> Prompted | None:
    """A prompt of one row or several; None without one."""
    rows = shown.split("\n")
    for number in range(min(len(rows), MOST_ROWS)):
        rest = "\n".join(rows[number:])
        if found := behind_prompt(rest):
            shape, typed = found
            return Prompted(shape, rest[: len(rest) - len(typed)], typed)
    return None


def _command(text: str, line: Asked, shown: str, found: Prompted | None, width: int) -> str | None:
    """The command on the screen; empty where it is not told, None where no prompt stands there."""
    if line.lead:
        return _at_cursor(text[line.start : line.end], line.lead, shown, width)
    if found is None:
        return None if shown else ""
    return _last_drawn(found.prompt, found.typed)


def _at_cursor(sent: str, lead: int, shown: str, width: int) -> str:
    """What was typed where the prompt had left the cursor; empty where the prompt changed then."""
    typed, prompt = line_of(sent, width, lead), line_of(sent[:lead], width).rstrip()
    if not typed or not prompt or shown.removesuffix(typed).rstrip() != prompt:
        return ""
    edge = line_of(sent[:lead] + DOWN, width).rpartition(prompt)[2].strip()
    if edge and typed.endswith(f"  {edge}"):
        return typed.removesuffix(edge).strip()
    behind = line_of(sent + DOWN, width, lead)[len(typed) :]
    is_all = not behind.strip() or behind.startswith(ASIDE)
    return _last_drawn(prompt.rpartition("\n")[2], typed) if is_all else ""


def _last_drawn(prompt: str, typed: str) -> str:
    """The command behind the last of several like prompts: a list of completions parts them.

    What had been typed before the list stands behind each; else the rows are not told apart.
    """
    first, *others = typed.split("\n")
    again = [number for number, row in enumerate(others) if row.startswith(prompt)]
    if not again:
        return typed.strip()
    last = "\n".join(others[again[-1] :])[len(prompt) :].strip()
    return last if last.startswith(first.strip()) else ""


def _lines(text: str) -> Iterator[Asked]:
    """The lines between a toggle and the toggle back; not in full screens."""
    opened: re.Match[str] | None = None
    hidden, before = False, 0
    for toggle in TOGGLE.finditer(text):
        if toggle[1] != "2004":
            hidden = toggle[2] == "h"
        elif hidden:
            continue  # vim turns it on and off for itself
        elif toggle[2] == "h":
            opened = toggle
        elif opened is not None:
            yield _asked(text, before, opened, *toggle.span())
            opened, before = None, toggle.end()


def _asked(text: str, before: int, opened: re.Match[str], end: int, entered: int) -> Asked:
    shell = drawn(text, before, opened.start())
    if shell is None:
        return Asked(opened.start(), opened.end(), 0, end, entered)
    begin, start = shell
    lead = opened.end()
    if anew := drawn(text, lead, end):
        # A branch or a mark that was looked up meanwhile: what was typed stands behind it again.
        start = anew[1]
        lead = text.index(CLEARED, start) + len(CLEARED)
    fed = FED.match(text, entered)
    return Asked(begin, start, lead - start, end, fed.end() if fed else entered)


def _closed_by_prompt(runs: list[Run], text: str) -> list[Run]:
    """The last command is done where the shell asks for another."""
    if not runs or runs[-1].is_done:
        return runs
    last = runs[-1]
    again = next(
        (one for one in TOGGLE.finditer(text, last.entered) if one.group(1, 2) == ("2004", "h")),
        None,
    )
    if again is None or TOGGLE.search(text, again.end()):
        return runs
    begin = _asked(text, last.entered, again, len(text), len(text)).begin
    return [*runs[:-1], replace(last, until=begin, closed=begin, is_done=True)]
