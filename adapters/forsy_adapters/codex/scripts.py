"""Joins code that the model sent with the calls that it made, and with its end.

Where code makes one call, and the client's record of that call is there, the record tells how it
ended: the code's own end says only that the code did.
"""

from typing import Any

import msgspec

from forsy_retrace.events import Meant, Origin, ToolResult
from forsy_retrace.sdk import later, parsed

from .code import PLANS, SHELL, calls, joined, status_in
from .made import Made, made
from .results import SCRIPT, Result, by_code, result, told
from .units import Unit, texts

MOST_OPEN = 50
"""Pieces of code that may run at once; those before them came to no end."""
TOOL = "exec"
"""The tool that takes code."""
RUNS_ON = later(r"Script running with cell ID ([\w-]{1,40})")
BROKE = later(r"Script error:\n(?:Uncaught )?(?:Type|Reference|Range|Syntax)Error\b")
"""The words of an error in the code itself."""
PATCH = "apply_patch"


class Code(msgspec.Struct):
    """Code: the call that sent it, the place of its record, and the calls that it spells out."""

    sent: str
    place: int
    calls: list[Meant]
    text: str = ""
    """What was sent, where it may show how its command ended."""
    found: list[tuple[Unit, Made]] = msgspec.field(default_factory=list)
    """The client's records of those calls."""
    end: ToolResult | None = None
    """What a call that waited for it told of its end."""
    failed: bool = False
    broke: bool = False
    """Whether an error of its own stopped it: which calls it made, nobody can tell."""
    lines: set[str] = msgspec.field(default_factory=set)
    """The commands of a shell among its calls."""
    patches: list[str] = msgspec.field(default_factory=list)
    tools: set[str] = msgspec.field(default_factory=set)
    others: set[str] = msgspec.field(default_factory=set)
    """The tools of its calls that run no command."""

    def __post_init__(self) -> None:
        for meant in self.calls:
            self.tools.add(_plain(meant.tool))
            match meant.input:
                case {"cmd": str(text)} | {"command": str(text)}:
                    self.lines.add(text)
                    continue
                case str(text) | {"input": str(text)} | {"patch": str(text)}:
                    if meant.tool == PATCH:
                        self.patches.append(text)
            self.others.add(_plain(meant.tool))

    def made(self, one: Made) -> bool:
        """Whether the client's record is that of a call which the code spells out."""
        runs = one.tool in COMMANDS
        if runs and isinstance(one.sent, str) and one.sent.removeprefix(ENCODED) in self.lines:
            return True
        if one.changed:
            names = [_name(path) for path in _paths(one.changed)]
            if any(all(name in text for name in names) for text in self.patches):
                return True
        return _plain(one.tool) in (self.others if runs else self.tools)


