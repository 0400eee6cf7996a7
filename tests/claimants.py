"""An honest writer of claimed traces: the same in other words, thinner, in another shape."""

import copy
import json
import re
from random import Random
from typing import Any

Json = dict[str, Any]
PROSE = ("observation", "state_change", "reasoning", "causal_note", "eval_reason", "directive")
COUNTED = {"positive_steps": 1, "negative_steps": -1, "neutral_steps": 0}
FEEDBACK = ("correction", "approval", "clarification", "new_instruction")
FAILS = re.compile(r"(?i)fail|error|denied|exception|traceback|reject|abort|fatal")


def honest(trace: Json, rng: Random) -> Json:
    """The trace as an honest agent may tell it: thinner, shorter, in its own words and shape."""
    told = copy.deepcopy(trace)
    steps = [step for step in told["steps"] if not _may_go(step) or rng.random() < 0.8]
    told["steps"] = [_in_other_words(step, rng, told) for step in steps]
    told["static_output"]["artifacts"] = [
        {**one, "description": "A file.", "hash": None}
        for one in told["static_output"]["artifacts"]
        if rng.random() < 0.7
    ]
    told["trace_mode"] = rng.choice(["live", "retraced"])
    told["validation_level"] = told["dataset_summary"]["validation_level"] = "self_traced"
    told["learning"] = "Read the failing line before any edit."
    told["summary"]["goal_notes"] = "It went well enough."
    for made in (_thought, _wrote_trace, _saved_trace):
        if told["steps"] and rng.random() < 0.5:
            told["steps"].insert(rng.randint(1, len(told["steps"])), made())
    counted(told)
    return legacy(told) if rng.random() < 0.3 else told


def _may_go(step: Json) -> bool:
    """A call that did not fail: a trace may pass over it."""
    return step["tool"] is not None and step["success"] is not False


def _in_other_words(step: Json, rng: Random, trace: Json) -> Json:
    step = {**step, "caused_by": None, "causal_type": None, "retry_of": None}
    for name in PROSE:
        if step[name] is not None:
            step[name] = "Told in other words."
    if step["action"] != "user_message":
        step["reasoning"] = "It seemed the best thing to do next."
    if step["feedback_content"] is not None:
        step["feedback_content"] = "The person judged the work."
    for name in ("started_at", "ended_at"):
        step[name] = rng.choice([_second, _minute, _kept, _nothing])(step[name]) or None
    if step["tool"] is not None:
        step["tool"] = rng.choice(["", "functions."]) + step["tool"]
    if step["tool"] is not None and step["input"] is not None:
        step["input"] = rng.choice([_kept, _reformatted, _without_how, _alone])(step["input"])
        step["input"] = _relative(step["input"], trace)
    if step["output"] is not None:
        step["output"] = rng.choice([_kept, _spaced, _shortened, _masked])(step["output"])
        if step["action"] == "output":
            step["input"] = rng.choice([step["input"], "Tell the person what came of it."])
    return step


def _kept(text: str) -> str:
    return text


def _second(time: str | None) -> str:
    return re.sub(r"\.\d+Z$", "Z", time or "")


def _minute(time: str | None) -> str:
    return re.sub(r":\d\d(?:\.\d+)?Z$", ":00Z", time or "")


def _nothing(_: object) -> str:
    return ""


def _reformatted(text: str) -> str:
    sent = object_of(text)
    return json.dumps(dict(reversed(sent.items())), indent=2) if sent else text


def _without_how(text: str) -> str:
    sent = object_of(text)
    sent.pop("description", None)
    sent.pop("timeout", None)
    return json.dumps(sent, ensure_ascii=False) if sent else text


def _alone(text: str) -> str:
    """The command or path by itself."""
    sent = object_of(text)
    for name in ("command", "cmd", "file_path", "pattern"):
        if isinstance(sent.get(name), str) and sent[name].strip():
            return str(sent[name])
    return text


def object_of(text: str) -> Json:
    try:
        sent = json.loads(text)
    except ValueError:
        return {}
    return sent if isinstance(sent, dict) else {}


def _relative(text: str, trace: Json) -> str:
    place = (trace["agent_config"] or {}).get("working_directory")
    return text.replace(f"{place}/", "") if place and len(place) > 3 else text


def _spaced(text: str) -> str:
    return "\n" + text.replace("\n", "  \r\n") + "\n\n"


def _shortened(text: str) -> str:
    lines = text.splitlines()
    if len(lines) < 5:
        return text
    left = len(lines) - 3
    return "\n".join([*lines[:2], f"[... {left} lines omitted ...]", lines[-1]])


def _masked(text: str) -> str:
    words = [word for word in re.findall(r"(?<!\S)\w{9,}(?!\S)", text) if not FAILS.search(word)]
    return text.replace(words[0], "[CREDENTIAL]") if words else text


def _thought() -> Json:
    return made_up(
        operation="analyze",
        input="Which of the two places to change first.",
        output="The first place is the better one.",
    )


def _wrote_trace() -> Json:
    return made_up(operation="write", input="Wrote the trace of this session.", output="Done.")


def _saved_trace() -> Json:
    content = '{"schema_version": "forsy-trace-v0.1"}'
    call = json.dumps({"file_path": "forsy-trace/trace.json", "content": content})
    return made_up(operation="write", tool="Write", input=call, output="File created.")


def made_up(**fields: Any) -> Json:
    """A step with these fields and nothing else."""
    names = (
        "step turn actor action operation tool execution_mode parallel_group observation input"
        " input_source output state_change reasoning caused_by causal_type causal_note"
        " alternatives_considered success eval eval_reason directive message_role feedback_type"
        " feedback_content started_at ended_at retry_of"
    )
    own = {"actor": "agent", "action": "agent_step", "execution_mode": "serial", "eval": 0}
    return {**dict.fromkeys(names.split()), **own, "turn": 1, "success": True, **fields}


def counted(trace: Json) -> None:
    """Numbers the steps, and makes the summary count them."""
    steps = trace["steps"]
    turn = 1
    for number, step in enumerate(steps, 1):
        turn += step["action"] == "user_message" and number > 1
        step["step"], step["turn"] = number, turn
    summary = trace["summary"]
    summary.update(total_steps=len(steps), total_turns=turn)
    for name, value in COUNTED.items():
        summary[name] = sum(step["eval"] == value for step in steps)
    summary["directive_signals"] = sum(step["directive"] is not None for step in steps)
    for kind in FEEDBACK:
        count = sum(step["feedback_type"] == kind for step in steps)
        summary["human_feedback"][f"{kind}s"] = count


def legacy(trace: Json) -> Json:
    """The same in the shape that came before v0.1."""
    steps = [{**step, "step_index": step["step"], "feedback": None} for step in trace["steps"]]
    for step in steps:
        step["feedback"] = step.pop("feedback_content")
        del step["step"]
    static = json.dumps(trace["static_output"])
    told = {**trace, "schema_version": "forsy-v1", "steps": steps, "static_output": static}
    told["collection_id"] = told.pop("trace_id")
    return told
