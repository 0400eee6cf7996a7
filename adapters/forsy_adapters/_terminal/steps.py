"""From a tape to events: the commands by the surest way that finds any, else one opaque step."""

from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import NamedTuple
from urllib.parse import unquote

import msgspec

from forsy_retrace.events import Event, Fact, Origin, Skipped, ToolCall, ToolResult
from forsy_retrace.sdk import later
from forsy_retrace.source import Evidence, has_screen, plain

from .._shell import enters, leaves, outcome
from .marks import by_marks
from .paste import by_paste
from .prompts import by_prompts
from .run import Run
from .tape import TOO_LONG, UNSEEN, Tape

OPERATOR = "unknown: a recording does not say who typed"
WAYS: tuple[tuple[str, Callable[[Tape], list[Run]]], ...] = (
    ("shell marks", lambda tape: by_marks(tape.text, tape.widths)),
    ("bracketed paste", lambda tape: by_paste(tape.text, tape.widths) if has_screen() else []),
    ("learnt prompt", lambda tape: by_prompts(tape.text, tape.widths, tape.breaks)),
    ("none", lambda tape: []),
)
"""The surest first; what the manifest calls them."""
FOLDER = later(r"\x1b\]7;file://[^/\x07\x1b]*(/[^\x07\x1b]{1,4096})(?:\x07|\x1b\\)")
NOTHING_TOLD, RECORDING = "nothing-told", "terminal recording"
"""The rule and the tool of a call whose command is not told."""
STATUS = later(
    r"(?:echo|print|printf '%d\\n') +(?P<quote>[\"']?)(?P<words>[\w :=.,-]{0,40})"
    r"\$(?:\?|status|\{\?\})(?P=quote)"
)
"""How a shell is asked for the status of the command before, with words before it or without."""
NUMBER = later(r"\d{1,3}")
WHO = later(r"[\w.+-]{1,40}@[\w.-]{1,80}")


class Program(NamedTuple):
    """What the recorder says it ran: the words, where they stand, and how it ended."""

    command: str = ""
    here: Evidence | None = None
    exit: int | None = None
    exit_here: Evidence | None = None


def steps(tape: Tape, program: Program) -> Iterator[Event]:
    """The events of all that a tape holds, and one of what it did not take."""
    if tape.rest is not None:
        yield Skipped(Origin(tape.rest, None, "system"), TOO_LONG)
    text = tape.text
    if not text:
        return
    name, runs = _recovered(tape)
    start, end = (runs[0].prompt, runs[0].until) if runs else (0, tape.length)
    begun = tape.origin(tape.span(start, end), start)
    yield Fact(begun, "operator", OPERATOR)
    if tape.holds_typed:
        yield Fact(begun, "shows", UNSEEN)
    yield Fact(begun, "recovery", {"commands_by": name, "terminal_emulator": has_screen()})
    if not runs:
        yield from _opaque(tape, program)
        return
    if runs[0].prompt > 0:
        yield _left_out(tape, 0, runs[0].prompt, "output before the first command")
    outputs = [_printed(tape, run.entered, run.until)[0] for run in runs]
    for number, run in enumerate(runs):
        is_last = number + 1 == len(runs)
        after = len(text) if is_last else runs[number + 1].prompt
        yield from _called(tape, run, number)
        shown = None if is_last else _status(tape, run, runs[number + 1], outputs[number + 1])
        yield from _returned(tape, run, number, outputs[number], shown)
        if after > run.closed:
            yield _left_out(tape, run.closed, after, "between commands")


def _recovered(tape: Tape) -> tuple[str, list[Run]]:
    """The surest way that finds a command, and the commands."""
    name, runs = next((name, runs) for name, way in WAYS if (runs := way(tape)) or name == "none")
    return name, list(_in_folders(runs, tape.text))


def _in_folders(runs: list[Run], text: str) -> Iterator[Run]:
    """The commands, each with the folder that its shell named since the one before (OSC 7)."""
    marks = list(FOLDER.finditer(text)) if "\x1b]7;" in text else []
    places, seen = [one.start() for one in marks], 0
    for run in runs:
        known, seen = seen, bisect_left(places, run.start)
        if seen > known and run.cwd is None:
            last = marks[seen - 1]
            run = msgspec.structs.replace(run, cwd=(*last.span(), unquote(last[1])))
        yield run


