"""What the client knows of a session: where and when it ran, its model, its tools, its tokens."""

from collections.abc import Iterator
from typing import Any

from forsy_retrace.events import Event, Fact, Origin, SessionStart
from forsy_retrace.sdk import counts, pointer, when, words
from forsy_retrace.source import Record

from .._vibe import Json
from .shapes import Log

TEXTS = (
    ("branch", ("git_branch",)),
    ("title", ("title",)),
    ("permission_mode", ("agent_profile", "name")),
    ("system_prompt", ("system_prompt", "content")),
)
USAGE = {
    # What was read from a cache is a part of the input.
    "session_prompt_tokens": "input_tokens",
    "session_completion_tokens": "output_tokens",
    "session_cached_tokens": "cached_input_tokens",
}


def started(log: Log) -> Iterator[Event]:
    """The start of the session, and its facts."""
    for record, base, value in log.meta():
        here = Origin(record.here.at(base), None, "system")
        if words(value.get("session_id")):
            start = here.below("/session_id")
            yield SessionStart(
                start, value["session_id"], words(value.get("parent_session_id")) or None
            )
        yield from facts(record, base, value)


def facts(record: Record, base: str, value: Json) -> Iterator[Event]:
    """The facts of a session."""
    here = Origin(record.here.at(base), None, "system")
    for key, name in (("start_time", "began"), ("end_time", "ended")):
        if (at := when(value.get(key))) is not None:
            yield Fact(Origin(here.below(pointer(key)).evidence, at, "system"), name, at)
    for path, folder in _folder(value):
        yield Fact(here.below(path), "cwd", folder)
    for name, parts in TEXTS:
        if text := words(_below(value, parts)):
            yield Fact(here.below(pointer(*parts)), name, text)
    for path, model in _model(value):
        yield Fact(here.below(path), "model", model)
    if names := _tools(value.get("tools_available")):
        yield Fact(here.below("/tools_available"), "tools", names)
    if used := counts(value.get("stats"), USAGE):
        yield Fact(here.below("/stats"), "usage", used)


def _below(value: Any, parts: tuple[str, ...]) -> Any:
    for part in parts:
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _folder(value: Json) -> Iterator[tuple[str, str]]:
    """Where the session began: from some version on (2.24, not 2.18) it may have moved since."""
    first = words(value.get("origin_directory"))
    if first:
        yield "/origin_directory", first
    elif folder := words(_below(value, ("environment", "working_directory"))):
        yield "/environment/working_directory", folder


def _model(value: Json) -> Iterator[tuple[str, str]]:
    """The name that the provider knows the active model by; the setting is an alias of it."""
    for key in ("config", "agent_config"):
        config = value.get(key)
        listed = config.get("models") if isinstance(config, dict) else None
        alias = words(_below(config, ("active_model",)))
        if plain := words(_below(config, ("model_name",))):
            yield pointer(key, "model_name"), plain
            return
        rows: list[tuple[str | int, Any]] = []
        if isinstance(listed, list):
            rows = list(enumerate(listed))
        elif isinstance(listed, dict):
            rows = list(listed.items())
        for place, one in rows:
            match one:
                case {"name": str(name)} if alias and alias in (one.get("alias"), name, place):
                    yield pointer(key, "models", place, "name"), name
                    return


def _tools(listed: Any) -> list[str]:
    names = (
        [_below(one, ("function", "name")) for one in listed] if isinstance(listed, list) else []
    )
    return [name for name in names if words(name)]
