"""Which edits wrote down a plan that the user then took up?"""

from forsy_retrace.trace import Step, Trace

from ..checks.unchecked import is_prose
from ..tools import PLAN_EXITS, path_of


def plans_written(trace: Trace) -> dict[int, int]:
    """Steps that wrote the file of a plan, to the step in which the user accepted it.

    It is the client's own file, or, where the call that hands the plan in holds none of it, the
    prose that was written since the user's words; a plan that was sent back is written over.
    """
    found: dict[int, int] = {}
    own: list[int] = []
    prose: list[int] = []
    for step in trace.steps:
        if step.action == "user_message":
            prose = []
        elif step.like in PLAN_EXITS:
            written = own if _holds_a_plan(step) else [*own, *prose]
            found.update(dict.fromkeys(written if step.success else (), step.step))
            own, prose = [], []
        elif step.success and step.operation == "plan" and step.surface == "file":
            own.append(step.step)
        elif step.success and step.operation in ("edit", "write"):
            path = path_of(step.call.input) if step.call else None
            prose = [*prose, step.step] if path and is_prose(path) else []
    return found


def _holds_a_plan(step: Step) -> bool:
    match step.call.input if step.call else None:
        case {"plan": str(text)} if text.strip():
            return True
    return False
