"""Liars: each plants one lie into a claimed trace, and says where it must be found."""

import copy
import json
import re
from collections.abc import Callable
from random import Random
from typing import NamedTuple

from claimants import COUNTED, FEEDBACK, Json, counted, made_up, object_of

NUMBERED = re.compile(r"^ *\d+(?:→|\t)", re.M)


class Lie(NamedTuple):
    """A trace with one lie in it: at a step, by its place from 0, or at a claim of the whole."""

    trace: Json
    step: int | None = None
    claim: str = ""


Liar = Callable[[Json, Random], Lie | None]


def invented_step(trace: Json, rng: Random) -> Lie:
    call = '{"command":"npm run verify-release --workspace billing"}'
    step = made_up(operation="verify", tool="Bash", input=call, output="41 suites green, 0 open")
    return _inserted(trace, rng, step)


def repeated_step(trace: Json, rng: Random) -> Lie | None:
    """A check that ran once is told twice."""
    calls = [step for step in trace["steps"] if step["tool"] and step["success"] is True]
    return _inserted(trace, rng, copy.deepcopy(rng.choice(calls))) if calls else None


def invented_approval(trace: Json, rng: Random) -> Lie:
    step = made_up(
        actor="user", action="user_message", input="Splendid, ship exactly this to production.",
        success=None, execution_mode=None, message_role="approval", feedback_type="approval",
        feedback_content="Approved.",
    )  # fmt: skip
    return _inserted(trace, rng, step)


def _inserted(trace: Json, rng: Random, step: Json) -> Lie:
    told = copy.deepcopy(trace)
    place = rng.randint(1, len(told["steps"]))
    told["steps"].insert(place, step)
    counted(told)
    return Lie(told, place)


def flipped_success(trace: Json, rng: Random) -> Lie | None:
    return _changed(trace, rng, _flips, lambda step, _: {"success": not step["success"]})


def _flips(step: Json) -> bool:
    return step["tool"] is not None and step["success"] is not None and not step.get("soft")


def invented_error(trace: Json, rng: Random) -> Lie | None:
    """A call that worked is told as a failure of the model or the harness."""
    return _changed(trace, rng, _worked, lambda *_: {"action": "error"})


def _worked(step: Json) -> bool:
    return step["tool"] is not None and step["success"] is True


def changed_command(trace: Json, rng: Random) -> Lie | None:
    return _changed(trace, rng, lambda s: bool(_target(s)), _other_command)


def _target(step: Json) -> str:
    """The name of the argument that a liar would change."""
    sent = object_of(step["input"] or "") if step["tool"] else {}
    names = ("command", "cmd", "file_path", "pattern", "query", "url", "new_string")
    found = (n for n in names if isinstance(sent.get(n), str) and re.search(r"\w{3}", sent[n]))
    return next(found, "")


def _other_command(step: Json, rng: Random) -> Json:
    sent, name = object_of(step["input"]), _target(step)
    return {"input": json.dumps({**sent, name: _reworded(sent[name], rng)}, ensure_ascii=False)}


def changed_output(trace: Json, rng: Random) -> Lie | None:
    return _changed(
        trace,
        rng,
        lambda s: _is_act(s) and bool(_WORD.search(_told(s["output"]))),
        lambda s, r: {"output": _reworded(s["output"], r)},
    )


def _is_act(step: Json) -> bool:
    """Not a thought, which no log can show."""
    return step["tool"] is not None or step["action"] in ("output", "error")


_WORD = re.compile(r"[a-z]{4,}")


def _told(output: str | None) -> str:
    """What of an output is the tool's: reminders of the harness are not."""
    return "" if "<system-reminder>" in (output or "") else output or ""


def changed_words(trace: Json, rng: Random) -> Lie | None:
    return _changed(
        trace,
        rng,
        lambda s: s["action"] == "user_message" and bool(_WORD.search(s["input"] or "")),
        lambda s, r: {"input": _reworded(s["input"], r)},
    )


def changed_number(trace: Json, rng: Random) -> Lie | None:
    """A figure in an output."""
    return _changed(
        trace,
        rng,
        lambda s: s["tool"] is not None and bool(re.search(r"\d", _figures(s))),
        lambda s, _: {"output": _figure(s["output"])},
    )


def _figures(step: Json) -> str:
    text = _told(step["output"])
    plain = not NUMBERED.search(text) and not re.search(
        r"\[[A-Z_]+_\d|\AExit code|\x1b|omitted|truncated", text
    )
    return text if plain else ""


