"""Terminus 2, the agent of Terminal-Bench: its prompt, and its answers in JSON, which say what it
thinks and what it types into a terminal.
"""

from collections.abc import Iterator
from typing import Any, TypeGuard

from forsy_retrace.events import Message, Origin
from forsy_retrace.sdk import later, pointer, words

HARNESS = "terminus-2"
TOOL = "terminal"
TASK = later(
    r"(?s)\s*You are an AI assistant tasked with solving command-line tasks\b"
    r"(?>.*?\nTask Description:\n)(?P<task>.*\S)\s+Current terminal state:\n"
)
"""How it puts the task into its own prompt."""


def is_answer(value: Any) -> TypeGuard[dict[str, Any]]:
    """An answer that types something, or says that there is nothing left to type."""
    return isinstance(value, dict) and isinstance(value.get("commands"), list)


def thoughts(answer: dict[str, Any], here: Origin) -> Iterator[Message]:
    """What an answer at `here` thinks, as words of the agent."""
    for key in ("analysis", "plan"):
        if words(answer.get(key)):
            yield Message(here.below(pointer(key)), "agent", answer[key])


def typed(answer: dict[str, Any], here: Origin) -> Iterator[tuple[Origin, Any]]:
    """What it types, each with its place."""
    for index, command in enumerate(answer["commands"]):
        yield here.below(pointer("commands", index)), command
