"""Does a claimed input say what the call sent? Arguments may be named in several notations."""

import json
import re
from collections.abc import Container, Mapping
from typing import Any, NamedTuple

from forsy_retrace.patterns import later
from forsy_retrace.sdk import compact, parsed

from .fold import Places, fold
from .likeness import Way, likeness

PRINCIPAL = (
    "command", "cmd", "script", "code", "query", "q", "pattern", "url", "uri", "file_path",
    "filepath", "path", "notebook_path", "patch", "input", "prompt", "message", "text", "skill",
    "content",
)  # fmt: skip
"""Arguments that stand for the whole call when named alone, the first that it has."""
INCIDENTAL = frozenset(
    (
        "description", "timeout", "timeout_ms", "cwd", "workdir", "working_directory", "shell",
        "login", "tty", "yield_time_ms", "max_output_tokens", "max_output_length", "explanation",
        "justification", "sandbox_permissions", "with_escalated_permissions", "thought",
        "call_id", "activeform", "output_mode", "is_background", "metadata",
        "subagent_type", "model",
    )
)  # fmt: skip
"""Arguments that a claim may leave out: how the call was made, not what it did."""
SHELLS = ("bash", "sh", "zsh", "/bin/bash", "/bin/sh", "/bin/zsh", "powershell", "pwsh", "cmd")
WRAPPINGS = (
    later(r"\A\s*```\w*\n(?P<inner>.*?)\n?```\s*\Z", re.S),
    later(r"\A\s*`(?P<inner>[^`]+)`\s*\Z"),
    later(r"\A\s*[$>] (?P<inner>.+)\Z", re.S),
    later(r"\A\s*[\w.:-]+\((?P<inner>.*)\)\s*\Z", re.S),
    later(r"\A\s*(?:[Cc]ommand|[\w.-]*[Bb]ash|[Ss]hell|Read|Edit|Write|Grep|Glob|Skill)"
               r"[: ] ?(?P<inner>.+)\Z", re.S),
)  # fmt: skip
"""How a command or path is often set off when it is written down."""


LINES = later(
    r"\A(?P<path>\S+?)(?::| \(?)(?:lines? |L)?(?P<first>[0-9]{1,9})"
    r"(?:\s?[-–]\s?L?(?P<last>[0-9]{1,9}))?\)?\Z"
)
"""A path with the lines that were read of it."""


class Sent(NamedTuple):
    """A comparison of inputs: how they stand, and the arguments that only one of them names."""

    way: Way
    lacks: tuple[str, ...] = ()
    adds: tuple[str, ...] = ()


def compared(claim: str, sent: Any, shown: str, places: Places) -> Sent:
    """A claimed input against the arguments as sent and the text that the trace shows of them."""
    whole = likeness(claim, shown, places)
    if whole != "other":
        return Sent(whole)
    held = [one for one in (named(sent), named(parsed(shown))) if one]
    if not held:
        way = _value(claim, shown, places)
        return Sent(_bare(claim, shown, places) if way == "other" else way)
    # A client may have put others in the place of those that the agent sent, which are shown.
    found = [_compared(claim, arguments, places) for arguments in held]
    return next((one for one in found if one.way != "other"), found[0])


def _compared(claim: str, arguments: Mapping[str, str], places: Places) -> Sent:
    said = parsed(claim)
    if isinstance(said, dict) and said:
        return _by_name(named(said), arguments, places)
    alone = principal(arguments)
    way = _bare(_lines_of(claim, arguments), alone, places) if alone else "other"
    if way != "other":
        return Sent(way)
    listed = _listed(claim, arguments)
    return _by_name(listed, arguments, places) if listed else Sent("other")


def named(sent: Any) -> Mapping[str, str]:
    """The arguments of a call by name, as texts; a shell's own command line without the shell."""
    if not isinstance(sent, dict):
        return {}
    return {str(key): _argument(value) for key, value in sent.items()}


def _argument(value: Any) -> str:
    match value:
        case [str(shell), str(flag), str(command)] if shell in SHELLS and flag[:1] in "-/":
            return command
        case [*words] if words and all(isinstance(word, str) for word in words):
            return " ".join(words)
        case str():
            return value
        case None:
            return ""
    return compact(value)


def principal(arguments: Mapping[str, str]) -> str:
    """The one argument that says what the call was for."""
    for name in PRINCIPAL:
        for key in arguments:
            if key.lower() == name:
                return arguments[key]
    return next(iter(arguments.values()), "") if len(arguments) == 1 else ""


def _lines_of(claim: str, arguments: Mapping[str, str]) -> str:
    """`a.py (lines 10-29)` as `a.py`, where the call asked for those lines."""
    found = LINES.match(claim)
    if found is None:
        return claim
    first, count = (_number(arguments.get(name, "")) for name in ("offset", "limit"))
    told = (int(found["first"]), int(found["last"] or found["first"]))
    starts = max(1, first)
    is_so = count > 0 and told in ((starts, starts + count - 1), (starts, starts + count))
    return found["path"] if is_so else claim


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _bare(claim: str, text: str, places: Places) -> Way:
    ways = (likeness(inner, text, places) for inner in unwrapped(claim))
    return next((way for way in ways if way != "other"), "other")


def unwrapped(claim: str) -> list[str]:
    """The claimed text, then without what sets it off."""
    found = [claim]
    for wrapping in WRAPPINGS:
        if match := wrapping.match(found[-1]):
            found.append(match["inner"].strip("\"'") if "(" in claim[:60] else match["inner"])
    return found


def _listed(claim: str, arguments: Mapping[str, str]) -> dict[str, str]:
    """`path: a.py` lines, or `path=a.py, limit=20`, by the names that the call has."""
    keys = "|".join(re.escape(key) for key in sorted(arguments, key=len, reverse=True))
    marks = list(re.finditer(rf"(?:\A|[\n;,(])\s{{0,20}}[\"']?({keys})[\"']?\s{{0,20}}[:=]", claim))
    if not marks or claim[: marks[0].start()].strip():
        return {}
    ends = [*(mark.start() for mark in marks[1:]), len(claim)]
    return {
        mark[1]: claim[mark.end() : end].strip().strip(",;").strip("\"'")
        for mark, end in zip(marks, ends, strict=True)
    }


def _by_name(said: Mapping[str, str], sent: Mapping[str, str], places: Places) -> Sent:
    by_key = {_key(fold(key, places)): value for key, value in sent.items()}
    ways: list[Way] = []
    adds = []
    told = {_key(fold(key, places)): value for key, value in said.items()}
    for key, value in told.items():
        if key in by_key:
            ways.append(_value(value, by_key[key], places))
        elif value.strip() and key not in INCIDENTAL:
            adds.append(key)
    lacks = [key for key, value in by_key.items() if _is_missed(key, value, told)]
    if "other" in ways or adds or lacks or not ways:
        return Sent("other", tuple(lacks), tuple(adds))
    return Sent(next((way for way in ways if way != "same"), "same"))


def _value(claim: str, sent: str, places: Places) -> Way:
    one, other = parsed(claim), parsed(sent)
    if isinstance(one, dict | list) and isinstance(other, dict | list):
        return likeness(_sorted(one), _sorted(other), places)
    return likeness(claim, sent, places)


def _sorted(value: Any) -> str:
    """JSON in one way of writing, whatever the order of its keys."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _key(name: str) -> str:
    short = name.lower().replace("-", "_")
    return {"cmd": "command", "filepath": "file_path"}.get(short, short)


def _is_missed(key: str, value: str, known: Container[str]) -> bool:
    return not (key in known or key in INCIDENTAL or value in ("", "false", "null", "[]", "{}"))
