"""SWE-agent: its own commands, and what it writes around what they print.

An action is a call of one of its tools, or a line of its shell in which its own commands work like
others. A window shows numbered lines of the open file; an edit may name them by their numbers.
Behind an observation stand the open file and the working directory. There is no exit status: what
the harness says in words is all. Learnt from SWE-agent 0.5 to 1.1.
"""

import re
import shlex
from collections.abc import Mapping
from typing import Any, NamedTuple

from forsy_retrace.calls import Verdict
from forsy_retrace.dialects import Call
from forsy_retrace.events import Change, Hunk, Meant
from forsy_retrace.sdk import later, lines_of, number, packed

from ..place import text_in
from .words import EDITS, HANDED_IN, HEADING, SHOWS, WRONG_FLAG, told

PLACE, FILES = "the working directory", "what a call changed in files"
"""What this harness logs and others do not."""


class Own(NamedTuple):
    """A command of the harness: the known tool that it works like, and what names its target."""

    like: str
    key: str = ""
    """The argument of a call that names its file or folder."""
    word: int = 0
    """Which word of a line does."""
    opened: bool = False
    """Where nothing is named, it works on the open file."""


OWN: Mapping[str, Own] = {
    "open": Own("Read", "path", 1, opened=True),
    "goto": Own("Read", opened=True),
    "scroll_down": Own("Read", opened=True),
    "scroll_up": Own("Read", opened=True),
    "create": Own("Write", "filename", 1),
    "edit": Own("Edit", opened=True),
    "insert": Own("Edit", opened=True),
    "find_file": Own("Glob", "dir", 2),
    "search_dir": Own("Grep", "dir", 2),
    "search_file": Own("Grep", "file", 2, opened=True),
    "submit": Own("finish"),
}
EDITOR = "str_replace_editor"
"""The text editor of SWE-agent 1, which others have under this name; typed, it has flags."""
FLAGS = ("--file_text", "--view_range", "--old_str", "--new_str", "--insert_line")
LINE_AT: Mapping[str, int] = {"open": 2, "goto": 1}
"""Which word of a line of theirs, or the `line_number` of a call, is where the window opens."""
NUMBER = later(r"\d{1,9}", re.A)
LINE_NUMBER = later(r"-?\d{1,9}", re.A)
JOINTS = frozenset("&;|<>")
"""A word of these makes more of a line than one command."""

BEHIND = later(
    r"(?:\A|\n)(?:\(Open file: (?P<file>.*)\)\r?\n)?\(Current directory: (?P<cwd>.*)\)\r?\n"
    r"(?:\(.*\)\r?\n){0,4}bash-\$\s*\Z"
)
"""What stands behind an observation."""
LONGEST = 4000
"""Characters that it may have, and the line of a command of its own."""
LONGEST_EDIT = 100_000
NO_FILE = "n/a"
HEAD = later(r"(?m)^\[File: (?P<path>.+) \((?P<total>\d{1,9}) lines total\)\]\r?$\n?")
LINE = later(r"(?P<number>\d{1,9}):(?P<text>.*?)\r?(?:\n|\Z)")
ABOVE = later(r"\(\d{1,9} more lines above\)\r?\n")
SPAN = later(r"(?P<first>\d{1,9}):(?P<last>\d{1,9})\s*\Z")
END = "end_of_edit"


class Act(NamedTuple):
    """What the agent does: a command of the harness, or any other (its name is empty)."""

    name: str = ""
    target: str = ""
    span: tuple[int, int] | None = None
    text: str = ""
    """What an edit puts in place of these lines."""
    line: int | None = None
    """The line that a window is opened at."""
    sent: Mapping[str, Any] | None = None
    """What a line asks of the text editor."""

    def meant(self, sent: Any) -> Meant | None:
        """The known tool that a command of the harness works like, with the file it works on."""
        if self.sent is not None:
            return Meant(EDITOR, dict(self.sent))
        if not self.name:
            return None
        given = sent if isinstance(sent, dict) else {"text": sent}
        named: dict[str, Any] = {"file_path": self.target} if self.target else {}
        if self.line is not None:
            named["line_number"] = self.line
        return Meant(OWN[self.name].like, {**given, **named})