class Scripts(msgspec.Struct):
    """What a whole log tells of the code in it, by the places of the records that sent it."""

    meant: dict[int, Meant] = msgspec.field(default_factory=dict)
    ends: dict[int, ToolResult] = msgspec.field(default_factory=dict)
    changed: dict[int, Any] = msgspec.field(default_factory=dict)
    """The files of patches, as the client keeps them."""
    before: dict[int, list[tuple[Unit, Made]]] = msgspec.field(default_factory=dict)
    """The patches that code applied before it made the calls that it comes to."""
    apart: set[int] = msgspec.field(default_factory=set)
    """Code of which each call is told by itself: what it printed is not its own end."""
    told: set[str] = msgspec.field(default_factory=set)
    """The client's records of calls that were joined to code."""
    late: dict[int, list[tuple[Unit, Made]]] = msgspec.field(default_factory=dict)
    """Commands that ran on when their code had ended, by the place of that code."""
    outlived: set[str] = msgspec.field(default_factory=set)
    """The client's records of those commands."""
    notes: dict[str, list[int]] = msgspec.field(default_factory=dict)
    """Outputs that may be no more than what running code had to say, by the call that sent it."""
    said: set[int] = msgspec.field(default_factory=set)
    """Those that were no more, for another output came after them."""
    polls: set[str] = msgspec.field(default_factory=set)
    """Calls that wait for code that runs on."""
    speaks: dict[str, str] = msgspec.field(default_factory=dict)
    """Those, and the call that sent the code of whose end their output tells."""
    open: dict[str, Code] = msgspec.field(default_factory=dict)
    """Code by the call that sent it."""
    left: dict[str, Code] = msgspec.field(default_factory=dict)
    """Code that ended before a command that it ran, by that command."""
    cells: dict[str, str] = msgspec.field(default_factory=dict)
    """The names that the client gave to code that runs on, and the calls that sent it."""
    asked: dict[str, str] = msgspec.field(default_factory=dict)
    """Calls that wait, and for which cell."""

    def item(self, unit: Unit) -> None:
        """Looks at an item."""
        match unit.body:
            case {"type": "custom_tool_call", "name": "exec", "call_id": str(call), "input": sent}:
                shows = isinstance(sent, str) and ".exit_code" in sent
                code = Code(call, unit.number, calls(sent), sent if shows else "")
                self.open[call] = code
                if len(self.open) > MOST_OPEN:
                    self._settle(self.open.pop(next(iter(self.open))))
                if (one := joined(code.calls)) is not None:
                    self.meant[unit.number] = one
            case {"name": "wait", "call_id": str(call), "arguments": str(sent)} if self.cells:
                match parsed(sent):
                    case {"cell_id": int() | str() as cell} if str(cell) in self.cells:
                        self.asked[call] = str(cell)
                        self.polls.add(call)
                        self.speaks[call] = self.cells[str(cell)]
            case {"type": "custom_tool_call_output", "name": "exec", "call_id": str(call)} if (
                call not in self.open
            ):  # from 0.16x on it may come behind the end of the code
                self.said.add(unit.number)
            case {"call_id": str(call), "output": [{"text": str(text)}]} if (
                call in self.open and not text.startswith("Script ")
            ):
                self.notes.setdefault(call, []).append(unit.number)
            case {"call_id": str(call), "output": output} if call in self.open:
                self.said.update(self.notes.pop(call, ()))
                if name := _running(output):
                    self.cells[name] = call
                else:
                    self._closed(self.open.pop(call), unit, output)
            case {"call_id": str(call), "output": output} if call in self.asked:
                if not _running(output):
                    self._ended(unit, self.cells.pop(self.asked.pop(call), ""), output)

    def event(self, unit: Unit, known: set[str]) -> None:
        """Looks at an event; `known` are the calls that items tell."""
        one = made(unit) if self.open or self.left else None
        if one is None or one.ident in known or one.ident in self.told:
            return
        makers = [code for code in self.open.values() if code.made(one)]
        if len(makers) == 1:
            makers[0].found.append((unit, one))
        elif makers:
            return
        elif unread := [code for code in self.open.values() if not code.calls]:
            if len(self.open) == 1:
                self.apart.add(unread[0].place)
        else:
            code = self.left.pop(str(one.sent), None) if one.tool in COMMANDS else None
            if code is not None:
                code.found.append((unit, one))
                self._settle(code)
                if one.ident not in self.told:
                    self.late.setdefault(code.place, []).append((unit, one))
                    self.outlived.add(one.ident)

    def looked_on(self) -> None:
        """A command that an earlier call left running has ended: code under way waited for it."""
        self.polls.update(code.sent for code in self.open.values() if not code.calls)

    def finish(self) -> None:
        """The log is over."""
        for code in self.open.values():
            self._settle(code)

    def _closed(self, code: Code, unit: Unit, output: Any) -> None:
        if (end := _shown(code, unit, output)) is not None:
            code.end = end
        code.failed = _head(output).startswith("Script failed")
        code.broke = code.failed and any(BROKE.match(text) for text in texts(output))
        self._settle(code)
        ended = [one.sent for _, one in code.found]
        lines = [one.input.get("cmd") for one in code.calls if isinstance(one.input, dict)]
        running = [line for line in lines if isinstance(line, str) and line not in ended]
        self.left.update((line, code) for line in running if not code.failed)

    def _ended(self, unit: Unit, call: str, output: Any) -> None:
        """Code that ran on came to its end, by itself or because the agent stopped it."""
        code = self.open.pop(call, None)
        if code is None:
            return
        found = result(output, f"{unit.prefix}/output")
        if found.outcome in ("ok", "failed") and not _head(output).startswith("Script terminated"):
            code.end = _end(unit, call, found)
        self._closed(code, unit, output)

    def _settle(self, code: Code) -> None:
        """Decides what code comes to, as far as the log tells by now."""
        place, records = code.place, code.found
        self.told.difference_update(one.ident for _, one in records)
        for known in (self.before, self.changed, self.ends):
            known.pop(place, None)
        if code.end is not None:
            self.ends[place] = code.end
        if not records:
            if code.broke or (code.failed and len(code.calls) > 1):
                self.meant.pop(place, None)
        elif len(code.calls) > 1:
            self._several(code)
        elif code.failed and records[0][1].found.outcome == "ok":
            self._apart(place)
        else:
            ((unit, one),) = records[:1]
            self.told.add(one.ident)
            self.ends[place] = _end(unit, code.sent, one.found)
            if one.changed and one.found.outcome == "ok":
                self.changed[place] = one.changed

    def _several(self, code: Code) -> None:
        """Code of several calls: each is told by itself, but commands that no record tells."""
        made = [one for one in code.calls if one.tool != PLANS]
        rest = [one for one in made if one.tool != PATCH]
        patches = len(made) - len(rest)
        first = all(one.tool == PATCH for one in made[:patches])
        only = len(code.found) == patches and all(one.changed for _, one in code.found)
        comes_to = joined(rest) if rest and first and only and not code.failed else None
        if comes_to is None:
            self._apart(code.place)
            return
        self.apart.discard(code.place)
        self.meant[code.place] = comes_to
        self.before[code.place] = code.found
        self.told.update(one.ident for _, one in code.found)

    def _apart(self, place: int) -> None:
        self.meant.pop(place, None)
        self.ends.pop(place, None)
        self.apart.add(place)


