"""Joins code that the model sent with the calls that it made, and with its end.

Where code makes one call, and the client's record of that call is there, the record tells how it
ended: the code's own end says only that the code did.
"""

from typing import Any

import msgspec

from forsy_retrace.events import Meant, Origin, ToolResult
from forsy_retrace.sdk import later, parsed

from .code import calls, joined
from .made import Made, made
from .results import Result, result, told
from .units import Unit

TOOL = "exec"
"""The tool that takes code."""
RUNS_ON = later(r"Script running with cell ID (\w{1,40})")


class Code(msgspec.Struct):
    """Code that has not ended yet: the place of its record, the calls that it spells out."""

    place: int
    calls: list[Meant]


class Scripts(msgspec.Struct):
    """What a whole log tells of the code in it, by the places of the records that sent it."""

    meant: dict[int, Meant] = msgspec.field(default_factory=dict)
    ends: dict[int, ToolResult] = msgspec.field(default_factory=dict)
    changed: dict[int, Any] = msgspec.field(default_factory=dict)
    """The files of patches, as the client keeps them."""
    told: set[str] = msgspec.field(default_factory=set)
    """The client's records of calls that were joined to code."""
    polls: set[str] = msgspec.field(default_factory=set)
    """Calls that wait for code that runs on."""
    open: dict[str, Code] = msgspec.field(default_factory=dict)
    """Code by the call that sent it."""
    cells: dict[str, str] = msgspec.field(default_factory=dict)
    """The names that the client gave to code that runs on, and the calls that sent it."""
    asked: dict[str, str] = msgspec.field(default_factory=dict)
    """Calls that wait, and for which cell."""

    def item(self, unit: Unit) -> None:
        """Looks at an item."""
        match unit.body:
            case {"type": "custom_tool_call", "name": "exec", "call_id": str(call), "input": sent}:
                self.open[call] = code = Code(unit.number, calls(sent))
                if (one := joined(code.calls)) is not None:
                    self.meant[unit.number] = one
            case {"name": "wait", "call_id": str(call), "arguments": str(sent)} if self.cells:
                match parsed(sent):
                    case {"cell_id": int() | str() as cell} if str(cell) in self.cells:
                        self.asked[call] = str(cell)
                        self.polls.add(call)
            case {"call_id": str(call), "output": output} if call in self.open:
                if name := _running(output):
                    self.cells[name] = call
                else:
                    del self.open[call]
            case {"call_id": str(call), "output": output} if call in self.asked:
                if not _running(output):
                    self._ended(unit, self.cells.pop(self.asked.pop(call), ""), output)

    def event(self, unit: Unit, known: set[str]) -> None:
        """Looks at an event; `known` are the calls that items tell."""
        one = made(unit) if self.open else None
        if one is None or one.ident in known:
            return
        makers = [
            (call, code)
            for call, code in self.open.items()
            if any(_is(one, it) for it in code.calls)
        ]
        if len(makers) != 1:
            return
        ((call, code),) = makers
        if len(code.calls) > 1:
            self.meant.pop(code.place, None)  # each of its calls is told by itself
            return
        self.told.add(one.ident)
        self.ends[code.place] = _end(unit, call, one.found)
        if one.changed and one.found.outcome == "ok":
            self.changed[code.place] = one.changed

    def _ended(self, unit: Unit, call: str, output: Any) -> None:
        """Code that ran on came to its end."""
        code = self.open.pop(call, None)
        found = result(output, f"{unit.prefix}/output")
        if code is not None and found.outcome in ("ok", "failed"):
            self.ends.setdefault(code.place, _end(unit, call, found))


def _end(unit: Unit, call: str, found: Result) -> ToolResult:
    here = unit.record.here.at(found.pointer or unit.prefix)
    return told(Origin(here, unit.at, "agent"), call, found)


def _running(output: Any) -> str:
    """The name of the cell in which code runs on; empty where it ended."""
    match output:
        case [{"text": str(text)}, *_] | str(text):
            found = RUNS_ON.match(text)
            return found[1] if found else ""
    return ""


def _is(one: Made, meant: Meant) -> bool:
    """Whether the client's record is that of a call which the code spells out."""
    match meant.input:
        case {"cmd": str(text)} | {"command": str(text)} if one.tool in COMMANDS:
            return bool(one.sent == text)
        case str(text) | {"input": str(text)} | {"patch": str(text)} if one.changed:
            named = all(_name(path) in text for path in _paths(one.changed))
            return named and meant.tool == "apply_patch"
    return _plain(one.tool) == _plain(meant.tool)


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
