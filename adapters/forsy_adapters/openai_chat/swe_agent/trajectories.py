"""SWE-agent's `trajectory`, which repeats the `history` and goes on to the end of the run."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.calls import Verdict
from forsy_retrace.dialects import calls
from forsy_retrace.events import Fact, Skipped

from ..chat import AGENT
from ..place import Json, Place, Told, opened, text_in
from ..speech import idea, said
from .actions import acted, moved, observed
from .tools import SweAgent, flag_in, offered_in


def rest(history: list[Any], steps: Any, here: Place, end: Verdict) -> Iterator[Told]:
    """What the steps tell behind the history's last action; nothing where the two do not agree.

    `end` is what the run's writer says of handing in.
    """
    done = [message for message in history if _acts(message)]
    if not isinstance(steps, list) or not done or len(steps) < len(done):
        return
    last, run = len(done) - 1, SweAgent(end)
    if text_in(steps[last], "action") != done[last]["action"]:
        return
    if history[-1] is done[last]:
        run.acts(done[last]["action"])
        named = [call.id for call in calls(done[last], "") if call.id]
        for call in named or [""]:
            yield from _observed(run, steps[last], here.deeper(last), call)
    for index, step in enumerate(steps[len(done) :], len(done)):
        where = here.deeper(index)
        yield from _step(run, step, where._replace(message=where.name))


def submitted(info: Any, here: Place) -> Verdict:
    """What a run's writer says of the call that handed its work in, and so ended it."""
    if text_in(info, "exit_status") != "submitted":
        return Verdict()
    return Verdict("ok", "submitted", here.deeper("exit_status").pointer)


def flag(steps: Any, info: Any, here: Place) -> Iterator[Told]:
    """The flag that the run's last action handed in, where it ended the run.

    The harness goes on behind a wrong one (SWE-agent 0.7).
    """
    work, done = text_in(info, "submission").strip(), _dicts(steps)
    is_last = bool(work and done) and flag_in(text_in(done[-1], "action")) == work
    if is_last and submitted(info, here).outcome == "ok":
        yield Told(None, Fact(here.deeper("submission").origin("system"), "flag", "taken"))


def named(history: list[Any], here: Place) -> Iterator[Told]:
    """Which harness made a log whose messages keep their actions apart."""
    if any(map(_acts, history)):
        yield Told(None, Fact(here.origin("system"), "harness", "SWE-agent"))
        for index, message in enumerate(history):
            match message:
                case {"role": "system"} if names := offered_in(text_in(message, "content")):
                    where = here.deeper(index, "content").origin("system")
                    yield Told(None, Fact(where, "tools", names))


def place(steps: Any, here: Place) -> Iterator[Told]:
    """The working directory of the whole run, where all its steps log the same."""
    states = [opened(step.get("state")) for step in _dicts(steps)]
    found = {text_in(state, "working_dir") for state in states}
    if len(found) == 1:
        yield from moved(found.pop(), here.deeper(0, "state"))


def _dicts(steps: Any) -> list[Json]:
    return [step for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []


def _acts(message: Any) -> bool:
    match message:
        case {"role": str(role), "action": str(action)} if role in AGENT:
            return bool(action.strip()) and message.get("is_demo") is not True
    return False


def _step(run: SweAgent, step: Any, here: Place) -> Iterator[Told]:
    """The agent's words, its action and what that printed."""
    action = text_in(step, "action")
    if not action or not text_in(step, "response"):
        yield Told(None, Skipped(here.origin("system"), "a step of the harness's own"))
        return
    if isinstance(step.get("thought"), str):
        yield from idea(step, here)
    else:
        yield said(step["response"], here.deeper("response").origin())
    yield acted(run, action, here.deeper("action"))
    yield from _observed(run, step, here)


def _observed(run: SweAgent, step: Any, here: Place, call: str = "") -> Iterator[Told]:
    if isinstance(step.get("observation"), str):
        yield from observed(run, step, "observation", here, call)
