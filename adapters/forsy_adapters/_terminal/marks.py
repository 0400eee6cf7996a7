"""Commands by the shell's own marks (OSC 133 of FinalTerm, OSC 633 of Visual Studio Code).

A prompt, B its end, C output begins, D[;exit] done. A prompt that is drawn again has several A and
B before one C: the last counts. 633;E and fish's `cmdline_url` give the command's exact text.
"""

import re
from collections.abc import Iterator
from urllib.parse import unquote

import msgspec

from forsy_retrace.sdk import later
from forsy_retrace.source import has_screen, unescaped

from .paste import USUAL, line_of
from .run import Run
from .tape import Widths

MARK = later(
    r"\x1b\](?:(133|633);([A-Z])(?:;([^\x07\x1b]{0,65536}))?|(7);file://[^/\x07\x1b]*(/[^\x07\x1b]{1,4096}))"
    r"(?:\x07|\x1b\\)"
)
URL = "cmdline_url="
CWD = "Cwd="
INDICATORS = (">", "❯", "$", "%", "➜", "»", "λ", ":", "#")
"""Signs that a shell draws behind its prompt's mark; nushell does."""


def by_marks(text: str, widths: Widths) -> list[Run]:
    """The commands between marks; none where a mark neither names one nor a screen can show it."""
    runs = [run for run in _Marks(text, widths).runs() if run.command]
    return _without_indicator(runs)


class _Marks:
    def __init__(self, text: str, widths: Widths) -> None:
        self.text, self.widths = text, widths
        self.prompt = self.drawn = self.lead = -1
        self.named: tuple[int, int, str, str] | None = None
        """The command as a mark names it: where, how it is read, its text."""
        self.cwd: tuple[int, int, str] | None = None
        self.open: Run | None = None

    def runs(self) -> Iterator[Run]:
        for mark in MARK.finditer(self.text):
            match mark[2], mark[3] or "":
                case None, _:
                    self.cwd = (mark.start(), mark.end(), unquote(mark[5]))
                case "P", str(said) if mark[1] == "633" and said.startswith(CWD):
                    self.cwd = (mark.start(), mark.end(), unescaped(said[len(CWD) :]))
                case "A", _:
                    yield from self._close(mark.start(), mark.start(), None)
                    self.prompt = mark.start() if self.prompt < 0 else self.prompt
                    self.drawn, self.lead = mark.start(), -1
                case "B", _:
                    self.lead = mark.end()
                case "E", str(said) if mark[1] == "633":
                    end = mark.start(3) + len(said.split(";", 1)[0])
                    self._name(mark.start(3), end, "unescaped")
                case "C", str(said):
                    if said.startswith(URL):
                        end = mark.start(3) + len(said.split(";", 1)[0])
                        self._name(mark.start(3) + len(URL), end, "unquoted")
                    self._enter(mark.start(), mark.end())
                case "D", str(said):
                    status = re.match(r"\d{1,9}(?=;|$)", said)
                    code = int(status[0]) if status else None
                    yield from self._close(mark.start(), mark.end(), code)
        yield from self._close(len(self.text), len(self.text), None, done=False)

    def _name(self, start: int, end: int, view: str) -> None:
        said = self.text[start:end]
        self.named = (start, end, view, unescaped(said) if view == "unescaped" else unquote(said))

    def _enter(self, start: int, entered: int) -> None:
        if self.named is not None:
            first, last, view, command = self.named
            reading = "mark-names-command"
        elif self.lead >= 0 and has_screen():
            first, last = self.drawn, start
            width = self.widths.before(last)
            view = f"screen:{width or USUAL}:{self.lead - first}"
            command = line_of(self.text[first:last], width, self.lead - first)
            reading = "between-marks"
        else:
            first, last, view, command, reading = start, start, "", "", ""
        prompt = self.prompt if self.prompt >= 0 else first
        # fmt: off
        self.open = Run(min(prompt, first), first, last, view, command.strip(), reading, entered,
                        entered, entered, False, cwd=self.cwd)
        # fmt: on
        self.prompt = self.lead = -1
        self.named = self.cwd = None

    def _close(self, until: int, closed: int, exit: int | None, done: bool = True) -> Iterator[Run]:
        if self.open is not None:
            yield msgspec.structs.replace(
                self.open, until=until, closed=closed, exit=exit, is_done=done
            )
        self.open = None


def _without_indicator(runs: list[Run]) -> list[Run]:
    """nushell's `> ` stands behind the mark, before each command; a lone one may be the command."""
    shown = [run for run in runs if run.reading == "between-marks"]
    signs = {run.command[:1] for run in shown}
    if len(shown) < 2 or len(signs) > 1 or not signs <= set(INDICATORS):
        return runs
    if not all(run.command[1:2] in (" ", "") for run in shown):
        return runs
    return [
        run
        if run.reading != "between-marks"
        else msgspec.structs.replace(
            run, command=run.command[1:].strip(), reading="indicator-behind-mark"
        )
        for run in runs
        if run.reading != "between-marks" or run.command[1:].strip()
    ]
