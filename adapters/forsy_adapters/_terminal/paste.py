"""Commands by bracketed paste: the shell turns it on at a prompt, and off when Enter is pressed.

bash 5.1 and later, zsh and fish do. What stood on the screen between the two is the prompt and the
command as it was run, whatever was recalled and edited on the way.
"""

import re
from collections.abc import Iterator

import msgspec

from forsy_retrace.sdk import later
from forsy_retrace.source import plain, screen

from .prompts import behind_prompt
from .run import Run
from .unfinished import gone_on

TOGGLE = later(r"\x1b\[\?(2004|1049|1047|47)(?:;\d{1,5}){0,8}([hl])")
USUAL, WIDE = 80, 1000
"""Columns of a screen where the recording does not tell: what both show alike is sure."""
MOST_ROWS = 4
"""Rows of a prompt."""


def has_toggles(text: str) -> bool:
    """Whether a shell turned bracketed paste on and off again."""
    return next(_lines(text), None) is not None


def by_paste(text: str, width: int) -> list[Run]:
    """The commands between toggles, as the screen showed them."""
    runs: list[Run] = []
    typed = list(_lines(text))
    for number, (begin, start, end, entered) in enumerate(typed):
        is_last = number + 1 == len(typed)
        until = len(text) if is_last else typed[number + 1][0]
        last = runs[-1] if runs else None
        shown = line_of(text[start:end], width)
        command = _behind(shown) if shown else ""
        if command is None and last is not None and last.until == begin:
            silent = not plain(text[last.entered : begin]).strip()
            longer = gone_on(last.command, shown) if silent else None
            # Without one, a program asks for lines itself: its words are the command's output.
            more = {} if longer is None else {"command": longer, "end": end, "entered": entered}
            runs[-1] = msgspec.structs.replace(
                last, until=until, closed=until, is_done=not is_last, **more
            )
        elif command and not command.endswith("^C"):
            runs.append(
                Run(begin, start, end, f"screen:{width or USUAL}:0", command, "bracketed-paste",
                    entered, until, until, not is_last)
            )  # fmt: skip
    return _closed_by_prompt(runs, text)


def line_of(typed: str, width: int, lead: int = 0) -> str:
    """The command line on the screen; empty where it depends on a width that is not known."""
    shown = screen(typed, width or USUAL, lead)
    if width:
        return shown
    # A blank may stand where a wide character went to the next row of a narrow screen.
    wide = sum(character > "\u1100" for character in shown)
    narrow = wide > 0 and len(shown) + wide > USUAL // 2
    return shown if shown == screen(typed, WIDE, lead) and not narrow else ""


def _behind(shown: str) -> str | None:
    """The command on the screen, behind a prompt of one row or several; None without a prompt."""
    rows = shown.split("\n")
    for number in range(min(len(rows), MOST_ROWS)):
        if found := behind_prompt("\n".join(rows[number:])):
            return found[1].strip()
    return None


def _lines(text: str) -> Iterator[tuple[int, int, int, int]]:
    """Toggle, what follows it, the toggle back, and what follows that; not in full screens."""
    opened: re.Match[str] | None = None
    hidden = False
    for toggle in TOGGLE.finditer(text):
        if toggle[1] != "2004":
            hidden = toggle[2] == "h"
        elif hidden:
            continue  # vim turns it on and off for itself
        elif toggle[2] == "h":
            opened = toggle
        elif opened is not None:
            yield opened.start(), opened.end(), toggle.start(), toggle.end()
            opened = None


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
    done = msgspec.structs.replace(last, until=again.start(), closed=again.start(), is_done=True)
    return [*runs[:-1], done]
