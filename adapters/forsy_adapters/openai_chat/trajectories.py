"""SWE-agent's `trajectory`, which repeats the `history` and goes on to the end of the run."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.dialects import Call, calls
from forsy_retrace.events import Skipped, ToolResult

from .chat import AGENT
from .place import Json, Place, Told, text_in
from .speech import called, said
from .verdicts import verdict


def rest(history: list[Any], steps: Any, here: Place) -> Iterator[Told]:
    """What the steps tell behind the history's last action; nothing where the two do not agree."""
    done = [message for message in history if _acts(message)]
    if not isinstance(steps, list) or not done or len(steps) < len(done):
        return
    last = len(done) - 1
    if text_in(steps[last], "action") != done[last]["action"]:
        return
    if history[-1] is done[last]:
        named = [call.id for call in calls(done[last], "") if call.id]
        for call in named or [""]:
            yield from _observed(steps[last], here.deeper(last), call)
    for index, step in enumerate(steps[len(done) :], len(done)):
        where = here.deeper(index)
        yield from _step(step, where._replace(message=where.name))


def _acts(message: Any) -> bool:
    match message:
        case {"role": str(role), "action": str(action)} if role in AGENT:
            return bool(action.strip()) and message.get("is_demo") is not True
    return False


def _step(step: Any, here: Place) -> Iterator[Told]:
    """The agent's words, its action and what that printed."""
    action = text_in(step, "action")
    if not action or not text_in(step, "response"):
        yield Told(None, Skipped(here.origin("system"), "a step of the harness's own"))
        return
    words = next(key for key in ("thought", "response") if text_in(step, key))
    yield said(step[words], here.deeper(words).origin())
    yield called(Call("", "shell", action, here.deeper("action").pointer, None), here)
    yield from _observed(step, here, "")


def _observed(step: Json, here: Place, call: str) -> Iterator[Told]:
    text = step.get("observation")
    if isinstance(text, str):
        found = verdict(step, here.pointer, "observation")
        origin = here.deeper("observation").origin()
        event = ToolResult(
            origin, call, text, found.outcome, found.rule, found.basis, found.exit_code
        )
        yield Told(("result", call, text.strip()), event)