class Seen(NamedTuple):
    """What an observation tells: the outcome, what changed, a new working directory."""

    verdict: Verdict = Verdict()
    changes: tuple[Change, ...] = ()
    moved: str = ""
    taken: str = ""
    """The work that it takes from the agent."""
    refused: bool = False
    """It refuses the flag of a challenge."""


class Window:
    """The lines of one file that are known by their numbers."""

    def __init__(self, path: str = "", total: int = 0) -> None:
        self.path, self.total = path, total
        self.lines: dict[int, str] = {}

    @property
    def first(self) -> int:
        return next(iter(self.lines), 1)

    @property
    def shown(self) -> Change:
        """What the agent sees; behind the last line of a file stands the empty one, as elsewhere.

        The harness counts lines by their ends, so an empty one that it shows last has one, too.
        """
        lines, total = [*self.lines.values()], self.total
        if total and max(self.lines, default=0) == total:
            lines, total = [*lines, ""], total + 1
        shown = packed("\n".join(lines))
        return Change(self.path, "shown", shown=shown, start=self.first, total=total)


OFFERED = later(r"(?m)^(\w{1,60}):\n  docstring: ")
"""How the harness's prompt names a command of its own."""
SHELL_TOO = "typical bash commands"
"""What the prompt says of the shell."""


def offered_in(prompt: str) -> list[str]:
    """The commands that the harness's prompt names, and its shell."""
    names = OFFERED.findall(prompt)
    return [*dict.fromkeys(names), *(["shell"] if names and SHELL_TOO in prompt else [])]


def flag_in(action: str) -> str:
    """The flag that a line hands in; empty where it hands in files, or is another."""
    try:
        words = shlex.split(action) if len(action) <= LONGEST else []
    except ValueError:  # a quote that does not close
        return ""
    return words[1].strip() if len(words) == 2 and words[0] == "submit" else ""


def ends_in_prompt(text: str) -> bool:
    """Whether the harness's prompt stands behind a text."""
    return _behind(text) is not None


def _behind(text: str) -> re.Match[str] | None:
    is_there = "bash-$" in text[-20:]
    return BEHIND.search(text, max(0, len(text) - LONGEST)) if is_there else None


class SweAgent:
    """Follows one run: what it does, which file is open, what is known of its lines."""

    def __init__(self, end: Verdict = Verdict()) -> None:  # noqa: B008 (a Verdict is a tuple)
        self.end = end
        """What the run's writer says of handing in, where nothing came back of it."""
        self.act: Act | None = None
        self.open = ""
        self.cwd = ""
        self.window = Window()

    def acts(self, action: str, call: Call | None = None) -> Act:
        """Takes what the agent does next: a call of a tool, or a line."""
        self.act = _called(call, self.open) if call else _typed(action, self.open)
        return self.act

    def observes(self, text: str, base: str) -> Seen:
        """Takes what came back of it."""
        act, self.act = self.act or Act(), None
        bare, moved = self.stands(text)
        verdict = told(act.name, bare, base)
        if act.name == "submit" and verdict.outcome == "unknown":
            verdict = self.end
        if act.name not in OWN:
            self.window = Window()  # any other command may have changed the file
        changes = self._changes(act, bare) if verdict.outcome == "ok" else ()
        taken = bare.removeprefix(HEADING) if verdict.rule == HANDED_IN else ""
        return Seen(verdict, changes, moved, taken, verdict.rule == WRONG_FLAG)

    def stands(self, text: str) -> tuple[str, str]:
        """A text without what the harness wrote behind it; the working directory if it is new."""
        behind = _behind(text)
        if behind is None:
            return text, ""
        if behind["file"]:
            self.open = "" if behind["file"] == NO_FILE else behind["file"]
        moved = behind["cwd"] if behind["cwd"] != self.cwd else ""
        self.cwd = behind["cwd"]
        return text[: behind.start()], moved

    def _changes(self, act: Act, text: str) -> tuple[Change, ...]:
        before, window = self.window, _window(text)
        if act.name not in (*EDITS, *SHOWS) or window is None:
            return ()
        self.window = window
        if act.name == "create":
            return (Change(window.path, "created", after="\n".join([*window.lines.values(), ""])),)
        if act.name not in EDITS:
            return (window.shown,)
        if act.span is None:
            return ()  # what it was asked to replace says it
        made = Change(window.path, "modified", _hunks(act, before, window))
        return (made,) if made.hunks else (made, window.shown)


