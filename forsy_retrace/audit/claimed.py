"""Reads any trace that an agent wrote about itself, v0.1 or older, whole or as rows, to one shape.

What it holds is a stranger's: a field of the wrong type becomes text or null, never an error. Only
what is no trace at all is refused, in one line.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import msgspec

from forsy_retrace.errors import RetraceError, UnreadableInput
from forsy_retrace.evidence import Evidence
from forsy_retrace.sdk import compact, number
from forsy_retrace.source import Source, decode, is_regular
from forsy_retrace.validate import is_legacy, modern

Json = Mapping[str, Any]
Kind = Literal["words", "call", "output", "error", "thought", "odd"]
NAMES = ("trace.json", "data.json", "steps.jsonl", "steps_row.jsonl")
"""What a trace folder may call its trace, the likeliest first."""
THOUGHTS = ("analyze", "plan", "select", "other", "")
"""Operations that need no tool: what happens in the agent alone."""
WORDS_OUT = ("answer", "ask_user")


class ClaimedStep(msgspec.Struct, frozen=True):
    """One step as its writer told it; texts only, null where there is nothing."""

    number: int
    """Its own number where it has one; else its place."""
    kind: Kind = "odd"
    action: str = ""
    actor: str = ""
    operation: str = ""
    tool: str | None = None
    input: str | None = None
    output: str | None = None
    success: bool | None = None
    reasoning: str | None = None
    alternatives_considered: str | None = None
    feedback_type: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    turn: int | None = None
    eval: int | None = None
    directive: str | None = None


class Claimed(msgspec.Struct, frozen=True):
    """A trace as its writer told it."""

    shape: Literal["v0.1", "legacy"]
    whole: Json
    """Everything else that it says, as it stands."""
    steps: tuple[ClaimedStep, ...]
    artifacts: tuple[Json, ...]
    final_output: str
    learning: str | None


def read_claimed(path: Path) -> Claimed:
    """The claimed trace of a file or folder; raises RetraceError where it is none."""
    file = _file(path)
    value = _value(Source(file), path.name)
    if isinstance(value, dict) and "steps" not in value and _is_row(value):
        value = [value]
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        value = {**_head(value[0]), "steps": value}
    if not isinstance(value, dict) or not isinstance(value.get("steps"), list):
        raise UnreadableInput(f"{path.name}: no trace: it has no list of steps")
    legacy = is_legacy(value)
    whole = modern(value)
    return Claimed(
        "legacy" if legacy else "v0.1",
        whole,
        tuple(_step(at, step) for at, step in enumerate(whole["steps"], 1)),
        tuple(one for one in _artifacts(whole.get("static_output")) if isinstance(one, dict)),
        _text(whole.get("final_output")) or "",
        _text(whole.get("learning")),
    )


def _file(path: Path) -> Path:
    if path.is_dir():
        for name in NAMES:
            if is_regular(path / name):
                return path / name
        raise RetraceError(f"{path.name or path}: no trace.json in this folder")
    if not path.exists():
        raise RetraceError(f"{path.name}: no such file or folder")
    if not is_regular(path) and not is_regular(path.resolve()):
        raise UnreadableInput(f"{path.name}: not a regular file")
    return path


def _value(source: Source, name: str) -> Any:
    """One JSON document; or the rows of a file of lines, as a list."""
    data = source.whole()
    record = decode(data, Evidence(source.name, 0, 0, len(data)))
    if not record.problem:
        return record.value
    rows = []
    for line in data.split(b"\n"):
        if line.strip():
            row = decode(line, Evidence(source.name, 0, 0, len(line))).value
            if not isinstance(row, dict) or not _is_row(row):
                raise UnreadableInput(f"{name}: no trace: not JSON")
            rows.append(row)
    return rows


def _is_row(row: Json) -> bool:
    return "action" in row or "step_index" in row


def _head(row: Json) -> Json:
    """What a row of steps says of its trace."""
    names = ("schema_version", "trace_id", "collection_id")
    return {"collection_id": None} | {name: row[name] for name in names if name in row}


def _artifacts(static: Any) -> list[Any]:
    match static:
        case {"artifacts": list(found)} | [*found]:
            return list(found)
    return []


def _step(at: int, step: Any) -> ClaimedStep:
    if not isinstance(step, dict):
        return ClaimedStep(at)
    texts: dict[str, Any] = {
        name: _text(step.get(name))
        for name in (
            "tool", "input", "output", "reasoning", "alternatives_considered", "started_at",
            "ended_at", "directive",
        )
    }  # fmt: skip
    feedback = _text(step.get("feedback_type"))
    made = ClaimedStep(
        number=_whole(step.get("step")) or at,
        action=_word(step.get("action")),
        actor=_word(step.get("actor")),
        operation=_word(step.get("operation")),
        success=_flag(step.get("success")),
        feedback_type=feedback.strip().lower() if feedback else None,
        turn=_whole(step.get("turn")),
        eval=_whole(step.get("eval"), least=-1),
        **texts,
    )
    return msgspec.structs.replace(made, kind=_kind(made))


def _kind(step: ClaimedStep) -> Kind:
    if step.action == "user_message" or step.actor == "user":
        return "words"
    if step.action == "error" and not step.tool:
        return "error"
    if step.tool:
        return "call"
    if step.action == "output" or step.operation in WORDS_OUT:
        return "output"
    return "thought" if step.operation in THOUGHTS else "call"


def _text(value: Any) -> str | None:
    match value:
        case None | "" | [] | {}:
            return None
        case str():
            return value
        case [*lines] if all(isinstance(line, str) for line in lines):
            return "\n".join(lines)
    return compact(value)


def _word(value: Any) -> str:
    return value.strip().lower()[:40] if isinstance(value, str) else ""


def _whole(value: Any, least: int = 0) -> int | None:
    if isinstance(value, str) and value.strip().isascii() and value.strip().isdigit():
        value = int(value) if len(value) < 12 else None
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    found = number(value)
    return found if found is not None and least <= found < 2**53 else None


def _flag(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    word = _word(value)
    yes, no = ("true", "yes", "success", "succeeded", "ok"), ("false", "no", "failed", "failure")
    return True if word in yes else False if word in no else None


Moment = tuple[float, bool]
"""Seconds since 1970, and whether the text names its zone; without one, as if it were UTC."""


def moment(value: str | None) -> Moment | None:
    """The time that a text names, if it names one."""
    try:
        time = datetime.fromisoformat(value) if value and len(value) < 64 else None
    except ValueError:
        return None
    if time is None:
        return None
    try:
        zoned = time if time.tzinfo else time.replace(tzinfo=UTC)
        return zoned.timestamp(), time.tzinfo is not None
    except (ValueError, OverflowError):
        return None
