"""Which calls only serve to write, check or publish a Forsy trace: they are no part of the work."""

from typing import Any

from forsy_retrace.patterns import later

TRACE_JSON = later(r'\s*\{[^{\[]{0,400}"schema_version"\s*:\s*"forsy[-_]')
SKILL_PATH = later(r"(?i)forsy[-_]trace(?:[-_]skill)?(?:/|\.md|\.txt|$)")
COMMAND = later(
    r"(?:^|[;&|]\s*)(?:forsy-retrace|openclaw skills install forsy-trace"
    r"|(?:python3?|node|bash) \S{0,200}/forsy[-_]trace[^/\s]*/)"
)


def is_administration(sent: Any) -> bool:
    """Whether a call's only purpose is a Forsy trace, or reading the trace skill."""
    match sent:
        case {"content": str(text)} if TRACE_JSON.match(text[:600]):
            return True
        case {"file_path": str(path)} | {"filePath": str(path)} | {"path": str(path)} if (
            SKILL_PATH.search(path[-200:])
        ):
            return {"new_string", "newString", "content"}.isdisjoint(sent)
        case {"skill": str(name)} | {"command": str(name), "skill": _}:
            return name.startswith("forsy-trace")
        case {"command": str(command)}:
            return COMMAND.match(command.strip()[:400]) is not None
    return False