def _left_out(tape: Tape, start: int, end: int, why: str) -> Event:
    return Skipped(tape.origin(tape.span(start, end), start, "system"), why)


def _called(tape: Tape, run: Run, number: int) -> Iterator[Event]:
    """The directory that the shell named, and the command as it was entered."""
    if run.cwd is not None:
        start, end, path = run.cwd
        yield Fact(tape.origin(tape.span(start, end), start), "cwd", path)
    here = tape.origin(tape.span(run.prompt, max(run.entered, run.end)), max(run.entered - 1, 0))
    if run.command:
        typed, reading, tool = tape.span(run.start, run.end, run.view), run.reading, "terminal"
    else:
        typed, reading, tool = tape.span(run.start, run.start), NOTHING_TOLD, RECORDING
    here = msgspec.structs.replace(here, pieces=(typed,), reading=reading)
    yield ToolCall(here, _name(number), tool, run.command, None)


def _returned(
    tape: Tape, run: Run, number: int, output: str, shown: tuple[int, int] | None
) -> Iterator[Event]:
    """What was printed, and the exit status where the shell or the next command tells it."""
    end = shown[1] if shown and run.exit is None else run.closed
    here = tape.origin(tape.span(run.entered, end), run.until)
    if not run.is_done or (run.exit is None and enters(run.command)):
        # What stands behind the command that enters a shell is that shell's first prompt.
        here = msgspec.structs.replace(here, at=None, clock=())
    printed = _printed(tape, run.entered, run.until)[1]
    here = msgspec.structs.replace(here, pieces=(printed,), reading="printed")
    exit, rule = (run.exit, "exit-mark") if run.exit is not None else (None, "")
    if exit is None and shown is not None:
        exit, rule = shown[0], "status-shown"
    came = outcome(run.command, exit)
    yield ToolResult(here, _name(number), output, came, rule, exit_code=exit)


def _printed(tape: Tape, start: int, end: int) -> tuple[str, Evidence]:
    """What stood on the screen of a part of the text, and where it is read."""
    width = tape.widths.over(start, end)
    return plain(tape.text[start:end], width), tape.span(start, end, f"plain:{width}")


def _status(tape: Tape, run: Run, following: Run, output: str) -> tuple[int, int] | None:
    """The exit status that the next command prints, and where that ends."""
    if following.prompt > run.closed:
        return None  # a line given up with ^C stands between them, and it sets the status
    asked, said = STATUS.fullmatch(following.command), output.strip()
    words = asked["words"].strip() if asked else ""
    if not asked or not said.startswith(words):
        return None
    number = said[len(words) :].strip()
    if not NUMBER.fullmatch(number):
        return None
    if enters(run.command) or leaves(run.command) or _who(tape, run) != _who(tape, following):
        return None  # the next command asks another shell
    return int(number), following.until


def _who(tape: Tape, run: Run) -> str:
    """The user and the host that a command's prompt names."""
    line = _printed(tape, run.prompt, run.end)[0]
    command = run.command.partition("\n")[0]
    found = WHO.search(line.partition(command)[0] if command else line)
    return found[0] if found else ""


def _name(number: int) -> str:
    return f"command-{number + 1}"


def _opaque(tape: Tape, program: Program) -> Iterator[Event]:
    """One step for a recording in which no command can be told."""
    end = tape.length
    begun = tape.origin(tape.span(0, end), 0)
    if program.here is not None:
        typed, reading, tool = program.here, "recorded-program", "terminal"
    else:
        typed, reading, tool = tape.span(0, 0), NOTHING_TOLD, RECORDING
    here = msgspec.structs.replace(begun, pieces=(typed,), reading=reading)
    yield ToolCall(here, _name(0), tool, program.command, None)
    output, printed = _printed(tape, 0, end)
    done = tape.origin(tape.span(0, end), end - 1)
    done = msgspec.structs.replace(done, pieces=(printed,), reading="printed")
    exit, rule, basis = None, "", ""
    if program.exit is not None and program.exit_here is not None:
        exit, rule, basis = program.exit, "exit-code", program.exit_here.pointer
        done = msgspec.structs.replace(done, evidence=program.exit_here.at(""))
    came = outcome(program.command, exit)
    yield ToolResult(done, _name(0), output, came, rule, basis, exit)