def _end(unit: Unit, call: str, found: Result) -> ToolResult:
    here = unit.record.here.at(found.pointer or unit.prefix)
    return told(Origin(here, unit.at, "agent"), call, found)


def _shown(code: Code, unit: Unit, output: Any) -> ToolResult | None:
    """The end of the commands, where the code shows their exit statuses."""
    runs = [one for one in code.calls if one.tool == SHELL]
    if not code.text or not runs or not _head(output).startswith(SCRIPT):
        return None
    shown: list[tuple[int, int]] = []
    rest: list[str] = []
    for index, part in enumerate(output if isinstance(output, list) else []):
        text = part.get("text") if index and isinstance(part, dict) else None
        if isinstance(text, str):
            status = status_in(code.text, text)
            if status is not None:
                shown.append((index, status))
                text = text.lstrip("\n").partition("\n")[2]
            rest.append(text)
    failed = [one for one in shown if one[1]]
    if not failed and len(shown) < len(runs):
        return None
    ((index, status), *_) = failed or shown
    path, left = f"{unit.prefix}/output/{index}/text", "\n".join(filter(None, rest))
    outcome, rule = by_code(status, left)
    return _end(unit, code.sent, Result(left, path, outcome, rule, path, status))


def _running(output: Any) -> str:
    """The name of the cell in which code runs on; empty where it ended."""
    found = RUNS_ON.match(_head(output))
    return found[1] if found else ""


def _head(output: Any) -> str:
    return next(iter(texts(output)), "")


ENCODED = "[Console]::OutputEncoding=[System.Text.Encoding]::UTF8;\n"
"""What the client puts before a line of PowerShell."""
COMMANDS = ("CommandExecution", "exec_command")


def _paths(changed: Any) -> list[str]:
    if isinstance(changed, dict):
        return list(changed)
    return [str(one.get("path")) for one in changed if isinstance(one, dict)]


def _name(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _plain(tool: str) -> str:
    """A tool's name as code has to write it."""
    return "".join(letter if letter.isalnum() else "_" for letter in tool).lower()
