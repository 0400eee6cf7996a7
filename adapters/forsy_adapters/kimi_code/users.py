"""What stands in the user's place, and who put it there: each record says so."""

import re
from collections.abc import Iterator
from typing import Any

from forsy_retrace.dialects import texts, typed
from forsy_retrace.events import Event, Fact, Message, Notice, Skipped, Via
from forsy_retrace.sdk import later, named, pointer, words

from .records import Json, Line, origin_of

SHELL = later(r"<([a-z-]{1,40})>\n?(.*?)\n?</\1>\s*\Z", re.S)
TASK_ENDED = "notice: background task ended"
TYPED = "user-slash"
"""How a command of the user's own, or a skill, was called: by the user."""


def prompt(line: Line, message: str, via: Via = "typed") -> Iterator[Event]:
    """What a turn began with, or what was said while it went on."""
    match origin_of(line.value):
        case {"kind": "user"}:
            yield _words(line, line.value.get("input"), "/input", message, via)
        case {"kind": "skill_activation", "trigger": "user-slash", "skillName": str(name)} as told:
            yield Fact(line.here("/origin/skillName"), "skills", [name])
            yield _command(line, name, told, "skill", message)
        case {"kind": "plugin_command", "trigger": "user-slash", "commandName": str(name)} as told:
            yield _command(line, name, told, "command", message)
        case {"kind": "task" | "background_task"}:
            yield Notice(line.here("/input"), "ended", TASK_ENDED)
        case {"kind": kind}:
            yield Notice(line.here("/input"), "ended", f"injected{named(kind)}")
        case _:
            yield Notice(line.here("/input"), "ended", "injected: by the client")


def appended(line: Line, is_told: bool) -> Iterator[Event]:
    """A message that is put before the model; a prompt is told by its own record."""
    message = line.value.get("message")
    body: Json = message if isinstance(message, dict) else {}
    match origin_of(body):
        case {"kind": "shell_command", "phase": "input"}:
            yield from _shell(line, body.get("content"))
        case {"kind": "user"} if not is_told and body.get("role") == "user":
            yield _words(line, body.get("content"), "/message/content", line.name, "typed")
        case {"kind": "user" | "skill_activation" | "plugin_command" | "system_trigger"}:
            yield Skipped(line.here("/message"), "repeated: what the turn began with")
        case {"kind": "task" | "background_task"}:
            yield Skipped(line.here("/message"), TASK_ENDED)
        case {"kind": kind}:
            yield Skipped(line.here("/message"), f"injected{named(kind)}")
        case _:
            yield Skipped(line.here("/message"), "injected: by the client")


def is_typed(line: Line) -> bool:
    """Whether a turn began with a human's words."""
    told = origin_of(line.value)
    return told.get("kind") == "user" or told.get("trigger") == TYPED


def _words(line: Line, content: Any, base: str, message: str, via: Via) -> Event:
    said = typed(content, line.here(base, "user", message), via)
    return said or Skipped(line.here(base), "empty message")


def _command(line: Line, name: str, told: Json, kind: str, message: str) -> Event:
    """A command as far as the log has it: what was typed behind its name, or the name."""
    sent = words(told.get(f"{kind}Args"))
    part = "Args" if sent.strip() else "Name"
    where = line.here(pointer("origin", kind + part), "user", message)
    return Message(where, "user", sent if sent.strip() else name, "command")


def _shell(line: Line, content: Any) -> Iterator[Event]:
    for path, text in texts(content):
        found = SHELL.match(text)
        said = found[2] if found else text
        where = line.here("/message/content" + path, "user")
        yield Message(where, "user", said, "shell line", within=said != text)
