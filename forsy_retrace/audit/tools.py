"""Do a claimed name and the log's mean one tool? Writers add namespaces, or name its kind."""

from collections.abc import Callable
from typing import Literal, NamedTuple

from forsy_retrace.patterns import later
from forsy_retrace.trace import Step

ToolWay = Literal["same", "kind", "unnamed", "other"]
NAMESPACE = later(r"\A.*(?:__|[.:/])(?=[^.:/])")
SHELLS = (
    "bash sh zsh shell terminal cli commandline console powershell exec execcommand executecommand"
    " shellcommand localshell containerexec runcommand runterminalcmd runshellcommand"
    " commandexecution codeinterpreter python subprocess git"
)
FILES = "file files filesystem fs editor texteditor strreplaceeditor strreplacebasededittool"


class Kind(NamedTuple):
    """Names for a kind of tool, and which logged steps are of it."""

    names: frozenset[str]
    holds: Callable[[Step], bool]


def _kind(names: str, holds: Callable[[Step], bool]) -> Kind:
    return Kind(frozenset(names.split()), holds)


KINDS = (
    _kind(SHELLS, lambda step: _short(step.tool) in SHELLS.split()),
    _kind(
        f"edit fileedit multiedit strreplace applypatch patch replace write filewrite {FILES}",
        lambda step: step.surface == "file" and step.operation in ("edit", "write", "plan"),
    ),
    _kind(
        f"read fileread readfile view viewfile openfile cat {FILES}",
        lambda step: step.surface == "file" and step.operation in ("read", "verify"),
    ),
    _kind(
        f"search grep glob find ripgrep rg codesearch filesearch ls list {FILES}",
        lambda step: step.operation == "search",
    ),
    _kind(
        "web browser websearch webfetch webrun fetch search http",
        lambda step: step.surface in ("search", "browser", "api"),
    ),
    _kind(
        "task agent subagent spawnagent delegate delegation",
        lambda step: _short(step.tool) in ("task", "agent", "spawnagent"),
    ),
    _kind(
        "todo todos todolist todowrite plan updateplan taskcreate taskupdate",
        lambda step: step.operation == "plan",
    ),
    _kind("mcp", lambda step: (step.surface or "").startswith("mcp")),
)


def tool_way(claim: str | None, step: Step) -> ToolWay:
    """How the claimed name stands to the tool of a logged step."""
    if not claim:
        return "unnamed"
    if step.tool is None:
        return "other"
    if claim == step.tool or _short(claim) == _short(step.tool):
        return "same"
    if _letters(claim) == _letters(step.tool):
        return "same"
    names = {_short(claim), _letters(claim)}
    return "kind" if any(names & kind.names and kind.holds(step) for kind in KINDS) else "other"


def _short(name: str | None) -> str:
    return _letters(NAMESPACE.sub("", (name or "")[:200]))


def _letters(name: str) -> str:
    return "".join(char for char in name[:200].lower() if char.isalnum())
