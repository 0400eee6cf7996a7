"""What kind of step is it, on which surface?"""

from collections.abc import Iterable, Mapping

import msgspec

from forsy_retrace.commands import APPLIES, Command
from forsy_retrace.commands import classify as read_command
from forsy_retrace.events import CODE_ENDED
from forsy_retrace.evidence import inferred
from forsy_retrace.trace import Step, Trace, put

from .copied import OF_A_SHELL
from .rule import Rule
from .shells import command_of
from .tools import (
    AGENT_TOOLS,
    BY_TABLE,
    KINDS_OF_PATCHES,
    PATCHERS,
    REPLACES,
    Kind,
    files_of,
    kind_of,
    one_file,
    replaces_a_text,
    sent_patch,
)
from .words.closing import Turn, asks_user

BY_COMMANDS = 0.95
"""How sure a row of the table of commands is."""
UNKNOWN = Rule("unknown-command", "A shell command in no table: `execute`.", 0.5)
REPORTS = Rule("notification", "A background subagent's report is an answer.")
MERE_WORDS = Rule(
    "words-without-call", "Words that no call follows and that end no turn: `analyze`."
)
RULES = (UNKNOWN, REPORTS, MERE_WORDS)


def classify(trace: Trace) -> Trace:
    """The operation and surface of each step; answers told from questions to the user."""
    turn = Turn(talk=all(step.call is None for step in trace.steps))
    steps = []
    for step in trace.steps:
        step = _kind(step, turn, trace.tools)
        if step.action == "user_message":
            turn = turn._replace(asked=step.input or "", changed=False)
        elif step.operation in CHANGES and _came_back(step):
            turn = turn._replace(changed=True)
        steps.append(step)
    return msgspec.structs.replace(trace, steps=tuple(steps))


CHANGES = ("edit", "write", "execute", "install", "download")


def _came_back(step: Step) -> bool:
    return step.result is not None and step.result.outcome in ("ok", "unknown")


def reports(step: Step) -> bool:
    """Whether the work of a subagent, or of a task in the background, comes back in it."""
    return step.like in AGENT_TOOLS or step.via == "notification"


def typed_line(step: Step) -> Command | None:
    """What a line does that the user ran in the client's shell."""
    ground = step.grounds.get("input") if step.action == "user_message" else None
    if ground is None or ground.rule != OF_A_SHELL.name or not step.input:
        return None
    return read_command(step.input.removeprefix("!"), "bash")


def _run(step: Step) -> Command | None:
    """What a shell call runs."""
    if step.call is None:
        return None
    line = command_of(step.like, step.call.input)
    if line is None:
        return None
    run = read_command(*line)
    return msgspec.structs.replace(run, masked=True, told=()) if ends_as_code(step) else run


def ends_as_code(step: Step) -> bool:
    """Whether the end of code is told, and not that of the call which it makes."""
    return step.told is not None and step.told.rule == CODE_ENDED


def patch_of(step: Step) -> str:
    """The patch that a call sends, or that its line feeds to `apply_patch`; empty for any other."""
    if step.run is not None and step.run.fed:
        return "\n".join(step.run.fed)
    return sent_patch(step.call.input) if step.call else ""


def patched_files(step: Step) -> dict[str, str]:
    """The files of a call's patch, and what it does to each: `Add`, `Update` or `Delete`."""
    return one_file(step.call.input if step.call else None) or files_of(patch_of(step))


def _kind(step: Step, turn: Turn, said: Mapping[str, str]) -> Step:
    if step.call is not None:
        return _call(msgspec.structs.replace(step, run=_run(step)), said)
    if step.action == "output":
        closing = asks_user(step.output or "", turn)
        return put(
            step,
            {"operation": inferred(closing.name, closing.confidence)},
            operation="ask_user" if closing.asks else "answer",
            surface="messaging",
        )
    if step.operation is not None:
        rule = REPORTS if step.via == "notification" else MERE_WORDS
        return put(step, {"operation": rule.ground()}, surface="other_surface")
    return put(step, {}, surface=None if step.actor == "user" else "other_surface")


def _call(step: Step, said: Mapping[str, str]) -> Step:
    assert step.call is not None
    run = step.run
    kind = _patch(step, run) or kind_of(step.like, step.call.input)
    if kind is not None:
        by_table = kind.rule is BY_TABLE
        is_edit = by_table and replaces_a_text(step.call.tool, step.call.input, said)
        ground = (REPLACES if is_edit else kind.rule).ground()
        return put(step, {"operation": ground}, operation=kind.operation, surface=kind.surface)
    if run is None:
        unread = {"operation": BY_TABLE.ground()}
        return put(step, unread, operation="execute", surface="cli")
    known = run.rule != UNKNOWN.name
    ground = inferred(run.rule, BY_COMMANDS) if known else UNKNOWN.ground()
    return put(step, {"operation": ground}, operation=run.operation, surface=run.surface)


DOES = {"created": "Add", "modified": "Update", "deleted": "Delete"}
"""How a patch says what the harness records of it."""


def _patch(step: Step, run: Command | None) -> Kind | None:
    """A patch that a shell's line is there to apply, or of which the log holds only what came of it.

    None unless it does but one thing to its files.
    """
    does: Iterable[str] = ()
    if run is not None and run.main in APPLIES and step.call is not None:
        does = patched_files(step).values()
    elif step.like in PATCHERS and step.result is not None:
        does = (DOES[change.kind] for change in step.result.changes if change.kind in DOES)
    kind = KINDS_OF_PATCHES.get(frozenset(does))
    return kind._replace(surface=run.surface) if kind is not None and run is not None else kind