def _hunks(act: Act, before: Window, after: Window) -> tuple[Hunk, ...]:
    """What a numbered edit replaced by what, where the windows before and behind it show both."""
    assert act.span is not None
    first, last = act.span
    numbers = range(first, min(last, before.total) + 1)
    if before.path != after.path or not 0 < len(numbers) <= len(before.lines):
        return ()
    old = [before.lines[at] for at in numbers if at in before.lines]
    new = lines_of(act.text)
    put = [after.lines.get(first + at) for at in range(len(new))]
    grown = before.total - len(old) + len(new)
    if len(old) < len(numbers) or put != new or grown != after.total:
        return ()
    return (Hunk(first, first, (*(f"-{line}" for line in old), *(f"+{line}" for line in new))),)


def _called(call: Call, opened: str) -> Act:
    """A call of one of its tools."""
    own, sent = OWN.get(call.name), call.input if isinstance(call.input, dict) else {}
    if own is None:
        return Act()
    first, last = number(sent.get("start_line")), number(sent.get("end_line"))
    span = None if first is None or last is None else (first, last)
    target = text_in(sent, own.key) or (opened if own.opened else "")
    line = number(sent.get("line_number")) if call.name in LINE_AT else None
    return Act(call.name, target, span, text_in(sent, "replacement_text"), line)


def _typed(action: str, opened: str) -> Act:
    """A line of its shell; one that does more than a command of its own is any line."""
    line, _, rest = action.strip("\n").partition("\n")
    name = line.partition(" ")[0].strip()
    if name == EDITOR:
        return _edited(action)
    own = OWN.get(name)
    if own is None or len(line) > LONGEST or (rest.strip() and own.like != "Edit"):
        return Act()
    try:
        words = _words(line)
    except ValueError:  # a quote that goes on below
        return Act(name, opened) if own.like == "Edit" else Act()
    if any(JOINTS.issuperset(word) for word in words if word):
        return Act()
    target = words[own.word] if 0 < own.word < len(words) else opened if own.opened else ""
    span = SPAN.match(words[1]) if own.like == "Edit" and len(words) == 2 else None
    if span is None:
        at = words[LINE_AT[name] :] if name in LINE_AT else []
        return Act(name, target, line=int(at[0]) if at and NUMBER.fullmatch(at[0]) else None)
    text = rest.removesuffix(END) if rest.endswith(END) else rest
    return Act(name, target, (int(span["first"]), int(span["last"])), text.removesuffix("\n"))


def _words(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    return list(lexer)


def _edited(action: str) -> Act:
    """A line for the text editor: what it does, the path, and flags with their values."""
    try:
        words = _words(action) if len(action) <= LONGEST_EDIT else []
    except ValueError:  # a quote that does not close
        words = []
    if len(words) < 3 or any(JOINTS.issuperset(word) for word in words if word):
        return Act()
    flags: dict[str, list[str]] = {}
    held: list[str] = []
    for word in words[3:]:
        if word in FLAGS:
            held = flags.setdefault(word.removeprefix("--"), [])
        else:
            held.append(word)
    sent = {"command": words[1], "path": words[2]}
    return Act(EDITOR, words[2], sent=sent | {key: _value(key, flags[key]) for key in flags})


def _value(flag: str, words: list[str]) -> Any:
    """What a flag was given: a text, but for the lines to show and the line to insert behind."""
    text = " ".join(words)
    if flag == "view_range" and all(map(LINE_NUMBER.fullmatch, words)):
        return [int(word) for word in words]
    return int(text) if flag == "insert_line" and NUMBER.fullmatch(text) else text


def _window(text: str) -> Window | None:
    """The first window in a text."""
    head = HEAD.search(text) if "[File: " in text else None
    if head is None:
        return None
    window = Window(head["path"], int(head["total"]))
    at = head.end()
    if above := ABOVE.match(text, at):
        at = above.end()
    while (line := LINE.match(text, at)) and line.end() > at:
        if window.lines and int(line["number"]) != window.first + len(window.lines):
            break
        window.lines[int(line["number"])] = line["text"]
        at = line.end()
    return window if window.lines else None