def _figure(text: str) -> str:
    return re.sub(r"\d", lambda found: str((int(found[0]) + 1) % 10), text, count=1)


def another_time(trace: Json, rng: Random) -> Lie | None:
    """Two years early."""

    def early(step: Json, _: Random) -> Json:
        year = int(step["started_at"][:4]) - 2
        return {"started_at": f"{year}-02-03T04:05:06Z"}

    def _is_told(step: Json) -> bool:
        return _is_act(step) or step["action"] == "user_message"

    return _changed(trace, rng, lambda s: s["started_at"] is not None and _is_told(s), early)


def _reworded(text: str, rng: Random) -> str:
    found = list(_WORD.finditer(text)) or list(re.finditer(r"\w{3,}", text))
    word = rng.choice(found)
    return text[: word.start()] + "quux" + text[word.end() :]


def _changed(
    trace: Json,
    rng: Random,
    fits: Callable[[Json], bool],
    change: Callable[[Json, Random], Json],
) -> Lie | None:
    told = copy.deepcopy(trace)
    places = [place for place, step in enumerate(told["steps"]) if fits(step)]
    if not places:
        return None
    place = rng.choice(places)
    told["steps"][place].update(change(told["steps"][place], rng))
    return Lie(told, place)


def swapped_order(trace: Json, rng: Random) -> Lie | None:
    """Two neighbours that are not alike; either may be called the moved one."""
    told = copy.deepcopy(trace)
    steps = told["steps"]
    places = [n for n in range(1, len(steps)) if _are_apart(steps[n - 1], steps[n])]
    if not places:
        return None
    place = rng.choice(places)
    steps[place - 1], steps[place] = steps[place], steps[place - 1]
    counted(told)
    return Lie(told, place)


def _are_apart(one: Json, other: Json) -> bool:
    texts = [{step["input"], step["output"]} - {None, ""} for step in (one, other)]
    long = all(step["tool"] and len(step["input"] or "") > 12 for step in (one, other))
    group = one["parallel_group"] is not None and one["parallel_group"] == other["parallel_group"]
    return long and not texts[0] & texts[1] and not group and one["actor"] == other["actor"]


def dropped_failure(trace: Json, rng: Random) -> Lie | None:
    told = copy.deepcopy(trace)
    places = [
        place
        for place, step in enumerate(told["steps"])
        if step["tool"] and step["success"] is False and step["actor"] == "agent"
        and not step.get("soft")
    ]  # fmt: skip
    if not places:
        return None
    del told["steps"][rng.choice(places)]
    counted(told)
    return Lie(told, claim="failures")


def inflated_count(trace: Json, rng: Random) -> Lie:
    told = copy.deepcopy(trace)
    name = rng.choice([*COUNTED, "total_steps", "directive_signals"])
    told["summary"][name] += rng.randint(1, 5)
    return Lie(told, claim=f"summary.{name}")


def inflated_feedback(trace: Json, rng: Random) -> Lie:
    told = copy.deepcopy(trace)
    kind = rng.choice(FEEDBACK)
    told["summary"]["human_feedback"][f"{kind}s"] += len(told["steps"]) + 1
    return Lie(told, claim=f"summary.human_feedback.{kind}s")


def invented_artifact(trace: Json, rng: Random) -> Lie:
    told = copy.deepcopy(trace)
    one = {"path": "dist/quarterly-report.pdf", "type": rng.choice(["created", "modified"])}
    told["static_output"]["artifacts"].append(one)
    return Lie(told, claim=f"artifacts[{len(told['static_output']['artifacts']) - 1}]")


def altered_final_output(trace: Json, rng: Random) -> Lie:
    told = copy.deepcopy(trace)
    told["final_output"] += "\nBenchmarks confirm it is forty times faster now."
    return Lie(told, claim="final_output")


def higher_level(trace: Json, rng: Random) -> Lie:
    told = copy.deepcopy(trace)
    levels = ["model_reviewed", "human_reviewed", "expert_reviewed", "client_validated"]
    told["validation_level"] = rng.choice(levels)
    return Lie(told, claim="validation_level")


LIARS: tuple[Liar, ...] = (
    invented_step,
    repeated_step,
    invented_approval,
    flipped_success,
    invented_error,
    changed_command,
    changed_output,
    changed_words,
    changed_number,
    another_time,
    swapped_order,
    dropped_failure,
    inflated_count,
    inflated_feedback,
    invented_artifact,
    altered_final_output,
    higher_level,
)
